import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import type { Warning } from "../../base/index.ts";
import { captureBytes } from "../../testing/capture-text.ts";
import { createDice } from "../../testing/dice.ts";
import { goldenArchives } from "../../testing/golden-archive.ts";
import { gzipMember } from "../../testing/gzip-member.ts";
import { loadFrames } from "../../testing/zstd-frame.ts";
import { type ByteSource, bufferSource, loadZstd, WarcReader } from "../../warc/index.ts";
import { createManifest } from "../manifest.ts";
import { parseManifestLine } from "../manifest-line.ts";
import { offsetOf, parseCapture } from "./capture.ts";
import { emptyCounts } from "./counts.ts";
import { surveySource } from "./input.ts";
import { PayloadSampler } from "./sampler.ts";

/** So small a share that nothing is taken. */
const NOTHING = 1e-12;

beforeAll(async () => {
  await loadZstd();
  await loadFrames();
});

function surveyOf(input: Uint8Array | ByteSource, rate = 1, seed = 1) {
  const counts = emptyCounts();
  const captures: string[] = [];
  const warnings: Warning[] = [];
  let sketches = 0;
  let error: string | undefined;
  try {
    surveySource(
      input instanceof Uint8Array ? bufferSource(input) : input,
      { sampler: new PayloadSampler(rate, seed), order: 0, fixed: false },
      {
        onSketch: () => sketches++,
        onCapture: (line) => void captures.push(line),
        onReferred: () => {},
        onWarning: (warning) => void warnings.push(warning),
        onProgress: () => {},
      },
      counts,
    );
  } catch (thrown) {
    error = (thrown as Error).message;
  }
  const found = captures.map((line) => {
    const { place, length, identity, framing, damaged, uri } = parseCapture(line);
    return { offset: offsetOf(place), length, identity, framing, damaged, uri };
  });
  return { counts, captures, found, sketches, warnings, error };
}

const manifest = await createManifest({ digest: "sha256" });
const UNFIT = ["empty", "truncated", "segmented"];

/** What the manifest says of the same bytes, of the records whose payload can take part. */
function manifestOf(bytes: Uint8Array) {
  let records = 0;
  let responses = 0;
  let text = "";
  let error: string | undefined;
  try {
    for (const record of new WarcReader(bufferSource(bytes))) {
      records++;
      const line = manifest.record(record, () => {});
      if (line !== "") responses++;
      text += line;
    }
  } catch (thrown) {
    error = (thrown as Error).message;
  }
  const lines = text.split("\n").slice(0, -1);
  const found = lines
    .map((line) => parseManifestLine(line, "manifest"))
    .filter(({ flags, length, uri, date }) => !UNFIT.some((flag) => flags.includes(flag)) && length && uri && date)
    .map(({ offset, length, digest, payloadSize, framing, flags, uri }) => {
      return {
        offset,
        length,
        identity: `${digest!.slice("sha256:".length)} ${payloadSize}`,
        framing,
        damaged: flags.includes("damaged"),
        uri,
      };
    });
  return { records, responses, found, error };
}

/** Read in full, the survey finds what the manifest finds; and its counts do not depend on the sample. */
function expectAsManifest(bytes: Uint8Array, name = ""): void {
  const expected = manifestOf(bytes);
  const all = surveyOf(bytes);
  expect(all.found, name).toEqual(expected.found);
  expect(all.error, name).toBe(expected.error);
  if (expected.error !== undefined) return;
  const { records, responses, candidates } = all.counts;
  expect({ records, responses, candidates }, name).toEqual({
    records: expected.records,
    responses: expected.responses,
    candidates: expected.found.length,
  });
  expect(all.sketches).toBe(candidates);
}

function capture(number: number, payload: Uint8Array | string, more: Partial<Parameters<typeof captureBytes>[0]> = {}) {
  return captureBytes({ uri: `http://example.org/${number}`, date: "2020-02-02T20:20:20Z", payload, ...more });
}

const dice = createDice(11);
const NOISE = Buffer.from(dice.bytes(30_000));
const PAGE = Buffer.from("<p>The one specimen that all others refer to.</p>\n".repeat(100));
const RECORDS = [
  captureBytes({ uri: "http://example.org/info", date: "2020-02-02T20:20:20Z", type: "metadata", payload: "info" }),
  capture(1, PAGE),
  capture(2, NOISE),
  capture(3, PAGE, { chunks: [100, 2000] }),
  capture(4, ""),
  capture(5, "short"),
  capture(6, NOISE.subarray(0, 5000), { lines: ["WARC-Truncated: length"] }),
  capture(7, PAGE, { http: [`X-Long: ${"x".repeat(3000)}`] }),
  capture(8, PAGE, { type: "resource" }),
];

describe("a survey of one file", () => {
  it.each([
    ["plain", Buffer.concat(RECORDS)],
    ["a member each", Buffer.concat(RECORDS.map((record) => gzipSync(record)))],
    ["stored members", Buffer.concat(RECORDS.map((record) => gzipMember(record, {}, 0)))],
    [
      "members with names, comments and extra fields",
      Buffer.concat(
        RECORDS.map((record) => gzipMember(record, { name: "a", comment: "b", extra: NOISE.subarray(0, 9) })),
      ),
    ],
    ["one member for all", gzipSync(Buffer.concat(RECORDS))],
    [
      "two records a member",
      Buffer.concat([0, 2, 4, 6, 8].map((i) => gzipSync(Buffer.concat(RECORDS.slice(i, i + 2))))),
    ],
    [
      "members of 500 bytes, whatever is in them",
      Buffer.concat(
        Array.from({ length: 100 }, (_, i) => Buffer.concat(RECORDS).subarray(i * 500, i * 500 + 500))
          .filter((part) => part.length > 0)
          .map((part) => gzipSync(part)),
      ),
    ],
    ["padding between members", Buffer.concat(RECORDS.flatMap((record) => [gzipSync(record), Buffer.alloc(7)]))],
    [
      "an empty member at the end",
      Buffer.concat([...RECORDS.map((record) => gzipSync(record)), gzipSync(Buffer.alloc(0))]),
    ],
    ["separators of no byte", Buffer.concat(RECORDS.map((record) => gzipSync(record.subarray(0, -4))))],
    [
      "separators of eight bytes",
      Buffer.concat(RECORDS.map((record) => gzipSync(Buffer.concat([record, Buffer.from("\r\n\r\n")])))),
    ],
  ])("finds what the manifest finds: %s", (_, bytes) => {
    expectAsManifest(bytes);
    expectAsManifest(bytes.subarray(0, bytes.length - 3));
    expectAsManifest(bytes.subarray(0, bytes.length >> 1));
  });

  it("finds what the manifest finds in every golden archive", () => {
    for (const { name, bytes } of goldenArchives()) expectAsManifest(bytes, name);
  });

  it("counts the same with any sample, and takes no part of a larger one away", () => {
    const bytes = Buffer.concat([...RECORDS, ...RECORDS].map((record) => gzipSync(record)));
    const all = surveyOf(bytes);
    for (const rate of [NOTHING, 0.3, 0.7]) {
      for (let seed = 0; seed < 20; seed++) {
        const { counts, captures, sketches } = surveyOf(bytes, rate, seed);
        const { records, responses, candidates, candidateBytes, contentBytes } = counts;
        expect({ records, responses, candidates, candidateBytes, contentBytes }).toEqual({
          records: all.counts.records,
          responses: all.counts.responses,
          candidates: all.counts.candidates,
          candidateBytes: all.counts.candidateBytes,
          contentBytes: all.counts.contentBytes,
        });
        expect(sketches).toBe(all.sketches);
        // Equal payloads are in it together, chunked or not, HTTP or not.
        const identities = captures.map((line) => parseCapture(line).identity);
        const pages = identities.filter((identity) => identity === parseCapture(all.captures[0]!).identity).length;
        expect([0, 8]).toContain(pages);
      }
    }
  });

  it("decodes only the beginning of what is not in the sample, and reads only the beginning of plain records", () => {
    const records = Array.from({ length: 20 }, (_, i) =>
      capture(i, Buffer.concat([Buffer.from(`${i}`), NOISE, NOISE])),
    );
    const packed = surveyOf(Buffer.concat(records.map((record) => gzipSync(record))), NOTHING);
    expect(packed.counts).toMatchObject({ records: 20, candidates: 20, readThrough: 0 });
    expect(packed.counts.decodedBytes).toBeLessThan(packed.counts.contentBytes / 20);
    const plain = surveyOf(Buffer.concat(records), NOTHING);
    expect(plain.counts).toMatchObject({ records: 20, candidates: 20, readThrough: 0 });
    expect(plain.counts.bytesRead).toBeLessThan(plain.counts.bytes);
    expect(plain.counts.decodedBytes).toBe(packed.counts.decodedBytes);
  });

  it("goes on skipping behind a place where it could not", () => {
    const sound = Array.from({ length: 50 }, (_, i) => gzipSync(capture(i, `${i} ${PAGE.toString()}`)));
    const shared = gzipSync(Buffer.concat([capture(100, PAGE), capture(101, PAGE)]));
    const { counts } = surveyOf(Buffer.concat([...sound, shared, ...sound]), NOTHING);
    expect(counts).toMatchObject({ records: 102, responses: 102, candidates: 100 });
    expect(counts.readThrough).toBeLessThan(10);
  });

  it("reads a source that has no size or cannot seek", () => {
    const bytes = Buffer.concat(RECORDS.map((record) => gzipSync(record)));
    const source = bufferSource(bytes);
    const read = (into: Uint8Array, position: number) => source.read(into, position);
    const { counts, found } = surveyOf({ name: "-", seekable: false, read });
    expect(found).toEqual(surveyOf(bytes).found);
    expect(counts).toMatchObject({ bytes: bytes.length, bytesRead: bytes.length, readThrough: RECORDS.length });
  });
});

describe("what looks like the end of a member and is none", () => {
  const inner = Buffer.concat([gzipSync(capture(90, PAGE)), gzipSync(capture(91, NOISE))]);

  it("is not believed in: an archive in an archive, compressed and stored", () => {
    const records = [capture(1, PAGE), capture(2, inner), capture(3, Buffer.concat([inner, inner])), capture(4, PAGE)];
    for (const level of [0, 6]) {
      const bytes = Buffer.concat(records.map((record) => gzipMember(record, {}, level)));
      expectAsManifest(bytes);
      expect(surveyOf(bytes, NOTHING).counts).toMatchObject({ records: 4, responses: 4, candidates: 4 });
    }
  });

  it("costs no more than a wrong count and a warning where somebody made it so that it is", () => {
    // The four bytes before the false member are the size of the record that it lies in.
    const size = Buffer.alloc(4);
    const trap = () => capture(2, Buffer.concat([NOISE.subarray(0, 2000), size, inner, NOISE.subarray(0, 2000)]));
    size.writeUInt32LE(trap().length);
    const records = [capture(1, PAGE), trap(), capture(3, NOISE), capture(4, PAGE)];
    const bytes = Buffer.concat(records.map((record) => gzipMember(record, {}, 0)));
    expectAsManifest(bytes);
    const { counts, warnings } = surveyOf(bytes, NOTHING);
    expect(counts.records).toBe(6);
    expect(warnings.map(({ code }) => code)).toContain("HT_GARBAGE");
  });
});

it("a file that gets shorter while it is read comes to its end", () => {
  const bytes = Buffer.concat(RECORDS.map((record) => gzipSync(record)));
  for (const left of [0, 100, 5000, bytes.length - 1]) {
    const shorter = bufferSource(bytes.subarray(0, left));
    const { counts } = surveyOf({ ...shorter, size: bytes.length }, NOTHING);
    expect(counts.records).toBeLessThan(RECORDS.length + 1);
  }
});

describe("damage", () => {
  const records = [capture(1, PAGE.subarray(0, 400)), capture(2, NOISE.subarray(0, 300)), capture(3, "short")];
  const packed = Buffer.concat([...records, ...records].map((record) => gzipSync(record)));
  const plain = Buffer.concat([...records, ...records]);

  it("cuts a file at any byte: what is before the cut is found", () => {
    for (const bytes of [packed, plain]) {
      for (let cut = 1; cut < bytes.length; cut += 11) expectAsManifest(bytes.subarray(0, cut), `cut at ${cut}`);
    }
  });

  it("changes any byte: what the manifest finds is found", () => {
    for (const bytes of [packed, plain]) {
      for (let at = 0; at < bytes.length; at += 13) {
        const hurt = Buffer.from(bytes);
        hurt[at]! ^= 1 << (at % 8);
        expectAsManifest(hurt, `changed at ${at}`);
      }
    }
  });

  it("is told with the offset of its record, in the sample and out of it", () => {
    const hurt = Buffer.from(packed);
    const first = gzipSync(records[0]!).length;
    // The checksum of the second record, and a byte of the header of the fourth.
    hurt[first + gzipSync(records[1]!).length - 6]! ^= 1;
    const { warnings, found } = surveyOf(hurt);
    expect(warnings).toEqual([expect.objectContaining({ code: "HT_GZIP_CHECKSUM", offset: first })]);
    expect(found[1]).toMatchObject({ offset: first, damaged: true });
    expect(surveyOf(hurt, NOTHING).warnings).toEqual([]);
  });

  it("of a content is told with the offset of its record too", () => {
    const broken = capture(9, "no chunk behind this one", { chunks: [100], trailer: "", http: ["X: y"] });
    const text = broken.toString("latin1").replace("\r\n0\r\n", "\r\nz\r\n");
    for (const pack of [(record: Uint8Array) => gzipSync(record), (record: Uint8Array) => record]) {
      const members = [records[0]!, records[1]!, Buffer.from(text, "latin1"), records[2]!].map((record) =>
        pack(record),
      );
      const offset = members[0]!.length + members[1]!.length;
      const { warnings, found, counts } = surveyOf(Buffer.concat(members));
      expect(warnings).toEqual([expect.objectContaining({ code: "HT_HTTP_CHUNK", offset })]);
      expect(found[2]).toMatchObject({ offset, damaged: true });
      expect(counts.readThrough).toBe(0);
    }
  });

  it("does not make it try every byte: what looks like a member a million times", () => {
    const trap = Buffer.alloc(1 << 20, Buffer.from([0x1f, 0x8b, 8, 0]));
    const bytes = Buffer.concat([capture(1, trap), capture(2, PAGE)].map((record) => gzipMember(record, {}, 0)));
    const { counts } = surveyOf(bytes, NOTHING);
    expect(counts).toMatchObject({ records: 2, readThrough: 1 });
    expectAsManifest(bytes);
  });

  it("does not make it search the file again and again: lengths that are lies", () => {
    const lying = Array.from({ length: 1000 }, (_, i) => {
      const text = capture(i, "x").toString("latin1");
      return gzipSync(Buffer.from(text.replace(/Content-Length: \d+\r\n\r\n/, "Content-Length: 999999999999\r\n\r\n")));
    });
    const bytes = Buffer.concat(lying);
    const { counts } = surveyOf(bytes, NOTHING);
    expect(counts.records).toBe(1000);
    expect(counts.bytesRead).toBeLessThan(200 * bytes.length);
  });
});
