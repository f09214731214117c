import fc from "fast-check";
import { expect, it } from "vitest";
import { digestOf } from "../../base/index.ts";
import {
  capturesOf,
  FOLDER,
  makeInput,
  openReader,
  openWriter,
  rebuild,
  type Visit,
  visitBytes,
  visitId,
} from "../../testing/archive-fixture.ts";
import { noise } from "../../testing/capture-text.ts";
import { newSeed } from "../../testing/dice.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { appendJournal, type JournalEntry, mendJournal, readJournal } from "./journal.ts";

const seed = newSeed();
const PATH = "/journal.jsonl";

function entryOf(number: number, size: number): JournalEntry {
  const capture = {
    url: `http://a.example/é${"x".repeat(size)}`,
    date: "2020-01-01T00:00:00Z",
    sha256: null,
    id: null,
  };
  return { kind: "remove", time: "2026-01-01T00:00:00Z", reason: `${number}`, selection: "", captures: [capture] };
}

/** A journal with entries of these sizes, of which so many bytes are missing at the end. */
function journal(sizes: readonly number[], cut: number) {
  const disk = new ForgetfulDisk();
  disk.makeFolder("/");
  const entries = sizes.map((size, i) => entryOf(i, size));
  for (const entry of entries) appendJournal(disk, PATH, [entry]);
  const size = disk.stat(PATH)!.sizeBytes;
  using file = disk.open(PATH, "update");
  file.truncate(Math.max(0, size - cut));
  const ends = entries.map((_, i) => entries.slice(0, i + 1).reduce((sum, each) => sum + bytesOf(each), 0));
  return { disk, whole: entries.filter((_, i) => ends[i]! <= size - cut) };
}

function bytesOf(entry: JournalEntry): number {
  return Buffer.byteLength(JSON.stringify(entry)) + 1;
}

it("has every entry that is whole, however large, and none of what was cut off", () => {
  const sizes = fc.array(fc.oneof(fc.nat(300), fc.integer({ min: 1_000_000, max: 2_200_000 })), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(sizes, fc.oneof(fc.constant(0), fc.nat(2_000_000)), fc.nat(5), (all, cut, known) => {
      const { disk, whole } = journal(all, cut);
      expect([...readJournal(disk, PATH)]).toEqual(whole);
      expect([...readJournal(disk, PATH, known)]).toEqual(whole.slice(known));
      mendJournal(disk, PATH, Math.min(known, whole.length));
      expect(disk.stat(PATH)!.sizeBytes).toBe(whole.reduce((sum, entry) => sum + bytesOf(entry), 0));
      expect([...readJournal(disk, PATH)]).toEqual(whole);
    }),
    { seed, numRuns: 30 },
  );
});

it("is cut at the first line that is none, of those that nobody knows", () => {
  const { disk, whole } = journal([10, 20, 30], 0);
  {
    using file = disk.open(PATH, "update");
    file.write(Buffer.alloc(5), bytesOf(whole[0]!) + 3);
  }
  mendJournal(disk, PATH, undefined);
  expect(() => [...readJournal(disk, PATH)]).toThrow(expect.objectContaining({ code: "HT_CORRUPT" }));
  mendJournal(disk, PATH, 1);
  expect([...readJournal(disk, PATH)]).toEqual(whole.slice(0, 1));
});

/** Marks of record id and payload digest, as earlier versions wrote them, or none. */
it.each(["without a mark", "with the mark of before"] as const)(
  "holds an entry of an earlier version %s: what was removed then stays so",
  async (form) => {
    const disk = new ForgetfulDisk();
    const payload = noise("page", 900);
    const visits = [1, 2].map((day): Visit => ({ uri: "http://a.example/", timeMs: Date.UTC(2020, 0, day), payload }));
    const input = makeInput(disk, visits.map(visitBytes));
    {
      await using writer = openWriter(disk);
      await writer.add([input]);
    }
    const [gone] = visits as [Visit];
    const id = visitId(gone);
    const mark = "79669c214a1fc09a";
    const capture = {
      url: gone.uri,
      date: "2020-01-01T00:00:00Z",
      sha256: digestOf("sha256", payload).hex,
      id,
      ...(form === "without a mark" ? {} : { source: 1, mark }),
    };
    const shared = { kind: "remove", time: "2026-01-01T00:00:00Z", reason: "a test", selection: "" } as const;
    appendJournal(disk, `${FOLDER}/journal.jsonl`, [{ ...shared, captures: [capture] }]);
    await rebuild(disk, { acceptLoss: true });
    {
      await using archive = await openReader(disk);
      expect((await capturesOf(archive, gone.uri)).map(({ timeMs }) => timeMs)).toEqual([visits[1]!.timeMs]);
    }
    await using writer = openWriter(disk);
    expect(await writer.add([input])).toMatchObject({ captures: 0, known: 1, removed: 1 });
  },
);
