/** The routes of the JSON API, one for each call of its table. They change nothing. */
import { ArchiveError, ERROR_TABLE, systemClock } from "../../base/index.ts";
import type { ServerAnswer, ServerRequest } from "../../http/index.ts";
import type { Collection } from "../collection.ts";
import type { Asked, Route } from "../route.ts";
import { ENDPOINTS, type Endpoint } from "./endpoints.ts";
import { openApiDocument } from "./openapi.ts";
import { ParameterError, parseParameters } from "./parameters.ts";
import { Question } from "./question.ts";
import { apiError, jsonAnswer, linesAnswer, pageAnswer } from "./reply.ts";

/** What is wrong with a request is answered in the form of the API; failures of the server are thrown, for its log. */
function routeOf(name: string, answer: Route["answer"]): Route {
  return {
    pattern: `/api/${name}`,
    match: new RegExp(`^api/${name.replace(".", "\\.")}(?:\\?.*)?$`, "s"),
    isOfServer: true,
    async answer(asked) {
      try {
        return await answer(asked);
      } catch (error) {
        if (!(error instanceof ArchiveError) || ERROR_TABLE[error.code].http >= 500) throw error;
        return apiError(error);
      }
    },
  };
}

export const API_ROUTES: readonly Route[] = [
  ...Object.entries<Endpoint>(ENDPOINTS).map(([name, endpoint]) => routeOf(name, (asked) => answer(endpoint, asked))),
  routeOf("openapi.json", ({ origin }) => jsonAnswer(openApiDocument(origin))),
];

async function answer(endpoint: Endpoint, { request, collections }: Asked): Promise<ServerAnswer> {
  const start = request.target.indexOf("?");
  const query = start < 0 ? "" : request.target.slice(start + 1);
  const values = parseParameters(query, endpoint.required, endpoint.optional);
  const question = new Question(collectionOf(collections, values.get("coll")), values, systemClock.now());
  const reply = await endpoint.answer(question);
  if ("value" in reply) return jsonAnswer(reply.value);
  if (wantsLines(question.text("format"), request)) return linesAnswer(reply, question.limit, request.signal);
  return await pageAnswer(reply, question.limit);
}

function wantsLines(format: string | undefined, { headers }: ServerRequest): boolean {
  return format === undefined ? /\bapplication\/(?:x-)?ndjson\b/i.test(headers.accept ?? "") : format === "ndjson";
}

function collectionOf(collections: ReadonlyMap<string, Collection>, name: string | undefined): Collection {
  const names = [...collections.keys()].join(", ");
  if (name === undefined && collections.size !== 1) throw new ParameterError("coll", `missing; one of: ${names}`);
  const found = name === undefined ? [...collections.values()][0] : collections.get(name);
  if (found === undefined) throw new ArchiveError("HT_NOT_FOUND", `no collection ${name}; there is: ${names}`);
  return found;
}
