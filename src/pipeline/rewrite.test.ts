/** One file rewritten by a plan, and its proof; on bytes in memory. */
import { describe, expect, test } from "vitest";
import { ArchiveError, digestOf, formatDigest } from "../base/index.ts";
import { captureBytes, idOf, noise, packRecords } from "../testing/capture-text.ts";
import { readRecords } from "../testing/deduplicated.ts";
import { loadFrames } from "../testing/zstd-frame.ts";
import { type ByteSource, bufferSource, COMMON_HEAD_SIZE_MAX, type Compression, loadZstd } from "../warc/index.ts";
import { detectCompression } from "./compression.ts";
import type { LedgerEntry } from "./ledger.ts";
import type { ManifestLine } from "./manifest-line.ts";
import { type RewriteOptions, rewriteSource } from "./rewrite.ts";
import { proveRewrite, type ReplacedLine } from "./rewrite-proof.ts";

await Promise.all([loadFrames(), loadZstd()]);

const PAYLOAD = noise("payload", 1500);
const URI = "http://a.example/";
const ORIGINAL = { uri: "http://o.example/", date: "2019-01-01T00:00:00Z", id: "urn:uuid:o", file: "o", offset: 0 };
const DATES = [1, 2, 3, 4].map((day) => `2020-01-0${day}T00:00:00Z`);

const RECORDS = DATES.map((date, i) =>
  captureBytes({
    uri: URI,
    date,
    payload: PAYLOAD,
    chunks: i === 2 ? [1000, 10] : undefined,
    blockDigest: i > 1,
    lines: ["X: \u00e9"],
  }),
);

function copyLine(file: Buffer, index: number, more: Partial<ManifestLine> = {}): ManifestLine {
  const record = readRecords({ name: "in", bytes: file })[index]!;
  return {
    file: "in",
    offset: record.offset,
    length: record.raw!.length,
    uri: record.uri,
    date: record.date,
    digest: formatDigest(digestOf("sha256", record.payload)),
    payloadSize: record.payload.length,
    status: 200,
    mime: "text/plain",
    framing: record.framing,
    id: record.id,
    flags: [],
    extension: 0,
    copy: 2,
    original: ORIGINAL,
    ...more,
  };
}

function rewrite(bytes: Buffer | ByteSource, copies: readonly ManifestLine[], options: Partial<RewriteOptions> = {}) {
  const source = Buffer.isBuffer(bytes) ? bufferSource(bytes, "in") : bytes;
  const parts: Buffer[] = [];
  const replaced: { line: ManifestLine; entry: LedgerEntry }[] = [];
  const left: [number, string][] = [];
  const written = rewriteSource(
    source,
    copies,
    { write: (piece) => void parts.push(Buffer.from(piece)) },
    { minSaving: 1, ...options },
    {
      onReplaced: (line, entry) => void replaced.push({ line, entry }),
      onLeft: (line, reason) => void left.push([line.offset, reason]),
    },
  );
  const output = Buffer.concat(parts);
  expect(written).toBe(output.length);
  return { output, replaced, left };
}

function prove(input: Buffer, output: Buffer, replaced: readonly ReplacedLine[]): string {
  return proveRewrite(bufferSource(input, "in"), bufferSource(output, "out"), replaced);
}

describe.each<Compression>(["none", "gzip", "zstd"])("%s", (compression) => {
  const input = packRecords(RECORDS, compression);
  const copies = [1, 2, 3].map((index) => copyLine(input, index));

  test("copies become revisits, every other byte stays", () => {
    expect(detectCompression(bufferSource(input))).toBe(compression);
    const { output, replaced, left } = rewrite(input, [copies[0]!, copies[2]!]);
    expect(left).toEqual([]);
    expect(replaced.map(({ entry }) => entry.inputOffset)).toEqual([copies[0]!.offset, copies[2]!.offset]);
    const [first, second] = replaced.map(({ entry }) => entry) as [LedgerEntry, LedgerEntry];
    expect(output.subarray(0, first.outputOffset).equals(input.subarray(0, first.inputOffset))).toBe(true);
    const between = input.subarray(first.inputOffset + first.inputLength, second.inputOffset);
    expect(output.subarray(first.outputOffset + first.outputLength, second.outputOffset).equals(between)).toBe(true);
    expect(readRecords({ name: "out", bytes: output }).map(({ type }) => type)).toEqual([
      "response",
      "revisit",
      "response",
      "revisit",
    ]);
    for (const { entry } of replaced) {
      const stored = input.subarray(entry.inputOffset, entry.inputOffset + entry.inputLength);
      expect(entry.storedDigest).toBe(formatDigest(digestOf("sha256", stored)));
      expect(entry.gzipHeader).toBe(compression === "gzip" ? stored.toString("hex", 0, 10) : undefined);
    }
    expect(first.recordDigest).toBe(formatDigest(digestOf("sha256", RECORDS[1]!)));
  });

  test("is proven, and gives the digest of the output", () => {
    const { output, replaced } = rewrite(input, copies);
    expect(replaced).toHaveLength(3);
    expect(prove(input, output, replaced)).toBe(digestOf("sha256", output).hex);
  });

  test("without copies it is the same file", () => {
    const { output } = rewrite(input, []);
    expect(output.equals(input)).toBe(true);
    expect(prove(input, output, [])).toBe(digestOf("sha256", input).hex);
  });

  test("whichever byte of the output is another one, the proof finds it", () => {
    const { output, replaced } = rewrite(input, copies);
    const held = (bytes: Buffer) =>
      readRecords({ name: "", bytes }).map(({ head, block }) => head + block.toString("latin1"));
    const wanted = held(output).join("");
    const missed: string[] = [];
    const isRevisit = (at: number) =>
      replaced.some(({ entry }) => at >= entry.outputOffset && at < entry.outputOffset + entry.outputLength);
    for (let at = 0; at < output.length; at += !isRevisit(at) ? 23 : compression === "none" ? 1 : 5) {
      const changed = Buffer.from(output);
      changed[at]! ^= 0x01;
      try {
        prove(input, changed, replaced);
        // Bits that change nothing, such as the time in a gzip header, are nobody's business.
        if (held(changed).join("") !== wanted) missed.push(output.toString("latin1", at - 40, at + 10));
      } catch (error) {
        if (!(error instanceof ArchiveError)) throw error;
      }
    }
    expect(missed).toEqual([]);
  });

  test("an output that is too short or too long is found", () => {
    const { output, replaced } = rewrite(input, copies);
    for (const size of [0, 10, output.length - 1])
      expect(() => prove(input, output.subarray(0, size), replaced)).toThrow();
    expect(() => prove(input, Buffer.concat([output, Buffer.from("\n")]), replaced)).toThrow("behind its end");
    expect(() => prove(input, output, replaced.slice(1))).toThrow();
    expect(() => prove(input, output, [])).toThrow();
  });
});

describe("a copy is left", () => {
  const input = packRecords(RECORDS);

  test("where its original is not to be had", () => {
    const copy = copyLine(input, 1);
    const { output, left } = rewrite(input, [copy], { whyLeave: () => "original-missing" });
    expect(left).toEqual([[copy.offset, "original-missing"]]);
    expect(output.equals(input)).toBe(true);
  });

  test("where too little would be saved", () => {
    const copy = copyLine(input, 1);
    const saved = input.length - rewrite(input, [copy]).output.length;
    expect(rewrite(input, [copy], { minSaving: saved }).left).toEqual([]);
    expect(rewrite(input, [copy], { minSaving: saved + 1 }).left).toEqual([[copy.offset, "saving"]]);
  });

  test.each([0, 1])("where the header of its revisit would be %d bytes larger than is read", (more) => {
    const headOf = (bytes: Buffer) => readRecords({ name: "out", bytes })[0]!.head.length;
    const record = (uri: string) =>
      packRecords([captureBytes({ uri, date: DATES[0]!, payload: noise("large", 300_000) })], "none");
    const before = headOf(rewrite(record(URI), [copyLine(record(URI), 0)]).output);
    const long = record(`${URI}${"x".repeat(COMMON_HEAD_SIZE_MAX - before + more)}`);
    const { output, left } = rewrite(long, [copyLine(long, 0)]);
    expect(left).toEqual(more === 0 ? [] : [[0, "header-size"]]);
    expect(readRecords({ name: "out", bytes: output })).toMatchObject([{ type: more === 0 ? "revisit" : "response" }]);
  });

  test("where another record stands in its place", () => {
    const copy = copyLine(input, 1, { id: idOf("another") });
    expect(rewrite(input, [copy]).left).toEqual([[copy.offset, "unreadable"]]);
  });

  test("where its payload has another size than the plan says", () => {
    const copy = copyLine(input, 1, { payloadSize: 7 });
    expect(rewrite(input, [copy]).left).toEqual([[copy.offset, "irreversible"]]);
  });

  test("where it could not be put together again", () => {
    const odd = packRecords([captureBytes({ uri: URI, date: DATES[0]!, payload: PAYLOAD, digest: "wrong" })]);
    expect(rewrite(odd, [copyLine(odd, 0)]).left).toEqual([[0, "irreversible"]]);
  });

  test("where the plan's length holds more than one record", () => {
    const copy = copyLine(input, 1);
    const both = { ...copy, length: copy.length! + copyLine(input, 2).length! };
    expect(rewrite(input, [both]).left).toEqual([[copy.offset, "irreversible"]]);
  });
});

describe("a plan that does not fit is refused", () => {
  const input = packRecords(RECORDS);
  const copy = copyLine(input, 1);

  test.each<[string, readonly ManifestLine[]]>([
    ["beyond the end", [{ ...copy, offset: input.length - 5 }]],
    ["out of order", [copyLine(input, 2), copy]],
    ["one twice", [copy, copy]],
    ["without a length", [{ ...copy, length: undefined }]],
    ["without an original", [{ ...copy, original: undefined }]],
    ["with half an original", [{ ...copy, original: { ...ORIGINAL, date: undefined } }]],
    ["with a digest that is none", [{ ...copy, digest: "weak:1" }]],
  ])("%s", (_, copies) => {
    expect(() => rewrite(input, copies)).toThrow(expect.objectContaining({ code: "HT_VERIFY" }));
  });
});

test("a block digest that stands there twice comes back twice", () => {
  const once = captureBytes({ uri: URI, date: DATES[0]!, payload: PAYLOAD, blockDigest: true }).toString("latin1");
  const twice = once.replace(/WARC-Block-Digest: .*\r\n/, (line) => line + line);
  const input = packRecords([Buffer.from(twice, "latin1")]);
  const { output, replaced } = rewrite(input, [copyLine(input, 0)]);
  expect(replaced).toHaveLength(1);
  expect(prove(input, output, replaced)).toBe(digestOf("sha256", output).hex);
});

test("a file that became shorter is found", () => {
  const input = packRecords(RECORDS);
  const source = { ...bufferSource(input.subarray(0, -10), "in"), size: input.length };
  expect(() => rewrite(source, [])).toThrow("shorter than it was");
});

describe("HTTP headers of any size come over whole", () => {
  test.each([100, 3900, 4200, 33_000, 200_000])("%d bytes", (size) => {
    const http = [`X-Long: ${"y".repeat(size)}`];
    const input = packRecords(
      [captureBytes({ uri: URI, date: DATES[0]!, payload: noise("large", 300_000), http })],
      "none",
    );
    const { output, replaced } = rewrite(input, [copyLine(input, 0)]);
    expect(replaced).toHaveLength(1);
    prove(input, output, replaced);
    const [revisit] = readRecords({ name: "out", bytes: output });
    expect(revisit!.block.toString()).toContain(`${http[0]}\r\n\r\n`);
  });
});
