import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Warning } from "../base/index.ts";
import { bufferSource } from "./byte-source.ts";
import { WarcReader } from "./reader.ts";
import { WholeRecords } from "./whole-record.ts";

const PLACE = { file: "x.warc.gz", offset: 0 };

function recordText(block: string, changes: { length?: number; separator?: string; line?: string } = {}): string {
  const { length = block.length, separator = "\r\n\r\n", line = "" } = changes;
  const fields = `WARC-Type: response\r\nWARC-Record-ID: <urn:a>\r\n${line}Content-Length: ${length}\r\n`;
  return `WARC/1.1\r\n${fields}\r\n${block}${separator}`;
}

const PAGE = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a page, a page, a page</p>";
const sound = recordText(PAGE);
const KINDS: readonly [string, (text: string) => Buffer][] = [
  ["gzip", (text) => gzipSync(Buffer.from(text, "latin1"))],
  ["plain", (text) => Buffer.from(text, "latin1")],
];

/** What the reader makes of the bytes: one record without a warning, or something else. */
function readSoundly(bytes: Buffer): { head: string; block: string } | undefined {
  const warnings: Warning[] = [];
  try {
    const reader = new WarcReader(bufferSource(bytes), { onWarning: (warning) => void warnings.push(warning) });
    const record = reader.next();
    const found =
      record === undefined ? undefined : { head: record.headers.text, block: record.readAll(1e6).toString("latin1") };
    return reader.next() === undefined && warnings.length === 0 ? found : undefined;
  } catch {
    return undefined;
  }
}

describe.each(KINDS)("%s", (_, encode) => {
  test("a sound record is all there", () => {
    const raw = encode(sound);
    const record = new WholeRecords(1000).open(raw, PLACE)!;
    expect([record.id, record.type, record.blockSize, record.length]).toEqual([
      "urn:a",
      "response",
      PAGE.length,
      raw.length,
    ]);
    expect(record.content!.toString("latin1")).toBe(sound);
    expect(record.block!.toString("latin1")).toBe(PAGE);
    expect(Buffer.from(record.raw!).equals(raw)).toBe(true);
    expect([...record.chunks()].map((chunk) => Buffer.from(chunk).toString("latin1"))).toEqual([PAGE]);
    expect([record.block, record.read()]).toEqual([undefined, undefined]);
  });

  test("is gone with the next", () => {
    const records = new WholeRecords(1000);
    const first = records.open(encode(sound), PLACE)!;
    records.open(encode(recordText("")), PLACE);
    expect([first.block, first.read(), first.content, first.raw, first.length]).toEqual(Array(5).fill(undefined));
  });

  test.each([
    ["a length that lies", recordText(PAGE, { length: PAGE.length - 1 })],
    ["a separator that is cut", recordText(PAGE, { separator: "\r\n" })],
    ["other line ends behind it", recordText(PAGE, { separator: "\n\n\n\n" })],
    ["another record behind it", sound + sound],
    ["a line without a colon", recordText(PAGE, { line: "what is this\r\n" })],
    ["lines that end in LF", sound.replaceAll("\r\n", "\n")],
    ["no record", "nothing of the kind"],
    ["nothing", ""],
  ])("leaves to the reader what has %s", (_name, text) => {
    expect(new WholeRecords(1000).open(encode(text), PLACE)).toBeUndefined();
  });

  test("takes nothing for sound that the reader does not, whatever bytes are changed, cut off or added", () => {
    const records = new WholeRecords(1000);
    const raw = encode(sound);
    let opened = 0;
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(raw.length - 1), fc.nat(255)), { maxLength: 2 }),
        fc.integer({ min: -3, max: 3 }),
        (changes, more) => {
          const bytes = Buffer.concat([
            raw.subarray(0, raw.length + Math.min(0, more)),
            Buffer.alloc(Math.max(0, more)),
          ]);
          for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
          const record = records.open(Buffer.from(bytes), PLACE);
          if (record === undefined) return;
          opened++;
          const found = { head: record.headers.text, block: record.block!.toString("latin1") };
          expect(found).toEqual(readSoundly(bytes));
        },
      ),
      { numRuns: 3000 },
    );
    expect(opened).toBeGreaterThan(0);
  });
});

test("a record that is larger than the room is the reader's", () => {
  const raw = gzipSync(recordText("x".repeat(5000)));
  expect(new WholeRecords(5000).open(raw, PLACE)).toBeUndefined();
  expect(new WholeRecords(6000).open(raw, PLACE)?.blockSize).toBe(5000);
});

test.each([-1, 1])("a member whose checksum or size is wrong is the reader's", (change) => {
  for (const back of [8, 4]) {
    const raw = gzipSync(sound);
    raw[raw.length - back]! += change;
    expect(new WholeRecords(1000).open(raw, PLACE)).toBeUndefined();
  }
});
