import { describe, expect, it } from "vitest";
import { createDice } from "../testing/dice.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { TimelineWriter } from "./index.ts";

const OPTIONS = { pageSize: 1024, digestSize: 5 };

interface Visit {
  readonly key: string;
  readonly time: number;
  readonly digest: Buffer | undefined;
}

/** Crawls of pages that change now and then, go, come back and come anew; some are visited twice, some come late. */
function crawls(): Visit[][] {
  const dice = createDice(17);
  const contents: (number | undefined)[] = [];
  return Array.from({ length: 40 }, (_, crawl) => {
    const visits: Visit[] = [];
    for (let i = 0; i < 6; i++) contents.push(dice.below(50));
    for (const page of contents.keys()) {
      if (dice.below(4) === 0) continue;
      if (dice.below(6) === 0) contents[page] = dice.below(5) === 0 ? undefined : dice.below(50);
      const content = contents[page];
      const digest = content === undefined ? undefined : Buffer.from([7, 7, 7, 7, content]);
      const late = dice.below(60) === 0 ? 2500 : 0;
      for (let again = dice.below(9) === 0 ? 2 : 1; again > 0; again--) {
        visits.push({ key: `org,site)/${page % 7}/${page}`, time: crawl * 1000 + dice.below(900) - late, digest });
      }
    }
    return visits;
  });
}

function write(reopens: boolean): Buffer {
  const disk = new ForgetfulDisk();
  let writer = TimelineWriter.open(disk, "/timeline", OPTIONS);
  for (const visits of crawls()) {
    for (const { key, time, digest } of visits) {
      if (digest === undefined) writer.end(key, time);
      else writer.insert(key, time, digest, digest);
    }
    writer.commit();
    if (!reopens) continue;
    writer[Symbol.dispose]();
    writer = TimelineWriter.open(disk, "/timeline", OPTIONS);
  }
  using snapshot = writer.snapshot();
  expect([...snapshot.check()]).toEqual([]);
  writer[Symbol.dispose]();
  using file = disk.open("/timeline/timeline.pages", "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

describe("a leaf that was built", () => {
  it("goes on as one that was read: a writer that stays writes the same bytes as one that comes anew", () => {
    const [stays, comes] = [write(false), write(true)];
    expect(stays.length).toBeGreaterThan(100_000);
    expect(stays.equals(comes)).toBe(true);
  });
});
