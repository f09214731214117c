/** Of the suite of volumes: contents, counters, and what is not taken. */
import { expect, it } from "vitest";
import { REFERENCES_MAX } from "../store/index.ts";
import {
  COMPRESSIONS,
  collect,
  contentIn,
  contentOf,
  encoded,
  inPieces,
  mixedBytes,
  retrieve,
  storing,
} from "./volume-contents.ts";
import type { Use } from "./volume-suite.ts";

const page = contentOf("sha256", "<h1>A drawer of beetles</h1>".repeat(20));
const other = contentOf("sha256", "<h1>A drawer of moths</h1>");
const large = contentOf("sha256", mixedBytes(3 << 20));

export function describeStoring(use: Use): void {
  it("a new content in a block of its own", async () => {
    const { volume } = use();
    const stored = encoded(page, "zlib");
    const { signature, size } = page;
    const info = { signature, overflow: 0, size, storedSize: stored.length, compression: "zlib", references: 1 };
    expect(await volume.store(storing(page, { compression: "zlib" }))).toEqual({ ...info, outcome: "new" });
    expect(await volume.find([signature, other.signature])).toEqual([[info], []]);
    const { data, ...header } = (await volume.open(info))!;
    expect(header).toEqual(info);
    expect(Buffer.from(data as Uint8Array).equals(stored)).toBe(true);
    expect(await volume.describe()).toMatchObject({
      signature: "sha256",
      state: "writable",
      blocks: 1,
      contentBytes: size,
      storedBytes: stored.length,
      references: 1,
    });
  });

  it("a known content by counting, however it is compressed this time", async () => {
    const { volume } = use();
    const first = await volume.store(storing(page, { compression: "gzip" }));
    for (const [i, compression] of ["zstd", "none", "gzip"].entries()) {
      const receipt = await volume.store(storing(page, { compression }));
      expect(receipt).toEqual({ ...first, outcome: "duplicate", references: i + 2 });
    }
    expect(await volume.refer(page)).toEqual({ ...first, outcome: "duplicate", references: 5 });
    expect(await retrieve(volume, first)).toEqual(page.bytes);
    expect(await volume.describe()).toMatchObject({ blocks: 1, references: 5, contentBytes: page.size });
  });

  it.each(COMPRESSIONS)("with %s, at once and in pieces, from nothing to more than a megabyte", async (compression) => {
    const { volume } = use();
    for (const [i, size] of [0, 1, 1000, 1_200_000].entries()) {
      for (const [j, pieceSize] of [undefined, 7, 90_000].entries()) {
        if (pieceSize === 7 && size > 1000) continue;
        const content = contentOf("sha256", mixedBytes(size, 10 * i + j));
        const receipt = await volume.store(storing(content, { compression, ...(pieceSize && { pieceSize }) }));
        expect(receipt).toMatchObject({ compression, size, outcome: size < 2 && j > 0 ? expect.anything() : "new" });
        expect((await retrieve(volume, receipt))!.equals(content.bytes)).toBe(true);
      }
    }
  });

  it.each(["none", "zlib"])("three megabytes with %s in pieces, known the second time", async (compression) => {
    const { volume } = use();
    const request = () => storing(large, { compression, pieceSize: 65_536 });
    expect(await volume.store(request())).toMatchObject({ outcome: "new", size: large.size });
    expect(await volume.store(request())).toMatchObject({ outcome: "duplicate", references: 2 });
    expect((await retrieve(volume, { ...large, overflow: 0 }))!.equals(large.bytes)).toBe(true);
  });

  it("under a signature in small letters, which become capitals", async () => {
    const { volume } = use();
    const small = { ...page, signature: page.signature.toLowerCase() };
    expect(await volume.store(storing(small))).toMatchObject({ signature: page.signature });
    expect(await volume.refer(small)).toMatchObject({ signature: page.signature, references: 2 });
    expect((await volume.find([small.signature]))[0]).toHaveLength(1);
  });

  it("nothing for a reference to what is not there", async () => {
    const { volume } = use();
    expect(await volume.refer(page)).toBeUndefined();
    await volume.store(storing(page));
    expect(await volume.refer({ ...page, size: page.size + 1 })).toBeUndefined();
    expect(await volume.refer(other)).toBeUndefined();
    expect(await volume.describe()).toMatchObject({ blocks: 1, references: 1 });
  });

  it("until the last reference is taken back", async () => {
    const { volume } = use();
    const receipt = await volume.store(storing(page));
    await volume.refer(page);
    const { outcome: _, ...info } = receipt;
    expect(await volume.remove(receipt)).toEqual({ ...info, references: 1 });
    expect(await retrieve(volume, receipt)).toEqual(page.bytes);
    expect(await volume.remove(receipt)).toEqual({ ...info, references: 0 });
    expect(await volume.open(receipt)).toBeUndefined();
    expect(await volume.find([page.signature])).toEqual([[]]);
    expect(await volume.remove(receipt)).toBeUndefined();
    expect(await volume.refer(page)).toBeUndefined();
    expect(await volume.describe()).toMatchObject({ blocks: 0, contentBytes: 0, storedBytes: 0, references: 0 });
    expect(await volume.store(storing(page))).toMatchObject({ outcome: "new", references: 1 });
  });

  it("no new content when it is read-only, and counts, removes and serves what it has", async () => {
    const fixture = use();
    const { volume } = fixture;
    const receipt = await volume.store(storing(page));
    await fixture.setState("read-only");
    expect(await volume.describe()).toMatchObject({ state: "read-only" });
    await expect(volume.store(storing(other))).rejects.toMatchObject({ code: "HT_READ_ONLY" });
    await expect(volume.store(storing(large, { pieceSize: 65_536 }))).rejects.toMatchObject({ code: "HT_READ_ONLY" });
    await expect(volume.store(storing(page, { mode: "force-new" }))).rejects.toMatchObject({ code: "HT_READ_ONLY" });
    expect(await volume.store(storing(page))).toMatchObject({ outcome: "duplicate", references: 2 });
    expect(await volume.refer(page)).toMatchObject({ references: 3 });
    expect(await retrieve(volume, receipt)).toEqual(page.bytes);
    expect(await volume.remove(receipt)).toMatchObject({ references: 2 });
    expect(await volume.find([other.signature, large.signature])).toEqual([[], []]);
    await fixture.setState("writable");
    expect(await volume.store(storing(other))).toMatchObject({ outcome: "new" });
  });

  it("as many references as 32 bits count, and not one more", async () => {
    const { volume } = use();
    const adopted = { ...page, overflow: 0, storedSize: page.size, compression: "none", data: page.bytes };
    const formerKeys = [`7-${page.signature}`];
    await volume.adopt({ ...adopted, references: REFERENCES_MAX - 1, formerKeys, requestId: "adoption" });
    expect(await volume.refer(page)).toMatchObject({ references: REFERENCES_MAX });
    await expect(volume.refer(page)).rejects.toMatchObject({ code: "HT_TOO_LARGE" });
    await expect(volume.store(storing(page))).rejects.toMatchObject({ code: "HT_TOO_LARGE" });
    expect(await volume.find([page.signature])).toMatchObject([[{ references: REFERENCES_MAX }]]);
    expect(await volume.remove({ ...page, overflow: 0 })).toMatchObject({ references: REFERENCES_MAX - 1 });
    expect(await volume.describe()).toMatchObject({ references: REFERENCES_MAX - 1 });
  });

  it("everything so that it is there when the volume is opened again", async () => {
    const fixture = use();
    if (fixture.reopen === undefined) return;
    const contents = [page, other, large];
    for (const content of contents) await fixture.volume.store(storing(content, { compression: "br" }));
    await fixture.volume.refer(page);
    await fixture.volume.remove({ ...other, overflow: 0 });
    await fixture.setState("read-only");
    const before = [await collect(fixture.volume.list()), await fixture.volume.describe()];
    await fixture.reopen();
    expect([await collect(fixture.volume.list()), await fixture.volume.describe()]).toEqual(before);
    expect(before[1]).toMatchObject({ state: "read-only", blocks: 2, references: 3 });
    expect((await retrieve(fixture.volume, { ...large, overflow: 0 }))!.equals(large.bytes)).toBe(true);
  });
}

export function describeBadInput(use: Use): void {
  /** Refused, and nothing is there afterwards; the same content is taken when it is told right. */
  async function refused(request: Parameters<ReturnType<Use>["volume"]["store"]>[0], error: object): Promise<void> {
    const { volume } = use();
    await expect(volume.store({ ...request, requestId: "request" })).rejects.toMatchObject(error);
    expect(await volume.describe()).toMatchObject({ blocks: 0, contentBytes: 0, storedBytes: 0, references: 0 });
    expect(await collect(volume.list())).toEqual([]);
    const again = await volume.store(storing(page, { requestId: "request" }));
    expect(again).toMatchObject({ outcome: "new", references: 1 });
    expect(await retrieve(volume, again)).toEqual(page.bytes);
  }

  it("a signature that is not that of the content", async () => {
    await refused({ ...storing(page), signature: other.signature }, { code: "HT_SIGNATURE" });
    await expect(use().volume.store({ ...storing(page), signature: other.signature })).rejects.toMatchObject({
      code: "HT_SIGNATURE",
    });
    expect(await use().volume.find([page.signature])).toMatchObject([[{ references: 1 }]]);
  });

  it.each([-1, 1])("a size that is off by %i", async (lie) => {
    await refused({ ...storing(page, { compression: "zlib" }), size: page.size + lie }, { code: "HT_SIGNATURE" });
  });

  it("lies about what comes in pieces", async () => {
    const request = (pieces: number) => storing(large, { compression: "gzip", pieceSize: pieces });
    const { volume } = use();
    const lies = [{ signature: page.signature }, { size: large.size - 1 }, { size: large.size + 1 }];
    for (const lie of lies) {
      await expect(volume.store({ ...request(70_000), ...lie })).rejects.toMatchObject({ code: "HT_SIGNATURE" });
    }
    await refused({ ...request(1000), size: 10 }, { code: "HT_SIGNATURE" });
  });

  it.each(["zlib", "gzip", "br", "zstd"])("what %s has not made", async (compression) => {
    const garbage = Buffer.from("not compressed at all, by no means");
    const { volume } = use();
    const request = { ...storing(page), compression, data: garbage };
    await expect(volume.store({ ...request, data: inPieces(garbage, 5) })).rejects.toMatchObject({
      code: "HT_SIGNATURE",
    });
    await refused(request, { code: "HT_SIGNATURE" });
  });

  it("what was cut off", async () => {
    const whole = encoded(large, "zlib");
    const cut = whole.subarray(0, whole.length - 100_000);
    const claim = { ...storing(page), ...large, compression: "zlib" };
    await expect(use().volume.store({ ...claim, data: cut })).rejects.toMatchObject({ code: "HT_SIGNATURE" });
    await refused({ ...claim, data: inPieces(cut) }, { code: "HT_SIGNATURE" });
  });

  it("a codec that nobody has", async () => {
    await refused({ ...storing(page), compression: "lzma" }, { code: "HT_CODEC" });
    const compared = { compression: "lzma", data: page.bytes };
    await expect(use().volume.refer({ ...page, compared })).rejects.toMatchObject({ code: "HT_CODEC" });
  });

  it.each(["", "AB", "xyz", page.signature.slice(2), `${page.signature}00`, `-${page.signature.slice(1)}`])(
    "%j, which is no signature",
    async (signature) => {
      const { volume } = use();
      await refused({ ...storing(page), signature }, { code: "HT_USAGE" });
      await expect(volume.refer({ ...page, signature })).rejects.toMatchObject({ code: "HT_USAGE" });
      await expect(volume.find([page.signature, signature])).rejects.toMatchObject({ code: "HT_USAGE" });
    },
  );

  it.each([50_000, 2_500_000])("a stream that breaks after %i bytes, with its own error", async (breakAt) => {
    async function* breaking() {
      for await (const piece of inPieces(large.bytes.subarray(0, breakAt))) yield piece;
      throw new Error("the source broke");
    }
    const request = { ...storing(large), data: breaking() };
    await refused(request, { message: "the source broke" });
    const { volume } = use();
    expect(await volume.store(storing(large, { pieceSize: 65_536 }))).toMatchObject({ outcome: "new" });
    expect(await contentIn((await volume.open({ ...large, overflow: 0 }))!)).toHaveLength(large.size);
  });
}
