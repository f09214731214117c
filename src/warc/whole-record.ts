/**
 * A single record that is all there, and exactly as the standard has it: one gzip member or plain bytes, its block as
 * long as its header says, two line ends behind it and nothing else. Most records are, and need none of what the reader
 * does to find its way; every other is left to the reader.
 */
import { crc32 } from "node:zlib";
import { gzipHeaderSize, isGzip } from "./gzip-stream.ts";
import { createInflater, type Inflater } from "./inflater.ts";
import { takeAccelerator } from "./inflater-accelerator.ts";
import { type RecordSource, WarcRecord } from "./record.ts";
import { findHeadEnd, HEAD_SIZE_MAX, parseWarcHead } from "./record-head.ts";
import { isWarcMagic } from "./record-start.ts";
import { SEPARATOR } from "./writer.ts";

/** Checksum and size behind the data of a gzip member. */
const TRAILER_SIZE = 8;

export class WholeRecords implements RecordSource {
  private readonly inflater: Inflater = createInflater();
  private readonly room: Buffer;
  private readonly exactRoom: Buffer;
  private current: { record: WarcRecord; content: Buffer; block: Buffer; raw: Buffer; isRead: boolean } | undefined;

  /** Records up to `sizeMax` bytes, decoded. */
  constructor(sizeMax: number) {
    // The inflater sees an end only where room is left over behind it.
    this.room = Buffer.allocUnsafeSlow(sizeMax + 1);
    this.exactRoom = this.room.subarray(0, sizeMax);
  }

  /** The record that `raw` is; absent where it is anything else. It is gone with the next call. */
  open(raw: Buffer, place: { readonly file: string; readonly offset: number }): WarcRecord | undefined {
    this.current = undefined;
    const content = isGzip(raw, 0, raw.length) ? this.inflate(raw) : raw;
    if (content === undefined || !isWarcMagic(content, 0, content.length)) return undefined;
    const headEnd = findHeadEnd(content, 0, Math.min(content.length, HEAD_SIZE_MAX));
    if (headEnd === undefined) return undefined;
    const head = parseWarcHead(content, 0, headEnd);
    const blockEnd = content.length - SEPARATOR.length;
    const isExact = head.blockSize === blockEnd - headEnd && isSeparator(content, blockEnd);
    if (!isExact || !head.crlf || head.headers.oddLineCount > 0) return undefined;
    const { file, offset } = place;
    const record = new WarcRecord(this, { file, offset, inner: undefined }, head, head.blockSize);
    this.current = { record, content, block: content.subarray(headEnd, blockEnd), raw, isRead: false };
    return record;
  }

  private inflate(raw: Buffer): Buffer | undefined {
    const { room, inflater } = this;
    const accelerator = takeAccelerator(raw.length);
    if (accelerator !== undefined) {
      const isWhole = accelerator.inflate(raw, 0, raw.length, this.exactRoom, 0, this.exactRoom.length) === "whole";
      return isWhole && accelerator.taken === raw.length ? room.subarray(0, accelerator.given) : undefined;
    }
    const headerSize = gzipHeaderSize(raw, 0, raw.length);
    const trailerAt = raw.length - TRAILER_SIZE;
    if (headerSize <= 0 || headerSize > trailerAt) return undefined;
    inflater.reset();
    if (!inflater.inflate(raw, headerSize, raw.length, room, 0, room.length)) return undefined;
    if (!inflater.ended || headerSize + inflater.taken !== trailerAt) return undefined;
    const content = room.subarray(0, inflater.given);
    const isSound =
      raw.readUInt32LE(trailerAt) === crc32(content) && raw.readUInt32LE(trailerAt + 4) === content.length;
    return isSound ? content : undefined;
  }

  private of(record: WarcRecord) {
    return this.current?.record === record ? this.current : undefined;
  }

  readBody(record: WarcRecord): Uint8Array | undefined {
    const own = this.of(record);
    if (own === undefined || own.isRead) return undefined;
    own.isRead = true;
    return own.block.length === 0 ? undefined : own.block;
  }

  readBodyLater(record: WarcRecord): Promise<Uint8Array | undefined> {
    return Promise.resolve(this.readBody(record));
  }

  blockOf(record: WarcRecord): Buffer | undefined {
    const own = this.of(record);
    return own?.isRead === false ? own.block : undefined;
  }

  contentOf(record: WarcRecord): Buffer | undefined {
    return this.of(record)?.content;
  }

  rawOf(record: WarcRecord): Uint8Array | undefined {
    return this.of(record)?.raw;
  }

  endOf(record: WarcRecord): number | undefined {
    const own = this.of(record);
    return own === undefined ? undefined : record.offset + own.raw.length;
  }
}

function isSeparator(content: Uint8Array, at: number): boolean {
  return SEPARATOR.every((byte, i) => content[at + i] === byte);
}
