/** What the page on duplication counts, compared with a count of the same captures by other means. */
import { describe, expect, it } from "vitest";
import { digestOf, formatIso } from "../../../base/index.ts";
import { captureBytes, idOf, noise } from "../../../testing/capture-text.ts";
import { createDice } from "../../../testing/dice.ts";
import { type ServedArchive, serveRecords } from "../../../testing/served-archive.ts";
import { parseAccessRules } from "../../access/parse-rules.ts";

interface Seen {
  readonly url: string;
  readonly timeMs: number;
  readonly mime: string;
  readonly payload: Buffer;
}

const HOSTS = ["a.example", "b.example", "secret.example"];
const MIMES = ["text/html", "image/png", "text/css"];

/** Captures of some URLs with few contents, in an order that is not that of their times. */
function someCaptures(count: number): Seen[] {
  const dice = createDice(42);
  const seen = new Map<string, Seen>();
  for (let i = 0; i < count; i++) {
    const page = dice.below(12);
    const url = `http://${HOSTS[page % 3]!}/page-${page}`;
    const timeMs = Date.UTC(2012 + dice.below(4), dice.below(12), 1 + dice.below(28), dice.below(24));
    const content = dice.below(15);
    const payload = noise(`content ${content}`, 400 + 37 * content);
    seen.set(`${url} ${timeMs}`, { url, timeMs, mime: MIMES[page % MIMES.length]!, payload });
  }
  return [...seen.values()];
}

function recordOf({ url, timeMs, mime, payload }: Seen): Uint8Array {
  return captureBytes({ uri: url, date: formatIso(timeMs), mime, payload, id: idOf(`${url} ${timeMs}`) });
}

function shaOf({ payload }: Seen): string {
  return digestOf("sha256", payload).hex;
}

interface Expected {
  captures: number;
  contents: number;
  bytesSeen: number;
  bytesKept: number;
  bytesSaved: number;
}

/** `original` says which capture of a content holds it. */
function figuresOf(captures: readonly Seen[], original: (capture: Seen) => Seen): Expected {
  const figures = { captures: 0, contents: 0, bytesSeen: 0, bytesKept: 0, bytesSaved: 0 };
  for (const capture of captures) {
    const isOriginal = original(capture) === capture;
    figures.captures++;
    figures.bytesSeen += capture.payload.length;
    if (isOriginal) figures.contents++;
    if (isOriginal) figures.bytesKept += capture.payload.length;
    else figures.bytesSaved += capture.payload.length;
  }
  return figures;
}

function grouped<K extends string>(captures: readonly Seen[], nameOf: (capture: Seen) => K): Map<K, Seen[]> {
  const groups = new Map<K, Seen[]>();
  for (const capture of captures) groups.set(nameOf(capture), [...(groups.get(nameOf(capture)) ?? []), capture]);
  return groups;
}

interface DuplicationJson {
  readonly total: Expected;
  readonly acrossTime: { captures: number; savedBytes: number };
  readonly acrossLocation: { captures: number; savedBytes: number };
  readonly growth: readonly { name: string; bytesSeen: number; bytesKept: number }[];
  readonly byMime: readonly (Expected & { mime: string })[];
  readonly byHost: readonly (Expected & { host: string })[];
  readonly byYear: readonly (Expected & { year: string })[];
  readonly byCrawl: readonly (Expected & { crawl: string })[];
  readonly mostSeen: readonly { sha256: string; captures: number; urls: number; seenAt: readonly { url: string }[] }[];
  readonly mostSaved: readonly { sha256: string; savedBytes: number }[];
}

async function askJson(archive: ServedArchive): Promise<DuplicationJson> {
  return JSON.parse((await archive.ask("/coll/duplication?format=json")).text) as DuplicationJson;
}

function check(json: DuplicationJson, captures: readonly Seen[], original: (capture: Seen) => Seen): void {
  expect(json.total).toEqual(figuresOf(captures, original));
  const copies = captures.filter((capture) => original(capture) !== capture);
  const isBefore = (one: Seen, other: Seen) => one === original(other) || one.timeMs < other.timeMs;
  const isAgain = (capture: Seen) =>
    captures.some((one) => one.url === capture.url && shaOf(one) === shaOf(capture) && isBefore(one, capture));
  const time = copies.filter(isAgain);
  const location = copies.filter((capture) => !isAgain(capture));
  const bytes = (list: readonly Seen[]) => list.reduce((sum, { payload }) => sum + payload.length, 0);
  expect(json.acrossTime).toMatchObject({ captures: time.length, savedBytes: bytes(time) });
  expect(json.acrossLocation).toMatchObject({ captures: location.length, savedBytes: bytes(location) });
  const groups = [
    ["host", json.byHost, (capture: Seen) => new URL(capture.url).host],
    ["mime", json.byMime, (capture: Seen) => capture.mime],
    ["year", json.byYear, (capture: Seen) => `${new Date(capture.timeMs).getUTCFullYear()}`],
  ] as const;
  for (const [title, rows, nameOf] of groups) {
    const named = rows as unknown as readonly Record<string, unknown>[];
    const told = new Map(named.map((row) => [row[title], row]));
    const expected = grouped(captures, nameOf);
    expect(new Set(told.keys())).toEqual(new Set(expected.keys()));
    for (const [name, list] of expected) expect(told.get(name)).toMatchObject(figuresOf(list, original));
  }
  expect(json.growth.at(-1)).toMatchObject({ bytesSeen: json.total.bytesSeen, bytesKept: json.total.bytesKept });
  const byContent = [...grouped(captures, shaOf)].filter(([, list]) => list.length > 1);
  const told = new Map(json.mostSeen.map((content) => [content.sha256, content]));
  expect([...told.keys()].sort()).toEqual(byContent.map(([sha256]) => sha256).sort());
  for (const [sha256, list] of byContent) {
    const urls = new Set(list.map(({ url }) => url));
    expect(told.get(sha256)).toMatchObject({ captures: list.length, urls: urls.size });
    expect(told.get(sha256)!.seenAt.every(({ url }) => urls.has(url))).toBe(true);
    expect(told.get(sha256)!.seenAt[0]!.url).toBe(original(list[0]!).url);
  }
  const counts = json.mostSeen.map(({ captures: count }) => count);
  expect(counts).toEqual(counts.toSorted((one, other) => other - one));
}

describe("duplication", () => {
  const captures = someCaptures(200);

  it("counts what a count of the captures gives", async () => {
    await using archive = await serveRecords(captures.map(recordOf));
    // What comes first into the archive holds the content for all others.
    const firsts = new Map(captures.toReversed().map((capture) => [shaOf(capture), capture]));
    check(await askJson(archive), captures, (capture) => firsts.get(shaOf(capture))!);
  });

  it("counts, with rules, as if there were only what may be seen", async () => {
    const rules = parseAccessRules(
      JSON.stringify({ rules: [{ host: "secret.example", access: "exclude" }] }),
      "r.json",
    );
    await using archive = await serveRecords(captures.map(recordOf), { rules });
    const seen = captures.filter(({ url }) => !url.includes("secret"));
    const inOrder = seen.toSorted((one, other) => one.timeMs - other.timeMs || (one.url < other.url ? -1 : 1));
    const firsts = new Map(inOrder.toReversed().map((capture) => [shaOf(capture), capture]));
    check(await askJson(archive), seen, (capture) => firsts.get(shaOf(capture))!);
    const page = await archive.ask("/coll/duplication", { headers: { accept: "text/html" } });
    expect(page.text).not.toContain("secret");
    expect(page.text).toContain("Some captures may not be shown here");
  });

  it("counts a content with more captures than are held", async () => {
    const payload = noise("everywhere", 300);
    const many = Array.from({ length: 1100 }, (_, i) => ({
      url: `http://a.example/${i % 1050}`,
      timeMs: Date.UTC(2014, 0, 1) + i * 1000,
      mime: "image/png",
      payload,
    }));
    await using archive = await serveRecords(many.map(recordOf));
    const json = await askJson(archive);
    expect(json.total).toMatchObject({ captures: 1100, contents: 1, bytesSeen: 1100 * 300, bytesKept: 300 });
    expect(json.acrossTime.captures).toBe(50);
    expect(json.acrossLocation.captures).toBe(1049);
    expect(json.mostSeen).toMatchObject([{ captures: 1100, urls: 1050 }]);
  });

  it("gives every table as CSV, with as many rows", async () => {
    await using archive = await serveRecords(captures.map(recordOf));
    const json = await askJson(archive);
    const rows = { mime: json.byMime, host: json.byHost, year: json.byYear, crawl: json.byCrawl, growth: json.growth };
    for (const [table, expected] of Object.entries(rows)) {
      const { text, headers } = await archive.ask(`/coll/duplication?format=csv&table=${table}`);
      expect(headers["content-type"]).toContain("text/csv");
      expect(text.trimEnd().split("\r\n")).toHaveLength(expected.length + 1);
    }
    expect((await archive.ask("/coll/duplication?format=csv&table=none")).status).toBe(400);
  });

  it("lists where a content was seen, page by page", async () => {
    const payload = noise("everywhere", 300);
    const many = Array.from({ length: 150 }, (_, i) => ({
      url: `http://a.example/${i}`,
      timeMs: Date.UTC(2014, 0, 1) + i * 1000,
      mime: "image/png",
      payload,
    }));
    await using archive = await serveRecords(many.map(recordOf));
    const sha256 = digestOf("sha256", payload).hex;
    const urls: string[] = [];
    let cursor = "";
    for (;;) {
      const { text } = await archive.ask(`/coll/duplication/${sha256}?format=json${cursor}`);
      const { captures: rows, next } = JSON.parse(text) as { captures: { url: string }[]; next: string | null };
      urls.push(...rows.map(({ url }) => url));
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }
    expect(urls.toSorted()).toEqual(many.map(({ url }) => url).sort());
    expect((await archive.ask(`/coll/duplication/${"0".repeat(64)}`)).status).toBe(404);
  });

  it("explains an empty archive", async () => {
    await using archive = await serveRecords([]);
    const page = await archive.ask("/coll/duplication", { headers: { accept: "text/html" } });
    expect(page.text).toContain("Nothing here yet");
  });
});
