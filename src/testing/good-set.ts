/** A small deduplicated set that is good, and ways to break it. */
import { gunzipSync } from "node:zlib";
import { digestOf, formatDigest } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { bufferSource, type Compression, WarcReader } from "../warc/index.ts";
import { type CaptureText, captureBytes, idOf, noise, packRecords, recordBytes, revisitBytes } from "./capture-text.ts";
import { dedupTrial, getFile, putFile } from "./dedup-trial.ts";

export const PAGE = noise("page", 900);
export const IMAGE = noise("image", 1500);
export const NOTE = noise("note", 700);
export const sha1 = (bytes: Uint8Array) => formatDigest(digestOf("sha1", bytes));

export const capture = (uri: string, date: string, payload: Uint8Array, more: Partial<CaptureText> = {}) =>
  captureBytes({ uri, date, payload, blockDigest: true, http: ["Server: a"], ...more });

const request = (uri: string, date: string) =>
  recordBytes(
    [
      "WARC/1.0",
      "WARC-Type: request",
      `WARC-Target-URI: ${uri}`,
      `WARC-Date: ${date}`,
      `WARC-Record-ID: <${idOf(`request ${uri} ${date}`)}>`,
      "Content-Type: application/http; msgtype=request",
    ],
    `GET ${uri} HTTP/1.1\r\nHost: a.example\r\n\r\n`,
  );

/** Two crawls with copies of every kind: plain, cut otherwise, without HTTP; and a revisit of the crawler's own. */
const FIRST = [
  recordBytes(
    ["WARC/1.0", "WARC-Type: warcinfo", "WARC-Date: 2020-01-01T00:00:00Z", `WARC-Record-ID: <${idOf("i")}>`],
    "a: b\r\n",
  ),
  capture("http://a.example/", "2020-01-01T00:00:01Z", PAGE),
  request("http://a.example/", "2020-01-01T00:00:01Z"),
  capture("http://a.example/i", "2020-01-01T00:00:02Z", IMAGE, { chunks: [500, 500] }),
  capture("http://a.example/n", "2020-01-01T00:00:03Z", NOTE, { type: "resource", lines: ["X-Odd:  yes "] }),
];
export const SECOND = [
  capture("http://a.example/", "2021-01-01T00:00:01Z", PAGE, { http: ["Server: b"] }),
  request("http://a.example/", "2021-01-01T00:00:01Z"),
  capture("http://a.example/i", "2021-01-01T00:00:02Z", IMAGE, { chunks: [700, 300, 300] }),
  revisitBytes({
    uri: "http://a.example/old",
    date: "2021-01-01T00:00:04Z",
    refersTo: { uri: "http://a.example/", date: "2020-01-01T00:00:01Z" },
    digest: sha1(PAGE),
    http: `HTTP/1.1 200 OK\r\nContent-Length: ${PAGE.length}\r\n\r\n`,
  }),
  capture("http://b.example/n", "2021-01-01T00:00:03Z", NOTE, { type: "resource", digest: "none" }),
  capture("http://b.example/", "2021-01-01T00:00:05Z", PAGE, { http: ["Server: b"] }),
  request("http://b.example/", "2021-01-01T00:00:05Z"),
];

export interface GoodSet {
  readonly disk: Disk;
  readonly folder: string;
  readonly name: (crawl: 1 | 2) => string;
}

export async function goodSet(compression: Compression, second: readonly Buffer[] = SECOND): Promise<GoodSet> {
  const end = compression === "gzip" ? ".gz" : "";
  const trial = await dedupTrial([
    { name: `crawls/1.warc${end}`, bytes: packRecords(FIRST, compression) },
    { name: `crawls/2.warc${end}`, bytes: packRecords(second, compression) },
  ]);
  const folder = trial.result.job.replace(/\/[^/]+$/, "");
  return { disk: trial.disk, folder, name: (crawl) => `${folder}/${crawl}.warc${end}` };
}

/** The records of a file, uncompressed, with their separators. */
export function recordsOf(bytes: Buffer): Buffer[] {
  const records: Buffer[] = [];
  for (const record of new WarcReader(bufferSource(bytes))) {
    record.drain();
    const raw = bytes.subarray(record.offset, record.offset + record.length!);
    records.push(raw[0] === 0x1f ? gunzipSync(raw) : Buffer.from(raw));
  }
  return records;
}

export type Change = (records: Buffer[]) => readonly Buffer[];

export function rewriteFile(set: GoodSet, crawl: 1 | 2, change: Change): void {
  const name = set.name(crawl);
  const compression = name.endsWith(".gz") ? "gzip" : "none";
  putFile(set.disk, name, packRecords(change(recordsOf(getFile(set.disk, name))), compression));
}

/** Replaces text in the first record for which that changes anything; the sizes and the block digest are put right. */
export function edit(
  records: readonly Buffer[],
  from: RegExp,
  to: string,
  which: (text: string) => boolean = () => true,
): Buffer[] {
  let done = false;
  const edited = records.map((record) => {
    const text = record.toString("latin1");
    if (done || !which(text) || !from.test(text)) return record;
    done = true;
    return repair(text.replace(from, to));
  });
  if (!done) throw new Error(`nothing to change: ${from}`);
  return edited;
}

/** The record with the length and the block digest that its block has. */
export function repair(text: string): Buffer {
  const headEnd = text.indexOf("\r\n\r\n") + 4;
  const block = Buffer.from(text.slice(headEnd, -4), "latin1");
  const head = text
    .slice(0, headEnd)
    .replace(/^Content-Length: \d+/im, `Content-Length: ${block.length}`)
    .replace(/^(WARC-Block-Digest: )\S+/im, (_, name: string) => name + sha1(block));
  return Buffer.from(head + text.slice(headEnd), "latin1");
}
