/**
 * Synthetic crawls that come with the truth about themselves: exactly the duplicates that it names are replaced. The
 * generator lies beside the project and is never part of it.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { checkDeduplicated, readRecords } from "../../src/testing/deduplicated.ts";
import { holotypeAlone, temporaryFolder } from "../cli/holotype.ts";

const SYNTH = fileURLToPath(new URL("../../../shared/tools/synth.py", import.meta.url));
const missing = !existsSync(SYNTH)
  ? "there is no ../shared/tools/synth.py"
  : spawnSync("python3", ["--version"]).status === 0
    ? undefined
    : "there is no python3";
const why = missing === undefined ? "" : ` (skipped: ${missing})`;

const folder = temporaryFolder();

interface Capture {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
  readonly payload: string;
  readonly isCopy: boolean;
  readonly isChunked: boolean;
}

/** What the generator says of each response, and how its body is stored, by a look at its HTTP header. */
function readTruth(path: string): Capture[] {
  return filesIn(path).flatMap(({ name, bytes }) => {
    const truth = gunzipSync(readFileSync(join(path, name.replace(/warc\.gz$/, "truth.tsv.gz")))).toString();
    return truth
      .trimEnd()
      .split("\n")
      .map((line) => {
        const [offset, length, , , payload, , kind] = line.split("\t");
        const start = Number(offset);
        const record = gunzipSync(bytes.subarray(start, start + Number(length))).toString("latin1");
        const http = record.split("\r\n\r\n")[1]!;
        const isChunked = /^transfer-encoding: chunked$/im.test(http);
        return {
          file: name,
          offset: start,
          length: Number(length),
          payload: payload!,
          isCopy: kind !== "new",
          isChunked,
        };
      });
  });
}

function filesIn(path: string) {
  const names = readdirSync(path).filter((name) => name.endsWith(".warc.gz"));
  return names.sort().map((name) => ({ name, bytes: readFileSync(join(path, name)) }));
}

/** Copies by the truth that have an original of their framing before them. */
function expectedCopies(captures: readonly Capture[]): Capture[] {
  const seen = new Set<string>();
  return captures.filter(({ payload, isChunked, isCopy }) => {
    const key = `${payload} ${isChunked}`;
    const isKnown = seen.has(key);
    seen.add(key);
    return isCopy && isKnown;
  });
}

describe.each([0, 0.3])(`a synthetic crawl with a share of %d chunked${why}`, { timeout: 180_000 }, (chunked) => {
  const crawl = join(folder, `crawl-${chunked}`);
  const output = join(folder, `output-${chunked}`);

  it.skipIf(missing !== undefined)("has exactly the duplicates replaced that its truth names", () => {
    const size = ["--files", "3", "--size", "2M", "--seed", "11", "--jobs", "2"];
    const made = spawnSync("python3", [SYNTH, "--out", crawl, ...size, "--chunked", String(chunked)]);
    expect(made.status, made.stderr.toString()).toBe(0);
    const captures = readTruth(crawl);
    const wanted = expectedCopies(captures);
    expect(wanted.length).toBeGreaterThan(100);
    if (chunked === 0) expect(wanted).toHaveLength(captures.filter(({ isCopy }) => isCopy).length);

    const { exit, out, err } = holotypeAlone(["dedup", "--json", "--keep", crawl, "-o", output]);
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    const result = JSON.parse(out) as { replaced: number; left: Record<string, number>; savedBytes: number };

    const before = filesIn(crawl);
    const after = filesIn(output);
    checkDeduplicated(before, after);
    const replaced = new Set<string>();
    for (const [i, file] of before.entries()) {
      const written = readRecords(after[i]!);
      for (const [k, { offset, type }] of readRecords(file).entries()) {
        if (type !== "revisit" && written[k]!.type === "revisit") replaced.add(`${file.name} ${offset}`);
      }
    }
    const place = ({ file, offset }: Capture) => `${file} ${offset}`;
    // No more.
    expect([...replaced].filter((each) => !wanted.some((copy) => place(copy) === each))).toEqual([]);
    // No fewer, but for small ones, which are told: given up when planning, or when they were tried.
    const left = wanted.filter((copy) => !replaced.has(place(copy)));
    const plan = readFileSync(join(output, "holotype-job", "plan.tsv"), "utf8");
    const givenUp = plan.split("\n").filter((line) => line.includes("kept:saving")).length;
    expect(left).toHaveLength((result.left["saving"] ?? 0) + givenUp);
    expect(left.filter(({ length }) => length > 1000)).toEqual([]);
    expect(Object.keys(result.left).filter((reason) => reason !== "saving")).toEqual([]);
    expect(result.replaced).toBe(replaced.size);

    const sizeOf = (path: string) => before.reduce((sum, { name }) => sum + statSync(join(path, name)).size, 0);
    expect(result.savedBytes).toBe(sizeOf(crawl) - sizeOf(output));
  });

  // One of the two sets is enough for that, and the chunked one has more in it.
  if (chunked === 0) return;
  it.skipIf(missing !== undefined)("is whole, and comes back record for record", () => {
    const verified = holotypeAlone(["verify", output, "--against", crawl]);
    expect(verified, verified.out + verified.err).toMatchObject({ exit: 0 });
    const restored = join(folder, `restored-${chunked}`);
    expect(holotypeAlone(["restore", output, "-o", restored])).toMatchObject({ exit: 0 });
    const before = filesIn(crawl);
    for (const [i, file] of filesIn(restored).entries()) {
      const wanted = readRecords(before[i]!).map(({ head, block }) => head + block.toString("latin1"));
      expect(readRecords(file).map(({ head, block }) => head + block.toString("latin1"))).toEqual(wanted);
    }
  });
});
