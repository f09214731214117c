import { describe, expect, it } from "vitest";
import type { Disk } from "../../disk/index.ts";
import { readText, writeText } from "../../testing/disk-suite.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { type LocalFixture, startForgetful, startLocal } from "../../testing/local-volume.ts";
import {
  type Content,
  codecs,
  collect,
  contentOf,
  encoded,
  mixedBytes,
  retrieve,
  storing,
} from "../../testing/volume-contents.ts";
import { readVolumeSettings } from "../volume-settings.ts";
import { blockLocation } from "./location.ts";
import { openTree } from "./tree-volume.ts";

const page = contentOf("sha256", "<h1>A drawer of beetles</h1>".repeat(10));
const other = contentOf("sha256", "a label");
const pathOf = (content: Content, overflow = 0) =>
  `/volume/blocks/${blockLocation({ signature: content.signature, overflow }, 3)}`;
const JOURNAL = "/volume/journal/000001.log";

async function filled(empty?: LocalFixture): Promise<LocalFixture> {
  const fixture = empty ?? (await startForgetful({ layout: "tree" }));
  await fixture.volume.store(storing(page, { compression: "zlib", requestId: "first" }));
  await fixture.volume.store(storing(other));
  await fixture.volume.store(storing(other, { mode: "force-new" }));
  await fixture.volume.refer(page);
  return fixture;
}

function change(disk: Disk, path: string, how: (text: string) => string): void {
  writeText(disk, path, how(readText(disk, path)));
}

async function found(fixture: LocalFixture, scrub = false): Promise<string[]> {
  const findings = await collect(fixture.volume.check({ scrub }));
  return findings.map(({ code, message }) => `${code} ${message}`);
}

describe("a check of a tree", () => {
  it("finds nothing where nothing is wrong, and tells how far it is", async () => {
    await using fixture = await filled();
    const progress: [number, number][] = [];
    const onProgress = (done: number, total: number) => void progress.push([done, total]);
    expect(await collect(fixture.volume.check({ scrub: true, onProgress }))).toEqual([]);
    expect(progress).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
  });

  it.each<[string, (disk: Disk) => void, string]>([
    [
      "a counter",
      (disk) => change(disk, pathOf(page), (text) => text.replace("references 2", "references 3")),
      "counts 3",
    ],
    [
      "a header",
      (disk) => change(disk, pathOf(page), (text) => text.replace("compression", "Compression")),
      "not the header",
    ],
    ["a state", (disk) => change(disk, pathOf(page), (text) => text.replace("held", "gone")), "not the header"],
    ["data cut off", (disk) => change(disk, pathOf(page), (text) => text.slice(0, -1)), "has 1"],
    ["data appended", (disk) => change(disk, pathOf(page), (text) => `${text}x`), "has 1"],
    ["a file cut to nothing", (disk) => change(disk, pathOf(page), () => ""), "not the header"],
    ["a block taken away", (disk) => disk.remove(pathOf(page)), "is not there"],
    ["a block below another taken away", (disk) => disk.remove(pathOf(other)), "no block below its number"],
    ["a gap above all", (disk) => change(disk, pathOf(other, 1), () => gapText()), "keeps a place below nothing"],
    ["a file by another name", (disk) => writeText(disk, `${pathOf(page)}.bak`, ""), "does not belong there"],
    ["a file among folders", (disk) => writeText(disk, "/volume/blocks/README", ""), "does not belong there"],
    ["a folder with small letters", (disk) => disk.makeFolder("/volume/blocks/ad"), "does not belong there"],
    [
      "a block in the wrong place",
      (disk) => writeText(disk, pathOf(page, 1), readText(disk, pathOf(page))),
      "should be 3",
    ],
    ["a file on its way to nowhere", (disk) => writeText(disk, "/volume/incoming/77", "x"), "does not belong there"],
  ])("finds %s", async (_, damage, message) => {
    await using fixture = await filled();
    damage(fixture.disk);
    expect((await found(fixture)).join("\n")).toContain(message);
  });

  it("finds other bytes only when it reads all of them", async () => {
    await using fixture = await filled();
    change(fixture.disk, pathOf(other), (text) => text.replace("a label", "A label"));
    expect(await found(fixture)).toEqual([]);
    expect(await found(fixture, true)).toEqual([expect.stringMatching(/^HT_SIGNATURE .*has the signature/)]);
  });

  it("finds former keys that lead nowhere, and lists of them that are none", async () => {
    await using fixture = await filled();
    const former = pathOf(page).replace("/blocks/", "/former/");
    const adopted = { ...page, overflow: 0, storedSize: 0, compression: "none", references: 1, data: page.bytes };
    await fixture.volume.adopt({ ...adopted, formerKeys: [`3-${page.signature}`], requestId: "adoption" });
    expect(await found(fixture)).toEqual([]);
    change(fixture.disk, former, (text) => text.replace(" 0\n", " 5\n"));
    expect(await found(fixture)).toEqual([expect.stringContaining("leads to")]);
    change(fixture.disk, former, (text) => text.slice(0, -3));
    expect(await found(fixture)).toEqual([expect.stringContaining("not a list of former keys")]);
    await expect(fixture.volume.follow(`3-${page.signature}`)).rejects.toMatchObject({ code: "HT_CORRUPT" });
  });

  it("finds a block that was removed and is there again", async () => {
    await using fixture = await filled();
    const text = readText(fixture.disk, pathOf(other, 1));
    await fixture.volume.remove({ ...other, overflow: 1 });
    expect(await found(fixture)).toEqual([]);
    writeText(fixture.disk, pathOf(other, 1), text);
    expect((await found(fixture)).join("\n")).toContain("was removed, and is there");
  });

  it("does not take work that is going on for damage", async () => {
    await using fixture = await filled();
    const contents = Array.from({ length: 60 }, (_, i) => contentOf("sha256", mixedBytes(500, i)));
    const work = Promise.all(
      contents.map(async (content, i) => {
        const address = await fixture.volume.store(storing(content));
        if (i % 3 === 0) await fixture.volume.remove(address);
        else if (i % 3 === 1) await fixture.volume.refer(content);
      }),
    );
    for (let round = 0; round < 20; round++) expect(await found(fixture, true)).toEqual([]);
    await work;
    expect(await found(fixture, true)).toEqual([]);
  });
});

function gapText(): string {
  return `${"holotype-block 1\ncompression none\nsize 0\nstored 0\nreferences 0\nstate gap\n".padEnd(127)}\n`;
}

describe("a block that somebody altered", () => {
  it("is not given out, and the others are", async () => {
    await using fixture = await filled();
    const { volume, disk } = fixture;
    change(disk, pathOf(page), (text) => text.replace("size", "sise"));
    const corrupt = { code: "HT_CORRUPT", place: { file: pathOf(page) } };
    await expect(volume.open({ ...page, overflow: 0 })).rejects.toMatchObject(corrupt);
    await expect(volume.find([page.signature])).rejects.toMatchObject(corrupt);
    // Its counter is not known, so that it keeps its number, and the content gets the next one.
    expect(await volume.store(storing(page))).toMatchObject({ outcome: "new", overflow: 1 });
    await expect(volume.remove({ ...page, overflow: 0 })).rejects.toMatchObject(corrupt);
    expect(await retrieve(volume, { ...other, overflow: 1 })).toEqual(other.bytes);
    expect(await volume.refer(other)).toMatchObject({ references: 2 });
  });

  it("is compared as it is: other bytes are another content", async () => {
    await using fixture = await filled();
    change(fixture.disk, pathOf(other), (text) => text.replace("a label", "A label"));
    const request = storing(other, { mode: "compare" });
    expect(await fixture.volume.store(request)).toMatchObject({ outcome: "duplicate", overflow: 1 });
  });
});

describe("a journal", () => {
  it("that is not there is begun, and the totals are counted", async () => {
    await using fixture = await filled();
    const before = await fixture.volume.describe();
    await fixture.volume[Symbol.asyncDispose]();
    fixture.disk.remove(JOURNAL);
    await fixture.reopen();
    expect(await fixture.volume.describe()).toEqual(before);
    expect(await found(fixture, true)).toEqual([]);
    // What only the journal knew is forgotten.
    const again = storing(page, { compression: "zlib", requestId: "first" });
    expect(await fixture.volume.store(again)).toMatchObject({ outcome: "duplicate", references: 3 });
  });

  it.each<[string, (text: string) => string, string]>([
    ["that begins with something else", (text) => text.slice(1), "HT_CORRUPT"],
    ["with nothing in it", () => "", "HT_CORRUPT"],
    ["of a newer Holotype", () => newerJournal(), "HT_FORMAT_TOO_NEW"],
    ["with a damaged line in the middle", (text) => text.replace("do duplicate", "do Duplicate"), "HT_CORRUPT"],
  ])("%s is not taken for one", async (_, damage, code) => {
    const fixture = await filled();
    await fixture.volume[Symbol.asyncDispose]();
    const whole = readText(fixture.disk, JOURNAL);
    change(fixture.disk, JOURNAL, damage);
    await expect(fixture.reopen()).rejects.toMatchObject({ code });
    // The volume is free, and was not touched: with the right journal it is as it was.
    writeText(fixture.disk, JOURNAL, whole);
    await fixture.reopen();
    expect(await found(fixture, true)).toEqual([]);
    await fixture[Symbol.asyncDispose]();
  });

  it("with a torn end is cut there, and what is not done is done", async () => {
    const disk = new ForgetfulDisk();
    const crashed = await filled(await startLocal(disk, "/volume", { layout: "tree" }));
    // As a crash leaves it: half a line is there, and a header is torn.
    const left = disk.reopen({ data: "keep", names: "keep", seed: 1 });
    await crashed[Symbol.asyncDispose]();
    change(left, JOURNAL, (text) => `${text}12345678 do remove ${page.signature}`);
    change(left, pathOf(page), (block) => block.replace("references 2", "refer\0\0\0\0s 2"));
    await using volume = await openTree(left, "/volume", readVolumeSettings(left, "/volume"), { codecs });
    expect(await collect(volume.check({ scrub: true }))).toEqual([]);
    expect(await volume.find([page.signature])).toMatchObject([[{ references: 2 }]]);
    expect(left.list("/volume/journal").map(({ name }) => name)).toEqual(["000002.log"]);
  });
});

function newerJournal(): string {
  return "6733e0e9 journal 2\n";
}

describe("what a person sees", () => {
  it("is a header that can be read, and the data behind it", async () => {
    await using fixture = await filled();
    const text = readText(fixture.disk, pathOf(page));
    const stored = encoded(page, "zlib");
    expect(text.slice(0, 128).trimEnd().split("\n")).toEqual([
      "holotype-block 1",
      "compression zlib",
      `size ${page.size}`,
      `stored ${stored.length}`,
      "references 2",
      "state held",
    ]);
    expect(Buffer.from(text.slice(128), "latin1").equals(stored)).toBe(true);
  });
});
