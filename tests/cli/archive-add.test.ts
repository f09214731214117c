import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ArchiveWriter } from "../../src/archive/index.ts";
import { digestOf } from "../../src/base/index.ts";
import { nodeDisk } from "../../src/disk/index.ts";
import { arcFile, type CaptureOptions, DATE, response, warcFile, zipFile } from "./archives.ts";
import { ended, holotype, linesOf, put, SAMPLE, startHolotype, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
let archives = 0;
const fresh = () => join(folder, `archive-${archives++}`);
/** It does not get smaller by compression, so that a revisit saves something. */
const BODY = Array.from({ length: 50 }, (_, i) => digestOf("sha1", Buffer.from(`${i}`)).hex).join("\n");

function addTo(archive: string, ...args: readonly string[]) {
  const { exit, out, err } = holotype(["add", "--archive", archive, "--json", ...args]);
  return { exit, err, report: (linesOf(out).length === 1 ? JSON.parse(out) : {}) as Record<string, number> };
}

function write(
  name: string,
  ...captures: readonly (readonly [url: string, options?: CaptureOptions, body?: string])[]
) {
  const records = captures.map(([url, options, body = BODY]) => response(url, body, options));
  return put(folder, name, warcFile(records));
}

describe("holotype add", () => {
  it("exits with 3 where the end of a file is missing, and takes what is whole", () => {
    const whole = warcFile([response("http://a.example/1", BODY), response("http://a.example/2", BODY)]);
    const cut = put(folder, "cut.warc.gz", whole.subarray(0, whole.length - 20));
    expect(addTo(fresh(), cut)).toMatchObject({ exit: 3, report: { captures: 1 } });
    expect(addTo(fresh(), "--adopt", cut)).toMatchObject({ exit: 3 });
  });

  it("passes over a file that is not there, and takes the others", () => {
    const file = write("there.warc.gz", ["http://a.example/"]);
    expect(addTo(fresh(), file, join(folder, "absent"))).toMatchObject({ exit: 3, report: { captures: 1 } });
    expect(addTo(fresh(), join(folder, "absent"))).toMatchObject({ exit: 20 });
  });

  it("leaves its own segments out where it is given the folder that it lies in", () => {
    const own = join(folder, "around");
    mkdirSync(own);
    put(own, "a.warc.gz", warcFile([response("http://a.example/", BODY)]));
    const archive = join(own, "archive");
    expect(addTo(archive, own)).toMatchObject({ exit: 0, report: { files: 1, captures: 1 } });
    expect(addTo(archive, own)).toMatchObject({ exit: 0, report: { files: 1, captures: 0 } });
    expect(addTo(archive, own, "--adopt")).toMatchObject({ exit: 0, report: { files: 1 } });
    const segment = join(archive, "volumes", "0", "segments", "000001.warc.gz");
    const before = readFileSync(segment);
    const args = ["export", "--all", "--replace", "--archive", archive, "-o"];
    for (const target of [segment, join(own, "a.warc.gz")])
      expect(holotype([...args, target])).toMatchObject({ exit: 2 });
    expect(readFileSync(segment).equals(before)).toBe(true);
  });
});

describe("holotype add takes", () => {
  it("files of any kind and compression, folders, and several at once", () => {
    const own = join(folder, "many");
    mkdirSync(own);
    const at = (n: number) => `http://site${n}.example/`;
    put(own, "a.warc", warcFile([response(at(1), "1")], { compression: "none" }));
    put(
      own,
      "b.arc.gz",
      arcFile(1, "b.arc.gz", [{ url: at(2), mime: "text/plain", block: "HTTP/1.1 200 OK\r\n\r\n2" }]),
    );
    put(own, "c.wacz", zipFile({ "archive/c.warc.gz": warcFile([response(at(3), "3")]) }));
    const other = write("other.warc.gz", [at(4), {}, "4"]);
    const archive = fresh();
    expect(addTo(archive, own, other)).toMatchObject({ exit: 0, report: { files: 4, captures: 4, contents: 4 } });
    for (const n of [1, 2, 3, 4]) {
      expect(holotype(["at", at(n), "now", "--output", "-", "--archive", archive]).out).toBe(`${n}`);
    }
  });

  it("standard input, also where it is a WACZ", () => {
    const archive = fresh();
    for (const input of [readFileSync(SAMPLE), zipFile({ "archive/sample.warc.gz": readFileSync(SAMPLE) })]) {
      const { exit, out } = holotype(["add", "-", "--archive", archive, "--json"], { input });
      expect({ exit, ...(JSON.parse(out) as object) }).toMatchObject({ exit: 0, files: 1 });
    }
    const crawls = linesOf(holotype(["stats", "--by", "crawl", "--archive", archive]).out).slice(1, -1);
    expect(crawls).toEqual([expect.stringMatching(/ 25 .* standard input$/)]);
    expect(holotype(["add", "-", "-", "--archive", archive])).toMatchObject({ exit: 2 });
  });

  it("what is whole of a damaged file, and names the rest", () => {
    const cut = put(folder, "cut.warc.gz", readFileSync(SAMPLE).subarray(0, 60_000));
    const { exit, err, report } = addTo(fresh(), cut);
    expect({ exit, report }).toMatchObject({ exit: 3, report: { damaged: 1, skipped: 0 } });
    expect(report["captures"]).toBeGreaterThan(10);
    expect(err).toMatch(/^\{"warning":\{"code":"HT_GZIP_TRUNCATED"/);
  });

  it("nothing of a file that is no archive, and goes on with the others", () => {
    const wrong = put(folder, "wrong.warc.gz", "no archive at all");
    const { exit, err, report } = addTo(fresh(), wrong, write("right.warc.gz", ["http://a.example/"]));
    expect({ exit, report }).toMatchObject({ exit: 3, report: { captures: 1, skipped: 1 } });
    expect(err).toMatch(/^\{"skipped":\{"name":".*wrong\.warc\.gz","code":"HT_FORMAT_UNKNOWN"/);
    const archive = fresh();
    expect(holotype(["add", join(folder, "absent.warc"), "--archive", archive])).toMatchObject({ exit: 20 });
    expect(holotype(["stats", "--archive", archive])).toMatchObject({ exit: 20 });
  });
});

describe("holotype add finds a duplicate", () => {
  const url = "http://a.example/x";
  const original = write("original.warc.gz", [url, { date: "2019-01-01T00:00:00Z" }]);
  const equivalent = "http://www2.a.example/x;jsessionid=1F";
  const again = write("again.warc.gz", [url], [equivalent], ["http://b.example/x"]);
  const duplicates = (...args: readonly string[]) => {
    const { duplicates: all, acrossTime, acrossLocation } = addTo(fresh(), original, again, ...args).report;
    expect(acrossTime! + acrossLocation!).toBe(all);
    return [acrossTime, acrossLocation];
  };

  it("of any URL, or only of those that it may be of", () => {
    expect(duplicates()).toEqual([1, 2]);
    expect(duplicates("--same-url")).toEqual([1, 0]);
    expect(duplicates("--equivalent-url")).toEqual([1, 1]);
    expect(duplicates("--same-site")).toEqual([1, 1]);
  });

  it("of some media types, ages and savings", () => {
    expect(duplicates("--mime", "image/*")).toEqual([0, 0]);
    expect(duplicates("--not-mime", "text/*")).toEqual([0, 0]);
    expect(duplicates("--max-age", "1000")).toEqual([1, 2]);
    expect(duplicates("--min-saving", "100000")).toEqual([0, 0]);
  });
});

describe("holotype add stops", () => {
  it("where another writes, and says who", async () => {
    const archive = fresh();
    await using _ = ArchiveWriter.open(nodeDisk, archive, { create: true });
    const { exit, err } = addTo(archive, SAMPLE);
    expect(exit).toBe(21);
    expect(err).toContain(`${process.pid}`);
  });

  it("at what a newer Holotype made, and leaves it as it is", () => {
    const archive = fresh();
    addTo(archive, SAMPLE);
    const settings = join(archive, "archive.json");
    const newer = readFileSync(settings, "utf8").replace("holotype-archive/1", "holotype-archive/2");
    put(archive, "archive.json", newer);
    expect(addTo(archive, SAMPLE)).toMatchObject({ exit: 22 });
    expect(holotype(["at", "http://cabinet.example/", "now", "--archive", archive])).toMatchObject({ exit: 22 });
    expect(readFileSync(settings, "utf8")).toBe(newer);
  });

  it.each(["1", "2"])("at Ctrl-C with %s threads, and goes on when it is told again", async (threads) => {
    const own = join(folder, `large-${threads}`);
    mkdirSync(own);
    const count = 3000;
    for (let file = 0; file < 6; file++) {
      const records = Array.from({ length: count / 6 }, (_, i) =>
        response(`http://a.example/${file}/${i}`, `${file} ${i}`),
      );
      put(own, `${file}.warc.gz`, warcFile(records));
    }
    const archive = fresh();
    const child = startHolotype(["add", own, "--archive", archive, "--threads", threads]);
    const end = ended(child);
    while (!existsSync(join(archive, "catalogue-1"))) await sleep(5);
    child.kill("SIGINT");
    const { exit, err } = await end;
    expect([0, 130]).toContain(exit);
    if (exit === 130) expect(err).toMatch(/stopping; what was taken stays\n/);
    const { exit: again, report } = addTo(archive, own);
    expect({ again, all: report["captures"]! + report["known"]! }).toEqual({ again: 0, all: count });
    const [stats] = linesOf(holotype(["stats", "--archive", archive, "--json"]).out);
    expect(JSON.parse(stats!)).toMatchObject({ captures: count, contents: count, pending: 0 });
  });

  it("and after a kill the next one cuts off what is torn", () => {
    const archive = fresh();
    addTo(archive, SAMPLE);
    const segment = join(archive, "volumes", "0", "segments", "000001.warc.gz");
    const torn = Buffer.concat([readFileSync(segment), readFileSync(segment).subarray(0, 100)]);
    put(join(archive, "volumes", "0", "segments"), "000001.warc.gz", torn);
    expect(addTo(archive, write("one.warc.gz", ["http://a.example/", { date: DATE }]))).toMatchObject({
      exit: 0,
      report: { captures: 1 },
    });
    expect(holotype(["check", segment])).toMatchObject({ exit: 0 });
  });
});
