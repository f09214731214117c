/**
 * The paper's tables: insert all pages crawl by crawl, then its questions, against a B+-tree (LMDB) with one entry for
 * each visit under the same keys. Processor time, best of rounds; pages are counted, not timed.
 */
import { createHash } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { nodeDisk } from "holotype/disk";
import { openTimeline, TimelineWriter } from "holotype/temporal";
import { open, type RootDatabase } from "lmdb";
import { work } from "./corpus.ts";
import { limitRow, type Row, ratioRow } from "./report.ts";
import { type Crawl, governors, news } from "./temporal-workload.ts";

const DAY = 86_400;

interface Prepared {
  readonly crawls: readonly Crawl[];
  readonly digests: readonly Buffer[];
}

interface Result {
  readonly ms: Map<string, number>;
  readonly sizeMb: number;
  readonly slicePages: number;
  readonly answers: string;
}

export async function run(quick: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  mkdirSync(work, { recursive: true });
  const small = prepare(governors());
  const rounds = quick ? 1 : 3;
  const best: Record<"ours" | "tree", Map<string, number>> = { ours: new Map(), tree: new Map() };
  let [ours, tree]: (Result | undefined)[] = [];
  for (let round = 0; round < rounds; round++) {
    ours = runOurs(small);
    tree = await runTree(small);
    for (const [name, result] of [
      ["ours", ours],
      ["tree", tree],
    ] as const) {
      for (const [task, ms] of result.ms)
        best[name].set(task, Math.min(ms, best[name].get(task) ?? Number.POSITIVE_INFINITY));
    }
    if (ours.answers !== tree.answers) throw new Error(`the answers differ: ${ours.answers} and ${tree.answers}`);
  }
  const row = (task: string, goal: number) => {
    const [mine, theirs] = [best.ours.get(task)!, best.tree.get(task)!];
    rows.push(
      ratioRow(
        `Governors, ${task}, cpu`,
        `${mine.toFixed(0)} ms`,
        `B+-tree ${theirs.toFixed(0)} ms`,
        theirs / mine,
        goal,
      ),
    );
  };
  row("insert all, sort included", 3);
  row("(URL, time) for all", 2);
  row("(URL, -) for all", 2);
  row("(URL, 7 crawls) for all", 2);
  row("(-, time) for each crawl", 50);
  rows.push(
    ratioRow(
      "Governors, (-, time) for each crawl, pages",
      `${ours!.slicePages}`,
      `B+-tree ${tree!.slicePages}`,
      tree!.slicePages / ours!.slicePages,
      15,
    ),
    sizeRow("Governors", ours!, tree!, 0.2),
    overheadRow(small, best.ours.get("insert all, sort included")!),
  );
  if (!quick) {
    const large = prepare(news());
    const [mine, theirs] = [runOurs(large, false), await runTree(large, false)];
    rows.push(sizeRow("News", mine, theirs, 0.5));
    const task = "insert all, sort included";
    const [ms, other] = [mine.ms.get(task)!, theirs.ms.get(task)!];
    rows.push({
      ...ratioRow(`News, ${task}, cpu`, `${ms.toFixed(0)} ms`, `B+-tree ${other.toFixed(0)} ms`, other / ms, 0),
      goal: "told",
    });
    rows.push(overheadRow(large, ms, "News"));
  }
  return rows;
}

function sizeRow(name: string, ours: Result, tree: Result, share: number): Row {
  const [mine, theirs] = [`${ours.sizeMb.toFixed(2)} MB`, `B+-tree ${tree.sizeMb.toFixed(2)} MB`];
  return {
    ...ratioRow(`${name}, size`, mine, theirs, tree.sizeMb / ours.sizeMb, 1 / share),
    goal: `<= ${share} of it`,
  };
}

/** Table 2: what it costs to find duplicates. */
function overheadRow({ crawls }: Prepared, ms: number, name = "Governors"): Row {
  const pages = crawls.reduce((sum, { visits }) => sum + visits.length, 0);
  const each = ms / pages;
  return {
    ...limitRow(`${name}, finding duplicates, a page`, undefined, "ms", 0.02),
    ours: `${each.toFixed(4)} ms`,
    met: each < 0.02,
  };
}

function prepare(crawls: Iterable<Crawl>): Prepared {
  const all = [...crawls];
  let most = 0;
  for (const { visits } of all) for (const { content } of visits) most = Math.max(most, content);
  const digests = Array.from({ length: most + 1 }, (_, i) =>
    createHash("sha256").update(`${i}`).digest().subarray(0, 16),
  );
  return { crawls: all, digests };
}

/** Where the record is: its container, and the offset there. */
function placeOf(content: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16BE(content >>> 12, 0);
  bytes.writeUIntBE((content * 15_013) % 2 ** 40, 2, 6);
  return bytes;
}

class Stopwatch {
  readonly ms = new Map<string, number>();
  time<T>(name: string, work: () => T): T {
    const start = process.cpuUsage();
    const result = work();
    const { user, system } = process.cpuUsage(start);
    this.ms.set(name, (user + system) / 1000);
    return result;
  }
}

function runOurs({ crawls, digests }: Prepared, asks = true): Result {
  const folder = join(work, "timeline");
  rmSync(folder, { recursive: true, force: true });
  const watch = new Stopwatch();
  {
    using writer = TimelineWriter.open(nodeDisk, folder);
    watch.time("insert all, sort included", () => {
      for (const { visits } of crawls) {
        for (const { key, time, content } of visits) writer.insert(key, time, placeOf(content), digests[content]!);
        writer.commit();
      }
    });
    writer.compact();
  }
  let slicePages = 0;
  const answers = { point: 0, history: 0, span: 0, slice: 0 };
  if (asks) {
    const keys = [...new Set(crawls.flatMap(({ visits }) => visits.map(({ key }) => key)))];
    using snapshot = openTimeline(nodeDisk, folder);
    watch.time("(URL, time) for all", () => {
      for (const { visits } of crawls)
        for (const { key, time } of visits) answers.point += snapshot.glance(key, time)!.value[7]!;
    });
    watch.time("(URL, -) for all", () => {
      for (const key of keys) answers.history += snapshot.history(key).length;
    });
    const [from, to] = [crawls[10]!.time, crawls[16]!.time + DAY - 1];
    watch.time("(URL, 7 crawls) for all", () => {
      for (const key of keys) answers.span += snapshot.history(key, from, to).length;
    });
    watch.time("(-, time) for each crawl", () => {
      for (const { time } of crawls) for (const _ of snapshot.slice(time + DAY - 1)) answers.slice++;
    });
    for (const { time } of crawls) {
      using cold = openTimeline(nodeDisk, folder);
      for (const _ of cold.slice(time + DAY - 1)) {
        // Only the pages are of interest.
      }
      slicePages += cold.pagesRead;
    }
  }
  using snapshot = openTimeline(nodeDisk, folder);
  return { ms: watch.ms, sizeMb: snapshot.info.fileSize / 1e6, slicePages, answers: JSON.stringify(answers) };
}

function treeKey(key: string, time: number): Buffer {
  const bytes = Buffer.allocUnsafe(key.length + 5);
  bytes.write(key, 0, "latin1");
  bytes[key.length] = 0;
  bytes.writeUInt32BE(time, key.length + 1);
  return bytes;
}

async function runTree({ crawls, digests }: Prepared, asks = true): Promise<Result> {
  const path = join(work, "visits.lmdb");
  rmSync(path, { force: true });
  rmSync(`${path}-lock`, { force: true });
  const db: RootDatabase<Buffer, Buffer> = open({ path, noSubdir: true, encoding: "binary", keyEncoding: "binary" });
  const watch = new Stopwatch();
  watch.time("insert all, sort included", () => {
    for (const { visits } of crawls) {
      db.transactionSync(() => {
        for (const { key, time, content } of visits) {
          db.putSync(treeKey(key, time), Buffer.concat([digests[content]!, placeOf(content)]));
        }
      });
    }
  });
  const { treeLeafPageCount, pageSize } = statsOf(db);
  const answers = { point: 0, history: 0, span: 0, slice: 0 };
  if (asks) askTree(db, crawls, watch, answers);
  const sizeMb = (statsOf(db).pages * pageSize) / 1e6;
  await db.close();
  return { ms: watch.ms, sizeMb, slicePages: crawls.length * treeLeafPageCount, answers: JSON.stringify(answers) };
}

function statsOf(db: RootDatabase<Buffer, Buffer>) {
  const stats = db.getStats() as Record<string, number>;
  const { treeLeafPageCount = 0, treeBranchPageCount = 0, overflowPages = 0, pageSize = 4096 } = stats;
  return { treeLeafPageCount, pages: treeLeafPageCount + treeBranchPageCount + overflowPages, pageSize };
}

function askTree(
  db: RootDatabase<Buffer, Buffer>,
  crawls: readonly Crawl[],
  watch: Stopwatch,
  answers: { point: number; history: number; span: number; slice: number },
): void {
  const keys = [...new Set(crawls.flatMap(({ visits }) => visits.map(({ key }) => key)))];
  watch.time("(URL, time) for all", () => {
    for (const { visits } of crawls) {
      for (const { key, time } of visits) {
        for (const { value } of db.getRange({
          start: treeKey(key, time),
          end: treeKey(key, 0),
          reverse: true,
          limit: 1,
        })) {
          answers.point += value[23]!;
        }
      }
    }
  });
  /** Contents, not visits: what follows one of the same digest is no further one. */
  const count = (range: Iterable<{ value: Buffer }>) => {
    let versions = 0;
    let before: Buffer | undefined;
    for (const { value } of range) {
      if (before === undefined || before.compare(value, 0, 16, 0, 16) !== 0) versions++;
      before = value;
    }
    return versions;
  };
  watch.time("(URL, -) for all", () => {
    for (const key of keys)
      answers.history += count(db.getRange({ start: treeKey(key, 0), end: treeKey(key, 0xffffffff) }));
  });
  const [from, to] = [crawls[10]!.time, crawls[16]!.time + DAY - 1];
  watch.time("(URL, 7 crawls) for all", () => {
    for (const key of keys) {
      // The visit before the span tells what was valid when it began.
      const [before] = [...db.getRange({ start: treeKey(key, from), end: treeKey(key, 0), reverse: true, limit: 1 })];
      const start = before === undefined ? treeKey(key, from) : before.key;
      answers.span += count(db.getRange({ start, end: treeKey(key, to + 1) }));
    }
  });
  watch.time("(-, time) for each crawl", () => {
    for (const { time } of crawls) {
      const at = time + DAY - 1;
      let url = "";
      for (const { key } of db.getRange({})) {
        const visited = key.readUInt32BE(key.length - 4);
        if (visited > at) continue;
        const own = key.toString("latin1", 0, key.length - 5);
        if (own !== url) answers.slice++;
        url = own;
      }
    }
  });
}
