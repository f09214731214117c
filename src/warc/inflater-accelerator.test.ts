import { crc32 } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { drippingSource, readArchive, readArchiveLater, type SeenArchive } from "../testing/archive-reading.ts";
import { createDice } from "../testing/dice.ts";
import { type GoldenArchive, goldenArchives } from "../testing/golden-archive.ts";
import { gzipMember } from "../testing/gzip-member.ts";
import { loadFrames } from "../testing/zstd-frame.ts";
import { gzipHeaderSize } from "./gzip-stream.ts";
import { createInflater } from "./inflater.ts";
import {
  loadAccelerator,
  type MemberInflater,
  type MemberVerdict,
  provesMembers,
  setAccelerator,
  takeAccelerator,
} from "./inflater-accelerator.ts";
import { loadZstd } from "./zstd-codec.ts";

await Promise.all([loadFrames(), loadZstd()]);

/** An accelerator that is none: what libdeflate does, done with the inflater, so that every machine can test with it. */
class StandIn implements MemberInflater {
  taken = 0;
  given = 0;
  calls = 0;
  private readonly inflater = createInflater();
  private room = Buffer.alloc(0);

  inflate(input: Buffer, from: number, to: number, output: Buffer, at: number, limit: number): MemberVerdict {
    this.calls++;
    const headerSize = gzipHeaderSize(input, from, to);
    if (headerSize <= 0) return "broken";
    const { inflater } = this;
    // The inflater sees an end only where there is room left.
    const roomSize = limit - at + 1;
    if (this.room.length < roomSize) this.room = Buffer.alloc(roomSize);
    inflater.reset();
    if (!inflater.inflate(input, from + headerSize, to, this.room, 0, roomSize)) return "broken";
    const content = this.room.subarray(0, inflater.given);
    content.copy(output, at, 0, limit - at);
    const trailer = from + headerSize + inflater.taken;
    if (!inflater.ended) return content.length === roomSize ? "no room" : "broken";
    if (trailer + 8 > to || input.readUInt32LE(trailer) !== crc32(content)) return "broken";
    if (input.readUInt32LE(trailer + 4) !== content.length) return "broken";
    this.taken = trailer + 8 - from;
    this.given = content.length;
    return "whole";
  }
}

const libdeflate = loadAccelerator();
const KINDS: readonly [string, () => MemberInflater][] = [["stand-in", () => new StandIn()]];
const PRESENT = libdeflate === undefined ? KINDS : [...KINDS, ["libdeflate", () => libdeflate] as const];

afterEach(() => setAccelerator(undefined));

/** What is read without an accelerator, and with one. */
function readBothWays(bytes: Buffer, accelerator: MemberInflater): [plain: SeenArchive, fast: SeenArchive] {
  setAccelerator(undefined);
  const plain = readArchive(bytes);
  setAccelerator(accelerator);
  return [plain, readArchive(bytes)];
}

const archives = goldenArchives().filter(({ bytes }) => bytes.includes(Buffer.from([0x1f, 0x8b, 8])));

describe.each(PRESENT)("%s", (_, create) => {
  test("proves itself", () => {
    expect(provesMembers(create())).toBe(true);
  });

  test.each(archives)("$name: cut anywhere it reads the same", ({ bytes }) => {
    const accelerator = create();
    for (let cut = 1; cut <= bytes.length; cut += 5) {
      const [plain, fast] = readBothWays(bytes.subarray(0, cut), accelerator);
      expect(fast, `cut at ${cut}`).toEqual(plain);
    }
  });

  test.each(archives)("$name: with a bit flipped it reads the same, or what was there before", (archive) => {
    const accelerator = create();
    const sound = readArchive(archive.bytes);
    for (let bit = 0; bit < archive.bytes.length * 8; bit += 41) {
      const [plain, fast] = readBothWays(flipped(archive, bit), accelerator);
      // libdeflate forgives some faults in the tables of a member, if checksum and size of the content are right.
      const forgiven = plain.warnings.some(({ code }) => code === "HT_GZIP_DATA");
      if (forgiven && fast.records.length > plain.records.length) expect(fast).toEqual(sound);
      else expect(fast, `bit ${bit}`).toEqual(plain);
    }
  });

  test("small portions, later, make no difference", async () => {
    setAccelerator(create());
    for (const { bytes } of archives) {
      expect(await readArchiveLater(drippingSource(bytes, 100))).toEqual(readArchive(bytes));
    }
  });

  test("members of all sizes around those of the windows", () => {
    const accelerator = create();
    const noise = Buffer.from(createDice(3).bytes(3 << 20));
    const record = (size: number, content: Buffer) =>
      gzipMember(
        Buffer.concat([
          Buffer.from(`WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: ${size}\r\n\r\n`),
          content.subarray(0, size),
          Buffer.from("\r\n\r\n"),
        ]),
      );
    const sizes = [0, 1, 300_000, 700_000, (1 << 20) - 64, 1 << 20, 1_100_000, 3 << 20, 5];
    for (const content of [noise, Buffer.alloc(3 << 20, "x")]) {
      const [plain, fast] = readBothWays(Buffer.concat(sizes.map((size) => record(size, content))), accelerator);
      expect(fast).toEqual(plain);
      expect(fast.records.map(({ size }) => size)).toEqual(sizes);
      expect(fast.warnings).toEqual([]);
    }
  });
});

function flipped({ bytes }: GoldenArchive, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3]! ^= 1 << (bit & 7);
  return copy;
}

/** Accelerators that look right and are not. */
const WRONG: readonly [string, (right: StandIn, ...args: Parameters<StandIn["inflate"]>) => MemberVerdict][] = [
  ["throws", () => expect.fail("no")],
  ["never succeeds", () => "broken"],
  ["always succeeds", (right, ...args) => (right.inflate(...args), "whole")],
  ["takes a byte too few", (right, ...args) => after(right.inflate(...args), () => right.taken--)],
  ["gives a byte too few", (right, ...args) => after(right.inflate(...args), () => right.given--)],
  ["changes a byte", (right, ...args) => after(right.inflate(...args), () => (args[3][args[4] + 5]! ^= 1))],
  ["writes before its room", (right, ...args) => after(right.inflate(...args), () => (args[3][args[4] - 1] = 0))],
  ["writes behind its room", (right, ...args) => after(right.inflate(...args), () => (args[3][args[5]] = 0))],
  [
    "takes what is behind the input",
    (right, input, from, _, ...rest) => right.inflate(input, from, input.length, ...rest),
  ],
  ["reads no names in headers", (right, ...args) => (args[0][args[1] + 3] === 0 ? right.inflate(...args) : "broken")],
];

function after(verdict: MemberVerdict, action: () => unknown): MemberVerdict {
  action();
  return verdict;
}

test.each(WRONG)("one that %s does not prove itself", (_, inflate) => {
  const right = new StandIn();
  const wrong: MemberInflater = {
    get taken() {
      return right.taken;
    },
    get given() {
      return right.given;
    },
    inflate: (...args) => inflate(right, ...args),
  };
  expect(provesMembers(wrong)).toBe(false);
});

const SMALL = gzipMember(Buffer.from("WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 2\r\n\r\nhi\r\n\r\n"));

describe("the accelerator is", () => {
  test("asked once for each member that fits", () => {
    const standIn = new StandIn();
    setAccelerator(standIn);
    expect(readArchive(Buffer.concat(Array.from({ length: 9 }, () => SMALL))).records).toHaveLength(9);
    expect(standIn.calls).toBe(9);
  });

  test("not asked in strict mode, nor by who does not want it", () => {
    const standIn = new StandIn();
    setAccelerator(standIn);
    expect(readArchive(SMALL, { strict: true }).records).toHaveLength(1);
    expect(readArchive(SMALL, { accelerate: false }).records).toHaveLength(1);
    expect(standIn.calls).toBe(0);
    expect(readArchive(SMALL, { strict: true, accelerate: true }).records).toHaveLength(1);
    expect(standIn.calls).toBe(1);
  });

  test("asked no more where it fails too often", () => {
    const calls: number[] = [];
    const failing = {
      taken: 0,
      given: 0,
      inflate: (_: Buffer, from: number, to: number) => (calls.push(to - from), "broken"),
    };
    setAccelerator(failing as MemberInflater);
    const bytes = Buffer.concat(Array.from({ length: 40_000 }, () => SMALL));
    expect(readArchive(bytes).records).toHaveLength(40_000);
    expect(calls.reduce((sum, size) => sum + size, 0)).toBeLessThan((10 << 20) + bytes.length);
  });

  test("looked for once, when enough has been read", async () => {
    vi.resetModules();
    const openLibdeflate = vi.fn(() => new StandIn());
    vi.doMock("./inflater-libdeflate.ts", () => ({ openLibdeflate }));
    const fresh = await import("./inflater-accelerator.ts");
    expect(fresh.takeAccelerator(1 << 20)).toBeUndefined();
    expect(openLibdeflate).not.toHaveBeenCalled();
    const found = fresh.takeAccelerator(1 << 20);
    expect(found).toBeInstanceOf(StandIn);
    expect(fresh.takeAccelerator(100 << 20)).toBe(found);
    expect(openLibdeflate).toHaveBeenCalledTimes(1);
    vi.doUnmock("./inflater-libdeflate.ts");
    vi.resetModules();
  });

  test("not looked for where one has been chosen, or none", () => {
    setAccelerator(undefined);
    expect(takeAccelerator(1 << 30)).toBeUndefined();
  });
});

describe("the tests of the reader, with an accelerator", async () => {
  beforeEach(() => setAccelerator(libdeflate ?? new StandIn()));
  await import("./reader.test.ts");
  await import("./reader.property.test.ts");
});
