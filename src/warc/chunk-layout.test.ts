import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newSeed } from "../testing/dice.ts";
import { ChunkLayoutTracker, cutIntoChunks, measureLayout } from "./chunk-layout.ts";
import { Dechunker } from "./chunked.ts";

function layoutOf(body: string | Uint8Array, pieceSize = 1 << 20): string | undefined {
  const bytes = Buffer.from(body as Uint8Array);
  const tracker = new ChunkLayoutTracker();
  for (let at = 0; at < bytes.length; at += pieceSize) tracker.push(bytes.subarray(at, at + pieceSize));
  return tracker.finish();
}

function cut(payload: string | Uint8Array, layout: string): string {
  return Buffer.concat([...cutIntoChunks([Buffer.from(payload as Uint8Array)], layout)]).toString("latin1");
}

describe("a layout", () => {
  test.each([
    ["0\r\n\r\n", "0"],
    ["5\r\nhello\r\n0\r\n\r\n", "5+0"],
    ["2\r\nhe\r\n2\r\nll\r\n1\r\no\r\n0\r\n\r\n", "2*2+1+0"],
    // How a size is written is part of it: letters, leading zeros.
    ["A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "A+a+0"],
    ["05\r\nhello\r\n5\r\nhello\r\n000\r\n\r\n", "05+5+000"],
    ["1\r\na\r\n2\r\nbc\r\n1\r\nd\r\n0\r\n\r\n", "1+2+1+0"],
  ])("of %j is %s, in pieces of any size", (body, layout) => {
    for (let size = 1; size <= body.length; size++) expect(layoutOf(body, size)).toBe(layout);
  });

  test.each([
    ["nothing", ""],
    ["no chunk", "hello"],
    ["no end", "5\r\nhello\r\n"],
    ["an end cut off", "5\r\nhello\r\n0\r\n\r"],
    ["no blank line", "5\r\nhello\r\n0\r\n"],
    ["bytes behind the end", "5\r\nhello\r\n0\r\n\r\n\r\n"],
    ["a trailer", "5\r\nhello\r\n0\r\nX: y\r\n\r\n"],
    ["an extension", "5;a=b\r\nhello\r\n0\r\n\r\n"],
    ["a blank in a size", "5 \r\nhello\r\n0\r\n\r\n"],
    ["a sign", "+5\r\nhello\r\n0\r\n\r\n"],
    ["no size", "\r\nhello\r\n0\r\n\r\n"],
    ["LF alone behind a size", "5\nhello\r\n0\r\n\r\n"],
    ["LF alone behind a chunk", "5\r\nhello\n0\r\n\r\n"],
    ["CR CR LF", "5\r\r\nhello\r\n0\r\n\r\n"],
    ["a chunk that is too long", "5\r\nhello!\r\n0\r\n\r\n"],
    ["a size of too many digits", `${"0".repeat(14)}5\r\nhello\r\n0\r\n\r\n`],
  ])("is absent where there is %s", (_, body) => {
    for (const size of [1, 2, 3, 100]) expect(layoutOf(body, size)).toBeUndefined();
  });

  test("is absent where it would be longer than it is worth", () => {
    const chunks = (count: number) =>
      Array.from({ length: count }, (_, i) => `${((i % 2) + 1).toString(16)}\r\n${"x".repeat((i % 2) + 1)}\r\n`).join(
        "",
      );
    expect(layoutOf(`${chunks(1000)}0\r\n\r\n`)).toHaveLength(2001);
    expect(layoutOf(`${chunks(1100)}0\r\n\r\n`)).toBeUndefined();
    // A repeated size costs nothing.
    expect(layoutOf(`${"1\r\nx\r\n".repeat(50_000)}0\r\n\r\n`)).toBe("1*50000+0");
  });

  test.each(["", "x", "5+", "5**2+0", "5*x+0", "-5+0", "5*1234567890+0", "+"])("%j is none", (layout) => {
    expect(() => cut("hello", layout)).toThrow(expect.objectContaining({ code: "HT_VERIFY" }));
    expect(() => measureLayout(layout)).toThrow(expect.objectContaining({ code: "HT_VERIFY" }));
  });

  test("that does not fit the payload is refused", () => {
    for (const payload of ["hell", "hello!", ""]) {
      expect(() => cut(payload, "5+0")).toThrow(expect.objectContaining({ code: "HT_VERIFY" }));
    }
    expect(cut("hello", "5+0")).toBe("5\r\nhello\r\n0\r\n\r\n");
  });
});

const SEED = newSeed();

describe(`round trips, seed ${SEED}`, () => {
  const parameters = { seed: SEED, numRuns: 300 };
  const writeSize = (size: number, style: number): string => {
    const hex = size.toString(16);
    return style === 0 ? hex : style === 1 ? hex.toUpperCase() : hex.padStart(style + 2, "0");
  };
  const chunk = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 0, max: 4 }));
  const body = fc.array(chunk, { maxLength: 12 });
  const pieceSizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 });

  function* inPieces(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = sizes[turn % sizes.length]!;
      yield bytes.subarray(at, at + size);
      at += size;
    }
  }

  test("a body comes back from its payload and its layout, however both are fed", () => {
    fc.assert(
      fc.property(body, pieceSizes, pieceSizes, (chunks, storedSizes, payloadSizes) => {
        const parts = chunks.map(([data, style]) =>
          Buffer.concat([Buffer.from(`${writeSize(data.length, style)}\r\n`), data, Buffer.from("\r\n")]),
        );
        const stored = Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
        const tracker = new ChunkLayoutTracker();
        for (const piece of inPieces(stored, storedSizes)) tracker.push(piece);
        const layout = tracker.finish()!;
        const payload = Buffer.concat(chunks.map(([data]) => data));
        const back = Buffer.concat([...cutIntoChunks(inPieces(payload, payloadSizes), layout)]);
        expect(back.equals(stored)).toBe(true);
        expect(measureLayout(layout)).toEqual({ storedSize: stored.length, payloadSize: payload.length });
      }),
      parameters,
    );
  });

  const word = fc.constantFrom(
    "1\r\nx\r\n",
    "2\r\nab\r\n",
    "0\r\n\r\n",
    "0\r\n",
    "\r\n",
    "a\r\n",
    "\r",
    "\n",
    "z",
    "10\r\n",
    ";e",
  );

  test("of whatever bytes: where there is a layout, the body comes back from it; and both readers agree", () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 9 }), pieceSizes, (words, sizes) => {
        const stored = Buffer.from(words.join(""));
        const tracker = new ChunkLayoutTracker();
        const payload: Buffer[] = [];
        const dechunker = new Dechunker((bytes) => void payload.push(Buffer.from(bytes)));
        for (const piece of inPieces(stored, sizes)) {
          tracker.push(piece);
          dechunker.push(piece);
        }
        const layout = tracker.finish();
        const verdict = dechunker.finish();
        if (layout === undefined) return;
        expect(verdict).toBe("complete");
        expect(Buffer.concat([...cutIntoChunks(payload, layout)]).equals(stored)).toBe(true);
      }),
      { ...parameters, numRuns: 1000 },
    );
  });
});
