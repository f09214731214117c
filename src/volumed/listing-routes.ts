/** What is asked about the volume as a whole: which blocks it has, and how it is. */
import { ArchiveError } from "../base/index.ts";
import { METRICS_TYPE, serverGauges } from "../http/index.ts";
import {
  FIND_COUNT_MAX,
  formatBlockInfo,
  gather,
  LIST_COUNT_DEFAULT,
  LIST_COUNT_MAX,
  MediaType,
  PROTOCOL_VERSION,
  parseBlockAddress,
  SIGNATURE_SIZES,
} from "../store/index.ts";
import { readBody } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import { volumeMeasures } from "./metrics.ts";
import type { NodeExchange } from "./node-exchange.ts";
import type { VolumeService } from "./service.ts";

const LINES = { "Content-Type": MediaType.lines } as const;
/** Lines of a listing are sent in bunches of about this size. */
const LIST_PIECE_LENGTH = 64 << 10;

/** A line of text for each signature; for each, in their order, a line of JSON with its blocks. */
export function findBlocks(service: VolumeService, exchange: Exchange): void {
  const lineSizeMax = 2 * SIGNATURE_SIZES[service.algorithm] + 2;
  readBody(service, exchange, FIND_COUNT_MAX * lineSizeMax, (body) => {
    answerFind(service, exchange, body).catch(exchange.fail);
  });
}

async function answerFind(service: VolumeService, exchange: Exchange, body: Parameters<typeof gather>[0]) {
  const text = Buffer.from(await gather(body, Number.MAX_SAFE_INTEGER)).toString("latin1");
  const signatures = text.split(/\r?\n/);
  if (signatures.at(-1) === "") signatures.pop();
  if (signatures.length > FIND_COUNT_MAX) {
    throw new ArchiveError("HT_TOO_LARGE", `at most ${FIND_COUNT_MAX} signatures in one request`);
  }
  const found = await service.volume.find(signatures);
  const lines = found.map((blocks) => `[${blocks.map(formatBlockInfo).join(",")}]\n`);
  exchange.send(200, "done", { ...LINES }, lines.join(""));
}

/** `after=ADDRESS` and `limit=N`: a line of JSON for each block, in order. Fewer than the limit: there are no more. */
export async function listBlocks(
  service: VolumeService,
  exchange: NodeExchange,
  query: URLSearchParams,
): Promise<void> {
  const afterText = query.get("after");
  const after = afterText === null ? undefined : parseBlockAddress(afterText);
  const limit = Number(query.get("limit") ?? LIST_COUNT_DEFAULT);
  if (!Number.isInteger(limit) || limit < 1 || limit > LIST_COUNT_MAX) {
    throw new ArchiveError("HT_USAGE", `limit is a whole number from 1 to ${LIST_COUNT_MAX}`);
  }
  exchange.isWithServer = true;
  let text = "";
  let count = 0;
  for await (const block of service.volume.list(after)) {
    text += `${formatBlockInfo(block)}\n`;
    count++;
    if (count === limit) break;
    if (text.length < LIST_PIECE_LENGTH) continue;
    if (!exchange.response.headersSent) exchange.response.writeHead(200, LINES);
    await exchange.write(Buffer.from(text));
    text = "";
  }
  if (!exchange.response.headersSent) exchange.send(200, "done", { ...LINES }, text);
  else {
    exchange.outcome = "done";
    exchange.bytesOut += text.length;
    exchange.response.end(text);
  }
}

export async function sendFilter(service: VolumeService, exchange: Exchange): Promise<void> {
  exchange.isWithServer = true;
  const tag = service.filterTag;
  if (exchange.headers["if-none-match"] === tag) {
    exchange.outcome = "unchanged";
    exchange.begin(304, { ETag: tag });
    exchange.end();
    return;
  }
  const filter = await service.volume.filter();
  exchange.send(200, "done", { "Content-Type": MediaType.bytes, ETag: tag }, filter.encode());
}

export async function describeVolume(service: VolumeService, exchange: Exchange): Promise<void> {
  exchange.isWithServer = true;
  const description = await service.volume.describe();
  exchange.sendJson(200, "done", JSON.stringify({ protocol: PROTOCOL_VERSION, ...description }));
}

/** For whoever decides whether to send requests here: 503 while the server goes down. */
export function sendHealth(service: VolumeService, exchange: NodeExchange): void {
  if (service.isDraining) exchange.sendJson(503, "draining", '{"status":"draining"}', { Connection: "close" });
  else exchange.sendJson(200, "ready", '{"status":"ready"}');
}

export async function sendMetrics(service: VolumeService, exchange: NodeExchange): Promise<void> {
  exchange.isWithServer = true;
  const text = service.metrics.format([
    ...volumeMeasures(await service.volume.describe()),
    ...serverGauges(service.countConnections(), service.underWay.size, service.isDraining),
  ]);
  exchange.send(200, "done", { "Content-Type": METRICS_TYPE }, text);
}
