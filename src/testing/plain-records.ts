/**
 * Reads WARC records out of gzip files with code that shares nothing with the reader: for tests that must not believe it.
 * Whole files in memory.
 */
import { gunzipSync } from "node:zlib";
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

export function plainRecords(file: Buffer): PlainRecord[] {
  const bytes = gunzipSync(file);
  const text = bytes.toString("latin1");
  const records: PlainRecord[] = [];
  for (let at = 0; ; ) {
    while (text[at] === "\r" || text[at] === "\n") at++;
    if (at >= text.length) return records;
    const blank = /\r?\n\r?\n/g;
    blank.lastIndex = at;
    if (blank.exec(text) === null) throw new Error(`no record at ${at}: ${text.slice(at, at + 40)}`);
    const head = text.slice(at, blank.lastIndex);
    const size = Number(fieldsOf(head, "content-length")[0] ?? 0);
    records.push(recordOf(head, bytes.subarray(blank.lastIndex, blank.lastIndex + size)));
    at = blank.lastIndex + size;
  }
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
