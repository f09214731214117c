import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import type { DiskFile } from "./disk.ts";
import { type Committed, type SlotFormat, Slots } from "./slots.ts";

const SIZE = 32;
const PATH = "/file";
const FORMAT: SlotFormat<Committed> = {
  sizeBytes: SIZE,
  encode: ({ generation, end }) => {
    const bytes = Buffer.alloc(SIZE);
    bytes.writeUInt32BE(generation, 0);
    bytes.writeUInt32BE(end, 4);
    bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)) + 1, 8);
    return bytes;
  },
  decode: (bytes) => {
    const isSound = bytes.readUInt32BE(8) === crc32(bytes.subarray(0, 8)) + 1;
    return isSound ? { generation: bytes.readUInt32BE(0), end: bytes.readUInt32BE(4) } : undefined;
  },
};

/** A file with so many commits of ten bytes each, and the numbers of the last two. */
function filled(disk: ForgetfulDisk, commits: number): DiskFile {
  const file = disk.open(PATH, "create");
  const slots = new Slots(file, FORMAT);
  let last = slots.begin({ generation: 0, end: Slots.dataStart(FORMAT) });
  file.sync();
  for (let i = 0; i < commits; i++) last = commit(file, slots, last);
  return file;
}

function commit(file: DiskFile, slots: Slots<Committed>, last: Committed): Committed {
  const start = slots.startAfter(last);
  file.write(Buffer.alloc(10, 1), start);
  const next = { generation: last.generation + 1, end: start + 10 };
  slots.commit(next, last);
  return next;
}

function spoil(file: DiskFile, at: number): void {
  const byte = Buffer.alloc(1);
  file.read(byte, at);
  file.write(Buffer.of(byte[0]! ^ 1), at);
}

describe("two slots", () => {
  it.each([0, 1, 2, 3])("say the same when either of them is damaged; after %i commits", (commits) => {
    for (const slot of [0, 1]) {
      using file = filled(new ForgetfulDisk(), commits);
      const slots = new Slots(file, FORMAT);
      const { end } = slots.read().commits[0]!;
      spoil(file, slot * SIZE + 5);
      const damaged = slots.read();
      expect(damaged.commits[0]).toMatchObject({ end });
      expect(damaged).toMatchObject({ isLost: false, broken: [slot * SIZE] });
      const settled = slots.settle(damaged.commits[0]!);
      expect(slots.read()).toMatchObject({ isLost: false, broken: [] });
      expect(slots.read().commits[0]).toEqual(settled);
      const next = commit(file, slots, settled);
      expect(slots.read().commits[0]).toEqual(next);
    }
  });

  it("lead nowhere when one of them and its copy are damaged, and nowhere when both are", () => {
    using file = filled(new ForgetfulDisk(), 2);
    const slots = new Slots(file, FORMAT);
    const [last, before] = slots.read().commits as [Committed, Committed];
    spoil(file, (last.generation % 2) * SIZE + 1);
    spoil(file, before.end + 1);
    expect(slots.read()).toMatchObject({ isLost: true, commits: [before] });
    spoil(file, (before.generation % 2) * SIZE + 1);
    expect(slots.read()).toMatchObject({ commits: [] });
  });

  it("forget a commit that was given up, and never take it for the next one", () => {
    using file = filled(new ForgetfulDisk(), 2);
    const slots = new Slots(file, FORMAT);
    const [last, before] = slots.read().commits as [Committed, Committed];
    const settled = slots.settle(before);
    expect(settled).toEqual({ ...before, generation: last.generation });
    expect(slots.read().commits.map(({ end }) => end)).toEqual([before.end, before.end]);
  });

  it("have all that was acknowledged after a power cut at any operation, though one rotted before", () => {
    for (const data of ["drop", "tear", "keep"] as const) {
      for (const rotten of [undefined, 0, 1]) {
        for (let stopAt = 1; stopAt <= 8; stopAt++) {
          const before = new ForgetfulDisk();
          const old = filled(before, 3);
          const { generation } = new Slots(old, FORMAT).read().commits[0]!;
          if (rotten !== undefined) spoil(old, rotten * SIZE + 2);
          old.sync();
          const disk = before.reopen({ data: "keep", names: "keep", seed: 1 }, { stopAt });
          let done = generation;
          try {
            using file = disk.open(PATH, "update");
            const slots = new Slots(file, FORMAT);
            const last = slots.settle(slots.read().commits[0]!);
            done = last.generation;
            done = commit(file, slots, last).generation;
          } catch (error) {
            if (!disk.operations.stopped) throw error;
          }
          using file = disk.reopen({ data, names: "keep", seed: stopAt }).open(PATH, "read");
          const { commits, isLost } = new Slots(file, FORMAT).read();
          // A slot that had rotted, and what a power cut left of the next commit, cannot be told from a lost commit.
          if (isLost) expect(rotten).toBeDefined();
          else expect(commits[0]!.generation).toBeGreaterThanOrEqual(done - (rotten === undefined ? 0 : 1));
          expect(commits.length).toBeGreaterThan(0);
        }
      }
    }
  });
});
