/** `commit` under a power cut at any operation, on a full disk, and killed as a real process. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Disk } from "../../src/disk/index.ts";
import { commitJob, dedup } from "../../src/pipeline/index.ts";
import { createDice } from "../../src/testing/dice.ts";
import { readAll } from "../../src/testing/disk-suite.ts";
import { everyFullDisk, everyStop } from "../../src/testing/every-stop.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { response, warcFile } from "../cli/archives.ts";
import { put, temporaryFolder } from "../cli/holotype.ts";
import { countCalls, runAtCall, spreadCalls } from "./run-at-call.ts";

/** Contents that several files hold; the first file and the last one have no duplicate. */
function makeFiles(): Map<string, Buffer> {
  const dice = createDice(7);
  const bodies = Array.from({ length: 6 }, (_, i) => Buffer.from(dice.bytes(1000 + 200 * i)));
  const file = (year: number, compression: "gzip" | "none", contents: readonly number[]) =>
    warcFile(
      contents.map((content, i) =>
        response(`http://site.example/${year}/${i}`, bodies[content]!, { date: `${year}-01-0${i + 1}T00:00:00Z` }),
      ),
      { compression },
    );
  return new Map([
    ["a.warc.gz", file(2001, "gzip", [0, 1, 2])],
    ["b.warc", file(2002, "none", [1, 2, 3])],
    ["sub/c.warc.gz", file(2003, "gzip", [3, 4, 0, 4])],
    ["sub/d.warc.gz", file(2004, "gzip", [5])],
  ]);
}

const FILES = makeFiles();
const CLOCK = { now: () => 1_600_000_000_000 };

function write(disk: Disk, path: string, bytes: Uint8Array): void {
  disk.makeFolder(path.slice(0, path.lastIndexOf("/")));
  using file = disk.open(path, "create");
  file.write(bytes, 0);
}

function snapshot(disk: Disk, folder = ""): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const { name, kind } of disk.list(folder === "" ? "/" : folder)) {
    const path = `${folder}/${name}`;
    if (kind === "folder") for (const [below, bytes] of snapshot(disk, path)) files.set(below, bytes);
    else files.set(path, Buffer.from(readAll(disk, path)));
  }
  return files;
}

/** A disk with a finished job in /out, and a copy of its inputs. */
const made = new ForgetfulDisk();
for (const [name, bytes] of FILES) for (const folder of ["/in", "/copy"]) write(made, `${folder}/${name}`, bytes);
await dedup(made, ["/in"], { output: "/out", threads: 1, clock: CLOCK });
const JOB = "/out/holotype-job";
const READY = snapshot(made);

function prepare(disk: Disk): void {
  for (const [path, bytes] of READY) write(disk, path, bytes);
}

/** How many files of the copy are replaced; each must be wholly one or the other. */
function checkCopy(disk: Disk): number {
  let replaced = 0;
  for (const [name, before] of FILES) {
    const now = readAll(disk, `/copy/${name}`);
    const after = READY.get(`/out/${name}`)!;
    if (after.equals(now)) replaced++;
    else expect(before.equals(now), `${name} is neither the old file nor the new one`).toBe(true);
  }
  return replaced;
}

describe("commit", () => {
  it("leaves the copy whole after a power cut at any operation, and goes on", { timeout: 120_000 }, async () => {
    const run = (disk: Disk) => commitJob(disk, JOB, "/copy");
    const states = new Set<number>();
    let checks = 0;
    const operations = await everyStop(
      async (disk) => void (await run(disk)),
      async (disk, stoppedAt) => {
        states.add(checkCopy(disk));
        if (checks++ % 5 !== 0 && stoppedAt !== undefined) return;
        await run(disk);
        expect(checkCopy(disk)).toBe(FILES.size);
        const names = [...snapshot(disk, "/copy").keys()].map((path) => path.slice("/copy/".length));
        expect(names.sort()).toEqual([...FILES.keys()].sort());
      },
      { prepare },
    );
    expect(operations).toBeGreaterThan(30);
    // Two files have no duplicate and are the same in both forms; the others come one by one.
    expect(states).toEqual(new Set([2, 3, 4]));
  });

  it("leaves it whole on a full disk", async () => {
    await everyFullDisk(
      async (disk) => void (await commitJob(disk, JOB, "/copy")),
      (disk, failure) => {
        if (failure !== undefined) expect(failure).toMatchObject({ code: "HT_NO_SPACE" });
        checkCopy(disk);
      },
      { prepare },
    );
  });

  it("changes no byte where any byte of the copy is another", async () => {
    const dice = createDice(11);
    for (const [name, bytes] of FILES) {
      for (let round = 0; round < 8; round++) {
        const disk = new ForgetfulDisk();
        prepare(disk);
        const wrong = Buffer.from(bytes);
        const at = dice.below(wrong.length);
        wrong[at]! ^= 1 + dice.below(255);
        disk.remove(`/copy/${name}`);
        write(disk, `/copy/${name}`, round === 0 ? bytes.subarray(0, -1) : wrong);
        const before = snapshot(disk, "/copy");
        const code = await commitJob(disk, JOB, "/copy").catch((error: { code: string }) => error.code);
        expect({ name, at, code }).toEqual({ name, at, code: "HT_CHANGED" });
        expect(snapshot(disk, "/copy")).toEqual(before);
      }
    }
  });
});

describe("holotype commit as a process", () => {
  const { HOLOTYPE_LONG_RUNS: long } = process.env;
  const work = temporaryFolder();

  it("killed at calls all over its run, and run again", { timeout: 600_000 }, () => {
    const [first, second] = ["first", "second"].map((name) => join(work, name)) as [string, string];
    for (const folder of [first, second]) {
      mkdirSync(join(folder, "sub"), { recursive: true });
      for (const [name, bytes] of FILES) put(folder, name, bytes);
    }
    expect(runAtCall(["dedup", first, "--in-place", "--threads", "1"]).exit).toBe(0);
    const commit = (copy: string) => ["commit", join(first, "holotype-job"), "--to", copy];
    const fresh = () => {
      const copy = join(work, "killed");
      rmSync(copy, { recursive: true, force: true });
      cpSync(second, copy, { recursive: true });
      return copy;
    };
    const calls = countCalls(commit(fresh()), work);
    const kills = long === undefined ? 12 : calls;
    for (const call of spreadCalls(calls, kills)) {
      const copy = fresh();
      expect(runAtCall(commit(copy), call).signal, `at call ${call} of ${calls}`).toBe("SIGKILL");
      for (const [name, before] of FILES) {
        const now = readFileSync(join(copy, name));
        const isWhole = now.equals(before) || now.equals(readFileSync(join(first, name)));
        expect(isWhole, `${name}, killed at call ${call} of ${calls}`).toBe(true);
      }
      expect(runAtCall(commit(copy)).exit).toBe(0);
      for (const name of FILES.keys()) expect(readFileSync(join(copy, name))).toEqual(readFileSync(join(first, name)));
      expect(readdirSync(copy).sort()).toEqual(["a.warc.gz", "b.warc", "sub"]);
    }
  });
});
