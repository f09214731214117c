/** Folders that came with the inputs, made to look like ours. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { nodeDisk } from "../../src/disk/index.ts";
import { type DedupOptions, dedup } from "../../src/pipeline/index.ts";
import { createDice } from "../../src/testing/dice.ts";
import { response, warcFile } from "../cli/archives.ts";

const ONE = Buffer.from(createDice(21).bytes(1500));
const page = (path: string, year: number) =>
  warcFile([response(`http://site.example/${path}`, ONE, { date: `${year}-01-01T00:00:00Z` })]);

let work: string;
let inputs: string;
let elsewhere: string;

beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), "holotype-planted-"));
  inputs = join(work, "in");
  elsewhere = join(work, "elsewhere");
  mkdirSync(inputs);
  mkdirSync(elsewhere);
  mkdirSync(join(work, "home"));
  vi.stubEnv("HOME", join(work, "home"));
  writeFileSync(join(inputs, "a.warc.gz"), page("a", 2001));
  writeFileSync(join(inputs, "b.warc.gz"), page("b", 2002));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(work, { recursive: true });
});

const run = (options: DedupOptions = {}) => dedup(nodeDisk, [inputs], { threads: 1, ...options });
const JOB = "holotype-job";

/** A job that stopped when all was planned, as somebody else would send it along. */
async function plantUnfinished(): Promise<string> {
  const job = join(inputs, JOB);
  await run({ keep: true, output: join(work, "out") });
  const made = join(work, "out", JOB);
  mkdirSync(join(job, "ledger"), { recursive: true });
  const moved = (text: string) => text.replaceAll(made, job).replaceAll(`${work}/out/`, `${inputs}/`);
  for (const name of ["files.jsonl", "job.json", "plan.tsv", "copies.tsv"]) {
    writeFileSync(join(job, name), moved(readFileSync(join(made, name), "utf8")));
  }
  const state = JSON.parse(readFileSync(join(job, "job.json"), "utf8")) as { settings: Record<string, unknown> };
  delete state.settings["output"];
  writeFileSync(join(job, "job.json"), `${JSON.stringify(state)}\n`);
  return job;
}

describe("a job folder that came with the inputs", () => {
  it("does not say where files are written", async () => {
    const job = await plantUnfinished();
    const files = readFileSync(join(job, "files.jsonl"), "utf8");
    const target = join(elsewhere, "chosen");
    writeFileSync(join(job, "files.jsonl"), files.replace(`"output":"${inputs}/b.warc.gz"`, `"output":"${target}"`));
    expect(readFileSync(join(job, "files.jsonl"), "utf8")).toContain(target);
    await expect(run()).rejects.toMatchObject({ code: "HT_EXISTS" });
    // Nor where it is named: paths follow from the command line.
    await expect(run({ job })).rejects.toMatchObject({ code: "HT_EXISTS" });
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it("is not gone on with, unless it is named", async () => {
    const job = await plantUnfinished();
    await expect(run()).rejects.toMatchObject({
      code: "HT_EXISTS",
      message: expect.stringContaining("--job") as string,
    });
    expect(await run({ job })).toMatchObject({ resumed: true, replaced: 1 });
  });

  it("does not pass for a finished job", async () => {
    const job = await plantUnfinished();
    writeFileSync(join(job, "result.json"), '{"skipped":[]}\n');
    writeFileSync(join(job, "report.json"), "{}\n");
    expect(await run()).toMatchObject({ resumed: false, replaced: 1, job: join(inputs, `${JOB}-2`) });
  });

  it.each([JOB, `${JOB}/ledger`, `${JOB}/manifest`])("leads nowhere by a link: %s", async (name) => {
    if (name !== JOB) mkdirSync(join(inputs, JOB));
    symlinkSync(elsewhere, join(inputs, name));
    await expect(run()).rejects.toMatchObject({ code: "HT_EXISTS" });
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it("stops nobody by nonsense in a folder that is finished", async () => {
    mkdirSync(join(inputs, JOB));
    writeFileSync(join(inputs, JOB, "job.json"), "{");
    writeFileSync(join(inputs, JOB, "report.json"), "{");
    expect(await run()).toMatchObject({ resumed: false, replaced: 1 });
  });
});

describe("a job of the same user", () => {
  const stopped = {
    onProgress: ({ stage }: { stage: string }) => {
      if (stage === "rewriting") throw new Error("stopped");
    },
  };

  it("goes on with the same command", async () => {
    await expect(run(stopped)).rejects.toThrow("stopped");
    expect(await run()).toMatchObject({ resumed: true, replaced: 1 });
  });

  it("goes on where there is no home only if it is named", async () => {
    vi.stubEnv("HOME", "/dev/null/none");
    await expect(run(stopped)).rejects.toThrow("stopped");
    await expect(run()).rejects.toMatchObject({ code: "HT_EXISTS" });
    expect(await run({ job: join(inputs, JOB) })).toMatchObject({ resumed: true, replaced: 1 });
  });
});
