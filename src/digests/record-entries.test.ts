import { describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../base/index.ts";
import { bufferSource, WarcReader } from "../warc/index.ts";
import { entryOfRecord } from "./record-entries.ts";

const BODY = Buffer.from("hello");
const CHUNKED = "5\r\nhello\r\n0\r\n\r\n";
const ID = "urn:uuid:00000000-0000-4000-8000-000000000001";

function recordOf(type: string, http: string, fields: Readonly<Record<string, string>> = {}) {
  const block = Buffer.from(http, "latin1");
  const head = {
    "WARC-Type": type,
    "WARC-Record-ID": `<${ID}>`,
    "WARC-Date": "2019-04-03T11:15:33.5Z",
    "WARC-Target-URI": "http://a.test/",
    "Content-Type": "application/http; msgtype=response",
    ...fields,
    "Content-Length": String(block.length),
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  const bytes = Buffer.concat([Buffer.from(`WARC/1.1\r\n${lines.join("")}\r\n`), block, Buffer.from("\r\n\r\n")]);
  const record = new WarcReader(bufferSource(bytes, "a.warc")).next()!;
  return entryOfRecord(record, "a.warc");
}

const answer = (more: string, body = BODY.toString()) =>
  `HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\n${more}\r\n${body}`;
const DIGESTS = (["sha1", "sha256"] as const).map((algorithm) => formatDigest(digestOf(algorithm, BODY)));

describe("a record", () => {
  it("tells all that an index wants to know, with digests of our own", () => {
    const lie = { "WARC-Payload-Digest": `sha1:${"A".repeat(32)}` };
    const original = { uri: "http://a.test/", date: "2019-04-03T11:15:33.5Z", id: ID };
    const told = { uri: "http://a.test/", digests: DIGESTS, payloadSize: 5, status: 200, mime: "text/html", original };
    const modified = "Thu, 01 Jan 2026 00:00:00 GMT";
    expect(recordOf("response", answer(`ETag: "x"\r\nLast-Modified: ${modified}\r\n`), lie)).toMatchObject({
      ...told,
      framing: "plain",
      etag: '"x"',
      lastModified: modified,
      place: { file: "a.warc", offset: 0 },
    });
    expect(recordOf("response", answer("Transfer-Encoding: chunked\r\n", CHUNKED))).toMatchObject({
      ...told,
      framing: "chunked",
    });
  });

  it("that is not whole is no original", () => {
    expect(recordOf("response", answer("Content-Length: 6\r\n"))).toBe("truncated");
    expect(recordOf("response", answer("Transfer-Encoding: chunked\r\n", "5\r\nhel"))).toBe("truncated");
    expect(recordOf("response", answer(""), { "WARC-Truncated": "time" })).toBe("truncated");
    expect(recordOf("response", answer(""), { "WARC-Segment-Number": "1" })).toBe("truncated");
    expect(recordOf("response", "HTTP/1.1 304 Not Modified\r\n\r\n")).toBe("status");
    expect(recordOf("request", "GET / HTTP/1.1\r\n\r\n")).toBeUndefined();
  });

  it("that is a revisit leads to what it names, or to nothing", () => {
    const profile = (name: string) => ({ "WARC-Profile": `http://netpreserve.org/warc/1.1/revisit/${name}` });
    const digest = { "WARC-Payload-Digest": DIGESTS[0]! };
    const named = { "WARC-Refers-To-Target-URI": "http://b.test/", "WARC-Refers-To-Date": "2018-01-01T00:00:00Z" };
    const identical = { ...profile("identical-payload-digest"), ...digest };
    expect(recordOf("revisit", answer("", ""), { ...identical, ...named })).toMatchObject({
      digests: [DIGESTS[0]],
      original: { uri: "http://b.test/", date: "2018-01-01T00:00:00Z" },
    });
    expect(recordOf("revisit", answer("", ""), identical)).toMatchObject({ original: undefined, framing: undefined });
    // A plain answer must not refer to a chunked body by way of it.
    const chunked = answer("Transfer-Encoding: chunked\r\n", "");
    expect(recordOf("revisit", chunked, identical)).toMatchObject({ framing: "chunked" });
    expect(recordOf("revisit", answer("", ""), { ...profile("server-not-modified"), ...digest })).toBe("status");
    expect(recordOf("revisit", answer("", ""), profile("identical-payload-digest"))).toBe("no-digest");
  });
});
