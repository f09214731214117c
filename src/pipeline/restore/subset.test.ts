/** A part of an archive that stands by itself. */
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { digestOf, formatDigest, type Warning } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { gzipMember } from "../../testing/gzip-member.ts";
import { compressedFrame, dictionaryFrame, loadFrames } from "../../testing/zstd-frame.ts";
import { bufferSource, judgeDigest, loadZstd, scanRecord, WarcReader } from "../../warc/index.ts";
import { dedup } from "../dedup.ts";
import { createFilter } from "./filter.ts";
import { restoreSubset, type SubsetOptions } from "./subset.ts";

beforeAll(async () => {
  await Promise.all([loadZstd(), loadFrames()]);
});

const PAYLOAD = Buffer.from(Array.from({ length: 400 }, (_, i) => Math.imul(i + 1, 0x9e3779b1).toString(36)).join("-"));
const DIGEST = formatDigest(digestOf("sha1", PAYLOAD));

interface RecordText {
  readonly type: string;
  readonly id?: string;
  readonly uri?: string;
  readonly date?: string;
  readonly contentType?: string;
  readonly lines?: readonly string[];
  readonly block?: Buffer | string;
}

function recordOf(text: RecordText): Buffer {
  const { type, id, uri, date = "2020-01-01T00:00:00Z", lines = [] } = text;
  const block = Buffer.from(text.block ?? "x");
  const contentType = text.contentType ?? "application/http; msgtype=response";
  const head = [
    "WARC/1.1",
    `WARC-Type: ${type}`,
    ...(id === undefined ? [] : [`WARC-Record-ID: <${id}>`]),
    `WARC-Date: ${date}`,
    ...(uri === undefined ? [] : [`WARC-Target-URI: ${uri}`]),
    `Content-Type: ${contentType}`,
    `WARC-Block-Digest: ${formatDigest(digestOf("sha1", block))}`,
    ...lines,
    `Content-Length: ${block.length}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), block, Buffer.from("\r\n\r\n")]);
}

function chunked(payload: Buffer): Buffer {
  const half = payload.length >> 1;
  const parts = [payload.subarray(0, half), payload.subarray(half)].flatMap((part) => [
    Buffer.from(`${part.length.toString(16)}\r\n`),
    part,
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

function http(lines: readonly string[], body: Buffer | string = ""): Buffer {
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), Buffer.from(body)]);
}

const PLAIN = http(["HTTP/1.1 200 OK", `Content-Length: ${PAYLOAD.length}`, "X-From: original"], PAYLOAD);
const CHUNKED = http(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "X-From: original"], chunked(PAYLOAD));
const PLAIN_HEAD = http(["HTTP/1.1 200 OK", `Content-Length: ${PAYLOAD.length}`]);
const ORIGINAL = { type: "response", id: "urn:o", uri: "http://o.example/", lines: [`WARC-Payload-Digest: ${DIGEST}`] };
const PROFILE = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/";
const REFERENCE = [
  `${PROFILE}identical-payload-digest`,
  "WARC-Refers-To: <urn:o>",
  "WARC-Refers-To-Target-URI: http://o.example/",
  "WARC-Refers-To-Date: 2020-01-01T00:00:00Z",
  `WARC-Payload-Digest: ${DIGEST}`,
  "WARC-Truncated: length",
];

function write(disk: Disk, path: string, bytes: Uint8Array): void {
  disk.makeFolder(path.slice(0, path.lastIndexOf("/")));
  using file = disk.open(path, "replace");
  file.write(bytes, 0);
}

function read(disk: Disk, path: string): Buffer {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

interface Read {
  readonly type: string;
  readonly id: string | undefined;
  readonly text: string;
  readonly http: string | undefined;
  readonly payload: Buffer;
  readonly verdicts: readonly string[];
  readonly references: readonly string[];
}

const REFERENCES = ["warc-concurrent-to", "warc-warcinfo-id", "warc-refers-to", "warc-segment-origin-id"];

/** Every record of a sound file. */
function readRecords(bytes: Buffer): Read[] {
  const records: Read[] = [];
  for (const record of new WarcReader(bufferSource(bytes), { strict: true })) {
    const payload: Buffer[] = [];
    const scan = scanRecord(record, {
      block: ["sha1"],
      payload: ["sha1"],
      stored: ["sha1"],
      onPayload: (piece) => void payload.push(Buffer.from(piece)),
    });
    const block = record.blockDigest === undefined || record.blockDigest === formatDigest(scan.blockDigests[0]!);
    records.push({
      type: record.type,
      id: record.id,
      text: record.headers.text,
      http: scan.http?.text,
      payload: Buffer.concat(payload),
      verdicts: [block ? "block" : "wrong block", judgeDigest(record.payloadDigest, scan)],
      references: REFERENCES.flatMap((name) => record.headers.all(name)).map((id) => id.replace(/[<>]/g, "")),
    });
  }
  return records;
}

let runs = 0;

async function subset(files: Readonly<Record<string, Buffer>>, options: Partial<SubsetOptions> = {}, twice = false) {
  const disk = new ForgetfulDisk();
  const root = `/subset-${++runs}`;
  for (const [name, bytes] of Object.entries(files)) write(disk, `${root}/in/${name}`, bytes);
  const warnings: Warning[] = [];
  const request = {
    output: `${root}/out`,
    filter: { hosts: ["h.example"] },
    onWarning: (warning: Warning) => void warnings.push(warning),
    ...options,
  };
  if (twice) await restoreSubset(disk, [`${root}/in`], request);
  const result = await restoreSubset(disk, [`${root}/in`], request);
  const records = result.files.map(({ output }) => readRecords(read(disk, output!)));
  return { disk, root, result, warnings, records: records.flat() };
}

function gzipped(...records: readonly Buffer[]): Buffer {
  return Buffer.concat(records.map((bytes) => gzipMember(bytes)));
}

describe("a filter", () => {
  it("knows hosts, names below them, names inside of names, and spans of time", () => {
    const host = createFilter({ hosts: ["H.example", "*.d.example"] });
    for (const uri of [
      "http://h.example/",
      "https://h.example:8080/a",
      "dns:h.example",
      "http://d.example/",
      "http://a.b.d.example/",
      "urn:text:https://h.example/p",
      "whois://whois.example/h.example",
    ]) {
      expect({ uri, taken: host(uri, undefined) }).toEqual({ uri, taken: true });
    }
    for (const uri of [
      "http://xh.example/",
      "http://h.example.org/",
      "http://a.h.example/",
      "metadata:h.example",
      "urn:uuid:1",
      undefined,
    ]) {
      expect({ uri, taken: host(uri, undefined) }).toEqual({ uri, taken: false });
    }
    const prefix = createFilter({ prefixes: ["http://h.example/a"], fromMs: 10, toMs: 20 });
    expect([9, 10, 20, 21, undefined].map((time) => prefix("http://h.example/ab", time))).toEqual([
      false,
      true,
      true,
      false,
      false,
    ]);
    expect(prefix("http://h.example/b", 15)).toBe(false);
    expect(() => createFilter({ hosts: ["a b"] })).toThrow("not a host");
    expect(() => createFilter({ hosts: ["a.example/path"] })).toThrow("not a host");
  });
});

describe("a subset", () => {
  const revisit = (lines: readonly string[], block: Buffer | string, id = "urn:r"): Buffer =>
    recordOf({ type: "revisit", id, uri: "http://h.example/", date: "2020-01-02T00:00:00Z", lines, block });

  it.each([
    ["plain, of a chunked original", CHUNKED, http(["HTTP/1.1 200 OK", "X-From: revisit"])],
    ["chunked, of a plain original", PLAIN, http(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "X-From: revisit"])],
    [
      "chunked, of a chunked original",
      CHUNKED,
      http(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "X-From: revisit"]),
    ],
    [
      "with a length that is not that of the payload",
      PLAIN,
      http(["HTTP/1.1 200 OK", "content-length : 5", "X-From: revisit"]),
    ],
    ["without a blank line", PLAIN, Buffer.from("HTTP/1.1 200 OK\r\nX-From: revisit\r\n")],
  ])("makes a full response of a revisit %s", async (_, original, block) => {
    const { records, result } = await subset({
      "a.warc": recordOf({ ...ORIGINAL, block: original }),
      "b.warc": revisit(REFERENCE, block),
    });
    expect(
      result.files.map(({ expanded, restored, records: count, orphans }) => [expanded, restored, count, orphans]),
    ).toEqual([[1, 0, 1, 0]]);
    const [record] = records;
    expect(record).toMatchObject({ type: "response", id: "urn:r", verdicts: ["block", "transferred"], references: [] });
    expect(record!.payload.equals(PAYLOAD)).toBe(true);
    expect(record!.http).toContain("X-From: revisit");
    expect(record!.text).not.toMatch(/WARC-(?:Refers|Profile|Truncated)/);
    expect(record!.text).toContain(
      "Holotype-Expanded: identical-payload-digest 2020-01-01T00:00:00Z http://o.example/",
    );
    const length = /^content-length ?: (\d+)/im.exec(record!.http!)?.[1];
    if (length !== undefined) expect(Number(length)).toBe(PAYLOAD.length);
  });

  it("takes the original's header where the revisit has none, or only says that nothing changed", async () => {
    const notModified = http(["HTTP/1.1 304 Not Modified", "X-From: revisit"]);
    const emptyDigest = `WARC-Payload-Digest: ${formatDigest(digestOf("sha1", Buffer.alloc(0)))}`;
    const lines = [`${PROFILE}server-not-modified`, ...REFERENCE.slice(1, 4), emptyDigest];
    for (const [block, fields] of [[notModified, lines] as const, [Buffer.alloc(0), REFERENCE] as const]) {
      const { records } = await subset({
        "a.warc.gz": gzipped(recordOf({ ...ORIGINAL, block: CHUNKED })),
        "b.warc.gz": gzipped(revisit(fields, block)),
      });
      expect(records).toHaveLength(1);
      expect(records[0]).toMatchObject({ type: "response", verdicts: ["block", "transferred"] });
      expect(records[0]!.http).toContain("X-From: original");
      expect(records[0]!.payload.equals(PAYLOAD)).toBe(true);
    }
  });

  it("makes a resource of a revisit of one", async () => {
    const original = recordOf({
      type: "resource",
      id: "urn:o",
      uri: "http://o.example/",
      contentType: "image/png",
      block: PAYLOAD,
    });
    const { records } = await subset({ "a.warc": original, "b.warc": revisit(REFERENCE, "") });
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ type: "resource", verdicts: ["block", "transferred"] });
    expect(records[0]!.text).toContain("Content-Type: image/png\r\n");
    expect(records[0]!.payload.equals(PAYLOAD)).toBe(true);
  });

  it("finds an original by its digest where a revisit names none", async () => {
    const lines = [REFERENCE[0]!, REFERENCE[4]!];
    const { records } = await subset({
      "a.warc": recordOf({ ...ORIGINAL, block: PLAIN }),
      "b.warc": revisit(lines, ""),
    });
    expect(records.map(({ payload }) => payload.equals(PAYLOAD))).toEqual([true]);
  });

  it("leaves a revisit out whose original is missing or another, and tells", async () => {
    const other = recordOf({ ...ORIGINAL, lines: [], block: http(["HTTP/1.1 200 OK"], "something else") });
    const kept = recordOf({
      type: "response",
      id: "urn:k",
      uri: "http://h.example/k",
      block: http(["HTTP/1.1 200 OK"], "k"),
    });
    for (const originals of [{}, { "a.warc": other }]) {
      const { records, result, warnings } = await subset({
        ...originals,
        "b.warc": Buffer.concat([revisit(REFERENCE, ""), kept]),
      });
      expect(records.map(({ id }) => id)).toEqual(["urn:k"]);
      expect(result.files.map(({ orphans }) => orphans)).toEqual([1]);
      expect(warnings.map(({ code }) => code)).toEqual(["HT_REVISIT_ORPHAN"]);
    }
  });

  it("leaves a damaged revisit out, and counts it", async () => {
    const revisit = (id: string, lines: readonly string[]) =>
      recordOf({ type: "revisit", id, uri: "http://h.example/", lines: [...REFERENCE, ...lines], block: PLAIN_HEAD });
    const { result, records } = await subset({
      "a.warc": Buffer.concat([
        recordOf({ ...ORIGINAL, block: PLAIN }),
        revisit("urn:odd", ["no field"]),
        revisit("urn:r", []),
      ]),
    });
    expect(result.failed).toEqual([]);
    expect(result.files).toMatchObject([{ expanded: 1, damaged: 1 }]);
    expect(records.map(({ id }) => id)).toEqual(["urn:r"]);
  });

  it("brings back what dedup replaced, from originals that are not part of it", async () => {
    const disk = new ForgetfulDisk();
    const later = recordOf({
      type: "response",
      id: "urn:l",
      uri: "http://h.example/l",
      date: "2020-01-03T00:00:00Z",
      lines: [`WARC-Payload-Digest: ${DIGEST}`],
      block: PLAIN,
    });
    write(disk, "/ours/in/a.warc", recordOf({ ...ORIGINAL, block: PLAIN }));
    write(disk, "/ours/in/b.warc", later);
    expect(await dedup(disk, ["/ours/in"], { output: "/ours/out", threads: 1 })).toMatchObject({ replaced: 1 });
    const { files } = await restoreSubset(disk, ["/ours/out"], {
      output: "/ours/sub",
      filter: { hosts: ["h.example"] },
    });
    expect(files.map(({ output, restored }) => [output, restored])).toEqual([["/ours/sub/b.warc", 1]]);
    expect(read(disk, "/ours/sub/b.warc").equals(later)).toBe(true);
    disk.remove("/ours/out/a.warc");
    const without = await restoreSubset(disk, ["/ours/out"], {
      output: "/ours/none",
      filter: { hosts: ["h.example"] },
    });
    expect(without.failed.map(({ error }) => error.code)).toEqual(["HT_NOT_FOUND"]);
    expect(disk.list("/ours/none").filter(({ name }) => !name.startsWith("."))).toEqual([]);
  });

  it("copies what need not change byte for byte, in any packing, and is the same when it is made again", async () => {
    const info = recordOf({ type: "warcinfo", id: "urn:w", contentType: "application/warc-fields", block: "a: b\r\n" });
    const mine = recordOf({
      type: "response",
      id: "urn:m",
      uri: "http://h.example/",
      lines: ["WARC-Warcinfo-ID: <urn:w>"],
      block: PLAIN,
    });
    const other = recordOf({ type: "response", id: "urn:x", uri: "http://x.example/", block: CHUNKED });
    const dictionary = Buffer.from(
      "WARC/1.1\r\nWARC-Type: response\r\nContent-Type: application/http; msgtype=response",
    );
    const frame = (bytes: Buffer) => compressedFrame(bytes, dictionary);
    const packed: Readonly<Record<string, readonly [Buffer, Buffer]>> = {
      "a.warc": [Buffer.concat([info, other, mine]), Buffer.concat([info, mine])],
      "a.warc.gz": [gzipped(info, other, mine), gzipped(info, mine)],
      "a.warc.zst": [
        Buffer.concat([dictionaryFrame(dictionary), ...[info, other, mine].map(frame)]),
        Buffer.concat([dictionaryFrame(dictionary), ...[info, mine].map(frame)]),
      ],
    };
    for (const [name, [bytes, wanted]] of Object.entries(packed)) {
      const { disk, root, result } = await subset({ [name]: bytes }, {}, true);
      expect({ name, same: read(disk, `${root}/out/${name}`).equals(wanted) }).toEqual({ name, same: true });
      expect(result.files.map(({ kept, records }) => [kept, records])).toEqual([[true, 2]]);
    }
    const { records } = await subset({ "one.warc.gz": gzipSync(Buffer.concat([info, other, mine])) });
    expect(records.map(({ id }) => id)).toEqual(["urn:w", "urn:m"]);
  });

  it("does not touch an output that is not its own, and writes nothing where there is nothing", async () => {
    const mine = recordOf({ type: "response", id: "urn:m", uri: "http://h.example/", block: PLAIN });
    const disk = new ForgetfulDisk();
    write(disk, "/n/in/a.warc", mine);
    write(disk, "/n/in/b.warc", recordOf({ ...ORIGINAL, block: PLAIN }));
    write(disk, "/n/out/a.warc", Buffer.from("mine"));
    const { files, failed } = await restoreSubset(disk, ["/n/in"], {
      output: "/n/out",
      filter: { hosts: ["h.example"] },
    });
    expect({ files, codes: failed.map(({ error }) => error.code) }).toEqual({ files: [], codes: ["HT_EXISTS"] });
    expect(read(disk, "/n/out/a.warc").toString()).toBe("mine");
    expect(disk.list("/n/out").map(({ name }) => name)).toEqual(["a.warc"]);
  });
});

describe("references in a subset", () => {
  const TYPES = ["response", "request", "metadata", "conversion", "resource"] as const;
  const FIELDS = ["WARC-Concurrent-To", "WARC-Warcinfo-ID", "WARC-Refers-To", "WARC-Segment-Origin-ID"] as const;
  const spec = fc.record({
    type: fc.constantFrom(...TYPES, "warcinfo" as const),
    mine: fc.boolean(),
    references: fc.array(fc.tuple(fc.constantFrom(...FIELDS), fc.nat(9)), { maxLength: 3 }),
  });

  it("lead to records that are in it, and what was captured together stays together", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(spec, { minLength: 1, maxLength: 8 }), async (specs) => {
        const bytes = specs.map(({ type, mine, references }, i) =>
          recordOf({
            type,
            id: `urn:${i}`,
            ...(type === "warcinfo" ? {} : { uri: `http://${mine ? "h" : "x"}.example/${i}` }),
            contentType: "text/plain",
            lines: references.map(([field, to]) => `${field}: <urn:${to}>`),
            block: `<${i}>`,
          }),
        );
        const { records } = await subset({ "a.warc": Buffer.concat(bytes) });
        const ids = new Set(records.map(({ id }) => id));
        const named = specs.flatMap(({ type, mine }, i) => (mine && type !== "warcinfo" ? [`urn:${i}`] : []));
        for (const { references } of records) expect(references.filter((id) => !ids.has(id))).toEqual([]);
        for (const id of named) expect(ids).toContain(id);
        for (const [i, { references }] of specs.entries()) {
          for (const [field, to] of references) {
            if (field !== "WARC-Concurrent-To" || to >= specs.length) continue;
            // Both ways: what names one of ours, and what one of ours names.
            if (named.includes(`urn:${to}`) && specs[i]!.type !== "warcinfo") expect(ids).toContain(`urn:${i}`);
            if (named.includes(`urn:${i}`)) expect(ids).toContain(`urn:${to}`);
          }
        }
        if (named.length === 0) expect(records).toEqual([]);
        for (const record of records) expect(record.payload.toString()).toBe(`<${record.id!.slice(4)}>`);
      }),
      { numRuns: 150 },
    );
  });
});
