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
import type { JournalEnd } from "../catalogue/catalogue-view.ts";
import { appendJournal, checkJournal, type JournalEntry, mendJournal, readJournal } from "./journal.ts";

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

/** A journal with entries of these sizes, of which so many bytes are missing at the end; and what it was after each. */
function journal(sizes: readonly number[], cut: number) {
  const disk = new ForgetfulDisk();
  disk.makeFolder("/");
  const ends: JournalEnd[] = [{ entries: 0 }];
  const lengths: number[] = [];
  const entries = sizes.map((size, i) => entryOf(i, size));
  for (const entry of entries) {
    ends.push(appendJournal(disk, PATH, ends.at(-1)!, [entry]));
    lengths.push(disk.stat(PATH)!.sizeBytes);
  }
  const size = lengths.at(-1)! - cut;
  using file = disk.open(PATH, "update");
  file.truncate(Math.max(0, size));
  return { disk, ends, lengths, whole: entries.filter((_, i) => lengths[i]! <= size) };
}

function textOf(disk: ForgetfulDisk): string {
  using file = disk.open(PATH, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes.toString();
}

function withText(text: string | Buffer): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  using file = disk.open(PATH, "replace");
  file.write(Buffer.from(text as string), 0);
  return disk;
}

const corrupt = expect.objectContaining({ code: "HT_CORRUPT" });

it("has every entry that is whole, however large, and none of what was cut off", () => {
  const sizes = fc.array(fc.oneof(fc.nat(300), fc.integer({ min: 1_000_000, max: 2_200_000 })), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(sizes, fc.oneof(fc.constant(0), fc.nat(2_000_000)), fc.nat(5), (all, cut, count) => {
      const { disk, whole, ends, lengths } = journal(all, cut);
      const known = Math.min(count, whole.length);
      expect([...readJournal(disk, PATH)]).toEqual(whole);
      expect([...readJournal(disk, PATH, known)]).toEqual(whole.slice(known));
      checkJournal(disk, PATH, [ends[known]!]);
      const left = mendJournal(disk, PATH, [ends[known]!]);
      expect(left).toEqual(ends[whole.length]);
      expect(disk.stat(PATH)!.sizeBytes).toBe(whole.length === 0 ? 0 : lengths[whole.length - 1]);
      expect([...readJournal(disk, PATH)]).toEqual(whole);
    }),
    { seed, numRuns: 30 },
  );
});

it("is cut at the first line that is none, of those that nobody knows", () => {
  const { disk, whole, ends, lengths } = journal([10, 20, 30], 0);
  {
    using file = disk.open(PATH, "update");
    file.write(Buffer.alloc(5), lengths[0]! + 3);
  }
  expect(() => mendJournal(disk, PATH, [])).toThrow(corrupt);
  expect(() => mendJournal(disk, PATH, [ends[3]!])).toThrow(corrupt);
  expect(disk.stat(PATH)!.sizeBytes).toBe(lengths[2]);
  expect(() => [...readJournal(disk, PATH)]).toThrow(corrupt);
  mendJournal(disk, PATH, [ends[1]!]);
  expect([...readJournal(disk, PATH)]).toEqual(whole.slice(0, 1));
});

it("is not what it was when any character of it is another, any line is gone, or two have changed places", () => {
  const { disk, ends } = journal([1, 2, 3], 0);
  const text = textOf(disk);
  const known = [ends[3]!];
  const refuse = (changed: string | Buffer, what: string) => {
    const damaged = withText(changed);
    expect(() => checkJournal(damaged, PATH, known), what).toThrow(corrupt);
    expect(() => mendJournal(damaged, PATH, known), what).toThrow(corrupt);
    expect(damaged.stat(PATH)!.sizeBytes, what).toBe(Buffer.byteLength(changed));
  };
  for (let at = 0; at < Buffer.byteLength(text); at++) {
    const changed = Buffer.from(text);
    // A letter stays a letter: what is read can still be parsed.
    changed[at]! ^= 1;
    refuse(changed, `byte ${at}`);
  }
  const lines = text.split("\n").slice(0, -1);
  for (const order of [
    [0, 1],
    [0, 2],
    [1, 2],
    [1, 0, 2],
    [0, 2, 1],
    [0, 1, 1],
  ]) {
    refuse(`${order.map((i) => lines[i]).join("\n")}\n`, `lines ${order.join()}`);
  }
  refuse("", "nothing");
  expect(() => checkJournal(new ForgetfulDisk(), PATH, known)).toThrow(corrupt);
});

it("goes on after lines of an earlier version, which have no checksums and are covered by the next that has one", () => {
  const old = [entryOf(1, 5), entryOf(2, 5)];
  const disk = withText(old.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  const before = mendJournal(disk, PATH, [{ entries: 2 }]);
  const end = appendJournal(disk, PATH, before, [entryOf(3, 5)]);
  expect([...readJournal(disk, PATH)]).toEqual([...old, entryOf(3, 5)]);
  checkJournal(disk, PATH, [{ entries: 2 }, before, end]);
  const text = textOf(disk);
  const rotten = withText(text.replace("a.example", "b.example"));
  expect(() => checkJournal(rotten, PATH, [end])).toThrow(corrupt);
  expect(() => [...readJournal(rotten, PATH)]).toThrow(corrupt);
  // Once there is a checksum, a line without one was written by nobody who knows of the others.
  const after = withText(`${text}${JSON.stringify(entryOf(4, 5))}\n`);
  expect(() => checkJournal(after, PATH, [{ entries: 4 }])).toThrow(corrupt);
  expect(() => [...readJournal(after, PATH)]).toThrow(corrupt);
});

it("never throws anything untyped, whatever stands in it", () => {
  const value = fc.oneof(fc.jsonValue(), fc.constantFrom(null, [], {}, { url: 1 }, [null], [{ url: "x", date: "y" }]));
  const line = fc.oneof(
    fc.string(),
    fc.record({ kind: fc.constantFrom("adopt", "remove", "readmit", "other", 7), captures: value, path: value }),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
      const text = lines.map((each) => (typeof each === "string" ? each : JSON.stringify(each))).join("\n");
      const disk = withText(`${text}\n`);
      try {
        for (const entry of readJournal(disk, PATH)) expect(entry.kind).toBeTypeOf("string");
      } catch (error) {
        expect(error).toMatchObject({ code: "HT_CORRUPT" });
      }
    }),
    { seed, numRuns: 300 },
  );
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
    {
      using file = disk.open(`${FOLDER}/journal.jsonl`, "replace");
      file.write(Buffer.from(`${JSON.stringify({ ...shared, captures: [capture] })}\n`), 0);
      file.sync();
    }
    await rebuild(disk, { acceptLoss: true });
    {
      await using archive = await openReader(disk);
      expect((await capturesOf(archive, gone.uri)).map(({ timeMs }) => timeMs)).toEqual([visits[1]!.timeMs]);
    }
    await using writer = openWriter(disk);
    expect(await writer.add([input])).toMatchObject({ captures: 0, known: 1, removed: 1 });
  },
);
