/** Of the suite of volumes: the three modes, where signatures collide. */
import { expect, it } from "vitest";
import type { StoreMode } from "../store/index.ts";
import {
  type Content,
  collect,
  collidingContents,
  collidingWith,
  contentOf,
  encoded,
  inPieces,
  largeTwins,
  mixedBytes,
  retrieve,
  storing,
} from "./volume-contents.ts";
import type { Use } from "./volume-suite.ts";

const [a, b, c] = collidingContents(3) as [Content, Content, Content];
const longer = collidingWith(a);

export function describeModes(use: Use): void {
  const store = (content: Content, mode: StoreMode, compression = "none") =>
    use().volume.store(storing(content, { mode, compression }));
  const read = (overflow: number) => retrieve(use().volume, { signature: a.signature, overflow });

  it("regular: the same signature and size is a duplicate, whatever the bytes", async () => {
    expect(await store(a, "regular")).toMatchObject({ outcome: "new", overflow: 0 });
    expect(await store(b, "regular")).toMatchObject({ outcome: "duplicate", overflow: 0, references: 2 });
    expect(await read(0)).toEqual(a.bytes);
  });

  it("regular: the same signature and another size is not", async () => {
    await store(a, "regular");
    expect(await store(longer, "regular", "zlib")).toMatchObject({ outcome: "new", overflow: 1 });
    expect(await store(longer, "regular")).toMatchObject({ outcome: "duplicate", overflow: 1, references: 2 });
    expect(await store(a, "regular")).toMatchObject({ outcome: "duplicate", overflow: 0, references: 2 });
    expect([await read(0), await read(1)]).toEqual([a.bytes, longer.bytes]);
  });

  it("compare: only the same bytes are a duplicate", async () => {
    for (const [i, content] of [a, b, c, longer].entries()) {
      expect(await store(content, "compare", i % 2 === 0 ? "none" : "gzip")).toMatchObject({
        outcome: "new",
        overflow: i,
      });
    }
    for (const [i, content] of [a, b, c, longer].entries()) {
      const request = storing(content, { mode: "compare", compression: "br", pieceSize: 5 });
      expect(await use().volume.store(request)).toMatchObject({ outcome: "duplicate", overflow: i, references: 2 });
      expect(await read(i)).toEqual(content.bytes);
    }
  });

  it("compare: large contents too, held and in pieces", async () => {
    const one = contentOf("weak8", mixedBytes(1_300_000));
    const twins = largeTwins(one, 2);
    for (const compression of ["none", "zlib"]) {
      for (const [i, content] of [one, ...twins].entries()) {
        const receipt = await use().volume.store(storing(content, { mode: "compare", compression, pieceSize: 90_000 }));
        expect(receipt).toMatchObject({ overflow: i, outcome: compression === "none" ? "new" : "duplicate" });
        const again = await store(content, "compare", compression);
        expect(again).toMatchObject({ overflow: i, outcome: "duplicate" });
      }
    }
    const refer = (content: Content, compression: string) => {
      const data = inPieces(encoded(content, compression), 50_000);
      return use().volume.refer({ ...content, compared: { compression, data } });
    };
    expect(await refer(twins[1]!, "gzip")).toMatchObject({ overflow: 2, references: 5 });
    expect(await refer(one, "none")).toMatchObject({ overflow: 0, references: 5 });
  });

  it("force-new: nothing is a duplicate", async () => {
    for (let i = 0; i < 4; i++) {
      expect(await store(i < 3 ? a : longer, "force-new")).toMatchObject({
        outcome: "new",
        overflow: i,
        references: 1,
      });
    }
    expect((await use().volume.find([a.signature]))[0]).toHaveLength(4);
    expect(await read(3)).toEqual(longer.bytes);
  });

  it("a new block gets the lowest free number, and the others keep theirs", async () => {
    const { volume } = use();
    for (let i = 0; i < 5; i++) await store(a, "force-new");
    for (const overflow of [3, 1]) await volume.remove({ ...a, overflow });
    const numbers = async () => (await volume.find([a.signature]))[0]!.map(({ overflow }) => overflow);
    expect(await numbers()).toEqual([0, 2, 4]);
    expect(await volume.open({ ...a, overflow: 1 })).toBeUndefined();
    expect(await volume.remove({ ...a, overflow: 3 })).toBeUndefined();
    expect((await collect(volume.list())).map(({ overflow }) => overflow)).toEqual([0, 2, 4]);
    await use().reopen?.();
    expect(await store(b, "force-new")).toMatchObject({ overflow: 1 });
    expect(await store(b, "compare")).toMatchObject({ outcome: "duplicate", overflow: 1 });
    expect(await store(longer, "regular")).toMatchObject({ outcome: "new", overflow: 3 });
    await use().volume.remove({ ...a, overflow: 0 });
    expect(await store(a, "regular")).toMatchObject({ outcome: "duplicate", overflow: 1, references: 3 });
    expect(await store(c, "compare")).toMatchObject({ outcome: "new", overflow: 0 });
    expect(await read(1)).toEqual(b.bytes);
    for (const [overflow, count] of [1, 3, 1, 1, 1].entries()) {
      for (let i = 0; i < count; i++) expect(await use().volume.remove({ ...a, overflow })).toBeDefined();
    }
    expect(await use().volume.describe()).toMatchObject({ blocks: 0, references: 0 });
  });

  it("a reference goes to the first block of the size, or to that with the bytes", async () => {
    const { volume } = use();
    await store(a, "force-new");
    await store(b, "force-new");
    await store(longer, "force-new");
    expect(await volume.refer(b)).toMatchObject({ overflow: 0, references: 2 });
    expect(await volume.refer(longer)).toMatchObject({ overflow: 2, references: 2 });
    for (const [compression, references] of [
      ["none", 2],
      ["zstd", 3],
    ] as const) {
      const compared = { compression, data: encoded(b, compression) };
      expect(await volume.refer({ ...b, compared })).toMatchObject({ overflow: 1, references });
    }
    const compared = { compression: "gzip", data: inPieces(encoded(c, "gzip"), 3) };
    expect(await volume.refer({ ...c, compared })).toBeUndefined();
    expect(await volume.describe()).toMatchObject({ blocks: 3, references: 7 });
  });
}
