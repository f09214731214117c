/**
 * A writer that commits and compacts without pause, and a reader under load, each a process. In the crawl of number n
 * every key is found with content n, or on each seventh crawl as it was before; so the reader can tell what every
 * commit must hold from its number of visits alone. HOLOTYPE_LOAD_SECONDS makes it longer than the usual few seconds.
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nodeDisk } from "../../src/disk/index.ts";
import { openTimeline } from "../../src/temporal/index.ts";
import { compileRooms } from "../../src/testing/child-process.ts";
import { temporaryFolder } from "../cli/holotype.ts";

const SECONDS = Number(process.env["HOLOTYPE_LOAD_SECONDS"] ?? 3);
const KEYS = 120;

const COMMON = `
  import { nodeDisk } from "./disk/index.js";
  import { openTimeline, TimelineWriter } from "./temporal/index.js";
  const KEYS = ${KEYS};
  const key = (i) => "org,site)/page/" + (i % 7) + "/" + String(i).padStart(4, "0");
  const contentAt = (crawl) => crawl - (crawl % 7 === 6 ? 1 : 0);
  const digestOf = (content) => { const bytes = Buffer.alloc(16); bytes.writeUInt32BE(content); return bytes; };
`;

const writer = (folder: string) => `${COMMON}
  const writer = TimelineWriter.open(nodeDisk, ${JSON.stringify(folder)}, { pageSize: 1024 });
  console.log("ready");
  const end = performance.now() + ${SECONDS * 1000};
  let crawl = 0;
  for (; performance.now() < end; crawl++) {
    const content = contentAt(crawl);
    for (let i = 0; i < KEYS; i++) {
      writer.insert(key(i), crawl * 1000 + i, Buffer.from("value of " + content), digestOf(content));
    }
    writer.commit();
    if (crawl % 10 === 9) writer.compact();
  }
  writer[Symbol.dispose]();
  console.log(String(crawl));
`;

const reader = (folder: string) => `${COMMON}
  const end = performance.now() + ${SECONDS * 1000};
  let [answers, snapshots, last] = [0, 0, 0];
  const must = (condition, what) => { if (!condition) throw new Error(what); };
  const lookAt = (snapshot, crawls) => {
    const times = [0, crawls >> 1, crawls - 1].map((crawl) => crawl * 1000 + 999);
    for (const time of times) {
      const content = contentAt(Math.floor(time / 1000));
      let i = 0;
      const expected = Array.from({ length: KEYS }, (_, n) => key(n)).sort();
      for (const entry of snapshot.slice(time)) {
        must(entry.key === expected[i++], "a key out of place: " + entry.key);
        must(Buffer.from(entry.value).toString() === "value of " + content, "a wrong value at " + time);
        must(Buffer.from(entry.digest, "latin1").equals(digestOf(content)), "a wrong digest at " + time);
        answers++;
      }
      must(i === KEYS, i + " keys at " + time + " of " + crawls + " crawls");
    }
    const versions = new Set(Array.from({ length: crawls }, (_, crawl) => contentAt(crawl))).size;
    must(snapshot.history(key(5)).length === versions, "a history of another length");
  };
  let held;
  while (performance.now() < end) {
    const snapshot = openTimeline(nodeDisk, ${JSON.stringify(folder)}, { cacheBytes: snapshots % 2 === 0 ? 0 : 1 << 20 });
    const { visits } = snapshot.info;
    must(visits % KEYS === 0, "half a commit: " + visits + " visits");
    must(visits >= last, "an older commit than before");
    last = visits;
    snapshots++;
    if (visits > 0) lookAt(snapshot, visits / KEYS);
    // One is kept open while the writer goes on and compacts, and looked at again.
    if (snapshots % 10 === 1) {
      if (held !== undefined && held.info.visits > 0) lookAt(held, held.info.visits / KEYS);
      held?.[Symbol.dispose]();
      held = snapshot;
    } else snapshot[Symbol.dispose]();
  }
  console.log(JSON.stringify({ answers, snapshots, visits: last }));
`;

describe("a reader and a writer in two processes", () => {
  it(
    "do not disturb each other: every answer is that of one whole commit",
    async () => {
      const folder = join(temporaryFolder(), "timeline");
      using rooms = compileRooms("base", "disk", "temporal");
      const writing = rooms.start(writer(folder));
      expect(await writing.line()).toBe("ready");
      const reading = rooms.start(reader(folder));
      const told = JSON.parse(await reading.line()) as { answers: number; snapshots: number; visits: number };
      const crawls = Number(await writing.line());
      expect([await reading.exit(), await writing.exit()]).toEqual([0, 0]);
      expect(told.snapshots).toBeGreaterThan(5);
      expect(told.visits).toBeGreaterThan(KEYS);
      using snapshot = openTimeline(nodeDisk, folder);
      expect(snapshot.info.visits).toBe(crawls * KEYS);
      expect([...snapshot.check()]).toEqual([]);
    },
    (SECONDS + 30) * 1000,
  );
});
