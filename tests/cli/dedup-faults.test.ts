/** What the whole command does when something goes wrong in the middle of it. */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { digestOf } from "../../src/base/index.ts";
import { createDice } from "../../src/testing/dice.ts";
import { bufferSource, payloadOf, refersToOf, WarcReader } from "../../src/warc/index.ts";
import { response, warcFile } from "./archives.ts";
import { ended, holotype, put, startHolotype, temporaryFolder } from "./holotype.ts";

const dice = createDice(21);
const PAGES = Array.from({ length: 24 }, () => Buffer.from(dice.bytes(4000)));

function capture(path: string, body: Buffer, year: number) {
  return response(`http://site.example/${path}`, body, { date: `${year}-01-01T00:00:00Z` });
}

function archive(name: string, bodies: readonly Buffer[], year: number): Buffer {
  return warcFile(
    bodies.map((body, i) => capture(`${name}/${i}`, body, year)),
    { compression: "gzip" },
  );
}

/**
 * `first` and `second` hold payloads of their own, `copies` has those of both, and the files behind them give the command
 * something to do for a while.
 */
function makeInputs(parent: string): string {
  const folder = join(parent, "in");
  mkdirSync(folder);
  put(folder, "copies.warc.gz", archive("copies", PAGES, 2009));
  put(folder, "first.warc.gz", archive("first", PAGES.slice(0, 12), 2001));
  put(folder, "second.warc.gz", archive("second", PAGES.slice(12), 2002));
  for (let i = 0; i < 24; i++) {
    const own = Array.from({ length: 10 }, () => Buffer.from(dice.bytes(9000)));
    put(folder, `more-${i}.warc.gz`, archive(`more-${i}`, [...own, ...PAGES.slice(0, 4)], 2010 + i));
  }
  return folder;
}

const work = temporaryFolder();
const inputs = makeInputs(work);
let folders = 0;

/** A folder with a copy of the inputs. */
function fresh(): { folder: string; input: string; output: string } {
  const folder = join(work, `case-${folders++}`);
  const input = join(folder, "in");
  cpSync(inputs, input, { recursive: true, preserveTimestamps: true });
  return { folder, input, output: join(folder, "out") };
}

function archivesIn(folder: string): Record<string, Buffer> {
  const names = readdirSync(folder).filter((name) => name.endsWith(".warc.gz"));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name))]));
}

function differing(one: Record<string, Buffer>, other: Record<string, Buffer>): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter((name) => one[name]?.equals(other[name] ?? Buffer.alloc(0)) !== true).sort();
}

const WHOLE = join(work, "whole");
const whole = holotype(["dedup", inputs, "-o", WHOLE, "--threads", "1"]);
const EXPECTED = archivesIn(WHOLE);

/** Runs a command until a file is there and stops it then; undefined where it was done before. */
async function stopWhenThere(args: readonly string[], path: string, signal: NodeJS.Signals) {
  const child = startHolotype(args);
  let stopped = false;
  const timer = setInterval(() => {
    if (stopped || !existsSync(path)) return;
    stopped = true;
    child.kill(signal);
  }, 1);
  child.stdout.resume();
  const { exit, err } = await ended(child);
  clearInterval(timer);
  return exit === 0 ? undefined : { exit, err };
}

/** The same with a job that may have to be begun again, because it was too fast. */
async function stopped(
  argsOf: (place: ReturnType<typeof fresh>) => readonly string[],
  file: (place: ReturnType<typeof fresh>) => string,
  signal: NodeJS.Signals,
) {
  for (let attempt = 0; attempt < 10; attempt++) {
    const place = fresh();
    const outcome = await stopWhenThere(argsOf(place), file(place), signal);
    if (outcome !== undefined) return { ...place, ...outcome };
  }
  throw new Error("the command was always done before it could be stopped");
}

it("has something to do", () => {
  expect(whole).toMatchObject({ exit: 0 });
  expect(differing(EXPECTED, archivesIn(inputs)).length).toBeGreaterThan(20);
});

describe("Ctrl-C and SIGTERM", () => {
  it.each([
    ["SIGINT", "1"],
    ["SIGINT", "2"],
    ["SIGTERM", "2"],
  ] as const)("end the command with 130 and a word: %s with %s threads, and it can go on", async (signal, threads) => {
    const args = ({ input, output }: ReturnType<typeof fresh>) => ["dedup", input, "-o", output, "--threads", threads];
    const place = await stopped(args, ({ output }) => join(output, "holotype-job", "job.json"), signal);
    expect(place.exit).toBe(130);
    expect(place.err).toContain("Run the same command again");
    const again = holotype(args(place));
    expect(again).toMatchObject({ exit: 0 });
    expect(again.err).toContain("going on with the job");
    expect(differing(archivesIn(place.output), EXPECTED)).toEqual([]);
  });
});

describe("SIGTERM", () => {
  it("ends restore with 130 and a word, and it can go on", async () => {
    const args = ({ folder }: ReturnType<typeof fresh>) => [
      "restore",
      WHOLE,
      "-o",
      join(folder, "restored"),
      "-j",
      "2",
    ];
    const lock = ({ folder }: ReturnType<typeof fresh>) => join(folder, "restored", ".holotype-restore.lock");
    const place = await stopped(args, lock, "SIGTERM");
    expect(place.exit).toBe(130);
    expect(place.err).toContain("Run the same command again");
    expect(holotype(args(place))).toMatchObject({ exit: 0 });
    expect(differing(archivesIn(join(place.folder, "restored")), archivesIn(inputs))).toEqual([]);
  });
});

describe("an input that changes while the job runs", () => {
  const planned = (job: string) => join(job, "holotype-job", "sorted.tsv");
  const changes: Record<string, (path: string) => void> = {
    grows: (path) => appendFileSync(path, archive("new", PAGES.slice(3, 5), 2030)),
    "is another": (path) => writeFileSync(path, archive("other", [Buffer.from("nothing of the old")], 2001)),
  };

  it.each(Object.keys(changes))("and %s is named and has no output, and nothing refers to it", async (kind) => {
    const args = ({ input, output }: ReturnType<typeof fresh>) => ["dedup", input, "-o", output, "--threads", "2"];
    const place = await stopped(args, ({ output }) => planned(output), "SIGKILL");
    changes[kind]!(join(place.input, "first.warc.gz"));
    const { exit, err } = holotype(args(place));
    expect(exit).toBe(3);
    expect(err).toMatch(/skipped .*first\.warc\.gz.*HT_CHANGED/);
    expect(existsSync(join(place.output, "first.warc.gz"))).toBe(false);
    expect(referredFiles(place.output)).not.toContain("first");
    expect(referredFiles(place.output)).toContain("second");
    // A run that finds all done does not call that a success.
    expect(holotype(args(place))).toMatchObject({ exit: 3 });
  });

  it.each(Object.keys(changes))(
    "and %s is named and left alone in place, and so is what would refer to it",
    async (kind) => {
      const args = ({ input }: ReturnType<typeof fresh>) => ["dedup", input, "--in-place", "--threads", "2"];
      const place = await stopped(args, ({ input }) => planned(input), "SIGKILL");
      const path = join(place.input, "first.warc.gz");
      const isWhole = differing(archivesIn(place.input), archivesIn(inputs)).length === 0;
      changes[kind]!(path);
      const changed = readFileSync(path);
      const { exit, err } = holotype(args(place));
      expect(exit).toBe(3);
      expect(err).toMatch(/skipped .*first\.warc\.gz.*HT_CHANGED/);
      expect(readFileSync(path).equals(changed)).toBe(true);
      if (isWhole) expect(referredFiles(place.input)).not.toContain("first");
      expect(referredFiles(place.input)).toContain("second");
    },
  );
});

/** The files whose records are referred to; each file has its name in its URIs. */
function referredFiles(folder: string): Set<string> {
  const found = new Set<string>();
  for (const bytes of Object.values(archivesIn(folder))) {
    for (const record of new WarcReader(bufferSource(bytes))) {
      const uri = refersToOf(record)?.uri;
      if (uri !== undefined) found.add(uri.split("/")[3]!);
    }
  }
  return found;
}

/** The payloads that lie in the files, each once. */
function payloadsIn(folder: string): string[] {
  const found = new Set<string>();
  for (const bytes of Object.values(archivesIn(folder))) {
    for (const record of new WarcReader(bufferSource(bytes))) {
      if (record.type === "response") found.add(digestOf("sha1", Buffer.concat([...payloadOf(record).chunks])).hex);
    }
  }
  return [...found].sort();
}

describe("a job folder", () => {
  const damaged: Record<string, [string, number]> = {
    "is empty": ["", 23],
    "breaks off": ['{"format":"holotype-job/1","settings":{"dig', 23],
    "is no object": ["null", 23],
    "has no settings": ['{"format":"holotype-job/1"}', 23],
    "is garbage": ["\u0000\u0001\u0002", 23],
    "is of a later version": ['{"format":"holotype-job/99"}', 22],
  };

  it.each(Object.entries(damaged))("whose job.json %s is told of, and nothing is touched", (_, [text, code]) => {
    const { folder, input, output } = fresh();
    mkdirSync(join(folder, "job"));
    const path = put(join(folder, "job"), "job.json", text);
    const { exit, err } = holotype(["dedup", input, "-o", output, "--job", join(folder, "job")]);
    expect(exit).toBe(code);
    expect(err).toContain(path);
    expect(existsSync(output)).toBe(false);
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  it("is refused with other settings, other files or from another folder, and says what to do", () => {
    const { folder, input } = fresh();
    const run = (args: readonly string[], cwd = folder) =>
      holotype(["dedup", ...args, "-o", join(folder, "out"), "--threads", "1"], { cwd });
    expect(run(["in/first.warc.gz", "in/copies.warc.gz"])).toMatchObject({ exit: 0 });
    const others = [
      run(["in/first.warc.gz", "in/copies.warc.gz", "--digest", "sha1"]),
      run(["in/first.warc.gz", "in/copies.warc.gz", "--same-url"]),
      run(["in/first.warc.gz"]),
      // Other files under the same names.
      run(["in/first.warc.gz", "in/copies.warc.gz"], copyOf(folder, input)),
    ];
    for (const { exit, err } of others) {
      expect(exit, err).toBe(2);
      expect(err).toContain("another job");
      expect(err).toContain("--job");
    }
    expect(others[0]!.err).toContain("another digest");
  });

  it("is held by one process at a time", async () => {
    const { input, output } = fresh();
    const args = ["dedup", input, "-o", output];
    const first = startHolotype(args);
    first.stdout.resume();
    const end = ended(first);
    const lock = join(output, "holotype-job", "lock");
    while (!existsSync(lock) && first.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 1));
    const second = holotype(args);
    // Where the machine is busy the first may be done before the second has begun.
    if (second.exit === 0) process.stderr.write("the first was done before the second began: not tested\n");
    else {
      expect(second.exit).toBe(21);
      expect(second.err).toContain(`locked by process ${first.pid}`);
    }
    expect((await end).exit).toBe(0);
    expect(differing(archivesIn(output), EXPECTED)).toEqual([]);
  });
});

function copyOf(folder: string, input: string): string {
  const other = join(folder, "other");
  mkdirSync(other);
  cpSync(input, join(other, "in"), { recursive: true, preserveTimestamps: true });
  return other;
}

describe("what is named and cannot be taken", () => {
  it("is told of, also where its name is no text", () => {
    const { folder } = fresh();
    const input = join(folder, "odd");
    mkdirSync(input);
    put(input, "first.warc.gz", readFileSync(join(inputs, "first.warc.gz")));
    // Bytes that are no UTF-8: such a file cannot be opened by the name that Node gives it.
    writeFileSync(Buffer.concat([Buffer.from(`${input}/`), Buffer.from([0xff]), Buffer.from(".warc.gz")]), PAGES[0]!);
    const { exit, err } = holotype(["dedup", input, "-o", join(folder, "out"), "--threads", "1"]);
    expect(exit).toBe(3);
    expect(err).toMatch(/skipped .*\.warc\.gz/);
  });

  // Those of the second set, a manifest cannot tell from the first two of the other: together they are refused.
  it.each([
    [["tab\there", "line\nbreak", "mark!here", " ", "ü".repeat(120)]],
    [["tab%09here", "line%0Abreak", "mark!here", "%"]],
  ])("but files with odd names come out whole, and are theirs: %j", (names) => {
    const { folder } = fresh();
    const input = join(folder, "odd");
    const output = join(folder, "out");
    mkdirSync(input);
    names.forEach((name, i) => {
      put(input, `${name}.warc.gz`, archive(`odd-${i}`, PAGES.slice(i, i + 6), 2001 + ((i * 5) % 7)));
    });
    const before = payloadsIn(input);
    expect(holotype(["dedup", input, "-o", output, "--threads", "1"])).toMatchObject({ exit: 0 });
    expect(payloadsIn(output)).toEqual(before);
    expect(Object.keys(archivesIn(output))).toEqual(Object.keys(archivesIn(input)));
    const back = join(folder, "back");
    expect(holotype(["restore", output, "-o", back, "--threads", "1"])).toMatchObject({ exit: 0 });
    expect(differing(archivesIn(back), archivesIn(input))).toEqual([]);
    const stages = [["manifest", input, "--revisits"], ["resolve", "--threads", "1"], ["plan"]];
    const text = stages.reduce((lines, stage) => holotype(stage, { input: Buffer.from(lines) }).out, "");
    const staged = join(folder, "staged");
    holotype(["rewrite", "--plan", put(folder, "plan.tsv", text), input, "-o", staged, "--threads", "1"]);
    expect(differing(archivesIn(staged), archivesIn(output))).toEqual([]);
    expect(holotype(["dedup", input, "--in-place", "--threads", "1"])).toMatchObject({ exit: 0 });
    expect(differing(archivesIn(input), archivesIn(output))).toEqual([]);
  });

  it("in place, a symbolic link stays one", () => {
    const { folder } = fresh();
    const input = join(folder, "linked");
    mkdirSync(input);
    put(input, "first.warc.gz", readFileSync(join(inputs, "first.warc.gz")));
    symlinkSync(join(folder, "in", "copies.warc.gz"), join(input, "copies.warc.gz"));
    const { exit, err } = holotype(["dedup", input, "--in-place", "--threads", "1"]);
    expect(exit).toBe(3);
    expect(err).toMatch(/skipped .*copies\.warc\.gz.*symbolic link/);
    expect(readFileSync(join(input, "copies.warc.gz")).equals(readFileSync(join(inputs, "copies.warc.gz")))).toBe(true);
  });
});

describe("a plan that was made before", () => {
  it("replaces nothing whose original is no longer there", () => {
    const { folder, input } = fresh();
    const files = ["first", "second", "copies"].map((name) => join(input, `${name}.warc.gz`));
    const manifest = put(folder, "manifest.tsv", holotype(["manifest", ...files]).out);
    const resolved = put(folder, "resolved.tsv", holotype(["resolve", manifest]).out);
    const plan = put(folder, "plan.tsv", holotype(["plan", resolved]).out);
    put(input, "first.warc.gz", archive("other", [Buffer.from("nothing of the old")], 2001));
    const { exit, err } = holotype(["rewrite", "--plan", plan, ...files, "--in-place", "--threads", "1"]);
    expect(exit, err).toBe(0);
    const pages = PAGES.map((page) => digestOf("sha1", page).hex);
    expect(payloadsIn(input)).toEqual(expect.arrayContaining(pages));
    const copies = [...new WarcReader(bufferSource(readFileSync(files[2]!)))].map((record) => record.type);
    expect(copies.filter((type) => type === "revisit")).toHaveLength(12);
  });
});

describe("--dry-run", () => {
  it("touches nothing", () => {
    const { folder, input } = fresh();
    const look = () =>
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .sort()
        .map((name) => [name, statSync(join(folder, name)).mtimeMs]);
    const before = look();
    for (const target of [["--in-place"], ["-o", join(folder, "out")]]) {
      expect(holotype(["dedup", input, "--dry-run", "--threads", "1", ...target])).toMatchObject({ exit: 0 });
    }
    expect(look()).toEqual(before);
  });
});

describe("a disk that is full", () => {
  it("ends the command with 24 and says how much is needed; with more room it goes on", ({ skip }) => {
    const { folder, input } = fresh();
    const disk = join(folder, "disk");
    mkdirSync(disk);
    const mount = (...args: string[]) => spawnSync("mount", args, { encoding: "utf8" });
    const mounted = mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", disk);
    if (mounted.status !== 0) {
      const reason = `no small disk can be made here: ${(mounted.stderr ?? String(mounted.error)).trim()}`;
      process.stderr.write(`${reason}\n`);
      return skip(reason);
    }
    onTestFinished(() => void spawnSync("umount", [disk]));
    const args = ["dedup", input, "-o", join(disk, "out"), "--threads", "2"];
    const full = holotype(args);
    expect(full.exit, full.err).toBe(24);
    expect(full.err).toMatch(/up to \d+ bytes are needed/);
    expect(full.err).toContain("run the same command again");
    for (const [name, bytes] of Object.entries(archivesIn(join(disk, "out"))))
      expect(bytes.equals(EXPECTED[name]!)).toBe(true);
    expect(mount("-o", "remount,size=64m", disk).status).toBe(0);
    expect(holotype(args)).toMatchObject({ exit: 0 });
    expect(differing(archivesIn(join(disk, "out")), EXPECTED)).toEqual([]);
    const left = readdirSync(join(disk, "out"), { recursive: true, encoding: "utf8" });
    expect(left.filter((name) => /\.(?:partial|draft)$/.test(name))).toEqual([]);
  });
});
