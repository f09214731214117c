/** Each call of the API against what the archive's own door answers; pages against streams; what rules hide. */
import { describe, expect, it } from "vitest";
import { archiveKey, type Lifespan } from "../../archive/index.ts";
import { formatIso, formatTimestamp } from "../../base/index.ts";
import { API_VISITS, apiRecord, apiTime, HOME, LOGO, MOVED, SECRET, TWICE } from "../../testing/api-archive.ts";
import { all, makeInput, openReader, openWriter } from "../../testing/archive-fixture.ts";
import { askHandler, type ServedArchive, serveRecords } from "../../testing/served-archive.ts";
import { hostOf, keyRange } from "../../url/index.ts";
import { AccessRules } from "../access/access-rules.ts";
import { Collection } from "../collection.ts";
import { serveArchives } from "../serve-archives.ts";
import { ENDPOINTS, type Endpoint } from "./endpoints.ts";
import { captureRow, changeRow, lifespanRow } from "./rows.ts";

const RECORDS = API_VISITS.map(apiRecord);

type Row = Readonly<Record<string, unknown>>;

async function ask(served: ServedArchive, call: string, headers: Record<string, string> = {}): Promise<Row> {
  const { status, text } = await served.ask(`/api/${call}`, { headers });
  expect(status, `${call}: ${text}`).toBe(200);
  return JSON.parse(text) as Row;
}

async function lines(served: ServedArchive, call: string): Promise<Row[]> {
  const { status, text, headers } = await served.ask(`/api/${call}`, { headers: { accept: "application/x-ndjson" } });
  expect(status, `${call}: ${text}`).toBe(200);
  expect(headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Row);
}

/** All pages, by their cursors. */
async function paged(
  served: ServedArchive,
  call: string,
  limit: number,
  between?: () => Promise<void>,
): Promise<Row[]> {
  const rows: Row[] = [];
  const join = call.includes("?") ? "&" : "?";
  for (let next: unknown = undefined, page = 0; next !== null; page++) {
    const answer = await ask(
      served,
      `${call}${join}limit=${limit}${next === undefined ? "" : `&cursor=${next as string}`}`,
    );
    const items = answer["items"] as Row[];
    expect(items.length).toBeLessThanOrEqual(limit);
    rows.push(...items);
    next = answer["next"];
    expect(page).toBeLessThan(1000);
    await between?.();
  }
  return rows;
}

/** As it is after it was written and read. */
function json(rows: readonly unknown[]): unknown {
  return JSON.parse(JSON.stringify(rows));
}

const encoded = (url: string) => encodeURIComponent(url);

describe("what is answered is what the archive answers", () => {
  it("at: the lifespan, the capture, and how sure it is", async () => {
    await using served = await serveRecords(RECORDS);
    await using archive = await openReader(served.disk);
    for (const [time, ms] of [
      ["20140102", apiTime(2) - 1],
      ["2014", apiTime(365) - 1],
      ["2014-01-03T00:00:00Z", apiTime(2) + 999],
    ] as const) {
      const moment = (await archive.at(HOME, ms))!;
      const answer = await ask(served, `at?url=${encoded(HOME)}&time=${time}`);
      expect(answer).toMatchObject({
        ...(json([lifespanRow(moment.lifespan)]) as Row[])[0]!,
        capture: json([captureRow(moment.capture)])![0 as never],
      });
      const isThen = time.startsWith("2014-01-03");
      expect(answer["certainty"]).toBe(isThen ? "observed" : moment.certainty);
    }
    expect(await ask(served, `at?url=${encoded(HOME)}`)).toMatchObject({ lastSeen: formatIso(apiTime(4)), end: null });
    expect(await ask(served, `at?url=${encoded(HOME)}&time=2`)).toMatchObject({ birth: formatIso(apiTime(4)) });
  });

  it("history, slice, changes, captures and same", async () => {
    await using served = await serveRecords(RECORDS);
    await using archive = await openReader(served.disk);
    const expected: [string, unknown][] = [];
    const put = <T>(call: string, rows: readonly T[], toJson: (row: T) => object) =>
      expected.push([call, json(rows.map(toJson))]);
    for (const url of [HOME, LOGO, MOVED, TWICE, SECRET]) {
      put(`history?url=${encoded(url)}`, await all(archive.history(url)), lifespanRow);
      put(`captures?url=${encoded(url)}`, await all(archive.captures({ url })), captureRow);
    }
    const [fromMs, toMs] = [apiTime(2), apiTime(4) - 1];
    const span = "from=20140103&to=20140104";
    put(`history?url=${encoded(HOME)}&${span}`, await all(archive.history(HOME, fromMs, toMs)), lifespanRow);
    put(`captures?${span}`, await all(archive.captures({ fromMs, toMs })), captureRow);
    put(
      `captures?site=b.example`,
      await all(archive.captures({ url: "http://b.example/", match: "domain" })),
      captureRow,
    );
    put("captures", await all(archive.captures({})), captureRow);
    put("slice?time=20140103", await all(archive.slice(toMs - 86_400_000)), lifespanRow);
    put("slice", await all(archive.slice(apiTime(1000))), lifespanRow);
    put(`slice?${span}`, await all(archive.span(fromMs, toMs)), lifespanRow);
    const prefix = keyRange("http://b.example/g", "prefix");
    put(`slice?prefix=${encoded("b.example/g")}`, await all(archive.slice(apiTime(1000), prefix)), lifespanRow);
    put("changes?from=20140101&to=20140104", await all(archive.changes(apiTime(1) - 1, toMs)), changeRow);
    put("changes?from=1990", await all(archive.changes(0, apiTime(1000))), changeRow);
    const [logo] = await all(archive.captures({ url: LOGO }));
    const same = await all(archive.same(logo!.sha256!));
    expect(same).toHaveLength(4);
    put(`same?sha256=${logo!.sha256!.toUpperCase()}`, same, captureRow);
    put(`same?url=${encoded(LOGO)}&time=2014`, same, captureRow);
    for (const [call, rows] of expected) {
      expect(rows, call).not.toHaveLength(0);
      expect(await lines(served, call), call).toEqual(rows);
      expect((await ask(served, `${call}${call.includes("?") ? "&" : "?"}limit=10000`))["items"], call).toEqual(rows);
    }
  });

  it("versions: each content once, with its lifespans; a redirect to another place is another", async () => {
    await using served = await serveRecords(RECORDS);
    await using archive = await openReader(served.disk);
    const home = await lines(served, `versions?url=${encoded(HOME)}`);
    expect(
      home.map(({ captures, lifespanCount, firstSeen, lastSeen }) => [captures, lifespanCount, firstSeen, lastSeen]),
    ).toEqual([
      [3, 2, formatIso(apiTime(0)), formatIso(apiTime(3))],
      [1, 1, formatIso(apiTime(2)), formatIso(apiTime(2))],
      [1, 1, formatIso(apiTime(4)), formatIso(apiTime(4))],
    ]);
    expect(home[0]!["timestamps"]).toEqual({ firstSeen: "20140101000000", lastSeen: "20140104000000" });
    expect((await lines(served, `versions?url=${encoded(MOVED)}`)).map(({ lifespanCount }) => lifespanCount)).toEqual([
      2, 1,
    ]);
    for (const url of [HOME, MOVED, TWICE, LOGO]) {
      const found = await lines(served, `versions?url=${encoded(url)}`);
      const lifespans = await all(archive.history(url));
      const sum = (rows: readonly { captures: number }[]) => rows.reduce((total, { captures }) => total + captures, 0);
      expect(sum(found as never)).toBe(sum(lifespans));
      expect(found).toHaveLength(new Set(lifespans.map(({ identity }) => identity)).size);
    }
  });

  it("urls, hosts, pages and suggestions", async () => {
    await using served = await serveRecords(RECORDS);
    const keys = [...new Set(API_VISITS.map(({ url }) => archiveKey(url)))].sort();
    const urls = await lines(served, "urls");
    expect(urls.map(({ key }) => key)).toEqual(keys);
    expect(urls.find(({ key }) => key === archiveKey(HOME))).toEqual({
      url: HOME,
      key: "example,a)/",
      firstCapture: formatIso(apiTime(0)),
      timestamp: formatTimestamp(apiTime(0)),
    });
    expect((await lines(served, "urls?site=b.example")).map(({ key }) => key)).toEqual(
      keys.filter((key) => key.startsWith("example,b)")),
    );
    expect((await lines(served, "hosts")).map(({ host }) => host)).toEqual([...new Set(keys.map(hostOf))]);
    expect(await lines(served, "hosts?site=a.example")).toEqual([{ host: "a.example", key: "example,a)" }]);
    const isPage = ({ status = "200", mime = "text/html" }: (typeof API_VISITS)[number]) =>
      status.startsWith("200") && mime === "text/html";
    const pageKeys = [...new Set(API_VISITS.filter(isPage).map(({ url }) => archiveKey(url)))].sort();
    const pages = await lines(served, "pages");
    expect(pages.map(({ key }) => key)).toEqual(pageKeys);
    expect(pages.find(({ url }) => url === HOME)).toMatchObject({
      captures: 5,
      lifespanCount: 4,
      lastSeen: formatIso(apiTime(4)),
    });
    expect((await lines(served, "pages?time=20140101")).map(({ url }) => url)).toEqual([HOME, "http://b.example/gone"]);
    const suggested = async (typed: string) =>
      ((await ask(served, `suggest?prefix=${encoded(typed)}`))["suggestions"] as Row[]).map(({ url }) => url);
    expect(await suggested("b.ex")).toEqual(["http://b.example/", "http://b.example:8080/"]);
    for (const typed of ["sec", "SEC", "https://www.sec", "//secret.example", "www.secret.example"])
      expect((await suggested(typed))[0]).toBe("http://secret.example/");
    for (const typed of ["a.example/lo", "http://www.a.example/lo", "A.example/LO"])
      expect(await suggested(typed)).toEqual([LOGO]);
    expect(await suggested("nobody")).toEqual([]);
  });

  it("stats: the whole, and each group", async () => {
    await using served = await serveRecords(RECORDS);
    await using archive = await openReader(served.disk);
    expect(await ask(served, "stats")).toEqual({ collection: "coll", ...(await archive.totals()) });
    for (const by of ["host", "mime", "year"] as const) {
      const groups = (await all(archive.stats(by))).map(({ name, ...figures }) => ({ [by]: name, ...figures }));
      expect(await lines(served, `stats?by=${by}`)).toEqual(groups);
      expect(await paged(served, `stats?by=${by}`, 1)).toEqual(groups);
    }
    const [crawl] = await lines(served, "stats?by=crawl");
    expect(crawl!["crawl"]).toMatch(/^\d+\.warc\.gz$/);
  });
});

const LISTS = [
  ...[HOME, MOVED, TWICE].flatMap((url) =>
    ["history", "versions", "captures"].map((name) => `${name}?url=${encoded(url)}`),
  ),
  "captures",
  "captures?site=b.example&from=20140102",
  "slice",
  "slice?from=2014",
  "slice?from=20140102&to=20140104&site=b.example",
  "changes?from=1990",
  "changes?from=1990&site=a.example",
  `same?url=${encoded(LOGO)}`,
  "hosts",
  "hosts?site=example",
  "urls",
  "urls?prefix=b.example/",
  "pages",
  "pages?from=20140102",
];

describe("pages", () => {
  it("follow one another to exactly the stream", async () => {
    await using served = await serveRecords(RECORDS);
    for (const call of LISTS) {
      const whole = await lines(served, call);
      expect(whole.length, call).toBeGreaterThan(0);
      for (const limit of [1, 2, 7]) expect(await paged(served, call, limit), `${call} by ${limit}`).toEqual(whole);
      expect(await lines(served, `${call}${call.includes("?") ? "&" : "?"}limit=2`), call).toEqual(whole.slice(0, 2));
    }
  });

  it("go on where they were when others commit", async () => {
    for (const call of LISTS) {
      await using served = await serveRecords(RECORDS);
      const whole = await lines(served, call);
      let day = 0;
      const commit = async () => {
        await using writer = openWriter(served.disk);
        const url = `http://a.example/-before-all-others-${++day}`;
        await writer.add([makeInput(served.disk, [apiRecord({ url, day, payload: "new" })])]);
        await served.collection.refresh();
      };
      const rows = await paged(served, call, 4, commit);
      const kept = new Set(whole.map(({ key, host }) => key ?? host));
      const isOld = ({ key, host }: Row) => kept.has(key ?? host);
      expect(
        rows.filter(isOld).map(({ url, key }) => [url, key]),
        call,
      ).toEqual(whole.map(({ url, key }) => [url, key]));
    }
  });

  it("come in batches of text that are worth a write", async () => {
    const records = Array.from({ length: 400 }, (_, i) =>
      apiRecord({ url: `http://a.example/${i}`, day: i, payload: "x" }),
    );
    await using served = await serveRecords(records);
    const { signal } = new AbortController();
    const answer = await served.handler({
      method: "GET",
      target: "/api/captures?format=ndjson",
      headers: { host: "archive.test" },
      signal,
      body: () => Promise.resolve(new Uint8Array(0)),
    });
    const sizes: number[] = [];
    for await (const piece of answer.body as AsyncIterable<string>) sizes.push(piece.length);
    expect(sizes.length).toBeGreaterThan(2);
    for (const size of sizes.slice(0, -1)) expect(Math.abs(size - 65_536)).toBeLessThan(2000);
  });
});

describe("what rules hide", () => {
  const exclude = new AccessRules([{ prefix: "example,secret)", verdict: "exclude" }]);
  const block = new AccessRules([{ prefix: "example,secret)", verdict: "block" }]);

  it("is in no list, no count and no suggestion", async () => {
    const open = API_VISITS.filter(({ url }) => !url.includes("secret"));
    await using served = await serveRecords(RECORDS, { rules: exclude });
    await using bare = await serveRecords(open.map(apiRecord));
    for (const call of [...LISTS, "stats?by=host", "stats?by=mime"]) {
      const { text } = await served.ask(`/api/${call}${call.includes("?") ? "&" : "?"}format=ndjson`);
      expect(text, call).not.toContain("secret");
      const names = (rows: readonly Row[]) =>
        rows.map(({ url, key, host, mime, captures }) => [url, key, host, mime, captures]);
      expect(names(await lines(served, call)), call).toEqual(names(await lines(bare, call)));
    }
    const { captures, contents } = await ask(served, "stats");
    expect({ captures, contents }).toEqual(
      await ask(bare, "stats").then((all) => ({ captures: all["captures"], contents: all["contents"] })),
    );
    for (const typed of ["sec", "secret.example/"])
      expect(await ask(served, `suggest?prefix=${typed}`)).toEqual({ suggestions: [] });
  });

  it("is 404 where it is excluded, and 451 where it is blocked", async () => {
    for (const [rules, status, code] of [
      [exclude, 404, "HT_NOT_FOUND"],
      [block, 451, "HT_BLOCKED"],
    ] as const) {
      await using served = await serveRecords(RECORDS, { rules });
      for (const name of ["at", "history", "versions", "captures", "same"]) {
        const answer = await served.ask(`/api/${name}?url=${encoded(SECRET)}`);
        expect(answer.status, name).toBe(status);
        expect(JSON.parse(answer.text), name).toMatchObject({ error: { code } });
      }
    }
  });

  it("changes no lifespan that is shown: those of other captures are", async () => {
    const rules = new AccessRules([
      { prefix: "example,a)/", verdict: "exclude", fromMs: apiTime(2), toMs: apiTime(2) },
    ]);
    await using served = await serveRecords(RECORDS, { rules });
    await using bare = await serveRecords(
      API_VISITS.filter(({ url, day }) => url !== HOME || day !== 2).map(apiRecord),
    );
    const times = (rows: readonly Row[]) =>
      rows.map(
        ({ birth, end, lastSeen, captures, sha256 }) =>
          ({ birth, end, lastSeen, captures, sha256 }) as Partial<Lifespan>,
      );
    const call = `history?url=${encoded(HOME)}`;
    expect(times(await lines(served, call))).toEqual(times(await lines(bare, call)));
    expect((await lines(served, `versions?url=${encoded(HOME)}`)).map(({ captures }) => captures)).toEqual([3, 1]);
  });
});

describe("what is wrong", () => {
  it("is named, with the parameter", async () => {
    await using served = await serveRecords(RECORDS);
    const url = `url=${encoded(HOME)}`;
    const wrong: readonly [string, number, string?][] = [
      ["at", 400, "url"],
      ["at?url=", 400, "url"],
      [`at?${url}&time=20141301`, 400, "time"],
      [`at?${url}&time=yesterday`, 400, "time"],
      [`at?${url}&time=2014-02-31`, 400, "time"],
      [`at?${url}&when=2014`, 400, "when"],
      [`at?${url}&${url}`, 400, "url"],
      [`at?${url}&time=1999`, 404],
      [`at?${url}&coll=other`, 404],
      ["at?url=http://nobody.example/", 404],
      ["history?url=http://nobody.example/", 404],
      [`history?${url}&from=2015&to=2014`, 400, "to"],
      [`history?${url}&limit=0`, 400, "limit"],
      [`history?${url}&limit=1e3`, 400, "limit"],
      [`history?${url}&cursor=AAAA`, 400, "cursor"],
      [`history?${url}&cursor=%20`, 400, "cursor"],
      ["captures?url=http://a.example/&site=a.example", 400, "url"],
      ["captures?site=a.example&prefix=b.example", 400, "prefix"],
      ["captures?site=mailto:x", 400, "site"],
      [`captures?site=b.example&cursor=${Buffer.from("example,a)/").toString("base64url")}`, 400, "cursor"],
      ["slice?time=2014&from=2013", 400, "time"],
      ["changes", 400, "from"],
      ["same", 400, "sha256"],
      ["same?sha256=abc", 400, "sha256"],
      ["stats?by=size", 400, "by"],
      ["hosts?format=xml", 400, "format"],
      ["suggest", 400, "prefix"],
    ];
    for (const [call, status, parameter] of wrong) {
      const answer = await served.ask(`/api/${call}`);
      expect(answer.status, `${call}: ${answer.text}`).toBe(status);
      expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
      const { error } = JSON.parse(answer.text) as { error: Row };
      expect(error["code"], call).toBe(status === 400 ? "HT_USAGE" : "HT_NOT_FOUND");
      expect(error["parameter"], call).toBe(parameter);
    }
  });

  it("is a collection that is not named where there are several", async () => {
    await using served = await serveRecords(RECORDS);
    await using archive = await openReader(served.disk);
    const both = serveArchives([served.collection, new Collection("other", archive)]);
    for (const [name, { required, optional }] of Object.entries<Endpoint>(ENDPOINTS))
      expect([...required, ...optional], name).toContain("coll");
    for (const [query, status] of [
      ["", 400],
      ["?coll=coll", 200],
      ["?coll=other", 200],
      ["?coll=none", 404],
    ] as const)
      expect((await askHandler(both, `/api/hosts${query}`)).status, query).toBe(status);
  });
});
