/**
 * A digest index on a disk that stops at any operation. After a build or an add it is there as it was before or with all that
 * is new, and the same can be done again; after learning, what was acknowledged is known.
 */
import { describe, expect, it } from "vitest";
import { ArchiveError, formatIso } from "../../src/base/index.ts";
import {
  buildIndex,
  type CaptureSource,
  checkIndex,
  type DigestEntry,
  DigestIndex,
  isDigestIndex,
} from "../../src/digests/index.ts";
import type { Disk } from "../../src/disk/index.ts";
import { everyFullDisk, everyMoment } from "../../src/testing/every-stop.ts";
import type { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";

const FOLDER = "/known/index";
const SETTINGS = { url: true, digest: true, equivalent: true, validators: true };

function entry(number: number, crawl: number): DigestEntry {
  const uri = `http://www.site.test/page/${number}`;
  const timeMs = 1_600_000_000_000 + crawl * 86_400_000 + number * 1000;
  const hex = (number * 10 + (number % 3 === 0 ? crawl : 0)).toString(16).padStart(40, "0");
  const base32 =
    "A".repeat(24) +
    hex
      .slice(-8)
      .toUpperCase()
      .replace(/[0189]/g, (digit) => "WXYZ"["0189".indexOf(digit)]!);
  return { uri, timeMs, digests: [`sha1:${base32}`], original: { uri, date: formatIso(timeMs), id: undefined } };
}

const crawl = (number: number, count = 40) => Array.from({ length: count }, (_, i) => entry(i, number));

function sourceOf(entries: readonly DigestEntry[]): CaptureSource {
  return {
    name: "test",
    async readInto(intake) {
      for (const each of entries) intake.take(each);
      await intake.breathe(0);
    },
  };
}

const OPTIONS = { settings: SETTINGS, memoryBytes: 1024 };
const build = (disk: Disk, entries: readonly DigestEntry[]) => buildIndex(disk, FOLDER, [sourceOf(entries)], OPTIONS);

async function expectKnown(
  disk: Disk,
  known: readonly DigestEntry[],
  unknown: readonly DigestEntry[] = [],
): Promise<void> {
  expect([...checkIndex(disk, FOLDER)]).toEqual([]);
  await using index = DigestIndex.open(disk, FOLDER);
  const ask = (entries: readonly DigestEntry[]) =>
    index.find(entries.map(({ uri, digests }) => ({ by: "digest" as const, uri, digests })));
  expect(ask(known).map((found) => found?.uri)).toEqual(known.map(({ uri }) => uri));
  expect(ask(unknown).filter((found) => found !== undefined)).toEqual([]);
}

/** Of the second crawl: what the first has not. */
const CHANGED = crawl(2).filter(({ digests }) => !crawl(1).some((each) => each.digests[0] === digests[0]));

async function expectBeforeOrAfter(disk: ForgetfulDisk): Promise<void> {
  const probe = CHANGED[0]!;
  const index = DigestIndex.open(disk, FOLDER);
  const [found] = index.find([{ by: "digest", uri: probe.uri, digests: probe.digests }]);
  await index.close();
  await expectKnown(
    disk,
    found === undefined ? crawl(1) : [...crawl(1), ...crawl(2)],
    found === undefined ? CHANGED : [],
  );
}

describe("a power cut", () => {
  it("while an index is built leaves none, or all of it", { timeout: 120_000 }, async () => {
    let isBuilt = false;
    const operations = await everyMoment(
      async (disk, look) => {
        await build(disk, crawl(1));
        isBuilt = true;
        await look();
      },
      () => isBuilt,
      async (disk, noted) => {
        if (noted) expect(isDigestIndex(disk, FOLDER)).toBe(true);
        if (isDigestIndex(disk, FOLDER)) await expectKnown(disk, crawl(1));
        await build(disk, crawl(1));
        await expectKnown(disk, crawl(1));
      },
      { aftermathCount: 4 },
    );
    expect(operations).toBeGreaterThan(20);
  });

  it("while something is added leaves what was there, or all", { timeout: 300_000 }, async () => {
    await everyMoment(
      async (disk, look) => {
        await build(disk, crawl(2));
        await look();
      },
      () => undefined,
      async (disk) => {
        if (!isDigestIndex(disk, FOLDER)) expect.fail("an index that was there is gone");
        await expectBeforeOrAfter(disk);
        await build(disk, crawl(2));
        await expectKnown(disk, [...crawl(1), ...crawl(2)]);
      },
      { prepare: (disk) => prepared(disk) },
    );
  });

  it("while it learns, folds and merges takes nothing that was acknowledged", { timeout: 300_000 }, async () => {
    let acknowledged: DigestEntry[] = [];
    await everyMoment(
      async (disk, look) => {
        acknowledged = [];
        for (let round = 0; round < 4; round++) {
          const index = DigestIndex.open(disk, FOLDER, { learning: { settings: SETTINGS, foldAt: 4 } });
          for (let i = 0; i < 5; i++) {
            const pair = [entry(10 * round + i, 1), entry(100 + 10 * round + i, 1)];
            await Promise.all(pair.map((each) => index.learn(each)));
            acknowledged = [...acknowledged, ...pair];
          }
          await index.close();
          await look();
        }
      },
      () => acknowledged,
      async (disk, noted) => {
        if (noted.length === 0) return;
        await expectKnown(disk, noted);
        // And whoever writes next finds it so, and goes on.
        const index = DigestIndex.open(disk, FOLDER, { learning: { settings: SETTINGS } });
        await index.learn(entry(999, 1));
        await index.close();
        await expectKnown(disk, [...noted, entry(999, 1)]);
      },
    );
  });
});

/** `prepare` must be done at once, and building is not: so the index of the first crawl is learned. */
function prepared(disk: Disk): void {
  for (const [path, bytes] of FIRST) {
    disk.makeFolder(FOLDER);
    using file = disk.open(path, "create");
    file.write(bytes, 0);
    file.sync();
    disk.syncFolder(FOLDER);
  }
}

/** The files of an index of the first crawl. */
const FIRST = await (async () => {
  const { ForgetfulDisk: Memory } = await import("../../src/testing/forgetful-disk.ts");
  const disk = new Memory();
  await build(disk, crawl(1));
  return disk.list(FOLDER).flatMap(({ name, kind }) => {
    if (kind !== "file") return [];
    using file = disk.open(`${FOLDER}/${name}`, "read");
    const bytes = Buffer.alloc(file.size());
    file.read(bytes, 0);
    return [[`${FOLDER}/${name}`, bytes] as const];
  });
})();

describe("a full disk", () => {
  it("ends a build with its own error, and the index stays as it was", { timeout: 120_000 }, async () => {
    await everyFullDisk(
      async (disk) => void (await build(disk, crawl(2))),
      async (disk, failure) => {
        if (failure !== undefined) {
          expect(failure).toBeInstanceOf(ArchiveError);
          expect((failure as ArchiveError).code).toBe("HT_NO_SPACE");
        }
        const left = disk.list(FOLDER).map(({ name }) => name);
        expect(left.filter((name) => name.includes("partial"))).toEqual([]);
        await expectBeforeOrAfter(disk);
      },
      { prepare: (disk) => prepared(disk) },
    );
  });
});
