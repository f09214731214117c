import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestOf } from "../../src/base/index.ts";
import { response, warcFile } from "./archives.ts";
import { holotype, put, SAMPLES, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
const noise = (name: string) =>
  Array.from({ length: 50 }, (_, i) => digestOf("sha1", Buffer.from(`${name} ${i}`)).hex).join("\n");

function json(...args: readonly string[]): Record<string, unknown> {
  const { exit, out } = holotype([...args, "--json"]);
  expect(exit).toBe(0);
  return JSON.parse(out) as Record<string, unknown>;
}

/** Duplicates across time and across location, as each command has them. */
function everywhere(name: string, files: string): Record<string, readonly [number, number]> {
  type Estimates = Record<"sameUrl" | "otherUrl", { records: { value: number } }>;
  type Shares = Record<"acrossTime" | "acrossLocation", { duplicates: number }>;
  const { sameUrl, otherUrl } = json("survey", "--sample", "all", files) as unknown as Estimates;
  const added = json("add", files, "--archive", join(folder, `${name}-archive`)) as Record<string, number>;
  const job = join(folder, `${name}-job`);
  json("dedup", files, "-o", join(folder, `${name}-out`), "--job", job);
  const report = JSON.parse(readFileSync(join(job, "report.json"), "utf8")) as Shares;
  return {
    survey: [sameUrl.records.value, otherUrl.records.value],
    add: [added["acrossTime"]!, added["acrossLocation"]!],
    dedup: [report.acrossTime.duplicates, report.acrossLocation.duplicates],
  };
}

test("across time and across location mean the same in survey, add and dedup", () => {
  expect(everywhere("samples", SAMPLES)).toEqual({ survey: [51, 4], add: [51, 4], dedup: [51, 4] });
});

test("a content that was captured before at a URL is across time there, whatever URL its original has", () => {
  const [a, b] = ["http://a.example/", "http://b.example/"];
  const days = [a, b, b, a, "http://c.example/", b];
  const records = days.map((url, i) => response(url, noise("same"), { date: `2020-01-0${i + 1}T00:00:00Z` }));
  const counts = [3, 2] as const;
  const file = put(folder, "days.warc.gz", warcFile(records));
  expect(everywhere("days", file)).toEqual({ survey: counts, add: counts, dedup: counts });
});

test("captures that were added add up, and with --min-saving none every duplicate becomes a revisit", () => {
  const small = ["1", "2", "3"].map((day) =>
    response("http://s.example/", "few", { date: `2020-01-0${day}T00:00:00Z` }),
  );
  const large = ["http://a.example/", "http://b.example/"].map((url) => response(url, noise("large")));
  const file = put(folder, "sizes.warc.gz", warcFile([...small, ...large]));
  const added = (...args: readonly string[]) => {
    const archive = join(folder, `sizes-${args.length}`);
    const report = json("add", file, "--archive", archive, ...args);
    expect(holotype(["doctor", "--archive", archive]).exit).toBe(0);
    return report;
  };
  const common = { captures: 5, contents: 2, repeated: 3, duplicates: 3, acrossTime: 2, acrossLocation: 1 };
  expect(added()).toMatchObject({ ...common, replaced: 1, kept: { saving: 2 }, incomparable: 0, revisits: 0 });
  expect(added("--min-saving", "none")).toMatchObject({ ...common, replaced: 3, kept: {} });
  const out = join(folder, "small-out");
  expect(json("dedup", file, "-o", out, "--min-saving", "none")).toMatchObject({ duplicates: 3, replaced: 3 });
  expect(holotype(["add", file, "--archive", join(folder, "no"), "--min-saving", "some"])).toMatchObject({ exit: 2 });
});
