/** The paper's opponent: a B+-tree (LMDB) with one entry for each visit, under the URL and the time. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import { work } from "./corpus.ts";
import { Content, DIGEST_SIZE } from "./temporal-content.ts";
import { type Answers, DAY, type Result, Stopwatch, TASKS } from "./temporal-tasks.ts";
import type { Crawl } from "./temporal-workload.ts";

type Tree = RootDatabase<Buffer, Buffer>;

function treeKey(key: string, time: number): Buffer {
  const bytes = Buffer.allocUnsafe(key.length + 5);
  bytes.write(key, 0, "latin1");
  bytes[key.length] = 0;
  bytes.writeUInt32BE(time, key.length + 1);
  return bytes;
}

export async function runTree(crawls: readonly Crawl[], keys: readonly string[], asks: boolean): Promise<Result> {
  const path = join(work, "visits.lmdb");
  rmSync(path, { force: true });
  rmSync(`${path}-lock`, { force: true });
  // A commit is durable when it returns, as ours is.
  const options = { noSubdir: true, encoding: "binary", keyEncoding: "binary", overlappingSync: false } as const;
  const db: Tree = open({ path, ...options });
  const watch = new Stopwatch();
  const content = new Content();
  watch.time(TASKS.insert, () => {
    for (const crawl of crawls) {
      db.transactionSync(() => {
        for (let i = 0; i < crawl.keys.length; i++) {
          db.putSync(treeKey(crawl.keys[i]!, crawl.times[i]!), content.set(crawl.contents[i]!).bytes);
        }
      });
    }
  });
  const { treeLeafPageCount, pages, pageSize } = statsOf(db);
  const answers = { point: 0, history: 0, span: 0, slice: 0 };
  if (asks) askTree(db, crawls, keys, watch, answers);
  await db.close();
  const slicePages = crawls.length * treeLeafPageCount;
  return { ms: watch.ms, sizeMb: (pages * pageSize) / 1e6, slicePages, answers };
}

function statsOf(db: Tree) {
  const stats = db.getStats() as Record<string, number>;
  const { treeLeafPageCount = 0, treeBranchPageCount = 0, overflowPages = 0, pageSize = 4096 } = stats;
  return { treeLeafPageCount, pages: treeLeafPageCount + treeBranchPageCount + overflowPages, pageSize };
}

/** Contents, not visits: what follows one of the same digest is no further one. */
function countContents(range: Iterable<{ value: Buffer }>): number {
  let versions = 0;
  let before: Buffer | undefined;
  for (const { value } of range) {
    if (before === undefined || before.compare(value, 0, DIGEST_SIZE, 0, DIGEST_SIZE) !== 0) versions++;
    before = value;
  }
  return versions;
}

/** The last visit up to a time. */
function lastVisit(db: Tree, key: string, time: number): { key: Buffer; value: Buffer } | undefined {
  const range = db.getRange({ start: treeKey(key, time), end: treeKey(key, 0), reverse: true, limit: 1 });
  for (const visit of range) return visit;
  return undefined;
}

function askTree(
  db: Tree,
  crawls: readonly Crawl[],
  keys: readonly string[],
  watch: Stopwatch,
  answers: Answers,
): void {
  watch.time(TASKS.point, () => {
    for (const crawl of crawls) {
      for (const [i, key] of crawl.keys.entries()) answers.point += lastVisit(db, key, crawl.times[i]!)!.value[23]!;
    }
  });
  watch.time(TASKS.history, () => {
    for (const key of keys) {
      answers.history += countContents(db.getRange({ start: treeKey(key, 0), end: treeKey(key, 0xffffffff) }));
    }
  });
  const [from, to] = [crawls[10]!.time, crawls[16]!.time + DAY - 1];
  watch.time(TASKS.span, () => {
    for (const key of keys) {
      // The visit before the span tells what was valid when it began.
      const start = lastVisit(db, key, from)?.key ?? treeKey(key, from);
      answers.span += countContents(db.getRange({ start, end: treeKey(key, to + 1) }));
    }
  });
  watch.time(TASKS.slice, () => {
    for (const { time } of crawls) {
      let url = "";
      for (const { key } of db.getRange({})) {
        if (key.readUInt32BE(key.length - 4) >= time + DAY) continue;
        const own = key.toString("latin1", 0, key.length - 5);
        if (own !== url) answers.slice++;
        url = own;
      }
    }
  });
}
