/** Resolving a stretch of a sorted manifest that holds whole groups, into a file of its own. */
import { loadDigest } from "../base/index.ts";
import { createDurably, type Disk } from "../disk/index.ts";
import { loadZstd } from "../warc/index.ts";
import { createLocator, type LocatorSettings } from "./locator.ts";
import { RecordFetcher } from "./record-fetcher.ts";
import { Resolver } from "./resolve.ts";
import type { StageEvents } from "./stage-job.ts";
import { readTextLines } from "./text-lines.ts";

export interface ResolveJob {
  readonly kind: "resolve";
  readonly manifest: string;
  /** The stretch in bytes; cut where one digest ends. */
  readonly start: number;
  readonly end: number;
  readonly output: string;
  readonly locator: LocatorSettings;
  /** Some of the files may be zstd. */
  readonly zstd: boolean;
}

export interface ResolveResult {
  readonly compared: number;
  readonly collisions: number;
  /** Whether the lines are in order, and no payload had the digest of another. */
  readonly isOrdered: boolean;
}

const PROGRESS_LINES = 512;

export async function doResolveJob(disk: Disk, job: ResolveJob, events: StageEvents): Promise<ResolveResult> {
  await loadDigest("blake3");
  if (job.zstd) await loadZstd();
  using fetcher = new RecordFetcher(disk, createLocator(disk, job.locator));
  const resolver = new Resolver(fetcher, { onWarning: events.onWarning });
  createDurably(
    disk,
    job.output,
    (output) => {
      let count = 0;
      let text = "";
      let done = 0;
      for (const line of resolver.resolve(readTextLines(disk, job.manifest, job.start, job.end), job.manifest)) {
        text += `${line}\n`;
        done += line.length;
        if (++count % PROGRESS_LINES > 0) continue;
        output.write(Buffer.from(text));
        text = "";
        events.onProgress(Math.min(done, job.end - job.start));
      }
      output.write(Buffer.from(text));
    },
    { replace: true },
  );
  const { compared, collisions, isOrdered } = resolver;
  return { compared, collisions, isOrdered };
}

/** Cuts a sorted manifest into stretches of about `size` bytes that hold whole groups of one digest. */
export function cutByDigest(disk: Disk, path: string, size: number): { start: number; end: number }[] {
  using file = disk.open(path, "read");
  const total = file.size();
  const cuts: { start: number; end: number }[] = [];
  for (let start = 0; start < total; ) {
    const end = start + size >= total ? total : findGroupEnd(disk, path, start + size, total);
    cuts.push({ start, end });
    start = end;
  }
  return cuts;
}

/** The first offset behind `from` where a line with another digest than the one before it begins. */
function findGroupEnd(disk: Disk, path: string, from: number, total: number): number {
  let position = findLineStart(disk, path, from, total);
  let digest: string | undefined;
  for (const line of readTextLines(disk, path, position)) {
    const own = line.split("\t", 6)[5];
    if (digest !== undefined && own !== digest) return position;
    digest = own;
    position += Buffer.byteLength(line) + 1;
  }
  return total;
}

const SEARCH_SIZE = 1 << 16;
const LF = 10;

/** The offset behind the first line end from `from` on. Bytes, since `from` may stand inside of a character. */
function findLineStart(disk: Disk, path: string, from: number, total: number): number {
  using file = disk.open(path, "read");
  const buffer = Buffer.allocUnsafe(SEARCH_SIZE);
  for (let at = from, count = file.read(buffer, at); count > 0; count = file.read(buffer, at)) {
    const newline = buffer.subarray(0, count).indexOf(LF);
    if (newline >= 0) return at + newline + 1;
    at += count;
  }
  return total;
}
