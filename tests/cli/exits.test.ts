import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { response, warcFile } from "./archives.ts";
import {
  ended,
  holotypeAlone,
  linesOf,
  put,
  SAMPLE,
  SAMPLES,
  startHolotype,
  temporaryFolder,
  withFlippedByte,
} from "./holotype.ts";

const folder = temporaryFolder();
const damaged = put(folder, "damaged.warc.gz", withFlippedByte(SAMPLE, 1500));
const foreign = put(folder, "notes.txt", "Nothing of an archive in here.\n");
const absent = join(folder, "absent.warc.gz");

describe("exit codes", () => {
  it.each([
    { why: "no such command", args: ["frobnicate"] },
    { why: "no such option", args: ["ls", "--frobnicate", SAMPLE] },
    { why: "no file", args: ["ls"] },
    { why: "no such format", args: ["index", "--format", "xml", SAMPLE] },
    { why: "no such digest", args: ["manifest", "--digest", "crc32", SAMPLE] },
    { why: "no threads", args: ["ls", "--threads", "0", SAMPLE] },
    { why: "a folder for cat", args: ["cat", SAMPLES] },
    { why: "no number", args: ["cat", SAMPLE, "--offset", "-1"] },
    { why: "nowhere to convert to", args: ["convert", SAMPLE] },
    { why: "no such compression", args: ["convert", SAMPLE, "--to", "rar", "-o", join(folder, "never")] },
    { why: "a level too high", args: ["convert", SAMPLE, "--level", "10", "-o", join(folder, "never")] },
    { why: "a dictionary for gzip", args: ["convert", SAMPLE, "--dictionary", SAMPLE, "-o", join(folder, "never")] },
  ])("2 for a command line that cannot be understood: $why", ({ args }) => {
    const { exit, out, err } = holotypeAlone(args);
    expect({ exit, out }).toEqual({ exit: 2, out: "" });
    expect(linesOf(err)).toEqual([expect.stringMatching(/^holotype: \S/)]);
    expect(readdirSync(folder)).not.toContain("never");
  });

  it.each(["ls", "cat", "check", "index", "manifest"])("20 where %s finds nothing of what was named", (command) => {
    const { exit, out, err } = holotypeAlone([command, absent]);
    expect({ exit, out, err }).toEqual({ exit: 20, out: "", err: `holotype: ${absent}: no such file\n` });
  });

  it("20 where convert finds nothing, and then it makes no folder either", () => {
    expect(holotypeAlone(["convert", absent, "-o", join(folder, "never")]).exit).toBe(20);
    const dictionary = ["convert", SAMPLE, "--to", "zstd", "--dictionary", absent, "-o", join(folder, "never")];
    expect(holotypeAlone(dictionary).exit).toBe(20);
    expect(readdirSync(folder)).not.toContain("never");
  });

  it("3 where some inputs were skipped and the others done", () => {
    const { exit, out, err } = holotypeAlone(["ls", absent, foreign, SAMPLE]);
    expect(exit).toBe(3);
    expect(linesOf(out)).toHaveLength(52);
    expect(linesOf(err)).toEqual([
      `skipped ${absent}: no such file (HT_NOT_FOUND)`,
      expect.stringMatching(`^skipped ${foreign}: no WARC or ARC record in it \\(HT_FORMAT_UNKNOWN\\)$`),
    ]);
  });

  it("3 for a file that is no archive, by itself too", () => {
    expect(holotypeAlone(["check", foreign]).exit).toBe(3);
  });

  it("4 where damage was found, and records before and behind it come out", () => {
    const { exit, out, err } = holotypeAlone(["ls", damaged]);
    expect(exit).toBe(4);
    expect(linesOf(out).length).toBeGreaterThan(50);
    expect(err).toMatch(/damaged\.warc\.gz:1299: HT_GZIP_/);
  });

  it("4 counts for more than 3", () => {
    expect(holotypeAlone(["ls", absent, damaged]).exit).toBe(4);
  });

  it("20 for a folder without archives, and 0 for a file without records", () => {
    mkdirSync(join(folder, "empty"));
    expect(holotypeAlone(["ls", join(folder, "empty")])).toMatchObject({ exit: 20, out: "" });
    expect(holotypeAlone(["ls", put(folder, "empty.warc.gz", "")])).toEqual({ exit: 0, out: "", err: "" });
  });
});

describe("--json", () => {
  it.each([
    { args: ["cat", absent], told: { code: "HT_NOT_FOUND", file: absent, exit: 20 } },
    { args: ["cat", SAMPLE, "--offset", "7"], told: { code: "HT_NOT_FOUND", file: SAMPLE, offset: 7, exit: 20 } },
    { args: ["ls", absent], told: { code: "HT_NOT_FOUND", file: absent, exit: 20 } },
    { args: ["ls"], told: { code: "HT_USAGE", exit: 2 } },
    { args: ["ls", "--frobnicate"], told: { code: "HT_USAGE", exit: 2 } },
    { args: ["frobnicate"], told: { code: "HT_USAGE", exit: 2 } },
  ])("makes the error of $args one line of JSON", ({ args, told }) => {
    const { exit, out, err } = holotypeAlone([...args, "--json"]);
    expect({ exit, out }).toEqual({ exit: told.exit, out: "" });
    expect(linesOf(err)).toHaveLength(1);
    expect(JSON.parse(err)).toEqual({ error: { ...told, message: expect.stringMatching(/\S/) as string } });
  });
});

describe("a reader that goes away", () => {
  const large = put(
    folder,
    "large.warc",
    warcFile([response("http://a.example/", "x".repeat(1 << 20))], { compression: "none" }),
  );
  const many = Array.from({ length: 8 }, () => SAMPLES);

  it.each([
    { args: ["ls", "--json", ...many] },
    { args: ["ls", "--json", "--threads", "2", ...many] },
    { args: ["manifest", ...many] },
    { args: ["index", ...many] },
    { args: ["cat", large] },
    { args: ["cat", large, "--payload"] },
  ])("ends $args quietly, as in | head", async ({ args }) => {
    const child = startHolotype(args);
    const end = ended(child);
    child.stdout.once("data", () => child.stdout.destroy());
    expect(await end).toEqual({ exit: 0, err: "" });
  });

  it("does not stop what changes something, also where nobody hears its talk", async () => {
    const archive = join(folder, "unheard");
    const child = startHolotype(["add", "--json", join(folder, "nothing.warc.gz"), SAMPLES, "--archive", archive]);
    const end = ended(child);
    child.stderr.destroy();
    child.stdout.destroy();
    await end;
    const told = JSON.parse(holotypeAlone(["stats", "--json", "--archive", archive]).out) as Record<string, unknown>;
    expect(told["captures"]).toBe(127);
  });
});
