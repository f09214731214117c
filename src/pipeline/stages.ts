/** The stages of deduplication one by one, over manifests as text: for clusters, where each runs by itself. */
import { ArchiveError, type Warning } from "../base/index.ts";
import type { Policy } from "../dedup/index.ts";
import { type Disk, scratchFolder } from "../disk/index.ts";
import { encodeText } from "../warc/index.ts";
import { readKnown } from "./known-index.ts";
import { LineSorter, type LineSorterOptions, mergeSorted } from "./line-sorter.ts";
import type { LocatorSettings } from "./locator.ts";
import { Column, fromSortable, type LineOrder, splitLine, toSortable } from "./manifest-line.ts";
import { OVERFULL, type PlannedLine, Planner } from "./plan.ts";
import { cutByDigest, type ResolveJob } from "./resolve-job.ts";
import { runStageJobs } from "./stage-pool.ts";
import { readTextLines, writeTextLines } from "./text-lines.ts";
import { isWarcsumLine, warcsumDigest } from "./warcsum-line.ts";

/** Lines of a manifest, and how it is called in messages. */
export interface ManifestText {
  readonly name: string;
  readonly lines: Iterable<string>;
}

/** All lines in the order that is asked for, whatever theirs, sorted on disk. */
export function* sortManifests(
  disk: Disk,
  manifests: Iterable<ManifestText>,
  order: LineOrder,
  options: LineSorterOptions = {},
): Generator<string> {
  using sorter = new LineSorter(disk, options);
  for (const { name, lines } of manifests) {
    let number = 0;
    for (const line of lines) sorter.add(toSortable(line, splitLine(line, `${name}:${++number}`), order));
  }
  for (const sortable of sorter.sortedLines()) yield fromSortable(sortable, order);
}

/** Manifests that are in this order already, as one. Throws where one is not. */
export function* mergeManifests(manifests: readonly ManifestText[], order: LineOrder): Generator<string> {
  const sources = manifests.map((manifest) => sortablesOf(manifest, order));
  for (const sortable of mergeSorted(sources)) yield fromBytes(fromSortable(sortable, order));
}

function* sortablesOf({ name, lines }: ManifestText, order: LineOrder): Generator<string> {
  let before = "";
  let number = 0;
  for (const line of lines) {
    const place = `${name}:${++number}`;
    // Bytes as Latin-1: that is what is compared.
    const bytes = encodeText(line);
    const sortable = toSortable(bytes, splitLine(bytes, place), order);
    if (sortable < before) {
      const hint = `LC_ALL=C sort -t "$(printf '\\t')" ${order.sortKeys}`;
      throw new ArchiveError("HT_USAGE", `${place}: not sorted by ${order.name} (${hint})`);
    }
    before = sortable;
    yield sortable;
  }
}

const NOT_ASCII = /[\u0080-\uffff]/;

function fromBytes(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text, "latin1").toString() : text;
}

export interface ResolveOptions {
  readonly locator: LocatorSettings;
  readonly threads: number;
  readonly onWarning?: ((warning: Warning) => void) | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** Gets the lines with their hash extensions, in order, some at a time. */
  readonly onText: (text: string) => void;
}

const STRETCH_SIZE = 1 << 20;

/** Compares the payloads of lines that are sorted by digest. */
export async function resolveManifest(
  disk: Disk,
  lines: Iterable<string>,
  options: ResolveOptions,
): Promise<{ compared: number; collisions: number }> {
  using scratch = scratchFolder(disk);
  const manifest = `${scratch.path}/sorted.tsv`;
  writeTextLines(disk, manifest, lines);
  const jobs = cutByDigest(disk, manifest, STRETCH_SIZE).map(
    ({ start, end }, i): ResolveJob => ({
      kind: "resolve",
      manifest,
      start,
      end,
      output: `${scratch.path}/${i}.tsv`,
      locator: options.locator,
      zstd: true,
    }),
  );
  const total = jobs.at(-1)?.end ?? 0;
  let compared = 0;
  let collisions = 0;
  await runStageJobs(disk, jobs, options.threads, {
    onWarning: (warning) => options.onWarning?.(warning),
    onResult: (job, result) => {
      if (result instanceof ArchiveError) throw result;
      compared += result.compared;
      collisions += result.collisions;
      for (const line of readTextLines(disk, job.output)) options.onText(`${line}\n`);
      disk.remove(job.output);
      options.onProgress?.(job.end, total);
    },
  });
  return { compared, collisions };
}

export interface PlanOptions {
  readonly policy: Policy;
  readonly known?: readonly string[] | undefined;
  readonly onPlanned?: ((planned: PlannedLine) => void) | undefined;
  readonly onTell?: ((message: string) => void) | undefined;
}

/** The lines of the plan, those of one payload together. The input may be in any order. */
export function* planManifests(disk: Disk, manifests: Iterable<ManifestText>, options: PlanOptions): Generator<string> {
  using planner = new Planner(disk, options.policy);
  for (const { name, lines } of manifests) {
    let number = 0;
    for (const line of lines) planner.add(line, `${name}:${++number}`);
  }
  for (const path of options.known ?? []) for (const line of readKnown(disk, path)) planner.addKnown(line);
  for (const planned of planner.planned()) {
    options.onPlanned?.(planned);
    yield planned.text;
  }
  if (planner.isOverfull) options.onTell?.(OVERFULL);
}

/** Which of `count` parts a line belongs to: all lines of one digest go to one. */
export function partOf(line: string, count: number): number {
  const digest = isWarcsumLine(line) ? warcsumDigest(line) : (line.split("\t", Column.digest + 1)[Column.digest] ?? "");
  let hash = 0x811c9dc5;
  for (let i = 0; i < digest.length; i++) hash = Math.imul(hash ^ digest.charCodeAt(i), 0x01000193);
  hash ^= hash >>> 15;
  return (hash >>> 0) % count;
}
