import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDice } from "../testing/dice.ts";
import { bufferSource } from "./byte-source.ts";
import { WarcReader } from "./reader.ts";
import { type Compression, encodeHead, type NewRecord, WarcWriter, type WriterOptions } from "./writer.ts";
import { loadZstd } from "./zstd-codec.ts";

await loadZstd();

const dictionary = Buffer.from("WARC/1.1\r\nWARC-Type: resource\r\nWARC-Target-URI: http://example.org/".repeat(20));

class MemorySink {
  readonly parts: Buffer[] = [];
  write(bytes: Uint8Array): void {
    this.parts.push(Buffer.from(bytes));
  }
  get bytes(): Buffer {
    return Buffer.concat(this.parts);
  }
}

function writing(options: WriterOptions): { sink: MemorySink; writer: WarcWriter } {
  const sink = new MemorySink();
  return { sink, writer: new WarcWriter(sink, options) };
}

/** What a reader finds, with copies of all bytes. */
function read(bytes: Uint8Array) {
  const reader = new WarcReader(bufferSource(bytes), { strict: true });
  const found = [];
  for (const record of reader) {
    const fields = [...record.headers];
    const parts: Buffer[] = [];
    for (const chunk of record.chunks()) parts.push(Buffer.from(chunk));
    const block = Buffer.concat(parts);
    found.push({ version: record.version, fields, block, offset: record.offset, length: record.length });
  }
  return { found, compression: reader.compression };
}

function newRecord(block: Uint8Array, uri = "http://example.org/"): NewRecord {
  return {
    fields: [
      ["WARC-Type", "resource"],
      ["WARC-Target-URI", uri],
    ],
    block,
  };
}

const WAYS: readonly [string, WriterOptions & { compression: Compression }][] = [
  ["none", { compression: "none" }],
  ["gzip", { compression: "gzip" }],
  ["gzip, stored", { compression: "gzip", level: 0 }],
  ["gzip, best", { compression: "gzip", level: 9 }],
  ["zstd", { compression: "zstd" }],
  ["zstd, best", { compression: "zstd", level: 19 }],
  ["zstd with a dictionary", { compression: "zstd", dictionary }],
];

describe.each(WAYS)("%s", (_, options) => {
  const start = options.dictionary === undefined ? 0 : dictionary.length + 8;

  test("what is written is read as the same, where the writer says it is", () => {
    const value = fc
      .string({ unit: fc.constantFrom("a", ":", "/", "<", ">", " ", "é", "☃"), maxLength: 12 })
      .map((text) => text.trim());
    const record = fc.record({
      fields: fc.array(fc.tuple(fc.constantFrom("WARC-Type", "X-Y", "x_z"), value), { maxLength: 4 }),
      block: fc.uint8Array({ maxLength: 400 }),
      version: fc.constantFrom("WARC/1.0", "WARC/1.1", undefined),
    });
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 5 }), (records) => {
        const { sink, writer } = writing(options);
        const places = records.map((one) => writer.write(one));
        expect(writer.offset).toBe(sink.bytes.length);
        expect(places[0]!.offset).toBe(start);
        const { found, compression } = read(sink.bytes);
        expect(compression).toBe(options.compression);
        expect(found).toEqual(
          records.map(({ fields, block, version }, i) => ({
            version: version ?? "WARC/1.1",
            fields: [...fields, ["Content-Length", String(block.length)]],
            block: Buffer.from(block),
            ...places[i],
          })),
        );
      }),
      { numRuns: 40 },
    );
  });

  test("a record can be read from its offset alone", () => {
    const { sink, writer } = writing(options);
    const places = ["one", "two", "three"].map((text) => writer.write(newRecord(Buffer.from(text), text)));
    for (const [i, { offset, length }] of places.entries()) {
      if (options.dictionary !== undefined) break;
      const { found } = read(sink.bytes.subarray(offset, offset + length));
      expect(found.map(({ block }) => block.toString())).toEqual([["one", "two", "three"][i]]);
    }
    expect(places.map(({ offset }) => offset)).toEqual([start, ...places.map((p) => p.offset + p.length)].slice(0, 3));
  });

  test("the same input gives the same bytes", () => {
    const [one, other] = [1, 2].map(() => {
      const { sink, writer } = writing(options);
      for (let i = 0; i < 20; i++) writer.write(newRecord(Buffer.from(createDice(i).bytes(i * 50))));
      return sink.bytes;
    });
    expect(one!.equals(other!)).toBe(true);
  });

  test("a record in pieces that one buffer holds in turn", () => {
    const { sink, writer } = writing(options);
    const buffer = Buffer.alloc(100_000);
    function* pieces(): Generator<Uint8Array> {
      for (const letter of "abc") yield buffer.fill(letter);
      yield new Uint8Array(0);
    }
    const head = encodeHead("WARC/1.0", [["Content-Length", "300000"]]);
    const place = writer.writeStream(head, pieces());
    const { found } = read(sink.bytes);
    const block = Buffer.concat(["a", "b", "c"].map((letter) => Buffer.alloc(100_000, letter)));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ version: "WARC/1.0", fields: [["Content-Length", "300000"]], ...place });
    expect(found[0]!.block.equals(block)).toBe(true);
  });

  test("a record of more than one frame", () => {
    const { sink, writer } = writing(options.level === 19 ? { ...options, level: 1 } : options);
    const noise = Buffer.from(createDice(1).bytes(1 << 16));
    const block = Buffer.concat(Array.from({ length: 145 }, () => noise));
    const places = [writer.write(newRecord(block)), writer.write(newRecord(Buffer.from("next")))];
    const { found } = read(sink.bytes);
    expect(found.map(({ offset, length }) => ({ offset, length }))).toEqual(places);
    expect(found[0]!.block.equals(block)).toBe(true);
    expect(found[1]!.block.toString()).toBe("next");
    if (options.compression === "zstd") {
      const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
      let frames = 0;
      for (let at = sink.bytes.indexOf(magic); at >= 0; at = sink.bytes.indexOf(magic, at + 4)) frames++;
      expect(frames).toBeGreaterThanOrEqual(4);
    }
  });

  test("a record goes over as it is", () => {
    const from = writing(options);
    const places = ["one", "two"].map((text) => from.writer.write(newRecord(Buffer.from(text))));
    const to = writing(options);
    for (const { offset, length } of places) {
      const place = to.writer.copy(from.sink.bytes.subarray(offset, offset + length));
      expect(place).toEqual({ offset, length });
    }
    expect(to.sink.bytes.equals(from.sink.bytes)).toBe(true);
  });

  test("a file is gone on with where it ended", () => {
    const whole = writing(options);
    const part = writing(options);
    for (const text of ["one", "two"]) whole.writer.write(newRecord(Buffer.from(text)));
    const { length } = part.writer.write(newRecord(Buffer.from("one")));
    const rest = writing({ ...options, offset: start + length });
    const place = rest.writer.write(newRecord(Buffer.from("two")));
    expect(place.offset).toBe(start + length);
    expect(Buffer.concat([part.sink.bytes, rest.sink.bytes]).equals(whole.sink.bytes)).toBe(true);
  });
});

test("uncompressed bytes are just these", () => {
  const { sink, writer } = writing({ compression: "none" });
  const place = writer.write({ ...newRecord(Buffer.from("abc"), "http://é/"), blockDigest: true });
  const text = [
    "WARC/1.1",
    "WARC-Type: resource",
    "WARC-Target-URI: http://é/",
    "WARC-Block-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5",
    "Content-Length: 3",
    "",
    "abc",
    "",
    "",
  ].join("\r\n");
  expect(sink.bytes.toString()).toBe(text);
  expect(place).toEqual({ offset: 0, length: Buffer.byteLength(text) });
});

test("a Content-Length that is there is not added", () => {
  const { sink, writer } = writing({ compression: "none" });
  writer.write({
    fields: [
      ["content-length", "3"],
      ["X", "y"],
    ],
    block: Buffer.from("abc"),
  });
  expect(sink.bytes.toString()).toBe("WARC/1.1\r\ncontent-length: 3\r\nX: y\r\n\r\nabc\r\n\r\n");
});

test("gzip is what Node reads, member by member", () => {
  for (const level of [0, 1, 6, 9]) {
    const { sink, writer } = writing({ level });
    const plain = writing({ compression: "none" });
    const blocks = [
      Buffer.alloc(0),
      Buffer.from("abc"),
      Buffer.from(createDice(2).bytes(200_000)),
      Buffer.alloc(200_000),
    ];
    for (const block of blocks) {
      const { offset, length } = writer.write(newRecord(block));
      const there = plain.writer.write(newRecord(block));
      const member = gunzipSync(sink.bytes.subarray(offset, offset + length));
      expect(member.equals(plain.sink.bytes.subarray(there.offset, there.offset + there.length))).toBe(true);
    }
    expect(gunzipSync(sink.bytes).equals(plain.sink.bytes)).toBe(true);
  }
});

test("the members have no time and no name in them", () => {
  const { sink, writer } = writing({});
  writer.write(newRecord(Buffer.from("abc")));
  expect(sink.bytes.subarray(0, 10)).toEqual(Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]));
});

test("the dictionary stands in a frame of its own at the start", () => {
  const { sink, writer } = writing({ compression: "zstd", dictionary });
  const without = writing({ compression: "zstd" });
  const { length } = writer.write(newRecord(Buffer.from("abc")));
  expect(sink.bytes.readUInt32LE(0)).toBe(0x184d2a5d);
  expect(sink.bytes.readUInt32LE(4)).toBe(dictionary.length);
  expect(sink.bytes.subarray(8, 8 + dictionary.length).equals(dictionary)).toBe(true);
  expect(length).toBeLessThan(without.writer.write(newRecord(Buffer.from("abc"))).length);
  expect(() => writing({ compression: "gzip", dictionary })).toThrow("broken invariant");
});

test.each<[version: string, name: string, value: string]>([
  ["WARC/1.1", "X", "a\r\nWARC-Type: revisit"],
  ["WARC/1.1", "X", "a\nb"],
  ["WARC/1.1", "X", "a\rb"],
  ["WARC/1.1", "X\r\nY", "a"],
  ["WARC/1.1", "X: Y", "a"],
  ["WARC/1.1", "X ", "a"],
  ["WARC/1.1", "", "a"],
  ["WARC/1.1\r\nX: y", "X", "a"],
  ["", "X", "a"],
])("%j %j: %j is refused", (version, name, value) => {
  expect(() => encodeHead(version, [[name, value]])).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
  const { sink, writer } = writing({});
  const record = { version, fields: [[name, value]] as const, block: Buffer.alloc(0) };
  expect(() => writer.write(record)).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
  expect([sink.bytes.length, writer.offset]).toEqual([0, 0]);
});
