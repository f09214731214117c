import { describe, expect, it } from "vitest";
import { loadZstd } from "../../src/warc/index.ts";
import { response, warcFile } from "./archives.ts";
import { holotype, holotypeAlone, put, SAMPLE, SAMPLES, temporaryFolder, withFlippedByte } from "./holotype.ts";
import { SharedProcess } from "./shared-process.ts";

await loadZstd();
const folder = temporaryFolder();

describe("a process that is told many command lines", () => {
  const damaged = put(folder, "damaged.warc.gz", withFlippedByte(SAMPLE, 1500));
  const zstd = put(folder, "a.warc.zst", warcFile([response("http://a.example/", "a")], { compression: "zstd" }));
  const absent = `${folder}/absent.warc.gz`;

  it.each([
    [["ls", SAMPLES]],
    [["ls", "--json", "-j", "2", SAMPLES]],
    [["cat", SAMPLE, "--offset", "0"]],
    [["check", zstd]],
    [["manifest", "--digest", "blake3", SAMPLE]],
    [["ls", absent, SAMPLE]],
    [["ls", damaged]],
    [["ls", absent]],
    [["frobnicate", "ä\n"]],
    [[]],
  ])("says what one of its own says: %j", (args) => {
    const alone = holotypeAlone(args);
    for (let time = 0; time < 2; time++) expect(holotype(args)).toEqual(alone);
  });

  it("has the folder that it is told", () => {
    expect(holotype(["ls", "damaged.warc.gz"], { cwd: folder }).exit).toBe(4);
    expect(holotype(["ls", "damaged.warc.gz"]).exit).toBe(20);
  });
});

describe("a program that is run again in its process", () => {
  put(folder, "state.js", "exports.lines = 0;");
  const main = put(
    folder,
    "main.js",
    `#!/usr/bin/env node
    const state = require("./state.js");
    const { writeSync } = require("node:fs");
    writeSync(1, "line " + ++state.lines + ", process " + process.pid);
    writeSync(2, process.listenerCount("SIGINT") + " listeners");
    process.on("SIGINT", () => {});
    const [how] = process.argv.slice(2);
    if (how === "throw") setTimeout(() => { throw new Error("nobody caught this"); }, 1);
    if (how === "reject") void Promise.reject(new Error("nobody caught this"));
    if (how === "exit") process.exit(7);
    if (how === "late") setTimeout(() => { process.exitCode = 3; }, 50);
    if (how === "broken off") process.exitCode = 24;
    if (how === "much") writeSync(1, "x".repeat(60_000));`,
  );
  const shared = new SharedProcess(main);
  const tell = (...args: readonly string[]) => {
    const { exit, out, err } = shared.tell({ args, cwd: folder });
    const [, line, pid] = /^line (\d+), process (\d+)/.exec(out.toString())!;
    return { exit, size: out.length, err: err.toString(), line, pid };
  };

  it("finds nothing of the line before", () => {
    const first = tell();
    expect(first).toMatchObject({ exit: 0, err: "0 listeners", line: "1" });
    expect(tell()).toEqual(first);
  });

  it("is at its end when nothing is left to be done", () => {
    const { pid, size } = tell();
    expect(tell("late")).toMatchObject({ exit: 3, pid });
    expect(tell("much")).toMatchObject({ exit: 0, pid, size: size + 60_000 });
    expect(tell()).toMatchObject({ exit: 0, pid, size });
  });

  it.each([
    ["throw", 1, "nobody caught this"],
    ["reject", 1, "nobody caught this"],
    ["exit", 7, ""],
    ["broken off", 24, ""],
  ])("has another process after one that it ended: %s", (how, exit, said) => {
    const { pid } = tell();
    expect(tell(how)).toMatchObject({ exit, pid, err: expect.stringContaining(said) as string });
    const next = tell();
    expect(next).toMatchObject({ exit: 0, err: "0 listeners" });
    expect(next.pid).not.toBe(pid);
  });
});
