/** Raw captures as they are served: bytes, status and headers of their own; ranges, conditions, revisits, damage. */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../../base/index.ts";
import { captureBytes, idOf, noise, revisitBytes } from "../../testing/capture-text.ts";
import { serveRecords } from "../../testing/served-archive.ts";

const URI = "http://a.example/page?q=1";
const PAYLOAD = "0123456789";
const page = captureBytes({ uri: URI, date: "2014-01-02T03:04:05Z", payload: PAYLOAD, mime: "text/html" });

describe("a capture", () => {
  it("comes as it was captured, and nothing of its header is live but what describes the body", async () => {
    const http = [
      "Set-Cookie: a=b",
      "Refresh: 0;url=http://evil.example/",
      "Link: <x>; rel=preload",
      "Memento-Datetime: Thu, 01 Jan 1970 00:00:00 GMT",
      "Content-Language: de",
      "Clear-Site-Data: *",
      "Content-Security-Policy: default-src *",
      "Caf\xc3\xa9 name: odd",
      "X-Control: a\x01b",
    ];
    const record = captureBytes({ uri: URI, date: "2014-01-02T03:04:05Z", payload: PAYLOAD, http, chunks: [3, 4] });
    await using archive = await serveRecords([record]);
    const { status, headers, text } = await archive.ask(`/coll/20140102030405id_/${URI}`);
    expect({ status, text }).toEqual({ status: 200, text: PAYLOAD });
    expect(headers).toMatchObject({
      "content-type": "text/plain",
      "content-language": "de",
      "content-length": "10",
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "memento-datetime": "Thu, 02 Jan 2014 03:04:05 GMT",
      "content-location": `http://archive.test/coll/20140102030405id_/${URI}`,
      "x-archive-orig-set-cookie": "a=b",
      "x-archive-orig-transfer-encoding": "chunked",
      "x-archive-orig-x-control": "a b",
    });
    for (const name of ["set-cookie", "refresh", "clear-site-data", "transfer-encoding", "last-modified"])
      expect(headers).not.toHaveProperty(name);
    expect(headers["link"]).not.toContain("preload");
  });

  it("is found without the name of the only collection, as /web/, with a broken scheme, without one, and escaped", async () => {
    await using archive = await serveRecords([page]);
    for (const url of [
      URI,
      "http:/a.example/page?q=1",
      "a.example/page?q=1",
      "//a.example/page?q=1",
      encodeURIComponent(URI),
    ])
      for (const prefix of ["/coll/", "/", "/web/"])
        expect(await archive.ask(`${prefix}20140102030405id_/${url}`)).toMatchObject({ status: 200, text: PAYLOAD });
  });

  it("has its own status, also that of an error, and answers HEAD with its length", async () => {
    const gone = captureBytes({
      uri: "http://a.example/gone",
      date: "2014-01-02T03:04:05Z",
      payload: "no",
      status: "404 No",
    });
    await using archive = await serveRecords([gone]);
    expect(await archive.ask("/coll/2014id_/http://a.example/gone")).toMatchObject({ status: 404, text: "no" });
    const head = await archive.ask("/coll/2014id_/http://a.example/gone", { method: "HEAD" });
    expect(head).toMatchObject({ status: 404, text: "", headers: { "content-length": "2" } });
  });

  it("keeps its coding only if its bytes have it", async () => {
    const http = ["Content-Encoding: gzip"];
    const coded = captureBytes({
      uri: "http://a.example/1",
      date: "2014-01-02T03:04:05Z",
      payload: gzipSync(PAYLOAD),
      http,
    });
    const plain = captureBytes({ uri: "http://a.example/2", date: "2014-01-02T03:04:05Z", payload: PAYLOAD, http });
    await using archive = await serveRecords([coded, plain]);
    const one = await archive.ask("/coll/2014id_/http://a.example/1");
    expect(one.headers["content-encoding"]).toBe("gzip");
    expect(one.body).toEqual(gzipSync(PAYLOAD));
    const two = await archive.ask("/coll/2014id_/http://a.example/2");
    expect(two.headers).not.toHaveProperty("content-encoding");
    expect(two.text).toBe(PAYLOAD);
    // The replay worker gets both decoded.
    for (const url of ["http://a.example/1", "http://a.example/2"])
      expect(await archive.ask(`/coll/2014ir_/${url}`)).toMatchObject({ status: 200, text: PAYLOAD });
  });
});

describe("ranges and conditions", () => {
  const target = `/coll/2014id_/${URI}`;

  it.each([
    ["bytes=2-4", 206, "234", "bytes 2-4/10"],
    ["bytes=7-", 206, "789", "bytes 7-9/10"],
    ["bytes=-2", 206, "89", "bytes 8-9/10"],
    ["bytes=-20", 206, PAYLOAD, "bytes 0-9/10"],
    ["bytes=5-100", 206, "56789", "bytes 5-9/10"],
    ["bytes=10-", 416, "", "bytes */10"],
    ["bytes=-0", 416, "", "bytes */10"],
    ["bytes=4-2", 200, PAYLOAD, undefined],
    ["bytes=0-1,3-4", 200, PAYLOAD, undefined],
    ["lines=1-2", 200, PAYLOAD, undefined],
  ])("%s", async (range, status, text, told) => {
    await using archive = await serveRecords([page]);
    const reply = await archive.ask(target, { headers: { range } });
    expect(reply).toMatchObject({ status, text });
    expect(reply.headers["content-range"]).toBe(told);
    if (status !== 416) expect(reply.headers["content-length"]).toBe(`${text.length}`);
  });

  it("knows its tag, whichever condition names it", async () => {
    await using archive = await serveRecords([page]);
    const etag = (await archive.ask(target)).headers["etag"]!;
    const status = async (headers: Record<string, string>) => (await archive.ask(target, { headers })).status;
    expect(await status({ "if-none-match": `"x", W/${etag}` })).toBe(304);
    expect(await status({ "if-none-match": "*" })).toBe(304);
    expect(await status({ "if-none-match": `"x"` })).toBe(200);
    expect(await status({ "if-match": `"x"` })).toBe(412);
    expect(await status({ "if-match": etag })).toBe(200);
    expect(await status({ "if-modified-since": "Fri, 01 Jan 2100 00:00:00 GMT" })).toBe(200);
    expect(await status({ range: "bytes=0-1", "if-range": etag })).toBe(206);
    expect(await status({ range: "bytes=0-1", "if-range": `"x"` })).toBe(200);
    expect(await status({ range: "bytes=0-1", "if-range": "Fri, 01 Jan 2100 00:00:00 GMT" })).toBe(200);
  });
});

describe("revisits", () => {
  const digest = formatDigest(digestOf("sha1", Buffer.from(PAYLOAD)));
  const refersTo = { uri: URI, date: "2014-01-02T03:04:05Z" };

  it("have their own header and the body of their original, ranges and length too", async () => {
    const http = "HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nX-Own: yes\r\n\r\n";
    const revisit = revisitBytes({ uri: URI, date: "2015-01-01T00:00:00Z", digest, refersTo, http });
    await using archive = await serveRecords([page, revisit]);
    const target = `/coll/20150101000000id_/${URI}`;
    const reply = await archive.ask(target);
    expect(reply).toMatchObject({ status: 200, text: PAYLOAD });
    expect(reply.headers).toMatchObject({ "content-type": "text/css", "x-archive-orig-x-own": "yes" });
    expect((await archive.ask(target, { method: "HEAD" })).headers["content-length"]).toBe("10");
    expect(await archive.ask(target, { headers: { range: "bytes=-1" } })).toMatchObject({ status: 206, text: "9" });
  });

  it("of a 304 give what they confirm to clients that set no condition", async () => {
    const profile = "http://netpreserve.org/warc/1.0/revisit/server-not-modified";
    const http = "HTTP/1.1 304 Not Modified\r\nX-Own: yes\r\n\r\n";
    const revisit = revisitBytes({ uri: URI, date: "2015-01-01T00:00:00Z", refersTo, profile, http });
    await using archive = await serveRecords([page, revisit]);
    const reply = await archive.ask(`/coll/20150101000000id_/${URI}`);
    expect(reply).toMatchObject({ status: 200, text: PAYLOAD, headers: { "content-type": "text/html" } });
    expect(reply.headers["memento-datetime"]).toBe("Thu, 01 Jan 2015 00:00:00 GMT");
  });

  it("without their original are 404, and never chosen by time", async () => {
    const lost = revisitBytes({
      uri: URI,
      date: "2015-01-01T00:00:00Z",
      digest: "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    });
    await using archive = await serveRecords([page, lost]);
    expect(await archive.ask(`/coll/20150101000000id_/${URI}`)).toMatchObject({ status: 404 });
    expect(await archive.ask(`/coll/20150101000001id_/${URI}`)).toMatchObject({ status: 200, text: PAYLOAD });
  });
});

describe("what is not whole", () => {
  it("a truncated capture is given, with a note", async () => {
    const lines = ["WARC-Truncated: length"];
    const record = captureBytes({ uri: URI, date: "2014-01-02T03:04:05Z", payload: PAYLOAD, contentLength: 99, lines });
    await using archive = await serveRecords([record]);
    const reply = await archive.ask(`/coll/2014id_/${URI}`);
    expect(reply).toMatchObject({ status: 200, text: PAYLOAD, headers: { "content-length": "10" } });
    expect(reply.headers["holotype-note"]).toContain("truncated");
  });

  it("of a damaged payload what is there is given, with a note and without a tag", async () => {
    const record = captureBytes({
      uri: URI,
      date: "2014-01-02T03:04:05Z",
      payload: noise("a", 100_000),
      id: idOf("x"),
    });
    await using archive = await serveRecords([record]);
    const path = "/archive/volumes/0/segments/000001.warc.gz";
    {
      using file = archive.disk.open(path, "update");
      file.write(Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]), file.size() - 20_000);
    }
    const reply = await archive.ask(`/coll/2014id_/${URI}`);
    expect(reply.status).toBe(200);
    expect(reply.headers["holotype-note"]).toContain("damaged");
    expect(reply.headers).not.toHaveProperty("etag");
    expect(reply.body.length).toBeGreaterThan(50_000);
    expect(noise("a", 100_000).subarray(0, 50_000).equals(reply.body.subarray(0, 50_000))).toBe(true);
  });
});

it("gives a part of a large payload", async () => {
  const bytes = noise("large", 9 << 20);
  await using archive = await serveRecords([captureBytes({ uri: URI, date: "2014-01-02T03:04:05Z", payload: bytes })]);
  const reply = await archive.ask(`/coll/2014id_/${URI}`, { headers: { range: "bytes=5000000-5000009" } });
  expect(reply).toMatchObject({ status: 206, headers: { "content-length": "10" } });
  expect(reply.body).toEqual(bytes.subarray(5_000_000, 5_000_010));
});
