import { describe, expect, it } from "vitest";
import type { Disk } from "../../disk/index.ts";
import { readText } from "../../testing/disk-suite.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { startLocal } from "../../testing/local-volume.ts";
import { codecs, collect, contentOf, mixedBytes, storing } from "../../testing/volume-contents.ts";
import { readVolumeSettings } from "../volume-settings.ts";
import { REMEMBERED_DEFAULT } from "./journal.ts";
import type { TreeLimits } from "./tree-changes.ts";
import { openTree } from "./tree-volume.ts";

const page = contentOf("sha256", "a label");

function start(disk: Disk, limits: TreeLimits) {
  return startLocal(disk, "/volume", { layout: "tree" }, (on, folder) =>
    openTree(on, folder, readVolumeSettings(on, folder), { codecs, limits }),
  );
}

const journals = (disk: Disk) => disk.list("/volume/journal").map(({ name }) => name);

describe("the journal of a tree", () => {
  it("remembers the last requests, and not many more, through every turn", async () => {
    expect(REMEMBERED_DEFAULT).toBeGreaterThanOrEqual(100_000);
    const disk = new ForgetfulDisk();
    await using fixture = await start(disk, { rememberedCount: 40, settleCount: 25, journalSizeMax: 6000 });
    await fixture.volume.store(storing(page));
    const refer = (i: number) => fixture.volume.refer({ ...page, requestId: `request-${i}` });
    for (let i = 0; i < 300; i++) {
      expect(await refer(i)).toMatchObject({ references: i + 2 });
      if (i % 70 === 69) await fixture.reopen();
      if (i > 40 && i % 20 === 0) expect(await refer(i - 39)).toMatchObject({ references: i - 39 + 2 });
    }
    expect(journals(disk)).toHaveLength(1);
    expect(Number.parseInt(journals(disk)[0]!, 10)).toBeGreaterThan(3);
    expect(readText(disk, `/volume/journal/${journals(disk)[0]}`).length).toBeLessThan(25_000);
    // One that is long forgotten counts as a new one.
    expect(await refer(5)).toMatchObject({ references: 302 });
  });

  it("knows the totals without looking at blocks", async () => {
    const disk = new ForgetfulDisk();
    await using fixture = await start(disk, {});
    for (let i = 0; i < 10; i++) await fixture.volume.store(storing(contentOf("sha256", `specimen ${i}`)));
    const before = await fixture.volume.describe();
    await fixture.volume[Symbol.asyncDispose]();
    const opened: string[] = [];
    const watched = new Proxy(disk, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target) as unknown;
        if (typeof value !== "function") return value;
        return (...args: readonly unknown[]) => {
          opened.push(`${String(name)} ${String(args[0])}`);
          return (value as (...all: readonly unknown[]) => unknown).apply(target, [...args]);
        };
      },
    });
    await using volume = await openTree(watched, "/volume", readVolumeSettings(disk, "/volume"), { codecs });
    expect(await volume.describe()).toEqual(before);
    expect(opened.filter((call) => call.includes("/blocks/"))).toEqual([]);
    expect(opened.length).toBeLessThan(20);
    await fixture.reopen();
  });

  it("is settled while others work, and nothing waits for long", async () => {
    const disk = new ForgetfulDisk();
    await using fixture = await start(disk, { settleCount: 10, journalSizeMax: 4000 });
    const contents = Array.from({ length: 30 }, (_, i) => contentOf("sha256", mixedBytes(50, i)));
    await Promise.all(
      contents.map(async (content, i) => {
        for (let j = 0; j <= i % 5; j++) await fixture.volume.store(storing(content, { requestId: `${i}-${j}` }));
      }),
    );
    expect(await collect(fixture.volume.check({ scrub: true }))).toEqual([]);
    expect(await fixture.volume.describe()).toMatchObject({ blocks: 30, references: 90 });
    expect(journals(disk)).toHaveLength(1);
    // What was settled has to be redone by nobody.
    await fixture.volume[Symbol.asyncDispose]();
    expect(readText(disk, `/volume/journal/${journals(disk)[0]}`)).toMatch(/ settled 30 1500 1500 90\n$/);
    await fixture.reopen();
  });
});
