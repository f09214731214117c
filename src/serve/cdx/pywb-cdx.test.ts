/** The contract of pywb's dialect, line by line: parameters, fields, forms, filters, errors. */
import { beforeAll, describe, expect, it } from "vitest";
import type { Handler } from "../../http/index.ts";
import { captureBytes } from "../../testing/capture-text.ts";
import { ask, base32Of, collectionOf, HOME_TIMES, ONE, smallCrawl } from "../../testing/cdx-collection.ts";
import { AccessRules } from "../access/access-rules.ts";
import type { Collection } from "../collection.ts";
import { pywbCdx } from "./pywb-cdx.ts";
import { waybackCdx } from "./wayback-cdx.ts";

let collection: Collection;
let cdx: Handler;

beforeAll(async () => {
  collection = await collectionOf(smallCrawl());
  cdx = pywbCdx(collection, (_, timestamp, url) => `http://here/coll/${timestamp}/${url}`);
});

interface Row {
  readonly [field: string]: string;
}

async function rows(query: string): Promise<Row[]> {
  const { status, lines } = await ask(cdx, `${query}&output=json`);
  expect(status).toBe(200);
  return lines.map((line) => JSON.parse(line) as Row);
}

async function times(query: string): Promise<(string | undefined)[]> {
  return (await rows(query)).map(({ timestamp }) => timestamp);
}

async function urls(query: string): Promise<(string | undefined)[]> {
  return (await rows(query)).map(({ url }) => url);
}

describe("fields and forms", () => {
  it("lists every dated capture of every class, with its fields", async () => {
    const all = await rows("url=http://a.example/");
    expect(all.map(({ timestamp }) => timestamp)).toEqual(HOME_TIMES);
    expect(all[0]).toEqual({
      urlkey: "example,a)/",
      timestamp: "20140101000000",
      url: "http://a.example/",
      mime: "text/html",
      status: "200",
      digest: base32Of(ONE),
      length: expect.stringMatching(/^\d+$/) as string,
      offset: expect.stringMatching(/^\d+$/) as string,
      filename: "000001.warc.gz",
      source: expect.stringMatching(/^\d+\.warc\.gz$/) as string,
      "source-coll": "coll",
      access: "allow",
    });
  });

  it("calls a revisit what lies there as one: as it came, or stored in place of a duplicate", async () => {
    const all = await rows("url=a.example");
    expect(all.map(({ mime }) => mime)).toEqual([
      "text/html",
      "warc/revisit",
      "warc/revisit",
      "text/html",
      "text/html",
      "text/html",
    ]);
  });

  it("calls a media type that nobody named unk, as indexes do", async () => {
    const nameless = await collectionOf([
      captureBytes({ uri: "http://a.example/", date: "2014-01-01T00:00:00Z", payload: "x", mime: "" }),
    ]);
    expect(
      (
        await ask(
          pywbCdx(nameless, () => ""),
          "url=a.example&fl=mime&output=text",
        )
      ).text,
    ).toBe("unk\n");
    expect((await ask(waybackCdx(nameless), "url=a.example&fl=mimetype")).text).toBe("unk\n");
  });

  it("has the digest of the entity, whatever the header said", async () => {
    const all = await rows("url=a.example");
    const two = base32Of("two");
    expect(all.map(({ digest }) => digest).slice(0, 4)).toEqual([base32Of(ONE), base32Of(ONE), base32Of(ONE), two]);
  });

  it("answers with CDXJ by default", async () => {
    const { type, lines } = await ask(cdx, "url=a.example&limit=1");
    expect(type).toBe("text/x-cdxj");
    expect(lines).toEqual([
      expect.stringMatching(/^example,a\)\/ 20140101000000 \{"url": "http:\/\/a\.example\/", "mime"/),
    ]);
    expect((await ask(cdx, "url=a.example&limit=1&output=cdxj")).lines).toEqual(lines);
  });

  it("answers output=json with an object per line", async () => {
    const { type, lines } = await ask(cdx, "url=a.example&output=json");
    expect(type).toBe("text/x-ndjson");
    expect(lines.map((line) => Object.keys(JSON.parse(line) as object)[0])).toEqual(HOME_TIMES.map(() => "urlkey"));
  });

  it("answers output=text with fields between blanks", async () => {
    const { type, lines } = await ask(cdx, "url=a.example&output=text&limit=1");
    expect(type).toMatch(/^text\/plain/);
    expect(lines[0]!.split(" ")).toHaveLength(9);
    expect(lines[0]).toMatch(
      /^example,a\)\/ 20140101000000 http:\/\/a\.example\/ text\/html 200 [A-Z2-7]{32} \d+ \d+ 0/,
    );
  });

  it("answers output=link with mementos", async () => {
    const { type, lines } = await ask(cdx, "url=a.example&output=link&limit=2");
    expect(type).toBe("application/link-format");
    expect(lines).toEqual([
      '<http://here/coll/20140101000000/http://a.example/>; rel="memento"; datetime="Wed, 01 Jan 2014 00:00:00 GMT"; src="coll",',
      '<http://here/coll/20140201000000/http://a.example/>; rel="memento"; datetime="Sat, 01 Feb 2014 00:00:00 GMT"; src="coll"',
    ]);
  });

  it.each(["fl", "fields"])("gives the fields of %s, in their order", async (name) => {
    expect(await rows(`url=a.example&limit=1&${name}=status,url`)).toEqual([
      { status: "200", url: "http://a.example/" },
    ]);
    const { lines } = await ask(cdx, `url=a.example&limit=1&${name}=status,url&output=text`);
    expect(lines).toEqual(["200 http://a.example/"]);
    const cdxj = await ask(cdx, `url=a.example&limit=1&${name}=status`);
    expect(cdxj.lines).toEqual(['example,a)/ 20140101000000 {"status": "200"}']);
  });

  it("takes the names of the Wayback Machine for fields too", async () => {
    expect(await rows("url=a.example&limit=1&fl=statuscode,original,mimetype")).toEqual([
      { statuscode: "200", original: "http://a.example/", mimetype: "text/html" },
    ]);
  });
});

describe("what is asked for", () => {
  it.each([
    ["url=a.example/page/1", ["http://a.example/page/1"]],
    ["url=http://www.a.example/page/2?a=2%26b=1", ["https://www.a.example/page/2?b=1&a=2"]],
    ["url=a.example/page/*", ["http://a.example/page/1", "https://www.a.example/page/2?b=1&a=2"]],
    ["url=a.example/page/&matchType=prefix", ["http://a.example/page/1", "https://www.a.example/page/2?b=1&a=2"]],
    ["url=img.a.example/other&matchType=host", ["http://img.a.example/x.png"]],
    ["url=nowhere.example", []],
  ])("%s", async (query, found) => {
    expect(await urls(query)).toEqual(found);
  });

  it("takes a star before a host for its domain", async () => {
    const all = await urls("url=*.a.example");
    expect(all).toEqual(await urls("url=a.example&matchType=domain"));
    expect(all).toContain("http://img.a.example/x.png");
    expect(all).not.toContain("http://b.example/");
    expect(all).toContain("http://a.example/form");
    expect(all).not.toContain("http://a.example/undated");
  });

  it("leaves the star alone where matchType=exact", async () => {
    expect(await urls("url=a.example/page/*&matchType=exact")).toEqual([]);
  });

  it.each([
    ["from=2015", HOME_TIMES.slice(3)],
    ["to=2014", HOME_TIMES.slice(0, 3)],
    ["from=201402&to=201402", HOME_TIMES.slice(1, 2)],
    ["from=20150601120000&to=20150601120000", HOME_TIMES.slice(4, 5)],
    ["to=20140231", HOME_TIMES.slice(0, 2)],
    ["from=2&to=2", HOME_TIMES],
    ["from=2016&to=2014", []],
  ])("pads %s", async (span, found) => {
    expect(await times(`url=a.example&${span}`)).toEqual(found);
  });

  it("gives the first ones up to the limit", async () => {
    expect(await times("url=a.example&limit=2")).toEqual(HOME_TIMES.slice(0, 2));
  });

  it.each(["sort=reverse", "reverse=true"])("turns the order round with %s", async (order) => {
    expect(await times(`url=a.example&${order}`)).toEqual(HOME_TIMES.toReversed());
    expect(await times(`url=a.example&${order}&limit=2`)).toEqual(HOME_TIMES.toReversed().slice(0, 2));
  });

  it.each(["sort=closest&closest=20141201", "closest=20141201"])("gives the nearest first with %s", async (order) => {
    const nearest = [3, 4, 2, 1, 0, 5].map((i) => HOME_TIMES[i]);
    expect(await times(`url=a.example&${order}`)).toEqual(nearest);
    expect(await times(`url=a.example&${order}&limit=2`)).toEqual(nearest.slice(0, 2));
  });

  it("has the nearest of many URLs too", async () => {
    const found = await urls("url=*.a.example&closest=20140103&limit=2");
    expect(found).toEqual(["http://img.a.example/x.png", "https://www.a.example/page/2?b=1&a=2"]);
  });

  it("takes an empty closest for none", async () => {
    expect(await times("url=a.example&sort=closest&closest=")).toEqual(HOME_TIMES);
  });

  it("collapses by time and status", async () => {
    expect(await times("url=a.example&collapseTime=4")).toEqual([0, 3, 4, 5].map((i) => HOME_TIMES[i]));
    expect(await times("url=a.example&collapseTime=4&sort=reverse")).toEqual([5, 4, 3, 0].map((i) => HOME_TIMES[i]));
  });
});

describe("filter", () => {
  it.each([
    ["mime:html", [0, 3, 4, 5]],
    ["!mime:html", [1, 2]],
    ["=status:200", [0, 1, 2, 3]],
    ["!=status:200", [4, 5]],
    ["=mime:text", []],
    ["~mime:text", [0, 3, 4, 5]],
    ["~mime:.*/(html|revisit)$", [0, 1, 2, 3, 4, 5]],
    ["~mime:html", []],
    ["!~status:[23]..", [4]],
    ["~timestamp:2014(01|03)", [0, 2]],
    ["statuscode:30", [5]],
    ["warc/revisit", [1, 2]],
  ])("%s", async (filter, found) => {
    const query = `url=a.example&filter=${encodeURIComponent(filter)}`;
    expect(await times(query)).toEqual(found.map((i) => HOME_TIMES[i]));
  });

  it("wants all of several", async () => {
    expect(await times("url=a.example&filter=mime:html&filter=!status:200")).toEqual(HOME_TIMES.slice(4));
  });

  it("answers with nothing where nothing passes", async () => {
    const { status, text } = await ask(cdx, "url=a.example&filter=mime:video");
    expect([status, text]).toEqual([200, ""]);
  });
});

describe("resolveRevisits", () => {
  const fl = "fl=timestamp,mime,status,orig.length,orig.offset,orig.filename";

  it("says where the original lies, and what it was", async () => {
    const [first, second, third, fourth] = await rows("url=a.example&resolveRevisits=true");
    const none = { "orig.length": "-", "orig.offset": "-", "orig.filename": "-" };
    const there = {
      "orig.length": first!["length"],
      "orig.offset": first!["offset"],
      "orig.filename": "000001.warc.gz",
    };
    expect(first).toMatchObject(none);
    expect(second).toMatchObject({ ...there, mime: "text/html", status: "200" });
    expect(third).toMatchObject({ ...there, mime: "text/html", status: "200" });
    expect(fourth).toMatchObject(none);
  });

  it("finds the original before the span that is asked for, and in every order", async () => {
    const forwards = await rows(`url=a.example&resolveRevisits=true&from=201402&${fl}`);
    expect(forwards[0]).toMatchObject({ timestamp: HOME_TIMES[1], "orig.filename": "000001.warc.gz" });
    const backwards = await rows(`url=a.example&resolveRevisits=true&from=201402&sort=reverse&${fl}`);
    expect(backwards).toEqual(forwards.toReversed());
    const nearest = await rows(`url=a.example&resolveRevisits=true&from=201402&closest=2014&${fl}`);
    expect(nearest).toEqual(forwards);
  });
});

describe("pages", () => {
  it("counts them", async () => {
    const { type, text } = await ask(cdx, "url=a.example&showNumPages=true");
    expect([type, JSON.parse(text)]).toEqual(["application/json", { blocks: 1, pages: 1, pageSize: 5 }]);
    expect(JSON.parse((await ask(cdx, "url=nowhere.example&showNumPages=true")).text)).toMatchObject({ pages: 1 });
  });

  it("gives page 0, and refuses the page behind the last", async () => {
    expect(await times("url=a.example&page=0")).toEqual(HOME_TIMES);
    const { status, text } = await ask(cdx, "url=a.example&page=1");
    expect([status, JSON.parse(text)]).toEqual([400, { message: "Page 1 invalid: First Page is 0, Last Page is 0" }]);
    expect((await ask(cdx, "url=nowhere.example&page=0")).text).toBe("");
  });

  it("lists blocks with showPagedIndex", async () => {
    const { text } = await ask(cdx, "url=a.example&showPagedIndex=true");
    expect(text).toBe("example,a)/ 20140101000000\tcoll\t0\t6\t1\n");
    const { lines } = await ask(cdx, "url=a.example&showPagedIndex=true&output=json");
    expect(JSON.parse(lines[0]!)).toEqual({
      urlkey: "example,a)/ 20140101000000",
      part: "coll",
      offset: 0,
      length: 6,
      lineno: 1,
    });
  });
});

it.each([
  "",
  "url=",
  "url=*",
  "url=a.example&output=xml",
  "url=a.example&matchType=range",
  "url=a.example&sort=up",
  "url=a.example&limit=ten",
  "url=a.example&limit=0",
  "url=a.example&limit=-5",
  "url=a.example&limit=1.5",
  "url=a.example&from=yesterday",
  "url=a.example&to=2014-01-01",
  "url=a.example&closest=now",
  "url=a.example&collapseTime=x",
  "url=a.example&page=one",
  "url=a.example&pageSize=0",
  "url=a.example&fl=nothing",
  "url=a.example&filter=nothing:x",
  "url=a.example&filter=~mime:(",
  "url=a.example&filter=~mime:(?=x)",
  "url=a.example&filter=~url:(a)%5C1",
  "url=a.example&resolveRevisits=perhaps",
])("refuses %j as JSON", async (query) => {
  const { status, type, text } = await ask(cdx, query);
  expect([status, type]).toEqual([400, "application/json"]);
  expect(JSON.parse(text)).toEqual({ message: expect.any(String) as string });
});

it("shows nothing that the rules of the collection keep back", async () => {
  const hiddenMs = Date.UTC(2015, 5, 1, 12);
  const rules = new AccessRules([{ prefix: "example,a)/", verdict: "block", fromMs: hiddenMs, toMs: hiddenMs }]);
  const guarded = await collectionOf(smallCrawl(), rules);
  const { lines } = await ask(
    pywbCdx(guarded, () => ""),
    "url=a.example&output=text&fl=timestamp",
  );
  expect(lines).toEqual(HOME_TIMES.filter((time) => time !== "20150601120000"));
});
