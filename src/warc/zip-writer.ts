/**
 * Writes ZIP files in one pass: entries are stored as they are, so that any range of them can be read where it lies, and
 * sizes become known behind the bytes. Where a number does not fit into its field, ZIP64 is written. What comes out
 * depends on nothing but what went in.
 */
import { crc32 } from "node:zlib";
import { ArchiveError, invariant } from "../base/index.ts";
import type { ByteSink } from "./writer.ts";

export interface ZipWriterOptions {
  /** When the entries were made. */
  readonly timeMs: number;
  /** Numbers from here on are written as ZIP64; smaller ones than those of the format are for tests. */
  readonly limits?: { readonly size: number; readonly count: number } | undefined;
}

/** An entry that is complete. */
export interface WrittenEntry {
  readonly name: string;
  /** Where its bytes begin. */
  readonly dataOffset: number;
  readonly size: number;
  readonly crc: number;
}

interface OpenEntry {
  readonly name: Buffer;
  readonly headerOffset: number;
  readonly dataOffset: number;
  /** Its sizes stand behind its bytes, in eight bytes each. */
  readonly isStreamed: boolean;
  size: number;
  crc: number;
}

const FULL_32 = 0xffffffff;
const FULL_16 = 0xffff;
/** Sizes behind the bytes, and names in UTF-8. */
const STREAMED_FLAG = 1 << 3;
const UTF8_FLAG = 1 << 11;
const VERSION_PLAIN = 20;
const VERSION_ZIP64 = 45;
const MADE_BY_UNIX = 3 << 8;
const PERMISSIONS = (0o100644 << 16) >>> 0;

export class ZipWriter {
  private readonly sink: ByteSink;
  private readonly limits: { readonly size: number; readonly count: number };
  private readonly time: { readonly date: number; readonly time: number };
  private readonly entries: OpenEntry[] = [];
  private readonly names = new Set<string>();
  private open: OpenEntry | undefined;
  private offset = 0;

  constructor(sink: ByteSink, options: ZipWriterOptions) {
    this.sink = sink;
    this.limits = options.limits ?? { size: FULL_32, count: FULL_16 };
    this.time = dosTime(options.timeMs);
  }

  private put(bytes: Uint8Array): void {
    this.sink.write(bytes);
    this.offset += bytes.length;
  }

  /** Begins an entry whose size nobody knows yet. */
  begin(name: string): void {
    this.openEntry(name, true, 0, 0);
  }

  /** Bytes of the entry that is open. */
  write(bytes: Uint8Array): void {
    const { open } = this;
    invariant(open !== undefined, "no entry of the ZIP file is open");
    // Node's crc32 forgets what came before an empty piece.
    if (bytes.length === 0) return;
    open.crc = crc32(bytes, open.crc);
    open.size += bytes.length;
    this.put(bytes);
  }

  end(): WrittenEntry {
    const { open } = this;
    invariant(open !== undefined, "no entry of the ZIP file is open");
    const descriptor = Buffer.alloc(24);
    descriptor.writeUInt32LE(0x08074b50, 0);
    descriptor.writeUInt32LE(open.crc, 4);
    descriptor.writeBigUInt64LE(BigInt(open.size), 8);
    descriptor.writeBigUInt64LE(BigInt(open.size), 16);
    this.put(descriptor);
    return this.close(open);
  }

  /** A small entry that is all there. */
  add(name: string, bytes: Uint8Array): WrittenEntry {
    invariant(bytes.length < FULL_32, "an entry that is too large to be all there");
    const open = this.openEntry(name, false, bytes.length, bytes.length === 0 ? 0 : crc32(bytes));
    this.put(bytes);
    return this.close(open);
  }

  private openEntry(text: string, isStreamed: boolean, size: number, crc: number): OpenEntry {
    invariant(this.open === undefined, "an entry of the ZIP file is open");
    const name = Buffer.from(text);
    if (name.length === 0 || name.length > FULL_16) throw new ArchiveError("HT_USAGE", "not a name of a ZIP entry");
    if (this.names.has(text)) throw new ArchiveError("HT_EXISTS", `two ZIP entries of one name: ${text}`);
    this.names.add(text);
    const headerOffset = this.offset;
    const extra = isStreamed ? zip64Field([0, 0]) : Buffer.alloc(0);
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50, 0);
    this.writeShared(header, 4, isStreamed, crc, isStreamed ? FULL_32 : size);
    header.writeUInt16LE(name.length, 26);
    header.writeUInt16LE(extra.length, 28);
    this.put(Buffer.concat([header, name, extra]));
    this.open = { name, headerOffset, dataOffset: this.offset, isStreamed, size, crc };
    return this.open;
  }

  /** What a local header and the directory say in the same order: version, flags, method, time, CRC, sizes. */
  private writeShared(into: Buffer, at: number, isZip64: boolean, crc: number, size: number, isStreamed = isZip64) {
    into.writeUInt16LE(isZip64 ? VERSION_ZIP64 : VERSION_PLAIN, at);
    into.writeUInt16LE(UTF8_FLAG | (isStreamed ? STREAMED_FLAG : 0), at + 2);
    into.writeUInt16LE(0, at + 4);
    into.writeUInt16LE(this.time.time, at + 6);
    into.writeUInt16LE(this.time.date, at + 8);
    into.writeUInt32LE(crc, at + 10);
    into.writeUInt32LE(size, at + 14);
    into.writeUInt32LE(size, at + 18);
  }

  private close(open: OpenEntry): WrittenEntry {
    this.open = undefined;
    this.entries.push(open);
    const { dataOffset, size, crc } = open;
    return { name: open.name.toString(), dataOffset, size, crc };
  }

  /** Writes the directory; the file is complete then. */
  finish(): void {
    invariant(this.open === undefined, "an entry of the ZIP file is open");
    const start = this.offset;
    for (const entry of this.entries) this.put(this.directoryEntry(entry));
    const size = this.offset - start;
    const count = this.entries.length;
    const { limits } = this;
    const isWide = start >= limits.size || size >= limits.size || count >= limits.count;
    if (isWide) this.putZip64End(start, size, count);
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(isWide ? FULL_16 : count, 8);
    end.writeUInt16LE(isWide ? FULL_16 : count, 10);
    end.writeUInt32LE(isWide ? FULL_32 : size, 12);
    end.writeUInt32LE(isWide ? FULL_32 : start, 16);
    this.put(end);
  }

  private directoryEntry({ name, headerOffset, isStreamed, size, crc }: OpenEntry): Buffer {
    const isFar = headerOffset >= this.limits.size;
    // Readers take a local header for one without additions where its entry in the directory has none.
    const wide = [...(isStreamed ? [size, size] : []), ...(isFar ? [headerOffset] : [])];
    const extra = wide.length === 0 ? Buffer.alloc(0) : zip64Field(wide);
    const header = Buffer.alloc(46);
    header.writeUInt32LE(0x02014b50, 0);
    header.writeUInt16LE(MADE_BY_UNIX | VERSION_ZIP64, 4);
    this.writeShared(header, 6, wide.length > 0, crc, isStreamed ? FULL_32 : size, isStreamed);
    header.writeUInt16LE(name.length, 28);
    header.writeUInt16LE(extra.length, 30);
    header.writeUInt32LE(PERMISSIONS, 38);
    header.writeUInt32LE(isFar ? FULL_32 : headerOffset, 42);
    return Buffer.concat([header, name, extra]);
  }

  private putZip64End(start: number, size: number, count: number): void {
    const endOffset = this.offset;
    const end = Buffer.alloc(56);
    end.writeUInt32LE(0x06064b50, 0);
    end.writeBigUInt64LE(44n, 4);
    end.writeUInt16LE(MADE_BY_UNIX | VERSION_ZIP64, 12);
    end.writeUInt16LE(VERSION_ZIP64, 14);
    for (const [i, value] of [count, count, size, start].entries()) end.writeBigUInt64LE(BigInt(value), 24 + 8 * i);
    const locator = Buffer.alloc(20);
    locator.writeUInt32LE(0x07064b50, 0);
    locator.writeBigUInt64LE(BigInt(endOffset), 8);
    locator.writeUInt32LE(1, 16);
    this.put(Buffer.concat([end, locator]));
  }
}

function zip64Field(values: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + 8 * values.length);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(8 * values.length, 2);
  for (const [i, value] of values.entries()) field.writeBigUInt64LE(BigInt(value), 4 + 8 * i);
  return field;
}

/** Two seconds are the least that it tells, and 1980 is when it begins. */
function dosTime(timeMs: number): { date: number; time: number } {
  const when = new Date(Math.min(Math.max(timeMs, Date.UTC(1980, 0, 1)), Date.UTC(2107, 11, 31)));
  return {
    date: ((when.getUTCFullYear() - 1980) << 9) | ((when.getUTCMonth() + 1) << 5) | when.getUTCDate(),
    time: (when.getUTCHours() << 11) | (when.getUTCMinutes() << 5) | (when.getUTCSeconds() >> 1),
  };
}
