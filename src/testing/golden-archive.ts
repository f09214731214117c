/**
 * Small archives, one for each way in which WARC and ARC files are packed or go wrong. They are made when they are
 * asked for, by code that shares nothing with the reader, and say what a reader should find in them.
 */
import { type GzipHeader, gzipMember } from "./gzip-member.ts";
import {
  arcText,
  fourWarcRecords,
  type RecordText,
  recordBytes,
  recordSize,
  threeArcRecords,
  warcText,
} from "./record-text.ts";
import { compressedFrame, dictionaryFrame, handmadeFrame, skippableFrame } from "./zstd-frame.ts";

export interface ExpectedRecord {
  readonly offset: number;
  /** Absent where the record shares its member with others. */
  readonly length: number | undefined;
  readonly inner: number | undefined;
  readonly type: string;
  readonly uri: string | undefined;
  /** Of the block, sha1 in hex. */
  readonly digest: string;
  /** Everything that is needed to read the block lies before this offset of the file. */
  readonly end: number;
}

export interface GoldenArchive {
  readonly name: string;
  readonly bytes: Buffer;
  readonly records: readonly ExpectedRecord[];
  /** Codes of the warnings, each once, in the order of their first appearance. */
  readonly warnings: readonly string[];
  /** Every record can be found again behind damage to the one before it. */
  readonly recovers: boolean;
}

class ArchiveBuilder {
  readonly parts: Buffer[] = [];
  readonly records: ExpectedRecord[] = [];
  offset = 0;

  put(bytes: Uint8Array): void {
    this.parts.push(Buffer.from(bytes));
    this.offset += bytes.length;
  }

  /** A record that lies in the file as `bytes`, and in nothing else. */
  putRecord(record: RecordText, bytes: Uint8Array, end = bytes.length): void {
    const { type, uri, digest } = record;
    const place = { offset: this.offset, length: bytes.length, inner: undefined };
    this.records.push({ ...place, type, uri, digest, end: this.offset + end });
    this.put(bytes);
  }

  /** Several records in one member. */
  putShared(records: readonly RecordText[], pack: (content: Buffer) => Buffer): void {
    const bytes = pack(Buffer.concat(records.map(recordBytes)));
    const { offset } = this;
    let inner = 0;
    for (const record of records) {
      const { type, uri, digest } = record;
      const place = { offset, length: undefined, inner: inner === 0 ? undefined : inner };
      this.records.push({ ...place, type, uri, digest, end: offset + bytes.length });
      inner += recordSize(record);
    }
    this.put(bytes);
  }

  finish(name: string, options: { warnings?: readonly string[]; recovers?: boolean } = {}): GoldenArchive {
    const { warnings = [], recovers = false } = options;
    return { name, bytes: Buffer.concat(this.parts), records: this.records, warnings, recovers };
  }
}

interface Packing {
  readonly pack?: (content: Buffer) => Buffer;
  readonly warnings?: readonly string[];
  readonly recovers?: boolean;
  readonly before?: Buffer;
  readonly between?: Buffer;
  readonly after?: Buffer;
}

/** Each record by itself, with something before, between and behind them. */
function eachApart(name: string, records: readonly RecordText[], packing: Packing = {}): GoldenArchive {
  const builder = new ArchiveBuilder();
  const { pack, before, between, after } = packing;
  if (before !== undefined) builder.put(before);
  records.forEach((record, i) => {
    if (i > 0 && between !== undefined) builder.put(between);
    const bytes = recordBytes(record);
    if (pack === undefined) builder.putRecord(record, bytes, bytes.length - record.tail.length);
    else builder.putRecord(record, pack(bytes));
  });
  if (after !== undefined) builder.put(after);
  return builder.finish(name, packing);
}

function allShared(name: string, records: readonly RecordText[], pack: (content: Buffer) => Buffer): GoldenArchive {
  const builder = new ArchiveBuilder();
  builder.putShared(records, pack);
  return builder.finish(name, { warnings: ["HT_MEMBER_SHARED"] });
}

/** Each record in as many members as it takes with `size` bytes in each. */
function eachSplit(
  name: string,
  records: readonly RecordText[],
  size: number,
  pack: (content: Buffer) => Buffer,
): GoldenArchive {
  const builder = new ArchiveBuilder();
  for (const record of records) {
    const bytes = recordBytes(record);
    const count = Math.max(1, Math.floor(bytes.length / size));
    // The last part takes what is left over, so that the separator stays in one piece with some of the block.
    const parts = Array.from({ length: count }, (_, i) =>
      pack(bytes.subarray(i * size, i === count - 1 ? bytes.length : (i + 1) * size)),
    );
    builder.putRecord(record, Buffer.concat(parts));
  }
  return builder.finish(name);
}

/** Each record apart, and the one at `at` claims another length than it has, or none. */
function withClaim(
  name: string,
  at: number,
  claim: (size: number) => string | null,
  packing: Packing = {},
): GoldenArchive {
  const records = fourWarcRecords();
  const { type, uri, block } = records[at]!;
  records[at] = warcText({ type, uri: uri!, block, claim: claim(block.length) });
  const archive = eachApart(name, records, { recovers: true, warnings: ["HT_RECORD_LENGTH"], ...packing });
  // Where it ends is known only with the record behind it.
  const { end } = archive.records[at + 1]!;
  return { ...archive, records: archive.records.map((record, i) => (i === at ? { ...record, end } : record)) };
}

/** A claim that is too short: the block ends early, and the rest of it belongs to nobody. */
function tooShort(name: string, pack?: (content: Buffer) => Buffer): GoldenArchive {
  const short = (size: number) => String(size - 9);
  const archive = withClaim(name, 1, short, pack === undefined ? {} : { pack });
  const { block, type } = fourWarcRecords()[1]!;
  const { digest } = warcText({ type, block: block.subarray(0, -9) });
  const records = archive.records.map((record, i) => {
    if (i !== 1) return record;
    return { ...record, digest, length: pack === undefined ? record.length! - 9 - 4 : undefined };
  });
  const shared = pack === undefined ? [] : ["HT_MEMBER_SHARED"];
  return { ...archive, records, warnings: ["HT_RECORD_SEPARATOR", ...shared, "HT_GARBAGE"] };
}

const gzip = (content: Buffer) => gzipMember(content);
const gzipWith = (header: GzipHeader) => (content: Buffer) => gzipMember(content, header);

function plainArchives(): GoldenArchive[] {
  const recovers = true;
  const folded = ["X-Folded: one", "  two", "\tthree", "X-Latin: caf\xe9", "X-Utf8: caf\u00e9"];
  return [
    eachApart("warc 0.17", fourWarcRecords({ version: "WARC/0.17" }), { recovers }),
    eachApart("warc 1.0", fourWarcRecords(), { recovers }),
    eachApart("warc 1.1, brackets", fourWarcRecords({ version: "WARC/1.1", brackets: true }), { recovers }),
    eachApart("warc, LF only", fourWarcRecords({ eol: "\n", tail: "\n\n" }), {
      recovers,
      warnings: ["HT_LINE_ENDING", "HT_RECORD_SEPARATOR"],
    }),
    eachApart("warc, CR CR LF", fourWarcRecords({ eol: "\r\r\n" }), { recovers }),
    eachApart("warc, folded lines", fourWarcRecords({ lines: folded }), { recovers }),
    eachApart("warc, line without colon", fourWarcRecords({ lines: ["X-No-Colon"] }), {
      recovers,
      warnings: ["HT_RECORD_HEADER"],
    }),
    withClaim("warc, no Content-Length", 1, () => null),
    withClaim("warc, Content-Length of nonsense", 2, () => "-5"),
    withClaim("warc, Content-Length too long", 1, (size) => String(size + 50)),
    withClaim("warc, Content-Length past the end", 1, (size) => String(size + 50_000), {
      warnings: ["HT_RECORD_TRUNCATED", "HT_RECORD_LENGTH"],
    }),
    tooShort("warc, Content-Length too short"),
    eachApart("warc, one line end between", fourWarcRecords({ tail: "\r\n" }), {
      recovers,
      warnings: ["HT_RECORD_SEPARATOR"],
    }),
    eachApart("warc, garbage between", fourWarcRecords(), {
      recovers,
      between: Buffer.from("what is this\r\nWARC is it not\r\n"),
      warnings: ["HT_GARBAGE"],
    }),
    eachApart("arc 1", threeArcRecords(1)),
    eachApart("arc 2", threeArcRecords(2)),
    eachApart("arc 1, odd lines", [
      ...threeArcRecords(1),
      arcText({ url: "http://example.org/v6", ip: "2001:db8::1", block: "HTTP/1.0 200 OK\n\nsix" }),
      arcText({ url: "dns:example.org", mime: "text/dns", ip: "-", block: "20040105000000\nexample.org. A" }),
      arcText({ url: "http://example.org/nomime", mime: "", date: "2004010500", block: "HTTP/1.0 404 No\n\n" }),
    ]),
  ];
}

function gzipArchives(): GoldenArchive[] {
  const records = fourWarcRecords();
  const apart = { pack: gzip, recovers: true };
  const full: GzipHeader = {
    extra: Buffer.from("sl\x08\0abcdefgh", "latin1"),
    name: "t\xe9st.warc",
    comment: "made by hand",
    headerChecksum: true,
    mtime: 1_554_120_000,
  };
  return [
    eachApart("warc.gz, member per record", records, apart),
    eachApart("arc.gz, member per record", threeArcRecords(1), { pack: gzip }),
    eachApart("warc.gz, stored", records, { pack: (content) => gzipMember(content, {}, 0), recovers: true }),
    eachApart("warc.gz, every header field", records, { pack: gzipWith(full), recovers: true }),
    eachApart("warc.gz, FNAME", records, { pack: gzipWith({ name: "x.warc" }), recovers: true }),
    eachApart("warc.gz, zero padding", records, {
      ...apart,
      between: Buffer.alloc(13),
      after: Buffer.alloc(37),
      warnings: ["HT_PADDING"],
    }),
    eachApart("warc.gz, trailing garbage", records, {
      ...apart,
      after: Buffer.from("\x1f\x8b and that is all"),
      warnings: ["HT_GARBAGE"],
    }),
    eachApart("warc.gz, garbage between", records, {
      ...apart,
      between: Buffer.from("some\x1f\x8b\x08\0words"),
      warnings: ["HT_GARBAGE"],
    }),
    eachApart("warc.gz, empty members", records, {
      ...apart,
      before: gzip(Buffer.alloc(0)),
      between: gzip(Buffer.alloc(0)),
    }),
    withClaim("warc.gz, no Content-Length", 1, () => null, { pack: gzip }),
    withClaim("warc.gz, Content-Length too long", 1, (size) => String(size + 50), { pack: gzip }),
    tooShort("warc.gz, Content-Length too short", gzip),
    allShared("warc.gz, one member", records, gzip),
    allShared("arc.gz, one member", threeArcRecords(2), gzip),
    eachSplit("warc.gz, record over several members", records, 100, gzip),
  ];
}

function zstdArchives(): GoldenArchive[] {
  const records = fourWarcRecords();
  const dictionary = Buffer.from(
    "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2019-04-01T12:00:00Z\r\n<li>two</li>\n",
  );
  const withDictionary = (content: Buffer) => compressedFrame(content, dictionary);
  const byHand = (content: Buffer) => handmadeFrame(content);
  return [
    eachApart("warc.zst, frame per record", records, { pack: (content) => compressedFrame(content), recovers: true }),
    eachApart("warc.zst, handmade frames with checksum", records, { pack: byHand, recovers: true }),
    eachApart("warc.zst, frames of unknown size", records, {
      // Does not recover: a block whose size is damaged may swallow the next frame and end well.
      pack: (content) => handmadeFrame(content, { contentSize: false, blockSize: 100 }),
    }),
    eachApart("warc.zst, raw dictionary", records, {
      pack: withDictionary,
      before: dictionaryFrame(dictionary),
    }),
    eachApart("warc.zst, compressed dictionary", records, {
      pack: withDictionary,
      before: dictionaryFrame(compressedFrame(dictionary)),
    }),
    eachApart("warc.zst, dictionary compressed without its size", records, {
      pack: withDictionary,
      before: dictionaryFrame(handmadeFrame(dictionary, { contentSize: false })),
    }),
    eachApart("warc.zst, other skippable frames", records, {
      pack: byHand,
      before: skippableFrame(Buffer.from("skip")),
      between: skippableFrame(Buffer.from("over"), 0x184d2a53),
    }),
    allShared("warc.zst, one frame", records, byHand),
    eachSplit("warc.zst, several frames a record", records, 90, byHand),
  ];
}

/** All of them. Frames must have been loaded. */
export function goldenArchives(): GoldenArchive[] {
  return [...plainArchives(), ...gzipArchives(), ...zstdArchives()];
}
