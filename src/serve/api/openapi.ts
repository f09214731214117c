/** The OpenAPI 3.1 document of the API, made of the tables that requests are checked and answered by. */
import { ENDPOINTS, type Endpoint } from "./endpoints.ts";
import { PARAMETERS, type ParameterName, type ParameterSchema } from "./parameters.ts";
import { ROW_SCHEMAS, refTo, type Schema } from "./row-schemas.ts";

export function openApiDocument(baseUrl: string): object {
  const paths = Object.entries<Endpoint>(ENDPOINTS).map(([name, endpoint]) => [
    `/api/${name}`,
    { get: operation(name, endpoint) },
  ]);
  return {
    openapi: "3.1.0",
    info: {
      title: "Holotype",
      version: "1",
      description: "What every URL held at every moment. Times are UTC. Errors have a code and a message.",
    },
    servers: [{ url: baseUrl }],
    paths: Object.fromEntries(paths),
    components: { schemas: ROW_SCHEMAS },
  };
}

function operation(name: string, { summary, description, required, optional, form, schema }: Endpoint): object {
  const page: Schema = {
    type: "object",
    properties: {
      items: { type: "array", items: refTo(schema) },
      next: { type: ["string", "null"], description: "The cursor of the next page; null after the last row" },
    },
    required: ["items", "next"],
  };
  const json = form === "object" ? refTo(schema) : form === "rows" ? page : { oneOf: [refTo(schema), page] };
  const lines = form === "object" ? {} : { "application/x-ndjson": { schema: refTo(schema) } };
  const failure = (text: string) => ({
    description: text,
    content: { "application/json": { schema: refTo("Error") } },
  });
  return {
    operationId: name,
    summary,
    description,
    parameters: [...required.map((each) => parameter(each, true)), ...optional.map((each) => parameter(each, false))],
    responses: {
      "200": { description: summary, content: { "application/json": { schema: json }, ...lines } },
      "400": failure("A parameter is wrong; `parameter` names it."),
      "404": failure("No such collection, or nothing is known."),
      "451": failure("Access rules keep it from being shown."),
    },
  };
}

function parameter(name: ParameterName, required: boolean): object {
  const { description, ...schema }: ParameterSchema = PARAMETERS[name];
  return { name, in: "query", required, description, schema };
}
