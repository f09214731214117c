/**
 * How a timeline grows: `npm run bench -- temporal --growth 10` takes ten million visits, a hundred crawls of the same
 * URLs, and tells what inserts, space and questions cost then. Only one crawl is in memory at a time.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { nodeDisk } from "holotype/disk";
import { openTimeline, rangeBehind, type TimelineSnapshot, TimelineWriter } from "holotype/temporal";
import { work } from "./corpus.ts";
import type { Row } from "./report.ts";
import { Content } from "./temporal-content.ts";
import { DAY, Stopwatch, TASKS } from "./temporal-tasks.ts";
import { STEADY_CRAWLS, steady } from "./temporal-workload.ts";

/** Entries of a slice, whatever the size. */
const OUTPUT = 1000;
/** How often each question is asked, each time about another key. */
const QUESTIONS = 50;

export function runGrowth(millions: number): Row[] {
  const folder = join(work, "timeline-growth");
  rmSync(folder, { recursive: true, force: true });
  const { perSecond, keys, first } = fill(folder, millions * 1e6);
  const row = (metric: string, ours: string): Row => ({
    metric: `${millions} million visits, ${metric}`,
    ours,
    reference: "",
    ratio: undefined,
    goal: "told",
    met: true,
  });
  const { rss } = process.memoryUsage();
  const times = [0, STEADY_CRAWLS >> 1, STEADY_CRAWLS - 1].map((crawl) => first + crawl * DAY + DAY - 1);
  const pages = (ask: (snapshot: TimelineSnapshot, key: string, time: number) => void): string =>
    countPages(folder, keys, times, ask).toFixed(1);
  using snapshot = openTimeline(nodeDisk, folder);
  const { visits, fileSize } = snapshot.info;
  const rows = [
    row("inserts a second of processor time", perSecond.toFixed(0)),
    row("bytes a visit", (fileSize / visits).toFixed(2)),
    row(
      "pages of (URL, time)",
      pages((asked, key, time) => void asked.glance(key, time)),
    ),
    row(
      "pages of (URL, -)",
      pages((asked, key) => void asked.history(key)),
    ),
    row(
      `pages of ${OUTPUT} entries of (-, time)`,
      pages((asked, key, time) => {
        let count = 0;
        for (const _ of asked.slice(time, rangeBehind(key))) if (++count === OUTPUT) break;
      }),
    ),
    row("memory", `${(rss / 1e6).toFixed(0)} MB`),
  ];
  rmSync(folder, { recursive: true, force: true });
  return rows;
}

/** Some of the keys, from the lower half, so that a slice from any of them has as many entries as it should. */
function fill(folder: string, visits: number): { perSecond: number; keys: readonly string[]; first: number } {
  using writer = TimelineWriter.open(nodeDisk, folder);
  const content = new Content();
  let [ms, count, first] = [0, 0, 0];
  let keys: readonly string[] = [];
  for (const crawl of steady(visits)) {
    const watch = new Stopwatch();
    watch.time(TASKS.insert, () => {
      for (const [i, key] of crawl.keys.entries()) {
        const { digest, place } = content.set(crawl.contents[i]!);
        writer.insert(key, crawl.times[i]!, place, digest);
      }
      writer.commit();
    });
    ms += watch.ms.get(TASKS.insert)!;
    if (count === 0) first = crawl.time;
    count += crawl.keys.length;
    keys = crawl.keys;
  }
  writer.compact();
  const sorted = [...keys].sort();
  const step = Math.floor(sorted.length / 2 / QUESTIONS);
  return { perSecond: (count * 1000) / ms, keys: sorted.filter((_, i) => i % step === 0).slice(0, QUESTIONS), first };
}

/** Pages read by one question, with nothing in memory. */
function countPages(
  folder: string,
  keys: readonly string[],
  times: readonly number[],
  ask: (snapshot: TimelineSnapshot, key: string, time: number) => void,
): number {
  using snapshot = openTimeline(nodeDisk, folder, { cacheBytes: 0 });
  for (const key of keys) for (const time of times) ask(snapshot, key, time);
  return snapshot.pagesRead / (keys.length * times.length);
}
