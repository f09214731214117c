import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { putFile } from "../testing/dedup-trial.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { readKnown } from "./known-index.ts";

const HEX = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d";
const BASE32 = "VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N";

function known(text: string, pack = (bytes: Buffer) => bytes) {
  const disk = new ForgetfulDisk();
  putFile(disk, "/known", pack(Buffer.from(text)));
  return [...readKnown(disk, "/known")];
}

const cdx11 = (fields: Partial<Record<"date" | "url" | "mime" | "digest", string>> = {}) => {
  const { date = "20200102030405", url = "http://a.example/x", mime = "text/html", digest = BASE32 } = fields;
  return `example,a)/x ${date} ${url} ${mime} 200 ${digest} - - 1234 5678 a.warc.gz`;
};

const EXPECTED = {
  file: "a.warc.gz",
  offset: 5678,
  length: 1234,
  uri: "http://a.example/x",
  date: "2020-01-02T03:04:05Z",
  digest: `sha1:${BASE32}`,
  payloadSize: undefined,
  status: 200,
  mime: "text/html",
  framing: "plain",
  id: undefined,
  flags: [],
};

describe("CDX", () => {
  test.each([
    ["of eleven columns", ` CDX N b a m s k r M S V g\n${cdx11()}\n`],
    ["without a header line", cdx11()],
    ["with a digest in hex", cdx11({ digest: HEX })],
    ["with a label", cdx11({ digest: `sha1:${BASE32}` })],
  ])("%s", (_, text) => {
    expect(known(text)).toMatchObject([EXPECTED]);
  });

  test("compressed with gzip", () => {
    const lines = `${cdx11()}\n`.repeat(3000);
    const pack = (bytes: Buffer) =>
      Buffer.concat([bytes.subarray(0, 5000), bytes.subarray(5000)].map((part) => gzipSync(part)));
    expect(known(lines, pack)).toEqual(known(lines));
  });

  test("with a URL that is not UTF-8", () => {
    const pack = (bytes: Buffer) =>
      Buffer.from(bytes.toString("latin1").replace("URL", "http://a.example/\xe9"), "latin1");
    expect(known(cdx11({ url: "URL" }), pack)).toMatchObject([{ ...EXPECTED, uri: "http://a.example/%E9" }]);
  });

  test("of nine columns", () => {
    const line = `example,a)/x 20200102030405 http://a.example/x text/html 200 ${BASE32} - 5678 a.warc.gz`;
    expect(known(` CDX N b a m s k r V g\n${line}\n`)).toMatchObject([{ ...EXPECTED, length: undefined }]);
  });

  test.each([
    ["a revisit", cdx11({ mime: "warc/revisit" })],
    ["no digest", cdx11({ digest: "-" })],
    ["a digest of no known form", cdx11({ digest: "XYZ" })],
  ])("%s: nothing to refer to", (_, line) => {
    expect(known(` CDX N b a m s k r M S V g\n${line}\n${cdx11()}\n`)).toHaveLength(1);
  });
});

describe("CDXJ", () => {
  const line = (digest: string) =>
    `example,a)/x 20200102030405 {"url": "http://a.example/x", "mime": "text/html", "status": "200", "digest": "${digest}", "length": "1234", "offset": "5678", "filename": "a.warc.gz"}`;

  test.each([BASE32, `sha1:${BASE32}`, `sha1:${HEX}`])("with the digest %s", (digest) => {
    expect(known(`${line(digest)}\n`)).toMatchObject([EXPECTED]);
  });

  test("with a digest that says its algorithm", () => {
    const sha256 = "a".repeat(64);
    expect(known(`${line(`sha256:${sha256}`)}\n`)).toMatchObject([{ ...EXPECTED, digest: `sha256:${sha256}` }]);
    expect(known(`${line(`sha-256:${sha256}`)}\n`)).toMatchObject([{ ...EXPECTED, digest: `sha256:${sha256}` }]);
  });

  test("with header lines and blank ones", () => {
    expect(known(`!OpenWayback-CDXJ 1.0\n\n${line(BASE32)}\n\n`)).toMatchObject([EXPECTED]);
  });
});

test("a manifest, with what later stages added", () => {
  const columns = [
    "a.warc.gz",
    "5678",
    "1234",
    "http://a.example/x",
    "2020-01-02T03:04:05Z",
    `sha1:${BASE32}`,
    "99",
    "200",
  ];
  const line = [...columns, "text/html", "chunked", "urn:uuid:1", "header-digest:none", "0", "1"].join("\t");
  const [found] = known(`${line}\n`);
  expect(found).toMatchObject({
    ...EXPECTED,
    payloadSize: 99,
    framing: "chunked",
    id: "urn:uuid:1",
    flags: ["header-digest:none"],
  });
});

test.each([
  ["prose", "Dear diary,\n", 1],
  ["a line of another kind behind the first", `${cdx11()}\nwhat is this\n`, 2],
  ["a manifest with a bad number", `${["a", "x", ...Array(10).fill("-")].join("\t")}\n`, 1],
])("%s is refused, with its place", (_, text, line) => {
  expect(() => known(text)).toThrow(
    expect.objectContaining({ code: "HT_USAGE", message: expect.stringMatching(`^/known:${line}: `) }),
  );
});

test("an empty index knows nothing", () => {
  expect(known("")).toEqual([]);
});
