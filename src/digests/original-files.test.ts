import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../base/index.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import type { DigestEntry } from "./entry.ts";
import { OriginalFiles } from "./original-files.ts";

const URI = "http://a.test/";
const DATE = "2019-04-03T11:15:33Z";
const FILE = "/originals/a.warc";
const BODY = "hello";
const PLAIN = `HTTP/1.1 200 OK\r\n\r\n${BODY}`;
const CHUNKED = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n${BODY}\r\n0\r\n\r\n`;

function warc(http: string, fields = ""): Buffer {
  const id = "urn:uuid:00000000-0000-4000-8000-000000000001";
  const head = `WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <${id}>\r\nWARC-Date: ${DATE}\r\nWARC-Target-URI: ${URI}\r\n`;
  const type = `Content-Type: application/http; msgtype=response\r\nContent-Length: ${http.length}\r\n`;
  return Buffer.from(`${head}${type}${fields}\r\n${http}\r\n\r\n`, "latin1");
}

/** What a crawl.log or a CDX tells: no framing, and of the former no place. */
const TOLD: DigestEntry = {
  uri: URI,
  timeMs: Date.parse(DATE),
  digests: [formatDigest(digestOf("sha1", Buffer.from(BODY)))],
  original: { uri: URI, date: DATE },
};
const PLACED: DigestEntry = { ...TOLD, place: { file: "a.warc", offset: 0 } };

async function prove(bytes: Buffer, ...entries: DigestEntry[]) {
  const disk = new ForgetfulDisk();
  disk.makeFolder("/originals");
  const file = disk.open(FILE, "create");
  file.write(bytes, 0);
  file.close();
  const found = [];
  for (const entry of entries) {
    await using files = new OriginalFiles(disk, [FILE]);
    found.push(await files.prove(entry));
  }
  return found;
}

describe("an original", () => {
  it("is proven in its own framing only", async () => {
    const chunked = [TOLD, PLACED].map((entry) => ({ ...entry, framing: "chunked" as const }));
    expect(await prove(warc(PLAIN), TOLD, PLACED, ...chunked)).toEqual(["proven", "proven", undefined, undefined]);
    expect(await prove(warc(CHUNKED), TOLD, PLACED, ...chunked)).toEqual([undefined, undefined, "proven", "proven"]);
  });

  it("is out of reach where its moment is in no file", async () => {
    const original = { uri: "http://else.test/", date: DATE };
    expect(await prove(warc(PLAIN), { ...TOLD, original })).toEqual(["claimed"]);
  });

  it("that is not whole is not proven, nor believed in", async () => {
    const rotted = gzipSync(warc(PLAIN), { level: 0 });
    rotted[rotted.length - 8]! ^= 1;
    const noise = Array.from({ length: 2000 }, (_, i) => digestOf("sha1", Buffer.from(`${i}`)).hex).join("");
    const packed = gzipSync(warc(PLAIN + noise));
    const [torn, changed] = [packed.subarray(0, 30_000), Buffer.from(packed)];
    changed.fill(0xff, 30_000, 30_100);
    const empty = warc(PLAIN.slice(0, -BODY.length));
    const cut = warc(PLAIN).subarray(0, -8);
    const short = PLAIN.replace("\r\n", "\r\nContent-Length: 9\r\n");
    const truncated = warc(PLAIN, "WARC-Truncated: time\r\n");
    const files = { rotted, torn, changed, empty, cut, short: warc(short), truncated };
    for (const [name, bytes] of Object.entries(files)) {
      expect(await prove(bytes, TOLD, PLACED), name).toEqual([undefined, undefined]);
    }
  });

  it("that is whole in another record is proven", async () => {
    const bytes = Buffer.concat([warc(PLAIN, "WARC-Truncated: time\r\n"), warc(PLAIN)]);
    expect(await prove(bytes, TOLD)).toEqual(["proven"]);
  });
});
