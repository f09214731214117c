import { describe, expect, it } from "vitest";
import type { Disk } from "../disk/index.ts";
import { createDice } from "../testing/dice.ts";
import { everyStop } from "../testing/every-stop.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { expectSame, put, rangesAbout } from "../testing/timeline-answers.ts";
import { type ModelVisit, TimelineModel } from "../testing/timeline-model.ts";
import { openTimeline, TimelineWriter } from "./index.ts";

const FOLDER = "/archive/timeline";
const OPTIONS = { pageSize: 512, digestSize: 1 };
const QUESTIONS = { times: [-1, 1500, 9_000, 2 ** 40], ranges: rangesAbout(["org,site)/1", "org,site)/3"]) };

/** The newest first; pages that seldom change, go and come back. */
function crawls(): ModelVisit[][] {
  const dice = createDice(11);
  const contents = Array.from({ length: 40 }, (): string | undefined => "A");
  const all = Array.from({ length: 30 }, (_, crawl) =>
    contents.map((_content, page) => {
      if (dice.below(8) === 0) contents[page] = dice.below(6) === 0 ? undefined : String.fromCharCode(65 + crawl);
      return { key: `org,site)/${page}`, time: crawl * 1000 + dice.below(900), digest: contents[page] };
    }),
  );
  return all.reverse();
}

async function fill(disk: Disk): Promise<void> {
  using writer = TimelineWriter.open(disk, FOLDER, OPTIONS);
  for (const batch of crawls()) {
    for (const visit of batch) await put(writer, visit);
    writer.commit();
  }
}

const model = new TimelineModel();
for (const visit of crawls().flat()) model.add(visit);

describe("a timeline whose crawls came in reverse order", () => {
  it("is laid out anew by a compaction: less than half the pages, the same answers", async () => {
    const disk = new ForgetfulDisk();
    await fill(disk);
    using writer = TimelineWriter.open(disk, FOLDER);
    const before = writer.snapshot().info;
    writer.compact();
    using snapshot = writer.snapshot();
    expect(snapshot.info.live).toBeLessThan(before.live / 2);
    expect(snapshot.info.copies).toBeLessThan(before.copies / 2);
    await expectSame(snapshot, model, QUESTIONS);
    // There is nothing more to gain.
    writer.compact();
    expect(writer.snapshot().info.copies).toBe(snapshot.info.copies);
  });

  it("has all of it at whatever moment the disk stops", async () => {
    const filled = new ForgetfulDisk();
    await fill(filled);
    using file = filled.open(`${FOLDER}/timeline.pages`, "read");
    const bytes = Buffer.alloc(file.size());
    file.read(bytes, 0);
    const prepare = (disk: Disk) => {
      disk.makeFolder(FOLDER);
      using written = disk.open(`${FOLDER}/timeline.pages`, "create");
      written.write(bytes, 0);
    };
    const count = await everyStop(
      (disk) => {
        using writer = TimelineWriter.open(disk, FOLDER);
        writer.compact();
      },
      (disk) => {
        using snapshot = openTimeline(disk, FOLDER);
        expect([...snapshot.check()]).toEqual([]);
        expect(snapshot.info.visits).toBe(model.visitCount);
      },
      { prepare },
    );
    expect(count).toBeGreaterThan(10);
  });
});
