/** Catalogues of bytes that nobody wrote, or that have changed: refused by an error of ours, or read as they were. */
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ArchiveError } from "../base/index.ts";
import { newSeed } from "../testing/dice.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { openRows, openRowsToRead } from "./row-store.ts";

const SEED = newSeed();
const FOLDER = "/store";
const FILE = `${FOLDER}/catalogue.rows`;
const COUNT = 300;

function filled(commits: number): { disk: ForgetfulDisk; whole: Buffer } {
  const disk = new ForgetfulDisk();
  {
    using store = openRows(disk, FOLDER);
    for (let n = 0; n < commits; n++) {
      const part = Array.from({ length: COUNT / commits }, (_, i) => [`key ${n} ${i}`, Buffer.from(`${i}`)] as const);
      store.commit(new Map(part));
    }
  }
  using file = disk.open(FILE, "read");
  const whole = Buffer.alloc(file.size());
  file.read(whole, 0);
  return { disk, whole };
}

function put(disk: ForgetfulDisk, bytes: Buffer): void {
  using file = disk.open(FILE, "replace");
  file.write(bytes, 0);
}

/** How many rows are found; absent where the catalogue is refused as it should be. */
function countRows(disk: ForgetfulDisk): number | undefined {
  try {
    using reader = openRowsToRead(disk, FOLDER);
    const view = reader.view();
    for (const at of ["", "key 0 7", "z"]) {
      view.get(at);
      view.first(at, "~");
      view.first("", at, true);
    }
    expect([...view.range("", "~", true)]).toBeDefined();
    return [...view.range("", "~")].length;
  } catch (error) {
    if (!(error instanceof ArchiveError) || error.code !== "HT_CORRUPT") throw error;
    expect(error.message).toContain("holotype rebuild");
    return undefined;
  }
}

test.each([1, 3])(
  "no byte of a slot can change and leave an earlier commit in its place; after %i commits",
  (commits) => {
    const { disk, whole } = filled(commits);
    for (let at = 0; at < 2048; at += 5) {
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 0x40;
      put(disk, bytes);
      expect(countRows(disk), `byte ${at}`).toBe(COUNT);
    }
  },
);

test("nor while somebody writes, or after who wrote was killed", () => {
  const disk = new ForgetfulDisk();
  using store = openRows(disk, FOLDER);
  for (let n = 1; n <= 4; n++) {
    store.commit(new Map([[`key ${n}`, Buffer.from("value")]]));
    using file = disk.open(FILE, "read");
    const whole = Buffer.alloc(file.size());
    file.read(whole, 0);
    for (let at = 0; at < 2048; at += 5) {
      const left = new ForgetfulDisk();
      left.makeFolder(FOLDER);
      const bytes = Buffer.from(whole);
      bytes[at]! ^= 0x40;
      put(left, bytes);
      expect(countRows(left), `byte ${at}`).toBe(n);
      // The next writer mends the slot, and goes on from the same commit.
      {
        using writer = openRows(left, FOLDER);
        writer.commit(new Map([["later", Buffer.from("value")]]));
      }
      expect(countRows(left), `byte ${at}`).toBe(n + 1);
    }
  }
});

test("the same holds for a copy", () => {
  const { disk } = filled(3);
  {
    using store = openRows(disk, FOLDER);
    store.copyTo("/copy");
  }
  for (let at = 0; at < 2048; at += 5) {
    using file = disk.open("/copy/catalogue.rows", "update");
    const byte = Buffer.alloc(1);
    file.read(byte, at);
    file.write(Buffer.of(byte[0]! ^ 0x40), at);
    {
      using reader = openRowsToRead(disk, "/copy");
      expect([...reader.view().range("", "~")], `byte ${at}`).toHaveLength(COUNT);
    }
    file.write(byte, at);
  }
});

/** Numbers of which each is at some edge. */
const number = fc.oneof(fc.constantFrom(0, 1, 2047, 2048, 2 ** 31, 2 ** 32 - 1, 2 ** 47, 2 ** 48 - 1), fc.nat(20_000));

test(`slots and indexes that hold their checksums, and say anything, are no danger; seed ${SEED}`, () => {
  const { disk, whole } = filled(3);
  const changes = fc.array(fc.tuple(fc.nat(30), number), { minLength: 1, maxLength: 4 });
  const inIndex = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 });
  fc.assert(
    fc.property(changes, inIndex, fc.boolean(), (inSlots, inIndexes, isSlot) => {
      const bytes = Buffer.from(whole);
      // Fields of six bytes from the generation on; the count of runs by chance too.
      if (isSlot) {
        for (const [field, value] of inSlots) bytes.writeUIntBE(value, 8 + 6 * field, 6);
        if (inSlots.length === 4) bytes.writeUInt16BE(inSlots[0]![1] % 65_536, 6);
        bytes.writeUInt32BE(crc32(bytes.subarray(0, 1020)), 1020);
        bytes.copy(bytes, 1024, 0, 1024);
      } else {
        const slot = whole.subarray(0, 1024);
        const [start, indexAt, end] = [0, 6, 12].map((at) => slot.readUIntBE(20 + at, 6)) as [number, number, number];
        for (const [from, to] of [[indexAt, end] as const, [start, indexAt] as const]) {
          for (const [at, value] of inIndexes) bytes[from + (at % (to - from - 4))] = value;
          bytes.writeUInt32BE(crc32(bytes.subarray(from, to - 4)), to - 4);
        }
      }
      put(disk, bytes);
      countRows(disk);
    }),
    { seed: SEED, numRuns: 400 },
  );
});

test("what could not be read again is not written", () => {
  const disk = new ForgetfulDisk();
  using store = openRows(disk, FOLDER);
  const refused = expect.objectContaining({ code: "HT_TOO_LARGE" });
  expect(() => store.commit(new Map([["k".repeat(70_000), Buffer.alloc(1)]]))).toThrow(refused);
});
