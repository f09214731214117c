import { describe, expect, it } from "vitest";
import { ArchiveError } from "../../base/index.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { MemoryIndex } from "../../testing/memory-index.ts";
import { Codecs } from "../codec.ts";
import { signatureOf } from "../signature.ts";
import { createVolume } from "../volume-settings.ts";
import { openPack, type PackOptions, type PackVolume } from "./pack-volume.ts";
import { segmentPath } from "./segment.ts";

const codecs = await Codecs.load();

async function trial(options: Partial<PackOptions> = {}) {
  const disk = new ForgetfulDisk();
  const index = new MemoryIndex();
  const settings = createVolume(disk, "/v", { signature: "sha256" });
  const open = (more: Partial<PackOptions> = {}): Promise<PackVolume> =>
    openPack(disk, "/v", settings, { codecs, openIndex: () => index, ...options, ...more });
  return { disk, index, open, volume: await open() };
}

function content(text: string) {
  const data = Buffer.from(text);
  return { signature: signatureOf("sha256", data), size: data.length, data, compression: "none" } as const;
}

async function findings(volume: PackVolume) {
  const all = [];
  for await (const finding of volume.check({ scrub: true })) all.push(finding);
  return all;
}

describe("a pack volume", () => {
  it("stores once, counts, and gives back", async () => {
    const { volume } = await trial();
    const one = content("one");
    const first = await volume.store({ ...one, mode: "regular" });
    expect(first).toMatchObject({ outcome: "new", references: 1, overflow: 0 });
    const again = await volume.store({ ...one, mode: "compare" });
    expect(again).toMatchObject({ outcome: "duplicate", references: 2 });
    expect((await volume.open(first))?.data).toEqual(one.data);
    expect(await volume.remove(first)).toMatchObject({ references: 1 });
    expect(await findings(volume)).toEqual([]);
    expect(await volume.remove(first)).toMatchObject({ references: 0 });
    expect(await volume.open(first)).toBeUndefined();
    expect(await findings(volume)).toEqual([]);
  });

  it("is made again from its segments alone", async () => {
    const { volume, open } = await trial({ segmentSizeMax: 4000 });
    const texts = Array.from({ length: 40 }, (_, i) => content(`content ${i} ${"x".repeat(i * 13)}`));
    const receipts = await Promise.all(texts.map((text) => volume.store({ ...text, mode: "regular" })));
    for (const receipt of receipts.slice(0, 20)) await volume.remove(receipt);
    for (const text of texts.slice(30)) await volume.store({ ...text, mode: "regular" });
    const large = { ...content("y".repeat(3 << 20)), mode: "regular" } as const;
    await volume.store(large);
    await volume.store(large);
    await volume.store({ ...content("after"), mode: "regular" });
    const before = [];
    for await (const block of volume.list()) before.push(block);
    await volume[Symbol.asyncDispose]();
    const anew = await open({ openIndex: () => new MemoryIndex() });
    const after = [];
    for await (const block of anew.list()) after.push(block);
    expect(after).toEqual(before);
    expect(await findings(anew)).toEqual([]);
  });

  it("gives back space and loses nothing", async () => {
    const { volume, disk, open } = await trial({ segmentSizeMax: 4000 });
    const texts = Array.from({ length: 60 }, (_, i) => content(`content ${i} ${"x".repeat(200)}`));
    for (const text of texts) await volume.store({ ...text, mode: "regular" });
    for (const text of texts) await volume.store({ ...text, mode: "regular" });
    for (const text of texts.slice(0, 50)) await volume.remove({ ...text, overflow: 0 });
    for (const text of texts.slice(0, 50)) await volume.remove({ ...text, overflow: 0 });
    const result = await volume.compact();
    expect(result.bytesAfter).toBeLessThan(result.bytesBefore / 3);
    expect(await findings(volume)).toEqual([]);
    for (const text of texts.slice(50)) {
      const block = await volume.open({ ...text, overflow: 0 });
      expect(block).toMatchObject({ references: 2, data: text.data });
    }
    expect(disk.stat(segmentPath("/v", 1))).toBeUndefined();
    await volume[Symbol.asyncDispose]();
    const anew = await open({ openIndex: () => new MemoryIndex() });
    expect(await findings(anew)).toEqual([]);
    expect(await anew.describe()).toMatchObject({ blocks: 10, references: 20 });
  });
});

/** An index that cannot be written for a while. */
class StubbornIndex extends MemoryIndex {
  isFull = false;

  override commit(changes: Parameters<MemoryIndex["commit"]>[0]): Promise<void> {
    if (this.isFull) return Promise.reject(new ArchiveError("HT_NO_SPACE", "the index could not be written"));
    return super.commit(changes);
  }
}

describe("an index that cannot be written", () => {
  it("stops changes, and not reading; when it can be written again, all goes on", async () => {
    const index = new StubbornIndex();
    const { volume, open } = await trial({ openIndex: () => index });
    const [one, two, three] = ["one", "two", "three"].map(content);
    const first = await volume.store({ ...one!, mode: "regular" });
    for await (const _ of volume.list());
    index.isFull = true;
    // Its record is durable, so it was acknowledged; the index is to learn of it later.
    const second = await volume.store({ ...two!, mode: "regular" });
    for await (const _ of volume.list());
    for (let round = 0; round < 3; round++) {
      await expect(volume.store({ ...three!, mode: "regular" })).rejects.toMatchObject({ code: "HT_NO_SPACE" });
      await expect(volume.remove(first)).rejects.toMatchObject({ code: "HT_NO_SPACE" });
      expect((await volume.open(first))?.data).toEqual(one!.data);
      expect((await volume.open(second))?.data).toEqual(two!.data);
      expect(await volume.find([one!.signature, two!.signature, three!.signature])).toMatchObject([
        [{ references: 1 }],
        [{ references: 1 }],
        [],
      ]);
      const listed = [];
      for await (const { signature } of volume.list()) listed.push(signature);
      expect(listed).toContain(one!.signature);
    }
    index.isFull = false;
    expect(await volume.store({ ...three!, mode: "regular" })).toMatchObject({ outcome: "new" });
    expect(await volume.store({ ...two!, mode: "regular" })).toMatchObject({ outcome: "duplicate", references: 2 });
    expect(await findings(volume)).toEqual([]);
    await volume[Symbol.asyncDispose]();
    const again = await open();
    expect((await again.describe()).blocks).toBe(3);
    expect(await findings(again)).toEqual([]);
  });
});
