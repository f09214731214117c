import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Warning } from "../base/index.ts";
import { createDurably } from "../disk/index.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { encodeHead, WarcWriter } from "../warc/index.ts";
import type { Input } from "./inputs.ts";
import { type Part, runPart, splitInput, wholePart } from "./part.ts";
import type { RecordTask } from "./task.ts";

const PATH = "/a.warc.gz";

function diskWith(bytes: Uint8Array): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  createDurably(disk, PATH, (output) => output.write(bytes));
  return disk;
}

function inputOf(size: number | undefined): Input {
  return { name: PATH, path: PATH, entries: [], size };
}

/** A file with a record for each of the blocks, every one a stored gzip member. */
function fileOf(blocks: readonly Uint8Array[]): Buffer {
  const parts: Buffer[] = [];
  const writer = new WarcWriter({ write: (bytes) => void parts.push(Buffer.from(bytes)) }, { level: 0 });
  for (const block of blocks) writer.write({ fields: [["WARC-Type", "resource"]], block });
  return Buffer.concat(parts);
}

/** Tells the offset of every record. */
const TASK: RecordTask = { record: (record) => `${record.offset} ` };

interface Ran {
  readonly first: number | undefined;
  readonly next: number | undefined;
  readonly text: string;
  readonly records: number;
  readonly warnings: readonly Warning[];
}

async function run(disk: ForgetfulDisk, part: Part): Promise<Ran> {
  const warnings: Warning[] = [];
  const firsts: (number | undefined)[] = [];
  let text = "";
  const result = await runPart(disk, part, TASK, {
    onFirst: (offset) => firsts.push(offset),
    onText: (more) => {
      expect(firsts).toHaveLength(1);
      text += more;
    },
    onWarning: (warning) => {
      expect(firsts).toHaveLength(1);
      warnings.push(warning);
    },
    onProgress: () => {},
  });
  expect(result.error).toBeUndefined();
  expect(firsts).toHaveLength(1);
  return { first: firsts[0], next: result.next, text, records: result.records, warnings };
}

describe("splitting", () => {
  const gzip = diskWith(gzipSync("x"));
  const MB = 1 << 20;

  it("leaves files whole that are small, not gzip, or of unknown size", () => {
    expect(splitInput(gzip, inputOf(64 * MB - 1))).toEqual([wholePart(inputOf(64 * MB - 1))]);
    expect(splitInput(diskWith(Buffer.from("WARC/1.0\r\n")), inputOf(100 * MB))).toHaveLength(1);
    expect(splitInput(gzip, inputOf(undefined))).toHaveLength(1);
  });

  it.each([64 * MB, 64 * MB + 1, 96 * MB, 96 * MB - 1, 1000 * MB])("covers %i bytes without a gap", (size) => {
    const parts = splitInput(gzip, inputOf(size));
    expect(parts.length).toBe(Math.ceil(size / (16 * MB)));
    expect(parts[0]).toMatchObject({ start: 0, search: false });
    expect(parts.at(-1)!.end).toBe(Number.POSITIVE_INFINITY);
    for (const [i, part] of parts.slice(1).entries())
      expect(part).toMatchObject({ start: parts[i]!.end, search: true });
  });
});

describe("parts of a file", () => {
  const file = fileOf([Buffer.from("one"), Buffer.alloc(300, "two "), Buffer.alloc(0), Buffer.from("four")]);
  const disk = diskWith(file);
  const input = inputOf(file.length);

  it("meet wherever the file is cut, and together are the whole", async () => {
    const whole = await run(disk, wholePart(input));
    expect(whole).toMatchObject({ first: 0, next: undefined, records: 4, warnings: [] });
    for (let cut = 1; cut < file.length; cut++) {
      const before = await run(disk, { input, start: 0, end: cut, search: false });
      const behind = await run(disk, { input, start: cut, end: Number.POSITIVE_INFINITY, search: true });
      expect(behind.first).toBe(before.next);
      expect(before.text + behind.text).toBe(whole.text);
      expect([...before.warnings, ...behind.warnings]).toEqual([]);
    }
  });

  it("have no record where one record reaches over them", async () => {
    const [, second, third] = (await run(disk, wholePart(input))).text.split(" ").map(Number);
    const middle = await run(disk, { input, start: second! + 1, end: third! - 1, search: true });
    expect(middle).toMatchObject({ first: third, next: third, records: 0, text: "" });
  });

  it("do not meet where a payload looks like a member, and can be done again from where they should", async () => {
    const head = encodeHead("WARC/1.0", [["Content-Length", "0"]]);
    const bait = gzipSync(head, { level: 0 });
    const baited = fileOf([Buffer.from("one"), Buffer.concat([bait, bait, bait]), Buffer.from("three")]);
    const disk = diskWith(baited);
    const input = inputOf(baited.length);
    const whole = await run(disk, wholePart(input));
    let fooled = 0;
    for (let cut = 1; cut < baited.length; cut++) {
      const before = await run(disk, { input, start: 0, end: cut, search: false });
      const last = { input, end: Number.POSITIVE_INFINITY };
      let behind = await run(disk, { ...last, start: cut, search: true });
      if (behind.first !== before.next) {
        fooled++;
        behind = await run(disk, { ...last, start: before.next!, search: false });
      }
      expect(before.text + behind.text).toBe(whole.text);
    }
    expect(fooled).toBeGreaterThan(bait.length);
  });
});

describe("a part", () => {
  it("that cannot be read says why, and throws nothing", async () => {
    const disk = diskWith(Buffer.from("Nothing of an archive in here.\n"));
    const events = { onFirst: () => {}, onText: () => {}, onWarning: () => {}, onProgress: () => {} };
    const unknown = await runPart(disk, wholePart(inputOf(31)), TASK, events);
    expect(unknown).toMatchObject({ next: undefined, records: 0, error: { code: "HT_FORMAT_UNKNOWN" } });
    const absent = { ...inputOf(1), path: "/absent" };
    expect(await runPart(disk, wholePart(absent), TASK, events)).toMatchObject({ error: { code: "HT_NOT_FOUND" } });
  });

  it("tells damage only after its first record, or that it has none", async () => {
    const file = fileOf([Buffer.from("one"), Buffer.from("two")]);
    file[20]! ^= 0xff;
    const { warnings, records } = await run(diskWith(file), wholePart(inputOf(file.length)));
    expect(warnings.length).toBeGreaterThan(0);
    expect(records).toBeGreaterThan(0);
    const none = await run(diskWith(file.subarray(0, 15)), wholePart(inputOf(15)));
    expect(none).toMatchObject({ first: undefined, records: 0 });
    expect(none.warnings.length).toBeGreaterThan(0);
  });
});
