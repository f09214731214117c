/** No output, ledger or report is readable to more people than what it was made from. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { nodeDisk } from "../../src/disk/index.ts";
import { convertInput, dedup, findInputs, restore, restoreSubset } from "../../src/pipeline/index.ts";
import { createDice } from "../../src/testing/dice.ts";
import { response, warcFile } from "../cli/archives.ts";

const ONE = Buffer.from(createDice(22).bytes(1500));
const page = (path: string, year: number) =>
  warcFile([response(`http://site.example/${path}`, ONE, { date: `${year}-01-01T00:00:00Z` })]);

let work: string;
let inputs: string;

function put(name: string, bytes: Buffer, permissions: number): void {
  writeFileSync(join(inputs, name), bytes);
  chmodSync(join(inputs, name), permissions);
}

beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), "holotype-access-"));
  inputs = join(work, "in");
  mkdirSync(inputs);
  vi.stubEnv("HOME", work);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(work, { recursive: true });
});

/** What others than the owner may do with a path, given that all folders above it count as well, up to the work folder. */
function sharedWith(path: string): number {
  let shared = statSync(path).mode & 0o044;
  for (let folder = dirname(path); folder !== work; folder = dirname(folder)) {
    const { mode } = statSync(folder);
    // Who cannot enter a folder reads nothing in it.
    shared &= ((mode & 0o011) << 2) & 0o044;
  }
  return shared;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const out = () => join(work, "out");

describe.each([0o600, 0o640])("of inputs with permissions %o", (permissions) => {
  beforeEach(() => {
    put("a.warc.gz", page("a", 2001), permissions);
    put("b.warc.gz", page("b", 2002), permissions);
  });

  it.each(["with -o", "in place"])("nothing that dedup writes tells more people, %s", async (where) => {
    const output = where === "in place" ? {} : { output: out() };
    expect(await dedup(nodeDisk, [inputs], { threads: 1, keep: true, ...output })).toMatchObject({ replaced: 1 });
    const written = filesBelow(where === "in place" ? inputs : out());
    expect(written.length).toBeGreaterThan(6);
    for (const path of written) expect(sharedWith(path) & ~permissions, path).toBe(0);
  });

  it("nothing that restore and convert write does", async () => {
    await dedup(nodeDisk, [inputs], { threads: 1, output: out() });
    await restore(nodeDisk, [out()], { output: join(work, "whole") });
    const filter = { hosts: ["site.example"], prefixes: [], fromMs: undefined, toMs: undefined };
    await restoreSubset(nodeDisk, [out()], { output: join(work, "some"), filter });
    const [input] = findInputs(nodeDisk, [join(inputs, "a.warc.gz")], () => {});
    mkdirSync(join(work, "converted"));
    await convertInput(nodeDisk, input!, { folder: join(work, "converted"), compression: "none" } as never);
    for (const folder of ["whole", "some", "converted"]) {
      const written = filesBelow(join(work, folder));
      expect(written.length, folder).toBeGreaterThan(0);
      for (const path of written) expect(sharedWith(path) & ~permissions, path).toBe(0);
    }
  });
});

describe("of inputs that differ", () => {
  it("each output is as its input, and what tells of all as the strictest", async () => {
    put("a.warc.gz", page("a", 2001), 0o644);
    put("b.warc.gz", page("b", 2002), 0o600);
    await dedup(nodeDisk, [inputs], { threads: 1, output: out() });
    expect(statSync(join(out(), "a.warc.gz")).mode & 0o044).toBe(0o044);
    expect(statSync(join(out(), "b.warc.gz")).mode & 0o077).toBe(0);
    expect(statSync(join(out(), "holotype-job")).mode & 0o077).toBe(0);
  });

  it("what is restored from a payload of another file is as that one", async () => {
    put("a.warc.gz", page("a", 2001), 0o600);
    put("b.warc.gz", page("b", 2002), 0o644);
    await dedup(nodeDisk, [inputs], { threads: 1, output: out() });
    await restore(nodeDisk, [out()], { output: join(work, "whole") });
    expect(statSync(join(work, "whole", "b.warc.gz")).mode & 0o077).toBe(0);
  });

  it("a job folder that more people can read is refused", async () => {
    put("a.warc.gz", page("a", 2001), 0o600);
    mkdirSync(join(work, "job"));
    chmodSync(join(work, "job"), 0o755);
    const run = () => dedup(nodeDisk, [inputs], { threads: 1, output: out(), job: join(work, "job") });
    await expect(run()).rejects.toMatchObject({ code: "HT_EXISTS" });
    chmodSync(join(work, "job"), 0o700);
    expect(await run()).toMatchObject({ files: 1 });
  });
});
