/**
 * What docs/operating/backup.md says: an archive is copied file by file, in small pieces and in its order, while somebody
 * writes. The copy has all that was acknowledged before it began, is sound, and can be written to.
 */
import { describe, expect, it } from "vitest";
import type { ArchiveWriter } from "../../src/archive/index.ts";
import type { Disk } from "../../src/disk/index.ts";
import {
  all,
  diagnose,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  rebuild,
  type Visit,
  visitBytes,
} from "../../src/testing/archive-fixture.ts";
import { noise } from "../../src/testing/capture-text.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";

const PIECE = 700;
const STEPS = 24;
const urlOf = (step: number) => `http://a.example/${step}`;
const visit = (step: number, day: number): Visit => ({
  uri: urlOf(step),
  timeMs: Date.UTC(2020, 0, 1 + day),
  // Every third content was there before.
  payload: noise(`content ${day === 0 || step % 3 > 0 ? step : step - 1}`, 500),
});

/** What is there, and what was removed and did not come back, as of so many steps. */
interface Known {
  readonly there: Set<number>;
  readonly removed: Set<number>;
}

/** Adds a page; from time to time adopts one, takes one out, or takes one back. */
async function step(disk: Disk, writer: ArchiveWriter, number: number, known: Known): Promise<void> {
  const input = makeInput(disk, [visitBytes(visit(number, 0)), visitBytes(visit(number, 1))], "/holdings");
  if (number % 5 === 4) await writer.adopt([input]);
  else await writer.add([input]);
  known.there.add(number);
  const old = number - 3;
  if (number % 4 === 3 && known.there.delete(old)) {
    await writer.remove({ url: urlOf(old) }, { reason: "asked" });
    known.removed.add(old);
  }
}

/** Copies a file as it is now and as it becomes while pieces of it are copied. */
async function copyFile(from: Disk, to: Disk, path: string, meanwhile: () => Promise<void>): Promise<void> {
  if (from.stat(path) === undefined) return;
  using source = from.open(path, "read");
  using target = to.open(path, "replace");
  const piece = Buffer.alloc(PIECE);
  for (let at = 0, count = source.read(piece, at); count > 0; count = source.read(piece, at)) {
    target.write(piece.subarray(0, count), at);
    at += count;
    await meanwhile();
  }
}

/** The order of the page. */
async function copyArchive(from: Disk, to: Disk, meanwhile: () => Promise<void>): Promise<void> {
  const segments = `${FOLDER}/volumes/0/segments`;
  to.makeFolder(segments);
  await copyFile(from, to, `${FOLDER}/archive.json`, meanwhile);
  for (const { name } of from.list(segments)) await copyFile(from, to, `${segments}/${name}`, meanwhile);
  await copyFile(from, to, `${FOLDER}/journal.jsonl`, meanwhile);
  to.makeFolder("/holdings");
  for (const { name } of from.list("/holdings")) await copyFile(from, to, `/holdings/${name}`, () => Promise.resolve());
}

async function pagesIn(disk: Disk): Promise<Set<number>> {
  await using archive = await openReader(disk);
  const captures = await all(archive.captures({}));
  return new Set(captures.map(({ url }) => Number(url.slice(urlOf(0).length - 1))));
}

describe("a copy that is made while somebody writes", { timeout: 120_000 }, () => {
  it.each([1, 2, 5, 9, 14, 20])("is sound, and has all that was there before; begun after %i steps", async (begun) => {
    const disk = new ForgetfulDisk();
    const copy = new ForgetfulDisk();
    const known: Known = { there: new Set(), removed: new Set() };
    let number = 0;
    // Small segments, so that many come and go on while they are copied.
    await using writer = openWriter(disk, { segmentSizeBytes: 4000, commitChangeCount: 7 });
    while (number < begun) await step(disk, writer, number++, known);
    const before = { there: new Set(known.there), removed: new Set(known.removed) };
    const pieces = { count: 0 };
    await copyArchive(disk, copy, async () => {
      if (pieces.count++ % 3 === 0 && number < STEPS) await step(disk, writer, number++, known);
    });
    expect(number).toBeGreaterThan(begun);
    await rebuild(copy);
    expect(await diagnose(copy)).toEqual([]);
    const found = await pagesIn(copy);
    // What was removed while it was copied may be gone or not.
    for (const page of before.there) if (!known.removed.has(page)) expect(found, `page ${page}`).toContain(page);
    for (const page of before.removed) expect(found, `page ${page}`).not.toContain(page);
    // It goes on from there: what came later is added again, and what is there is skipped.
    {
      await using again = openWriter(copy, { segmentSizeBytes: 4000 });
      const report = await again.add(copy.list("/holdings").map(({ name }) => inputAt(copy, `/holdings/${name}`)));
      expect(report.skipped).toBe(0);
    }
    expect(await diagnose(copy)).toEqual([]);
    expect(await pagesIn(copy)).toEqual(known.there);
  });
});

function inputAt(disk: Disk, path: string) {
  return { name: path, path, entries: [], size: disk.stat(path)!.sizeBytes };
}
