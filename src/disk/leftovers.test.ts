import fs from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readText, writeText } from "../testing/disk-suite.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { DurableOutput } from "./durable-output.ts";
import { removeLeftovers } from "./leftovers.ts";
import { nodeDisk } from "./node-disk.ts";
import { scratchFolder } from "./scratch-folder.ts";

const DEAD = 2 ** 30;

it("removes what dead processes left, and nothing else", () => {
  using folder = scratchFolder(nodeDisk);
  const at = (name: string) => join(folder.path, name);
  const kept = [".a.1-00112233445g.partial", `.b.${DEAD}-001122334455.partial.gz`, `c.${DEAD}-001122334455.partial`];
  for (const name of kept) writeText(nodeDisk, at(name), "");
  // The first process of the system always runs.
  writeText(nodeDisk, at(".running.1-001122334455.partial"), "");
  using own = DurableOutput.begin(nodeDisk, at("own"));
  const left = [`.a.warc.${DEAD}-001122334455.partial`, `.holotype-scratch.${DEAD}-001122334455.partial`];
  writeText(nodeDisk, at(left[0]!), "half");
  nodeDisk.makeFolder(join(at(left[1]!), "run"));
  writeText(nodeDisk, join(at(left[1]!), "run", "1"), "sorted");

  expect(removeLeftovers(nodeDisk, folder.path)).toEqual(left);
  expect(nodeDisk.list(folder.path)).toHaveLength(5);
  own.commit();
});

it("knows that what is older than this process is not its own, whatever its pid", () => {
  const before = new ForgetfulDisk();
  DurableOutput.begin(before, "/a").write(new Uint8Array(1));
  expect(removeLeftovers(before, "/")).toEqual([]);
  const after = before.reopen({ data: "keep", names: "keep", seed: 1 });
  expect(removeLeftovers(after, "/")).toHaveLength(1);
  expect(after.list("/")).toEqual([]);
});

it("goes on where something cannot be removed", () => {
  const disk = new ForgetfulDisk();
  for (const name of ["a", "b"]) writeText(disk, `/.${name}.${DEAD}-001122334455.partial`, "");
  const refusing = Object.assign(Object.create(disk) as ForgetfulDisk, {
    list: (path: string) => disk.list(path),
    statLink: (path: string) => disk.statLink(path),
    remove: (path: string) => (path.includes(".a.") ? nodeDisk.list("/nothing/here") : disk.remove(path)),
  });
  expect(removeLeftovers(refusing, "/")).toEqual([`.b.${DEAD}-001122334455.partial`]);
});

it("makes scratch folders that go with all that is in them, but not what their links lead to", () => {
  using parent = scratchFolder(nodeDisk);
  writeText(nodeDisk, join(parent.path, "precious"), "stays");
  nodeDisk.makeFolder(join(parent.path, "folder"));
  writeText(nodeDisk, join(parent.path, "folder", "precious"), "stays too");
  {
    using scratch = scratchFolder(nodeDisk, { parent: parent.path });
    expect(nodeDisk.stat(scratch.path)?.permissions).toBe(0o700);
    nodeDisk.makeFolder(join(scratch.path, "deep", "er"));
    writeText(nodeDisk, join(scratch.path, "deep", "run"), "sorted");
    fs.symlinkSync(join(parent.path, "folder"), join(scratch.path, "link"));
    scratch.remove();
  }
  expect(nodeDisk.list(parent.path).map(({ name }) => name)).toEqual(["folder", "precious"]);
  expect(readText(nodeDisk, join(parent.path, "folder", "precious"))).toBe("stays too");
});

it("clears up behind killed processes when it makes a scratch folder", () => {
  const disk = new ForgetfulDisk();
  disk.makeFolder(`/scratch/.holotype-scratch.${DEAD}-001122334455.partial/run`);
  using folder = scratchFolder(disk, { parent: "/scratch" });
  expect(disk.list("/scratch")).toHaveLength(1);
  expect(disk.list(folder.path)).toEqual([]);
});

const isRoot = process.getuid?.() === 0;

it.runIf(isRoot)("leaves what another user made, though its name is that of a leftover", () => {
  using parent = scratchFolder(nodeDisk);
  const theirs = join(parent.path, `.holotype-scratch.${DEAD}-001122334455.partial`);
  nodeDisk.makeFolder(theirs);
  writeText(nodeDisk, join(theirs, "mine"), "stays");
  fs.chownSync(theirs, 12345, 12345);
  expect(removeLeftovers(nodeDisk, parent.path)).toEqual([]);
  expect(readText(nodeDisk, join(theirs, "mine"))).toBe("stays");
});

it("removes a link that took the place of a folder, and nothing that it leads to", () => {
  using parent = scratchFolder(nodeDisk);
  const precious = join(parent.path, "precious");
  nodeDisk.makeFolder(precious);
  writeText(nodeDisk, join(precious, "file"), "stays");
  const left = join(parent.path, `.holotype-scratch.${DEAD}-001122334455.partial`);
  nodeDisk.makeFolder(left);
  // Somebody else swaps the folder when it has been listed.
  const swapping = {
    ...nodeDisk,
    list: (path: string) => {
      const entries = nodeDisk.list(path);
      if (path === parent.path) {
        fs.rmdirSync(left);
        fs.symlinkSync(precious, left);
      }
      return entries;
    },
  };
  removeLeftovers(swapping, parent.path);
  expect(readText(nodeDisk, join(precious, "file"))).toBe("stays");
});
