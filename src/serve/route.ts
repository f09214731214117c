/** A route: which targets it is for, and who answers them. The table of all of them is in routes.ts. */
import type { ServerAnswer, ServerRequest } from "../http/index.ts";
import type { Collection } from "./collection.ts";
import type { Assets } from "./pages/assets.ts";
import type { ReplayAccess } from "./replay-origin/replay-access.ts";

/** A request on its way to a route. */
export interface Asked {
  readonly request: ServerRequest;
  /** The one that the target names; of a route of the server, the one that is there or the first. */
  readonly collection: Collection;
  /** All of them, by name, in the order in which they were given. */
  readonly collections: ReadonlyMap<string, Collection>;
  /** What absolute links to the server begin with: `http://localhost:8080`. */
  readonly origin: string;
  /** What links into the collection begin with, under the name that it was asked by: `http://localhost:8080/web/`. */
  readonly base: string;
  /** What the route's expression found, by name. */
  readonly found: Readonly<Record<string, string | undefined>>;
  readonly serveFiles: boolean;
  /** What pages load. */
  readonly assets: Assets;
  /** The way to the replay origin; absent where there is none. */
  readonly replay: ReplayAccess | undefined;
}

/** What content is found by, on either origin. */
export type AskedContent = Pick<Asked, "request" | "collection" | "found">;

export interface Route {
  /** As the documentation has it: `/<coll>/timemap/link/<url>`. Every route has its own. */
  readonly pattern: string;
  /** Of what follows `/<coll>/`; of a route of the server, of what follows the first slash. The query belongs to it. */
  readonly match: RegExp;
  readonly isOfServer?: boolean | undefined;
  /** Throws `ArchiveError`s; they become answers that can be read. */
  answer(asked: Asked): ServerAnswer | Promise<ServerAnswer>;
}
