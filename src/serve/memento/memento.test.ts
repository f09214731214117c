/** TimeGates, mementos and TimeMaps; what a time means; redirects that never come back. */
import { describe, expect, it } from "vitest";
import { captureBytes } from "../../testing/capture-text.ts";
import { type ServedArchive, serveRecords } from "../../testing/served-archive.ts";

const URI = "http://a.example/";
const visit = (date: string, payload: string, uri = URI) => captureBytes({ uri, date, payload });
const THREE = [
  visit("2014-01-01T00:00:00Z", "one"),
  visit("2015-01-01T00:00:00Z", "two"),
  visit("2016-01-01T00:00:00Z", "three"),
];
const redirect = (uri: string, date: string, location: string, status = "302 Found") =>
  captureBytes({ uri, date, payload: `to ${location}`, status, http: [`Location: ${location}`] });

describe("a TimeGate", () => {
  it("leads to the nearest memento, or the last one, and is none itself", async () => {
    await using archive = await serveRecords(THREE);
    const lead = async (date?: string) => {
      const reply = await archive.ask(
        `/coll/${URI}`,
        date === undefined ? {} : { headers: { "accept-datetime": date } },
      );
      expect(reply).toMatchObject({ status: 302, headers: { vary: "accept-datetime, sec-fetch-dest" } });
      expect(reply.headers).not.toHaveProperty("memento-datetime");
      expect(reply.headers["link"]).toContain(`<${URI}>; rel="original"`);
      return reply.headers["location"]!.slice("http://archive.test/coll/".length);
    };
    expect(await lead()).toBe(`20160101000000id_/${URI}`);
    expect(await lead("")).toBe(`20160101000000id_/${URI}`);
    expect(await lead("Mon, 01 Dec 2014 00:00:00 GMT")).toBe(`20150101000000id_/${URI}`);
    expect(await lead("Sat, 01 Jan 2000 00:00:00 GMT")).toBe(`20140101000000id_/${URI}`);
  });

  it("refuses dates that are none of RFC 1123, and knows what it does not have", async () => {
    await using archive = await serveRecords(THREE);
    for (const date of ["2014-01-01", "Tue, 01 Dec 2014 00:00:00 GMT", "Mon, 01 Dec 2014 00:00:00", "x".repeat(500)])
      expect(await archive.ask(`/coll/${URI}`, { headers: { "accept-datetime": date } })).toMatchObject({
        status: 400,
        headers: { vary: "accept-datetime, sec-fetch-dest" },
      });
    expect(await archive.ask("/coll/http://b.example/")).toMatchObject({ status: 404 });
  });
});

describe("a memento", () => {
  it("links to its original, TimeGate, TimeMap and neighbours", async () => {
    await using archive = await serveRecords(THREE);
    const { headers } = await archive.ask(`/coll/20150101000000id_/${URI}`);
    const link = (time: string, rel: string, date: string) =>
      `<http://archive.test/coll/${time}id_/${URI}>; rel="${rel}"; datetime="${date}"`;
    expect(headers["link"]!.split(/, (?=<)/)).toEqual([
      `<${URI}>; rel="original"`,
      `<http://archive.test/coll/${URI}>; rel="timegate"`,
      `<http://archive.test/coll/timemap/link/${URI}>; rel="timemap"; type="application/link-format"`,
      link("20140101000000", "first prev memento", "Wed, 01 Jan 2014 00:00:00 GMT"),
      link("20150101000000", "memento", "Thu, 01 Jan 2015 00:00:00 GMT"),
      link("20160101000000", "next last memento", "Fri, 01 Jan 2016 00:00:00 GMT"),
    ]);
    expect(headers).not.toHaveProperty("vary");
  });

  it("is reached from the framed forms by its exact time, with 17 digits only where a second has several", async () => {
    const records = [
      visit("2014-01-01T00:00:00.250Z", "a"),
      visit("2014-01-01T00:00:00.750Z", "b"),
      visit("2015-01-01T00:00:00.5Z", "c"),
    ];
    await using archive = await serveRecords(records);
    const location = async (time: string) => (await archive.ask(`/coll/${time}/${URI}`)).headers["location"];
    const to = (time: string) => `http://archive.test/coll/${time}id_/${URI}`;
    expect(await location("20140101000000")).toBe(to("20140101000000250"));
    expect(await location("20140101000000750")).toBe(to("20140101000000750"));
    expect(await location("2015mp_")).toBe(to("20150101000000"));
    expect(await archive.ask(`/coll/20140101000000750id_/${URI}`)).toMatchObject({ text: "b" });
    expect(await archive.ask(`/coll/20150101000000id_/${URI}`)).toMatchObject({ text: "c" });
  });
});

it("links stay with the name that the collection was asked by", async () => {
  await using archive = await serveRecords([
    ...THREE,
    redirect("http://a.example/old", "2015-01-01T00:00:00Z", "http://a.example/"),
  ]);
  const targets = [
    `2015id_/${URI}`,
    "2015id_/http://a.example/old",
    URI,
    `2015/${URI}`,
    `timemap/link/${URI}`,
    `*/${URI}`,
    `cdx?url=${URI}&output=link`,
  ];
  for (const target of targets) {
    const { text, headers } = await archive.ask(`/web/${target}`);
    const { link = "", location = "", "content-location": own = "" } = headers;
    const told = [text, link, location, own].join("\n").match(/http:\/\/archive\.test\/\w+\//g);
    expect([target, [...new Set(told)]]).toEqual([target, ["http://archive.test/web/"]]);
  }
  const { text } = await archive.ask(`/wayback/available?url=${URI}&timestamp=2015`);
  expect(text).toContain(`"url":"http://archive.test/web/20150101000000/${URI}"`);
});

describe("a time", () => {
  const text = async (archive: ServedArchive, time: string) => (await archive.ask(`/coll/${time}id_/${URI}`)).text;

  it("is filled up at its end, and means the nearest capture; as-of means what was there", async () => {
    await using archive = await serveRecords(THREE);
    expect(await text(archive, "2014")).toBe("two");
    expect(await text(archive, "201406")).toBe("one");
    expect(await text(archive, "1")).toBe("one");
    expect(await text(archive, "2")).toBe("three");
    expect(await text(archive, "")).toBe("three");
    expect(await text(archive, "as-of/2014")).toBe("one");
    expect(await text(archive, "as-of/20141231235959")).toBe("one");
    expect(await archive.ask(`/coll/as-of/2013id_/${URI}`)).toMatchObject({ status: 404 });
    for (const time of ["20141301", "201401010000000", "2014010100000000", "201401010000000000", "20140230"])
      expect(await archive.ask(`/coll/${time}id_/${URI}`)).toMatchObject({ status: 400 });
  });

  it("does not mean failed visits, but by their exact second or where there is nothing else", async () => {
    const failed = captureBytes({ uri: URI, date: "2014-06-01T00:00:00Z", payload: "busy", status: "503 Busy" });
    await using archive = await serveRecords([...THREE, failed]);
    expect(await text(archive, "20140601000001")).toBe("one");
    expect(await archive.ask(`/coll/20140601000000id_/${URI}`)).toMatchObject({ status: 503, text: "busy" });
    await using alone = await serveRecords([failed]);
    expect(await alone.ask(`/coll/2020id_/${URI}`)).toMatchObject({ status: 503, text: "busy" });
  });
});

describe("a captured redirect", () => {
  /** Follows Locations; throws where they come back. */
  async function follow(
    archive: ServedArchive,
    target: string,
  ): Promise<{ status: number; text: string; hops: number }> {
    const seen = new Set<string>();
    for (let at = target; ; ) {
      expect(seen.has(at)).toBe(false);
      seen.add(at);
      const { status, text, headers } = await archive.ask(at);
      if (headers["location"] === undefined) return { status, text, hops: seen.size - 1 };
      at = headers["location"].slice("http://archive.test".length);
    }
  }

  it("leads to the archived target at the time that was asked for", async () => {
    const records = [
      redirect("http://a.example/old", "2014-01-01T00:00:00Z", "/new?a=b#c"),
      visit("2014-01-01T00:00:01Z", "new", "http://a.example/new?a=b"),
    ];
    await using archive = await serveRecords(records);
    const reply = await archive.ask("/coll/2014id_/http://a.example/old");
    expect(reply).toMatchObject({
      status: 302,
      headers: { location: "http://archive.test/coll/2014id_/http://a.example/new?a=b#c" },
    });
    expect(await follow(archive, "/coll/2014id_/http://a.example/old")).toMatchObject({
      status: 200,
      text: "new",
      hops: 1,
    });
    const worker = await archive.ask("/coll/2014ir_/http://a.example/old");
    expect(worker).toMatchObject({
      status: 200,
      headers: { "x-redirect-status": "302", "x-orig-location": "http://a.example/new?a=b#c" },
    });
  });

  it("to its own key is passed over by time, and given as it is by its second and URL", async () => {
    const records = [
      redirect("http://a.example/", "2014-01-01T00:00:00Z", "https://www.a.example/"),
      visit("2013-01-01T00:00:00Z", "page", "https://www.a.example/"),
    ];
    await using archive = await serveRecords(records);
    expect(await follow(archive, "/coll/2014id_/http://a.example/")).toEqual({ status: 200, text: "page", hops: 0 });
    expect(await follow(archive, "/coll/20140101000000id_/http://a.example/")).toMatchObject({ status: 302, hops: 0 });
    expect(await follow(archive, "/coll/20140101000000id_/https://www.a.example/")).toMatchObject({ text: "page" });
    expect((await archive.ask("/coll/20140101000000ir_/http://a.example/")).text).toBe("page");
    expect(await follow(archive, "/coll/http://a.example/")).toMatchObject({ status: 200, text: "page" });
  });

  it("to another spelling of its URL in the same second is reached by its own, and leads nowhere", async () => {
    const [from, to] = ["http://a.example/dir", "http://a.example/dir/"];
    await using archive = await serveRecords([
      redirect(from, "2014-01-01T00:00:00Z", to),
      visit("2014-01-01T00:00:00Z", "page", to),
    ]);
    const reply = await archive.ask(`/coll/20140101000000id_/${from}`);
    expect([reply.status, reply.headers["location"]]).toEqual([302, undefined]);
    expect(await archive.ask(`/coll/20140101000000id_/${to}`)).toMatchObject({ status: 200, text: "page" });
    expect(await archive.ask(`/coll/2014id_/${from}`)).toMatchObject({ status: 200, text: "page" });
    expect(await archive.ask(`/coll/20140101000000ir_/${from}`)).toMatchObject({ status: 200, text: "page" });
  });

  it("never leads round in a circle", async () => {
    const [a, b, c] = ["http://a.example/a", "http://a.example/b", "http://a.example/c"];
    const records = [
      redirect(a, "2014-01-01T00:00:00Z", b),
      redirect(b, "2014-01-02T00:00:00Z", c),
      redirect(c, "2014-01-03T00:00:00Z", a),
      redirect("http://a.example/in", "2014-01-03T00:00:00Z", a),
      visit("2012-01-01T00:00:00Z", "old b", b),
    ];
    await using archive = await serveRecords(records);
    for (const url of [a, b, c, "http://a.example/in"])
      for (const time of ["2014", "20140101000000", "20140102000000", "20140103000000", ""])
        for (const form of ["id_", "mp_"]) {
          const end = await follow(archive, `/coll/${time}${form}/${url}`);
          expect([200, 302]).toContain(end.status);
        }
    expect(await follow(archive, `/coll/2014id_/${b}`)).toMatchObject({ status: 200, text: "old b" });
  });

  it("out of the web leads nowhere", async () => {
    await using archive = await serveRecords([redirect(URI, "2014-01-01T00:00:00Z", "javascript:alert(1)")]);
    const reply = await archive.ask(`/coll/2014id_/${URI}`);
    expect(reply.status).toBe(302);
    expect(reply.headers).not.toHaveProperty("location");
  });
});

describe("a TimeMap", () => {
  it("lists mementos as links, and looks at no Accept-Datetime", async () => {
    await using archive = await serveRecords(THREE);
    const reply = await archive.ask(`/coll/timemap/link/${URI}`, { headers: { "accept-datetime": "nonsense" } });
    expect(reply).toMatchObject({ status: 200, headers: { "content-type": "application/link-format" } });
    expect(reply.text.split(",\n")).toEqual([
      `<${URI}>; rel="original"`,
      `<http://archive.test/coll/timemap/link/${URI}>; rel="self"; type="application/link-format"; from="Wed, 01 Jan 2014 00:00:00 GMT"; until="Fri, 01 Jan 2016 00:00:00 GMT"`,
      `<http://archive.test/coll/${URI}>; rel="timegate"`,
      `<http://archive.test/coll/20140101000000id_/${URI}>; rel="first memento"; datetime="Wed, 01 Jan 2014 00:00:00 GMT"`,
      `<http://archive.test/coll/20150101000000id_/${URI}>; rel="memento"; datetime="Thu, 01 Jan 2015 00:00:00 GMT"`,
      `<http://archive.test/coll/20160101000000id_/${URI}>; rel="last memento"; datetime="Fri, 01 Jan 2016 00:00:00 GMT"\n`,
    ]);
    expect(await archive.ask("/coll/timemap/link/http://b.example/")).toMatchObject({ status: 404 });
  });

  it("comes as JSON and CDXJ, too", async () => {
    await using archive = await serveRecords(THREE);
    const json = JSON.parse((await archive.ask(`/coll/timemap/json/${URI}`)).text) as Record<string, unknown>;
    expect(json).toMatchObject({
      original_uri: URI,
      mementos: {
        first: { datetime: "2014-01-01T00:00:00Z", uri: `http://archive.test/coll/20140101000000id_/${URI}` },
      },
    });
    const cdxj = (await archive.ask(`/coll/timemap/cdxj/${URI}`)).text.split("\n");
    expect(cdxj.filter((line) => /^\d/.test(line)).map((line) => line.slice(0, 14))).toEqual([
      "20140101000000",
      "20150101000000",
      "20160101000000",
    ]);
  });

  it("of many captures comes in pages that list each once", async () => {
    const start = Date.UTC(2000, 0, 1);
    const records = Array.from({ length: 10_050 }, (_, i) =>
      visit(new Date(start + i * 60_000).toISOString(), `${i % 7}`),
    );
    await using archive = await serveRecords(records);
    const listed = new Set<string>();
    let pages = 0;
    for (let next: string | undefined = `/coll/timemap/link/${URI}`; next !== undefined; pages++) {
      const { text, status } = await archive.ask(next);
      expect(status).toBe(200);
      for (const [, uri] of text.matchAll(/<([^>]+)>; rel="[^"]*memento"/g)) listed.add(uri!);
      next = /<http:\/\/archive\.test([^>]+)>; rel="timemap"/.exec(text)?.[1];
    }
    expect({ pages, listed: listed.size }).toEqual({ pages: 2, listed: 10_050 });
  });
});

it("leads from the timeline to a TimeMap, and from one of a prefix to its CDX", async () => {
  await using archive = await serveRecords(THREE);
  expect((await archive.ask(`/coll/*/${URI}`)).headers["link"]).toBe(
    `<http://archive.test/coll/timemap/link/${URI}>; rel="timemap"; type="application/link-format"`,
  );
  expect((await archive.ask(`/coll/2014-2015*/${URI}*`)).headers["location"]).toBe(
    "http://archive.test/coll/cdx?url=http%3A%2F%2Fa.example%2F&matchType=prefix&from=2014&to=2015",
  );
});
