/** Archives behind one handler: finds the collection and the route of a target, and makes failures answers. */
import { ArchiveError } from "../base/index.ts";
import type { Handler, ServerAnswer, ServerRequest } from "../http/index.ts";
import { failureAnswer, type Headers } from "./answers.ts";
import type { Collection } from "./collection.ts";
import { originOf } from "./origin.ts";
import { Assets } from "./pages/assets.ts";
import type { ReplayAccess } from "./replay-origin/replay-access.ts";
import type { Asked, Route } from "./route.ts";
import { ROUTES } from "./routes.ts";

export interface ServeOptions {
  /** What clients see in front of the server, behind a proxy: `https://archive.example`. */
  readonly baseUrl?: string | undefined;
  /** Serve records and segments as files, too. Never those of a collection with access rules. */
  readonly serveFiles?: boolean | undefined;
  /** The script of the pages, made of ui/. Without it they work, with less comfort. */
  readonly script?: string | undefined;
  /** The way to the replay origin (`serveReplay`). Without it captures are given raw. */
  readonly replay?: ReplayAccess | undefined;
}

/** Wayback Machine's name for what it has: here, the first collection, unless one is called so. */
const ALIAS = "web";
const ALLOW: Headers = [["Allow", "GET, HEAD, OPTIONS"]];

/** `collections` have names of their own; HT_USAGE where there is none, or two share one. */
export function serveArchives(collections: readonly Collection[], options: ServeOptions = {}): Handler {
  const byName = new Map(collections.map((collection) => [collection.name, collection]));
  const [first] = collections;
  if (first === undefined) throw new ArchiveError("HT_USAGE", "no archive to serve");
  if (byName.size < collections.length) throw new ArchiveError("HT_USAGE", "two collections have one name");
  const server = new ArchiveServer(byName, first, options);
  return (request) => server.answer(request);
}

class ArchiveServer {
  private readonly collections: ReadonlyMap<string, Collection>;
  private readonly first: Collection;
  private readonly options: ServeOptions;
  private readonly assets: Assets;

  constructor(collections: ReadonlyMap<string, Collection>, first: Collection, options: ServeOptions) {
    this.collections = collections;
    this.first = first;
    this.options = options;
    this.assets = new Assets(options.script);
  }

  async answer(request: ServerRequest): Promise<ServerAnswer> {
    try {
      const origin = originOf(request, this.options.baseUrl);
      const { route, collection, name, found } = this.find(request.target);
      request.route = route.pattern;
      if (request.method === "OPTIONS") return { status: 204, headers: ALLOW };
      if (request.method !== "GET" && request.method !== "HEAD") return refuse(request);
      const { collections, assets } = this;
      const serveFiles = this.options.serveFiles === true;
      const base = `${origin}/${name}/`;
      const { replay } = this.options;
      return await route.answer({ request, collection, collections, origin, base, found, serveFiles, assets, replay });
    } catch (error) {
      return failureAnswer(error, request);
    }
  }

  /** HT_NOT_FOUND where no route fits. */
  private find(target: string): Found & { readonly collection: Collection; readonly name: string } {
    const path = target.replace(/^\//, "");
    const slash = path.search(/[/?]/);
    const name = slash < 0 ? path : path.slice(0, slash);
    const named = this.collections.get(name) ?? (name === ALIAS ? this.first : undefined);
    const server = match(path, true);
    if (server !== undefined) return { ...server, collection: this.first, name: this.first.name };
    if (named !== undefined) {
      const rest = slash < 0 ? "" : path.slice(slash).replace(/^\//, "");
      const found = match(rest, false);
      if (found !== undefined) return { ...found, collection: named, name };
    }
    const alone = this.collections.size === 1 ? match(path, false) : undefined;
    if (alone !== undefined) return { ...alone, collection: this.first, name: this.first.name };
    const message = `nothing is served here; the collections are ${[...this.collections.keys()].join(", ")}`;
    throw new ArchiveError("HT_NOT_FOUND", message);
  }
}

interface Found {
  readonly route: Route;
  readonly found: Asked["found"];
}

function match(text: string, isOfServer: boolean): Found | undefined {
  for (const route of ROUTES) {
    if ((route.isOfServer === true) !== isOfServer) continue;
    const found = route.match.exec(text);
    if (found !== null) return { route, found: found.groups ?? {} };
  }
  return undefined;
}

/** The archive is only read. */
function refuse(request: ServerRequest): ServerAnswer {
  const error = new ArchiveError("HT_USAGE", "only GET and HEAD are answered here");
  return { ...failureAnswer(error, request, ALLOW), status: 405 };
}
