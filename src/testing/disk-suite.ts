/** What every `Disk` must do, the real one and the forgetful one. */
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Disk } from "../disk/index.ts";

export interface DiskFixture extends Disposable {
  readonly disk: Disk;
  /** An empty folder of its own. */
  readonly folder: string;
}

export function readAll(disk: Disk, path: string): Uint8Array {
  using file = disk.open(path, "read");
  const bytes = new Uint8Array(file.size());
  file.read(bytes, 0);
  return bytes;
}

export function readText(disk: Disk, path: string): string {
  return Buffer.from(readAll(disk, path)).toString("latin1");
}

/** Makes a file of `text`; durable is only what the test then syncs. */
export function writeText(disk: Disk, path: string, text: string): void {
  using file = disk.open(path, "replace");
  file.write(Buffer.from(text, "latin1"), 0);
}

export function diskSuite(name: string, start: () => DiskFixture): void {
  describe(`${name} as a disk`, () => {
    let fixture: DiskFixture;
    let disk: Disk;
    const at = (path: string) => join(fixture.folder, path);

    beforeEach(() => {
      fixture = start();
      disk = fixture.disk;
    });
    afterEach(() => fixture[Symbol.dispose]());

    describeFiles(() => ({ disk, at }));
    describeNames(() => ({ disk, at }));
    describeLocks(() => ({ disk, at }));
  });
}

type Use = () => { disk: Disk; at: (path: string) => string };

function describeFiles(use: Use): void {
  it("reads what was written, up to the end and not past it", () => {
    const { disk, at } = use();
    using file = disk.open(at("a"), "create");
    file.write(Buffer.from("hello"), 0);
    file.write(Buffer.from("world"), 5);
    const into = Buffer.alloc(8);
    expect(file.read(into, 4)).toBe(6);
    expect(into.toString("latin1")).toBe("oworld\0\0");
    expect(file.read(into, 10)).toBe(0);
    expect(file.read(into, 99)).toBe(0);
    expect(file.read(new Uint8Array(0), 0)).toBe(0);
    expect(file.size()).toBe(10);
    expect(file.path).toBe(at("a"));
  });

  it("opens by mode", () => {
    const { disk, at } = use();
    expect(() => disk.open(at("a"), "read")).toThrow(expect.objectContaining({ code: "HT_NOT_FOUND" }));
    expect(() => disk.open(at("a"), "update")).toThrow(expect.objectContaining({ code: "HT_NOT_FOUND" }));
    writeText(disk, at("a"), "text");
    expect(() => disk.open(at("a"), "create")).toThrow(
      expect.objectContaining({ code: "HT_EXISTS", place: { file: at("a") } }),
    );
    using update = disk.open(at("a"), "update");
    update.write(Buffer.from("T"), 0);
    expect(readText(disk, at("a"))).toBe("Text");
    disk.open(at("a"), "replace").close();
    expect(readText(disk, at("a"))).toBe("");
  });

  it("refuses to write what is open for reading", () => {
    const { disk, at } = use();
    writeText(disk, at("a"), "text");
    using file = disk.open(at("a"), "read");
    expect(() => file.write(Buffer.from("T"), 0)).toThrow(expect.objectContaining({ code: "HT_IO" }));
  });

  it("cuts files and fills what is skipped with zeros", () => {
    const { disk, at } = use();
    using file = disk.open(at("a"), "create");
    file.write(Buffer.from("hello"), 0);
    file.truncate(2);
    file.write(Buffer.from("!"), 4);
    expect(readText(disk, at("a"))).toBe("he\0\0!");
  });

  it("keeps an open file alive after its name is gone", () => {
    const { disk, at } = use();
    using file = disk.open(at("a"), "create");
    disk.remove(at("a"));
    file.write(Buffer.from("still"), 0);
    expect(file.size()).toBe(5);
  });

  it("syncs now and later, and closes while a sync runs", async () => {
    const { disk, at } = use();
    const file = disk.open(at("a"), "create");
    file.write(Buffer.from("a"), 0);
    file.sync();
    file.write(Buffer.from("b"), 1);
    const [first, second] = [file.syncLater(), file.syncLater()];
    file.close();
    file.close();
    await Promise.all([first, second]);
    expect(() => file.size()).toThrow("used after close");
  });

  it("holds the bytes of any series of writes and cuts", () => {
    const { disk, at } = use();
    const write = fc.record({ position: fc.nat(300), bytes: fc.uint8Array({ maxLength: 200 }) });
    const series = fc.array(fc.oneof(write, fc.record({ truncateTo: fc.nat(400) })), { maxLength: 12 });
    fc.assert(
      fc.property(series, (changes) => {
        using file = disk.open(at("a"), "replace");
        let model = Buffer.alloc(0);
        for (const change of changes) {
          const size = "truncateTo" in change ? change.truncateTo : change.position + change.bytes.length;
          const grows = "truncateTo" in change || (size > model.length && change.bytes.length > 0);
          if (grows) model = Buffer.concat([model, Buffer.alloc(400)], Math.max(size, 0));
          if ("truncateTo" in change) file.truncate(size);
          else {
            model.set(change.bytes.subarray(0, model.length), Math.min(change.position, model.length));
            file.write(change.bytes, change.position);
          }
        }
        expect(readText(disk, at("a"))).toBe(model.toString("latin1"));
      }),
      { numRuns: 50 },
    );
  });
}

function describeNames(use: Use): void {
  it("renames over what is there, or refuses to", () => {
    const { disk, at } = use();
    writeText(disk, at("a"), "a");
    writeText(disk, at("b"), "b");
    expect(() => disk.rename(at("a"), at("b"), "refuse")).toThrow(expect.objectContaining({ code: "HT_EXISTS" }));
    expect(readText(disk, at("b"))).toBe("b");
    disk.rename(at("a"), at("b"));
    expect(readText(disk, at("b"))).toBe("a");
    disk.rename(at("b"), at("c"), "refuse");
    expect(disk.list(at("."))).toEqual([{ name: "c", kind: "file" }]);
    expect(() => disk.rename(at("a"), at("d"))).toThrow(expect.objectContaining({ code: "HT_NOT_FOUND" }));
    expect(() => disk.rename(at("a"), at("d"), "refuse")).toThrow(expect.objectContaining({ code: "HT_NOT_FOUND" }));
  });

  it("removes files and empty folders, and does not mind their absence", () => {
    const { disk, at } = use();
    writeText(disk, at("a"), "a");
    disk.makeFolder(at("full/empty"));
    disk.remove(at("a"));
    disk.remove(at("a"));
    expect(() => disk.remove(at("full"))).toThrow(expect.objectContaining({ code: "HT_IO" }));
    disk.remove(at("full/empty"));
    disk.remove(at("full"));
    disk.remove(at("full/empty"));
    expect(disk.list(at("."))).toEqual([]);
  });

  it("makes folders with all above them, lists them by name, and tells what a path is", () => {
    const { disk, at } = use();
    disk.makeFolder(at("z/y/x"));
    disk.makeFolder(at("z/y/x"));
    disk.syncFolder(at("z/y"));
    writeText(disk, at("z/b"), "four");
    writeText(disk, at("z/B"), "");
    expect(disk.list(at("z"))).toEqual([
      { name: "B", kind: "file" },
      { name: "b", kind: "file" },
      { name: "y", kind: "folder" },
    ]);
    expect(disk.stat(at("z/b"))).toMatchObject({ kind: "file", sizeBytes: 4 });
    expect(disk.stat(at("z"))).toMatchObject({ kind: "folder" });
    expect(disk.stat(at("nothing"))).toBeUndefined();
    expect(disk.stat(at("z/b/below-a-file"))).toBeUndefined();
    expect(() => disk.list(at("nothing"))).toThrow(expect.objectContaining({ code: "HT_NOT_FOUND" }));
    expect(() => disk.syncFolder(at("nothing"))).toThrow(expect.objectContaining({ code: "HT_NOT_FOUND" }));
    expect(() => disk.makeFolder(at("z/b"))).toThrow(expect.objectContaining({ code: "HT_EXISTS" }));
  });

  it("knows a file again by its identity, and its permissions", () => {
    const { disk, at } = use();
    disk.open(at("a"), "create", { permissions: 0o640, isExact: true }).close();
    writeText(disk, at("b"), "");
    const before = disk.stat(at("a"));
    expect(before?.permissions).toBe(0o640);
    expect(before?.identity).not.toBe(disk.stat(at("b"))?.identity);
    disk.rename(at("a"), at("c"));
    expect(disk.stat(at("c"))?.identity).toBe(before?.identity);
  });
}

function describeLocks(use: Use): void {
  it("gives a lock once, and again when it is released", () => {
    const { disk, at } = use();
    const lock = disk.lock(at("lock"));
    expect(() => disk.lock(at("lock"))).toThrow(expect.objectContaining({ code: "HT_LOCKED" }));
    using other = disk.lock(at("other"));
    expect(other.path).toBe(at("other"));
    lock.release();
    using again = disk.lock(at("lock"));
    lock.release();
    expect(() => disk.lock(again.path)).toThrow(expect.objectContaining({ code: "HT_LOCKED" }));
  });
}
