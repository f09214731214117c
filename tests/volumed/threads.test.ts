/** Large contents are verified and compared in threads. They are started from what was built, and so is this. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import type * as Store from "../../src/store/index.ts";
import { contentOf, encoded, inPieces, mixedBytes } from "../../src/testing/volume-contents.ts";
import { put, ROOT, temporaryFolder } from "../cli/holotype.ts";

const built = (await import(pathToFileURL(join(ROOT, "dist", "store", "index.js")).href)) as typeof Store;

const folder = temporaryFolder();
/** Says where it is asked to work. */
const TELLING = `import { isMainThread } from "node:worker_threads";
const tell = () => { throw new Error(isMainThread ? "in the main thread" : "in a thread"); };
export const codec = { encode: (content) => content, decode: tell };
`;
const telling = { name: "telling", module: put(folder, "telling.mjs", TELLING) };

const threads = new built.ContentThreads([telling], 2);
afterAll(() => threads[Symbol.asyncDispose]());
const codecs = await built.Codecs.load();
codecs.register(await built.loadCodec(telling.name, telling.module));
codecs.useThreads(threads);

const large = contentOf("sha256", mixedBytes(900_000));
const verify = (data: Store.BlockData, compression: string, lie: object = {}) => {
  const claim = { signature: large.signature, size: large.size, compression, ...lie };
  const pieces = data instanceof Uint8Array ? inPieces(data, 100_000) : data;
  return built.verifyContentStream(codecs, "sha256", claim, pieces);
};

describe("verifying", () => {
  it.each(["none", "zlib", "gzip", "br", "zstd"])("takes what %s made, and nothing else", async (compression) => {
    const data = encoded(large, compression);
    const lied = { code: "HT_SIGNATURE" };
    await verify(data, compression);
    await Promise.all([1, 2, 3, 4, 5].map(() => verify(data, compression)));
    await expect(verify(data, compression, { signature: "0".repeat(64) })).rejects.toMatchObject(lied);
    await expect(verify(data, compression, { size: large.size - 1 })).rejects.toMatchObject(lied);
    await expect(verify(data, compression, { size: large.size + 1 })).rejects.toMatchObject(lied);
    await expect(verify(data.subarray(0, data.length - 9), compression)).rejects.toMatchObject(lied);
    await expect(verify(data, "lzma")).rejects.toMatchObject({ code: "HT_CODEC" });
  });

  it("is done in a thread where it is large, and at once where it is not", async () => {
    await expect(verify(large.bytes, "telling")).rejects.toThrow("in a thread");
    await expect(verify(large.bytes, "telling", { size: 1000 })).rejects.toThrow("in the main thread");
    const held = () => built.verifyHeld(codecs, "sha256", { ...large, compression: "none" }, large.bytes);
    expect(held()).toBeInstanceOf(Promise);
    await held();
    const small = contentOf("sha256", "small");
    expect(built.verifyHeld(codecs, "sha256", { ...small, compression: "none" }, small.bytes)).toBeUndefined();
  });

  it("hands on the error of its source, and goes on with others", async () => {
    async function* breaking() {
      for await (const piece of inPieces(large.bytes.subarray(0, 300_000), 50_000)) yield piece;
      throw new Error("the source broke");
    }
    const all = await Promise.allSettled([
      verify(breaking(), "none"),
      verify(large.bytes, "none"),
      verify(breaking(), "gzip"),
    ]);
    expect(all.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
    expect((all[0] as PromiseRejectedResult).reason).toMatchObject({ message: "the source broke" });
    await verify(large.bytes, "none");
  });
});

describe("comparing", () => {
  const other = Buffer.from(large.bytes);
  other[other.length - 1]! ^= 1;
  const compressed = (bytes: Buffer, compression: string, pieceSize?: number) => {
    const data = encoded(contentOf("sha256", bytes), compression);
    return { compression, size: bytes.length, data: pieceSize === undefined ? data : inPieces(data, pieceSize) };
  };

  it("finds the last byte that differs, however both are compressed and cut", async () => {
    for (const [one, two] of [
      ["none", "none"],
      ["gzip", "zstd"],
      ["br", "none"],
    ] as const) {
      const same = built.equalContents(codecs, compressed(large.bytes, one, 70_000), compressed(large.bytes, two));
      const different = built.equalContents(codecs, compressed(large.bytes, one), compressed(other, two, 33_333));
      expect([await same, await different]).toEqual([true, false]);
    }
  });

  it("is done in a thread", async () => {
    const asked = built.equalContents(codecs, compressed(large.bytes, "none"), {
      ...compressed(large.bytes, "none", 90_000),
      compression: "telling",
    });
    await expect(asked).rejects.toThrow("in a thread");
  });
});
