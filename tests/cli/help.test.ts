import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { holotypeAlone, linesOf, MAIN, type Outcome, put, ROOT, SAMPLES, temporaryFolder } from "./holotype.ts";

const overview = holotypeAlone(["--help"]).out;
const COMMANDS = linesOf(overview).flatMap((line) => /^ {2}([a-z]+(?: [a-z]+)?) {2,}\S/.exec(line)?.[1] ?? []);

function examplesOf(help: string): string[] {
  const lines = linesOf(help);
  const from = lines.findIndex((line) => /^examples?:$/.test(line));
  return lines.slice(from + 1).map((line) => line.trim());
}

/** Each line is told to the program anew, in one process: starting one for each takes most of the time. */
function holotypeEach(lines: readonly (readonly string[])[]): Outcome[] {
  const code = `
    const { writeSync } = require("node:fs");
    const [main, lines] = process.argv.slice(1);
    const left = JSON.parse(lines);
    function begin() {
      process.argv = [process.execPath, main, ...left.shift()];
      for (const path of [main, require("node:path").join(main, "../main.js")]) delete require.cache[path];
      require(main);
    }
    // Each has come to its end when nothing is left to be done.
    process.on("beforeExit", () => {
      writeSync(1, "\\0" + process.exitCode + "\\0");
      writeSync(2, "\\0");
      process.exitCode = 0;
      if (left.length > 0) setImmediate(begin);
    });
    begin();`;
  const args = ["-e", code, MAIN, JSON.stringify(lines)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const told = stdout.split("\0");
  const talk = stderr.split("\0");
  return lines.map((_, i) => ({ exit: Number(told[2 * i + 1]), out: told[2 * i]!, err: talk[i]! }));
}

const HELP_LINES = COMMANDS.map((command) => [...command.split(" "), "--help"]);
const HELP = new Map(holotypeEach(HELP_LINES).map((outcome, i) => [COMMANDS[i]!, outcome]));

describe("holotype --help", () => {
  it("names every command with its purpose, and an example", () => {
    const first = ["ls", "cat", "check", "index", "convert"];
    const deduplication = ["survey", "dedup", "commit", "verify", "restore"];
    const stages = ["manifest", "resolve", "plan", "split", "merge", "rewrite"];
    const archive = ["add", "at", "history", "slice", "changes", "same", "stats"];
    const care = ["remove", "compact", "doctor", "rebuild", "export"];
    const digests = ["build", "lookup", "info", "merge", "export", "check", "report"].map((word) => `digests ${word}`);
    const volume = ["create", "serve", "check", "compact", "rebuild", "state"].map((word) => `volume ${word}`);
    const words = ["put", "get", "stat", "delete", "list", "volumes", "migrate", "repair", "bench"];
    const store = words.map((word) => `store ${word}`);
    const timeline = ["info", "check", "dump", "load", "query"].map((word) => `timeline ${word}`);
    expect(COMMANDS).toEqual([
      ...first,
      ...deduplication,
      ...stages,
      ...archive,
      ...care,
      "fetch",
      "serve",
      "up",
      ...digests,
      ...store,
      ...volume,
      ...timeline,
    ]);
    expect(examplesOf(overview)).toEqual([expect.stringMatching(/^holotype /)]);
  });

  it("names the exit codes of docs/errors.md, and no other", () => {
    const page = readFileSync(join(ROOT, "docs", "errors.md"), "utf8");
    const documented = [...page.matchAll(/^\| (\d+) +\|/gm)].map(([, exit]) => exit);
    const told = /Exit codes: ([^]*?)\n\n/.exec(overview)![1]!;
    expect(told.match(/(?<=^|[\s·])\d+(?= )/g)).toEqual(documented);
  });

  it("comes for help, -h and --help, and with exit 2 where nothing was asked", () => {
    for (const args of [["help"], ["-h"], ["--help"]])
      expect(holotypeAlone(args)).toEqual({ exit: 0, out: overview, err: "" });
    expect(holotypeAlone([])).toEqual({ exit: 2, out: overview, err: "" });
  });

  it("comes for a command with help COMMAND and -h too", () => {
    const { out } = holotypeAlone(["ls", "--help"]);
    expect(HELP.get("ls")!.out).toBe(out);
    expect(holotypeAlone(["help", "ls"]).out).toBe(out);
    expect(holotypeAlone(["ls", "-h"]).out).toBe(out);
  });

  it("comes for the commands that begin with one word", () => {
    const { exit, out } = holotypeAlone(["volume", "--help"]);
    expect(exit).toBe(0);
    const told = linesOf(out).flatMap((line) => /^ {2}([a-z]+ [a-z]+) {2,}\S/.exec(line)?.[1] ?? []);
    expect(told).toEqual(COMMANDS.filter((command) => command.startsWith("volume ")));
    expect(holotypeAlone(["help", "volume"]).out).toBe(out);
    expect(holotypeAlone(["volume"])).toEqual({ exit: 2, out, err: "" });
    expect(holotypeAlone(["help", "volume", "check"]).out).toBe(holotypeAlone(["volume", "check", "-h"]).out);
  });

  it("tells the version of package.json", () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
    expect(holotypeAlone(["--version"]).out).toBe(`${version}\n`);
  });
});

/** A URL, a time; a digest index or what one is built from; a volume, a store, a key; archive files, or manifests for the stages; what must come before stands before. */
const USAGE =
  /(?:\[URL|\[FILE|URL|TIME|INPUT|INDEX|\[--(?:by|dead|scrub|archive)|DIR|FILE|KEY|FROM TO|--instance PATH|\[MANIFEST|N \[MANIFEST|--plan PLAN FILE|JOB)/;
/** What a command may say beside its data: counts, and what it adds. */
const TALK = /^(?:(?:[\d,]+ [a-z]|adding )[^\n]*\n)*$/;

describe.each(COMMANDS)("holotype %s --help", (command) => {
  const { exit, out, err } = HELP.get(command)!;
  const lines = linesOf(out);

  it("begins with one line of purpose and one of usage", () => {
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    expect(lines[0]).toMatch(/^[A-Z].{10,90}\.$/);
    expect(overview).toContain(lines[0]);
    expect(lines.slice(1, 4)).toEqual(["", expect.stringMatching(`^usage: holotype ${command} ${USAGE.source}`), ""]);
  });

  it("explains its options, --json and --help among them, in lines that fit a terminal", () => {
    expect(lines).toContain("options:");
    const options = lines.filter((line) => /^ {2}(?:-\w, | {4})--/.test(line));
    for (const option of options) expect(option).toMatch(/--[a-z-]+(?: [A-Z]+)? {2,}\S/);
    expect(out).toMatch(/ --json {2,}/);
    expect(out).toMatch(/-h, --help {2,}/);
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
  });
});

describe("every example", () => {
  const folder = temporaryFolder();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  chmodSync(put(bin, "holotype", `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`), 0o755);
  const path = `${bin}:${process.env["PATH"]}`;

  // A server goes on until it is told to end, and to fetch takes one: tests/cli/volume, serve and fetch.test.ts do both.
  const ending = COMMANDS.filter((command) => command !== "fetch" && !/\bserve$/.test(command));

  /** What the first line of an example leaves behind, for others that begin with it: it is run once. */
  const beginnings = new Map<string, string>();

  it.each(["", ...ending])("of holotype %s works on the samples as it stands", (command) => {
    const cwd = join(folder, `at-${command.replace(" ", "-")}`);
    const examples = examplesOf(HELP.get(command)?.out ?? overview);
    expect(examples.length).toBeGreaterThan(0);
    const [first] = examples as [string];
    const begun = beginnings.get(first);
    if (begun === undefined) cpSync(SAMPLES, join(cwd, "samples"), { recursive: true });
    else cpSync(begun, cwd, { recursive: true });
    for (const example of begun === undefined ? examples : examples.slice(1)) {
      // What it writes to the folder for temporary files goes to ours.
      const line = example.replaceAll("/tmp/", `${cwd}/`);
      const { status, stdout, stderr } = spawnSync("sh", ["-c", line], { cwd, env: { ...process.env, PATH: path } });
      expect({ line, status, err: stderr.toString() }).toEqual({ line, status: 0, err: expect.stringMatching(TALK) });
      if (!/ -o | > | uniq -d$/.test(line)) expect(stdout.length, line).toBeGreaterThan(100);
      if (example !== first) continue;
      beginnings.set(first, `${cwd}-begun`);
      cpSync(cwd, `${cwd}-begun`, { recursive: true });
    }
  });
});
