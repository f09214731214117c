import { describe, expect, test } from "vitest";
import { ArchiveError, type Digest, digestOf, formatDigest } from "../base/index.ts";
import { bufferSource } from "./byte-source.ts";
import { type HttpHead, parseHttpHead } from "./http-head.ts";
import { WarcReader } from "./reader.ts";
import type { WarcRecord } from "./record.ts";
import { formatRevisit, type OriginalReference, parseProfile, profileUri } from "./revisit.ts";
import { encodeSmall } from "./writer.ts";

const HTTP = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX: caf\xe9\r\n\r\n";
const BODY = "hello";
const BLOCK = Buffer.from(HTTP + BODY, "latin1");
const PAYLOAD: Digest = digestOf("sha1", Buffer.from(BODY));
const ORIGINAL: OriginalReference = { uri: "http://o.org/ü", date: "2019-01-02T03:04:05.678901Z", id: "urn:uuid:o" };
const BLOCK_SHA1 = formatDigest(digestOf("sha1", Buffer.from(HTTP, "latin1")));

/** The lines are Latin-1, so that any byte can stand in them. */
function readRecord(lines: readonly string[], lineEnd = "\r\n"): { record: WarcRecord; http: HttpHead } {
  const head = Buffer.from(`${lines.join(lineEnd)}${lineEnd}${lineEnd}`, "latin1");
  const reader = new WarcReader(bufferSource(Buffer.concat([head, BLOCK, Buffer.from("\r\n\r\n")])));
  const record = reader.next()!;
  const { block } = record;
  return { record, http: parseHttpHead(block!, 0, block!.length, true)! };
}

function revisitOf(lines: readonly string[], lineEnd?: string, original = ORIGINAL): string[] {
  const { record, http } = readRecord(lines, lineEnd);
  const { head, block } = formatRevisit(record, http, original, PAYLOAD);
  expect(block).toBe(HTTP);
  return head.split("\r\n");
}

const PROFILE_11 = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
const PROFILE_10 = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest";
const ADDED = [
  `WARC-Profile: ${PROFILE_11}`,
  "WARC-Refers-To: <urn:uuid:o>",
  `WARC-Refers-To-Target-URI: ${Buffer.from("http://o.org/ü").toString("latin1")}`,
  "WARC-Refers-To-Date: 2019-01-02T03:04:05.678901Z",
];
const END = ["WARC-Truncated: length", "", ""];

test("everything is kept where it was, but for what a revisit must say", () => {
  const digest = "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N";
  const found = revisitOf([
    "WARC/1.1",
    "X-Unknown: first",
    "WARC-Record-ID: <urn:uuid:r>",
    "WARC-Type: response",
    "WARC-Target-URI: http://r.org/\xc3\xbc",
    "warc-date: 2020-02-03T04:05:06Z",
    "WARC-IP-Address: 192.0.2.1",
    "WARC-Concurrent-To: <urn:uuid:c>",
    "WARC-Concurrent-To: <urn:uuid:d>",
    "WARC-Warcinfo-ID: <urn:uuid:w>",
    "X-Latin: \xe9",
    `WARC-Payload-Digest: ${digest}`,
    "WARC-Block-Digest:  sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA \t",
    "Content-Type: application/http; msgtype=response",
    `CONTENT-LENGTH : ${BLOCK.length}`,
    "X-Folded: a",
    " b",
  ]);
  expect(found).toEqual([
    "WARC/1.1",
    "X-Unknown: first",
    "WARC-Record-ID: <urn:uuid:r>",
    "WARC-Type: revisit",
    "WARC-Target-URI: http://r.org/\xc3\xbc",
    "warc-date: 2020-02-03T04:05:06Z",
    "WARC-IP-Address: 192.0.2.1",
    "WARC-Concurrent-To: <urn:uuid:c>",
    "WARC-Concurrent-To: <urn:uuid:d>",
    "WARC-Warcinfo-ID: <urn:uuid:w>",
    "X-Latin: \xe9",
    `WARC-Payload-Digest: ${digest}`,
    `WARC-Block-Digest:  ${BLOCK_SHA1} \t`,
    "Content-Type: application/http; msgtype=response",
    `CONTENT-LENGTH : ${HTTP.length}`,
    "X-Folded: a",
    " b",
    ...ADDED,
    ...END,
  ]);
});

const LINES = ["WARC/1.1", "WARC-Type: response", `Content-Length: ${BLOCK.length}`];
const CHANGED = ["WARC/1.1", "WARC-Type: revisit", `Content-Length: ${HTTP.length}`];
const OWN = `WARC-Payload-Digest: ${formatDigest(PAYLOAD)}`;

test("a record without a payload digest gets ours", () => {
  expect(revisitOf(LINES)).toEqual([...CHANGED, ...ADDED, OWN, ...END]);
});

test("a payload digest that cannot be read is replaced by ours, where it stands", () => {
  const [version, ...rest] = LINES;
  const found = revisitOf([version!, "WARC-Payload-Digest: crc32:0", ...rest]);
  expect(found).toEqual(["WARC/1.1", OWN, ...CHANGED.slice(1), ...ADDED, ...END]);
});

test("a payload digest in another form or algorithm is kept as it is written", () => {
  for (const digest of ["SHA-1:aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d", `md5:${"0".repeat(32)}`]) {
    const found = revisitOf([...LINES, `WARC-Payload-Digest: ${digest}`]);
    expect(found).toEqual([...CHANGED, `WARC-Payload-Digest: ${digest}`, ...ADDED, ...END]);
  }
});

test("a truncated record says so once, in its own word", () => {
  const found = revisitOf([...LINES, "WARC-Truncated: time"]);
  expect(found).toEqual([...CHANGED, "WARC-Truncated: time", ...ADDED, OWN, "", ""]);
});

test("WARC/1.0 has the profile of 1.0", () => {
  const [, ...rest] = LINES;
  const found = revisitOf(["WARC/1.0", ...rest]);
  const [, ...added] = ADDED;
  expect(found).toEqual(["WARC/1.0", ...CHANGED.slice(1), `WARC-Profile: ${PROFILE_10}`, ...added, OWN, ...END]);
});

test("an original without an id", () => {
  const found = revisitOf(LINES, "\r\n", { uri: "http://o.org/", date: "2019-01-02T03:04:05Z" });
  expect(found).toEqual([
    ...CHANGED,
    `WARC-Profile: ${PROFILE_11}`,
    "WARC-Refers-To-Target-URI: http://o.org/",
    "WARC-Refers-To-Date: 2019-01-02T03:04:05Z",
    OWN,
    ...END,
  ]);
});

test.each(["\n", "\r\r\n"])("lines that end in %j keep their ends", (lineEnd) => {
  const { record, http } = readRecord(LINES, lineEnd);
  const { head } = formatRevisit(record, http, ORIGINAL, PAYLOAD);
  const expected = CHANGED.map((line) => line + lineEnd).join("") + [...ADDED, OWN, ...END].join("\r\n");
  expect(head).toBe(expected);
});

test.each(["sha256", "md5", "sha512"] as const)("the block digest is made anew in its own %s", (algorithm) => {
  const found = revisitOf([
    ...LINES,
    `WARC-Block-Digest: ${algorithm.toUpperCase()}:${digestOf(algorithm, BLOCK).hex}`,
  ]);
  const digest = `${algorithm.toUpperCase()}:${digestOf(algorithm, Buffer.from(HTTP, "latin1")).hex}`;
  expect(found).toEqual([...CHANGED, `WARC-Block-Digest: ${digest}`, ...ADDED, OWN, ...END]);
});

test("an unknown block digest becomes a sha1", () => {
  const found = revisitOf([...LINES, "WARC-Block-Digest: whirlpool:0"]);
  expect(found[3]).toBe(`WARC-Block-Digest: ${BLOCK_SHA1}`);
});

test("folded values are replaced as a whole", () => {
  const found = revisitOf([
    "WARC/1.1",
    "WARC-Type: response",
    "Content-Length:",
    `\t${BLOCK.length}`,
    "WARC-Block-Digest: sha1:AAAA",
    " AAAA",
    "X: y",
    " z",
  ]);
  expect(found).toEqual([
    "WARC/1.1",
    "WARC-Type: revisit",
    `Content-Length:${HTTP.length}`,
    `WARC-Block-Digest: ${BLOCK_SHA1}`,
    "X: y",
    " z",
    ...ADDED,
    OWN,
    ...END,
  ]);
});

test("the other profile", () => {
  const { record, http } = readRecord(LINES);
  const { head } = formatRevisit(record, http, ORIGINAL, PAYLOAD, { profile: "server-not-modified" });
  const profile = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";
  expect(head.split("\r\n")).toEqual([...CHANGED, `WARC-Profile: ${profile}`, ...ADDED.slice(1), OWN, ...END]);
});

test("what is made is a revisit that reads without a word", () => {
  const { record, http } = readRecord([...LINES, "WARC-Target-URI: http://r.org/"]);
  const bytes = encodeSmall(formatRevisit(record, http, ORIGINAL, PAYLOAD));
  const revisit = new WarcReader(bufferSource(bytes), { strict: true }).next()!;
  expect([revisit.type, revisit.uri, revisit.truncated]).toEqual(["revisit", "http://r.org/", "length"]);
  expect(revisit.headers.get("warc-refers-to-target-uri")).toBe("http://o.org/ü");
  expect(parseProfile(revisit.headers.get("warc-profile"))).toBe("identical-payload-digest");
  expect(revisit.block!.toString("latin1")).toBe(HTTP);
});

test("ARC records cannot become revisits", () => {
  const arc = Buffer.concat([
    Buffer.from("filedesc://x.arc 0.0.0.0 20040105000000 text/plain 7\n1 0 IA\n\n"),
    Buffer.from(`http://x.org/ 192.0.2.1 20040105000000 text/plain ${BLOCK.length}\n`),
    BLOCK,
    Buffer.from("\n"),
  ]);
  const reader = new WarcReader(bufferSource(arc, "x.arc"));
  reader.next();
  const record = reader.next()!;
  const http = parseHttpHead(record.block!, 0, record.block!.length, true)!;
  const make = () => formatRevisit(record, http, ORIGINAL, PAYLOAD);
  expect(make).toThrow(ArchiveError);
  expect(make).toThrow(expect.objectContaining({ code: "HT_UNSUPPORTED" }));
});

test("a line of blanks takes no more than linear time", () => {
  const blanks = " ".repeat(100_000);
  const found = revisitOf([...LINES, `X: a${blanks}b`, `Y: a${"\r".repeat(100_000)}b`]);
  expect(found[3]).toBe(`X: a${blanks}b`);
}, 2000);

describe("profiles", () => {
  test.each([
    ["http://netpreserve.org/warc/1.1/revisit/identical-payload-digest", "identical-payload-digest"],
    ["http://netpreserve.org/warc/1.0/revisit/identical-payload-digest", "identical-payload-digest"],
    ["http://netpreserve.org/warc/0.18/revisit/identical-payload-digest", "identical-payload-digest"],
    ["http://netpreserve.org/warc/1.0/revisit/uri-agnostic-identical-payload-digest", "identical-payload-digest"],
    ["<http://netpreserve.org/warc/1.0/revisit/identical-payload-digest>", "identical-payload-digest"],
    ["https://netpreserve.org/warc/1.1/revisit/server-not-modified", "server-not-modified"],
    ["http://netpreserve.org/warc/1.0/server-not-modified", "server-not-modified"],
    ["HTTP://NETPRESERVE.ORG/warc/1.0/revisit/Server-Not-Modified", "server-not-modified"],
    ["http://netpreserve.org/warc/1.1/revisit/similar", undefined],
    ["http://example.org/warc/1.1/revisit/identical-payload-digest", undefined],
    ["identical-payload-digest", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("%s", (uri, profile) => {
    expect(parseProfile(uri)).toBe(profile);
  });

  test.each(["identical-payload-digest", "server-not-modified"] as const)("%s is read as it is written", (profile) => {
    for (const version of ["WARC/1.0", "WARC/1.1"]) expect(parseProfile(profileUri(profile, version))).toBe(profile);
    expect(profileUri(profile, "WARC/1.0")).toContain("/1.0/");
    expect(profileUri(profile, "WARC/1.1")).toContain("/1.1/");
  });
});
