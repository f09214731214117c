import { inflateRawSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDice } from "../testing/dice.ts";
import { createDeflater, type Deflater, NativeDeflater, PakoDeflater, provesItself } from "./deflater.ts";

function deflate(deflater: Deflater, pieces: Iterable<Uint8Array>): Buffer {
  const parts: Buffer[] = [];
  deflater.deflate(pieces, (bytes) => {
    expect(bytes.length).toBeGreaterThan(0);
    parts.push(Buffer.from(bytes));
  });
  return Buffer.concat(parts);
}

const KINDS: readonly [string, (level: number) => Deflater][] = [
  ["native", (level) => new NativeDeflater(level)],
  ["pako", (level) => new PakoDeflater(level)],
];

const text = Buffer.from("the one specimen that all others refer to; ".repeat(2000));
const noise = Buffer.from(createDice(3).bytes(400_000));

describe.each(KINDS)("%s", (_, create) => {
  test("proves itself", () => {
    expect(provesItself(create)).toBe(true);
  });

  test.each([0, 1, 6, 9])("level %i", (level) => {
    const deflater = create(level);
    for (const bytes of [text, noise, Buffer.alloc(0), text]) {
      const coded = deflate(deflater, [bytes]);
      expect(inflateRawSync(coded).equals(bytes)).toBe(true);
      if (bytes === text && level > 0) expect(coded.length).toBeLessThan(bytes.length / 20);
      if (level === 0) expect(coded.length).toBeGreaterThan(bytes.length);
    }
  });

  test("any content in any pieces, one stream after the other", () => {
    const deflater = create(6);
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }), (pieces) => {
        expect(inflateRawSync(deflate(deflater, pieces)).equals(Buffer.concat(pieces))).toBe(true);
      }),
    );
  });

  test("the same pieces give the same bytes, whatever was compressed before", () => {
    const fresh = deflate(create(6), [text, noise]);
    const used = create(6);
    deflate(used, [noise]);
    expect(deflate(used, [text, noise]).equals(fresh)).toBe(true);
  });

  test("pieces that one buffer holds in turn", () => {
    const buffer = Buffer.alloc(70_000);
    function* pieces(): Generator<Uint8Array> {
      for (const letter of "abc") {
        buffer.fill(letter);
        yield buffer;
      }
    }
    const expected = Buffer.concat(["a", "b", "c"].map((letter) => Buffer.alloc(70_000, letter)));
    expect(inflateRawSync(deflate(create(6), pieces())).equals(expected)).toBe(true);
  });

  test("a stream broken off by its source leaves the next one sound", () => {
    const deflater = create(6);
    function* failing(): Generator<Uint8Array> {
      yield noise;
      throw new Error("source failed");
    }
    expect(() => deflate(deflater, failing())).toThrow("source failed");
    expect(inflateRawSync(deflate(deflater, [text])).equals(text)).toBe(true);
  });
});

describe.each(KINDS)("a wrong one made of %s does not prove itself", (_, create) => {
  const WRONG: readonly [string, (right: Deflater) => Deflater["deflate"]][] = [
    ["throws", () => () => expect.fail("no")],
    ["gives nothing", () => () => undefined],
    ["loses the last piece", (right) => (pieces, emit) => right.deflate([...pieces].slice(0, 1), emit)],
    [
      "loses output behind the first",
      (right) => (pieces, emit) => {
        let first = true;
        right.deflate(pieces, (bytes) => {
          if (first) emit(bytes);
          first = false;
        });
      },
    ],
    [
      "changes a byte",
      (right) => (pieces, emit) => {
        right.deflate(pieces, (bytes) => {
          const copy = Buffer.from(bytes);
          copy[copy.length >> 1]! ^= 0x10;
          emit(copy);
        });
      },
    ],
    [
      "keeps the first stream",
      (right) => {
        let kept: Buffer | undefined;
        return (pieces, emit) => emit((kept ??= deflate(right, pieces)));
      },
    ],
  ];
  test.each(WRONG)("%s", (__, spoil) => {
    expect(provesItself((level) => ({ deflate: spoil(create(level)) }))).toBe(false);
  });
});

test("what cannot even be made does not prove itself", () => {
  expect(provesItself(() => expect.fail("no such thing"))).toBe(false);
});

test("the one that is taken is the native one", () => {
  expect(createDeflater(6)).toBeInstanceOf(NativeDeflater);
});
