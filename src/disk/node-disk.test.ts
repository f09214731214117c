import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { diskSuite, readText, writeText } from "../testing/disk-suite.ts";
import { nodeDisk } from "./node-disk.ts";
import { type ScratchFolder, scratchFolder } from "./scratch-folder.ts";

diskSuite("the real disk", () => {
  const folder = scratchFolder(nodeDisk);
  return { disk: nodeDisk, folder: folder.path, [Symbol.dispose]: () => folder.remove() };
});

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code });
}

describe("the real disk under faults", () => {
  let folder: ScratchFolder;
  const at = (name: string) => join(folder.path, name);

  beforeEach(() => {
    folder = scratchFolder(nodeDisk);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    folder.remove();
  });

  it("goes on after short writes and reads", () => {
    const { writeSync, readSync } = fs;
    const someOf = (length: number) => Math.ceil(length / 3);
    vi.spyOn(fs, "writeSync").mockImplementation(((
      fd: number,
      from: Uint8Array,
      at: number,
      length: number,
      to: number,
    ) => writeSync(fd, from, at, someOf(length), to)) as typeof fs.writeSync);
    vi.spyOn(fs, "readSync").mockImplementation(((
      fd: number,
      into: Uint8Array,
      at: number,
      length: number,
      from: number,
    ) => readSync(fd, into, at, someOf(length), from)) as typeof fs.readSync);
    syncBuiltinESMExports();
    writeText(nodeDisk, at("a"), "a text that needs many calls");
    expect(readText(nodeDisk, at("a"))).toBe("a text that needs many calls");
  });

  it("reads on after a signal", () => {
    writeText(nodeDisk, at("a"), "text");
    vi.spyOn(fs, "readSync").mockImplementationOnce(() => {
      throw systemError("EINTR");
    });
    syncBuiltinESMExports();
    expect(readText(nodeDisk, at("a"))).toBe("text");
  });

  it.each([
    ["ENOSPC", "HT_NO_SPACE"],
    ["EDQUOT", "HT_NO_SPACE"],
    ["EIO", "HT_IO"],
  ])("tells %s as %s, with the place", (system, code) => {
    using file = nodeDisk.open(at("a"), "create");
    vi.spyOn(fs, "writeSync").mockImplementation(() => {
      throw systemError(system);
    });
    syncBuiltinESMExports();
    const place = { file: at("a"), offset: 7 };
    expect(() => file.write(Buffer.from("text"), 7)).toThrow(expect.objectContaining({ code, place }));
  });

  it("rejects a sync that fails later", async () => {
    using file = nodeDisk.open(at("a"), "create");
    vi.spyOn(fs, "fdatasync").mockImplementation((_, done) => done(systemError("EIO")));
    syncBuiltinESMExports();
    await expect(file.syncLater()).rejects.toMatchObject({ code: "HT_IO", place: { file: at("a") } });
  });

  it("does not give its descriptor away while a sync runs", async () => {
    let finish = (): void => undefined;
    vi.spyOn(fs, "fdatasync").mockImplementation((_, done) => {
      finish = () => done(null);
    });
    const close = vi.spyOn(fs, "closeSync");
    syncBuiltinESMExports();
    const file = nodeDisk.open(at("a"), "create");
    const synced = file.syncLater();
    file.close();
    expect(close).not.toHaveBeenCalled();
    finish();
    await synced;
    expect(close).toHaveBeenCalledTimes(1);
  });

  it("syncs the folder above every folder that it makes", () => {
    const sync = vi.spyOn(fs, "fsyncSync");
    syncBuiltinESMExports();
    nodeDisk.makeFolder(at("a/b/c"));
    expect(sync).toHaveBeenCalledTimes(3);
    nodeDisk.makeFolder(at("a/b/c"));
    expect(sync).toHaveBeenCalledTimes(3);
  });

  it("refuses a target that is there even without hard links", () => {
    vi.spyOn(fs, "linkSync").mockImplementation(() => {
      throw systemError("EPERM");
    });
    syncBuiltinESMExports();
    writeText(nodeDisk, at("a"), "a");
    writeText(nodeDisk, at("b"), "b");
    expect(() => nodeDisk.rename(at("a"), at("b"), "refuse")).toThrow(expect.objectContaining({ code: "HT_EXISTS" }));
    nodeDisk.rename(at("a"), at("c"), "refuse");
    expect(nodeDisk.list(folder.path).map(({ name }) => name)).toEqual(["b", "c"]);
  });

  it("lists links as other and follows them in stat", () => {
    writeText(nodeDisk, at("a"), "text");
    fs.symlinkSync(at("a"), at("link"));
    expect(nodeDisk.list(folder.path)).toContainEqual({ name: "link", kind: "other" });
    expect(nodeDisk.stat(at("link"))).toEqual(nodeDisk.stat(at("a")));
  });
});
