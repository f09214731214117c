/** The records of a bulk stream come out the same however the stream is cut, and what is no record comes out as an error. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArchiveError } from "../../base/index.ts";
import { RECORD_HEAD_SIZE_MAX, RecordParser } from "./record-parser.ts";
import { RecordReader } from "./record-reader.ts";

const HELD = 64;

interface Written {
  readonly fields: readonly (readonly [string, string])[];
  readonly block: Uint8Array;
}

interface Read {
  readonly fields: Readonly<Record<string, string>>;
  readonly block: string;
  readonly isWhole: boolean;
}

const records = fc.array(
  fc.record({
    fields: fc.uniqueArray(
      fc.tuple(fc.stringMatching(/^x-[a-z]{1,8}$/), fc.stringMatching(/^(?:[!-~](?:[ -~]{0,20}[!-~])?)?$/)),
      { selector: ([name]) => name, maxLength: 4 },
    ),
    // Around the size from which on a block comes in pieces, and with line ends that could be taken for separators.
    block: fc.oneof(
      fc.uint8Array({ maxLength: 2 * HELD }),
      fc.constantFrom("\r\n\r\n", "\r\n\r\nWARC/1.1\r\n", "\n", "").map((text) => Buffer.from(text)),
    ),
  }),
  { maxLength: 6 },
);

function encode(all: readonly Written[]): Buffer {
  return Buffer.concat(
    all.flatMap(({ fields, block }) => [
      Buffer.from(
        `WARC/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join("")}Content-Length: ${block.length}\r\n\r\n`,
      ),
      block,
      Buffer.from("\r\n\r\n"),
    ]),
  );
}

/** The bytes in pieces that end at these places. */
function split(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
}

function parse(pieces: readonly Uint8Array[]): Read[] {
  const parser = new RecordParser({ heldSizeMax: HELD });
  const found: Read[] = [];
  let open: { fields: Record<string, string>; parts: Uint8Array[] } | undefined;
  for (const piece of pieces) {
    parser.push(piece);
    for (let event = parser.next(); event !== undefined; event = parser.next()) {
      if (event.kind === "begin") open = { fields: Object.fromEntries(event.head.fields), parts: [] };
      else if (event.kind === "piece") open!.parts.push(event.bytes);
      else if (event.kind === "record") found.push(read(event.head.fields, event.block, true));
      else found.push(read(new Map(Object.entries(open!.fields)), Buffer.concat(open!.parts), false));
    }
  }
  parser.finish();
  return found;
}

function read(fields: ReadonlyMap<string, string>, block: Uint8Array, isWhole: boolean): Read {
  return { fields: Object.fromEntries(fields), block: Buffer.from(block).toString("hex"), isWhole };
}

function expected({ fields, block }: Written): Read {
  const all = [...fields, ["content-length", String(block.length)] as const];
  return read(new Map(all), block, block.length <= HELD);
}

describe("a stream of records", () => {
  it("comes out as it went in, wherever it is cut", () => {
    fc.assert(
      fc.property(records, fc.array(fc.nat(), { maxLength: 40 }), (all, places) => {
        expect(parse(split(encode(all), places))).toEqual(all.map(expected));
      }),
    );
  });

  it("comes out byte by byte too", () => {
    fc.assert(
      fc.property(records, (all) => {
        expect(parse([...encode(all)].map((byte) => Uint8Array.of(byte)))).toEqual(all.map(expected));
      }),
      { numRuns: 30 },
    );
  });

  it("that ends anywhere but between records is cut off, and gives the records before", async () => {
    await fc.assert(
      fc.asyncProperty(records, fc.nat(), async (all, place) => {
        const bytes = encode(all);
        const at = place % (bytes.length + 1);
        const { found, error } = await readAll([bytes.subarray(0, at)]);
        const whole = all.filter((_, i) => encode(all.slice(0, i + 1)).length <= at);
        expect(found).toEqual(whole.map(expected));
        const isBetween = encode(whole).length === at;
        expect(error?.code).toBe(isBetween ? undefined : "HT_CUT_OFF");
      }),
    );
  });

  it("of any other bytes ends in a typed error, not in a hang or a crash", async () => {
    const almost = fc
      .tuple(records, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 8 }))
      .map(([all, at, noise]) => {
        const bytes = encode(all);
        bytes.set(
          noise.subarray(0, bytes.length),
          bytes.length === 0 ? 0 : at % Math.max(1, bytes.length - noise.length),
        );
        return bytes;
      });
    await fc.assert(
      fc.asyncProperty(fc.oneof(almost, fc.uint8Array({ maxLength: 300 })), async (bytes) => {
        const { error } = await readAll([bytes]);
        if (error !== undefined) expect(["HT_USAGE", "HT_CUT_OFF"]).toContain(error.code);
      }),
    );
  });

  it("goes on behind a large record that was not read", async () => {
    await fc.assert(
      fc.asyncProperty(records, fc.array(fc.nat(), { maxLength: 20 }), fc.nat(3), async (all, places, taken) => {
        const { found } = await readAll(split(encode(all), places), taken);
        expect(found.map(({ fields }) => fields)).toEqual(all.map((record) => expected(record).fields));
      }),
    );
  });
});

/** With a reader; of records in pieces only `taken` pieces are read. */
async function readAll(pieces: readonly Uint8Array[], taken = Number.POSITIVE_INFINITY) {
  async function* chunks() {
    for (const piece of pieces) yield await Promise.resolve(piece);
  }
  const reader = new RecordReader(chunks(), { heldSizeMax: HELD });
  const found: Read[] = [];
  try {
    do {
      for (let record = reader.take(); record !== undefined; record = reader.take()) {
        const { head, data } = record;
        const parts: Uint8Array[] = data instanceof Uint8Array ? [data] : [];
        if (!(data instanceof Uint8Array)) {
          let count = 0;
          if (taken > 0) {
            for await (const part of data) {
              parts.push(part);
              count++;
              if (count >= taken) break;
            }
          }
          await reader.skip();
        }
        found.push(read(head.fields, Buffer.concat(parts), data instanceof Uint8Array));
      }
    } while (await reader.fill());
    return { found, error: undefined };
  } catch (error) {
    expect(error).toBeInstanceOf(ArchiveError);
    return { found, error: error as ArchiveError };
  }
}

describe("what is no record", () => {
  const head = "WARC/1.1\r\nContent-Length: 0";
  it.each([
    ["another version", "WARC/2.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n"],
    ["no version", "Content-Length: 0\r\n\r\n\r\n\r\n"],
    ["no length", "WARC/1.1\r\nA: b\r\n\r\n\r\n\r\n"],
    ["a negative length", "WARC/1.1\r\nContent-Length: -1\r\n\r\n\r\n\r\n"],
    ["a length in hex", "WARC/1.1\r\nContent-Length: 0x10\r\n\r\n\r\n\r\n"],
    ["a length beyond counting", `WARC/1.1\r\nContent-Length: ${"9".repeat(16)}\r\n\r\n\r\n\r\n`],
    ["two lengths", `${head}\r\nContent-Length: 0\r\n\r\n\r\n\r\n`],
    ["two lengths in different letters", `${head}\r\ncontent-length: 0\r\n\r\n\r\n\r\n`],
    ["a line without colon", `${head}\r\nfield\r\n\r\n\r\n\r\n`],
    ["a folded line", `${head}\r\n more\r\n\r\n\r\n\r\n`],
    ["a blank in a name", `${head}\r\nfield : value\r\n\r\n\r\n\r\n`],
    ["a lone line feed", `${head}\nA: b\r\n\r\n\r\n\r\n`],
    ["a lone carriage return", `${head}\rA: b\r\n\r\n\r\n\r\n`],
    ["a zero byte", `${head}\r\nA: \0\r\n\r\n\r\n\r\n`],
    ["no separator", `${head}\r\n\r\nWARC/1.1\r\n`],
    ["half a separator", `${head}\r\n\r\n\r\nWA`],
  ])("is refused: %s", (_, text) => {
    for (const pieces of [[Buffer.from(text)], [...Buffer.from(text)].map((byte) => Uint8Array.of(byte))]) {
      expect(() => parse(pieces)).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
    }
  });

  it("is refused: a header without end, before it fills the memory", () => {
    const parser = new RecordParser();
    parser.push(Buffer.from("WARC/1.1\r\n"));
    const line = Buffer.from(`A: ${"b".repeat(995)}\r\n`);
    expect(() => {
      for (let size = 0; size < 2 * RECORD_HEAD_SIZE_MAX; size += line.length) {
        expect(parser.next()).toBeUndefined();
        parser.push(line);
      }
    }).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
  });
});
