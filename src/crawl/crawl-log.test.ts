import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { parseCrawlLogLine } from "../warc/index.ts";
import { CrawlLog } from "./crawl-log.ts";
import { RETRIEVAL_OUTCOMES, type Retrieval } from "./retrieval.ts";
import { formatRetrieval, parseRetrieval, retrievalJson } from "./retrieval-line.ts";

const PATH = "/job/crawl.log";
const NOW_MS = Date.UTC(2026, 6, 1, 12);

function retrievalOf(number: number): Retrieval {
  const uri = `http://a.example/${number}`;
  return { uri, hops: "", startMs: NOW_MS, durationMs: 5, status: 200, outcome: "stored", payloadSize: number };
}

function diskWith(bytes: Uint8Array): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  disk.makeFolder("/job");
  using file = disk.open(PATH, "create");
  file.write(bytes, 0);
  return disk;
}

function readAll(disk: ForgetfulDisk): { uris: string[]; bad: number[] } {
  const [uris, bad]: [string[], number[]] = [[], []];
  using _log = CrawlLog.open(
    disk,
    PATH,
    ({ uri }) => void uris.push(uri),
    (line) => void bad.push(line),
  );
  return { uris, bad };
}

describe("the crawl.log of a job", () => {
  const lines = [1, 2, 3].map((number) => formatRetrieval(retrievalOf(number), NOW_MS));

  it("is cut where its last line breaks off, at whatever byte", async () => {
    const whole = Buffer.from(lines.join(""));
    for (let cut = 0; cut <= whole.length; cut += 7) {
      const disk = diskWith(whole.subarray(0, cut));
      const found: string[] = [];
      {
        using log = CrawlLog.open(disk, PATH, ({ uri }) => void found.push(uri));
        await log.append(formatRetrieval(retrievalOf(9), NOW_MS));
      }
      const { uris, bad } = readAll(disk);
      expect(uris).toEqual([...found, "http://a.example/9"]);
      expect(bad).toEqual([]);
    }
  });

  it("is read on behind lines that are none, which are named", () => {
    const text = `${lines[0]}what is this?\n\0\0\0\n${lines[1]}${lines[2]}`;
    expect(readAll(diskWith(Buffer.from(text)))).toEqual({
      uris: [1, 2, 3].map((number) => `http://a.example/${number}`),
      bad: [2, 3],
    });
  });

  it("takes no line of a megabyte and more", () => {
    const text = Buffer.concat([Buffer.from(lines[0]!), Buffer.alloc(3 << 20, "x"), Buffer.from(`\n${lines[1]}`)]);
    expect(readAll(diskWith(text)).uris).toEqual(["http://a.example/1", "http://a.example/2"]);
  });

  it("is as it was where there is no room for more", async () => {
    const disk = new ForgetfulDisk({ fullFromWrite: 2 });
    disk.makeFolder("/job");
    using log = CrawlLog.open(disk, PATH, () => {});
    await log.append(lines[0]!);
    await expect(log.append(lines[1]!)).rejects.toMatchObject({ code: "HT_NO_SPACE" });
    expect(readAll(disk.reopen({ data: "keep", names: "keep", seed: 0 })).uris).toEqual(["http://a.example/1"]);
  });
});

describe("a retrieval", () => {
  const text = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }).map(encodeURIComponent);
  const uri = text.map((path) => `http://a.example/${path}`);
  const count = fc.nat(1e12);
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
  const validators = fc.subarray(["etag", "datestamp"] as ("etag" | "datestamp")[], { minLength: 1 });
  const original = fc.record({
    uri,
    date: fc.constant("2026-01-02T03:04:05.678Z"),
    certainty: fc.constantFrom("proven", "held", "claimed"),
    hit: fc.constantFrom("exact", "equivalent", "elsewhere"),
  });
  const signs = fc.record({
    datestamp: fc.constantFrom("change", "non-change", "missing", "unreadable"),
    etag: fc.constantFrom("change", "non-change", "missing"),
    changed: fc.boolean(),
  });
  const retrieval: fc.Arbitrary<Retrieval> = fc.record({
    uri,
    hops: fc.constantFrom("", "R", "RRR"),
    via: maybe(uri),
    seed: maybe(uri),
    startMs: count,
    durationMs: fc.nat(100_000),
    status: fc.integer({ min: -6000, max: 999 }),
    outcome: fc.constantFrom(...RETRIEVAL_OUTCOMES),
    mime: maybe(fc.constantFrom("text/html", "image/png")),
    payloadSize: maybe(count),
    answerSize: maybe(count),
    place: maybe(fc.record({ file: text, offset: count })),
    truncated: maybe(fc.constantFrom("length", "time", "disconnect", "unspecified")),
    flaws: maybe(fc.array(text, { minLength: 1, maxLength: 3 })),
    failure: maybe(text),
    redirect: maybe(uri),
    asked: maybe(validators),
    audited: maybe(fc.constant(true)),
    original: maybe(original),
    headers: maybe(fc.oneof(signs, fc.constant("new" as const))),
  }) as fc.Arbitrary<Retrieval>;

  it("comes back from its line, which is one of Heritrix", () => {
    fc.assert(
      fc.property(retrieval, (one) => {
        const line = formatRetrieval(one, NOW_MS);
        expect(line).toMatch(/^[^\n]+\n$/);
        expect(parseRetrieval(line)).toEqual(one);
        const { duplicate } = parseCrawlLogLine(line)!;
        const isDuplicate = one.outcome === "duplicate" || one.outcome === "not-modified";
        expect(duplicate !== undefined).toBe(isDuplicate && one.original !== undefined);
        expect(retrievalJson(one)).toMatchObject({ url: one.uri, status: one.status, outcome: one.outcome });
      }),
    );
  });
});
