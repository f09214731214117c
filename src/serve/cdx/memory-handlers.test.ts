/** What crawlers ask and get, to the letter; from an archive and from other known contents. */
import { beforeAll, describe, expect, it } from "vitest";
import { captureBytes, noise, revisitBytes } from "../../testing/capture-text.ts";
import { ask, askTarget, base32Of, collectionOf, hexOf, ONE, smallCrawl } from "../../testing/cdx-collection.ts";
import { MemoryContents } from "../../testing/memory-contents.ts";
import { AccessRules } from "../access/access-rules.ts";
import type { Collection } from "../collection.ts";
import { crawlerMemory, doppelganger } from "./memory-handlers.ts";
import { waybackCdx, waybackTimemap } from "./wayback-cdx.ts";

const BIG = noise("big", 4000).toString("hex");
const PAGE = "http://site.test:8480/img-ok/0.png";

function page(date: string, payload: string, more: Partial<Parameters<typeof captureBytes>[0]> = {}): Buffer {
  return captureBytes({ uri: PAGE, date, payload, mime: "image/png", ...more });
}

let collection: Collection;

beforeAll(async () => {
  collection = await collectionOf([
    page("2026-01-01T00:00:00Z", BIG),
    // Kept as a revisit of the one before it.
    page("2026-02-01T00:00:00Z", BIG),
    page("2026-03-01T00:00:00Z", "sorry", { status: "503 Away" }),
    captureBytes({ uri: "http://gone.test/", date: "2026-01-01T00:00:00Z", payload: "" }),
    revisitBytes({ uri: "http://only.test/", date: "2026-01-01T00:00:00Z", digest: `sha1:${base32Of(BIG)}` }),
    captureBytes({ uri: "http://cut.test/", date: "2026-01-01T00:00:00Z", payload: "whole" }),
    captureBytes({
      uri: "http://cut.test/",
      date: "2026-02-01T00:00:00Z",
      payload: "who",
      lines: ["WARC-Truncated: length"],
    }),
  ]);
});

const encoded = (url: string) => encodeURIComponent(url);
const warcprox = (url: string) =>
  `/cdx/search/cdx?url=${encoded(url)}&fl=timestamp%2Cdigest&filter=%21mimetype%3Awarc%2Frevisit&limit=-1`;
const heritrix = (url: string) => `/web/timemap/cdx?url=${encoded(url)}&limit=-1`;

describe("warcprox", () => {
  it("gets time and digest of the record that holds the newest state", async () => {
    const { status, text, type } = await askTarget(waybackCdx(collection), warcprox(PAGE));
    expect([status, text]).toEqual([200, `20260101000000 ${base32Of(BIG)}\n`]);
    expect(type).toMatch(/^text\/plain/);
  });

  it("gets hex on a path of its own", async () => {
    const target = warcprox(PAGE).replace("/cdx/search/cdx", "/cdx/hex");
    const { text } = await askTarget(crawlerMemory(collection, "hex"), target);
    expect(text).toBe(`20260101000000 ${hexOf(BIG)}\n`);
  });

  it.each([
    ["what is not known", "http://nowhere.test/"],
    ["an empty payload", "http://gone.test/"],
    ["a revisit without its original under this key", "http://only.test/"],
  ])("gets an empty body for %s", async (_, url) => {
    const { status, text } = await askTarget(waybackCdx(collection), warcprox(url));
    expect([status, text]).toEqual([200, ""]);
  });

  it("gets the whole record, not the one that was cut off", async () => {
    const { text } = await askTarget(waybackCdx(collection), warcprox("http://cut.test/"));
    expect(text).toBe(`20260101000000 ${base32Of("whole")}\n`);
  });
});

describe("Heritrix and gowarc", () => {
  it("get one line of seven fields", async () => {
    const { text } = await askTarget(waybackTimemap(collection), heritrix(PAGE));
    const fields = text.slice(0, -1).split(" ");
    const digest = base32Of(BIG);
    expect(fields.slice(0, 6)).toEqual([
      "test,site:8480)/img-ok/0.png",
      "20260101000000",
      PAGE,
      "image/png",
      "200",
      digest,
    ]);
    expect(fields).toHaveLength(7);
    expect(fields[6]).toMatch(/^\d+$/);
    expect(text.endsWith("\n")).toBe(true);
  });

  it("get an answer by key: with www and without", async () => {
    const { text } = await askTarget(waybackTimemap(collection), heritrix(PAGE.replace("site", "www.site")));
    expect(text).toContain(` 20260101000000 ${PAGE} `);
  });

  it("get 200 and nothing for what is not known", async () => {
    const { status, text } = await askTarget(waybackTimemap(collection), heritrix("http://nowhere.test/"));
    expect([status, text]).toEqual([200, ""]);
  });
});

describe("Doppelganger", () => {
  const records = (digest: string, uri: string) => `/api/records/${digest}?uri=${uri}`;

  it.each(["base32", "hex"])("knows a payload by its digest in %s, for any URL", async (form) => {
    const digest = form === "hex" ? hexOf(BIG) : base32Of(BIG);
    const { status, type, text } = await askTarget(
      doppelganger(collection),
      records(digest, "http://other.test/?a=1&b=2"),
    );
    expect([status, type]).toEqual([200, "application/json"]);
    expect(text).toBe(`{"id":"${digest}","uri":"${PAGE}","date":20260101000000}\n`);
  });

  it.each([base32Of("nothing"), base32Of(""), "not-a-digest", ""])("answers 404 to %j", async (digest) => {
    expect((await askTarget(doppelganger(collection), records(digest, PAGE))).status).toBe(404);
  });

  it("says nothing of what the rules keep back", async () => {
    const rules = new AccessRules([{ prefix: "example,a)/", exact: true, verdict: "exclude" }]);
    const guarded = await collectionOf(smallCrawl(), rules);
    expect((await askTarget(doppelganger(guarded), records(base32Of(ONE), "http://a.example/"))).status).toBe(404);
    expect((await askTarget(doppelganger(guarded), records(base32Of("b"), ""))).status).toBe(200);
    const { text } = await askTarget(waybackCdx(guarded), warcprox("http://a.example/"));
    expect(text).toBe("");
  });
});

describe("other known contents", () => {
  const known = (
    uri: string,
    timeMs: number,
    payload: string,
    original = { uri, date: new Date(timeMs).toISOString() },
  ) => ({
    uri,
    timeMs,
    digests: [`sha1:${base32Of(payload)}`],
    payloadSize: payload.length,
    status: 200,
    mime: "text/html",
    original,
    certainty: "claimed" as const,
  });
  const contents = new MemoryContents([
    known("http://www.site.test/", Date.UTC(2020, 0, 1), "one"),
    known("https://site.test/", Date.UTC(2021, 0, 1), "two"),
    known("http://site.test/away", Date.UTC(2021, 0, 1), "x", {
      uri: "http://other.test/",
      date: "2020-01-01T00:00:00Z",
    }),
    known("http://site.test/empty", Date.UTC(2021, 0, 1), ""),
  ]);

  it("are asked in every spelling of a key", async () => {
    const { text } = await ask(crawlerMemory(contents, "base32"), `url=${encoded("http://site.test/")}&limit=-1`);
    expect(text).toBe(`test,site)/ 20210101000000 https://site.test/ text/html 200 ${base32Of("two")} 3\n`);
    const hex = await askTarget(crawlerMemory(contents, "hex"), warcprox("http://www.site.test/"));
    expect(hex.text).toBe(`20210101000000 ${hexOf("two")}\n`);
  });

  it("name nothing of another key, and nothing empty", async () => {
    for (const url of ["http://site.test/away", "http://site.test/empty", "http://site.test/none"])
      expect((await ask(crawlerMemory(contents, "base32"), `url=${encoded(url)}`)).text).toBe("");
    expect((await ask(crawlerMemory(contents, "base32"), "")).status).toBe(400);
  });

  it("answer as Doppelganger", async () => {
    const { text } = await askTarget(doppelganger(contents), `/api/records/${base32Of("two")}?uri=http://any.test/`);
    expect(JSON.parse(text)).toEqual({ id: base32Of("two"), uri: "https://site.test/", date: 20210101000000 });
    expect((await askTarget(doppelganger(contents), `/api/records/${base32Of("none")}?uri=x`)).status).toBe(404);
  });
});
