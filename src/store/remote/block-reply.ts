/** Blocks as HTTP answers have them: the header in header fields, the data as body. */
import { BlockField } from "../block-fields.ts";
import type { BlockAddress } from "../content-key.ts";
import type { BlockData, BlockInfo, ByteRange, OpenBlock } from "../volume.ts";
import { notOurs } from "../wire/block-json.ts";
import { parseSize } from "../wire/protocol.ts";
import { lateData } from "./late-data.ts";
import type { Link, Reply, ReplyHeaders } from "./link.ts";

/** `again` asks for the data anew, see `lateData`. */
export function openedBlock(
  link: Link,
  address: BlockAddress,
  reply: Reply,
  again: () => Promise<BlockData>,
): OpenBlock {
  const info = blockInfoIn(address, reply.headers);
  return { ...info, data: reply.rest === undefined ? reply.body : lateData(link, reply.rest, again) };
}

function blockInfoIn(address: BlockAddress, headers: ReplyHeaders): BlockInfo {
  return {
    signature: address.signature.toUpperCase(),
    overflow: address.overflow,
    size: sizeIn(headers, BlockField.size),
    storedSize: storedSizeIn(headers),
    compression: fieldIn(headers, BlockField.compression),
    references: sizeIn(headers, BlockField.references),
  };
}

/** Of a range, the size of the whole stands behind a slash. */
function storedSizeIn(headers: ReplyHeaders): number {
  const range = headers["content-range"];
  if (typeof range !== "string") return sizeIn(headers, "Content-Length");
  const [, whole] = /\/(\d{1,15})$/.exec(range) ?? [];
  if (whole === undefined) throw notOurs("no size of the whole");
  return Number(whole);
}

function sizeIn(headers: ReplyHeaders, name: string): number {
  try {
    return parseSize(fieldIn(headers, name), name);
  } catch {
    throw notOurs(`no ${name}`);
  }
}

function fieldIn(headers: ReplyHeaders, name: string): string {
  const value = headers[name.toLowerCase()];
  if (typeof value !== "string" || value === "") throw notOurs(`no ${name}`);
  return value;
}

export function formerKeysIn(headers: ReplyHeaders): string[] {
  const text = headers[BlockField.former.toLowerCase()];
  return typeof text === "string" && text !== "" ? text.split(" ") : [];
}

/** An answer to a range that begins right at the end, or is empty: the header, and no data. */
export function emptyRange(address: BlockAddress, reply: Reply, range: ByteRange): OpenBlock | undefined {
  const info = blockInfoIn(address, reply.headers);
  return range.start > info.storedSize ? undefined : { ...info, data: new Uint8Array(0) };
}
