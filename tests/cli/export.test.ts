import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ended, holotype, linesOf, list, put, SAMPLES, startHolotype, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
const archive = join(folder, "archive");
const output = (name: string) => join(folder, name);
const run = (...args: readonly string[]) => holotype(["export", "--archive", archive, ...args]);

beforeAll(() => {
  expect(holotype(["add", "-j", "1", SAMPLES, "--archive", archive]).exit).toBe(0);
});

describe("holotype export", () => {
  it("writes a WARC that is sound, with an index that is that of the file", () => {
    const { exit, out, err } = run("--all", "-o", output("all.warc.gz"), "--cdxj");
    expect([exit, err]).toEqual([0, ""]);
    expect(out).toMatch(/^captures +\d+.*\n(?:.*\n)*written +.*all\.warc\.gz\n/);
    expect(holotype(["check", output("all.warc.gz")]).exit).toBe(0);
    expect(holotype(["index", output("all.warc.gz")]).out).toBe(readFileSync(output("all.cdxj"), "utf8"));
  });

  it("writes a WACZ that other commands read", () => {
    const { exit, out } = run("--all", "-o", output("all.wacz"), "--json");
    expect(exit).toBe(0);
    const report = JSON.parse(out) as { captures: number; files: string[]; pages: number };
    expect(report.files).toEqual([output("all.wacz")]);
    expect(report.pages).toBeGreaterThan(0);
    const captures = list(output("all.wacz")).filter(({ type }) => /^(?:response|resource|revisit)$/.test(type));
    expect(captures).toHaveLength(report.captures);
  });

  it("takes what was asked for", () => {
    const prefix = "http://cabinet.example/press";
    expect(run("--prefix", prefix, "--from", "2013", "--to", "2018", "-o", output("press.warc.gz")).exit).toBe(0);
    const found = list(output("press.warc.gz")).filter(({ type }) => type === "response" || type === "revisit");
    expect(found.length).toBeGreaterThan(0);
    for (const { uri, date } of found) {
      expect(uri!.startsWith(prefix)).toBe(true);
      expect(Number(date!.slice(0, 4))).toBeGreaterThanOrEqual(2013);
      expect(Number(date!.slice(0, 4))).toBeLessThanOrEqual(2018);
    }
    expect(run("http://cabinet.example/", "--slice", "2014", "-o", output("home.warc.gz")).exit).toBe(0);
    const home = list(output("home.warc.gz")).filter(({ type }) => type === "response");
    expect(home.map(({ date }) => date!.slice(0, 4))).toEqual(["2013"]);
    expect(run("--mime", "image/*", "-o", output("images.warc.gz")).exit).toBe(0);
  });

  it("counts and writes nothing with --dry-run", () => {
    const { exit, out } = run("--site", "cabinet.example", "--dry-run", "-o", output("dry.warc.gz"));
    expect([exit, linesOf(out).at(-1)!.trim()]).toEqual([0, "nothing was written"]);
    expect(existsSync(output("dry.warc.gz"))).toBe(false);
  });

  it.each([
    ["what", 2, ["-o", "x.wacz"]],
    ["where", 2, ["--all"]],
    ["which format", 2, ["--all", "-o", "x.zip"]],
    ["one place", 2, ["http://cabinet.example/", "--all", "-o", "x.wacz"]],
    ["a slice or a span", 2, ["--all", "--slice", "2014", "--from", "2013", "-o", "x.wacz"]],
    ["an index in the WACZ alone", 2, ["--all", "--cdxj", "-o", "x.wacz"]],
    ["a folder that is there", 20, ["--all", "-o", "nowhere/x.wacz"]],
    ["something that the archive has", 20, ["--site", "nobody.example", "-o", "x.wacz"]],
  ] as const)("wants to know %s", (_, exit, args) => {
    expect(holotype(["export", "--archive", archive, ...args], { cwd: folder }).exit).toBe(exit);
    expect(readdirSync(folder).filter((name) => name.startsWith("x.") || name.endsWith(".partial"))).toEqual([]);
  });

  it("refuses a target that is there, without --replace", () => {
    const target = put(folder, "there.warc.gz", "mine");
    expect(run("--all", "-o", target).exit).toBe(2);
    expect(run("--all", "-o", target, "--replace").exit).toBe(0);
    expect(holotype(["check", target]).exit).toBe(0);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("leaves nothing when it is stopped with %s", async (signal) => {
    const target = output(`${signal}.wacz`);
    const child = startHolotype(["export", "--all", "--archive", archive, "--json", "-o", target]);
    let isStopped = false;
    const stop = setInterval(() => {
      if (isStopped || !readdirSync(folder).some((name) => name.endsWith(".partial"))) return;
      isStopped = child.kill(signal);
    }, 1);
    const { exit, err } = await ended(child);
    clearInterval(stop);
    // It may have been too quick.
    expect([0, 130]).toContain(exit);
    expect(existsSync(target)).toBe(exit === 0);
    if (exit === 130) expect(JSON.parse(err)).toMatchObject({ error: { code: "HT_INTERRUPTED", exit } });
    expect(readdirSync(folder).filter((name) => name.endsWith(".partial"))).toEqual([]);
  });
});
