/** Which request is answered by what. Obeys docs/protocol. */
import { ArchiveError } from "../base/index.ts";
import { getBlock, headBlock, putBlock, referToBlock, removeBlock } from "./block-routes.ts";
import { compactVolume, setState } from "./care-routes.ts";
import type { Exchange } from "./exchange.ts";
import { describeVolume, findBlocks, listBlocks, sendFilter, sendHealth, sendMetrics } from "./listing-routes.ts";
import { adopt, follow, leave, left } from "./move-routes.ts";
import type { NodeExchange } from "./node-exchange.ts";
import { RetrieveStream } from "./retrieve-stream.ts";
import type { VolumeService } from "./service.ts";
import { StoreStream } from "./store-stream.ts";

/** What is thrown at once or rejected later is the answer; `name` is what stands behind the last slash. */
type Route<E extends Exchange> = (
  service: VolumeService,
  exchange: E,
  name: string,
  query: string,
) => Promise<void> | void;

interface NamedRoute<E extends Exchange> {
  readonly kind: string;
  readonly answer: Route<E>;
}

type Routes<E extends Exchange> = Readonly<Record<string, NamedRoute<E>>>;

/** Those that only `node:http` can carry, because their bodies come or go in streams; and with them all that is rare. */
const FIXED: Routes<NodeExchange> = {
  "GET /health": { kind: "health", answer: sendHealth },
  "GET /metrics": { kind: "metrics", answer: sendMetrics },
  "GET /blocks": {
    kind: "list",
    answer: (service, exchange, _, query) => listBlocks(service, exchange, new URLSearchParams(query)),
  },
  "PUT /state": { kind: "state", answer: setState },
  "POST /compact": { kind: "compact", answer: compactVolume },
  "POST /store": { kind: "store", answer: (service, exchange) => new StoreStream(service, exchange).run() },
  "POST /retrieve": { kind: "retrieve", answer: (service, exchange) => new RetrieveStream(service, exchange).run() },
};

const OF_VOLUME: Routes<Exchange> = {
  "GET /volume": { kind: "describe", answer: describeVolume },
  "GET /filter": { kind: "filter", answer: sendFilter },
  "POST /find": { kind: "find", answer: findBlocks },
};

const OF_BLOCKS: Routes<Exchange> = {
  HEAD: { kind: "head", answer: headBlock },
  GET: { kind: "get", answer: getBlock },
  PUT: { kind: "put", answer: putBlock },
  DELETE: { kind: "delete", answer: removeBlock },
};

const REFER: NamedRoute<Exchange> = { kind: "refer", answer: referToBlock };

const OF_MOVES: Routes<NodeExchange> = {
  "POST /moves/leave/": { kind: "leave", answer: leave },
  "POST /moves/adopt/": { kind: "adopt", answer: adopt },
  "POST /moves/left/": { kind: "left", answer: left },
  "GET /moves/follow/": { kind: "follow", answer: follow },
};

const BLOCKS = "/blocks/";
const REFERENCES = "/references";

/** Paths that are answered without a token, and while the server goes down; but not to web pages. */
export function isOpenToAll(exchange: Exchange): boolean {
  return exchange.url === "/health";
}

export function answer(service: VolumeService, exchange: NodeExchange): Promise<void> | void {
  const { path, query } = split(exchange.url);
  const request = `${exchange.method} ${path}`;
  const behind = request.lastIndexOf("/") + 1;
  const route = lookUp(FIXED, request) ?? lookUp(OF_MOVES, request.slice(0, behind));
  if (route === undefined) return answerPlainly(service, exchange);
  exchange.kind = route.kind;
  return route.answer(service, exchange, request.slice(behind), query);
}

/** Whatever can be asked without streams. */
export function answerPlainly(service: VolumeService, exchange: Exchange): Promise<void> | void {
  const { method, url } = exchange;
  const { path, query } = split(url);
  const { route, name } = find(method, path);
  if (route === undefined) {
    throw new ArchiveError("HT_USAGE", `a volume server has no ${method} ${path.slice(0, 200)}; see docs/protocol`);
  }
  exchange.kind = route.kind;
  return route.answer(service, exchange, name, query);
}

function split(url: string): { readonly path: string; readonly query: string } {
  const mark = url.indexOf("?");
  return mark < 0 ? { path: url, query: "" } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

function find(
  method: string,
  path: string,
): { readonly route: NamedRoute<Exchange> | undefined; readonly name: string } {
  if (!path.startsWith(BLOCKS)) return { route: lookUp(OF_VOLUME, `${method} ${path}`), name: "" };
  if (!path.endsWith(REFERENCES)) return { route: lookUp(OF_BLOCKS, method), name: path.slice(BLOCKS.length) };
  const name = path.slice(BLOCKS.length, -REFERENCES.length);
  return { route: method === "POST" ? REFER : undefined, name };
}

function lookUp<E extends Exchange>(table: Routes<E>, key: string): NamedRoute<E> | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
