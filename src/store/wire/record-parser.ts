/**
 * Reads the records of a bulk stream as their bytes come, however they are cut. Stricter than the readers of `warc/`,
 * because the other side is one of us: a version line, fields, a blank line, as many bytes as Content-Length tells, two
 * line ends. What is anything else is refused, never guessed.
 */
import { ArchiveError } from "../../base/index.ts";
import { parseSize, WIRE_HELD_SIZE_MAX } from "./protocol.ts";

export interface WireHead {
  /** By their names in small letters. */
  readonly fields: ReadonlyMap<string, string>;
  /** Bytes of the block. */
  readonly length: number;
}

/** A record that is all there, or a larger one in pieces. Bytes are views of what was pushed, where they can be. */
export type WireEvent =
  | { readonly kind: "record"; readonly head: WireHead; readonly block: Uint8Array }
  | { readonly kind: "begin"; readonly head: WireHead }
  | { readonly kind: "piece"; readonly bytes: Uint8Array }
  | { readonly kind: "end" };

export const RECORD_HEAD_SIZE_MAX = 16 << 10;
const BLANK_LINE = Buffer.from("\r\n\r\n");
const EMPTY = Buffer.alloc(0);
/** A version line, and fields without control characters. */
const HEAD = /^WARC\/1\.[01](?:\r\n[!-9;-~]+:[\t\x20-\x7e\x80-\xff]*)*$/;
/** Control characters, and line ends that are only half there. */
const FORBIDDEN = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n)|(?<!\r)\n/;

/** What is wrong with a head that is none. */
function faultOf(text: string): string {
  if (FORBIDDEN.test(text)) return "a control character in a header";
  if (!/^WARC\/1\.[01](?:\r|$)/.test(text)) return "no WARC header";
  return "a line of a header that is no field";
}

export interface RecordParserOptions {
  /** Larger blocks come in pieces. */
  readonly heldSizeMax?: number;
}

export class RecordParser {
  private readonly heldSizeMax: number;
  private state: "head" | "block" | "pieces" | "separator" = "head";
  private bytes: Buffer = EMPTY;
  private at = 0;
  /** Offset in the stream of `bytes`. */
  private base = 0;
  private head: WireHead | undefined;
  /** Of a record that is gathered. */
  private block: Buffer | undefined;
  private filled = 0;
  /** Of a record in pieces: what is still to come. */
  private left = 0;

  constructor(options: RecordParserOptions = {}) {
    this.heldSizeMax = options.heldSizeMax ?? WIRE_HELD_SIZE_MAX;
  }

  /** More bytes of the stream, to be left unchanged; to be called when `next` has nothing. */
  push(bytes: Uint8Array): void {
    const more = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const rest = this.bytes.length - this.at;
    this.base += this.at;
    // What is left over is part of a head or of a separator.
    this.bytes = rest === 0 ? more : Buffer.concat([this.bytes.subarray(this.at), more]);
    this.at = 0;
  }

  /** Absent where more bytes are needed. Throws HT_USAGE for what is no record, and is of no use from then on. */
  next(): WireEvent | undefined {
    switch (this.state) {
      case "head":
        return this.readHead();
      case "block":
        return this.readBlock();
      case "pieces":
        return this.readPiece();
      case "separator":
        return this.readSeparator();
    }
  }

  /** Whether the stream may end here. */
  get isBetweenRecords(): boolean {
    return this.state === "head" && this.at === this.bytes.length;
  }

  /** To be called at the end of the stream: HT_CUT_OFF where it is in the middle of a record. */
  finish(): void {
    if (this.isBetweenRecords) return;
    const end = this.base + this.bytes.length;
    throw new ArchiveError("HT_CUT_OFF", `the stream ended after ${end} bytes, in the middle of a record`);
  }

  private readHead(): WireEvent | undefined {
    const { bytes, at } = this;
    if (at === bytes.length) return undefined;
    const end = bytes.indexOf(BLANK_LINE, at);
    if (end < 0 ? bytes.length - at > RECORD_HEAD_SIZE_MAX : end - at > RECORD_HEAD_SIZE_MAX) {
      throw this.malformed(`a header of more than ${RECORD_HEAD_SIZE_MAX} bytes`);
    }
    if (end < 0) return undefined;
    const head = this.parseHead(bytes.toString("latin1", at, end));
    this.at = end + BLANK_LINE.length;
    if (head.length > this.heldSizeMax) {
      this.head = undefined;
      this.left = head.length;
      this.state = "pieces";
      return { kind: "begin", head };
    }
    const blockEnd = this.at + head.length;
    if (blockEnd + BLANK_LINE.length <= bytes.length) {
      const block = bytes.subarray(this.at, blockEnd);
      this.at = blockEnd;
      this.checkSeparator();
      return { kind: "record", head, block };
    }
    this.head = head;
    this.block = Buffer.allocUnsafeSlow(head.length);
    this.filled = 0;
    this.state = "block";
    return this.readBlock();
  }

  private readBlock(): WireEvent | undefined {
    const block = this.block!;
    const count = this.bytes.copy(block, this.filled, this.at);
    this.filled += count;
    this.at += count;
    if (this.filled < block.length) return undefined;
    this.state = "separator";
    return this.readSeparator();
  }

  private readPiece(): WireEvent | undefined {
    if (this.left === 0) {
      this.state = "separator";
      return this.readSeparator();
    }
    const piece = this.bytes.subarray(this.at, this.at + this.left);
    if (piece.length === 0) return undefined;
    this.at += piece.length;
    this.left -= piece.length;
    return { kind: "piece", bytes: piece };
  }

  private readSeparator(): WireEvent | undefined {
    if (this.bytes.length - this.at < BLANK_LINE.length) return undefined;
    this.checkSeparator();
    const { head, block } = this;
    this.state = "head";
    this.head = undefined;
    this.block = undefined;
    return head === undefined ? { kind: "end" } : { kind: "record", head, block: block! };
  }

  private checkSeparator(): void {
    const { bytes, at } = this;
    if (bytes.readUInt32BE(at) !== 0x0d0a0d0a) throw this.malformed("a block that is not followed by two line ends");
    this.at = at + BLANK_LINE.length;
  }

  private parseHead(text: string): WireHead {
    if (!HEAD.test(text)) throw this.malformed(faultOf(text));
    const fields = new Map<string, string>();
    for (let start = text.indexOf("\r\n"); start >= 0; ) {
      const end = text.indexOf("\r\n", start + 2);
      const colon = text.indexOf(":", start);
      const name = text.slice(start + 2, colon).toLowerCase();
      if (fields.has(name)) throw this.malformed(`the field ${name} twice`);
      fields.set(name, text.slice(colon + 1, end < 0 ? text.length : end).trim());
      start = end;
    }
    const length = fields.get("content-length");
    if (length === undefined) throw this.malformed("a record without Content-Length");
    return { fields, length: parseSize(length, "Content-Length") };
  }

  private malformed(what: string): ArchiveError {
    return new ArchiveError("HT_USAGE", `not a record of a bulk stream, at byte ${this.base + this.at}: ${what}`);
  }
}
