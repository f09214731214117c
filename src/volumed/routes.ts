/** Which request is answered by what. Obeys docs/protocol. */
import { ArchiveError } from "../base/index.ts";
import { getBlock, headBlock, putBlock, referToBlock, removeBlock } from "./block-routes.ts";
import { compactVolume, setState } from "./care-routes.ts";
import type { Exchange } from "./exchange.ts";
import { describeVolume, findBlocks, listBlocks, sendFilter, sendHealth, sendMetrics } from "./listing-routes.ts";
import { adopt, follow, leave, left } from "./move-routes.ts";
import { RetrieveStream } from "./retrieve-stream.ts";
import type { VolumeService } from "./service.ts";
import { StoreStream } from "./store-stream.ts";

/** What is thrown at once or rejected later is the answer; `name` is what stands behind the last slash. */
type Route = (service: VolumeService, exchange: Exchange, name: string, query: string) => Promise<void> | void;

interface NamedRoute {
  readonly kind: string;
  readonly answer: Route;
}

const FIXED: Readonly<Record<string, NamedRoute>> = {
  "GET /health": { kind: "health", answer: sendHealth },
  "GET /metrics": { kind: "metrics", answer: sendMetrics },
  "GET /volume": { kind: "describe", answer: describeVolume },
  "GET /filter": { kind: "filter", answer: sendFilter },
  "GET /blocks": {
    kind: "list",
    answer: (service, exchange, _, query) => listBlocks(service, exchange, new URLSearchParams(query)),
  },
  "PUT /state": { kind: "state", answer: setState },
  "POST /compact": { kind: "compact", answer: compactVolume },
  "POST /find": { kind: "find", answer: findBlocks },
  "POST /store": { kind: "store", answer: (service, exchange) => new StoreStream(service, exchange).run() },
  "POST /retrieve": { kind: "retrieve", answer: (service, exchange) => new RetrieveStream(service, exchange).run() },
};

const OF_BLOCKS: Readonly<Record<string, NamedRoute>> = {
  HEAD: { kind: "head", answer: headBlock },
  GET: { kind: "get", answer: getBlock },
  PUT: { kind: "put", answer: putBlock },
  DELETE: { kind: "delete", answer: removeBlock },
};

const REFER: NamedRoute = { kind: "refer", answer: referToBlock };

const OF_MOVES: Readonly<Record<string, NamedRoute>> = {
  "POST /moves/leave/": { kind: "leave", answer: leave },
  "POST /moves/adopt/": { kind: "adopt", answer: adopt },
  "POST /moves/left/": { kind: "left", answer: left },
  "GET /moves/follow/": { kind: "follow", answer: follow },
};

const BLOCKS = "/blocks/";
const REFERENCES = "/references";

/** Paths that are answered without a token, and while the server goes down. */
export function isOpenToAll(exchange: Exchange): boolean {
  return exchange.request.url === "/health";
}

export function answer(service: VolumeService, exchange: Exchange): Promise<void> | void {
  const { method = "", url = "" } = exchange.request;
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  const { route, name } = find(method, path);
  if (route === undefined) {
    throw new ArchiveError("HT_USAGE", `a volume server has no ${method} ${path.slice(0, 200)}; see docs/protocol`);
  }
  exchange.kind = route.kind;
  return route.answer(service, exchange, name, mark < 0 ? "" : url.slice(mark + 1));
}

function find(method: string, path: string): { readonly route: NamedRoute | undefined; readonly name: string } {
  if (path.startsWith(BLOCKS)) {
    if (!path.endsWith(REFERENCES)) return { route: lookUp(OF_BLOCKS, method), name: path.slice(BLOCKS.length) };
    const name = path.slice(BLOCKS.length, -REFERENCES.length);
    return { route: method === "POST" ? REFER : undefined, name };
  }
  const request = `${method} ${path}`;
  const behind = request.lastIndexOf("/") + 1;
  const route = lookUp(FIXED, request) ?? lookUp(OF_MOVES, request.slice(0, behind));
  return { route, name: request.slice(behind) };
}

function lookUp(table: Readonly<Record<string, NamedRoute>>, key: string): NamedRoute | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
