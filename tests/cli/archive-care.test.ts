import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { holotype, linesOf, SAMPLES, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
let archives = 0;

/** Made once: each test has a copy of it. */
const FILLED = join(folder, "filled");
expect(holotype(["add", SAMPLES, "--archive", FILLED])).toMatchObject({ exit: 0, err: "" });

function filled(): string {
  const archive = join(folder, `archive-${archives++}`);
  cpSync(FILLED, archive, { recursive: true });
  return archive;
}

const run = (archive: string, ...args: readonly string[]) => holotype([...args, "--archive", archive]);
const json = (archive: string, ...args: readonly string[]) =>
  linesOf(run(archive, ...args, "--json").out).map((line) => JSON.parse(line) as Record<string, unknown>);
const SOUND = /^.*: \d+ captures of \d+ contents, .*: all sound\n$/;

const GUESTBOOK = "http://cabinet.example/guestbook.html";
const BEETLE = "http://cabinet.example/images/orchard-beetle.png";
const PRESS = "http://cabinet.example/press/orchard-beetle.png";

/** What an archive answers, with nothing in it of where its records lie. */
function answers(archive: string) {
  const lines = [
    ["slice", "2014"],
    ["slice", "2000", "--to", "now"],
    ["changes", "2000", "now"],
    ["history", PRESS],
  ];
  return lines.map((line) => run(archive, ...line).out);
}

const ANSWERS = answers(FILLED);

function segmentsOf(archive: string): string[] {
  const segments = join(archive, "volumes", "0", "segments");
  return readdirSync(segments).map((name) => join(segments, name));
}

describe("holotype remove", () => {
  const archive = filled();

  it("tells with --dry-run what it would remove", () => {
    const { exit, out } = run(archive, "remove", GUESTBOOK, "--dry-run", "--from", "2018");
    expect(exit).toBe(0);
    expect(linesOf(out)).toEqual([
      `2018-03-21T08:16:06Z 7c2f3500e51b ${GUESTBOOK}`,
      `2024-06-12T16:41:06Z 7c2f3500e51b ${GUESTBOOK}`,
      "2 captures would be removed",
    ]);
    expect(json(archive, "history", GUESTBOOK)).toHaveLength(3);
  });

  it("counts with --dry-run the contents that would go", () => {
    const summary = (...more: readonly string[]) =>
      json(archive, "remove", ...more, "--dry-run").at(-1)!["summary"] as { contents: number };
    expect(summary(GUESTBOOK)).toMatchObject({ captures: 4, contents: 2, dryRun: true });
    expect(summary(PRESS)).toMatchObject({ contents: 0 });
  });

  it("wants a reason, and one selection that finds something", () => {
    expect(run(archive, "remove", GUESTBOOK)).toMatchObject({ exit: 2 });
    expect(run(archive, "remove", "--reason", "none")).toMatchObject({ exit: 2 });
    expect(run(archive, "remove", GUESTBOOK, "--site", "cabinet.example", "--dry-run")).toMatchObject({ exit: 2 });
    expect(run(archive, "remove", "--digest", "sha1:AA", "--dry-run")).toMatchObject({ exit: 2 });
    expect(run(archive, "remove", "http://nowhere.example/", "--dry-run")).toMatchObject({ exit: 20, out: "" });
    expect(run(join(folder, "absent"), "remove", GUESTBOOK, "--dry-run")).toMatchObject({ exit: 20 });
  });

  it("takes captures out for good, and says in the journal why", () => {
    const [summary] = json(archive, "remove", GUESTBOOK, "--reason", "a guest asked").slice(-1);
    expect(summary).toMatchObject({ summary: { captures: 4, contents: 2, dryRun: false } });
    expect(run(archive, "history", GUESTBOOK)).toMatchObject({ exit: 20 });
    const [entry] = linesOf(readFileSync(join(archive, "journal.jsonl"), "utf8"));
    expect(JSON.parse(entry!)).toMatchObject({ kind: "remove", reason: "a guest asked", selection: GUESTBOOK });
    expect(json(archive, "add", SAMPLES)).toMatchObject([{ captures: 0, known: 123, removed: 4 }]);
    expect(linesOf(run(archive, "add", SAMPLES).out)[1]).toBe("captures    0 new, 123 known, 4 removed before");
    expect(run(archive, "doctor", "--scrub").out).toMatch(SOUND);
  });

  it("takes them back where add is told to", () => {
    expect(json(archive, "add", SAMPLES, "--readmit")).toMatchObject([{ captures: 4, known: 123, removed: 0 }]);
    expect(json(archive, "history", GUESTBOOK)).toHaveLength(3);
  });

  it("keeps a content that others have, by its digest or by one of its URLs", () => {
    expect(json(archive, "remove", BEETLE, "--to", "2014", "--reason", "asked").at(-1)).toMatchObject({
      summary: { captures: 2, contents: 0, dryRun: false },
    });
    expect(json(archive, "stats")).toMatchObject([{ captures: 125, contents: 71 }]);
    const [{ sha256 }] = json(archive, "at", PRESS, "2014") as [{ sha256: string }];
    expect(json(archive, "remove", "--digest", `sha256:${sha256}`, "--reason", "asked").at(-1)).toMatchObject({
      summary: { captures: 4, contents: 1, dryRun: false },
    });
    expect(run(archive, "same", PRESS, "2014")).toMatchObject({ exit: 20 });
    expect(run(archive, "doctor", "--scrub").out).toMatch(SOUND);
  });
});

describe("holotype compact", () => {
  it("gives back the space of what was removed", () => {
    const archive = filled();
    run(archive, "remove", "--prefix", "http://cabinet.example/images/", "--reason", "asked");
    const before = answers(archive);
    expect(run(archive, "compact", "--dead", "90").out).toMatch(
      /^0 segments .*; [\d.]+ kB of what was removed stay, by/,
    );
    const { exit, out } = run(archive, "compact");
    expect({ exit, out }).toEqual({
      exit: 0,
      out: expect.stringMatching(/^1 segment written again: 2[78]\d\.\d kB → [\d.]+ kB, [\d.]+ kB reclaimed\n$/),
    });
    const [report] = json(archive, "compact", "--dead", "100");
    expect(report).toMatchObject({ segments: 0, damaged: [] });
    expect(answers(archive)).toEqual(before);
    expect(run(archive, "doctor", "--scrub").out).toMatch(SOUND);
    for (const segment of segmentsOf(archive)) expect(holotype(["check", segment])).toMatchObject({ exit: 0 });
    expect(run(join(folder, "absent"), "compact")).toMatchObject({ exit: 20 });
  });
});

it("leaves nothing of what was removed on the disk, however little it is", () => {
  const archive = filled();
  expect(run(archive, "remove", GUESTBOOK, "--reason", "asked").exit).toBe(0);
  const held = () => segmentsOf(archive).flatMap((segment) => linesOf(holotype(["ls", segment]).out));
  expect(held().some((line) => line.includes(GUESTBOOK))).toBe(true);
  expect(run(archive, "compact")).toMatchObject({ exit: 0 });
  expect(held().some((line) => line.includes(GUESTBOOK))).toBe(false);
  expect(run(archive, "doctor", "--scrub").out).toMatch(SOUND);
});

it("says what to do where a timeline is lost, and makes no empty one", () => {
  const archive = filled();
  rmSync(join(archive, "timeline-1"), { recursive: true });
  for (const command of [["stats"], ["slice", "2014"], ["doctor"], ["add", SAMPLES]]) {
    const { exit, err } = run(archive, ...command);
    expect({ exit, err }).toEqual({
      exit: 23,
      err: expect.stringContaining("`holotype rebuild` makes it anew") as string,
    });
  }
  expect(run(archive, "rebuild").exit).toBe(0);
  expect(answers(archive)).toEqual(ANSWERS);
});

it.each(["cut off", "zeros at its end"])("says what to do with a catalogue that was damaged: %s", (damage) => {
  const archive = filled();
  const path = join(archive, "catalogue-1", "catalogue.rows");
  const { size } = statSync(path);
  truncateSync(path, size >> 1);
  if (damage !== "cut off") truncateSync(path, size);
  for (const command of [["slice", "2014"], ["doctor"], ["add", SAMPLES]]) {
    const { exit, err } = run(archive, ...command);
    expect({ exit, err }).toEqual({
      exit: 23,
      err: expect.stringContaining("`holotype rebuild` makes it again") as string,
    });
  }
  expect(run(archive, "rebuild").exit).toBe(0);
  expect(answers(archive)).toEqual(ANSWERS);
});

describe("holotype rebuild", () => {
  it("makes everything anew, and the answers are the same", () => {
    const archive = filled();
    run(archive, "remove", GUESTBOOK, "--reason", "asked");
    const before = answers(archive);
    for (const name of readdirSync(archive).filter((each) => each.startsWith("catalogue-"))) {
      rmSync(join(archive, name), { recursive: true });
    }
    expect(run(archive, "slice", "2014")).toMatchObject({ exit: 20, err: expect.stringContaining("holotype rebuild") });
    const { exit, out } = run(archive, "rebuild");
    expect({ exit, out }).toEqual({
      exit: 0,
      out: expect.stringMatching(/: rebuilt, 123 captures of \d+ contents\n$/),
    });
    expect(answers(archive)).toEqual(before);
    expect(run(archive, "doctor", "--scrub").out).toMatch(SOUND);
    expect(run(join(folder, "absent"), "rebuild")).toMatchObject({ exit: 20 });
  });
});

describe("holotype add --adopt", () => {
  const holdings = join(folder, "holdings");
  mkdirSync(holdings);
  for (const name of readdirSync(SAMPLES).filter((each) => each.endsWith(".warc.gz"))) {
    copyFileSync(join(SAMPLES, name), join(holdings, name));
  }
  const archive = join(folder, "adopted");
  const first = run(
    archive,
    "add",
    join(holdings, "cabinet-2009.warc.gz"),
    join(holdings, "cabinet-2013.warc.gz"),
    "--adopt",
  );

  it("copies nothing, and knows everything", () => {
    expect(first).toEqual({
      exit: 0,
      out: "files       2 adopted where they lie\ncaptures    56 new\n",
      err: "",
    });
    expect(segmentsOf(archive)).toEqual([]);
    const { out } = run(archive, "at", BEETLE, "2014", "--json");
    expect(JSON.parse(out)).toMatchObject({ capture: { file: join(holdings, "cabinet-2013.warc.gz") } });
    expect(json(archive, "add", holdings, "--adopt")).toMatchObject([{ files: 2, adoptedBefore: 2, captures: 71 }]);
    expect(json(archive, "stats")).toMatchObject([{ captures: 127, contents: 71, adopted: 4, segments: 0 }]);
  });

  it("lets later captures refer to it", () => {
    const own = join(folder, "half-adopted");
    run(own, "add", join(holdings, "cabinet-2009.warc.gz"), "--adopt");
    const [report] = json(own, "add", SAMPLES);
    expect(report).toMatchObject({ known: 25, captures: 102 });
    expect(report!["duplicates"]).toBeGreaterThan(30);
    expect(run(own, "doctor", "--scrub").out).toMatch(SOUND);
  });

  it("reads a file that is zstd and is not called so", () => {
    const made = join(folder, "zstd");
    expect(holotype(["convert", join(SAMPLES, "cabinet-2009.warc.gz"), "--to", "zstd", "-o", made])).toMatchObject({
      exit: 0,
    });
    const path = join(made, "odd.warc");
    copyFileSync(join(made, "cabinet-2009.warc.zst"), path);
    const own = join(folder, "odd");
    run(own, "add", path, "--adopt");
    expect(json(own, "at", "http://cabinet.example/", "2014")).toMatchObject([{ status: 200 }]);
    expect(json(own, "add", join(SAMPLES, "cabinet-2013.warc.gz"))).toMatchObject([{ replaced: 14 }]);
  });

  it("is refused for what is no file", () => {
    const { exit, err } = holotype(["add", "-", "--adopt", "--archive", archive], { input: Buffer.from("") });
    expect({ exit, err }).toEqual({ exit: 23, err: expect.stringContaining("only files can be adopted") });
  });

  it("is watched over by doctor", () => {
    expect(run(archive, "doctor")).toMatchObject({ exit: 0, out: expect.stringMatching(SOUND) });
    rmSync(join(holdings, "cabinet-2018.warc.gz"));
    const changed = join(holdings, "cabinet-2024.warc.gz");
    truncateSync(changed, statSync(changed).size - 1);
    const touched = join(holdings, "cabinet-2009.warc.gz");
    const bytes = readFileSync(touched);
    bytes[50_000]! ^= 0xff;
    writeFileSync(touched, bytes);
    const findings = json(archive, "doctor");
    const { summary } = findings.pop() as { summary: { findings: number } };
    expect(summary.findings).toBe(findings.length);
    expect(findings.map(({ code, file }) => [code, basename(file as string)])).toEqual(
      expect.arrayContaining([
        ["HT_LOST", "cabinet-2018.warc.gz"],
        ["HT_CHANGED", "cabinet-2024.warc.gz"],
        ["HT_CORRUPT", "cabinet-2009.warc.gz"],
      ]),
    );
    expect(findings.find(({ code }) => code === "HT_LOST")).toMatchObject({ captures: 35 });
    expect(run(archive, "doctor").exit).toBe(4);
  });
});

describe("holotype doctor", () => {
  it("finds a byte that is not what it was, with --scrub", () => {
    const archive = filled();
    const [segment] = segmentsOf(archive) as [string];
    const bytes = readFileSync(segment);
    bytes[60_000]! ^= 0xff;
    writeFileSync(segment, bytes);
    expect(run(archive, "doctor")).toMatchObject({ exit: 0 });
    const { exit, out } = run(archive, "doctor", "--scrub");
    expect(exit).toBe(4);
    expect(linesOf(out)[0]).toMatch(/^HT_\w+ .*000001\.warc\.gz:\d+: /);
    expect(linesOf(out).at(-1)).toMatch(/: \d+ findings?$/);
  });

  it("finds that a segment is gone", () => {
    const archive = filled();
    for (const segment of segmentsOf(archive)) rmSync(segment);
    expect(run(archive, "doctor")).toMatchObject({
      exit: 4,
      out: expect.stringMatching(/^HT_LOST .* captures\n/),
    });
    expect(existsSync(join(folder, "absent"))).toBe(false);
    expect(run(join(folder, "absent"), "doctor")).toMatchObject({ exit: 20 });
  });
});
