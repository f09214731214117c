/**
 * The paper's tables: insert all pages crawl by crawl, then its questions, against a B+-tree (LMDB) with one entry for
 * each visit under the same keys. Processor time, best of rounds; pages are counted, not timed. With `--growth N`
 * instead: what N million visits cost (see temporal-growth.ts).
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { nodeDisk } from "holotype/disk";
import { openTimeline, TimelineWriter } from "holotype/temporal";
import { work } from "./corpus.ts";
import { limitRow, type Row, ratioRow } from "./report.ts";
import { Content } from "./temporal-content.ts";
import { runGrowth } from "./temporal-growth.ts";
import { DAY, type Result, Stopwatch, TASKS } from "./temporal-tasks.ts";
import { runTree } from "./temporal-tree.ts";
import { type Crawl, governors, news } from "./temporal-workload.ts";

/** Table 4 of the paper, in ms and MB. */
const PAPER: Readonly<Record<string, readonly [tree: number, pisa: number]>> = {
  [TASKS.insert]: [16_767, 3_717],
  [TASKS.point]: [7_313, 4_814],
  [TASKS.history]: [2_966, 2_824],
  [TASKS.span]: [2_968, 2_677],
  [TASKS.slice]: [10_285, 1_642],
};
const PAPER_MB = [7.82, 16.89] as const;
/** Table 2: what finding duplicates took a page there, and the bytes of a page that follow from its MB/s. */
const OVERHEAD = {
  Governors: { paperMs: 0.1, pageBytes: 225e6 * 0.1e-3 },
  News: { paperMs: 0.36, pageBytes: 90e6 * 0.36e-3 },
} as const;
const GOALS: Readonly<Record<string, number>> = {
  [TASKS.insert]: 3,
  [TASKS.point]: 2,
  [TASKS.history]: 2,
  [TASKS.span]: 2,
  [TASKS.slice]: 50,
};

/** V8 compiles our code while it runs, and has done so after some of them. */
const ROUNDS = 8;
/** Inserts of both sides for each round, behind all of them: they take little of it, and vary most. */
const INSERTS = 2;

export async function run(quick: boolean): Promise<Row[]> {
  mkdirSync(work, { recursive: true });
  const growth = process.argv.indexOf("--growth");
  if (growth > 0) return runGrowth(Number(process.argv[growth + 1] ?? 1));
  const rows = await runGovernors(quick ? 1 : ROUNDS);
  return quick ? rows : [...rows, ...(await runNews())];
}

async function runGovernors(rounds: number): Promise<Row[]> {
  const crawls = [...governors()];
  const keys = [...new Set(crawls.flatMap((crawl) => crawl.keys))];
  const best = { ours: new Map<string, number>(), tree: new Map<string, number>() };
  let [ours, tree]: (Result | undefined)[] = [];
  for (let round = 0; round < rounds; round++) {
    ours = runOurs(crawls, keys, true);
    tree = await runTree(crawls, keys, true);
    keepBest(best.ours, ours);
    keepBest(best.tree, tree);
    if (JSON.stringify(ours.answers) !== JSON.stringify(tree.answers)) {
      throw new Error(`the answers differ: ${JSON.stringify([ours.answers, tree.answers])}`);
    }
  }
  for (let insert = 0; insert < INSERTS * rounds; insert++) {
    keepBest(best.ours, runOurs(crawls, keys, false));
    keepBest(best.tree, await runTree(crawls, keys, false));
  }
  const rows = Object.values(TASKS).map((task) => {
    const [mine, theirs] = [best.ours.get(task)!, best.tree.get(task)!];
    const [paperTree, pisa] = PAPER[task]!;
    const reference = `B+-tree ${theirs.toFixed(0)} ms; paper ${paperTree} / ${pisa}`;
    return ratioRow(`Governors, ${task}, cpu`, `${mine.toFixed(0)} ms`, reference, theirs / mine, GOALS[task]!);
  });
  const [minePages, theirPages] = [ours!.slicePages, tree!.slicePages];
  return [
    ...rows,
    ratioRow(`Governors, ${TASKS.slice}, pages`, `${minePages}`, `B+-tree ${theirPages}`, theirPages / minePages, 15),
    sizeRow("Governors", ours!, tree!, 0.2, `; paper ${PAPER_MB.join(" / ")}`),
    overheadRow("Governors", crawls, best.ours.get(TASKS.insert)!),
  ];
}

function keepBest(best: Map<string, number>, { ms }: Result): void {
  for (const [task, value] of ms) best.set(task, Math.min(value, best.get(task) ?? Number.POSITIVE_INFINITY));
}

async function runNews(): Promise<Row[]> {
  const crawls = [...news()];
  const ours = runOurs(crawls, [], false);
  const tree = await runTree(crawls, [], false);
  const [mine, theirs] = [ours.ms.get(TASKS.insert)!, tree.ms.get(TASKS.insert)!];
  const insert = ratioRow(
    `News, ${TASKS.insert}, cpu`,
    `${mine.toFixed(0)} ms`,
    `B+-tree ${theirs.toFixed(0)} ms`,
    theirs / mine,
    0,
  );
  return [{ ...insert, goal: "told" }, sizeRow("News", ours, tree, 0.5), overheadRow("News", crawls, mine)];
}

function sizeRow(name: string, ours: Result, tree: Result, share: number, paper = ""): Row {
  const [mine, theirs] = [`${ours.sizeMb.toFixed(2)} MB`, `B+-tree ${tree.sizeMb.toFixed(2)} MB${paper}`];
  const row = ratioRow(`${name}, size`, mine, theirs, tree.sizeMb / ours.sizeMb, 1 / share);
  return { ...row, goal: `<= ${share} of it` };
}

/** Table 2: what it costs to find duplicates. */
function overheadRow(name: keyof typeof OVERHEAD, crawls: readonly Crawl[], ms: number): Row {
  const pages = crawls.reduce((sum, { keys }) => sum + keys.length, 0);
  const each = ms / pages;
  const { paperMs, pageBytes } = OVERHEAD[name];
  const speed = pageBytes / (each / 1000) / 1e6;
  return {
    ...limitRow(`${name}, finding duplicates, a page`, undefined, "ms", 0.02),
    ours: `${each.toFixed(4)} ms, ${speed.toFixed(0)} MB/s`,
    reference: `paper ${paperMs} ms, ${(pageBytes / paperMs / 1000).toFixed(0)} MB/s`,
    met: each < 0.02,
  };
}

function runOurs(crawls: readonly Crawl[], keys: readonly string[], asks: boolean): Result {
  const folder = join(work, "timeline");
  rmSync(folder, { recursive: true, force: true });
  const watch = new Stopwatch();
  const content = new Content();
  {
    using writer = TimelineWriter.open(nodeDisk, folder);
    watch.time(TASKS.insert, () => {
      for (const crawl of crawls) {
        for (let i = 0; i < crawl.keys.length; i++) {
          const { digest, place } = content.set(crawl.contents[i]!);
          writer.insert(crawl.keys[i]!, crawl.times[i]!, place, digest);
        }
        writer.commit();
      }
    });
    writer.compact();
  }
  const answers = { point: 0, history: 0, span: 0, slice: 0 };
  using snapshot = openTimeline(nodeDisk, folder);
  const sizeMb = snapshot.info.fileSize / 1e6;
  if (!asks) return { ms: watch.ms, sizeMb, slicePages: 0, answers };
  watch.time(TASKS.point, () => {
    for (const crawl of crawls) {
      for (const [i, key] of crawl.keys.entries()) answers.point += snapshot.glance(key, crawl.times[i]!)!.value[7]!;
    }
  });
  watch.time(TASKS.history, () => {
    for (const key of keys) answers.history += snapshot.history(key).length;
  });
  const [from, to] = [crawls[10]!.time, crawls[16]!.time + DAY - 1];
  watch.time(TASKS.span, () => {
    for (const key of keys) answers.span += snapshot.history(key, from, to).length;
  });
  watch.time(TASKS.slice, () => {
    for (const { time } of crawls) for (const _ of snapshot.slice(time + DAY - 1)) answers.slice++;
  });
  let slicePages = 0;
  for (const { time } of crawls) {
    using cold = openTimeline(nodeDisk, folder);
    for (const _ of cold.slice(time + DAY - 1)) {
      // Only the pages are of interest.
    }
    slicePages += cold.pagesRead;
  }
  return { ms: watch.ms, sizeMb, slicePages, answers };
}
