import { describe, expect, it } from "vitest";
import { readText, writeText } from "../testing/disk-suite.ts";
import { everyStop } from "../testing/every-stop.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { createVolume, isVolume, readVolumeSettings, writeVolumeSettings } from "./volume-settings.ts";

const GOOD = {
  format: "holotype-volume",
  version: 1,
  id: "3f0d2c11-5a3e-4c5e-9d5f-0a3c5f7f8d21",
  layout: "tree",
  signature: "rabin64",
  state: "writable",
  treeDepth: 3,
};

function read(text: string) {
  const disk = new ForgetfulDisk();
  disk.makeFolder("/v");
  writeText(disk, "/v/volume.json", text);
  return readVolumeSettings(disk, "/v");
}

describe("the settings of a volume", () => {
  it("are read as they were written", () => {
    const disk = new ForgetfulDisk();
    expect(isVolume(disk, "/a/b")).toBe(false);
    const made = createVolume(disk, "/a/b", { layout: "tree", signature: "sha1", treeDepth: 5 });
    expect(made).toMatchObject({ layout: "tree", signature: "sha1", state: "writable", treeDepth: 5 });
    expect(isVolume(disk, "/a/b")).toBe(true);
    expect(readVolumeSettings(disk, "/a/b")).toEqual(made);
    writeVolumeSettings(disk, "/a/b", { ...made, state: "read-only" });
    expect(readVolumeSettings(disk, "/a/b")).toEqual({ ...made, state: "read-only" });
    expect(JSON.parse(readText(disk, "/a/b/volume.json"))).toMatchObject({ format: "holotype-volume", version: 1 });
  });

  it("of two volumes have two ids", () => {
    const disk = new ForgetfulDisk();
    expect(createVolume(disk, "/a").id).not.toBe(createVolume(disk, "/b").id);
  });

  it("are not made where something is already", () => {
    const disk = new ForgetfulDisk();
    disk.makeFolder("/full");
    writeText(disk, "/full/a", "");
    writeText(disk, "/file", "");
    createVolume(disk, "/volume");
    const exists = expect.objectContaining({ code: "HT_EXISTS" });
    for (const folder of ["/full", "/file", "/volume"]) expect(() => createVolume(disk, folder)).toThrow(exists);
  });

  it("are whole or not there, and old or new, after a power cut at any moment", async () => {
    await everyStop(
      (disk) => {
        const made = createVolume(disk, "/v");
        writeVolumeSettings(disk, "/v", { ...made, state: "read-only" });
      },
      (disk, stoppedAt) => {
        if (isVolume(disk, "/v")) expect(["writable", "read-only"]).toContain(readVolumeSettings(disk, "/v").state);
        if (stoppedAt === undefined) expect(readVolumeSettings(disk, "/v").state).toBe("read-only");
      },
    );
  });

  it("are never half made: a folder that was not there is a volume, or still not there", async () => {
    await everyStop(
      (disk) => void createVolume(disk, "/a/v"),
      (disk) => {
        expect(isVolume(disk, "/a/v") || disk.stat("/a/v") === undefined).toBe(true);
        if (!isVolume(disk, "/a/v")) createVolume(disk, "/a/v");
        expect(readVolumeSettings(disk, "/a/v").layout).toBe("pack");
      },
    );
  });

  it("are made in a folder with what a dead process left of them", () => {
    const disk = new ForgetfulDisk();
    disk.makeFolder("/v");
    writeText(disk, "/v/.volume.json.999999999-001122334455.partial", "{");
    expect(createVolume(disk, "/v").layout).toBe("pack");
    expect(disk.list("/v").map(({ name }) => name)).toEqual(["volume.json"]);
  });

  it("that are not there, are not those of a volume", () => {
    expect(() => readVolumeSettings(new ForgetfulDisk(), "/v")).toThrow(
      expect.objectContaining({ code: "HT_NOT_FOUND" }),
    );
  });

  it("of a newer Holotype are not read", () => {
    expect(() => read(JSON.stringify({ ...GOOD, version: 2, layout: "new" }))).toThrow(
      expect.objectContaining({ code: "HT_FORMAT_TOO_NEW" }),
    );
  });

  it.each([
    ["", "not JSON"],
    ["{", "not JSON"],
    ["null", "not the settings"],
    ["7", "not the settings"],
    [JSON.stringify({ ...GOOD, format: "other" }), "not the settings"],
    [JSON.stringify({ ...GOOD, id: "7" }), "no id"],
    [JSON.stringify({ ...GOOD, layout: "heap" }), "an unknown layout: heap"],
    [JSON.stringify({ ...GOOD, signature: "md5" }), "an unknown signature: md5"],
    [JSON.stringify({ ...GOOD, state: "sleeping" }), "an unknown state: sleeping"],
    [JSON.stringify({ ...GOOD, treeDepth: 0 }), "a tree of depth 0"],
    [JSON.stringify({ ...GOOD, treeDepth: 9 }), "a tree of depth 9"],
    [JSON.stringify({ ...GOOD, treeDepth: 1.5 }), "a tree of depth 1.5"],
    [JSON.stringify({ ...GOOD, treeDepth: "3" }), "a tree of depth 3"],
  ])("that are damaged say so: %s", (text, message) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({ code: "HT_CORRUPT", message: expect.stringContaining(message) as string }),
    );
    expect(read(JSON.stringify(GOOD))).toMatchObject({ layout: "tree" });
  });
});
