/** Single operations on blocks: `/blocks/SIGNATURE[-OVERFLOW]` and `/blocks/SIGNATURE/references`. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { ArchiveError, invariant } from "../base/index.ts";
import {
  type BlockAddress,
  type BlockData,
  BlockField,
  type BlockInfo,
  type ByteRange,
  checkRequestId,
  formatAddress,
  formatBlockInfo,
  formatReceipt,
  MediaType,
  notHere,
  type OpenBlock,
  parseBlockAddress,
  parseMode,
  parseSigned,
  parseSize,
  type StoreReceipt,
  WIRE_HELD_SIZE_MAX,
} from "../store/index.ts";
import { readBody } from "./body.ts";
import type { Exchange } from "./exchange.ts";
import type { VolumeService } from "./service.ts";

const Header = {
  signature: BlockField.signature.toLowerCase(),
  compression: BlockField.compression.toLowerCase(),
  size: BlockField.size.toLowerCase(),
  mode: BlockField.mode.toLowerCase(),
  request: BlockField.request.toLowerCase(),
} as const;

export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  return headers[name] as string | undefined;
}

export function requestIdOf(headers: IncomingHttpHeaders): string | undefined {
  const id = headerOf(headers, Header.request);
  checkRequestId(id);
  return id;
}

/** What the headers of a request say about the content in its body. */
export function contentOf(service: VolumeService, headers: IncomingHttpHeaders, signature: string, hasBody = true) {
  const compression = headerOf(headers, Header.compression) ?? "none";
  // Uncompressed, the content is the body, if there is one.
  const length = headers["content-length"];
  const sizeText = headerOf(headers, Header.size) ?? (compression === "none" && hasBody ? length : undefined);
  if (sizeText === undefined) throw new ArchiveError("HT_USAGE", `the header ${BlockField.size} is missing`);
  const size = parseSize(sizeText, BlockField.size);
  if (size > service.limits.contentSizeMaxBytes) {
    throw new ArchiveError("HT_TOO_LARGE", `contents have at most ${service.limits.contentSizeMaxBytes} bytes here`);
  }
  const signed = headerOf(headers, Header.signature);
  if (signed !== undefined) checkSigned(service, parseSigned(signed), signature);
  return { signature, size, compression };
}

function checkSigned(service: VolumeService, signed: ReturnType<typeof parseSigned>, signature: string): void {
  if (signed.algorithm !== service.algorithm) {
    throw new ArchiveError("HT_USAGE", `signatures are ${service.algorithm} here, not ${signed.algorithm}`);
  }
  if (signed.signature !== signature) throw new ArchiveError("HT_USAGE", "header and path name different signatures");
}

/** What would take much memory decompressed is handed on in pieces, however small it is now. */
export function piecemeal(data: BlockData, size: number): BlockData {
  if (size <= WIRE_HELD_SIZE_MAX || !(data instanceof Uint8Array)) return data;
  return Readable.from([data]);
}

/** An address without overflow number: those are the volume's to give. */
export function signatureOnly(text: string): string {
  const { signature, overflow } = parseBlockAddress(text);
  if (overflow > 0) throw new ArchiveError("HT_USAGE", `a signature is expected, without overflow number: ${text}`);
  return signature;
}

export function putBlock(service: VolumeService, exchange: Exchange, name: string): void {
  const { headers } = exchange;
  const { signature, size, compression } = contentOf(service, headers, signatureOnly(name));
  const mode = parseMode(headerOf(headers, Header.mode) ?? "regular");
  const requestId = requestIdOf(headers);
  readBody(service, exchange, service.limits.contentSizeMaxBytes, (body) => {
    const data = piecemeal(body, size);
    service
      .track(service.volume.store({ signature, size, compression, mode, data, requestId }))
      .then((receipt) => sendReceipt(service, exchange, receipt))
      .catch(exchange.fail);
  });
}

export function sendReceipt(service: VolumeService, exchange: Exchange, receipt: StoreReceipt): void {
  service.noteReceipt(receipt);
  exchange.sendJson(receipt.outcome === "new" ? 201 : 200, receipt.outcome, formatReceipt(receipt), {
    Location: `/blocks/${formatAddress(receipt)}`,
  });
}

/** With `Holotype-Mode: compare` the body is a content to compare with; otherwise there is none. */
export function referToBlock(service: VolumeService, exchange: Exchange, name: string): void {
  const { headers } = exchange;
  const mode = parseMode(headerOf(headers, Header.mode) ?? "regular");
  const { signature, size, compression } = contentOf(service, headers, signatureOnly(name), mode === "compare");
  if (mode === "force-new") throw new ArchiveError("HT_USAGE", "a reference cannot be forced to be new");
  const requestId = requestIdOf(headers);
  const sizeMax = mode === "compare" ? service.limits.contentSizeMaxBytes : 0;
  readBody(service, exchange, sizeMax, (body) => {
    const compared = mode === "compare" ? { compression, data: piecemeal(body, size) } : undefined;
    service
      .track(service.volume.refer({ signature, size, requestId, compared }))
      .then((receipt) => {
        if (receipt === undefined) throw notHere({ signature, overflow: 0 });
        sendReceipt(service, exchange, receipt);
      })
      .catch(exchange.fail);
  });
}

export function removeBlock(service: VolumeService, exchange: Exchange, name: string): void {
  const address = parseBlockAddress(name);
  exchange.isWithServer = true;
  service
    .track(service.volume.remove(address, requestIdOf(exchange.headers)))
    .then((info) => {
      if (info === undefined) throw notHere(address);
      service.noteRemoval(info.references);
      exchange.sendJson(200, info.references === 0 ? "removed" : "dereferenced", formatBlockInfo(info));
    })
    .catch(exchange.fail);
}

export function headBlock(service: VolumeService, exchange: Exchange, name: string): void {
  const address = parseBlockAddress(name);
  exchange.isWithServer = true;
  findBlock(service, address)
    .then((info) => {
      if (info === undefined) throw notHere(address);
      exchange.outcome = "found";
      exchange.begin(200, { ...blockHeaders(service, info), "Content-Length": info.storedSize });
      exchange.end();
    })
    .catch(exchange.fail);
}

async function findBlock(service: VolumeService, address: BlockAddress): Promise<BlockInfo | undefined> {
  const [found] = await service.volume.find([address.signature]);
  return found!.find(({ overflow }) => overflow === address.overflow);
}

export function getBlock(service: VolumeService, exchange: Exchange, name: string): void {
  const address = parseBlockAddress(name);
  exchange.isWithServer = true;
  const { range } = exchange.headers;
  if (range !== undefined) {
    getRange(service, exchange, address, range).catch(exchange.fail);
    return;
  }
  service.volume
    .open(address)
    .then((block) => {
      if (block === undefined) throw notHere(address);
      return sendBlock(service, exchange, block);
    })
    .catch(exchange.fail);
}

/** The whole block; its pieces are waited for, a block that is all there is sent at once. */
export function sendBlock(
  service: VolumeService,
  exchange: Exchange,
  block: OpenBlock,
  more: OutgoingHttpHeaders = {},
): Promise<void> | undefined {
  const headers = { ...blockHeaders(service, block), ...more };
  if (!(block.data instanceof Uint8Array)) {
    return sendPieces(exchange, 200, headers, block.storedSize, block.data);
  }
  exchange.send(200, "found", headers, block.data);
  return undefined;
}

async function getRange(
  service: VolumeService,
  exchange: Exchange,
  address: BlockAddress,
  text: string,
): Promise<void> {
  const info = await findBlock(service, address);
  if (info === undefined) throw notHere(address);
  const range = parseRange(text, info.storedSize);
  const headers = blockHeaders(service, info);
  if (range === "unsatisfiable") {
    headers["Content-Range"] = `bytes */${info.storedSize}`;
    const error = { code: "HT_USAGE", message: `the block has ${info.storedSize} bytes, and the range is behind them` };
    exchange.sendJson(416, "HT_USAGE", JSON.stringify({ error }), headers);
    return;
  }
  const block = await service.volume.open(address, range);
  if (block === undefined) throw notHere(address);
  if (range === undefined) return sendBlock(service, exchange, block);
  if (block.storedSize !== info.storedSize) {
    throw new ArchiveError("HT_CHANGED", `${formatAddress(address)} was removed and came back while it was read`);
  }
  headers["Content-Range"] = `bytes ${range.start}-${range.end - 1}/${info.storedSize}`;
  if (block.data instanceof Uint8Array) exchange.send(206, "found", headers, block.data);
  else await sendPieces(exchange, 206, headers, range.end - range.start, block.data);
}

async function sendPieces(
  exchange: Exchange,
  status: number,
  headers: OutgoingHttpHeaders,
  size: number,
  data: AsyncIterable<Uint8Array>,
): Promise<void> {
  headers["Content-Length"] = size;
  exchange.begin(status, headers);
  let left = size;
  for await (const piece of data) {
    left -= piece.length;
    invariant(left >= 0, "a block is longer than it says");
    await exchange.write(piece);
  }
  // The next answer on the connection would be taken for the rest.
  invariant(left === 0, "a block is shorter than it says");
  exchange.outcome = "found";
  exchange.end();
}

export function blockHeaders(service: VolumeService, block: BlockInfo): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    "Content-Type": MediaType.bytes,
    "Accept-Ranges": "bytes",
    [BlockField.signature]: `${service.algorithm}:${block.signature}`,
    [BlockField.compression]: block.compression,
    [BlockField.size]: block.size,
    [BlockField.references]: block.references,
  };
  if (block.overflow > 0) headers[BlockField.overflow] = block.overflow;
  return headers;
}

/** One range of bytes; several, or what is no range, count as none, as the standard has it. */
function parseRange(text: string, size: number): ByteRange | "unsatisfiable" | undefined {
  const [whole, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(text.trim()) ?? [];
  if (whole === undefined || (first === "" && last === "")) return undefined;
  if (first === "") {
    const start = Math.max(0, size - Number(last));
    return start === size ? "unsatisfiable" : { start, end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(size, Number(last) + 1);
  if (last !== "" && Number(last) < start) return undefined;
  return start >= size ? "unsatisfiable" : { start, end };
}
