import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Candidate, OriginalChooser } from "../../dedup/index.ts";
import { captureBytes } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { gzipMember } from "../../testing/gzip-member.ts";
import { findInputs } from "../inputs.ts";
import { BY_DIGEST, fromSortable, parseManifestLine, splitLine, toSortable } from "../manifest-line.ts";
import { runTask } from "../run.ts";
import { surveyInputs } from "./survey.ts";

/** Some of them begin alike, and some of these are of one size. */
const PAYLOADS = ["", "a", "b", "a".repeat(1024), "a".repeat(1025), `${"a".repeat(2000)}b`, `${"a".repeat(2000)}c`];

const capture = fc
  .record({
    uri: fc.integer({ min: 0, max: 3 }).map((number) => `http://example.org/${number}`),
    date: fc.integer({ min: 0, max: 9 }).map((second) => `2020-02-02T20:20:0${second}Z`),
    payload: fc.constantFrom(...PAYLOADS),
    chunks: fc.constantFrom(undefined, [1000], [7, 7, 7]),
    http: fc.constantFrom([], [`X-Long: ${"x".repeat(900)}`]),
    type: fc.constantFrom("response", "response", "response", "resource", "metadata"),
    lines: fc.constantFrom([], [], [], ["WARC-Truncated: length"], ["WARC-Segment-Number: 1"]),
    digest: fc.constantFrom("transferred" as const, "none" as const, "wrong" as const),
  })
  .map((text) => captureBytes(text));

type Pack = (records: readonly Buffer[]) => Buffer;

const PACKS: Readonly<Record<string, Pack>> = {
  plain: (records) => Buffer.concat(records),
  members: (records) => Buffer.concat(records.map((record) => gzipSync(record))),
  stored: (records) => Buffer.concat(records.map((record) => gzipMember(record, {}, 0))),
  one: (records) => gzipSync(Buffer.concat(records)),
  pairs: (records) =>
    Buffer.concat(
      records.flatMap((record, i) =>
        i % 2 === 0 ? [gzipSync(Buffer.concat([record, records[i + 1] ?? Buffer.alloc(0)]))] : [],
      ),
    ),
  halves: (records) =>
    Buffer.concat(records.flatMap((record) => [gzipSync(record.subarray(0, 90)), gzipSync(record.subarray(90))])),
};

const file = fc
  .tuple(fc.array(capture, { minLength: 1, maxLength: 8 }), fc.constantFrom(...Object.keys(PACKS)))
  .map(([records, pack]) => PACKS[pack]!(records.map((record) => Buffer.from(record))));

/** What the manifest says is duplicate, by the rules of deduplication. */
async function countByManifest(disk: ForgetfulDisk) {
  let text = "";
  const inputs = findInputs(disk, ["/in"], () => {});
  const onText = (more: string | Uint8Array) => {
    text += Buffer.from(more as Uint8Array).toString();
  };
  const { records } = await runTask(
    disk,
    inputs,
    { kind: "manifest", options: { digest: "sha256" } },
    { threads: 1, onText },
  );
  const lines = text.split("\n").slice(0, -1);
  const sorted = lines.map((line) => toSortable(line, splitLine(line, "manifest"), BY_DIGEST)).sort();
  const chooser = new OriginalChooser<Candidate>({});
  let digest: string | undefined;
  let duplicates = 0;
  let bytes = 0;
  for (const sortable of sorted) {
    const line = parseManifestLine(fromSortable(sortable, BY_DIGEST), "manifest");
    if (line.digest !== digest) chooser.begin();
    digest = line.digest;
    const has = (flag: string) => line.flags.includes(flag);
    const flaws = {
      damaged: has("damaged"),
      truncated: has("truncated"),
      segmented: has("segmented"),
      empty: has("empty"),
    };
    const { kind } = chooser.decide({ ...line, ...flaws, shared: line.length === undefined });
    if (kind !== "duplicate") continue;
    duplicates++;
    bytes += line.length!;
  }
  return { records, responses: lines.length, duplicates, bytes };
}

it("a survey of everything counts what the manifest counts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 4 }), fc.nat(), async (files, seed) => {
      const disk = new ForgetfulDisk();
      disk.makeFolder("/in");
      for (const [i, bytes] of files.entries()) {
        using written = disk.open(`/in/${i}.warc.gz`, "create");
        written.write(bytes, 0);
      }
      const inputs = findInputs(disk, ["/in"], () => {});
      const report = await surveyInputs(disk, inputs, { sample: 1, seed, threads: 1 });
      const { records, responses, duplicates } = report;
      const found = { records, responses, duplicates: duplicates.records.value, bytes: duplicates.bytes.value };
      expect(found).toEqual(await countByManifest(disk));
      // With a sample the exact counts stay, and nothing impossible is said.
      const part = await surveyInputs(disk, inputs, { sample: 0.3, seed, threads: 1 });
      expect(part).toMatchObject({ records, responses, candidates: report.candidates, bytes: report.bytes });
      for (const estimate of [part.duplicates.records, part.duplicates.bytes, part.saved, part.after]) {
        expect(estimate.low).toBeLessThanOrEqual(estimate.value);
        expect(estimate.high).toBeGreaterThanOrEqual(estimate.value);
        expect(estimate.low).toBeGreaterThanOrEqual(0);
      }
    }),
    { numRuns: 80 },
  );
});
