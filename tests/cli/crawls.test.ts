import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createDice } from "../../src/testing/dice.ts";
import { readPage } from "../../src/testing/report-page.ts";
import { record, response, warcFile } from "./archives.ts";
import { holotype, linesOf, put, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
let archives = 0;
const fresh = () => join(folder, `archive-${archives++}`);

interface Told {
  readonly url: string;
  readonly body: string;
  readonly mime: string;
  readonly date: string;
}

/** Three crawls of two files each: pages that stay, change, come and go, and mirrors of each other. */
function makeCrawls(): Told[][][] {
  const dice = createDice(2024);
  const roll = (limit: number) => dice.below(limit);
  return [0, 1, 2].map((crawl) =>
    [0, 1].map((file) =>
      Array.from({ length: 60 }, (_, i) => {
        const number = 60 * file + i;
        // Some bodies are of pages, some the same at many URLs; sizes repeat.
        const version = roll(3) === 0 ? crawl : 0;
        const name = roll(5) === 0 ? `shared ${roll(6)}` : `page ${number} ${version}`;
        const mime = number % 4 === 0 ? "image/png" : "text/html";
        const host = number % 7 === crawl ? `only-${crawl}` : "www";
        const date = `20${20 + crawl}-03-0${file + 1}T00:00:${String(i).padStart(2, "0")}Z`;
        return { url: `http://${host}.example/${number}`, body: name.padEnd(300 + (number % 9), "."), mime, date };
      }),
    ),
  );
}

const CRAWLS = makeCrawls();
const files = CRAWLS.map((parts, crawl) =>
  parts.map((captures, i) => {
    const records = captures.map(({ url, body, mime, date }) => response(url, body, { mime, date }));
    return put(folder, `set-${crawl}-0000${i}.warc.gz`, warcFile(records));
  }),
);

/** The figures of the papers, counted over the plain lists. */
function countIndependently() {
  const all = CRAWLS.map((parts) => parts.flat());
  const bodiesOf = (captures: readonly Told[]) => new Set(captures.map(({ body }) => body));
  const sizeOf = (bodies: Iterable<string>) => [...bodies].reduce((sum, body) => sum + body.length, 0);
  return all.map((captures, crawl) => {
    const before = bodiesOf(all.slice(0, crawl).flat());
    const bodies = bodiesOf(captures);
    const news = [...bodies].filter((body) => !before.has(body));
    const urls = new Set(captures.map(({ url }) => url));
    const bytes = sizeOf(captures.map(({ body }) => body));
    const inEarlier = all.slice(0, crawl).map((earlier, i) => {
      const had = bodiesOf(earlier);
      return { crawl: `set-${i}`, pages: captures.filter(({ body }) => had.has(body)).length };
    });
    const previous = crawl === 0 ? undefined : new Set(all[crawl - 1]!.map(({ url }) => url));
    const mimes = ["text/html", "image/png"].map((mime) => {
      const own = captures.filter((each) => each.mime === mime);
      return { mime, urls: own.length, pages: own.length, bytes: sizeOf(own.map(({ body }) => body)) };
    });
    return {
      crawl: `set-${crawl}`,
      first: captures[0]!.date,
      last: captures.at(-1)!.date,
      files: 2,
      captures: 120,
      urls: urls.size,
      pages: 120,
      bytes,
      contents: bodies.size,
      duplicatesWithin: 120 - bodies.size,
      ...(previous === undefined
        ? {}
        : {
            inPrevious: inEarlier.at(-1)!.pages,
            urlsInPrevious: [...urls].filter((url) => previous.has(url)).length,
          }),
      inEarlier,
      newContents: news.length,
      newBytes: sizeOf(news),
      repeatedPages: 120 - news.length,
      repeatedBytes: bytes - sizeOf(news),
      mimes,
    };
  });
}

function study(archive: string): Record<string, unknown>[] {
  const { exit, out } = holotype(["stats", "--crawls", "--json", "--archive", archive]);
  expect(exit).toBe(0);
  return linesOf(out).map((line) => JSON.parse(line) as Record<string, unknown>);
}

function add(archive: string, names: readonly string[], ...args: readonly string[]): void {
  expect(holotype(["add", ...names, "--archive", archive, ...args]).exit).toBe(0);
}

const crawlNames = (archive: string) => study(archive).flatMap(({ crawl }) => (crawl === undefined ? [] : [crawl]));

describe("holotype stats --crawls", () => {
  it("has every figure of a set with known truth, whatever the order of files, and after a rebuild", () => {
    const archive = fresh();
    add(archive, files.flat().reverse());
    const found = study(archive);
    expect(found.slice(0, -1)).toEqual(countIndependently());
    expect(holotype(["rebuild", "--archive", archive]).exit).toBe(0);
    expect(study(archive)).toEqual(found);
    const sizes = new Map<string, number>(CRAWLS.flat(2).map(({ body }) => [body, body.length]));
    const lengths = [...sizes.values()];
    const pairs = lengths.flatMap((one, i) => lengths.filter((other, j) => i !== j && one === other)).length;
    const chance = pairs / (lengths.length * (lengths.length - 1));
    expect(found.at(-1)).toMatchObject({
      contents: lengths.length,
      sameSizeChance: expect.closeTo(chance, 12) as number,
    });
  });

  it("has the same figures where files are adopted", () => {
    const archive = fresh();
    add(archive, files.flat(), "--adopt");
    expect(study(archive).slice(0, -1)).toEqual(countIndependently());
  });

  it("prints them for people, and writes them as a table and a page", () => {
    const archive = fresh();
    add(archive, files.flat());
    const [page, csv] = [join(folder, "crawls.html"), join(folder, "crawls.csv")];
    const { exit, out } = holotype(["stats", "--crawls", "--archive", archive, "--html", page, "--csv", csv]);
    expect(exit).toBe(0);
    const truth = countIndependently();
    const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;
    const { duplicatesWithin, inPrevious, urlsInPrevious, urls, newContents } = truth[2]!;
    const line = linesOf(out)[3]!.trim().split(/ {2,}/);
    expect(line.slice(2, 4)).toEqual([`${urls}`, "120"]);
    expect(line.slice(5, 9)).toEqual([
      share(duplicatesWithin, 120),
      share(inPrevious!, 120),
      share(urlsInPrevious!, urls),
      `${newContents}`,
    ]);
    const { text } = readPage(readFileSync(page, "utf8"));
    expect(text).toContain("set-2");
    expect(text.replaceAll("\u00a0", " ")).toContain(share(inPrevious!, 120));
    const rows = readFileSync(csv, "utf8").split("\r\n");
    const { bytes, contents } = truth[0]!;
    const dates = `"${truth[0]!.first}","${truth[0]!.last}"`;
    expect(rows[1]).toMatch(
      new RegExp(`^"crawl","set-0","",${dates},2,120,${truth[0]!.urls},120,${bytes},${contents},`),
    );
  });

  it("refuses options that do not go together", () => {
    const archive = fresh();
    for (const args of [
      ["--crawls", "--by", "host"],
      ["--csv", "x"],
      ["--html", "x"],
    ])
      expect(holotype(["stats", "--archive", archive, ...args])).toMatchObject({ exit: 2 });
  });
});

describe("the name of a crawl", () => {
  const page = (year: number) => response("http://a.example/", `${year}`, { date: `${year}-01-01T00:00:00Z` });
  const gone = response("http://gone.example/", "gone ".repeat(1000), { date: "2001-06-01T00:00:00Z" });
  const info = (partOf: string) => record("warcinfo", "", "application/warc-fields", `isPartOf: ${partOf}\r\n`);

  it("is given, or that of isPartOf, or of the series of files; it survives a rebuild and a compaction", () => {
    for (const adopt of [[], ["--adopt"]]) {
      const archive = fresh();
      const name = (file: string) => `${archives}-${file}`;
      add(archive, [put(folder, name("a.warc.gz"), warcFile([info("of 2001"), page(2001), gone]))], ...adopt);
      add(archive, [put(folder, name("b.warc.gz"), warcFile([info("x"), page(2002)]))], "--crawl", "given", ...adopt);
      add(archive, [put(folder, name("news-20030101000000-00001-h.warc.gz"), warcFile([page(2003)]))], ...adopt);
      const names = ["of 2001", "given", name("news")];
      expect(crawlNames(archive)).toEqual(names);
      expect(holotype(["rebuild", "--archive", archive]).exit).toBe(0);
      const removed = holotype(["remove", "--site", "gone.example", "--reason", "a test", "--archive", archive]);
      expect(removed.exit).toBe(0);
      expect(holotype(["compact", "--archive", archive]).exit).toBe(0);
      expect(crawlNames(archive)).toEqual(names);
    }
  });

  it("is shown as text, whatever is in it", () => {
    const archive = fresh();
    const name = "\u001b[2Jred\u202e <b>\tx\r\ncrawl: y";
    add(archive, [put(folder, "odd.warc.gz", warcFile([page(2004)]))], "--crawl", name);
    const kept = "\u001b[2Jred\u202e <b>\tx crawl: y";
    expect(crawlNames(archive)).toEqual([kept]);
    expect(holotype(["rebuild", "--archive", archive]).exit).toBe(0);
    expect(crawlNames(archive)).toEqual([kept]);
    const file = join(folder, "odd.html");
    const { out } = holotype(["stats", "--crawls", "--archive", archive, "--html", file]);
    expect(out).toContain("⟨U+001B⟩[2Jred⟨U+202E⟩ <b>⟨U+0009⟩x crawl: y");
    expect(/[^\P{Cc}\n]/u.test(out)).toBe(false);
    expect(readPage(readFileSync(file, "utf8")).text).toContain("⟨U+001B⟩[2Jred⟨U+202E⟩ <b>");
    expect(holotype(["add", SAMPLE_FILE, "--archive", fresh(), "--crawl", " \n "])).toMatchObject({ exit: 2 });
  });
});

const SAMPLE_FILE = files[0]![0]!;
