import { describe, expect, test } from "vitest";
import { type CrawlLogDuplicate, type CrawlLogEntry, formatCrawlLogLine, parseCrawlLogLine } from "./crawl-log-line.ts";

const HEAD =
  "2019-09-03T09:45:28.993Z   200       1270 http://example.org/ LE http://example.org/via text/html #001 20190903094528724+260 sha1:B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A";
const LINE = `${HEAD} http://seed.org/ 3t,ip:1.2.3.4 {"contentSize":1500,"scopeDecision":"ACCEPT by rule #2"}`;

test("a line of Heritrix 3 is read and written as it was", () => {
  const entry = parseCrawlLogLine(`${LINE}\n`)!;
  expect(entry).toEqual({
    timeMs: Date.UTC(2019, 8, 3, 9, 45, 28, 993),
    status: 200,
    size: 1270,
    uri: "http://example.org/",
    hops: "LE",
    via: "http://example.org/via",
    mime: "text/html",
    thread: 1,
    fetchStartMs: Date.UTC(2019, 8, 3, 9, 45, 28, 724),
    fetchDurationMs: 260,
    digest: { algorithm: "sha1", hex: "0e973b59f476007fd10f87f347c3956065516fc0" },
    sourceTag: "http://seed.org/",
    annotations: ["3t", "ip:1.2.3.4"],
    extra: { contentSize: 1500, scopeDecision: "ACCEPT by rule #2" },
  });
  expect(formatCrawlLogLine(entry)).toBe(LINE);
});

describe("dialects", () => {
  test("nothing fetched", () => {
    const line = "2012-05-23T15:06:31.301Z   -63          - http://x/ RRE - no-type #018 - - - -";
    const entry = parseCrawlLogLine(line)!;
    expect(entry).toMatchObject({ status: -63, size: undefined, via: undefined, mime: "no-type", annotations: [] });
    expect(entry.fetchStartMs).toBeUndefined();
    expect(entry.digest).toBeUndefined();
    expect(formatCrawlLogLine(entry)).toBe(line);
  });

  test("digits for the time, a bare digest, no source tag, a semicolon", () => {
    const entry = parseCrawlLogLine(
      "20050506114730524 200 - http://x/s - - text/html #049 20050506114730466;36 KSA5PLCHAN2ZC6QCVNVGDJ5Z757JBEDS 3t",
    )!;
    expect(entry).toMatchObject({
      timeMs: Date.UTC(2005, 4, 6, 11, 47, 30, 524),
      fetchDurationMs: 36,
      annotations: ["3t"],
    });
    expect(entry.sourceTag).toBeUndefined();
    expect(formatCrawlLogLine(entry)).toBe(
      "2005-05-06T11:47:30.524Z   200          - http://x/s - - text/html #049 20050506114730466+36 sha1:KSA5PLCHAN2ZC6QCVNVGDJ5Z757JBEDS - 3t",
    );
  });

  test.each([
    ["a seed at the end is a source tag", `${HEAD} http://seed.org/`, "http://seed.org/", []],
    ["so is any text before a last blank", `${HEAD} tid:5 `, "tid:5", []],
    ["annotations may hold blanks", `${HEAD} - err=a b,c  d,3t`, undefined, ["err=a b", "c  d", "3t"]],
    ["and braces that are no JSON", `${HEAD} - a {b},c`, undefined, ["a {b}", "c"]],
    ["and no annotation at all", `${HEAD} -`, undefined, []],
    ["ten fields", HEAD, undefined, []],
  ])("%s", (_, line, sourceTag, annotations) => {
    expect(parseCrawlLogLine(line)).toMatchObject({ sourceTag, annotations });
  });

  test("JSON where the annotations are left out, as some Heritrix do", () => {
    expect(parseCrawlLogLine(`${HEAD} -  {"a":1}`)).toMatchObject({ annotations: [], extra: { a: 1 } });
  });

  test("warcprox: no thread, hex digest, padded duration", () => {
    const entry = parseCrawlLogLine(
      '2017-08-03T21:45:24.496Z   200       2189 https://x/ B https://y/ text/plain - 20170803214523617+005 sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709 https://seed/ duplicate:digest {"contentSize":2495,"warcFilename":"a.warc.gz","warcFileOffset":942}',
    )!;
    expect(entry).toMatchObject({ fetchDurationMs: 5, duplicate: { kind: "digest" }, extra: { warcFileOffset: 942 } });
    expect(entry.thread).toBeUndefined();
    expect(formatCrawlLogLine(entry)).toContain(" - 20170803214523617+5 sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ ");
  });

  test("Kafka, of Heritrix", () => {
    const entry = parseCrawlLogLine(
      JSON.stringify({
        hop_path: "LL",
        status_code: 303,
        seed: "tid:1:https://s/",
        warc_filename: null,
        annotations: "duplicate:digest,ip:1.2.3.4",
        thread: 279,
        content_digest: "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
        url: "https://x/",
        via: "https://y/",
        crawl_name: "c",
        start_time_plus_duration: "20210116170411113+583",
        extra_info: { scopeDecision: "ACCEPT" },
        size: 720,
        mimetype: "text/html",
        content_length: 0,
        timestamp: "2021-01-16T17:04:11.697Z",
      }),
    )!;
    expect(formatCrawlLogLine(entry)).toBe(
      '2021-01-16T17:04:11.697Z   303          0 https://x/ LL https://y/ text/html #279 20210116170411113+583 sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ tid:1:https://s/ duplicate:digest,ip:1.2.3.4 {"scopeDecision":"ACCEPT","crawl_name":"c","contentSize":720}',
    );
  });

  test.each([
    '{"logLevel":"info","timestamp":"2023-02-23T23:44:39.665Z","context":"general","message":"Seeds","details":{}}',
    '{"timestamp":"2023-02-23T23:44:39.665Z","url":"http://x/"}',
    '{"timestamp":"yesterday","url":"http://x/","status_code":200}',
    "{",
    "",
    "metadata://netarkivet.dk/crawl/logs/crawl.log?jobid=6 130.226.228.8 20120523150916 text/plain 412905",
    "2005-05-06T11:47:28.465Z   200         14 http://tooshortline/",
    HEAD.replace("1270", "xyz"),
    HEAD.replace("   200", "   OK"),
    HEAD.replace("#001", "001"),
    HEAD.replace("+260", "+x"),
    HEAD.replace("2019-09-03T", "2019-13-03T"),
  ])("not a line: %j", (line) => {
    expect(parseCrawlLogLine(line)).toBeUndefined();
  });
});

describe("duplicates", () => {
  test.each<[string, CrawlLogDuplicate | undefined]>([
    ["duplicate:digest", { kind: "digest" }],
    ["3t,duplicate:server-not-modified", { kind: "not-modified" }],
    ["warcRevisit:digest", { kind: "digest" }],
    ["warcRevisit:notModified", { kind: "not-modified" }],
    ["warcRevisit:uriAgnosticDigest", { kind: "uri-agnostic-digest" }],
    [
      'duplicate:"1-2-3.arc,94801013",content-size:27550',
      { kind: "digest", origin: { file: "1-2-3.arc", offset: 94801013 } },
    ],
    [
      'duplicate:"a.warc.gz,5,20120523150635"',
      { kind: "digest", origin: { file: "a.warc.gz", offset: 5, timestamp: "20120523150635" } },
    ],
    ['deduplicate:"a.arc,5"', { kind: "digest", origin: { file: "a.arc", offset: 5 } }],
    ['deduplicate:"crawl of 2005"', { kind: "digest", origin: { text: "crawl of 2005" } }],
    ['deduplicate:"check-arc', { kind: "digest", origin: { text: "check-arc" } }],
    ['duplicate:"', { kind: "digest", origin: { text: "" } }],
    [
      'Revisit:IdenticalPayloadDigest {"RevisitProfile":"p","RevisitRefersToURI":"http://o/","RevisitRefersToDate":"2014-01-02T03:04:05Z"}',
      { kind: "digest", origin: { uri: "http://o/", dateMs: Date.UTC(2014, 0, 2, 3, 4, 5) } },
    ],
    ["duplicate:other", undefined],
    ["content-size:5", undefined],
    ["-", undefined],
  ])("%s", (annotations, duplicate) => {
    const line = `${HEAD} - ${annotations}`;
    const entry = parseCrawlLogLine(line)!;
    expect(entry.duplicate).toEqual(duplicate);
    expect(formatCrawlLogLine(entry)).toBe(line);
  });

  test.each<CrawlLogDuplicate>([
    { kind: "digest" },
    { kind: "not-modified", origin: { uri: "http://o/", dateMs: 1_388_631_845_000 } },
    { kind: "uri-agnostic-digest", origin: { uri: "http://o/" } },
    {
      kind: "digest",
      origin: { file: "a.warc.gz", offset: 7, timestamp: "20120523150635", dateMs: 1_388_631_845_000 },
    },
    { kind: "digest", origin: { text: "crawl, of 2005" } },
  ])("one that no annotation tells is written so that it can be read: %j", (duplicate) => {
    const entry: CrawlLogEntry = { timeMs: 0, status: 200, uri: "u", annotations: ["3t"], duplicate };
    expect(parseCrawlLogLine(formatCrawlLogLine(entry))?.duplicate).toEqual(duplicate);
  });
});

test("values keep to their fields", () => {
  const entry: CrawlLogEntry = {
    timeMs: 0,
    status: 200,
    uri: "http://x/a b\n",
    annotations: ["a\nb", '{"c":1}', "d {e}", " "],
    via: "",
  };
  expect(formatCrawlLogLine(entry)).toBe(
    '1970-01-01T00:00:00.000Z   200          - http://x/a%20b%0A - - - - - - - a%0Ab,{"c":1},d %7Be}',
  );
});
