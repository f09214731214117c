/**
 * The digest index: built from a crawl.log, asked, opened. Processor time of one process, so that a busy machine hardly
 * matters; the goals are rates and sizes, not ratios, since nothing else builds such an index.
 */
import { createHash } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { formatBase32 } from "holotype/base";
import type { KnownQuestion } from "holotype/dedup";
import { buildIndex, DigestIndex, InputSource } from "holotype/digests";
import { nodeDisk } from "holotype/disk";
import { root, work } from "./corpus.ts";
import { measure } from "./measure.ts";
import { limitRow, type Row } from "./report.ts";

const MAIN = join(root, "dist/bin/holotype.js");
const LINES = 1_000_000;
const LINES_MANY = 10_000_000;
const LINES_QUICK = 100_000;
const QUESTIONS = 200_000;
const BATCH = 100;
const ROUNDS = 3;

const urlOf = (i: number) => `http://www.site${(i * 7919) % 20_011}.example/path/${i % 97}/document-${i}.html`;

/** One in ten has the content of another. */
function digestOf(i: number): string {
  const content = i % 10 === 0 ? i >> 3 : i;
  return `sha1:${formatBase32(createHash("sha1").update(`content ${content}`).digest())}`;
}

/** A log in the form of Heritrix 3, made once. */
function makeLog(lines: number): string {
  mkdirSync(work, { recursive: true });
  const path = join(work, `crawl-${lines}.log`);
  if (existsSync(path)) return path;
  const file = openSync(`${path}.new`, "w");
  let text = "";
  for (let i = 0; i < lines; i++) {
    const iso = new Date(1_700_000_000_000 + i * 3).toISOString();
    const fetch = `${iso.replace(/[-:.TZ]/g, "")}+${i % 300}`;
    const fields = [
      iso,
      "  200",
      String(1000 + (i % 90_000)).padStart(10),
      urlOf(i),
      "LLE",
      urlOf(i % 100),
      "text/html",
    ];
    text += `${fields.join(" ")} #${String(i % 50).padStart(3, "0")} ${fetch} ${digestOf(i)} - -\n`;
    if (text.length < 1 << 20) continue;
    writeSync(file, text);
    text = "";
  }
  writeSync(file, text);
  closeSync(file);
  renameSync(`${path}.new`, path);
  return path;
}

function cpuSeconds(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

function rateRow(metric: string, rate: number, unit: string, must: number, aim: number): Row {
  const shown = (value: number) => `${Math.round(value).toLocaleString("en-US")} ${unit}`;
  const [ours, reference, goal] = [shown(rate), `aim ${shown(aim)}`, `>= ${shown(must)}`];
  return { metric, ours, reference, ratio: rate / must, goal, met: rate >= must };
}

async function build(log: string, folder: string): Promise<{ seconds: number; sizeBytes: number }> {
  rmSync(folder, { recursive: true, force: true });
  const before = process.cpuUsage();
  const source = new InputSource(nodeDisk, { name: log, path: log, entries: [], size: undefined });
  const { sizeBytes } = await buildIndex(nodeDisk, folder, [source]);
  return { seconds: cpuSeconds(before), sizeBytes };
}

/** Questions a second, and how many were answered. */
function ask(index: DigestIndex, questions: readonly KnownQuestion[]): { rate: number; known: number } {
  const before = process.cpuUsage();
  let known = 0;
  for (let i = 0; i < questions.length; i += BATCH) {
    for (const answer of index.find(questions.slice(i, i + BATCH))) if (answer !== undefined) known++;
  }
  return { rate: questions.length / cpuSeconds(before), known };
}

async function lookUps(folder: string, lines: number): Promise<Row[]> {
  await using index = DigestIndex.open(nodeDisk, folder);
  const ids = Array.from({ length: QUESTIONS }, (_, i) => (i * 7919 * 31) % lines);
  const kinds: readonly (readonly [string, boolean, readonly KnownQuestion[]])[] = [
    ["by URL", true, ids.map((i) => ({ by: "url", uri: urlOf(i) }))],
    ["by digest, this URL", true, ids.map((i) => ({ by: "digest", uri: urlOf(i), digests: [digestOf(i)] }))],
    ["by URL, strangers", false, ids.map((i) => ({ by: "url", uri: `http://stranger.example/${i}` }))],
    [
      "by digest, strangers",
      false,
      ids.map((i) => ({ by: "digest", uri: urlOf(i), digests: [digestOf(i + 1e9 + 1)] })),
    ],
  ];
  return kinds.map(([name, isKnown, questions]) => {
    let best = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const { rate, known } = ask(index, questions);
      if (known !== (isKnown ? QUESTIONS : 0)) throw new Error(`${name}: ${known} answers of ${QUESTIONS}`);
      best = Math.max(best, rate);
    }
    const [must, aim] = isKnown ? [80_000, 200_000] : [250_000, 1_000_000];
    return rateRow(`look-ups, warm, ${name}`, best, "a second", must, aim);
  });
}

/** What the digest index costs; the full run has ten million entries, too, and takes minutes. */
export async function runIndex(quick: boolean): Promise<Row[]> {
  const lines = quick ? LINES_QUICK : LINES;
  const folder = join(work, "digest-index");
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) best = Math.min(best, (await build(makeLog(lines), folder)).seconds);
  const rows = [rateRow("index from crawl.log, URL and digest", lines / best, "lines/s", 150_000, 300_000)];
  rows.push(...(await lookUps(folder, lines)));
  if (quick) return rows;
  const { sizeBytes } = await build(makeLog(LINES_MANY), folder);
  const { wallSeconds, residentMb } = await measure(process.execPath, [MAIN, "digests", "info", folder]);
  const { residentMb: idleMb } = await measure(process.execPath, ["-e", "setTimeout(() => {}, 600)"]);
  const openMb = residentMb === undefined || idleMb === undefined ? undefined : residentMb - idleMb;
  return [
    ...rows,
    limitRow("10 million entries, on disk (aim 1,100 MB)", sizeBytes / 1e6, "MB", 1300),
    limitRow("10 million entries, to open, with the program's start", wallSeconds * 1000, "ms", 1000),
    limitRow("10 million entries, memory to open", openMb, "MB", 80),
  ];
}
