import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COMPRESSIONS, inPieces, mixedBytes } from "../testing/volume-contents.ts";
import { type Codec, Codecs, gather, HELD_SIZE_MAX } from "./codec.ts";

const codecs = await Codecs.load();

async function streamed(bytes: Uint8Array, change: (pieces: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>) {
  return Buffer.from(await gather(change(inPieces(bytes, 1000)), 1 << 30));
}

const encodeStream = (name: string, bytes: Uint8Array) =>
  streamed(bytes, (pieces) => codecs.encode(name, pieces) as AsyncIterable<Uint8Array>);
const decodeStream = (name: string, bytes: Uint8Array, size: number) =>
  streamed(bytes, (pieces) => codecs.decodeAll(name, pieces, size));

describe.each(COMPRESSIONS)("the codec %s", (name) => {
  it("gives back what went in, at once, in pieces, and one after the other way", async () => {
    const encode = (bytes: Uint8Array) => codecs.encode(name, bytes) as Uint8Array;
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), async (bytes) => {
        const content = Buffer.from(bytes);
        expect(Buffer.from(codecs.decode(name, encode(content), content.length)).equals(content)).toBe(true);
        expect((await decodeStream(name, encode(content), content.length)).equals(content)).toBe(true);
        const fromStream = await encodeStream(name, content);
        expect(Buffer.from(codecs.decode(name, fromStream, content.length)).equals(content)).toBe(true);
        expect((await gather(codecs.decodeAll(name, encode(content), content.length), 1 << 20)).length).toBe(
          content.length,
        );
      }),
      { numRuns: 15 },
    );
  });

  it("gives back megabytes", async () => {
    const content = mixedBytes(4_500_000);
    const stored = await encodeStream(name, content);
    expect((await decodeStream(name, stored, content.length)).equals(content)).toBe(true);
    expect(Buffer.from(codecs.decode(name, stored, content.length)).equals(content)).toBe(true);
  });

  it("gives no more than it was told, so that a small lie does not fill the memory", async () => {
    const bomb = codecs.encode(name, Buffer.alloc(5_000_000)) as Uint8Array;
    for (const size of [0, 1, 1000, 4_999_999]) {
      expect(() => codecs.decode(name, bomb, size)).toThrow(expect.objectContaining({ code: "HT_CORRUPT" }));
      await expect(decodeStream(name, bomb, size)).rejects.toMatchObject({ code: "HT_CORRUPT" });
    }
  });

  it("lets the error of a source through", async () => {
    const stored = codecs.encode(name, mixedBytes(50_000)) as Uint8Array;
    async function* breaking() {
      yield* inPieces(stored.subarray(0, 20_000));
      throw new TypeError("the source broke");
    }
    await expect(gather(codecs.decodeAll(name, breaking(), 50_000), 1 << 20)).rejects.toThrow("the source broke");
  });
});

describe.each(COMPRESSIONS.slice(1))("the codec %s", (name) => {
  const content = mixedBytes(5000);
  const stored = codecs.encode(name, content) as Uint8Array;
  const corrupt = { code: "HT_CORRUPT" };

  it("refuses what is not its own, at once and in pieces", async () => {
    for (const garbage of [new Uint8Array(0), Buffer.from("x"), mixedBytes(300, 9), Buffer.alloc(100)]) {
      expect(() => codecs.decode(name, garbage, 1000)).toThrow(expect.objectContaining(corrupt));
      await expect(decodeStream(name, garbage, 1000)).rejects.toMatchObject(corrupt);
    }
  });

  it("refuses what was cut off, wherever it was", async () => {
    for (const size of [1, 2, 9, 10, 100, stored.length - 5, stored.length - 1]) {
      const cut = stored.subarray(0, size);
      expect(() => codecs.decode(name, cut, content.length), `cut at ${size}`).toThrow(
        expect.objectContaining(corrupt),
      );
      await expect(decodeStream(name, cut, content.length), `cut at ${size}`).rejects.toMatchObject(corrupt);
    }
  });
});

/** A codec that knows no streams. */
const turned: Codec = {
  name: "turned",
  encode: (content) => Buffer.from(content).reverse(),
  decode: (stored, sizeMax) => {
    if (stored.length > sizeMax) throw new RangeError("too long");
    return Buffer.from(stored).reverse();
  },
};

describe("codecs", () => {
  it("are known by their names", () => {
    expect(codecs.names).toEqual(expect.arrayContaining([...COMPRESSIONS]));
    expect(codecs.has("zstd")).toBe(true);
    expect(codecs.has("lzma")).toBe(false);
    const unknown = expect.objectContaining({ code: "HT_CODEC" });
    for (const name of ["lzma", "", "constructor", "NONE"]) {
      expect(() => codecs.get(name)).toThrow(unknown);
      expect(() => codecs.decode(name, new Uint8Array(0), 0)).toThrow(unknown);
      expect(() => codecs.encode(name, new Uint8Array(0))).toThrow(unknown);
    }
  });

  it("can be registered, and then stream even where they cannot", async () => {
    const own = await Codecs.load();
    own.register(turned);
    expect(codecs.has("turned")).toBe(false);
    const content = mixedBytes(2000);
    const stored = await gather(own.encode("turned", inPieces(content, 30)), 1 << 20);
    expect(Buffer.from(stored).equals(Buffer.from(content).reverse())).toBe(true);
    expect(
      Buffer.from(await gather(own.decodeAll("turned", inPieces(stored, 70), 2000), 1 << 20)).equals(content),
    ).toBe(true);
    await expect(gather(own.decodeAll("turned", inPieces(stored), 1999), 1 << 20)).rejects.toMatchObject({
      code: "HT_CORRUPT",
    });
  });

  it.each(["none", "turned", "auto", "", "Upper", "with space", "seventeen-letters", "a/b"])(
    "cannot be registered as %j",
    async (name) => {
      const own = await Codecs.load();
      own.register(turned);
      expect(() => own.register({ ...turned, name })).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
    },
  );

  it("gather pieces up to a limit", async () => {
    const bytes = mixedBytes(10_000);
    expect(Buffer.from(await gather(inPieces(bytes, 999), 10_000)).equals(bytes)).toBe(true);
    await expect(gather(inPieces(bytes, 999), 9999)).rejects.toMatchObject({ code: "HT_TOO_LARGE" });
    expect(HELD_SIZE_MAX).toBeGreaterThan(1 << 20);
  });

  it("read what other makers of the same formats wrote", async () => {
    const content = mixedBytes(3000);
    const stored = gzipSync(content, { level: 9 });
    expect(Buffer.from(codecs.decode("gzip", stored, 3000)).equals(content)).toBe(true);
    expect((await decodeStream("gzip", stored, 3000)).equals(content)).toBe(true);
  });
});
