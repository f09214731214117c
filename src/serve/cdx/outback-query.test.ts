/** OutbackCDX' query form: XML for Wayback's RemoteCollection. */
import { beforeAll, expect, it } from "vitest";
import type { Handler } from "../../http/index.ts";
import { captureBytes } from "../../testing/capture-text.ts";
import { ask, base32Of, collectionOf, HOME_TIMES, ONE, smallCrawl } from "../../testing/cdx-collection.ts";
import { outbackQuery } from "./outback-query.ts";

let query: Handler;

beforeAll(async () => {
  const odd = captureBytes({ uri: "http://odd.example/?<a>&b=\u0001", date: "2014-01-01T00:00:00Z", payload: "odd" });
  query = outbackQuery(await collectionOf([...smallCrawl(), odd]));
});

const asked = async (q: string, more = "") => (await ask(query, `q=${encodeURIComponent(q)}${more}`)).text;
const home = `type:urlquery url:${encodeURIComponent("http://a.example/")}`;

/** The texts of all elements with a name. */
function texts(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g"))].map(([, text]) => text!);
}

it("lists the captures of a URL", async () => {
  const { status, type, text } = await ask(query, `q=${encodeURIComponent(home)}`);
  expect([status, type]).toEqual([200, "application/xml; charset=utf-8"]);
  expect(texts(text, "capturedate")).toEqual(HOME_TIMES);
  const [first] = text.split("</result>");
  expect(first).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?><wayback><results><result><compressedoffset>\d+</);
  expect(first).toContain("<mimetype>text/html</mimetype><file>000001.warc.gz</file><redirecturl>-</redirecturl>");
  expect(first).toContain(`<urlkey>example,a)/</urlkey><digest>${base32Of(ONE)}</digest>`);
  expect(first).toContain(
    "<httpresponsecode>200</httpresponsecode><robotflags>-</robotflags><url>http://a.example/</url>",
  );
  expect(texts(text, "mimetype").slice(0, 3)).toEqual(["text/html", "warc/revisit", "warc/revisit"]);
  expect(texts(text, "redirecturl").at(-1)).toBe("/new");
  expect(text).toContain("<type>urlquery</type><firstreturned>0</firstreturned><url>example,a)/</url>");
  expect(text).toContain(
    "<resultstype>resultstypecapture</resultstype><numreturned>6</numreturned><numresults>6</numresults>",
  );
});

it("pages by count and start_page, and by the older limit and offset", async () => {
  const page = await asked(home, "&count=2&start_page=2");
  expect(texts(page, "capturedate")).toEqual(HOME_TIMES.slice(2, 4));
  expect([texts(page, "numreturned"), texts(page, "numresults")]).toEqual([["2"], ["6"]]);
  expect(texts(await asked(`${home} limit:2 offset:1`), "capturedate")).toEqual(HOME_TIMES.slice(1, 3));
});

it("lists the URLs below a prefix", async () => {
  const text = await asked("type:prefixquery url:a.example/");
  expect(texts(text, "urlkey")).toEqual([
    "example,a)/",
    "example,a)/form",
    "example,a)/page/1",
    "example,a)/page/2?a=2&#38;b=1",
  ]);
  expect(text).toContain("<numversions>4</numversions><numcaptures>6</numcaptures>");
  expect(text).toContain(
    "<firstcapturets>20140101000000</firstcapturets><lastcapturets>20160101000000</lastcapturets>",
  );
  expect(texts(text, "resultstype")).toEqual(["resultstypeurl"]);
});

it("says what is not in the archive, and which type it does not know", async () => {
  expect(await asked("type:urlquery url:nowhere.example")).toContain("<title>Resource Not In Archive</title>");
  expect(await asked("type:dance url:a.example")).toContain("<title>Unsupported query type</title>");
});

it("is XML whatever a URL contains", async () => {
  const text = await asked("type:prefixquery url:odd.example");
  expect(texts(text, "originalurl")).toEqual(["http://odd.example/?&#60;a&#62;&#38;b=\ufffd"]);
});

it.each(["", "q=type:urlquery", "q=url:a.example&count=x", "q=url:a.example+limit:x"])("refuses %j", async (text) => {
  expect((await ask(query, text)).status).toBe(400);
});
