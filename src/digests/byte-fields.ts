/** Fields of records one behind the other: numbers with the highest byte first, texts as UTF-8 behind their size. */
import { ArchiveError } from "../base/index.ts";

/** Writes into a buffer that may turn out to be too small: then nothing more is written, and it says so. */
export class ByteWriter {
  buffer: Buffer;
  at = 0;
  limit: number;
  isFull = false;

  constructor(buffer: Buffer) {
    this.buffer = buffer;
    this.limit = buffer.length;
  }

  private take(size: number): number {
    if (this.isFull || this.at + size > this.limit) {
      this.isFull = true;
      return -1;
    }
    const at = this.at;
    this.at += size;
    return at;
  }

  u8(value: number): void {
    const at = this.take(1);
    if (at >= 0) this.buffer[at] = value;
  }

  u16(value: number): void {
    const at = this.take(2);
    if (at >= 0) this.buffer.writeUInt16BE(value & 0xffff, at);
  }

  u48(value: number): void {
    const at = this.take(6);
    if (at >= 0) this.buffer.writeUIntBE(Math.min(Math.max(value, 0), 2 ** 48 - 1), at, 6);
  }

  bytes(bytes: Uint8Array): void {
    const at = this.take(bytes.length);
    if (at >= 0) this.buffer.set(bytes, at);
  }

  text(text: string): void {
    const size = Buffer.byteLength(text);
    if (size > 0xffff) {
      this.isFull = true;
      return;
    }
    this.u16(size);
    const at = this.take(size);
    if (at >= 0) this.buffer.write(text, at);
  }
}

/** Reads what a `ByteWriter` wrote. HT_CORRUPT where a field ends behind the end. */
export class ByteReader {
  private buffer: Buffer;
  at: number;
  private end: number;
  private readonly file: string;

  constructor(buffer: Buffer, start: number, end: number, file: string) {
    this.buffer = buffer;
    this.at = start;
    this.end = end;
    this.file = file;
  }

  /** Goes on with other bytes. */
  reset(buffer: Buffer, start: number, end: number): this {
    this.buffer = buffer;
    this.at = start;
    this.end = end;
    return this;
  }

  private take(size: number): number {
    const at = this.at;
    if (at + size > this.end) this.damaged("end");
    this.at += size;
    return at;
  }

  u8(): number {
    return this.buffer[this.take(1)]!;
  }

  u16(): number {
    return this.buffer.readUInt16BE(this.take(2));
  }

  u48(): number {
    return this.buffer.readUIntBE(this.take(6), 6);
  }

  /** A view of the buffer. */
  bytes(size: number): Buffer {
    const at = this.take(size);
    return this.buffer.subarray(at, at + size);
  }

  hex(size: number): string {
    const at = this.take(size);
    return this.buffer.toString("hex", at, at + size);
  }

  text(): string {
    const size = this.u16();
    const at = this.take(size);
    return this.buffer.toString("utf8", at, at + size);
  }

  damaged(what: string): never {
    throw damagedIndex(this.file, `a record has no such ${what}`);
  }
}

export function damagedIndex(file: string, reason: string): ArchiveError {
  return new ArchiveError("HT_CORRUPT", `${file}: ${reason}; build the digest index again`, { file });
}
