import { crc32, deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ArchiveError } from "../base/index.ts";
import { createDice } from "../testing/dice.ts";
import { type ByteSource, bufferSource } from "./byte-source.ts";
import { isZip, openZipEntry, readZipEntries, type ZipEntry } from "./zip.ts";

interface Part {
  readonly name: string;
  readonly content: Uint8Array;
  readonly deflated?: boolean;
  /** Sizes and checksum stand behind the data, not before it. */
  readonly descriptor?: boolean;
  /** Sizes and offset stand in the ZIP64 field. */
  readonly wide?: boolean;
  readonly localExtra?: Uint8Array;
  readonly comment?: string;
  readonly flags?: number;
  readonly method?: number;
  /** What the directory says instead of the truth. */
  readonly lies?:
    | { readonly compressedSize?: number; readonly size?: number; readonly headerOffset?: number }
    | undefined;
}

interface ZipOptions {
  readonly comment?: Uint8Array;
  /** The end of the directory in its ZIP64 form too; the old one says nothing. */
  readonly wide?: boolean;
  readonly count?: number;
}

/** Numbers as `[size in bytes, value]`, and bytes as they are. */
function pack(...values: readonly (readonly [1 | 2 | 4 | 8, number] | Uint8Array)[]): Buffer {
  return Buffer.concat(
    values.map((value) => {
      if (value instanceof Uint8Array) return value;
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(BigInt(value[1]));
      return bytes.subarray(0, value[0]);
    }),
  );
}

const UNKNOWN = 0xffffffff;

function buildZip(parts: readonly Part[], options: ZipOptions = {}): Buffer {
  let body = Buffer.alloc(0);
  let directory = Buffer.alloc(0);
  for (const part of parts) {
    const name = Buffer.from(part.name);
    const data = part.deflated === true ? deflateRawSync(part.content) : part.content;
    const crc = crc32(part.content);
    const flags = (part.flags ?? 0) | (part.descriptor === true ? 8 : 0);
    const method = part.method ?? (part.deflated === true ? 8 : 0);
    const told = { compressedSize: data.length, size: part.content.length, headerOffset: body.length, ...part.lies };
    const local = part.descriptor === true ? [0, 0, 0] : [crc, data.length, part.content.length];
    const extra = part.localExtra ?? Buffer.alloc(0);
    const comment = Buffer.from(part.comment ?? "");
    body = Buffer.concat(
      [
        body,
        pack([4, 0x04034b50], [2, 20], [2, flags], [2, method], [4, 0], [4, local[0]!], [4, local[1]!], [4, local[2]!]),
        pack([2, name.length], [2, extra.length], name, extra, data),
        part.descriptor === true ? pack([4, 0x08074b50], [4, crc], [4, data.length], [4, part.content.length]) : "",
      ].map((bytes) => Buffer.from(bytes)),
    );
    const wide = part.wide === true;
    // Another field stands before that of ZIP64.
    const fields = wide
      ? pack(
          [2, 0x5455],
          [2, 5],
          [1, 3],
          [4, 0],
          [2, 1],
          [2, 24],
          [8, told.size],
          [8, told.compressedSize],
          [8, told.headerOffset],
        )
      : Buffer.alloc(0);
    const shown = (value: number): readonly [4, number] => [4, wide ? UNKNOWN : value];
    directory = Buffer.concat([
      directory,
      pack([4, 0x02014b50], [2, 45], [2, 45], [2, flags], [2, method], [4, 0], [4, crc], shown(told.compressedSize)),
      pack(shown(told.size), [2, name.length], [2, fields.length], [2, comment.length], [2, 0], [2, 0], [4, 0]),
      pack(shown(told.headerOffset), name, fields, comment),
    ]);
  }
  const count = options.count ?? parts.length;
  const end64 = pack([4, 0x06064b50], [8, 44], [2, 45], [2, 45], [4, 0], [4, 0], [8, count], [8, count]);
  const wideEnd = pack(end64, [8, directory.length], [8, body.length]);
  const locator = pack([4, 0x07064b50], [4, 0], [8, body.length + directory.length], [4, 1]);
  const comment = options.comment ?? Buffer.alloc(0);
  const end = options.wide
    ? pack(wideEnd, locator, [4, 0x06054b50], [4, 0], [2, 0xffff], [2, 0xffff], [4, UNKNOWN], [4, UNKNOWN])
    : pack([4, 0x06054b50], [4, 0], [2, count], [2, count], [4, directory.length], [4, body.length]);
  return pack(body, directory, end, [2, comment.length], comment);
}

/** Refuses positions that a file would refuse. */
function sourceOf(bytes: Uint8Array): ByteSource {
  const source = bufferSource(bytes, "x.wacz");
  return {
    ...source,
    read(into, position) {
      if (!Number.isSafeInteger(position) || position < 0) throw new RangeError(`position ${position}`);
      return source.read(into, position);
    },
  };
}

function readAll(source: ByteSource, portion = 1000): Buffer {
  const parts: Buffer[] = [];
  const into = Buffer.alloc(portion);
  for (let at = 0, count = -1; count !== 0; at += count) {
    count = source.read(into, at);
    parts.push(Buffer.from(into.subarray(0, count)));
  }
  return Buffer.concat(parts);
}

function unzip(bytes: Uint8Array): [string, Buffer][] {
  const source = sourceOf(bytes);
  return [...readZipEntries(source)].map((entry) => [entry.name, readAll(openZipEntry(source, entry, entry.name))]);
}

const text = Buffer.from("the one specimen that all others refer to; ".repeat(300));
const noise = Buffer.from(createDice(9).bytes(150_000));
const abc = { name: "abc", content: Buffer.from("abc") };

describe("entries are found and read", () => {
  test.each<[string, readonly Part[], ZipOptions?]>([
    ["none", []],
    ["none, ZIP64", [], { wide: true }],
    ["stored", [abc, { name: "noise", content: noise }]],
    [
      "deflated",
      [
        { name: "text", content: text, deflated: true },
        { name: "noise", content: noise, deflated: true },
      ],
    ],
    [
      "empty",
      [
        { name: "e", content: Buffer.alloc(0) },
        { name: "d", content: Buffer.alloc(0), deflated: true },
      ],
    ],
    [
      "with descriptors",
      [
        { ...abc, descriptor: true },
        { name: "t", content: text, deflated: true, descriptor: true },
      ],
    ],
    [
      "with wide sizes",
      [
        { ...abc, wide: true },
        { name: "t", content: text, deflated: true, wide: true },
      ],
    ],
    ["with a wide end", [abc, { name: "t", content: text, deflated: true }], { wide: true }],
    ["with fields in the local header only", [{ ...abc, localExtra: Buffer.alloc(28, 7) }]],
    ["with comments", [{ ...abc, comment: "c".repeat(60_000) }, abc], { comment: Buffer.alloc(65_535, "PK") }],
    ["with an end in the comment", [abc], { comment: pack([4, 0x06054b50], Buffer.alloc(40, 1)) }],
    ["with a whole ZIP in the comment", [abc], { comment: Buffer.concat([buildZip([abc, abc]), Buffer.alloc(3)]) }],
    ["with names in UTF-8", [{ name: "é/☃", content: text }]],
    ["many", Array.from({ length: 3000 }, (_, i) => ({ name: `entry-${i}`.repeat(12), content: Buffer.from(`${i}`) }))],
  ])("%s", (_, parts, options) => {
    const found = unzip(buildZip(parts, options));
    expect(found.map(([name]) => name)).toEqual(parts.map(({ name }) => name));
    expect(found.every(([, content], i) => content.equals(parts[i]!.content))).toBe(true);
  });
});

test("an entry says what it is", () => {
  const bytes = buildZip([
    { name: "t", content: text, deflated: true, wide: true },
    { ...abc, method: 12 },
  ]);
  const [one, other] = [...readZipEntries(sourceOf(bytes))];
  expect(one).toEqual({
    name: "t",
    method: "deflated",
    size: text.length,
    compressedSize: deflateRawSync(text).length,
    crc: crc32(text),
    headerOffset: 0,
  });
  expect(other?.method).toBe("unsupported");
});

test("stored entries can be read anywhere, deflated ones again from the front", () => {
  const bytes = buildZip([
    { name: "s", content: noise },
    { name: "d", content: noise, deflated: true },
  ]);
  const source = sourceOf(bytes);
  const [stored, deflated] = [...readZipEntries(source)].map((entry) => openZipEntry(source, entry, entry.name));
  const into = Buffer.alloc(100);
  expect([stored!.seekable, stored!.size, deflated!.seekable, deflated!.size]).toEqual([
    true,
    150_000,
    false,
    undefined,
  ]);
  for (const at of [149_900, 0, 70_000]) {
    stored!.read(into, at);
    expect(into.equals(noise.subarray(at, at + 100))).toBe(true);
  }
  for (const at of [5, 105, 70_000, 149_900]) {
    expect(deflated!.read(into, at)).toBe(100);
    expect(into.equals(noise.subarray(at, at + 100))).toBe(true);
  }
  expect(deflated!.read(into, 150_000)).toBe(0);
  expect(deflated!.read(into, 160_000)).toBe(0);
  for (const at of [70_000, 0, 149_900, 149_900]) {
    expect(deflated!.read(into, at)).toBe(100);
    expect(into.equals(noise.subarray(at, at + 100))).toBe(true);
  }
});

test("a ZIP in a ZIP", () => {
  const inner = buildZip([{ name: "t", content: text, deflated: true }]);
  const source = sourceOf(buildZip([abc, { name: "inner", content: inner }]));
  const entry = [...readZipEntries(source)][1]!;
  const nested = openZipEntry(source, entry, "inner");
  const [found] = [...readZipEntries(nested)];
  expect(readAll(openZipEntry(nested, found!, "t")).equals(text)).toBe(true);
  const coded = sourceOf(buildZip([{ name: "inner", content: inner, deflated: true }]));
  const [hidden] = [...readZipEntries(coded)];
  expect(() => [...readZipEntries(openZipEntry(coded, hidden!, "inner"))]).toThrow(
    expect.objectContaining({ code: "HT_UNSUPPORTED" }),
  );
});

test.each<[string, Part]>([
  ["encrypted", { ...abc, flags: 1 }],
  ["of another method", { ...abc, method: 14 }],
])("%s entries are refused", (_, part) => {
  const failure = expect.objectContaining({ code: "HT_UNSUPPORTED" }) as Error;
  expect(() => unzip(buildZip([part]))).toThrow(failure);
});

/** Damage shows as an `ArchiveError` or as other bytes; anything else is thrown on. */
function survives(bytes: Uint8Array): "read" | "refused" {
  try {
    unzip(bytes);
    return "read";
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return "refused";
  }
}

const MIXED: readonly Part[] = [
  abc,
  { name: "t", content: text.subarray(0, 400), deflated: true, descriptor: true },
  { ...abc, wide: true, comment: "c" },
];

test.each([{ wide: true }, { wide: false, comment: Buffer.from("the end") }])("cut off anywhere: %j", (options) => {
  const bytes = buildZip(MIXED, options);
  for (let cut = 0; cut < bytes.length - (options.comment?.length ?? 0); cut++) {
    expect(survives(bytes.subarray(0, cut)), `cut at ${cut}`).toBe("refused");
  }
  expect(survives(bytes)).toBe("read");
});

test.each([{ wide: true }, { wide: false }])("flipped bytes: %j", (options) => {
  const bytes = buildZip(MIXED, options);
  for (let at = 0; at < bytes.length; at++) {
    for (const flip of [0x01, 0x80, 0xff]) {
      const copy = Buffer.from(bytes);
      copy[at]! ^= flip;
      survives(copy);
    }
  }
});

test("any bytes", () => {
  const piece = fc.constantFrom(
    buildZip([abc], { wide: true }),
    buildZip([abc]),
    pack([4, 0x06054b50], Buffer.alloc(18, 0xff)),
    pack([4, 0x07064b50], Buffer.alloc(16, 0xff)),
    Buffer.from("PK"),
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.uint8Array({ maxLength: 30 })), { maxLength: 5 }), (parts) => {
      survives(Buffer.concat(parts));
    }),
    { numRuns: 500 },
  );
});

test.each<[string, Part["lies"], stored: "read" | "refused", deflated: "read" | "refused"]>([
  ["a header that is elsewhere", { headerOffset: 1 }, "refused", "refused"],
  ["a header behind the end", { headerOffset: 1_000_000 }, "refused", "refused"],
  ["a header beyond all numbers", { headerOffset: 2 ** 63 }, "refused", "refused"],
  ["a size beyond the end", { compressedSize: 1_000_000, size: 1_000_000 }, "read", "refused"],
  ["a size beyond all numbers", { compressedSize: 2 ** 63, size: 2 ** 63 }, "read", "refused"],
  ["no size", { compressedSize: 0 }, "read", "refused"],
])("%s", (_, lies, stored, deflated) => {
  expect(survives(buildZip([{ ...abc, wide: true, lies }]))).toBe(stored);
  expect(survives(buildZip([{ ...abc, deflated: true, wide: true, lies }]))).toBe(deflated);
});

test("a directory of more entries than there are", () => {
  for (const wide of [false, true]) {
    const source = sourceOf(buildZip([abc], { count: 9, wide }));
    const seen: ZipEntry[] = [];
    const read = () => {
      for (const entry of readZipEntries(source)) seen.push(entry);
    };
    expect(read).toThrow(expect.objectContaining({ code: "HT_ZIP_DATA" }));
    expect(seen.map(({ name }) => name)).toEqual(["abc"]);
  }
});

test("a stream is refused", () => {
  const bytes = buildZip([abc]);
  const streams = [
    { ...sourceOf(bytes), seekable: false },
    { ...sourceOf(bytes), size: undefined },
  ];
  for (const stream of streams) {
    expect(() => [...readZipEntries(stream)]).toThrow(expect.objectContaining({ code: "HT_UNSUPPORTED" }));
  }
});

test.each([
  [buildZip([abc]), true],
  [buildZip([]), true],
  [Buffer.from("PK"), false],
  [Buffer.from("PK\x01\x02"), false],
  [Buffer.from("PK\x03\x06"), false],
  [Buffer.alloc(0), false],
])("what a ZIP begins with", (bytes, expected) => {
  expect(isZip(bytes)).toBe(expected);
});
