/** Reading a volume needs no writing: on a disk that is mounted read-only, belongs to somebody else, or is full. */
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Disk, nodeDisk } from "../disk/index.ts";
import { refusingDisk } from "../testing/refusing-disk.ts";
import { Codecs } from "./codec.ts";
import { type ContentKey, formatContentKey } from "./content-key.ts";
import { openInstance } from "./instance/index.ts";
import { openVolume } from "./open-volume.ts";
import { createVolume } from "./volume-settings.ts";

const codecs = await Codecs.load();
const CONTENTS = ["one", "two", "three"].map((text) => Buffer.from(text.repeat(100)));

let work: string;
let volume: string;
let keys: ContentKey[];

beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), "holotype-reading-"));
  volume = join(work, "volume");
});
afterEach(() => rmSync(work, { recursive: true }));

async function fill(disk: Disk, layout: "pack" | "tree"): Promise<void> {
  createVolume(disk, volume, { layout });
  await using instance = await openInstance(disk, volume, { codecs });
  keys = [];
  for (const content of CONTENTS) keys.push((await instance.store(content)).key);
}

/** Names, sizes and times of everything in the volume. */
function look(): string[] {
  const names = readdirSync(volume, { recursive: true, encoding: "utf8" }).sort();
  return names.map((name) => {
    const { size, mtimeMs, ino } = statSync(join(volume, name));
    return `${name} ${size} ${mtimeMs} ${ino}`;
  });
}

async function allOf<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

async function readAll(disk: Disk): Promise<string[]> {
  const warnings: string[] = [];
  await using instance = await openInstance(disk, volume, {
    codecs,
    reading: true,
    onWarning: ({ code }) => warnings.push(code),
  });
  for (const [i, key] of keys.entries()) {
    expect(Buffer.from((await instance.retrieve(key))!.content as Uint8Array)).toEqual(CONTENTS[i]);
    expect(await instance.stat(key)).toMatchObject({ references: 1 });
  }
  const listed = (await allOf(instance.list())).map(({ key }) => formatContentKey(key));
  expect(listed.toSorted()).toEqual(keys.map(formatContentKey).toSorted());
  return warnings;
}

describe.each(["pack", "tree"] as const)("a %s volume", (layout) => {
  it.each(["EROFS", "EACCES", "ENOSPC"] as const)(
    "is read, listed and checked where it cannot be written: %s",
    async (code) => {
      await fill(nodeDisk, layout);
      const before = look();
      const disk = refusingDisk(nodeDisk, volume, code);
      expect(await readAll(disk)).toEqual(["HT_READ_ONLY"]);
      await using opened = await openVolume(disk, volume, { codecs, reading: true });
      expect(await allOf(opened.check({ scrub: true }))).toEqual([]);
      expect(await opened.describe()).toMatchObject({ blocks: 3, references: 3 });
      expect(look()).toEqual(before);
    },
  );

  it("refuses changes there", async () => {
    await fill(nodeDisk, layout);
    await using instance = await openInstance(refusingDisk(nodeDisk, volume, "EROFS"), volume, {
      codecs,
      reading: true,
    });
    const refused = { code: "HT_READ_ONLY" };
    await expect(instance.store(Buffer.from("four"))).rejects.toMatchObject(refused);
    await expect(instance.store(CONTENTS[0]!)).rejects.toMatchObject(refused);
    await expect(instance.delete(keys[0]!)).rejects.toMatchObject(refused);
    expect(await instance.stat(keys[0]!)).toMatchObject({ references: 1 });
  });

  it("is not opened there by who wants to write", async () => {
    await fill(nodeDisk, layout);
    const open = openVolume(refusingDisk(nodeDisk, volume, "EROFS"), volume, { codecs });
    await expect(open).rejects.toMatchObject({ code: "HT_IO" });
  });
});

it("a pack volume whose index is behind, or gone, is read all the same", async () => {
  createVolume(nodeDisk, volume, {});
  {
    await using instance = await openInstance(nodeDisk, volume, { codecs });
    await instance.store(CONTENTS[0]!);
  }
  cpSync(join(volume, "index"), join(work, "index"), { recursive: true });
  {
    await using instance = await openInstance(nodeDisk, volume, { codecs });
    for (const content of CONTENTS.slice(1)) await instance.store(content);
  }
  const disk = refusingDisk(nodeDisk, volume, "EROFS");
  for (const isGone of [false, true]) {
    rmSync(join(volume, "index"), { recursive: true });
    if (!isGone) cpSync(join(work, "index"), join(volume, "index"), { recursive: true });
    await using opened = await openVolume(disk, volume, { codecs, reading: true });
    expect(await allOf(opened.check({ scrub: true }))).toEqual([]);
    expect(await allOf(opened.list())).toHaveLength(3);
  }
});
