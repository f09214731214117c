/**
 * ZIP files, as far as WACZ needs them: the directory, and each entry as a source of bytes, without unpacking anything
 * to disk. Entries are stored or deflated; ZIP64 is read. The directory is trusted, as the standard asks; local headers
 * are looked at only to find where the data begins.
 */
import { ArchiveError } from "../base/index.ts";
import { type ByteSource, rangeSource } from "./byte-source.ts";
import { createInflater } from "./inflater.ts";
import { SourceWindow, Step } from "./window.ts";

export interface ZipEntry {
  readonly name: string;
  readonly method: "stored" | "deflated" | "unsupported";
  readonly compressedSize: number;
  readonly size: number;
  readonly crc: number;
  readonly headerOffset: number;
}

const END_SIZE = 22;
const COMMENT_SIZE_MAX = 65_535;
const LOCATOR_SIZE = 20;
const DIRECTORY_ENTRY_SIZE = 46;
const LOCAL_HEADER_SIZE = 30;
const UNKNOWN_32 = 0xffffffff;
const METHODS: Readonly<Record<number, ZipEntry["method"]>> = { 0: "stored", 8: "deflated" };

function broken(source: ByteSource, offset: number, message: string): ArchiveError {
  return new ArchiveError("HT_ZIP_DATA", `${source.name}:${offset}: ${message}`, { file: source.name, offset });
}

/** A local file header, or the end of an empty ZIP file, at the start of the bytes. */
export function isZip(bytes: Uint8Array): boolean {
  const [a, b, c, d] = bytes;
  return a === 0x50 && b === 0x4b && ((c === 3 && d === 4) || (c === 5 && d === 6));
}

/** Fewer bytes than asked for where the file ends; none behind it, where an offset may be no number that a file takes. */
function readAt(source: ByteSource, offset: number, size: number): Buffer {
  if (offset > source.size!) return Buffer.alloc(0);
  const bytes = Buffer.alloc(size);
  let got = 0;
  while (got < size) {
    const count = source.read(bytes.subarray(got), offset + got);
    if (count === 0) break;
    got += count;
  }
  return bytes.subarray(0, got);
}

interface Directory {
  readonly offset: number;
  readonly size: number;
  readonly count: number;
}

function findDirectory(source: ByteSource): Directory {
  const fileSize = source.size;
  if (fileSize === undefined || !source.seekable) {
    throw new ArchiveError("HT_UNSUPPORTED", `${source.name}: a ZIP file can only be read from a file, not a stream`);
  }
  const tailFrom = Math.max(0, fileSize - END_SIZE - COMMENT_SIZE_MAX);
  const tail = readAt(source, tailFrom, fileSize - tailFrom);
  const at = findEnd(tail);
  if (at === undefined) throw broken(source, tailFrom, "a ZIP file without its directory: it is cut off");
  const directory = readZip64End(source, tailFrom + at) ?? {
    count: tail.readUInt16LE(at + 10),
    size: tail.readUInt32LE(at + 12),
    offset: tail.readUInt32LE(at + 16),
  };
  if (directory.offset > fileSize) throw broken(source, tailFrom + at, "the ZIP directory is not where its end says");
  return directory;
}

/** A comment may hold what looks like an end too: that of the real one reaches to the end of the file. */
function findEnd(tail: Buffer): number | undefined {
  let last: number | undefined;
  for (let at = tail.length - END_SIZE; at >= 0; at--) {
    if (tail[at] !== 0x50 || tail.readUInt32LE(at) !== 0x06054b50) continue;
    if (at + END_SIZE + tail.readUInt16LE(at + 20) === tail.length) return at;
    last ??= at;
  }
  return last;
}

function readZip64End(source: ByteSource, endOffset: number): Directory | undefined {
  if (endOffset < LOCATOR_SIZE) return undefined;
  const locator = readAt(source, endOffset - LOCATOR_SIZE, LOCATOR_SIZE);
  if (locator.readUInt32LE(0) !== 0x07064b50) return undefined;
  const end = readAt(source, Number(locator.readBigUInt64LE(8)), 56);
  if (end.length < 56 || end.readUInt32LE(0) !== 0x06064b50) return undefined;
  const number = (at: number) => Number(end.readBigUInt64LE(at));
  return { count: number(32), size: number(40), offset: number(48) };
}

/** The entries in the order of the directory. Throws `HT_ZIP_DATA` at the first that cannot be read. */
export function* readZipEntries(source: ByteSource): Generator<ZipEntry> {
  const directory = findDirectory(source);
  const window = new SourceWindow(source, 1 << 18, directory.offset);
  for (let i = 0; i < directory.count; i++) {
    const { offset } = window;
    window.keep = window.pos;
    if (window.ensure(DIRECTORY_ENTRY_SIZE) !== Step.MORE || window.buffer.readUInt32LE(window.pos) !== 0x02014b50) {
      throw broken(source, offset, "the ZIP directory is damaged");
    }
    const at = window.pos;
    const nameSize = window.buffer.readUInt16LE(at + 28);
    const extraSize = window.buffer.readUInt16LE(at + 30);
    const commentSize = window.buffer.readUInt16LE(at + 32);
    const total = DIRECTORY_ENTRY_SIZE + nameSize + extraSize + commentSize;
    if (window.ensure(total) !== Step.MORE) throw broken(source, offset, "the ZIP directory is cut off");
    yield parseEntry(window.buffer.subarray(window.pos, window.pos + total), nameSize, extraSize);
    window.pos += total;
  }
}

function parseEntry(bytes: Buffer, nameSize: number, extraSize: number): ZipEntry {
  const nameEnd = DIRECTORY_ENTRY_SIZE + nameSize;
  const sizes = {
    size: bytes.readUInt32LE(24),
    compressedSize: bytes.readUInt32LE(20),
    headerOffset: bytes.readUInt32LE(42),
  };
  const wide = findZip64(bytes.subarray(nameEnd, nameEnd + extraSize));
  let next = 0;
  for (const key of ["size", "compressedSize", "headerOffset"] as const) {
    if (sizes[key] !== UNKNOWN_32 || wide === undefined || next + 8 > wide.length) continue;
    sizes[key] = Number(wide.readBigUInt64LE(next));
    next += 8;
  }
  const encrypted = (bytes.readUInt16LE(8) & 1) !== 0;
  return {
    name: bytes.toString("utf8", DIRECTORY_ENTRY_SIZE, nameEnd),
    method: encrypted ? "unsupported" : (METHODS[bytes.readUInt16LE(10)] ?? "unsupported"),
    crc: bytes.readUInt32LE(16),
    ...sizes,
  };
}

function findZip64(extra: Buffer): Buffer | undefined {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) === 1) return extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
  }
  return undefined;
}

/** The bytes of an entry. A stored one can be read anywhere, a deflated one from the front each time. */
export function openZipEntry(source: ByteSource, entry: ZipEntry, name: string): ByteSource {
  const header = readAt(source, entry.headerOffset, LOCAL_HEADER_SIZE);
  if (header.length < LOCAL_HEADER_SIZE || header.readUInt32LE(0) !== 0x04034b50) {
    throw broken(source, entry.headerOffset, `the entry ${entry.name} is not where the ZIP directory says`);
  }
  if (entry.method === "unsupported") {
    throw new ArchiveError("HT_UNSUPPORTED", `${name}: encrypted, or compressed in a way that is not read here`);
  }
  const dataOffset = entry.headerOffset + LOCAL_HEADER_SIZE + header.readUInt16LE(26) + header.readUInt16LE(28);
  const data = rangeSource(source, dataOffset, entry.compressedSize, name);
  return entry.method === "stored" ? data : inflatingSource(data, entry.size);
}

/** The decoded bytes of a raw DEFLATE stream. Who goes back begins again at the front, as a second reader does. */
function inflatingSource(data: ByteSource, size: number): ByteSource {
  let window = new SourceWindow(data, 1 << 16);
  const inflater = createInflater();
  inflater.reset();
  const trash = Buffer.allocUnsafe(1 << 16);
  let reached = 0;
  const endAt = (position: number): 0 => {
    if (position === size) return 0;
    throw broken(data, window.offset, `the entry has ${position} bytes instead of ${size}`);
  };
  const readOn = (into: Uint8Array): number => {
    for (;;) {
      if (inflater.ended) return endAt(reached);
      const ended = window.pos === window.end && fillFrom(window) === Step.END;
      if (!inflater.inflate(window.buffer, window.pos, window.end, into, 0, into.length)) {
        throw broken(data, window.offset, "the entry cannot be inflated");
      }
      window.pos += inflater.taken;
      reached += inflater.given;
      // A DEFLATE stream at the very end of the entry has no byte behind it that would show its end.
      if (inflater.given > 0) return inflater.given;
      if (ended) return endAt(reached);
    }
  };
  return {
    name: data.name,
    seekable: false,
    read(into, position) {
      if (position < reached) {
        window = new SourceWindow(data, 1 << 16);
        inflater.reset();
        reached = 0;
      }
      while (reached < position) {
        if (readOn(trash.subarray(0, Math.min(trash.length, position - reached))) === 0) return 0;
      }
      return readOn(into);
    },
  };
}

function fillFrom(window: SourceWindow): Step {
  window.keep = window.pos;
  return window.fill();
}
