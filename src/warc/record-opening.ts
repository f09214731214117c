/**
 * The beginning of a record without the rest of it: its header and the first bytes of its block. A reader decodes a whole
 * record before it hands it out; whoever wants only its header, or a look at its payload, saves most of that here.
 */
import { crc32 } from "node:zlib";
import { invariant } from "../base/index.ts";
import { gzipHeaderSize, isGzip } from "./gzip-stream.ts";
import { createInflater, type Inflater } from "./inflater.ts";
import { findHeadEnd, HEAD_SIZE_MAX, parseWarcHead, type RecordHead } from "./record-head.ts";
import { isWarcMagic } from "./record-start.ts";

export interface RecordOpening {
  readonly head: RecordHead;
  /** The block as far as it was asked for and is there; valid until the next opening. */
  readonly start: Uint8Array;
}

const ROOM = 2 * HEAD_SIZE_MAX;
/** Checksum and size behind the data of a gzip member. */
const TRAILER_SIZE = 8;

export class RecordOpener {
  private readonly inflater: Inflater = createInflater();
  private readonly room = Buffer.allocUnsafeSlow(ROOM);

  /**
   * Opens the record that begins with `raw[from]`, a gzip member or plain, with about `blockSize` bytes of its block.
   * Absent where that is not how the bytes are, or where the header does not end within them.
   */
  open(raw: Uint8Array, from: number, to: number, blockSize: number): RecordOpening | undefined {
    invariant(blockSize <= HEAD_SIZE_MAX, "an opening is small");
    const decoded = isGzip(raw, from, to) ? this.inflate(raw, from, to, blockSize) : raw.subarray(from, to);
    if (decoded === undefined || !isWarcMagic(decoded, 0, decoded.length)) return undefined;
    const headEnd = findHeadEnd(decoded, 0, Math.min(decoded.length, HEAD_SIZE_MAX));
    if (headEnd === undefined) return undefined;
    const head = parseWarcHead(decoded, 0, headEnd);
    const size = Math.min(blockSize, head.blockSize ?? blockSize);
    return { head, start: decoded.subarray(headEnd, headEnd + size) };
  }

  /** Whether `member` is one gzip member, whole and sound, that holds these bytes. */
  holds(member: Uint8Array, content: Uint8Array): boolean {
    const headerSize = isGzip(member, 0, member.length) ? gzipHeaderSize(member, 0, member.length) : 0;
    const trailerAt = member.length - TRAILER_SIZE;
    if (headerSize <= 0 || headerSize > trailerAt) return false;
    const { inflater } = this;
    // The end is seen only where room is left over behind it.
    const room = content.length < ROOM ? this.room : Buffer.allocUnsafeSlow(content.length + 1);
    inflater.reset();
    if (!inflater.inflate(member, headerSize, member.length, room, 0, content.length + 1)) return false;
    if (!inflater.ended || headerSize + inflater.taken !== trailerAt || inflater.given !== content.length) return false;
    const trailer = new DataView(member.buffer, member.byteOffset + trailerAt, TRAILER_SIZE);
    const isSound = trailer.getUint32(0, true) === crc32(content) && trailer.getUint32(4, true) === content.length;
    return isSound && room.compare(content, 0, content.length, 0, content.length) === 0;
  }

  /** Headers are small: a first try with little room is most often enough. */
  private inflate(raw: Uint8Array, from: number, to: number, blockSize: number): Uint8Array | undefined {
    const headerSize = gzipHeaderSize(raw, from, to);
    if (headerSize <= 0) return undefined;
    const { inflater, room } = this;
    inflater.reset();
    let position = from + headerSize;
    let filled = 0;
    for (let limit = 768 + blockSize; ; limit = Math.min(ROOM, limit * 4)) {
      if (!inflater.inflate(raw, position, to, room, filled, limit)) return undefined;
      position += inflater.taken;
      filled += inflater.given;
      const headEnd = findHeadEnd(room, 0, filled);
      const enough = headEnd !== undefined && filled - headEnd >= blockSize;
      if (enough || inflater.ended || inflater.given === 0 || filled === ROOM) return room.subarray(0, filled);
    }
  }
}
