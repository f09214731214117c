import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { systemRandom } from "../base/index.ts";
import { type Child, type CompiledRooms, compileRooms } from "../testing/child-process.ts";
import { writeText } from "../testing/disk-suite.ts";
import { nodeDisk } from "./node-disk.ts";
import { isRunning, ownProcess, type ProcessIdentity, stateOf } from "./process-identity.ts";
import { type ScratchFolder, scratchFolder } from "./scratch-folder.ts";

/** For every path on its standard input it tries the lock and prints what became of it; it releases nothing. */
const CONTENDER = `
  import { createInterface } from "node:readline";
  import { nodeDisk } from "./disk/index.js";
  console.log("ready");
  for await (const path of createInterface({ input: process.stdin })) {
    try {
      nodeDisk.lock(path);
      console.log("won");
    } catch (error) {
      console.log(error.code === "HT_LOCKED" ? "lost" : error.stack.replaceAll("\\n", " "));
    }
  }
`;

let rooms: CompiledRooms;
let folder: ScratchFolder;
let children: Child[] = [];

beforeAll(() => {
  rooms = compileRooms("base", "disk");
});
afterAll(() => rooms[Symbol.dispose]());
beforeEach(() => {
  folder = scratchFolder(nodeDisk);
});
afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await Promise.all(children.map((child) => child.kill()));
  children = [];
  folder.remove();
});

async function startContender(): Promise<Child> {
  const child = rooms.start(CONTENDER);
  children.push(child);
  expect(await child.line()).toBe("ready");
  return child;
}

function ask(child: Child, path: string): Promise<string> {
  child.process.stdin?.write(`${path}\n`);
  return child.line();
}

/** Leaves a lock file as a process of that identity would have. */
function leaveLock(path: string, holder: Partial<ProcessIdentity & { beacon: string }>): void {
  writeText(nodeDisk, path, JSON.stringify({ ...ownProcess(), token: systemRandom.uuid(), ...holder }));
}

describe("a lock", () => {
  const path = () => join(folder.path, "lock");

  it("is refused with the holder's pid, and free once the holder is killed", async () => {
    const holder = await startContender();
    expect(await ask(holder, path())).toBe("won");
    const refusal = { code: "HT_LOCKED", message: expect.stringContaining(`process ${holder.process.pid}`) as string };
    expect(() => nodeDisk.lock(path())).toThrow(expect.objectContaining(refusal));
    await holder.kill();
    using lock = nodeDisk.lock(path());
    expect(lock.path).toBe(path());
    expect(nodeDisk.list(folder.path)).toEqual([{ name: "lock", kind: "file" }]);
  });

  it("is refused to other processes and to this one while this one holds it", async () => {
    const other = await startContender();
    const lock = nodeDisk.lock(path());
    expect(await ask(other, path())).toBe("lost");
    expect(() => nodeDisk.lock(path())).toThrow(expect.objectContaining({ code: "HT_LOCKED" }));
    lock.release();
    expect(nodeDisk.list(folder.path)).toEqual([]);
    expect(await ask(other, path())).toBe("won");
  });

  it("of a dead holder goes to exactly one of many processes", async () => {
    const contenders = await Promise.all([1, 2, 3, 4].map(startContender));
    for (let round = 0; round < 60; round++) {
      const contested = join(folder.path, `lock-${round}`);
      leaveLock(contested, { started: "1" });
      const answers = await Promise.all(contenders.map((contender) => ask(contender, contested)));
      expect(answers.toSorted(), `round ${round}`).toEqual(["lost", "lost", "lost", "won"]);
    }
    expect(nodeDisk.list(folder.path)).toHaveLength(60);
  });

  it("is taken over from a recycled pid and from before a boot", () => {
    leaveLock(path(), { started: "1" });
    nodeDisk.lock(path()).release();
    leaveLock(path(), { boot: "an earlier one" });
    nodeDisk.lock(path()).release();
  });

  it("is taken over where a contender died in the middle of taking it over", () => {
    leaveLock(path(), { started: "1" });
    const { token } = JSON.parse(fs.readFileSync(path(), "utf8")) as { token: string };
    leaveLock(`${path()}.after-${token}`, { started: "2" });
    using _lock = nodeDisk.lock(path());
    expect(nodeDisk.list(folder.path)).toEqual([{ name: "lock", kind: "file" }]);
  });

  it("is honoured where its holder cannot be seen or its file not be read", () => {
    for (const holder of [
      { host: "elsewhere", boot: "another" },
      { namespace: "a container's", started: "1" },
    ]) {
      leaveLock(path(), holder);
      expect(() => nodeDisk.lock(path())).toThrow(expect.objectContaining({ code: "HT_LOCKED" }));
    }
    for (const text of ["", "null", "{}", '{"pid":1']) {
      writeText(nodeDisk, path(), text);
      expect(() => nodeDisk.lock(path())).toThrow(expect.objectContaining({ code: "HT_LOCKED" }));
    }
  });

  it("with a beacon is honoured while its holder lives in another container, and taken over after that", async () => {
    const elsewhere = { namespace: "a container's", host: "4f0c1d", started: "1" };
    const holder = rooms.start(`
      import { createServer } from "node:net";
      createServer().listen(${JSON.stringify(join(folder.path, "lock.theirs.alive"))}, () => console.log("lit"));
    `);
    children.push(holder);
    expect(await holder.line()).toBe("lit");
    leaveLock(path(), { ...elsewhere, beacon: "lock.theirs.alive" });
    expect(() => nodeDisk.lock(path(), "beacon")).toThrow(expect.objectContaining({ code: "HT_LOCKED" }));
    await holder.kill();
    // What the kill left: a socket on which nobody listens.
    expect(nodeDisk.list(folder.path).map(({ name }) => name)).toEqual(["lock", "lock.theirs.alive"]);
    const lock = nodeDisk.lock(path(), "beacon");
    const names = nodeDisk.list(folder.path).map(({ name }) => name);
    expect(names).toEqual(["lock", expect.stringMatching(/^lock\.[0-9a-f-]{36}\.alive$/)]);
    lock.release();
    await expect.poll(() => nodeDisk.list(folder.path)).toEqual([]);
  });

  it("with a beacon that is not there, of another boot, or of another folder is honoured", () => {
    const elsewhere = { namespace: "a container's", host: "4f0c1d" };
    writeText(nodeDisk, join(folder.path, "lock.file.alive"), "");
    for (const holder of [
      { ...elsewhere, beacon: "lock.nowhere.alive" },
      { ...elsewhere, beacon: "../lock.theirs.alive" },
      { ...elsewhere, boot: "another", beacon: "lock.file.alive" },
    ]) {
      leaveLock(path(), holder);
      expect(() => nodeDisk.lock(path(), "beacon")).toThrow(expect.objectContaining({ code: "HT_LOCKED" }));
    }
    expect(nodeDisk.list(folder.path).map(({ name }) => name)).toEqual(["lock", "lock.file.alive"]);
  });

  it("is not released over a lock that another took after ours was removed by hand", () => {
    const lock = nodeDisk.lock(path());
    nodeDisk.remove(path());
    leaveLock(path(), {});
    lock.release();
    expect(nodeDisk.stat(path())).toBeDefined();
  });

  it("works without hard links", () => {
    vi.spyOn(fs, "linkSync").mockImplementation(() => {
      throw Object.assign(new Error("injected"), { code: "EPERM" });
    });
    syncBuiltinESMExports();
    using _lock = nodeDisk.lock(path());
    expect(() => nodeDisk.lock(path())).toThrow(expect.objectContaining({ code: "HT_LOCKED" }));
  });

  it("needs its folder", () => {
    expect(() => nodeDisk.lock(join(path(), "below"))).toThrow(expect.objectContaining({ code: "HT_NOT_FOUND" }));
  });
});

describe("a process", () => {
  it("runs or is dead", () => {
    expect(stateOf(ownProcess())).toBe("running");
    expect(stateOf({ ...ownProcess(), pid: 2 ** 30 })).toBe("dead");
  });

  it("is dead as soon as it is killed, even if nobody has reaped it", async () => {
    // The shell becomes a sleep that knows nothing of the child it has.
    const shell = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
    const [printed] = (await once(shell.stdout, "data")) as [Buffer];
    const orphan = Number(printed.toString("latin1"));
    expect(isRunning(orphan)).toBe(true);
    process.kill(orphan, "SIGKILL");
    await vi.waitFor(() => expect(isRunning(orphan)).toBe(false));
    shell.kill("SIGKILL");
    await once(shell, "exit");
  });
});
