import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { digestOf } from "../../base/index.ts";
import { bufferSource, WarcReader } from "../../warc/index.ts";
import { signatureOf } from "../signature.ts";
import { decodeEntries, encodeEntries } from "./index-entry.ts";
import type { BlockEntry } from "./pack-index.ts";
import { formatHead, holdsChecksum, type PackRecord, parseHead } from "./pack-record.ts";

const page = readFileSync(fileURLToPath(new URL("../../../docs/format/pack-volume.md", import.meta.url)), "utf8");
const volumeId = "7d0e44a2-6f1c-4b53-9d3e-0c7a5d2b9f10";
const nowMs = Date.UTC(2026, 10, 16, 6, 0, 0);
const content = Buffer.from("<h1>Holotype</h1>\n");
const data = deflateSync(content);
const block: PackRecord = {
  change: "block",
  algorithm: "rabin64",
  signature: signatureOf("rabin64", content),
  overflow: 0,
  size: content.length,
  storedSize: data.length,
  compression: "zlib",
  references: 1,
  sequence: 1,
  requestId: "crawler-1-17",
  formerKeys: [],
  leaving: false,
};
const blockDigest = digestOf("sha256", data).hex;

function parsed(head: Buffer, body: Uint8Array = Buffer.alloc(0)) {
  const bytes = Buffer.concat([head, body, Buffer.from("\r\n\r\n")]);
  const record = new WarcReader(bufferSource(bytes)).next()!;
  return { record: parseHead(record.headers), holds: holdsChecksum(record.headers) };
}

describe("the records of a segment", () => {
  it("are those of the format's page", () => {
    const reference: PackRecord = {
      ...block,
      change: "reference",
      references: 2,
      sequence: 2,
      requestId: "crawler-2-4",
    };
    const heads = [formatHead(block, { volumeId, nowMs, blockDigest }), formatHead(reference, { volumeId, nowMs })];
    const [, example] = /```text\n([\s\S]*?)```/.exec(page)!;
    expect(`${heads.map((head) => head.toString().replaceAll("\r\n", "\n").trimEnd()).join("\n\n")}\n`).toBe(example);
    expect(page).toContain(data.toString("hex").replace(/..(?=.)/g, "$& "));
    expect(parsed(heads[0]!, data)).toEqual({ record: block, holds: true });
    expect(parsed(heads[1]!)).toEqual({ record: reference, holds: true });
  });

  const records = fc.record<PackRecord>({
    change: fc.constantFrom("reference", "delete", "leave", "left", "count", "block"),
    algorithm: fc.constant("rabin64"),
    signature: fc.stringMatching(/^[0-9A-F]{16}$/),
    overflow: fc.nat(5),
    size: fc.nat(),
    storedSize: fc.constant(0),
    compression: fc.constantFrom("none", "zlib"),
    references: fc.nat(),
    sequence: fc.nat(),
    requestId: fc.option(fc.stringMatching(/^[!-~]{1,128}$/), { nil: undefined }),
    formerKeys: fc.array(fc.stringMatching(/^[0-9]-[0-9A-F]{16}$/), { maxLength: 3 }),
    leaving: fc.boolean(),
  });

  it("come back as they went in, padded or not", () => {
    fc.assert(
      fc.property(records, fc.option(fc.constant(4096), { nil: undefined }), (record, headSize) => {
        const head = formatHead(record, {
          volumeId,
          nowMs,
          blockDigest,
          ...(headSize === undefined ? {} : { headSize }),
        });
        if (headSize !== undefined) expect(head.length).toBe(headSize);
        expect(parsed(head)).toEqual({ record, holds: true });
      }),
    );
  });

  it("do not hold their checksum when any byte of them is another", () => {
    fc.assert(
      fc.property(
        records,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.integer({ min: 1, max: 255 }),
        (record, share, mask) => {
          const head = formatHead(record, { volumeId, nowMs, blockDigest });
          const text = Buffer.from(head);
          text[Math.floor(share * (head.length - 4))]! ^= mask;
          const fields = { text: text.toString("latin1"), get: () => undefined };
          const isHexCase = mask === 0x20;
          if (!isHexCase) expect(holdsChecksum(fields)).toBe(false);
        },
      ),
    );
  });
});

describe("the entries of the index", () => {
  const numbers = (bytes: number) => fc.maxSafeNat().map((value) => value % 2 ** (8 * bytes));
  const entries = fc.record<BlockEntry>({
    overflow: numbers(4),
    size: numbers(6),
    storedSize: numbers(6),
    compression: fc.stringMatching(/^[a-z0-9-]{1,16}$/),
    references: numbers(4),
    segment: numbers(4),
    offset: numbers(6),
    headSize: numbers(4),
    counterSegment: numbers(4),
    sequence: numbers(6),
    leaving: fc.boolean(),
    formerKeys: fc.array(fc.stringMatching(/^[0-9]-[0-9A-F]{16}$/), { maxLength: 3 }),
  });

  it("come back as they went in", () => {
    fc.assert(
      fc.property(fc.array(entries, { maxLength: 4 }), (list) => {
        expect(decodeEntries(encodeEntries(list))).toEqual(list);
      }),
    );
  });
});
