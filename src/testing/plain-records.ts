/**
 * Reads WARC records out of gzip files with code that shares nothing with the reader: for tests that must not believe it.
 * Whole files in memory.
 */
import { inflateRawSync } from "node:zlib";
import type { Disk } from "../disk/index.ts";

export interface PlainRecord {
  readonly type: string;
  readonly uri: string;
  readonly date: string;
  readonly id: string;
  /** Ids that it names: concurrent records, what it refers to, and the first of its segments. */
  readonly names: readonly string[];
  readonly refersToUri: string;
  /** A revisit that Holotype wrote. */
  readonly isOurs: boolean;
  readonly head: string;
  readonly block: Buffer;
}

/** Each record in a member of its own, as in every segment. */
export function plainRecords(file: Buffer): PlainRecord[] {
  const records: PlainRecord[] = [];
  for (let at = 0; at < file.length; ) {
    const start = at + headerSize(file, at);
    const told: unknown = inflateRawSync(file.subarray(start), { info: true });
    const { buffer, engine } = told as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };
    const text = buffer.toString("latin1");
    const end = /\n[ \t\r]*\n/.exec(text);
    const headSize = end === null ? text.length : end.index + end[0].length;
    const head = text.slice(0, headSize);
    const size = Number(fieldsOf(head, "content-length")[0] ?? 0);
    records.push(recordOf(head, buffer.subarray(headSize, headSize + size)));
    at = start + engine.bytesWritten + 8;
  }
  return records;
}

/** Of a gzip member: ten bytes, and what the flags in the fourth of them say. */
function headerSize(file: Buffer, at: number): number {
  if (file.readUInt16BE(at) !== 0x1f8b) throw new Error(`no member at ${at}`);
  const flags = file[at + 3]!;
  let end = at + 10;
  if ((flags & 4) !== 0) end += 2 + file.readUInt16LE(end);
  for (const text of [8, 16]) if ((flags & text) !== 0) end = file.indexOf(0, end) + 1;
  return end - at + ((flags & 2) === 0 ? 0 : 2);
}

function recordOf(head: string, block: Buffer): PlainRecord {
  const field = (name: string) => fieldsOf(head, name)[0] ?? "";
  return {
    type: field("warc-type").toLowerCase(),
    uri: field("warc-target-uri"),
    date: field("warc-date"),
    id: field("warc-record-id"),
    names: ["warc-concurrent-to", "warc-refers-to", "warc-segment-origin-id"].flatMap((name) => fieldsOf(head, name)),
    refersToUri: field("warc-refers-to-target-uri"),
    isOurs: /^Holotype-Replaced:/m.test(head),
    head,
    block,
  };
}

function fieldsOf(head: string, name: string): string[] {
  const lines = head.split(/\r?\n/).filter((line) => line.toLowerCase().startsWith(`${name}:`));
  return lines.map((line) =>
    line
      .slice(name.length + 1)
      .trim()
      .replace(/^<(.*)>$/, "$1"),
  );
}

/** All records of an archive's segments, in order, but for those that Holotype wrote about files and segments. */
export function segmentRecords(disk: Disk, folder: string): PlainRecord[] {
  const path = `${folder}/volumes/0/segments`;
  const names = disk.list(path).map(({ name }) => name);
  return names
    .filter((name) => name.endsWith(".warc.gz"))
    .sort()
    .flatMap((name) => {
      using file = disk.open(`${path}/${name}`, "read");
      const bytes = Buffer.alloc(file.size());
      file.read(bytes, 0);
      return bytes.length === 0 ? [] : plainRecords(bytes);
    })
    .filter(({ uri, block }) => !uri.startsWith("urn:holotype:") && !block.includes("software: holotype"));
}
