/**
 * The replay origin: the worker, the page that starts it, our two small scripts, and archived content in the forms that the
 * worker and the static view load. No cookies, no API, no pages. Archived scripts run here and nowhere else.
 */
import { ArchiveError } from "../../base/index.ts";
import type { Handler, ServerAnswer, ServerRequest } from "../../http/index.ts";
import { failureAnswer, type Headers, redirectAnswer, textAnswer } from "../answers.ts";
import { headerUrl } from "../archived-url.ts";
import type { Collection } from "../collection.ts";
import { originOf } from "../origin.ts";
import { missingAnswer } from "../replay/missing.ts";
import { workerAnswer } from "../replay/worker.ts";
import { type StaticForm, staticAnswer } from "../static/static-answer.ts";
import { bootAnswer } from "./boot-page.ts";
import { type FramePlace, REPLAY_HEADERS, WORKER_POLICY } from "./policies.ts";
import type { ReplayAccess } from "./replay-access.ts";
import type { NamedCollection } from "./replay-names.ts";
import { type WorkerFile, workerNotice } from "./worker-file.ts";

export interface ReplayOptions {
  readonly access: ReplayAccess;
  /** Absent where it is not installed: then there is the static view. */
  readonly worker?: WorkerFile | undefined;
  /** Made of ui/, by name: `replay-boot.js`, `replay-guard.js`. */
  readonly scripts: ReadonlyMap<string, string>;
}

const CONTENT = /^\/(?<name>[^/?]+)\/(?<ts>\d*)(?<form>ir|st|sf|sy)_\/(?<url>.+)$/s;
const FRAME = /^\/(?:boot|w\/r)\/(?<name>[^/?]+)\/(?<ts>\d*)(?:[a-z]+_)?\/(?<url>.+)$/s;
const SCRIPT = /^(?:\/w)?\/static\/(?<name>replay-[a-z]+\.js)$/;
/** What may ask for content in a form: the worker's own requests have no destination. */
const DESTINATIONS: Readonly<Record<string, RegExp>> = {
  ir: /^empty$/,
  st: /^(?:document|iframe|frame|image|style|font|audio|video|track|empty)$/,
  sf: /^(?:iframe|frame)$/,
  sy: /^iframe$/,
};
const STATIC_FORMS: Readonly<Record<string, StaticForm>> = { st: "view", sf: "inner", sy: "scrolled" };
const SCRIPT_HEADERS: Headers = [["Cache-Control", "no-cache"]];

export function serveReplay(collections: readonly Collection[], options: ReplayOptions): Handler {
  const server = new ReplayServer(new Map(collections.map((each) => [each.name, each])), options);
  return (request) => server.answer(request);
}

class ReplayServer {
  private readonly collections: ReadonlyMap<string, Collection>;
  private readonly options: ReplayOptions;

  constructor(collections: ReadonlyMap<string, Collection>, options: ReplayOptions) {
    this.collections = collections;
    this.options = options;
  }

  async answer(request: ServerRequest): Promise<ServerAnswer> {
    const answer = await this.find(request).catch((error: unknown) => failureAnswer(error, request));
    const own = new Set(answer.headers.map(([name]) => name.toLowerCase()));
    const added = REPLAY_HEADERS.filter(([name]) => !own.has(name.toLowerCase()));
    return { ...answer, headers: [...answer.headers, ...added] };
  }

  private async find(request: ServerRequest): Promise<ServerAnswer> {
    const { method, target, headers } = request;
    if (method !== "GET" && method !== "HEAD") throw new ArchiveError("HT_FORBIDDEN", "only GET and HEAD, here");
    const isWorker = /^\/sw\.js(?:\?|$)/.test(target);
    // Archived scripts must not become workers of this origin.
    if (headers["service-worker"] !== undefined && !isWorker)
      throw new ArchiveError("HT_FORBIDDEN", "no service worker but our own, here");
    if (isWorker) return this.worker(request);
    const script = SCRIPT.exec(target)?.groups?.["name"];
    if (script !== undefined) return this.script(request, script);
    const frame = FRAME.exec(target)?.groups;
    if (frame !== undefined) return this.frame(request, frame);
    const content = CONTENT.exec(target)?.groups;
    if (content !== undefined) return await this.content(request, content);
    if (target === "/static/worker-licence.txt") return this.licence(request);
    throw new ArchiveError("HT_NOT_FOUND", "this address shows archived pages inside of others; there is nothing here");
  }

  private worker(request: ServerRequest): ServerAnswer {
    request.route = "replay worker";
    const { worker } = this.options;
    if (worker === undefined) throw new ArchiveError("HT_NOT_FOUND", "@webrecorder/wabac is not installed here");
    const tag = `"${worker.version}"`;
    const headers: Headers = [
      ["Content-Security-Policy", WORKER_POLICY],
      ["Cache-Control", "no-cache"],
      ["ETag", tag],
      ["Link", '</static/worker-licence.txt>; rel="license"'],
    ];
    if (request.headers["if-none-match"] === tag) return { status: 304, headers };
    const type = ["Content-Type", "text/javascript; charset=utf-8"] as const;
    return { status: 200, headers: [type, ...headers], body: worker.script };
  }

  private licence(request: ServerRequest): ServerAnswer {
    request.route = "replay worker licence";
    const { worker } = this.options;
    if (worker === undefined) throw new ArchiveError("HT_NOT_FOUND", "@webrecorder/wabac is not installed here");
    return textAnswer(200, "text/plain; charset=utf-8", workerNotice(worker));
  }

  private script(request: ServerRequest, name: string): ServerAnswer {
    request.route = "replay script";
    const text = this.options.scripts.get(name);
    if (text === undefined) throw new ArchiveError("HT_NOT_FOUND", "no such script");
    return textAnswer(200, "text/javascript; charset=utf-8", text, SCRIPT_HEADERS);
  }

  private named(name: string | undefined): NamedCollection {
    const named = this.options.access.names.find(name ?? "", this.collections);
    if (named === undefined) throw new ArchiveError("HT_NOT_FOUND", "no such collection; go back and open it again");
    return named;
  }

  private place(request: ServerRequest, name: string): FramePlace {
    const { origins } = this.options.access;
    const origin = originOf(request, origins.replayUrl);
    return { origin: new URL(origin).origin, pages: origins.pagesFor(origin), name };
  }

  /** Never content: a request that comes here has not been seen by the worker. */
  private frame(request: ServerRequest, { name = "", ts = "", url = "" }: Groups): ServerAnswer {
    request.route = "replay frame";
    const { collection, isPinned } = this.named(name);
    const place = this.place(request, name);
    const path = `/${collection.name}/${isPinned ? "as-of/" : ""}`;
    if (request.headers["sec-fetch-dest"] === "document")
      return redirectAnswer(`${place.pages}${path}${ts === "" ? "" : `${ts}/`}${headerUrl(url)}`);
    return bootAnswer(place, path);
  }

  private async content(request: ServerRequest, { name = "", ts, form = "", url }: Groups): Promise<ServerAnswer> {
    request.route = form === "ir" ? "replay content" : "static content";
    const destination = request.headers["sec-fetch-dest"] ?? "empty";
    if (!DESTINATIONS[form]!.test(String(destination)))
      throw new ArchiveError("HT_FORBIDDEN", `not in this form as ${String(destination)}`);
    const { collection, isPinned } = this.named(name);
    const place = this.place(request, name);
    const found = { ts, url, asOf: isPinned ? "as-of/" : undefined };
    const asked = { request, collection, found };
    try {
      return form === "ir" ? await workerAnswer(asked) : await staticAnswer(asked, place, STATIC_FORMS[form]!);
    } catch (error) {
      return missingAnswer(asked, error);
    }
  }
}

type Groups = Readonly<Record<string, string | undefined>>;
