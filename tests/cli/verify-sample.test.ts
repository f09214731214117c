/** `verify --sample`: replaced records drawn at random, shown by the payload that they lead to. */
import { createHash } from "node:crypto";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SampledRecord } from "../../src/pipeline/index.ts";
import { holotype, holotypeBytes, linesOf, list, SAMPLES, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
const output = join(folder, "out");
holotype(["dedup", "-j", "1", SAMPLES, "-o", output]);
const REVISITS = list(output).filter(({ type }) => type === "revisit");

function drawn(...args: readonly string[]): readonly SampledRecord[] {
  const { out } = holotype(["verify", "-j", "1", "--json", ...args]);
  return (JSON.parse(out) as { sample: SampledRecord[] }).sample;
}

const placesOf = (records: readonly SampledRecord[]) => records.map(({ file, offset }) => `${file}:${offset}`);

describe("verify --sample", () => {
  it("draws records that were replaced, and shows the payload that each had before", () => {
    const sample = drawn(output, "--sample", "5");
    expect(sample).toHaveLength(5);
    const before = list(SAMPLES);
    for (const { file, offset, uri, date, payload, proven } of sample) {
      expect(REVISITS.some((revisit) => revisit.file === file && revisit.offset === offset)).toBe(true);
      const record = before.find((each) => each.uri === uri && each.date === date && each.type === "response")!;
      const bytes = holotypeBytes(["cat", record.file, "--offset", String(record.offset), "--payload"]).out;
      const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
      expect({ payload, proven }).toEqual({ payload: { size: bytes.length, digest }, proven: true });
    }
  });

  it("draws the same again, others with another seed, and all where there are no more", () => {
    const [one, again, other] = [["1"], ["1"], ["2"]].map(([seed]) => drawn(output, "--sample", "5", "--seed", seed!));
    expect(placesOf(one!)).toEqual(placesOf(again!));
    expect(placesOf(one!)).not.toEqual(placesOf(other!));
    const all = drawn(output, "--sample", "1000");
    expect(new Set(placesOf(all))).toEqual(new Set(REVISITS.map(({ file, offset }) => `${file}:${offset}`)));
  });

  it("prints them for people, and refuses what is no number", () => {
    const { exit, out } = holotype(["verify", "-j", "1", output, "--sample", "2"]);
    expect(exit).toBe(0);
    expect(linesOf(out).filter((line) => line === "  the record comes back byte for byte")).toHaveLength(2);
    expect(out).toMatch(/^ {2}payload at .*:\d+: [\d,]+ bytes, sha256:[0-9a-f]{64}$/m);
    expect(holotype(["verify", output, "--sample", "0"]).exit).toBe(2);
    expect(drawn(SAMPLES, "--sample", "3")).toEqual([]);
  });

  it("does not draw what leads nowhere, which fails as it does without", () => {
    const hurt = join(folder, "hurt");
    cpSync(output, hurt, { recursive: true });
    const first = [...new Set(list(output).map(({ file }) => file))][0]!;
    rmSync(first.replace(output, hurt));
    const { exit, out } = holotype(["verify", "-j", "1", "--json", hurt, "--sample", "1000", "--originals", hurt]);
    const { sample } = JSON.parse(out) as { sample: SampledRecord[] };
    expect(exit).not.toBe(0);
    expect(sample.every(({ proven }) => proven)).toBe(true);
    expect(sample.length).toBeLessThan(REVISITS.length);
  });
});
