/** Every route keeps what access rules hide. A route without a case here fails. */
import { describe, expect, it } from "vitest";
import { digestOf } from "../base/index.ts";
import { captureBytes } from "../testing/capture-text.ts";
import { type ServedArchive, serveRecords } from "../testing/served-archive.ts";
import { parseAccessRules, ROUTES } from "./index.ts";

const HIDDEN = "http://hidden.example/secret";
const SEEN = "http://seen.example/page";
/** The hidden one is also the only capture of its host and of its payload. */
const PAYLOAD = "this must not be seen";
const sha256 = digestOf("sha256", Buffer.from(PAYLOAD)).hex;
const sha1 = digestOf("sha1", Buffer.from(PAYLOAD)).hex;
const records = [
  captureBytes({ uri: HIDDEN, date: "2015-01-01T00:00:00Z", payload: PAYLOAD, mime: "text/x-secret" }),
  captureBytes({ uri: SEEN, date: "2014-01-01T00:00:00Z", payload: "<p>one", mime: "text/html" }),
];

/** Targets that would show the hidden capture without rules, or count it; all of a route's. */
const CASES: Readonly<Record<string, readonly string[]>> = {
  "/": ["/", "/?format=json", "/?q=hidden"],
  "/static/<file>": ["/static/none.css"],
  "/<coll>/": ["/coll/?q=hid", "/coll/?q=secret&format=json", "/coll/", "/coll/?format=json"],
  "/<coll>?q=type:urlquery…": [
    `/coll?q=type:urlquery+url:${encodeURIComponent(HIDDEN)}`,
    "/coll?q=type:prefixquery+url:hidden.example/",
  ],
  "/<coll>/cdx": [
    `/coll/cdx?url=${HIDDEN}`,
    "/coll/cdx?url=hidden.example&matchType=domain",
    "/coll/cdx?url=*.example&output=json",
  ],
  "/<coll>/timemap/cdx": [`/coll/timemap/cdx?url=${HIDDEN}`, `/web/timemap/cdx?url=${HIDDEN}&limit=-1`],
  "/<coll>/timemap/{link,json,cdxj}/<url>": ["link", "json", "cdxj"].map((form) => `/coll/timemap/${form}/${HIDDEN}`),
  "/<coll>/record/<time>/<url>": [`/coll/record/2015/${HIDDEN}`],
  "/<coll>/segments/<file>": ["/coll/segments/000001.warc.gz"],
  "/<coll>/*/<url>": [`/coll/*/${HIDDEN}`, `/coll/2015*/${HIDDEN}`],
  "/<coll>/timeline": [`/coll/timeline?url=${HIDDEN}`, `/coll/timeline?url=${HIDDEN}&format=csv`],
  "/<coll>/captures": [`/coll/captures?url=${HIDDEN}`, `/coll/captures?url=${HIDDEN}&format=json`],
  "/<coll>/feed": [`/coll/feed?url=${HIDDEN}`, "/coll/feed?site=hidden.example", "/coll/feed?site=example"],
  "/<coll>/<time>id_/<url>": [`/coll/20150101000000id_/${HIDDEN}`, `/coll/as-of/2016id_/${HIDDEN}`],
  "/<coll>/<time>ir_/<url>": [`/coll/20150101000000ir_/${HIDDEN}`, `/coll/as-of/2016ir_/${HIDDEN}`],
  "/<coll>/<time>st_/<url>": [`/coll/2016st_/${HIDDEN}`],
  "/<coll>/replay": [`/coll/replay?url=${HIDDEN}&time=2016`],
  "/<coll>/parts": [`/coll/parts?url=${HIDDEN}&time=2016&format=json`, `/coll/parts?url=${HIDDEN}&fragment=1`],
  "/<coll>/capture": [`/coll/capture?url=${HIDDEN}&time=2016&format=json`],
  "/<coll>/page.wacz": [`/coll/page.wacz?url=${HIDDEN}&time=2016`],
  "/<coll>/<time>mp_/<url>": [`/coll/2016mp_/${HIDDEN}`],
  "/<coll>/<time>/<url>": [`/coll/2016/${HIDDEN}`],
  "/<coll>/<url>": [`/coll/${HIDDEN}`, `/coll/as-of/${HIDDEN}`],
  "/<coll>/duplication": [
    "/coll/duplication",
    "/coll/duplication?format=json",
    ...["across", "mime", "crawl", "host", "year", "saved", "seen"].map(
      (table) => `/coll/duplication?format=csv&table=${table}`,
    ),
  ],
  "/<coll>/duplication/<sha256>": [`/coll/duplication/${sha256}`],
  "/<coll>/crawls": ["/coll/crawls", "/coll/crawls?format=json", "/coll/crawls?format=csv"],
  "/<coll>/crawls/<number>": ["/coll/crawls/1", "/coll/crawls/1?format=json"],
  "/<coll>/compare": [`/coll/compare?url=${HIDDEN}`, `/coll/compare?url=${HIDDEN}&a=2016&b=2016&format=json`],
  "/<coll>/site/<host>": [
    "/coll/site/hidden.example",
    "/coll/site/hidden.example?at=2016&format=json",
    "/coll/site/hidden.example?since=2014&at=2016&format=json",
    "/coll/site/hidden.example?at=2016&format=csv",
    "/coll/site/hidden.example?since=2014&at=2016&format=csv",
  ],
  "/<coll>/site/<host>/export": ["/coll/site/hidden.example/export?at=2016"],
  "/cdx/search/cdx": [`/cdx/search/cdx?url=${HIDDEN}`, "/cdx/search/cdx?url=hidden.example&matchType=host&output=json"],
  "/cdx/search/xd": [`/cdx/search/xd?url=${HIDDEN}`],
  "/cdx/hex": [`/cdx/hex?url=${HIDDEN}`],
  "/wayback/available": [`/wayback/available?url=${HIDDEN}`],
  "/api/records/<digest>": [`/api/records/${sha1}?uri=${HIDDEN}`],
  "/api/": ["/api/"],
  "/api/openapi.json": ["/api/openapi.json"],
  "/api/at": [`/api/at?url=${HIDDEN}&time=2016`],
  "/api/history": [`/api/history?url=${HIDDEN}`],
  "/api/versions": [`/api/versions?url=${HIDDEN}`],
  "/api/captures": [`/api/captures?url=${HIDDEN}`, "/api/captures?site=hidden.example"],
  "/api/slice": ["/api/slice?time=2016"],
  "/api/changes": ["/api/changes?from=2010&to=2016"],
  "/api/same": [`/api/same?sha256=${sha256}`],
  "/api/stats": ["/api/stats", "/api/stats?by=host", "/api/stats?by=mime", "/api/stats?by=year"],
  "/api/hosts": ["/api/hosts"],
  "/api/urls": ["/api/urls"],
  "/api/pages": ["/api/pages"],
  "/api/suggest": ["/api/suggest?prefix=hid", "/api/suggest?prefix=hidden.example/"],
};

/** What an answer may say although the question did not. The question itself may stand in it. */
const DATES = ["20150101000000", "2015-01-01", "Thu, 01 Jan 2015"];
const TELLTALES = [PAYLOAD, sha256, sha1, ...DATES, "text/x-secret", "hidden.example", "example,hidden"];

it("every route has a case, and every case a route", () => {
  expect(Object.keys(CASES).sort()).toEqual(ROUTES.map(({ pattern }) => pattern).sort());
});

function without(text: string, target: string): string {
  return text.replaceAll(target, "").replaceAll(encodeURIComponent(target), "");
}

async function leaks(archive: ServedArchive, target: string): Promise<string[]> {
  const { text, headers } = await archive.ask(target);
  const all = without(`${text}\n${JSON.stringify(headers)}`, target);
  const asked = decodeURIComponent(target);
  return TELLTALES.filter((telltale) => !asked.includes(telltale) && all.includes(telltale));
}

describe.each(["block", "exclude"])("with rules that %s", (access) => {
  const rules = parseAccessRules(JSON.stringify({ rules: [{ host: "hidden.example", access }] }), "rules.json");

  it.each(Object.keys(CASES))("%s shows nothing that is hidden", async (pattern) => {
    await using archive = await serveRecords(records, { rules, serveFiles: true });
    for (const target of CASES[pattern]!) {
      const { status } = await archive.ask(target);
      expect([target, status < 500]).toEqual([target, true]);
      expect([target, await leaks(archive, target)]).toEqual([target, []]);
    }
  });
});

it("the cases would show it without rules", async () => {
  await using archive = await serveRecords(records, { serveFiles: true });
  /** They say nothing of single captures; or only that they are there, and in bytes. */
  const silent = ["/static/<file>", "/api/openapi.json", "/api/pages"];
  const files = ["/<coll>/site/<host>/export", "/<coll>/segments/<file>", "/<coll>/record/<time>/<url>"];
  for (const [pattern, targets] of Object.entries(CASES)) {
    if (silent.includes(pattern)) continue;
    const found: boolean[] = [];
    for (const target of targets) {
      const isThere = (await archive.ask(target)).status < 400;
      found.push(isThere && (files.includes(pattern) || (await leaks(archive, target)).length > 0));
    }
    expect([pattern, found.includes(true)]).toEqual([pattern, true]);
  }
});
