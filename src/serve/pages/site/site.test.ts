/** The pages of a site, compared with what a plain list of its captures says. */
import { describe, expect, it } from "vitest";
import { formatIso } from "../../../base/index.ts";
import { captureBytes, idOf } from "../../../testing/capture-text.ts";
import { type ServedArchive, serveRecords } from "../../../testing/served-archive.ts";
import { bufferSource, openZipEntry, readZipEntries } from "../../../warc/index.ts";
import { parseAccessRules } from "../../access/parse-rules.ts";

interface Seen {
  readonly path: string;
  readonly day: string;
  readonly payload: string;
  readonly mime?: string;
  readonly status?: string;
}

const CAPTURES: readonly Seen[] = [
  { path: "/", day: "2014-01-01", payload: "home 1" },
  { path: "/", day: "2014-02-01", payload: "home 2" },
  { path: "/", day: "2014-03-01", payload: "home 1" },
  { path: "/about.html", day: "2014-01-01", payload: "about" },
  { path: "/news/", day: "2014-01-05", payload: "news" },
  { path: "/news/2014/a.html", day: "2014-01-05", payload: "a" },
  { path: "/news/2014/b.html", day: "2014-02-05", payload: "b" },
  { path: "/news/2013/c.html", day: "2014-02-05", payload: "c" },
  { path: "/news-letter", day: "2014-02-06", payload: "letter" },
  { path: "/img/logo.png", day: "2014-01-01", payload: "logo", mime: "image/png" },
  { path: "/search?q=1", day: "2014-01-01", payload: "q1" },
  { path: "/search?q=2", day: "2014-01-01", payload: "q2" },
  { path: "/search?q=a/b", day: "2014-01-01", payload: "q3" },
  { path: "/gone.html", day: "2014-01-01", payload: "there" },
  { path: "/gone.html", day: "2014-03-01", payload: "not found", status: "404 Not Found" },
];

function recordOf({ path, day, payload, mime = "text/html", status = "200 OK" }: Seen, host = "a.example"): Uint8Array {
  const url = `http://${host}${path}`;
  const id = idOf(`${url} ${day}`);
  return captureBytes({ uri: url, date: `${day}T12:00:00Z`, payload: `${payload} `.repeat(80), mime, status, id });
}

const RECORDS = [...CAPTURES.map((capture) => recordOf(capture)), recordOf(CAPTURES[0]!, "b.example")];

interface Row {
  readonly kind: "folder" | "url";
  readonly name: string;
  readonly path?: string;
  readonly urls?: number;
  readonly url?: string;
  readonly versions?: number;
  readonly lifespans?: number;
}

interface SiteJson {
  readonly urls: number;
  readonly rows: readonly Row[];
  readonly next: string | null;
  readonly counts: Readonly<Record<string, number>>;
  readonly changes: readonly { change: string; url: string; time: string }[];
  readonly firstDay: string;
  readonly lastChangeDay: string;
}

async function ask(archive: ServedArchive, query: string, host = "a.example"): Promise<SiteJson> {
  const { text, status } = await archive.ask(`/coll/site/${host}?format=json${query}`);
  expect([query, status]).toEqual([query, 200]);
  return JSON.parse(text) as SiteJson;
}

/** Every URL of the tree with its versions, by opening folder after folder. */
async function walk(archive: ServedArchive, query: string, path = "/"): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const { rows } = await ask(archive, `${query}&path=${encodeURIComponent(path)}`);
  for (const row of rows) {
    if (row.kind === "url") found.set(row.url!, row.versions!);
    else {
      const below = await walk(archive, query, row.path);
      expect([row.path, below.size]).toEqual([row.path, row.urls]);
      for (const [url, versions] of below) found.set(url, versions);
    }
  }
  return found;
}

/** The same from the list of captures. */
function expectedAt(day: string, isPage = false): Map<string, number> {
  const contents = new Map<string, Set<string>>();
  for (const { path, day: seen, payload, mime = "text/html" } of CAPTURES) {
    if (seen > day || (isPage && mime !== "text/html")) continue;
    const url = `http://a.example${path}`;
    contents.set(url, (contents.get(url) ?? new Set()).add(payload));
  }
  return new Map([...contents].map(([url, payloads]) => [url, payloads.size]));
}

function sorted(map: Map<string, number>): [string, number][] {
  return [...map].sort(([one], [other]) => (one < other ? -1 : 1));
}

describe("site", () => {
  it.each(["2014-01-02", "2014-02-05", "2014-12-31"])("is a tree of all URLs as of %s", async (day) => {
    await using archive = await serveRecords(RECORDS);
    expect(sorted(await walk(archive, `&at=${day}`))).toEqual(sorted(expectedAt(day)));
    expect((await ask(archive, `&at=${day}`)).urls).toBe(expectedAt(day).size);
    expect(sorted(await walk(archive, `&at=${day}&only=pages`))).toEqual(sorted(expectedAt(day, true)));
  });

  it("shows folders that have more than one URL, and queries as a folder", async () => {
    await using archive = await serveRecords(RECORDS);
    const { rows, firstDay, lastChangeDay } = await ask(archive, "");
    expect(rows.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "url /",
      "url about.html",
      "url gone.html",
      "url img/logo.png",
      "url news",
      "url news-letter",
      "folder news/",
      "folder search?",
    ]);
    expect([firstDay, lastChangeDay]).toEqual(["2014-01-01", "2014-03-01"]);
    expect(rows[0]).toMatchObject({ versions: 2, lifespans: 3 });
  });

  it("takes the day of the slider", async () => {
    await using archive = await serveRecords(RECORDS);
    const day = Date.UTC(2014, 1, 5) / 86_400_000;
    expect((await ask(archive, `&day=${day}`)).urls).toBe(expectedAt("2014-02-05").size);
  });

  it("lists long folders page by page, each entry once", async () => {
    const many = Array.from({ length: 450 }, (_, i) => ({
      path: i % 3 === 0 ? `/d${i}/x` : i % 3 === 1 ? `/d${i}/y` : `/p${i}`,
      day: "2014-01-01",
      payload: `${i}`,
    }));
    await using archive = await serveRecords(many.map((capture) => recordOf(capture)));
    const names: string[] = [];
    let query = "";
    for (let pages = 0; pages < 10; pages++) {
      const { rows, next } = await ask(archive, query);
      names.push(...rows.map(({ name }) => name));
      if (next === null) break;
      query = `&cursor=${next}`;
    }
    expect(names.toSorted()).toEqual(many.map(({ path }) => path.slice(1)).sort());
  });

  it("tells what changed between two days", async () => {
    await using archive = await serveRecords(RECORDS);
    const { counts, changes } = await ask(archive, "&since=2014-02-01&at=2014-03-02");
    const kinds = changes.map(({ change, url, time }) => `${change} ${url} ${time.slice(0, 10)}`).sort();
    expect(kinds).toEqual([
      "appeared http://a.example/news-letter 2014-02-06",
      "appeared http://a.example/news/2013/c.html 2014-02-05",
      "appeared http://a.example/news/2014/b.html 2014-02-05",
      "changed http://a.example/ 2014-03-01",
      "vanished http://a.example/gone.html 2014-03-01",
    ]);
    expect(counts).toEqual({ appeared: 3, changed: 1, vanished: 1 });
    expect((await archive.ask("/coll/site/a.example?since=2015&at=2014")).status).toBe(400);
  });

  it("gives all URLs and all changes as CSV", async () => {
    await using archive = await serveRecords(RECORDS);
    const lines = async (query: string) =>
      (await archive.ask(`/coll/site/a.example?format=csv${query}`)).text.trimEnd().split("\r\n").slice(1);
    const urls = (await lines("&at=2014-02-05")).map((line) => /^"([^"]*)"/.exec(line)![1]!);
    expect(urls.sort()).toEqual([...expectedAt("2014-02-05").keys()].sort());
    expect(await lines("&at=2014-02-05&path=/news/")).toHaveLength(3);
    expect(await lines("&since=2014-02-01&at=2014-03-02")).toHaveLength(5);
  });

  it("exports exactly what was valid, and leaves nothing behind", async () => {
    await using archive = await serveRecords(RECORDS);
    const before = archive.disk.list("/archive").length;
    const { status, headers, body } = await archive.ask("/coll/site/a.example/export?at=2014-02-05");
    expect(status).toBe(200);
    expect(headers["content-disposition"]).toContain("a.example-2014-02-05.wacz");
    expect(Number(headers["content-length"])).toBe(body.length);
    const source = bufferSource(body, "x.wacz");
    const entry = [...readZipEntries(source)].find(({ name }) => name === "indexes/index.cdxj")!;
    const data = openZipEntry(source, entry, entry.name);
    const bytes = Buffer.alloc(entry.size);
    data.read(bytes, 0);
    const urls = [...bytes.toString().matchAll(/"url": ?"([^"]+)"/g)].map(([, url]) => url!);
    expect(urls.sort()).toEqual([...expectedAt("2014-02-05").keys()].sort());
    const stamps = [...bytes.toString().matchAll(/^\S+ (\d{14})/gm)].map(([, stamp]) => stamp!);
    expect(stamps.every((stamp) => stamp <= "20140205235959")).toBe(true);
    expect(archive.disk.list("/archive")).toHaveLength(before);
    expect(archive.disk.list("/tmp").filter(({ name }) => name.includes("scratch"))).toEqual([]);
  });

  it("keeps its rules: nothing hidden is counted, listed or exported", async () => {
    const rules = parseAccessRules(
      JSON.stringify({ rules: [{ prefix: "http://a.example/news", access: "exclude" }] }),
      "r.json",
    );
    await using archive = await serveRecords(RECORDS, { rules });
    const shown = new Map([...expectedAt("2014-12-31")].filter(([url]) => !url.includes("/news")));
    expect(sorted(await walk(archive, "&at=2014-12-31"))).toEqual(sorted(shown));
    expect((await ask(archive, "&at=2014-12-31")).urls).toBe(shown.size);
    expect((await archive.ask("/coll/site/a.example/export?at=2014")).status).toBe(451);
  });

  it.each([
    ["/coll/site/none.example", 404],
    ["/coll/site/a.example?at=yesterday-ish", 400],
    ["/coll/site/a.example?path=news", 400],
    ["/coll/site/a.example?day=1e9", 400],
    ["/coll/site/a.example?cursor=xxxx", 400],
    ["/coll/site/%00", 404],
    ["/coll/site/%ff", 400],
  ])("answers %s with %i", async (target, status) => {
    await using archive = await serveRecords(RECORDS);
    expect((await archive.ask(target)).status).toBe(status);
  });

  it("shows archived text as text", async () => {
    const path = "/<script>alert(1)</script>";
    const odd = captureBytes({
      uri: `http://a.example${path}`,
      date: formatIso(Date.UTC(2014, 0, 1)),
      payload: "x",
      mime: 'text/"><script>alert(2)</script>',
    });
    await using archive = await serveRecords([odd]);
    for (const target of ["/coll/site/a.example", "/coll/crawls/1", "/coll/duplication"]) {
      const { text } = await archive.ask(target, { headers: { accept: "text/html" } });
      expect(text).not.toMatch(/<script>alert/i);
    }
  });
});
