import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createDice } from "../testing/dice.ts";
import { readAll, readText, writeText } from "../testing/disk-suite.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { createDurably, DurableOutput } from "./durable-output.ts";
import { nodeDisk } from "./node-disk.ts";
import { scratchFolder } from "./scratch-folder.ts";

const MEGABYTE = 1 << 20;

describe("a durable output", () => {
  it("gathers small writes and passes large ones through", () => {
    const disk = new ForgetfulDisk();
    using output = DurableOutput.begin(disk, "/a");
    for (let i = 0; i < 1000; i++) output.write(Buffer.from("0123456789"));
    expect(disk.operations.count("write")).toBe(0);
    expect(output.size).toBe(10_000);
    output.write(new Uint8Array(MEGABYTE).fill(1));
    expect(disk.operations.count("write")).toBe(2);
    output.write(new Uint8Array(MEGABYTE - 1).fill(2));
    output.write(Buffer.from("!"));
    expect(disk.operations.count("write")).toBe(2);
    output.commit();
    expect(disk.operations.count("write")).toBe(3);
    const bytes = readAll(disk, "/a");
    expect(bytes).toHaveLength(output.size);
    expect([bytes[9999], bytes[10_000], bytes.at(-2), bytes.at(-1)]).toEqual([0x39, 1, 2, 0x21]);
  });

  it("does not keep the caller's bytes", () => {
    const disk = new ForgetfulDisk();
    createDurably(disk, "/a", (output) => {
      const bytes = Buffer.from("one ");
      output.write(bytes);
      bytes.write("two ");
      output.write(bytes);
    });
    expect(readText(disk, "/a")).toBe("one two ");
  });

  it("syncs the bytes, then renames, then syncs the folder", () => {
    const disk = new ForgetfulDisk();
    createDurably(disk, "/a", (output) => output.write(Buffer.from("text")), { random: createDice(1) });
    const kinds = disk.operations.log.map((line) => line.split(" ")[0]);
    expect(kinds).toEqual(["open", "write", "sync", "rename", "syncFolder"]);
  });

  it("refuses a target that is there, at the beginning and at the end", () => {
    const disk = new ForgetfulDisk();
    using late = DurableOutput.begin(disk, "/a");
    late.write(Buffer.from("late"));
    writeText(disk, "/a", "early");
    expect(() => DurableOutput.begin(disk, "/a")).toThrow(expect.objectContaining({ code: "HT_EXISTS" }));
    expect(() => late.commit()).toThrow(expect.objectContaining({ code: "HT_EXISTS" }));
    late.abort();
    expect(disk.list("/")).toEqual([{ name: "a", kind: "file" }]);
    expect(readText(disk, "/a")).toBe("early");
  });

  it("replaces a target when asked, and keeps its permissions", () => {
    using folder = scratchFolder(nodeDisk);
    const path = join(folder.path, "a");
    // More than any usual umask allows.
    nodeDisk.open(path, "create", { permissions: 0o662, isExact: true }).close();
    createDurably(nodeDisk, path, (output) => output.write(Buffer.from("new")), { replace: true });
    expect(readText(nodeDisk, path)).toBe("new");
    expect(nodeDisk.stat(path)?.permissions).toBe(0o662);
    expect(nodeDisk.list(folder.path)).toHaveLength(1);
  });

  it("can be read back before it is committed", () => {
    const disk = new ForgetfulDisk();
    using output = DurableOutput.begin(disk, "/a");
    output.write(Buffer.from("text"));
    using file = output.openForReading();
    expect(file.size()).toBe(4);
    expect(disk.stat("/a")).toBeUndefined();
  });

  it("leaves nothing when it is not committed", () => {
    const disk = new ForgetfulDisk();
    const failing = () =>
      createDurably(disk, "/a", (output) => {
        output.write(Buffer.from("text"));
        throw new Error("no");
      });
    expect(failing).toThrow("no");
    expect(disk.list("/")).toEqual([]);
  });

  it("stays what it is after commit or abort", () => {
    const disk = new ForgetfulDisk();
    const committed = DurableOutput.begin(disk, "/a");
    committed.commit();
    committed.abort();
    expect(readText(disk, "/a")).toBe("");
    expect(() => committed.write(Buffer.from("more"))).toThrow("after commit or abort");
    const aborted = DurableOutput.begin(disk, "/b");
    aborted.abort();
    expect(() => aborted.commit()).toThrow("after commit or abort");
    expect(disk.stat("/b")).toBeUndefined();
  });

  it("finds a name for its unfinished file, however long that of the target is", () => {
    using folder = scratchFolder(nodeDisk);
    const long = join(folder.path, "ж".repeat(127));
    using output = DurableOutput.begin(nodeDisk, long);
    const names = nodeDisk.list(folder.path).map(({ name }) => name);
    expect(names).toEqual([expect.stringMatching(/^\.ж{50}\.\d+-[0-9a-f]{12}\.partial$/)]);
    output.commit();
    expect(nodeDisk.list(folder.path)).toEqual([{ name: basename(long), kind: "file" }]);
  });
});
