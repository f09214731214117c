import { describe, expect, it } from "vitest";
import { diskSuite, readAll, readText, writeText } from "./disk-suite.ts";
import { everyFullDisk, everyStop } from "./every-stop.ts";
import type { Fate } from "./forgetful-content.ts";
import { ForgetfulDisk } from "./forgetful-disk.ts";
import { PowerCut } from "./operations.ts";

diskSuite("the forgetful disk", () => {
  const disk = new ForgetfulDisk();
  disk.makeFolder("/folder");
  return { disk, folder: "/folder", [Symbol.dispose]: () => undefined };
});

const names = (disk: ForgetfulDisk) => disk.list("/").map(({ name }) => name);
const after = (disk: ForgetfulDisk, data: Fate, names: Fate, seed = 1) => disk.reopen({ data, names, seed });

/** All that can be found after a power cut, over many throws of the dice. */
function found(disk: ForgetfulDisk, look: (disk: ForgetfulDisk) => string): string[] {
  const seen = new Set<string>();
  for (let seed = 0; seed < 200; seed++) seen.add(look(after(disk, "tear", "tear", seed)));
  return [...seen].toSorted();
}

describe("after a power cut", () => {
  it("what was synced is there, and what was not is gone, there or torn", () => {
    const disk = new ForgetfulDisk();
    using file = disk.open("/a", "create");
    file.write(Buffer.from("sure"), 0);
    file.sync();
    disk.syncFolder("/");
    file.write(Buffer.from("maybe"), 4);
    expect(readText(after(disk, "drop", "drop"), "/a")).toBe("sure");
    expect(readText(after(disk, "keep", "drop"), "/a")).toBe("suremaybe");
    const texts = found(disk, (left) => readText(left, "/a"));
    expect(texts).toEqual(expect.arrayContaining(["sure", "surem", "suremayb", "suremaybe", "sure\0\0\0\0\0"]));
    expect(texts.every((text) => text.startsWith("sure"))).toBe(true);
  });

  it("sectors are old or new, each by itself", () => {
    const disk = new ForgetfulDisk();
    using file = disk.open("/a", "create");
    file.write(new Uint8Array(1536).fill(1), 0);
    file.sync();
    disk.syncFolder("/");
    file.write(new Uint8Array(1536).fill(2), 0);
    const sectors = (left: ForgetfulDisk) =>
      [0, 511, 512, 1023, 1024, 1535].map((at) => readAll(left, "/a")[at]).join("");
    expect(found(disk, sectors)).toEqual(expect.arrayContaining(["111111", "112211", "221122", "111122", "222222"]));
  });

  it("a cut of a file may be undone until it is synced", () => {
    const disk = new ForgetfulDisk();
    using file = disk.open("/a", "create");
    file.write(Buffer.from("long"), 0);
    file.sync();
    disk.syncFolder("/");
    file.truncate(1);
    expect(readText(after(disk, "drop", "drop"), "/a")).toBe("long");
    file.sync();
    expect(readText(after(disk, "drop", "drop"), "/a")).toBe("l");
  });

  it("a name is there for sure only when its folder was synced", () => {
    const disk = new ForgetfulDisk();
    const file = disk.open("/a", "create");
    file.write(Buffer.from("text"), 0);
    file.sync();
    expect(names(after(disk, "keep", "drop"))).toEqual([]);
    expect(found(disk, (left) => names(left).join())).toEqual(["", "a"]);
    disk.syncFolder("/");
    expect(names(after(disk, "drop", "drop"))).toEqual(["a"]);
    disk.remove("/a");
    expect(names(after(disk, "drop", "drop"))).toEqual(["a"]);
    expect(names(after(disk, "drop", "keep"))).toEqual([]);
  });

  it("a rename has happened or not, and never half", () => {
    const disk = new ForgetfulDisk();
    writeText(disk, "/a", "");
    disk.makeFolder("/folder");
    disk.syncFolder("/");
    disk.rename("/a", "/b");
    expect(found(disk, (left) => names(left).join())).toEqual(["a,folder", "b,folder"]);
    disk.syncFolder("/");
    disk.rename("/b", "/folder/b");
    disk.syncFolder("/");
    expect(found(disk, (left) => names(left).join())).toEqual(["b,folder", "folder"]);
    disk.syncFolder("/folder");
    expect(names(after(disk, "drop", "drop"))).toEqual(["folder"]);
  });

  it("what a failed sync lost stays lost", () => {
    const disk = new ForgetfulDisk({ failSyncAt: 2 });
    using file = disk.open("/a", "create");
    disk.syncFolder("/");
    file.write(Buffer.from("text"), 0);
    expect(() => file.sync()).toThrow(expect.objectContaining({ code: "HT_IO" }));
    file.sync();
    expect(readText(disk, "/a")).toBe("text");
    expect(readText(after(disk, "drop", "drop"), "/a")).toBe("");
  });

  it("a sync under way has kept nothing yet", async () => {
    const disk = new ForgetfulDisk({ stopAt: 5 });
    const file = disk.open("/a", "create");
    disk.syncFolder("/");
    file.write(Buffer.from("text"), 0);
    const synced = file.syncLater();
    expect(readText(after(disk, "drop", "drop"), "/a")).toBe("");
    expect(() => file.write(Buffer.from("more"), 4)).toThrow(PowerCut);
    await expect(synced).rejects.toThrow(PowerCut);
    expect(readText(after(disk, "keep", "drop"), "/a")).toBe("textmore");
    expect(() => disk.list("/")).toThrow(PowerCut);
  });
});

describe("every stop", () => {
  it("finds an order of calls that loses data, and tells how to see it again", async () => {
    const careless = (disk: ForgetfulDisk) => {
      writeText(disk, "/new", "new");
      disk.rename("/new", "/a");
      disk.syncFolder("/");
    };
    const check = (disk: ForgetfulDisk) => expect(["old", "new"]).toContain(readText(disk, "/a"));
    const prepare = (disk: { open: ForgetfulDisk["open"] }) => writeText(disk as ForgetfulDisk, "/a", "old");
    await expect(everyStop(careless, check, { prepare, seed: 5 })).rejects.toThrow(
      /^power cut at 3 \(rename \/a\), data drop, names \w+, repeat with seed 5: /,
    );
  });

  it("passes on what the scenario itself throws", async () => {
    const failing = () => Promise.reject(new Error("its own"));
    await expect(everyStop(failing, () => undefined)).rejects.toThrow("its own");
  });

  it("fills the disk at every write", async () => {
    const seen: string[] = [];
    const run = (disk: ForgetfulDisk) => {
      using file = disk.open("/a", "create");
      for (let i = 0; i < 3; i++) file.write(Buffer.from("ab"), i * 2);
    };
    const count = await everyFullDisk(run, (disk, failure) => {
      seen.push(`${readText(disk, "/a")} ${failure instanceof Error}`);
    });
    expect(count).toBe(3);
    expect(seen).toEqual(["a true", "aba true", "ababa true", "ababab false"]);
  });
});
