/**
 * CDX of a whole domain: rows per second of processor time, from the archive to the text that goes to a socket, and the memory
 * that a stream takes. The handlers are called without a socket.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Archive, ArchiveWriter } from "holotype/archive";
import { formatIso } from "holotype/base";
import { nodeDisk } from "holotype/disk";
import type { Handler } from "holotype/http";
import { findInputs } from "holotype/pipeline";
import { Collection, pywbCdx, waybackCdx } from "holotype/serve";
import { WarcWriter } from "holotype/warc";
import { work } from "./corpus.ts";
import { limitRow, type Row, ratioRow } from "./report.ts";

const CRAWLS = 10;
const ROUNDS = 5;

export async function run(quick: boolean): Promise<Row[]> {
  const captures = quick ? 20_000 : 100_000;
  const folder = join(work, `out-cdx-${captures}`);
  if (!existsSync(join(folder, "archive", "archive.json"))) {
    console.error(`making an archive of ${captures} captures of one domain …`);
    await makeArchive(folder, captures / CRAWLS);
  }
  await using archive = await Archive.open(nodeDisk, join(folder, "archive"));
  const collection = new Collection("bench", archive, undefined);
  const [wayback, pywb] = [waybackCdx(collection), pywbCdx(collection, (_, time, url) => `/bench/${time}/${url}`)];
  const all = "url=*.bench.example";
  const jobs: readonly (readonly [string, Handler, string])[] = [
    ["Wayback's lines", wayback, all],
    ["Wayback's arrays", wayback, `${all}&output=json`],
    ["Wayback's lines, one expression", wayback, `${all}&filter=original:.*page.*`],
    ["Wayback's lines, collapse=digest", wayback, `${all}&collapse=digest&showSkipCount=true`],
    ["pywb's CDXJ", pywb, `${all}&limit=1000000`],
    ["pywb's objects", pywb, `${all}&output=json&limit=1000000`],
  ];
  const rows: Row[] = [];
  const before = process.memoryUsage().rss;
  for (const [name, handler, query] of jobs) {
    const perSecond = await fastest(handler, `/cdx?${query}`, captures);
    rows.push(
      ratioRow(`${name}, ${captures} rows`, `${Math.round(perSecond)} /s`, "100,000 /s", perSecond / 100_000, 1),
    );
  }
  return [
    ...rows,
    limitRow("memory that the streams add", Math.max(0, process.memoryUsage().rss - before) / 1e6, "MB", 150),
  ];
}

/** The best of some rounds, by processor time. */
async function fastest(handler: Handler, target: string, captures: number): Promise<number> {
  let best = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    const size = await take(handler, target);
    const { user, system } = process.cpuUsage(before);
    if (size === 0) throw new Error(`${target}: no rows`);
    best = Math.max(best, captures / ((user + system) / 1e6));
  }
  return best;
}

/** As a server does: every piece becomes bytes. */
async function take(handler: Handler, target: string): Promise<number> {
  const { signal } = new AbortController();
  const body = () => Promise.resolve(new Uint8Array(0));
  const answer = await handler({ method: "GET", target, headers: {}, signal, body });
  if (answer.status !== 200) throw new Error(`${target}: ${answer.status}`);
  if (typeof answer.body !== "object" || answer.body instanceof Uint8Array)
    return Buffer.from(answer.body ?? "").length;
  let size = 0;
  for await (const piece of answer.body) size += Buffer.from(piece as string).length;
  return size;
}

/** So many URLs of 997 hosts below one domain, ten crawls, one in five changed. */
export async function makeArchive(folder: string, urls: number): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const paths = Array.from({ length: CRAWLS }, (_, crawl) => {
    const path = join(folder, `crawl-${crawl}.warc`);
    const parts: Buffer[] = [];
    const writer = new WarcWriter({ write: (bytes) => void parts.push(Buffer.from(bytes)) }, { compression: "none" });
    for (let i = 0; i < urls; i++) {
      const version = Math.floor((crawl + (i % 5)) / 5);
      writer.write({
        fields: [
          ["WARC-Type", "response"],
          ["WARC-Record-ID", `<urn:bench:${crawl}:${i}>`],
          ["WARC-Date", formatIso(Date.UTC(2010 + crawl, 0, 1) + i * 1000)],
          ["WARC-Target-URI", `http://site-${i % 997}.bench.example/section/page/${i}?lang=en`],
          ["Content-Type", "application/http; msgtype=response"],
        ],
        block: Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>page ${i}, version ${version}`),
      });
    }
    writeFileSync(path, Buffer.concat(parts));
    return path;
  });
  await using writer = ArchiveWriter.open(nodeDisk, join(folder, "archive"), { create: true });
  await writer.add(
    findInputs(nodeDisk, paths, () => {}),
    { threads: 2 },
  );
  for (const path of paths) rmSync(path);
}
