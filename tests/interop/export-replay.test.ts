/** What other people's tools make of an export: npm warcio reads it, wabac.js replays it, as WARC and as WACZ. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { WARCParser } from "warcio";
import type { ArchiveFile } from "../../src/testing/dedup-trial.ts";
import { type HeldRecord, readRecords } from "../../src/testing/deduplicated.ts";
import { keyRange } from "../../src/url/index.ts";
import { isCapture, originalOf, type Trial, trial } from "../archive/export-trial.ts";
import { SAMPLES } from "../cli/holotype.ts";
import { CORPUS, present, why } from "./corpus-files.ts";
import { contentOf, replayWith } from "./wabac-replay.ts";

const PATIENCE = { timeout: 240_000 };
const full = ({ type }: HeldRecord) => type === "response" || type === "resource";

function filesIn(folder: string): ArchiveFile[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /\.warc(?:\.gz)?$/.test(name))
    .map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));
}

describe("the samples, exported", PATIENCE, () => {
  const files = filesIn(SAMPLES);
  const wanted = files.flatMap(readRecords).filter(full);
  let made: Trial;
  beforeAll(async () => {
    made = trial();
    await made.add(files);
  });
  afterAll(() => made[Symbol.dispose]());

  it("are read by npm warcio, record by record", async () => {
    await made.export("all.warc.gz");
    await checkWarcio(made.read("all.warc.gz"), made.records("all.warc.gz"));
  });

  it.each([
    ["WARC, whole", "whole.warc.gz", "whole", {}],
    ["WARC, on demand", "demand.warc.gz", "on demand", {}],
    ["WACZ", "all.wacz", "on demand", {}],
    ["WACZ of one crawl", "late.wacz", "on demand", { fromMs: Date.UTC(2018, 0, 1) }],
    ["WACZ of a part", "part.wacz", "on demand", { range: keyRange("http://cabinet.example/collection", "prefix") }],
  ] as const)("are replayed by wabac.js: %s", async (_, name, mode, selection) => {
    vi.spyOn(console, "log").mockImplementation(() => {});
    await made.export(name, { selection });
    const replay = await replayWith(name, made.read(name), mode);
    const { fromMs = 0, range } = selection as { fromMs?: number; range?: ReturnType<typeof keyRange> };
    let replayed = 0;
    for (const { uri, date, payload, block } of wanted) {
      const status = Number(/^HTTP\/1\.\d (\d+)/.exec(block.toString("latin1", 0, 20))?.[1] ?? 200);
      // A redirect to itself is passed over for the next capture, and a redirect on demand has no body.
      if (Date.parse(date!) < fromMs || (status >= 300 && status < 400)) continue;
      if (range !== undefined && !uri!.startsWith("http://cabinet.example/collection/")) continue;
      const found = await replay.get(uri!, date!);
      expect(contentOf(found)?.equals(payload), `${uri} ${date}`).toBe(true);
      replayed++;
    }
    expect(replayed).toBeGreaterThan(10);
  });
});

describe.each(["boost", "lucene-revisit"])(`crawls of one site: %s${why}`, PATIENCE, (site) => {
  it.skipIf(!present)("every capture is in the export with its header, status and payload", async () => {
    const files = filesIn(join(CORPUS, "sites", site));
    expect(files.length).toBeGreaterThan(0);
    using made = trial();
    await made.add(files);
    const report = await made.export("all.warc.gz");
    expect(report.orphan).toBeLessThan(report.captures);
    const records = made.records("all.warc.gz");
    await checkWarcio(made.read("all.warc.gz"), records);
    const exported = new Map(records.filter(isCapture).map((record) => [`${record.id} ${record.uri}`, record]));
    for (const given of files.flatMap(readRecords).filter(full)) {
      const record = exported.get(`${given.id} ${given.uri}`)!;
      expect(record, `${given.uri} ${given.date}`).toBeDefined();
      if (record.type !== "revisit") {
        expect([record.head, record.block.equals(given.block)]).toEqual([given.head, true]);
        continue;
      }
      expect(originalOf(record, records)?.payload.equals(given.payload), `${given.uri} ${given.date}`).toBe(true);
      const head = given.block.subarray(0, given.block.length - storedSize(given));
      expect(record.block.equals(head), `${given.uri} ${given.date}`).toBe(true);
    }
  });
});

/** The size of the body as it is stored: what stands behind the HTTP header. */
function storedSize({ block, type }: HeldRecord): number {
  const end = block.indexOf("\r\n\r\n");
  return type === "resource" || end < 0 ? block.length : block.length - end - 4;
}

async function checkWarcio(bytes: Buffer, wanted: readonly HeldRecord[]): Promise<void> {
  const parser = new WARCParser([bytes] as unknown as AsyncIterable<Uint8Array>, { parseHttp: false });
  let count = 0;
  for await (const record of parser) {
    const block = Buffer.from(await record.readFully(false));
    const ours = wanted[count++]!;
    expect(record.warcType).toBe(ours.type);
    expect([parser.offset, parser.recordLength]).toEqual([ours.offset, ours.raw!.length]);
    expect(block.equals(ours.block)).toBe(true);
  }
  expect(count).toBe(wanted.length);
}
