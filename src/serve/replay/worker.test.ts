/** What the replay worker gets: decoded bodies, redirects and cookies in its own words, answers to POST, look-alikes. */
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { captureBytes, idOf, requestBytes } from "../../testing/capture-text.ts";
import { serveRecords } from "../../testing/served-archive.ts";
import { parseAccessRules } from "../index.ts";

const URI = "http://a.example/page";
const DATE = "2014-01-02T03:04:05Z";

describe("ir_", () => {
  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("undoes %s, and shows its own headers", async (coding, encode) => {
    const payload = encode(Buffer.from("<p>page</p>"));
    const http = [`Content-Encoding: ${coding}`, "Content-Language: de", "Set-Cookie: a=b", "Set-Cookie: c=d"];
    await using archive = await serveRecords([
      captureBytes({ uri: URI, date: DATE, payload, mime: "text/html", http }),
    ]);
    const { status, text, headers } = await archive.ask(`/coll/2014ir_/${URI}`);
    expect([status, text]).toEqual([200, "<p>page</p>"]);
    expect(headers).toMatchObject({
      "content-type": "text/html",
      "content-language": "de",
      "x-orig-ts": "20140102030405",
      "memento-datetime": "Thu, 02 Jan 2014 03:04:05 GMT",
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
    });
    expect(headers["x-proxy-set-cookie"]).toContain("a=b");
    expect(headers["x-proxy-set-cookie"]).toContain("c=d");
    for (const name of ["content-encoding", "set-cookie", "content-length"]) expect(headers).not.toHaveProperty(name);
  });

  it("gives ranges of what needs no decoding, and the status of an error", async () => {
    await using archive = await serveRecords([
      captureBytes({ uri: URI, date: DATE, payload: "0123456789" }),
      captureBytes({ uri: `${URI}/gone`, date: DATE, payload: "gone", status: "404 Not Found" }),
    ]);
    const part = await archive.ask(`/coll/2014ir_/${URI}`, { headers: { range: "bytes=2-4" } });
    expect([part.status, part.text, part.headers["content-range"]]).toEqual([206, "234", "bytes 2-4/10"]);
    const beyond = await archive.ask(`/coll/2014ir_/${URI}`, { headers: { range: "bytes=10-" } });
    expect(beyond.status).toBe(416);
    expect(await archive.ask(`/coll/2014ir_/${URI}/gone`)).toMatchObject({ status: 404, text: "gone" });
    expect((await archive.ask(`/coll/2014ir_/${URI}/none`)).status).toBe(404);
  });

  it("finds the answer to a POST by its body, not by its URL alone", async () => {
    const posted = (body: string, payload: string) => {
      const id = idOf(payload);
      const http = ["Content-Type: application/x-www-form-urlencoded"];
      return [
        captureBytes({ uri: URI, date: DATE, payload, id }),
        requestBytes({ uri: URI, date: DATE, id: idOf(body), method: "POST", concurrentTo: [id], http, body }),
      ];
    };
    await using archive = await serveRecords([...posted("q=one", "found one"), ...posted("q=two", "found two")]);
    for (const name of ["one", "two"]) {
      const { text } = await archive.ask(`/coll/2014ir_/${URI}?__wb_method=POST&q=${name}`);
      expect(text).toBe(`found ${name}`);
      const asOf = await archive.ask(`/coll/as-of/2015ir_/${URI}?__wb_method=POST&q=${name}`);
      expect(asOf.text).toBe(`found ${name}`);
    }
    expect((await archive.ask(`/coll/2014ir_/${URI}?__wb_method=POST&q=three`)).status).toBe(404);
  });

  it("takes a URL that only looks different for scripts, the nearest in time; id_ does not", async () => {
    const visit = (query: string, date: string, payload: string) =>
      captureBytes({ uri: `${URI}${query}`, date, payload });
    const records = [
      visit("?a=1&_=1388631845000", "2014-01-02T03:04:05Z", "2014"),
      visit("?a=1&_=1451703845000", "2016-01-02T03:04:05Z", "2016"),
      visit("?a=2&_=1388631845000", "2014-01-02T03:04:05Z", "other"),
    ];
    await using archive = await serveRecords(records);
    const asked = `${URI}?_=1700000000000&a=1`;
    expect(await archive.ask(`/coll/20140201ir_/${asked}`)).toMatchObject({ status: 200, text: "2014" });
    expect(await archive.ask(`/coll/20170201ir_/${asked}`)).toMatchObject({ status: 200, text: "2016" });
    expect(await archive.ask(`/coll/as-of/20150201ir_/${asked}`)).toMatchObject({ status: 200, text: "2014" });
    expect((await archive.ask(`/coll/2014ir_/${URI}?a=3&_=1`)).status).toBe(404);
    expect((await archive.ask(`/coll/2014id_/${asked}`)).status).toBe(404);
    const rules = parseAccessRules('{"rules":[{"host":"a.example","access":"block"}]}', "rules.json");
    await using hidden = await serveRecords(records, { rules });
    expect((await hidden.ask(`/coll/2014ir_/${asked}`)).status).toBe(404);
  });
});
