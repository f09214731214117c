/** Two versions of a page, compared at the door. */
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { captureBytes, idOf } from "../../../testing/capture-text.ts";
import { type ServedArchive, serveRecords } from "../../../testing/served-archive.ts";

const URL = "http://a.example/";
const BEFORE = `<!doctype html><title>Cabinet &amp; more</title><style>p{color:red}</style>
<h1>The cabinet</h1><p>Forty drawers in a cabinet by the sea.</p><script>alert("no text")</script>
<p>Open on Sundays.</p><a href="/old">old</a><a href="about.html">about</a><img src="a.png" alt="a beetle">`;
const AFTER = `<!doctype html><title>Cabinet</title><style>p{color:blue}</style>
<h1>The cabinet</h1><p>Forty drawers in a house by the sea.</p>
<p>Open on Sundays.</p><a href="/new">new</a><a href="about.html">about</a><img src="b.png" alt="a beetle">`;

function page(payload: string | Uint8Array, date: string, http: readonly string[] = [], mime = "text/html") {
  return captureBytes({ uri: URL, date, payload, mime, http, id: idOf(`${date} ${mime}`) });
}

const RECORDS = [
  page(BEFORE, "2014-01-01T00:00:00Z", ["Server: one", "X-Gone: yes"]),
  page(BEFORE, "2014-01-02T00:00:00Z", ["Server: one"]),
  page(AFTER, "2015-01-01T00:00:00Z", ["Server: two", "X-New: <b>yes</b>"]),
];

interface CompareJson {
  readonly sameContent: boolean;
  readonly before: { readonly birth: string };
  readonly after: { readonly birth: string };
  readonly text: { readonly added: number; readonly removed: number; readonly rows: readonly unknown[] } | null;
  readonly source: { readonly added: number } | null;
  readonly headers: readonly { name: string; before?: string; after?: string }[];
  readonly links: { readonly added: string[]; readonly removed: string[]; readonly inBoth: number };
  readonly resources: { readonly added: string[]; readonly removed: string[] };
}

async function ask(archive: ServedArchive, query: string): Promise<CompareJson> {
  const { text, status } = await archive.ask(`/coll/compare?url=${encodeURIComponent(URL)}&format=json${query}`);
  expect([query, status]).toEqual([query, 200]);
  return JSON.parse(text) as CompareJson;
}

describe("compare", () => {
  it("marks what readers see of a change, and nothing else", async () => {
    await using archive = await serveRecords(RECORDS);
    const json = await ask(archive, "");
    expect([json.before.birth, json.after.birth]).toEqual(["2014-01-01T00:00:00Z", "2015-01-01T00:00:00Z"]);
    expect(JSON.stringify(json.text!.rows)).not.toMatch(/alert|color/);
    expect(json.text!.rows).toContainEqual({
      kind: "changed",
      parts: [
        [0, "Forty drawers in a "],
        [-1, "cabinet"],
        [1, "house"],
        [0, " by the sea."],
      ],
    });
    expect(json.links).toEqual({
      added: ["http://a.example/new"],
      removed: ["http://a.example/old"],
      inBoth: 1,
    });
    expect(json.resources).toMatchObject({ added: ["http://a.example/b.png"], removed: ["http://a.example/a.png"] });
    const fields = new Map(json.headers.map((each) => [each.name, [each.before, each.after]]));
    expect(fields.get("server")).toEqual(["one", "two"]);
    expect(fields.get("x-gone")).toEqual(["yes", undefined]);
    expect(fields.get("x-new")).toEqual([undefined, "<b>yes</b>"]);
    expect(fields.has("content-type")).toBe(false);
  });

  it("compares the versions of the times that are asked for", async () => {
    await using archive = await serveRecords(RECORDS);
    const same = await ask(archive, "&a=20140101000000&b=20140102000000");
    expect(same.sameContent).toBe(true);
    const other = await ask(archive, "&a=2014&b=2016");
    expect(other.sameContent).toBe(false);
    for (const query of ["&a=2013&b=2015", "&b=2010"]) {
      const { status } = await archive.ask(`/coll/compare?url=${URL}${query}`);
      expect([query, status]).toEqual([query, 404]);
    }
    expect((await archive.ask("/coll/compare?url=http://none.example/")).status).toBe(404);
    expect((await archive.ask("/coll/compare?a=1")).status).toBe(400);
    expect((await archive.ask(`/coll/compare?url=${URL}&view=none`)).status).toBe(400);
  });

  it.each(["text", "source", "headers", "links"])("shows its %s as text", async (view) => {
    await using archive = await serveRecords(RECORDS);
    const { text, status } = await archive.ask(`/coll/compare?url=${URL}&view=${view}`, {
      headers: { accept: "text/html" },
    });
    expect(status).toBe(200);
    expect(text).not.toMatch(/<script>alert|<b>yes/);
    expect(text).toContain(view === "text" || view === "source" ? "<ins>" : view === "links" ? "Added (1)" : "added");
  });

  it("undoes content codings, reads other characters, and says what it cannot compare", async () => {
    const coded = [
      page(gzipSync(Buffer.from(BEFORE)), "2014-01-01T00:00:00Z", ["Content-Encoding: gzip"]),
      page(
        Buffer.from("<p>caf\xe9 by the sea, forty drawers", "latin1"),
        "2015-01-01T00:00:00Z",
        [],
        "text/html; charset=iso-8859-1",
      ),
      page(Buffer.from([0x89, 0x50, 0, 0, 1]), "2016-01-01T00:00:00Z", [], "image/png"),
    ];
    await using archive = await serveRecords(coded);
    expect(JSON.stringify((await ask(archive, "&a=2014&b=2015")).text)).toContain("caf\u00e9");
    const binary = await ask(archive, "&a=2015&b=2016");
    expect([binary.text, binary.source]).toEqual([null, null]);
  });
});
