/** What questions cost, in pages read from the file with no cache: this is what the pages are cut for. */
import { describe, expect, it } from "vitest";
import { createDice } from "../testing/dice.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { type KeyRange, openTimeline, prefixRange, type TimelineSnapshot, TimelineWriter } from "./index.ts";

const KEYS = 60;
const CRAWL = 100_000;
/** After the crawl of this number. */
const after = (crawl: number) => crawl * CRAWL + 95_000;
const keyOf = (number: number) => `org,site)/section/${number % 5}/page-${number}.html`;

type Order = "forward" | "backward" | "shuffled";

/** The same pages again and again, of which one in eight has changed; those of section 4 never do. */
function build(crawls: number, order: Order): ForgetfulDisk {
  const dice = createDice(3);
  const contents = Array.from({ length: KEYS }, () => dice.below(2 ** 30));
  const all = Array.from({ length: crawls }, (_, crawl) =>
    contents.map((_content, number) => {
      if (number % 5 !== 4 && dice.below(8) === 0) contents[number] = dice.below(2 ** 30);
      return { number, time: crawl * CRAWL + dice.below(90_000), content: contents[number]! };
    }),
  );
  if (order === "backward") all.reverse();
  if (order === "shuffled") for (let i = all.length - 1; i > 0; i--) swap(all, i, dice.below(i + 1));
  const disk = new ForgetfulDisk();
  using writer = TimelineWriter.open(disk, "/timeline", { pageSize: 1024, digestSize: 4 });
  for (const batch of all) {
    for (const { number, time, content } of batch) {
      const digest = Buffer.alloc(4);
      digest.writeUInt32BE(content);
      writer.insert(keyOf(number), time, Buffer.from("a place"), digest);
    }
    writer.commit();
  }
  return disk;
}

function swap<T>(all: T[], one: number, other: number): void {
  [all[one], all[other]] = [all[other]!, all[one]!];
}

function cost(
  disk: ForgetfulDisk,
  ask: (snapshot: TimelineSnapshot) => Iterable<unknown>,
): { answers: number; pages: number } {
  using snapshot = openTimeline(disk, "/timeline", { cacheBytes: 0 });
  const answers = [...ask(snapshot)].length;
  return { answers, pages: snapshot.pagesRead };
}

const LENGTHS = { forward: [10, 100, 1000], backward: [10, 100], shuffled: [10, 100] } as const;

describe.each(["forward", "backward", "shuffled"] as const)("of crawls that came %s", (order) => {
  const disks = new Map(LENGTHS[order].map((crawls) => [crawls as number, build(crawls, order)]));
  const shortest = disks.get(10)!;

  it("a slice costs what it gives, however long the history", () => {
    const most = cost(shortest, (snapshot) => snapshot.slice(after(9))).pages;
    for (const [crawls, disk] of disks) {
      for (const crawl of [0, 1, 5, 9, crawls >> 1, crawls - 1]) {
        const { answers, pages } = cost(disk, (snapshot) => snapshot.slice(after(crawl)));
        expect(answers).toBe(KEYS);
        // Beside the leaves only the way down to them grows: by a few pages for each tenfold.
        expect(pages, `${crawls} crawls, after ${crawl}`).toBeLessThanOrEqual(2 * most + 8 * Math.log10(crawls / 10));
        const prefix = prefixRange("org,site)/section/1/");
        const site = cost(disk, (snapshot) => snapshot.slice(after(crawl), prefix));
        expect(site.answers).toBe(KEYS / 5);
        expect(site.pages).toBeLessThanOrEqual(pages);
      }
    }
  });

  it("counts of the end are told by the root, and of a range by the pages at its ends", () => {
    for (const [crawls, disk] of disks) {
      const ask = (range: KeyRange) => {
        using snapshot = openTimeline(disk, "/timeline", { cacheBytes: 0 });
        return { count: snapshot.countSlice(after(crawls), range), pages: snapshot.pagesRead };
      };
      expect(ask({})).toEqual({ count: KEYS, pages: 0 });
      const { count, pages } = ask({ from: "org,site)/section/1/", to: "org,site)/section/4/" });
      expect(count).toBe((3 * KEYS) / 5);
      expect(pages).toBeLessThanOrEqual(2 * (4 + 2 * Math.log10(crawls)));
    }
  });

  it("one key at one time costs the way down", () => {
    for (const [crawls, disk] of disks) {
      for (const crawl of [0, crawls >> 1, crawls - 1]) {
        const { pages } = cost(disk, (snapshot) => [snapshot.glance(keyOf(7), after(crawl))]);
        expect(pages).toBeLessThanOrEqual(4 + 2 * Math.log10(crawls));
      }
    }
  });

  it("the history of a key costs what it had of versions, and the way down to them", () => {
    for (const [crawls, disk] of disks) {
      for (const number of [7, 8, 9]) {
        const { answers, pages } = cost(disk, (snapshot) => snapshot.history(keyOf(number)));
        expect(pages).toBeLessThanOrEqual((answers + 1) * (4 + 2 * Math.log10(crawls)));
      }
      // It never changed.
      expect(cost(disk, (snapshot) => snapshot.history(keyOf(4)))).toMatchObject({ answers: 1 });
    }
  });

  it("changes cost no more than the pages alive in the span, and nothing where nothing changed", () => {
    for (const [crawls, disk] of disks) {
      const last = cost(disk, (snapshot) => snapshot.events(after(crawls - 1), after(crawls)));
      expect(last).toEqual({ answers: 0, pages: 0 });
      const still = cost(disk, (snapshot) =>
        snapshot.events(after(0), after(crawls), prefixRange("org,site)/section/4/")),
      );
      expect(still.answers).toBe(0);
      if (order === "forward") {
        const slice = cost(disk, (snapshot) => snapshot.slice(after(crawls >> 1)));
        const some = cost(disk, (snapshot) => snapshot.events(after((crawls >> 1) - 1), after(crawls >> 1)));
        expect(some.answers).toBeGreaterThan(0);
        expect(some.pages).toBeLessThanOrEqual(2 * slice.pages);
      }
    }
  });
});

describe("crawls that came in another order", () => {
  it.each(["backward", "shuffled"] as const)("%s take less than three times the space of those in order", (order) => {
    const sizes = (["forward", order] as const).map((each) => {
      const disk = build(100, each);
      using writer = TimelineWriter.open(disk, "/timeline");
      writer.compact();
      using snapshot = writer.snapshot();
      expect([...snapshot.check()]).toEqual([]);
      return snapshot.info.fileSize;
    });
    expect(sizes[1]! / sizes[0]!).toBeLessThan(3);
  });

  it("cost a slice no more when their pages have been laid out anew", () => {
    const disk = build(100, "backward");
    const before = cost(disk, (snapshot) => snapshot.slice(after(50)));
    using writer = TimelineWriter.open(disk, "/timeline");
    writer.compact();
    const laid = cost(disk, (snapshot) => snapshot.slice(after(50)));
    expect(laid.answers).toBe(KEYS);
    // Pages that are not full of copies hold less that is alive, as in order.
    const inOrder = cost(build(100, "forward"), (snapshot) => snapshot.slice(after(50)));
    expect(laid.pages).toBeLessThanOrEqual(2 * Math.max(before.pages, inOrder.pages));
  });
});

/** Eight sections, of which only one changes in a crawl. */
function buildInTurns(crawls: number): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  using writer = TimelineWriter.open(disk, "/timeline", { pageSize: 1024, digestSize: 4 });
  for (let crawl = 0; crawl < crawls; crawl++) {
    for (let number = 0; number < 400; number++) {
      const section = number % 8;
      const digest = Buffer.alloc(4);
      digest.writeUInt32BE(section + 8 * Math.floor((crawl + 8 - section) / 8));
      writer.insert(`org,site)/${section}/${number}`, crawl * CRAWL + number, Buffer.from("a place"), digest);
    }
    writer.commit();
  }
  return disk;
}

describe("changes in the past", () => {
  it("cost in proportion to what changed: pages are left out in which nothing did then", () => {
    const disk = buildInTurns(60);
    for (const crawl of [18, 30, 43]) {
      const slice = cost(disk, (snapshot) => snapshot.slice(after(crawl)));
      const changes = cost(disk, (snapshot) => snapshot.events(after(crawl - 1), after(crawl)));
      expect(slice.answers).toBe(400);
      expect(changes.answers).toBe(50);
      expect(changes.pages).toBeLessThan(slice.pages / 2);
    }
  });
});

describe("forgetting", () => {
  it("costs the pages of what is forgotten, however much else there is", () => {
    const disk = buildInTurns(60);
    using writer = TimelineWriter.open(disk, "/timeline", { digestSize: 4 });
    using before = writer.snapshot();
    const key = "org,site)/1/1";
    const visits = [...before.visits(key)];
    expect(visits).toHaveLength(60);
    writer.remove(new Map([[key, visits]]));
    writer.commit();
    using after = writer.snapshot();
    expect(after.history(key)).toEqual([]);
    expect([...before.visits(key)]).toEqual(visits);
    expect(after.info).toMatchObject({ keys: before.info.keys - 1, visits: before.info.visits - 60 });
    expect(after.info.fileSize - before.info.fileSize).toBeLessThan(before.info.live / 4);
  });
});

describe("an entry", () => {
  it("becomes JSON whole, from whichever question", () => {
    using snapshot = openTimeline(buildInTurns(3), "/timeline");
    const asked = prefixRange("org,site)/1/1");
    for (const entry of [snapshot.glance("org,site)/1/1", after(2))!, ...snapshot.slice(after(2), asked)]) {
      const { key, birth, digest, value, lastSeen, visits, isWhole } = entry;
      expect(digest).toHaveLength(4);
      const told = JSON.parse(JSON.stringify(entry)) as Record<string, unknown>;
      const plain = { key, birth, digest, value: Buffer.from(value).toJSON(), lastSeen, visits, isWhole };
      expect(told).toEqual(plain);
    }
  });
});
