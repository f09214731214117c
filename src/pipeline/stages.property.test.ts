/** Manifests sorted, merged and split: the same as GNU sort does, and nothing torn or lost. */
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { putFile } from "../testing/dedup-trial.ts";
import { newSeed } from "../testing/dice.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import {
  BY_DIGEST,
  BY_DIGEST_AND_URI,
  BY_PLACE,
  fromSortable,
  type LineOrder,
  splitLine,
  toSortable,
} from "./manifest-line.ts";
import { cutByDigest } from "./resolve-job.ts";
import { mergeManifests, partOf, sortManifests } from "./stages.ts";
import { readTextLines } from "./text-lines.ts";

const SEED = newSeed();
const ORDERS = [BY_DIGEST, BY_DIGEST_AND_URI, BY_PLACE];

/** Columns cannot hold tabs and line ends. With bytes that sort below a tab, GNU sort takes columns otherwise than lines. */
const text = fc
  .oneof(
    fc.constantFrom("-", "a", "b", "aa", "\u00e9", "e\u0301", "\u4e2d", "\ud83d\ude00", "~", " ", "\x7f", "\x0b"),
    fc.string({ unit: "grapheme", maxLength: 6 }),
  )
  // oxlint-disable-next-line no-control-regex
  .map((value) => value.replace(/[\x00-\x0a\r]/g, "") || "-");
const offset = fc.oneof(fc.nat(20), fc.maxSafeNat()).map(String);
const digest = fc.constantFrom("sha256:00", "sha256:01", "sha1:A", "-");
const extension = fc.constantFrom("-", "0", "1", "2", "10", "9");

const line = fc
  .tuple(fc.array(text, { minLength: 12, maxLength: 19 }), offset, digest, extension)
  .map(([columns, at, sum, number]) => {
    columns[1] = at;
    columns[5] = sum;
    if (columns.length > 12) columns[12] = number;
    // Keys that are often the same are where an order is put to the test.
    if (columns.length % 2 === 0) [columns[0], columns[3], columns[4]] = ["file", "uri", "date"];
    return columns.join("\t");
  });
const lines = fc.array(line, { maxLength: 100, size: "max" });

const probe = spawnSync("sort", ["--version"]);
const isGnu = probe.status === 0 && probe.stdout.toString().includes("GNU");
const why = isGnu ? "" : " (skipped: there is no GNU sort)";

function gnuSort(all: readonly string[], { sortKeys }: LineOrder): string[] {
  const args = ["-t", "\t", ...sortKeys.split(" ")];
  const { stdout, status } = spawnSync("sort", args, {
    input: all.map((each) => `${each}\n`).join(""),
    env: { ...process.env, LC_ALL: "C" },
  });
  expect(status).toBe(0);
  return stdout.toString().split("\n").slice(0, -1);
}

function ourSort(all: readonly string[], order: LineOrder): string[] {
  return [...sortManifests(new ForgetfulDisk(), [{ name: "m", lines: all }], order)];
}

describe.each(ORDERS)(`by $name, seed ${SEED}`, (order) => {
  test.skipIf(!isGnu)(`sorts as GNU sort does${why}`, () => {
    fc.assert(
      fc.property(lines, (all) => {
        expect(ourSort(all, order)).toEqual(gnuSort(all, order));
      }),
      { seed: SEED, numRuns: 12 },
    );
  });

  test.skipIf(!isGnu)(`merges what GNU sort sorted into what it would have sorted${why}`, () => {
    fc.assert(
      fc.property(fc.array(lines, { minLength: 1, maxLength: 4 }), (parts) => {
        const manifests = parts.map((all, i) => ({ name: `${i}`, lines: gnuSort(all, order) }));
        expect([...mergeManifests(manifests, order)]).toEqual(gnuSort(parts.flat(), order));
      }),
      { seed: SEED, numRuns: 4 },
    );
  });

  test("refuses to merge what is not sorted", () => {
    fc.assert(
      fc.property(lines, (all) => {
        const sorted = ourSort(all, order);
        const isSorted = all.every((each, i) => each === sorted[i]);
        const merge = () => [...mergeManifests([{ name: "m", lines: all }], order)];
        if (isSorted) expect(merge()).toEqual(all);
        else expect(merge).toThrow(/^m:\d+: not sorted by /);
      }),
      { seed: SEED, numRuns: 30 },
    );
  });

  test("a line comes back from its sortable form", () => {
    fc.assert(
      fc.property(line, (each) => {
        expect(fromSortable(toSortable(each, splitLine(each, "m"), order), order)).toBe(each);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });
});

describe(`split, seed ${SEED}`, () => {
  test("keeps lines of one digest together, in their order, and loses none", () => {
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 7 }), (all, count) => {
        const parts = Array.from({ length: count }, (): string[] => []);
        for (const each of all) parts[partOf(each, count)]!.push(each);
        const digests = parts.map((part) => new Set(part.map((each) => each.split("\t")[5])));
        const total = digests.reduce((sum, set) => sum + set.size, 0);
        expect(total).toBe(new Set(all.map((each) => each.split("\t")[5])).size);
        expect(parts.flat().toSorted()).toEqual(all.toSorted());
        for (const part of parts) expect(part).toEqual(all.filter((each) => part.includes(each)));
      }),
      { seed: SEED, numRuns: 100 },
    );
  });

  test("gives parts of about one size", () => {
    const count = 8;
    const sizes = Array.from({ length: count }, () => 0);
    for (let i = 0; i < 8000; i++) {
      const value = (i * 2654435761) >>> 0;
      const columns = Array.from({ length: 12 }, () => "-");
      columns[5] = `sha256:${value.toString(16).padStart(64, "0")}`;
      sizes[partOf(columns.join("\t"), count)]!++;
    }
    expect(Math.min(...sizes)).toBeGreaterThan(700);
    expect(Math.max(...sizes)).toBeLessThan(1300);
  });
});

describe(`cut into stretches, seed ${SEED}`, () => {
  test("never tears a digest group or a line, wherever the cuts fall", () => {
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 3000 }), (all, size) => {
        const disk = new ForgetfulDisk();
        const sorted = ourSort(all, BY_DIGEST);
        putFile(disk, "/m.tsv", Buffer.from(sorted.map((each) => `${each}\n`).join("")));
        const cuts = cutByDigest(disk, "/m.tsv", size);
        const parts = cuts.map(({ start, end }) => [...readTextLines(disk, "/m.tsv", start, end)]);
        expect(parts.flat()).toEqual(sorted);
        const digests = parts.map((part) => new Set(part.map((each) => each.split("\t")[5])));
        const total = digests.reduce((sum, set) => sum + set.size, 0);
        expect(total).toBe(new Set(sorted.map((each) => each.split("\t")[5])).size);
        expect(parts.every((part) => part.length > 0)).toBe(true);
      }),
      { seed: SEED, numRuns: 150 },
    );
  });
});

test("lines of too few columns are named with their place", () => {
  const sort = () => ourSort(["a\tb"], BY_DIGEST);
  expect(sort).toThrow("m:1: not a line of a manifest: 2 columns instead of 12");
});
