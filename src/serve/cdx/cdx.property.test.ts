/**
 * CDX against a plain list of the same captures: filters, collapsing, spans, limits, pages and resume keys by code that shares
 * nothing with the handlers but the archive. And questions of strangers, none of which may be an error of the server's.
 */
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import type { Handler } from "../../http/index.ts";
import { captureBytes, idOf, noise, revisitBytes } from "../../testing/capture-text.ts";
import { ask, askTarget, collectionOf, everyCapture } from "../../testing/cdx-collection.ts";
import type { Collection } from "../collection.ts";
import { doppelganger } from "./memory-handlers.ts";
import { outbackQuery } from "./outback-query.ts";
import { pywbCdx } from "./pywb-cdx.ts";
import { waybackAvailable } from "./wayback-available.ts";
import { waybackCdx, waybackTimemap } from "./wayback-cdx.ts";

const COUNT = 6500;
const DIGESTS = 7;

/** The same every time: URLs of two hosts, few payloads, times that repeat. */
function crawl(): Buffer[] {
  return Array.from({ length: COUNT }, (_, i) => {
    const uri = `http://${i % 3 === 0 ? "img." : ""}a.example/${i % 13}${i % 5 === 0 ? "?q=x" : ""}`;
    const date = new Date(Date.UTC(2010, 0, 1) + ((i * 7919 * 3_600_000) % (8 * 365 * 86_400_000))).toISOString();
    const payload = noise(`payload ${(i * i) % DIGESTS}`, 300);
    const id = idOf(`record ${i}`);
    if (i % 11 === 0) return revisitBytes({ uri, date, id, digest: "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" });
    const status = ["200 OK", "404 Not Found", "500 Sorry"][i % 17 === 0 ? 2 : i % 7 === 0 ? 1 : 0]!;
    const mime = ["text/html", "image/png", "application/json"][i % 3]!;
    return captureBytes({ uri, date, payload, status, mime, id });
  });
}

let collection: Collection;
let wayback: Handler;
let pywb: Handler;
/** Rows of the Wayback's seven fields, as they should be. */
let model: readonly (readonly string[])[];

beforeAll(async () => {
  collection = await collectionOf(crawl());
  wayback = waybackCdx(collection);
  pywb = pywbCdx(collection, (_, timestamp, url) => `/coll/${timestamp}/${url}`);
  model = (await everyCapture(collection)).map((capture) => [
    capture.key,
    new Date(capture.timeMs!).toISOString().replace(/\D/g, "").slice(0, 14),
    capture.url,
    capture.type === "revisit" ? "warc/revisit" : (capture.mime ?? "unk"),
    String(capture.status ?? "-"),
    (capture.sha1 ?? capture.claim ?? "-").replace("sha1:", ""),
    capture.length === 0 ? "-" : String(capture.length),
  ]);
  expect(model).toHaveLength(COUNT);
});

const ALL = "url=*.a.example";
const FIELDS = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"];
const rowsOf = (lines: readonly string[]) => lines.map((line) => line.split(" "));

const field = fc.constantFrom(0, 1, 2, 3, 4, 5);
const piece = fc.constantFrom(
  "2010",
  "a",
  "20",
  "text",
  "/html",
  "img",
  ".",
  "0",
  "example",
  "A",
  "warc/revisit",
  "404",
);
const expression = fc
  .array(fc.oneof(piece, fc.constantFrom(".*", "[0-9]", "(a|2)", ".", "\\.", "x?", "[^/]*")), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join(""));
const filters = fc.array(fc.record({ at: field, text: expression, inverted: fc.boolean() }), { maxLength: 2 });
const collapses = fc.array(fc.record({ at: fc.constantFrom(0, 1, 3, 4, 5), size: fc.constantFrom(0, 1, 4, 6, 10) }), {
  maxLength: 2,
});
const digits = fc.constantFrom(
  "2",
  "20",
  "201",
  "2012",
  "20130",
  "201407",
  "20150231",
  "201609091234",
  "20171231235959",
);

it("selects, collapses and counts as a walk over the list does", async () => {
  const question = fc.record({
    filters,
    collapses,
    from: fc.option(digits, { nil: undefined }),
    to: fc.option(digits, { nil: undefined }),
    limit: fc.option(fc.integer({ min: -40, max: 40 }), { nil: undefined }),
    offset: fc.option(fc.nat(20), { nil: undefined }),
    reverse: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(question, async ({ filters, collapses, from, to, limit, offset, reverse }) => {
      const query = [
        ALL,
        ...filters.map(
          ({ at, text, inverted }) => `filter=${encodeURIComponent(`${inverted ? "!" : ""}${FIELDS[at]}:${text}`)}`,
        ),
        ...collapses.map(({ at, size }) => `collapse=${FIELDS[at]}${size === 0 ? "" : `:${size}`}`),
        ...(from === undefined ? [] : [`from=${from}`]),
        ...(to === undefined ? [] : [`to=${to}`]),
        ...(limit === undefined ? [] : [`limit=${limit}`]),
        ...(offset === undefined ? [] : [`offset=${offset}`]),
        ...(reverse ? ["sort=reverse"] : []),
        "showSkipCount=true&lastSkipTimestamp=true",
      ].join("&");
      const low = `${from ?? ""}${"00000101000000".slice(from?.length ?? 0)}`;
      const high = `${to ?? ""}${"99991231235959".slice(to?.length ?? 0)}`;
      let rows: string[][] = [];
      let token: string | undefined;
      for (const row of model) {
        if (row[1]! < low || row[1]! > high) continue;
        const passes = filters.every(
          ({ at, text, inverted }) => new RegExp(`^(?:${text})$`).test(row[at]!) !== inverted,
        );
        const own = collapses.map(({ at, size }) => row[at]!.slice(0, size === 0 ? undefined : size)).join("|");
        if (passes && (collapses.length === 0 || own !== token)) {
          rows.push([...row, "0", row[1]!]);
          token = own;
        } else if (rows.length > 0) {
          const last = rows.at(-1)!;
          last[7] = String(Number(last[7]) + 1);
          last[8] = row[1]!;
        }
      }
      if (limit !== undefined && limit < 0) rows = rows.slice(limit);
      else if (reverse) rows.reverse();
      rows = rows.slice(offset ?? 0);
      if (limit !== undefined && limit > 0) rows = rows.slice(0, limit);
      const answer = await ask(wayback, query);
      expect(answer.status).toBe(200);
      expect(rowsOf(answer.lines)).toEqual(rows);
    }),
    { numRuns: 150 },
  );
});

it("filters in pywb's way as Python would", async () => {
  const names = ["urlkey", "timestamp", "url", "mime", "status", "digest"];
  const filter = fc.record({
    at: fc.constantFrom(0, 1, 2, 4, 5),
    text: expression,
    inverted: fc.boolean(),
    sign: fc.constantFrom("", "=", "~"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(filter, { minLength: 1, maxLength: 3 }), async (filters) => {
      const query = filters.map(
        ({ at, text, inverted, sign }) =>
          `filter=${encodeURIComponent(`${inverted ? "!" : ""}${sign}${names[at]}:${text}`)}`,
      );
      const isLike = (sign: string, text: string, value: string) =>
        sign === "=" ? value === text : sign === "~" ? new RegExp(`^(?:${text})`).test(value) : value.includes(text);
      const told = (value: string | undefined) => (value === "-" ? "" : value!);
      const rows = model.filter((row) =>
        filters.every(({ at, text, inverted, sign }) => isLike(sign, text, told(row[at])) !== inverted),
      );
      const answer = await ask(pywb, `${ALL}&${query.join("&")}&output=text&fl=urlkey,timestamp,url`);
      expect(rowsOf(answer.lines)).toEqual(rows.map((row) => row.slice(0, 3)));
    }),
    { numRuns: 100 },
  );
});

it("collapses digests of one URL as walking its rows does", async () => {
  for (let i = 0; i < 13; i++) {
    const url = `http://a.example/${i}`;
    const own = model.filter(([key]) => key === `example,a)/${i}`);
    const versions = own.filter((row, at) => row[5] !== own[at - 1]?.[5]);
    const { lines } = await ask(wayback, `url=${url}&collapse=digest`);
    expect(rowsOf(lines)).toEqual(versions);
    expect(own.length).toBeGreaterThan(versions.length);
  }
});

it("makes the whole of pages, and of what resume keys lead to", async () => {
  const pages = Number((await ask(wayback, `${ALL}&showNumPages=true&pageSize=1`)).text);
  expect(pages).toBe(Math.ceil(COUNT / 3000));
  for (const handler of [wayback, pywb]) {
    const output =
      handler === pywb ? "&output=text&fl=urlkey,timestamp,url,status" : "&fl=urlkey,timestamp,original,statuscode";
    const found: string[] = [];
    for (let page = 0; page < pages; page++)
      found.push(...(await ask(handler, `${ALL}&page=${page}&pageSize=1${output}`)).lines);
    expect(rowsOf(found)).toEqual(model.map((row) => [row[0], row[1], row[2], row[4]]));
  }
  const resumed: string[] = [];
  for (let key = ""; ; ) {
    const { lines } = await ask(wayback, `${ALL}&limit=777&showResumeKey=true${key}`);
    resumed.push(...lines.slice(0, 777));
    if (lines[777] !== "") break;
    key = `&resumeKey=${lines[778]}`;
  }
  expect(rowsOf(resumed)).toEqual(model);
});

it("comes in pieces that are worth a write", async () => {
  const { pieces, text } = await ask(wayback, ALL);
  expect(pieces).toBe(Math.ceil(text.length / (1 << 16)));
  expect(rowsOf(text.split("\n").slice(0, -1))).toEqual(model);
  const json = await ask(wayback, `${ALL}&output=json`);
  expect((JSON.parse(json.text) as string[][]).slice(1)).toEqual(model);
});

it("takes the last of many after counting them", async () => {
  const { lines } = await ask(wayback, `${ALL}&limit=-12000&offset=6000&collapse=length`);
  const { lines: all } = await ask(wayback, `${ALL}&collapse=length`);
  expect(lines).toEqual(all.slice(-12_000).slice(6000));
});

it("stops when nobody waits any more", async () => {
  const stop = new AbortController();
  const body = () => Promise.resolve(new Uint8Array(0));
  const answer = await wayback({ method: "GET", target: `/cdx?${ALL}`, headers: {}, signal: stop.signal, body });
  let size = 0;
  for await (const piece of answer.body as AsyncIterable<string>) {
    size += piece.length;
    stop.abort();
  }
  expect(size).toBeLessThan(5 * (1 << 16));
});

it("runs expressions in linear time", async () => {
  for (const text of ["(a+)+$", "(.*)*x", "(a|a)*b", "(.*a){12}b"]) {
    const start = performance.now();
    const { status } = await ask(pywb, `${ALL}&filter=${encodeURIComponent(`~url:${text}`)}`);
    expect(status).toBe(200);
    expect(performance.now() - start).toBeLessThan(10_000);
  }
});

const NAMES =
  "url matchType from to limit offset sort closest filter fl fields output collapse collapseTime resolveRevisits showDupeCount showSkipCount lastSkipTimestamp page pageSize showNumPages showPagedIndex showResumeKey resumeKey fastLatest gzip reverse q count start_page timestamp uri".split(
    " ",
  );
const odd = fc.oneof(
  fc.constantFrom(
    "a.example",
    "*.a.example",
    "http://a.example/1",
    "*",
    "exact",
    "domain",
    "prefix",
    "host",
    "json",
    "text",
  ),
  fc.constantFrom(
    "true",
    "false",
    "1",
    "0",
    "-1",
    "-7",
    "99999999999999999999",
    "2014",
    "closest",
    "reverse",
    "%E9",
    "%",
  ),
  fc.constantFrom(
    "digest",
    "timestamp:4",
    "!statuscode:200",
    "~url:(",
    "=mime:text/html",
    "url,timestamp",
    "type:urlquery url:a.example",
  ),
  fc.string({ unit: "binary", maxLength: 12 }),
);
const anyQuery = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), odd, fc.boolean()), { maxLength: 6 })
  .map((pairs) =>
    pairs
      .map(([name, value, raw]) => `${name}=${raw ? value : encodeURIComponent(value.replace(/\p{Surrogate}/gu, ""))}`)
      .join("&"),
  );

it("answers every question, whatever it is", async () => {
  const small = await collectionOf(crawl().slice(0, 60));
  const memento = () => "";
  const handlers = [
    waybackCdx(small),
    waybackTimemap(small),
    pywbCdx(small, memento),
    outbackQuery(small),
    waybackAvailable(small, memento),
    doppelganger(small),
  ];
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(fc.nat(handlers.length - 1), fc.boolean(), anyQuery, async (which, named, query) => {
      const target = `/cdx?${named ? "url=a.example/1&" : ""}${query}`;
      const { status } = await askTarget(handlers[which]!, target);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      expect([200, 400, 404]).toContain(status);
    }),
    { numRuns: 5000 },
  );
  expect(statuses.get(200)).toBeGreaterThan(500);
  expect(statuses.get(400)).toBeGreaterThan(500);
});
