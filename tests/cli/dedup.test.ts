import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkDeduplicated } from "../../src/testing/deduplicated.ts";
import { response, warcFile } from "./archives.ts";
import {
  linesOf,
  list,
  put,
  holotype as run,
  SAMPLES,
  type Surroundings,
  temporaryFolder,
  withFlippedByte,
} from "./holotype.ts";

const folder = temporaryFolder();

/** On one thread, which is faster for little. */
function holotype(args: readonly string[], surroundings: Surroundings = {}) {
  const [command, ...rest] = args;
  return run(command === "check" ? args : [command!, "-j", "1", ...rest], surroundings);
}

const NAMES = readdirSync(SAMPLES).filter((name) => name.endsWith(".warc.gz"));

interface Result {
  readonly files: number;
  readonly records: number;
  readonly duplicates: number;
  readonly replaced: number;
  readonly left: Readonly<Record<string, number>>;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly savedBytes: number;
  readonly damage: number;
  readonly job: string;
  readonly resumed: boolean;
  readonly skipped: readonly { name: string; code: string }[];
  readonly report?: { json: string; html: string };
}

function dedupJson(...args: readonly string[]): { exit: number | null; result: Result; err: string } {
  const { exit, out, err } = holotype(["dedup", "--json", ...args]);
  return { exit, result: JSON.parse(out === "" ? "{}" : out) as Result, err };
}

function filesIn(path: string) {
  return NAMES.map((name) => ({ name, bytes: readFileSync(join(path, name)) }));
}

describe("dedup of the samples", () => {
  const output = join(folder, "samples");
  const { exit, out, err } = run(["dedup", SAMPLES, "-o", output, "--threads", "2"]);
  const bytes = filesIn(output);

  it("replaces what is there twice, and says how much that saves", () => {
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    const { replaced } = checkDeduplicated(filesIn(SAMPLES), bytes);
    const size = (path: string) => filesIn(path).reduce((sum, file) => sum + file.bytes.length, 0);
    const saved = size(SAMPLES) - size(output);
    expect(out).toMatch(new RegExp(`^duplicates +\\d+ found, ${replaced.length} replaced$`, "m"));
    expect(out).toMatch(new RegExp(`^saved +.* ${saved.toLocaleString("en")} bytes$`, "m"));
    expect(replaced.length).toBeGreaterThan(40);
    expect(saved / size(SAMPLES)).toBeGreaterThan(0.4);
  });

  it("lists what it did with --json, and is the same on one thread", () => {
    const again = join(folder, "one-thread");
    const { exit: code, result } = dedupJson(
      SAMPLES,
      "-o",
      again,
      "--threads",
      "1",
      "--keep",
      "--job",
      join(folder, "job"),
    );
    expect(code).toBe(0);
    expect(result.savedBytes).toBe(result.bytesBefore - result.bytesAfter);
    expect(result.duplicates).toBe(result.replaced + Object.values(result.left).reduce((sum, count) => sum + count, 0));
    expect(result).toMatchObject({ files: NAMES.length, damage: 0, skipped: [], resumed: false });
    for (const [i, file] of filesIn(again).entries()) expect(file.bytes.equals(bytes[i]!.bytes)).toBe(true);
    expect(existsSync(join(again, "holotype-job"))).toBe(false);
    expect(existsSync(join(folder, "job", "plan.tsv"))).toBe(true);
  });

  it("says in a dry run what it would do, and does nothing", () => {
    const target = join(folder, "dry");
    const dry = dedupJson(SAMPLES, "-o", target, "--dry-run");
    expect(dry.exit).toBe(0);
    expect(existsSync(target)).toBe(false);
    expect(dry.result.bytesAfter).toBe(bytes.reduce((sum, file) => sum + file.bytes.length, 0));
  });

  it("has nothing left to do when it is run again", () => {
    const again = holotype(["dedup", SAMPLES, "-o", output]);
    expect(again).toMatchObject({ exit: 0, out });
    expect(again.err).toContain("nothing is left to do");
  });

  it("leaves a report, and clears away what is of no use any more", () => {
    const job = join(output, "holotype-job");
    expect(readFileSync(join(job, "report.html"), "utf8")).toMatch(/^<!doctype html>/i);
    expect(JSON.parse(readFileSync(join(job, "report.json"), "utf8"))).toBeTypeOf("object");
    expect(existsSync(join(job, "plan.tsv"))).toBe(false);
  });

  it("is whole, and comes back as it was", () => {
    expect(holotype(["check", ...NAMES.map((name) => join(output, name))]).exit).toBe(0);
    expect(holotype(["verify", output, "--against", SAMPLES])).toMatchObject({ exit: 0 });
    const restored = join(folder, "restored");
    expect(holotype(["restore", output, "-o", restored])).toMatchObject({ exit: 0 });
    const before = list(SAMPLES).map(({ file, offset, length, warnings, ...rest }) => rest);
    const after = list(...NAMES.map((name) => join(restored, name))).map(
      ({ file, offset, length, warnings, ...rest }) => rest,
    );
    expect(after).toEqual(before);
  });

  it("original deleted while revisits remain: verify reports it", () => {
    const broken = join(folder, "broken");
    cpSync(output, broken, { recursive: true });
    rmSync(join(broken, "cabinet-2009.warc.gz"));
    const verified = holotype(["verify", broken]);
    expect(verified.exit).toBe(4);
    expect(verified.out + verified.err).toContain("cabinet-2013.warc.gz");
    const against = holotype(["verify", broken, "--against", SAMPLES]);
    expect(against.exit).toBe(4);
    expect(against.out + against.err).toContain("cabinet-2009.warc.gz");
    // Nor can it be undone then, and that is said before anything is written.
    expect(holotype(["restore", broken, "-o", join(folder, "hopeless")]).exit).toBe(4);
  });
});

describe("dedup in place", () => {
  it("comes to the same as in another folder, and leaves nothing unfinished behind", () => {
    const path = join(folder, "in-place");
    mkdirSync(path);
    for (const { name, bytes } of filesIn(SAMPLES)) put(path, name, bytes);
    const { exit } = holotype(["dedup", path, "--in-place"]);
    expect(exit).toBe(0);
    for (const { name, bytes } of filesIn(path)) {
      expect(bytes.equals(readFileSync(join(folder, "samples", name))), name).toBe(true);
    }
    expect(readdirSync(path).sort()).toEqual([...NAMES, "holotype-job"].sort());
  });
});

describe("a collection that grows", () => {
  it("is deduplicated in place again, and comes back byte for byte", () => {
    const grown = join(folder, "grown");
    mkdirSync(grown);
    const names = [...NAMES].sort();
    const steps = [names.slice(0, 2), names.slice(2)];
    for (const [i, step] of steps.entries()) {
      for (const name of step) cpSync(join(SAMPLES, name), join(grown, name));
      expect(holotype(["dedup", grown, "--in-place"]).exit).toBe(0);
      expect(existsSync(join(grown, i === 0 ? "holotype-job" : "holotype-job-2", "report.json"))).toBe(true);
    }
    const again = holotype(["dedup", grown, "--in-place"]);
    expect(again).toMatchObject({ exit: 0, err: expect.stringContaining("nothing is left to do") as string });
    const back = join(folder, "grown-back");
    expect(holotype(["restore", grown, "-o", back]).exit).toBe(0);
    for (const name of names)
      expect(readFileSync(join(back, name)).equals(readFileSync(join(SAMPLES, name)))).toBe(true);
  });

  it("comes back job by job where an older file came later", () => {
    const grown = join(folder, "grown-backwards");
    mkdirSync(grown);
    const names = [...NAMES].sort();
    for (const name of names.slice(1)) cpSync(join(SAMPLES, name), join(grown, name));
    expect(holotype(["dedup", grown, "--in-place"]).exit).toBe(0);
    cpSync(join(SAMPLES, names[0]!), join(grown, names[0]!));
    expect(holotype(["dedup", grown, "--in-place"]).exit).toBe(0);
    const [once, twice] = [join(folder, "undone-once"), join(folder, "undone-twice")];
    expect(holotype(["restore", grown, "-o", once]).out).toContain("of an earlier dedup left");
    expect(holotype(["restore", once, "-o", twice, "--job", join(grown, "holotype-job")]).exit).toBe(0);
    for (const name of names) {
      expect(readFileSync(join(twice, name)).equals(readFileSync(join(SAMPLES, name))), name).toBe(true);
    }
  });

  it("is looked at anew where a file has another content under the same name", () => {
    const changed = join(folder, "changed");
    mkdirSync(changed);
    const [first, second, third] = [...NAMES].sort() as [string, string, string];
    for (const name of [first, second]) cpSync(join(SAMPLES, name), join(changed, name));
    expect(holotype(["dedup", changed, "--in-place"]).exit).toBe(0);
    cpSync(join(SAMPLES, third), join(changed, second));
    const { out, err } = holotype(["dedup", changed, "--in-place"]);
    expect(err).not.toContain("nothing is left to do");
    expect(out).toContain("holotype-job-2");
  });

  it("keeps out of the segments of an archive that lies in it", () => {
    const home = join(folder, "home");
    mkdirSync(home);
    for (const name of NAMES) cpSync(join(SAMPLES, name), join(home, name));
    const archive = join(home, "archive");
    expect(run(["add", SAMPLES, "--archive", archive]).exit).toBe(0);
    const { exit, err } = holotype(["dedup", home, "--in-place"]);
    expect(exit).toBe(3);
    expect(err).toMatch(/skipped .*000001\.warc\.gz: part of .*archive, as archive\.json there says/);
    expect(run(["doctor", "--scrub", "--archive", archive]).exit).toBe(0);
  });
});

describe("policies on the command line", () => {
  it("are understood", () => {
    const output = join(folder, "policies");
    const wanted = ["--mime", "image/*, text/css", "--not-mime", "image/gif", "--min-saving", "10"];
    expect(holotype(["dedup", SAMPLES, "-o", output, ...wanted, "--same-url", "--max-age", "9999"]).exit).toBe(0);
    const revisits = list(...NAMES.map((name) => join(output, name))).filter(({ type }) => type === "revisit");
    expect(revisits.length).toBeGreaterThan(3);
    expect(revisits.filter(({ mime }) => !/^(?:image\/|text\/css)/.test(mime ?? ""))).toEqual([]);
    const job = JSON.parse(readFileSync(join(output, "holotype-job", "job.json"), "utf8")) as { settings: unknown };
    expect(job.settings).toMatchObject({
      policy: {
        minSaving: 10,
        mime: ["image/*", "text/css"],
        notMime: ["image/gif"],
        sameUrl: true,
        maxAgeDays: 9999,
      },
    });
  });

  it("--known refers to earlier holdings without touching them", () => {
    const [old, ...rest] = NAMES.map((name) => join(SAMPLES, name));
    const manifest = put(folder, "known.tsv", holotype(["manifest", old!]).out);
    const { exit, result } = dedupJson(...rest, "-o", join(folder, "with-known"), "--known", manifest);
    expect(exit).toBe(0);
    expect(result.replaced).toBeGreaterThan(30);
    expect(existsSync(join(folder, "with-known", NAMES[0]!))).toBe(false);
    const verified = holotype(["verify", join(folder, "with-known"), "--originals", old!]);
    expect(verified).toMatchObject({ exit: 0 });
  });
});

describe("dedup of what is not in order", () => {
  const body = Buffer.from(Array.from({ length: 900 }, (_, i) => (i * 7919) % 10007).join());
  const captures = [1, 2, 3].map((day) =>
    response(`http://a.example/${day}`, body, { date: `2020-02-0${day}T00:00:00Z` }),
  );
  const sound = put(folder, "sound.warc.gz", warcFile(captures));

  it("damaged records are copied as they are, told, and the exit code is 3", () => {
    const [, second] = list(sound);
    const hurt = put(folder, "hurt.warc.gz", withFlippedByte(sound, second!.offset + 900));
    const { exit, result, err } = dedupJson(hurt, "-o", join(folder, "hurt"));
    expect(exit).toBe(3);
    expect(result.damage).toBeGreaterThan(0);
    expect(result.replaced).toBe(1);
    expect(linesOf(err).map((line) => Object.keys(JSON.parse(line) as object))).not.toEqual([]);
    expect(err).toMatch(/"HT_GZIP_/);
    // Told again by whoever asks again.
    expect(dedupJson(hurt, "-o", join(folder, "hurt"))).toMatchObject({ exit: 3, result: { damage: result.damage } });
  });

  it("what cannot be read is named once, and the exit code is 3", () => {
    const nonsense = put(folder, "nonsense.warc.gz", "there is no record in this");
    const { exit, out, err } = holotype(["dedup", sound, nonsense, "-o", join(folder, "nonsense")]);
    expect(exit).toBe(3);
    expect(err.match(/nonsense\.warc\.gz/g)).toHaveLength(1);
    expect(out).toMatch(/^skipped +1 file$/m);
  });

  it("a job that holds another job's folder is refused", () => {
    const output = join(folder, "twice");
    expect(holotype(["dedup", sound, "-o", output]).exit).toBe(0);
    const other = holotype(["dedup", sound, "-o", output, "--digest", "sha1"]);
    expect(other.exit).toBe(2);
    expect(other.err).toContain("another job");
  });

  it.each([
    ["no output", [sound]],
    ["two outputs", [sound, "-o", "x", "--in-place"]],
    ["a pattern that is none", [sound, "-o", "x", "--mime", "image"]],
    ["an age that is none", [sound, "-o", "x", "--max-age", "old"]],
  ])("usage: %s", (_, args) => {
    const { exit, out, err } = holotype(["dedup", ...args], { cwd: folder });
    expect(exit).toBe(2);
    expect(out).toBe("");
    expect(err).not.toMatch(/\n\s+at /);
    expect(existsSync(join(folder, "x"))).toBe(false);
  });

  it("a file that is not there: exit code 20, or 3 beside others", () => {
    expect(holotype(["dedup", join(folder, "no.warc.gz"), "-o", join(folder, "y")]).exit).toBe(20);
    expect(holotype(["dedup", join(folder, "no.warc.gz"), sound, "-o", join(folder, "z")]).exit).toBe(3);
  });
});
