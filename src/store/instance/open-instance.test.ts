/** Instances of real volumes: folders of both layouts, and a server. */
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createDurably, nodeDisk, scratchFolder } from "../../disk/index.ts";
import { allOf, repeatable, textAt } from "../../testing/instance-fixture.ts";
import { serveVolume } from "../../volumed/index.ts";
import { Codecs } from "../codec.ts";
import type { ContentKey } from "../content-key.ts";
import { openVolume } from "../open-volume.ts";
import { createVolume, isVolume } from "../volume-settings.ts";
import type { Instance } from "./instance.ts";
import { openInstance } from "./open-instance.ts";

const scratch = scratchFolder(nodeDisk);
afterAll(() => scratch.remove());
let made = 0;

const newFolder = () => {
  const folder = join(scratch.path, `case-${made++}`);
  nodeDisk.makeFolder(folder);
  return folder;
};

function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  createDurably(nodeDisk, path, (output) => output.write(Buffer.from(text)), { replace: true });
  return path;
}

const open = async (path: string, create = true, warnings: string[] = []) =>
  await openInstance(nodeDisk, path, {
    codecs: await Codecs.load(),
    create,
    onWarning: ({ message }) => warnings.push(message),
  });

async function storeSome(instance: Instance, count: number): Promise<ContentKey[]> {
  const items = Array.from({ length: count }, (_, i) => ({ content: Buffer.from(`content ${i} `.repeat(i)) }));
  const answers = await allOf(instance.storeAll(items));
  return answers.map((answer) => ("stored" in answer ? answer.stored.key : ({} as ContentKey)));
}

async function expectAll(instance: Instance, keys: readonly ContentKey[]): Promise<void> {
  for (const [i, key] of keys.entries()) expect(await textAt(instance, key)).toBe(`content ${i} `.repeat(i));
}

describe("a folder as an instance", () => {
  it("becomes a pack volume when something is to be stored, and not before", async () => {
    const folder = join(newFolder(), "store");
    await expect(open(folder, false)).rejects.toMatchObject({ code: "HT_NOT_FOUND" });
    expect(nodeDisk.stat(folder)).toBeUndefined();
    let keys: ContentKey[];
    {
      await using instance = await open(folder);
      keys = await storeSome(instance, 20);
      expect(await instance.volumes()).toMatchObject([{ number: 0, name: "store", description: { layout: "pack" } }]);
      const second = await open(folder, false);
      await expect(second.retrieve(keys[0]!)).rejects.toMatchObject({ code: "HT_LOCKED" });
    }
    await using again = await open(folder, false);
    await expectAll(again, keys);
  });

  it("that has other things in it is left alone", async () => {
    const folder = newFolder();
    write(folder, "diary.txt", "Dear diary");
    await expect(open(folder)).rejects.toMatchObject({ code: "HT_EXISTS" });
    await expect(open(folder, false)).rejects.toMatchObject({ code: "HT_NOT_FOUND" });
    expect(nodeDisk.list(folder).map(({ name }) => name)).toEqual(["diary.txt"]);
  });

  it("may be a tree with another signature", async () => {
    const folder = join(newFolder(), "tree");
    createVolume(nodeDisk, folder, { layout: "tree", signature: "rabin64", treeDepth: 2 });
    await using instance = await open(folder);
    const keys = await storeSome(instance, 10);
    expect(keys[0]!.signature).toMatch(/^[0-9A-F]{16}$/);
    await expectAll(instance, keys);
  });
});

describe("a connector", () => {
  it("makes an instance of folders and servers; contents move between all kinds, and keys keep working", async () => {
    const folder = newFolder();
    createVolume(nodeDisk, join(folder, "served"), {});
    const served = await openVolume(nodeDisk, join(folder, "served"), { codecs: await Codecs.load() });
    const server = await serveVolume(served, { token: "a-secret-of-some-length" });
    write(folder, "token", "a-secret-of-some-length\n");
    const path = write(
      folder,
      "connector.xml",
      `<instance name="mixed"><volume name="pack" path="pack"/><volume name="tree" path="tree" tree-depth="3"/>
       <volume name="far" url="${server.url}" token-file="token"/></instance>`,
    );
    try {
      await using instance = await open(path);
      const keys = await storeSome(instance, 90);
      expect(new Set(keys.map(({ volume }) => volume))).toEqual(new Set([0, 1, 2]));
      await expectAll(instance, keys);
      const stream = repeatable(() => Array.from({ length: 40 }, (_, i) => Buffer.alloc(100_000, i)));
      const { key: large } = await instance.store(stream, { volume: 0, compression: "none" });
      expect(await instance.store(stream, { mode: "compare" })).toMatchObject({ key: large, outcome: "duplicate" });
      for (const [from, to] of [
        [0, 1],
        [1, 2],
      ] as const) {
        expect(await instance.migrate(from, to)).toMatchObject({ failed: 0, isDone: true });
        await expectAll(instance, keys);
      }
      expect(await instance.volumes()).toMatchObject([
        { state: "read-only", description: { layout: "pack", blocks: 0 } },
        { state: "read-only", description: { layout: "tree", blocks: 0 } },
        { state: "writable", description: { blocks: 91, references: 92 } },
      ]);
      for (const key of [...keys, large, large]) expect(await instance.delete(key)).toBeDefined();
      expect(await allOf(instance.list())).toEqual([]);
    } finally {
      await server.close();
    }
  });

  it("names codecs as modules beside it", async () => {
    const folder = newFolder();
    const code = `export const codec = {
      encode: (content) => content.toReversed(),
      decode: (stored) => stored.toReversed(),
    };`;
    write(folder, "backwards.mjs", code);
    const volume = `<volume name="a" path="a"/>`;
    const codec = `<codec name="backwards" module="./backwards.mjs"/>`;
    const path = write(folder, "connector.xml", `<instance name="x">${volume}${codec}</instance>`);
    await using instance = await open(path);
    const { key } = await instance.store(Buffer.from("abc"), { compression: "backwards" });
    expect(await instance.stat(key)).toMatchObject({ compression: "backwards" });
    expect(await textAt(instance, key)).toBe("abc");
    const missing = write(
      folder,
      "missing.xml",
      `<instance name="x">${volume}${codec.replace("./", "./not-")}</instance>`,
    );
    await expect(open(missing)).rejects.toMatchObject({ code: "HT_CODEC" });
  });

  it("goes on without a folder that is not a volume, and does not make one of an empty place", async () => {
    const folder = newFolder();
    nodeDisk.makeFolder(join(folder, "b"));
    const json = {
      name: "x",
      volumes: [
        { name: "a", path: "a" },
        { name: "b", path: "b" },
      ],
    };
    const path = write(folder, "connector.json", JSON.stringify(json));
    const warnings: string[] = [];
    await using instance = await open(path, true, warnings);
    const keys = await storeSome(instance, 10);
    await expectAll(instance, keys);
    expect(new Set(keys.map(({ volume }) => volume))).toEqual(new Set([0]));
    expect(warnings).toEqual([expect.stringMatching(/volume b is passed over: .*not a volume/)]);
    expect(isVolume(nodeDisk, join(folder, "b"))).toBe(false);
  });

  it("with one volume says what is wrong with it", async () => {
    const folder = newFolder();
    const path = write(folder, "connector.xml", `<instance name="x"><volume name="a" path="a"/></instance>`);
    await using instance = await open(path, false);
    await expect(instance.store(Buffer.from("x"))).rejects.toMatchObject({ code: "HT_NOT_FOUND" });
    const nobody = `<instance name="x"><volume name="a" host="127.0.0.1" port="9"/></instance>`;
    await using far = await open(write(folder, "far.xml", nobody));
    await expect(far.store(Buffer.from("x"))).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
  });
});
