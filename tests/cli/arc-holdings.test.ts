/** What `survey` and `dedup` say of duplicates in files in which nothing can be replaced. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SurveyReport } from "../../src/pipeline/index.ts";
import { createDice } from "../../src/testing/dice.ts";
import { arcFile, response, warcFile, zipFile } from "./archives.ts";
import { holotype, linesOf, put, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
const dice = createDice(24);
/** They do not shrink: each is worth replacing. */
const BODIES = [1, 2, 3].map(() => Buffer.from(dice.bytes(1500)).toString("hex"));

/** Two ARC files, in which content 1 is four times, 2 twice and 3 once: four duplicates. */
const arcs = join(folder, "arcs");
mkdirSync(arcs);
const CONTENTS = [
  [0, 1, 0],
  [0, 1, 0, 2],
];
for (const [file, contents] of CONTENTS.entries()) {
  const records = contents.map((content, i) => ({
    url: `http://arc.example/${file}/${i}`,
    mime: "text/plain",
    date: `200${file}010${i + 1}000000`,
    block: `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n${BODIES[content]}`,
  }));
  put(arcs, `${file}.arc.gz`, arcFile(1, `${file}.arc.gz`, records));
}
const DUPLICATES = CONTENTS.flat().length - new Set(CONTENTS.flat()).size;

interface Found {
  readonly duplicates: number;
  readonly replaced: number;
  readonly left: Readonly<Record<string, number>>;
  readonly fixed: readonly { kind: string; files: number; records: number; bytes: number }[];
}

function dedupJson(...args: readonly string[]): Found {
  return JSON.parse(holotype(["dedup", "--json", ...args]).out) as Found;
}

/** Counted by their digests, and by what `ls` says of their lengths: the first by date stays. */
function bytesOfCopies(): number {
  const lines = linesOf(holotype(["manifest", arcs]).out).map((line) => line.split("\t"));
  const seen = new Set<string>();
  let bytes = 0;
  for (const columns of lines.sort((one, other) => (one[4]! < other[4]! ? -1 : 1))) {
    if (seen.has(columns[5]!)) bytes += Number(columns[2]);
    seen.add(columns[5]!);
  }
  return bytes;
}

describe("duplicates in ARC files", () => {
  it("are counted by dedup, which says what to do", () => {
    const found = dedupJson(arcs, "--dry-run");
    expect(found).toMatchObject({ duplicates: DUPLICATES, replaced: 0, left: { fixed: DUPLICATES } });
    expect(found.fixed).toEqual([{ kind: "arc", files: 2, records: DUPLICATES, bytes: bytesOfCopies() }]);
    const { out, exit } = holotype(["dedup", arcs, "--dry-run"]);
    expect(exit).toBe(0);
    expect(out).toMatch(
      /^duplicates +4 found, 0 would be replaced\n +4 left, [\d.]+ k?B, in 2 ARC files; holotype conv/m,
    );
  });

  it("are counted by survey, exactly and from a sample", () => {
    const report = JSON.parse(holotype(["survey", "--sample", "all", "--json", arcs]).out) as SurveyReport;
    const exactly = (value: number) => ({ value, low: value, high: value });
    expect(report.fixed.arc).toEqual({ records: exactly(DUPLICATES), bytes: exactly(bytesOfCopies()) });
    expect(report).toMatchObject({ arcFiles: 2, waczFiles: 0, duplicates: { records: exactly(0) } });
    const { out } = holotype(["survey", "--sample", "all", arcs]);
    expect(out).toMatch(/^4 duplicates more, [\d.]+ k?B, in 2 ARC files; holotype convert/m);
    const sampled = JSON.parse(holotype(["survey", "--sample", "1%", "--json", arcs]).out) as SurveyReport;
    expect(sampled.fixed.arc.records.high).toBeGreaterThanOrEqual(DUPLICATES);
  });

  it("are those that dedup finds when they have been converted", () => {
    const converted = join(folder, "converted");
    expect(holotype(["convert", arcs, "-o", converted]).exit).toBe(0);
    expect(dedupJson(converted, "--dry-run")).toMatchObject({
      duplicates: DUPLICATES,
      replaced: DUPLICATES,
      fixed: [],
    });
  });

  it("count only where the policy would have them replaced", () => {
    expect(dedupJson(arcs, "--dry-run", "--not-mime", "text/*")).toMatchObject({ duplicates: 0, fixed: [] });
  });
});

it("duplicates in WACZ files are counted, too", () => {
  const path = put(
    folder,
    "set.wacz",
    zipFile({
      "archive/a.warc.gz": warcFile([response("http://w.example/1", BODIES[0]!, { date: "2001-01-01T00:00:00Z" })]),
      "archive/b.warc.gz": warcFile([response("http://w.example/2", BODIES[0]!, { date: "2002-01-01T00:00:00Z" })]),
    }),
  );
  expect(dedupJson(path, "--dry-run").fixed).toMatchObject([{ kind: "wacz", files: 1, records: 1 }]);
  expect(holotype(["dedup", path, "--dry-run"]).out).toMatch(/1 left, .* in 1 WARC file of a WACZ; unpack/);
  expect(holotype(["survey", "--sample", "all", path]).out).toMatch(/^1 duplicate more, .* in 2 WARC files of WACZ;/m);
});
