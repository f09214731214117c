import { join } from "node:path";
import { open as openLmdb } from "lmdb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ArchiveError } from "../../base/index.ts";
import { nodeDisk, type ScratchFolder, scratchFolder } from "../../disk/index.ts";
import { createDice } from "../../testing/dice.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { checkLmdbPages } from "./lmdb-pages.ts";

const PAGE_SIZE = 4096;
let scratch: ScratchFolder;
let bytes: Buffer;

/** Two tables with branches, values on pages of their own, and pages that are free. */
beforeAll(async () => {
  scratch = scratchFolder(nodeDisk);
  const path = join(scratch.path, "index.lmdb");
  const binary = { encoding: "binary", keyEncoding: "binary" } as const;
  const root = openLmdb<Buffer, Buffer>({ path, maxDbs: 8, noSubdir: true, ...binary });
  const tables = ["blocks", "answers"].map((name) => root.openDB<Buffer, Buffer>({ name, ...binary }));
  const dice = createDice(3);
  for (let round = 0; round < 4; round++) {
    await root.batch(() => {
      for (let i = 0; i < 300; i++) void tables[0]!.put(Buffer.from(dice.bytes(32)), Buffer.alloc(60, i));
      for (let i = 0; i < 3; i++) void tables[1]!.put(Buffer.from([round, i]), Buffer.alloc(9000, i));
    });
  }
  await root.flushed;
  await root.close();
  using file = nodeDisk.open(path, "read");
  bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
});
afterAll(() => scratch.remove());

/** What is thrown; absent where nothing is. */
function check(changed: Buffer): unknown {
  const disk = new ForgetfulDisk();
  using file = disk.open("/index.lmdb", "create");
  file.write(changed, 0);
  try {
    checkLmdbPages(disk, "/index.lmdb", "do something");
    return undefined;
  } catch (error) {
    return error;
  }
}

function changedAt(at: number, bit = 1): Buffer {
  const changed = Buffer.from(bytes);
  changed[at]! ^= bit;
  return changed;
}

/** Of the newer meta page. */
function metaAt(): number {
  const transaction = (page: number) => bytes.readBigUInt64LE(page * PAGE_SIZE + 152);
  return transaction(1) > transaction(0) ? PAGE_SIZE : 0;
}

const rootOf = (table: number) => Number(bytes.readBigUInt64LE(metaAt() + 48 + 48 * table + 40)) * PAGE_SIZE;

describe("the pages of an index", () => {
  it("hold together as they were written", () => {
    expect(check(bytes)).toBeUndefined();
    expect(check(Buffer.alloc(0))).toBeUndefined();
  });

  it.each<[string, () => Buffer]>([
    ["a first page of another kind", () => changedAt(18, 8)],
    ["another version", () => changedAt(29, 4)],
    ["another size of pages", () => changedAt(51, 16)],
    ["another magic in the second page", () => changedAt(PAGE_SIZE + 25)],
    ["half of a first page", () => bytes.subarray(0, 100)],
    ["a root behind the end", () => changedAt(metaAt() + 96 + 42)],
    ["a last page behind the end", () => changedAt(metaAt() + 146)],
    ["a root with another number", () => changedAt(rootOf(1))],
    ["a root of a transaction to come", () => changedAt(rootOf(1) + 13)],
    ["a root of another kind", () => changedAt(rootOf(1) + 18, 3)],
    ["a root with more entries than it has room for", () => changedAt(rootOf(1) + 21, 0x40)],
    ["an entry outside of its page", () => changedAt(rootOf(1) + 25, 0x40)],
  ])("do not with %s", (_, damage) => {
    expect(check(damage())).toMatchObject({ code: "HT_CORRUPT", message: /do something$/ });
  });

  it("are damaged or sound, whichever bits are changed, and never anything else", () => {
    const dice = createDice(4);
    let damaged = 0;
    for (let i = 0; i < 600; i++) {
      const [high, middle, low, bit] = dice.bytes(4) as unknown as [number, number, number, number];
      const found = check(changedAt(((high << 16) | (middle << 8) | low) % bytes.length, 1 << (bit & 7)));
      if (found === undefined) continue;
      expect(found).toBeInstanceOf(ArchiveError);
      damaged++;
    }
    expect(damaged).toBeGreaterThan(10);
  });
});
