/** `holotype digests build`, killed with SIGKILL at random moments, and run again: the index is as before, or whole. */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { formatBase32 } from "../../src/base/index.ts";
import { createDice, newSeed } from "../../src/testing/dice.ts";
import { holotypeAlone, put, startHolotype, temporaryFolder } from "../cli/holotype.ts";

const { HOLOTYPE_LONG_RUNS: long } = process.env;
const KILLS = long === undefined ? 6 : 50;
const LINES = 60_000;
/** Before this the process has hardly begun. */
const START_MS = 60;

function makeLog(crawl: number): string {
  const dice = createDice(crawl);
  const lines: string[] = [];
  for (let i = 0; i < LINES; i++) {
    const digest = formatBase32(Buffer.from(dice.bytes(20)));
    const fetch = `201904${String(crawl).padStart(2, "0")}111533700+88`;
    const uri = `http://www.site${i % 100}.test/page/${i}`;
    lines.push(
      `2019-04-03T11:15:33.835Z 200 1200 ${uri} E http://a.test/ text/html #002 ${fetch} sha1:${digest} - -\n`,
    );
  }
  return lines.join("");
}

it("digests build survives being killed at any moment", {
  timeout: long === undefined ? 120_000 : 3_600_000,
}, async () => {
  const folder = temporaryFolder();
  const seed = newSeed();
  const dice = createDice(seed);
  const logs = [1, 2].map((crawl) => put(folder, `${crawl}.log`, makeLog(crawl)));
  const index = join(folder, "index");
  const build = ["digests", "build", logs[1]!, "-o", index, "--add"];
  const info = () =>
    JSON.parse(holotypeAlone(["digests", "info", index, "--json"]).out) as { entries: number; runs: unknown[] };
  const started = performance.now();
  expect(holotypeAlone(["digests", "build", logs[0]!, "-o", index]).exit).toBe(0);
  const spanMs = performance.now() - started;
  let killed = 0;
  for (let round = 0; round < KILLS; round++) {
    const child = startHolotype(build);
    const gone = new Promise<number | null>((resolve) => child.on("close", resolve));
    const timer = setTimeout(() => child.kill("SIGKILL"), START_MS + dice.below(Math.ceil(spanMs)));
    if ((await gone) === null) killed++;
    clearTimeout(timer);
    const { entries, runs } = info();
    expect(entries, `seed ${seed}`).toBe(LINES * runs.length);
    if (runs.length === 1) continue;
    // It came to its end: begin again with what was there before.
    expect(holotypeAlone(["digests", "check", index]).exit, `seed ${seed}`).toBe(0);
    rmSync(index, { recursive: true });
    expect(holotypeAlone(["digests", "build", logs[0]!, "-o", index]).exit).toBe(0);
  }
  expect(killed).toBeGreaterThan(0);
  // Ctrl-C ends it in order, here while it waits for more to read.
  const child = startHolotype(["digests", "build", "-", "-o", index, "--add"]);
  const gone = new Promise<number | null>((resolve) => child.on("close", resolve));
  child.stdin.on("error", () => {});
  child.stdin.write(makeLog(2));
  await new Promise((resolve) => setTimeout(resolve, 500));
  child.kill("SIGINT");
  child.stdin.end();
  // Absent where it was not yet ready to be told.
  expect([130, null]).toContain(await gone);
  expect(info().runs.length).toBe(1);
  expect(holotypeAlone(build).exit).toBe(0);
  expect(holotypeAlone(["digests", "check", index]).exit, `seed ${seed}`).toBe(0);
  expect(info().entries).toBe(2 * LINES);
  // What killed ones left is gone.
  expect(readdirSync(index).filter((name) => name.includes("partial") || name.includes("scratch"))).toEqual([]);
  expect(existsSync(join(index, "lock"))).toBe(false);
});
