import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { captureBytes, packRecords } from "../../src/testing/capture-text.ts";
import { response, revisit, warcFile } from "./archives.ts";
import { holotype, holotypeBytes, linesOf, list, MAIN, put, ROOT, SAMPLES, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
const archive = join(folder, "cabinet");
const added = holotype(["add", SAMPLES, "--archive", archive]);

const ask = (...args: readonly string[]) => holotype([...args, "--archive", archive]);
const json = (...args: readonly string[]) =>
  linesOf(ask(...args, "--json").out).map((line) => JSON.parse(line) as Record<string, unknown>);
/** Without the folder, which is another each time, and the offsets behind it. */
const told = (out: string) => linesOf(out.replaceAll(/\S*\/(\d{6}\.warc\.gz):\d+/g, "$1"));

const HOME = "http://cabinet.example/";
const BEETLE = "http://cabinet.example/images/orchard-beetle.png";
const FIRST = "2009-05-14T09:30:04Z";
const SECOND = "2013-09-03T14:05:04Z";
const THIRD = "2018-03-21T08:15:04Z";

/** An archive of its own, with these files added in order. */
let archives = 0;
function archiveOf(...files: readonly Buffer[]): string {
  const own = join(folder, `archive-${archives++}`);
  const names = files.map((bytes, i) => put(folder, `file-${archives}-${i}.warc.gz`, bytes));
  expect(holotype(["add", ...names, "--archive", own]).exit).toBe(0);
  return own;
}

describe("holotype add", () => {
  it("tells what became of the captures", () => {
    expect(added).toMatchObject({ exit: 0, err: "" });
    const [files, captures, , repeated, duplicates, revisits, size] = linesOf(added.out);
    expect([files, captures, repeated, duplicates, revisits]).toEqual([
      "files       4 files, 262 records",
      "captures    127 new",
      "nothing new 56: 48 became revisits, 7 kept, as a revisit would save too little, 1 kept for other reasons",
      "duplicates  55: 51 across time, 4 across location",
      "revisits    0 new; in the whole archive 0 without an original",
    ]);
    expect(size).toMatch(/^size {8}494\.7 kB in, 271\.5 kB kept \(45\.1 % saved\)$/);
  });

  it("changes nothing the second time", () => {
    const segment = join(archive, "volumes", "0", "segments", "000001.warc.gz");
    const before = readFileSync(segment);
    expect(json("add", SAMPLES)).toMatchObject([{ captures: 0, known: 127, contents: 0, bytesKept: 0, pending: 0 }]);
    expect(readFileSync(segment).equals(before)).toBe(true);
  });
});

describe("holotype at", () => {
  it("tells the content that was valid then, and how sure that is", () => {
    const { exit, out } = ask("at", HOME, "2014");
    expect(exit).toBe(0);
    expect(told(out)).toEqual([
      `url        ${HOME}`,
      `birth      ${SECOND}`,
      `end        ${THIRD}`,
      `last seen  ${SECOND}`,
      "captures   1",
      `certainty  presumed: captured ${SECOND}; the next capture, ${THIRD}, found another content`,
      "status     200",
      "mime       text/html",
      "digest     sha256:ab7e9517cda4a9c9208f569337d2b09ae42bb18858bcea2e190dc84c93f51174",
      "size       4177",
      `capture    ${SECOND}, a response, from ${join(SAMPLES, "cabinet-2013.warc.gz")}`,
      "record     000001.warc.gz",
    ]);
  });

  it("is sure of what was captured before and after, or in that second", () => {
    const certainty = (...args: readonly string[]) => linesOf(ask("at", ...args).out)[5];
    expect(certainty(BEETLE, "2010")).toBe(
      "certainty  observed: captured 2009-05-14T09:30:36Z, and unchanged 2013-09-03T14:05:30Z",
    );
    expect(certainty(HOME, "20130903140504")).toBe(`certainty  observed: captured ${SECOND}`);
    expect(certainty(HOME, SECOND)).toBe(`certainty  observed: captured ${SECOND}`);
    expect(certainty(HOME, "now")).toBe("certainty  presumed: captured 2024-06-12T16:40:04Z, and not since");
  });

  it("says when nothing is known, and since when something is", () => {
    expect(ask("at", HOME, "2001")).toEqual({
      exit: 20,
      out: "",
      err: `holotype: ${HOME}: nothing is known of it from before ${FIRST}, its first state; --nearest takes that\n`,
    });
    expect(ask("at", "http://nowhere.example/", "2014")).toMatchObject({
      exit: 20,
      err: expect.stringContaining("the archive has no capture of it"),
    });
    expect(json("at", HOME, "2001", "--nearest")).toMatchObject([{ birth: FIRST, certainty: "observed" }]);
  });

  it("writes the payload, byte for byte, also that of a duplicate", () => {
    const [first] = list(join(SAMPLES, "cabinet-2013.warc.gz")).filter(
      ({ uri, type }) => uri === BEETLE && type === "response",
    );
    const payload = holotypeBytes(["cat", first!.file, "--offset", `${first!.offset}`, "--payload"]).out;
    expect(payload).toHaveLength(9536);
    expect(
      holotypeBytes(["at", BEETLE, "20130903140530", "--output", "-", "--archive", archive]).out.equals(payload),
    ).toBe(true);
    const file = join(folder, "beetle.png");
    expect(ask("at", BEETLE, "2014", "--output", file).exit).toBe(0);
    expect(readFileSync(file).equals(payload)).toBe(true);
    expect(ask("at", BEETLE, "2014", "--output", file)).toMatchObject({ exit: 2 });
  });

  it("writes the payload as it was sent, or decoded", () => {
    const text = "the one specimen that all others refer to; ".repeat(5000);
    const coded = brotliCompressSync(gzipSync(text));
    const http = ["Content-Encoding: gzip, br"];
    const bytes = captureBytes({ uri: "http://a.example/", date: SECOND, payload: coded, http });
    const own = archiveOf(packRecords([bytes]));
    const at = (...more: readonly string[]) =>
      holotypeBytes(["at", "http://a.example/", "2014", "--archive", own, ...more]);
    expect(at("--output", "-").out.equals(coded)).toBe(true);
    expect(at("--output", "-", "--decode").out.toString()).toBe(text);
    const file = join(folder, "decoded.txt");
    expect(at("--output", file, "-d").exit).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(at("--decode").exit).toBe(2);
    const broken = captureBytes({ uri: "http://b.example/", date: SECOND, payload: "no gzip", http });
    const other = archiveOf(packRecords([broken]));
    const never = join(folder, "never.txt");
    expect(holotype(["at", "http://b.example/", "2014", "--archive", other, "-d", "-o", never]).exit).toBe(23);
    expect(existsSync(never)).toBe(false);
  });

  it("tells the HTTP header where it is asked to", () => {
    const { out } = ask("at", HOME, "2014", "--headers");
    expect(out).toMatch(/\n\nHTTP\/1\.1 200 OK\nDate: Tue, 03 Sep 2013 14:05:00 GMT\n/);
    expect(json("at", HOME, "2014", "--headers")).toMatchObject([{ headers: expect.stringMatching(/\r\n\r\n$/) }]);
  });

  it("lists all captures of one moment", () => {
    const date = "2020-02-02T20:20:20Z";
    const own = archiveOf(
      warcFile([response("http://a.example/", "one", { date })]),
      warcFile([response("http://a.example/", "two", { date })]),
    );
    const { out } = holotype(["at", "http://a.example/", "20200202202020", "--archive", own]);
    expect(linesOf(out).filter((line) => line.startsWith("also then"))).toEqual([
      expect.stringMatching(`^also then  ${date} state            response 200         3 [0-9a-f]{12} .*:\\d+$`),
    ]);
    const payload = holotype(["at", "http://a.example/", date, "--output", "-", "--archive", own]).out;
    const [answer] = linesOf(holotype(["at", "http://a.example/", date, "--archive", own, "--json"]).out);
    const { capture, others, sha256 } = JSON.parse(answer!) as Record<string, never>;
    expect(["one", "two"]).toContain(payload);
    expect(capture).toMatchObject({ sha256 });
    expect(others).toMatchObject([{ time: date, flags: [] }]);
  });

  it("flags what was odd about a capture", () => {
    const lying = { date: "1985-01-01T00:00:00Z", digest: "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" };
    const file = put(folder, "lying.warc.gz", warcFile([response("http://b.example/", "true", lying)]));
    const own = join(folder, "lying");
    expect(holotype(["add", file, "--archive", own]).exit).toBe(0);
    const { out } = holotype(["at", "http://b.example/", "1985", "--archive", own]);
    expect(linesOf(out).slice(-2)).toEqual(["flag       digest-lies", "flag       odd-date"]);
  });

  it("says that a revisit waits for its original", () => {
    const original = { uri: "http://c.example/", date: "2019-01-01T00:00:00Z" };
    const own = archiveOf(warcFile([revisit("http://c.example/", original, "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")]));
    expect(holotype(["at", "http://c.example/", "2024", "--archive", own])).toMatchObject({
      exit: 20,
      err: expect.stringContaining("no state of it; other captures: 1 pending"),
    });
    const { out } = holotype(["history", "http://c.example/", "--all", "--archive", own]);
    expect(told(out)).toEqual([
      "2020-02-02T20:20:20Z state            revisit  200         - -            000001.warc.gz pending",
    ]);
    expect(linesOf(holotype(["stats", "--archive", own]).out).at(-1)).toBe("pending     1 revisit without an original");
    expect(linesOf(holotype(["stats", "--by", "host", "--archive", own]).out).slice(1)).toEqual([
      "           1           0        0 B        0 B  c.example",
      "           1           0        0 B        0 B  total",
    ]);
  });
});

describe("holotype history", () => {
  it("lists the lifespans of a URL", () => {
    const { exit, out } = ask("history", HOME);
    expect(exit).toBe(0);
    expect(linesOf(out)).toEqual([
      `${FIRST} ${SECOND} ${FIRST}    1 200      2452 04771ebc9216 text/html                ${HOME}`,
      `${SECOND} ${THIRD} ${SECOND}    1 200      4177 ab7e9517cda4 text/html                ${HOME}`,
      `${THIRD} 2024-06-12T16:40:04Z ${THIRD}    1 200      1268 8fd4ea9fc1f6 text/html                ${HOME}`,
      `2024-06-12T16:40:04Z open                 2024-06-12T16:40:04Z    1 200      1615 3e17246b3d15 text/html                ${HOME}`,
    ]);
    expect(json("history", HOME).map(({ birth, end }) => [birth, end])).toEqual([
      [FIRST, SECOND],
      [SECOND, THIRD],
      [THIRD, "2024-06-12T16:40:04Z"],
      ["2024-06-12T16:40:04Z", null],
    ]);
  });

  it("keeps to a span of time", () => {
    expect(json("history", HOME, "--from", "2014", "--to", "2018").map(({ birth }) => birth)).toEqual([SECOND, THIRD]);
    expect(json("history", HOME, "--all", "--from", "2014", "--to", "2018")).toMatchObject([
      { time: THIRD, status: 200 },
    ]);
  });

  it("lists every capture with --all", () => {
    expect(told(ask("history", BEETLE, "--all").out)).toEqual([
      "2009-05-14T09:30:36Z state            response 200      9536 889197871a6f 000001.warc.gz",
      "2013-09-03T14:05:30Z state            response 200      9536 889197871a6f 000001.warc.gz replaced",
      "2018-03-21T08:15:30Z state            response 200      9468 d370d6692564 000001.warc.gz",
      "2024-06-12T16:40:44Z state            response 200      9468 d370d6692564 000001.warc.gz replaced",
    ]);
    expect(ask("history", "http://nowhere.example/")).toMatchObject({ exit: 20, out: "" });
  });
});

describe("holotype slice", () => {
  const urls = (...args: readonly string[]) => json("slice", ...args).map(({ url }) => url);

  it("lists what was alive then, in the order of keys", () => {
    const all = json("slice", "2014");
    const keys = all.map(({ key }) => key as string);
    expect(keys).toEqual([...keys].sort());
    expect(all).toHaveLength(31);
    expect(ask("slice", "2014", "--count").out).toBe("31\n");
    expect(ask("slice", "2001", "--count").out).toBe("0\n");
    for (const { url, sha256, birth } of [all[0]!, all[11]!, all[30]!]) {
      expect(json("at", url as string, "2014")).toMatchObject([{ sha256, birth }]);
    }
  });

  it("keeps to a site, a prefix, media types", () => {
    const collection = "http://cabinet.example/collection/";
    const under = urls("2014", "--prefix", collection) as string[];
    expect(under.length).toBeGreaterThan(2);
    expect(under.filter((url) => !url.startsWith(collection))).toEqual([]);
    expect(urls("2014", "--site", "cabinet.example")).toHaveLength(31);
    expect(urls("2014", "--site", "example")).toHaveLength(31);
    expect(urls("2014", "--site", "other.example")).toEqual([]);
    expect(new Set(json("slice", "2014", "--mime", "image/*").map(({ mime }) => mime))).toEqual(
      new Set(["image/png", "image/svg+xml", "image/x-icon"]),
    );
  });

  it("takes a span of time", () => {
    const births = json("slice", "2009", "--to", "2014", "--prefix", `${HOME}news.html`).map(({ birth }) => birth);
    expect(births).toEqual(["2009-05-14T09:30:18Z", "2013-09-03T14:05:20Z"]);
  });

  it("goes on behind a key or a URL, and ends where it is told to", () => {
    const all = urls("2014") as string[];
    const half = json("slice", "2014", "--limit", "12");
    expect(half.map(({ url }) => url)).toEqual(all.slice(0, 12));
    for (const after of [half.at(-1)!["key"], half.at(-1)!["url"]] as string[]) {
      expect(urls("2014", "--after", after)).toEqual(all.slice(12));
    }
  });

  it("finds the neighbours of a URL", () => {
    const all = urls("2014") as string[];
    const middle = all.indexOf(`${HOME}news.html`);
    const near = urls("2014", "--near", `${HOME}news.html`, "--limit", "2") as string[];
    expect(near).toEqual(all.slice(middle - 2, middle + 2));
    expect(ask("slice", "2014", "--near", HOME, "--mime", "image/*")).toMatchObject({ exit: 2 });
  });
});

describe("holotype changes", () => {
  it("leads from one slice to the other", () => {
    const slice = (time: string) =>
      new Map(json("slice", time).map(({ key, sha256, status }) => [key, `${status as number} ${sha256 as string}`]));
    const state = slice("2009");
    for (const { change, key, sha256, status } of json("changes", "2009", "2018")) {
      expect(["appeared", "changed", "vanished"]).toContain(change);
      state.set(key, `${status as number} ${sha256 as string}`);
    }
    expect(state).toEqual(slice("2018"));
  });

  it("tells errors from what answers", () => {
    const dated = (year: number, status = "200 OK") => ({ date: `${year}-01-01T00:00:00Z`, status });
    const url = "http://a.example/";
    const own = archiveOf(
      warcFile([
        response(url, "one", dated(2001)),
        response(url, "two", dated(2002)),
        response(url, "no", dated(2003, "404 Not Found")),
        response(url, "never", dated(2004, "410 Gone")),
        response(url, "two", dated(2005)),
      ]),
    );
    const { out } = holotype(["changes", "2000", "2010", "--archive", own]);
    expect(linesOf(out)).toEqual([
      `appeared 2001-01-01T00:00:00Z 200         3 text/plain               ${url}`,
      `changed  2002-01-01T00:00:00Z 200         3 text/plain               ${url}`,
      `vanished 2003-01-01T00:00:00Z 404         2 text/plain               ${url}`,
      `changed  2004-01-01T00:00:00Z 410         5 text/plain               ${url}`,
      `appeared 2005-01-01T00:00:00Z 200         3 text/plain               ${url}`,
    ]);
    expect(holotype(["changes", "2000", "2010", "--count", "--archive", own]).out).toBe(
      "2 appeared, 2 changed, 1 vanished\n",
    );
    expect(holotype(["changes", "2001", "2001", "--archive", own])).toEqual({ exit: 0, out: "", err: "" });
    expect(holotype(["changes", "2002", "2001", "--archive", own])).toMatchObject({ exit: 2 });
  });
});

describe("holotype same", () => {
  it("finds a content wherever and whenever it was seen", () => {
    const found = json("same", BEETLE, "2014");
    const pressed = "http://cabinet.example/press/orchard-beetle.png";
    const seen = found.map(({ url, time }) => `${url as string} ${time as string}`).sort();
    expect(seen).toEqual([
      `${BEETLE} 2009-05-14T09:30:36Z`,
      `${BEETLE} 2013-09-03T14:05:30Z`,
      `${pressed} 2009-05-14T09:30:50Z`,
      `${pressed} 2013-09-03T14:06:00Z`,
      `${pressed} 2018-03-21T08:16:00Z`,
      `${pressed} 2024-06-12T16:41:00Z`,
    ]);
    expect(found.filter(({ flags }) => !(flags as string[]).includes("replaced"))).toMatchObject([
      { url: BEETLE, time: "2009-05-14T09:30:36Z" },
    ]);
    expect(told(ask("same", BEETLE, "2014").out)).toContain(
      `2009-05-14T09:30:36Z state            response 200      9536 889197871a6f 000001.warc.gz ${BEETLE}`,
    );
    expect(ask("same", BEETLE, "2001")).toMatchObject({ exit: 20 });
  });
});

describe("holotype stats", () => {
  it("tells what is there", () => {
    const { out } = ask("stats");
    expect(linesOf(out).slice(0, 3)).toEqual([
      "captures    127",
      "contents    71",
      "payloads    450.6 kB seen, 201.9 kB kept (55.2 % saved)",
    ]);
    expect(linesOf(out)[3]).toMatch(/^on disk {5}27\d\.\d kB in 1 segment$/);
  });

  it.each(["crawl", "host", "mime", "year"])("adds up by %s", (by) => {
    const rows = json("stats", "--by", by);
    const total = rows.pop()!;
    for (const figure of ["captures", "contents", "bytesSeen", "bytesKept"]) {
      expect(rows.reduce((sum, row) => sum + (row[figure] as number), 0)).toBe(total[figure]);
    }
    expect(total).toMatchObject({ captures: 127, contents: 71, pending: 0, adopted: 0, segments: 1 });
  });

  it("tells what each crawl brought", () => {
    const short = ask("stats", "--by", "crawl").out.replaceAll(`${SAMPLES}/`, "");
    expect(linesOf(short)).toEqual([
      "    captures    contents       seen       kept  crawl",
      "          25          24    99.8 kB    90.3 kB  cabinet-2009.warc.gz",
      "          31          14   125.5 kB    41.0 kB  cabinet-2013.warc.gz",
      "          35          24   111.0 kB    53.1 kB  cabinet-2018.warc.gz",
      "          36           9   114.4 kB    17.5 kB  cabinet-2024.warc.gz",
      "         127          71   450.6 kB   201.9 kB  total",
    ]);
  });
});

describe("the archive", () => {
  it("is where --archive, the environment or the working folder says", () => {
    const run = (env: Record<string, string>, cwd: string) =>
      spawnSync(process.execPath, [MAIN, "slice", "2014", "--count"], { cwd, env: { ...process.env, ...env } });
    expect(run({ HOLOTYPE_ARCHIVE: archive }, ROOT).stdout.toString()).toBe("31\n");
    expect(run({ HOLOTYPE_ARCHIVE: "" }, folder)).toMatchObject({ status: 20 });
    expect(existsSync(join(folder, "archive"))).toBe(false);
    expect(holotype(["add", SAMPLES], { cwd: folder }).exit).toBe(0);
    expect(run({ HOLOTYPE_ARCHIVE: "" }, folder).stdout.toString()).toBe("31\n");
  });

  it.each(["at URL 2014", "history URL", "slice 2014", "changes 2009 2014", "same URL 2014", "stats"])(
    "is missed by %s with exit 20",
    (line) => {
      const { exit, out, err } = holotype([...line.split(" "), "--archive", join(folder, "absent")]);
      expect({ exit, out }).toEqual({ exit: 20, out: "" });
      expect(err).toMatch(/absent: no archive here; `holotype add` makes one\n$/);
    },
  );

  it.each(["at", "at URL", "at URL 2014 more", "history", "slice", "changes 2009", "same URL", "stats more"])(
    "is not asked by %s: exit 2",
    (line) => {
      const { exit, err } = ask(...line.split(" "));
      expect(exit).toBe(2);
      expect(err).toMatch(/^holotype: usage: holotype /);
    },
  );

  it("refuses what is no time, no host, no pattern, no number", () => {
    for (const line of [
      "slice yesterday",
      "slice 2014 --site http://",
      "slice 2014 --mime image",
      "slice 2014 --limit 0",
      "stats --by day",
    ]) {
      expect({ line, exit: ask(...line.split(" ")).exit }).toEqual({ line, exit: 2 });
    }
  });
});
