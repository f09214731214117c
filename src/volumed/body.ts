/** Bodies of requests: gathered where they are small, piece by piece where they are not. */
import { ArchiveError } from "../base/index.ts";
import { type BlockData, parseSize, WIRE_HELD_SIZE_MAX } from "../store/index.ts";
import type { Exchange } from "./exchange.ts";
import type { VolumeService } from "./service.ts";

const EMPTY = Buffer.alloc(0);

/**
 * Hands on the body when it is there, or can begin to come. What `take` throws, and what goes wrong here, is the answer.
 * Bodies of more than `sizeMax` bytes are refused (HT_TOO_LARGE).
 */
export function readBody(
  service: VolumeService,
  exchange: Exchange,
  sizeMax: number,
  take: (body: BlockData) => void,
): void {
  const { headers } = exchange;
  const length = headers["content-length"];
  if (length === undefined) {
    if (headers["transfer-encoding"] === undefined) take(EMPTY);
    else readUnsized(service, exchange, sizeMax).then(take).catch(exchange.fail);
    return;
  }
  const size = parseSize(length, "Content-Length");
  if (size > sizeMax) throw tooLarge(sizeMax);
  if (size > WIRE_HELD_SIZE_MAX) take(pieces(exchange, sizeMax));
  else {
    service.hold(exchange, size);
    exchange.gather(size, take);
  }
}

async function readUnsized(service: VolumeService, exchange: Exchange, sizeMax: number): Promise<BlockData> {
  service.hold(exchange, WIRE_HELD_SIZE_MAX);
  const all = pieces(exchange, sizeMax);
  const first: Uint8Array[] = [];
  let size = 0;
  while (size <= WIRE_HELD_SIZE_MAX) {
    const { done, value } = await all.next();
    if (done === true) return Buffer.concat(first);
    first.push(value);
    size += value.length;
  }
  return (async function* () {
    yield* first.splice(0);
    yield* all;
  })();
}

async function* pieces(exchange: Exchange, sizeMax: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of exchange.chunks()) {
    size += piece.length;
    if (size > sizeMax) throw tooLarge(sizeMax);
    exchange.isWithServer = true;
    yield piece;
    exchange.isWithServer = false;
  }
  exchange.isWithServer = true;
}

function tooLarge(sizeMax: number): ArchiveError {
  return new ArchiveError("HT_TOO_LARGE", `more than the ${sizeMax} bytes that are taken here`);
}
