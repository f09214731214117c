import { open as openLmdb } from "lmdb";
import { describe, expect, it } from "vitest";
import { nodeDisk, scratchFolder } from "../disk/index.ts";
import { writeText } from "../testing/disk-suite.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { codecs, contentOf, retrieve, storing } from "../testing/volume-contents.ts";
import { openVolume } from "./open-volume.ts";
import { createVolume, VOLUME_LAYOUTS } from "./volume-settings.ts";

const page = contentOf("sha256", "a label");

describe.each(VOLUME_LAYOUTS)("a volume with the layout %s", (layout) => {
  it("is open once at a time, and free when it is closed", async () => {
    using scratch = scratchFolder(nodeDisk);
    const folder = `${scratch.path}/volume`;
    createVolume(nodeDisk, folder, { layout });
    const volume = await openVolume(nodeDisk, folder, { codecs });
    expect(volume.folder).toBe(folder);
    expect(await volume.describe()).toMatchObject({ layout, blocks: 0 });
    await volume.store(storing(page));
    await expect(openVolume(nodeDisk, folder, { codecs })).rejects.toMatchObject({ code: "HT_LOCKED" });
    await volume[Symbol.asyncDispose]();
    await using again = await openVolume(nodeDisk, folder, { codecs });
    expect(await retrieve(again, { ...page, overflow: 0 })).toEqual(page.bytes);
  });

  it("is freed when it cannot be opened, and clears up what a dead process left", async () => {
    using scratch = scratchFolder(nodeDisk);
    const folder = `${scratch.path}/volume`;
    createVolume(nodeDisk, folder, { layout });
    const leftover = `${folder}/.volume.json.999999999-001122334455.partial`;
    writeText(nodeDisk, leftover, "half of it");
    const inTheWay = layout === "tree" ? `${folder}/blocks` : `${folder}/segments`;
    writeText(nodeDisk, inTheWay, "a file where a folder should be");
    await expect(openVolume(nodeDisk, folder, { codecs })).rejects.toMatchObject({
      code: expect.stringMatching(/^HT_/),
    });
    nodeDisk.remove(inTheWay);
    await using volume = await openVolume(nodeDisk, folder, { codecs });
    expect(await volume.describe()).toMatchObject({ blocks: 0 });
    expect(nodeDisk.stat(leftover)).toBeUndefined();
  });
});

describe("a pack volume", () => {
  it("whose index is of an older kind has it made anew, and knows what it answered", async () => {
    using scratch = scratchFolder(nodeDisk);
    const folder = `${scratch.path}/volume`;
    createVolume(nodeDisk, folder, { layout: "pack" });
    const request = storing(page, { requestId: "one" });
    {
      await using volume = await openVolume(nodeDisk, folder, { codecs });
      await volume.store(request);
    }
    const binary = { encoding: "binary", keyEncoding: "binary" } as const;
    const root = openLmdb<Buffer, Buffer>({ path: `${folder}/index/index.lmdb`, maxDbs: 8, noSubdir: true, ...binary });
    const meta = root.openDB<Buffer, Buffer>({ name: "meta", ...binary });
    const state = JSON.parse(meta.get(Buffer.from("state"))!.toString()) as object;
    await meta.put(Buffer.from("state"), Buffer.from(JSON.stringify({ ...state, format: 1 })));
    await root.close();
    for (const _ of ["made anew", "as it was made"]) {
      await using again = await openVolume(nodeDisk, folder, { codecs });
      expect(await again.store(request)).toMatchObject({ outcome: "new", references: 1 });
      expect(await again.describe()).toMatchObject({ blocks: 1, references: 1 });
    }
  });
});

describe("a folder that is no volume", () => {
  it("is not opened", async () => {
    const disk = new ForgetfulDisk();
    disk.makeFolder("/folder");
    for (const folder of ["/folder", "/nowhere"]) {
      await expect(openVolume(disk, folder, { codecs })).rejects.toMatchObject({ code: "HT_NOT_FOUND" });
    }
  });
});
