/** Lines that are read from their bytes, and the same lines by way of text: the two must agree on every one of them. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { formatDigest } from "../base/index.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { parseCrawlLogLine } from "../warc/index.ts";
import { ByteReader } from "./byte-fields.ts";
import { CrawlLogScanner } from "./crawl-log-scanner.ts";
import type { DigestEntry } from "./entry.ts";
import { decodeEntry } from "./entry-bytes.ts";
import { EntrySorter } from "./entry-sorter.ts";
import { Intake, type IntakeOptions } from "./intake.ts";
import { entryOfLog } from "./log-entries.ts";
import { createHashPair, hashText } from "./url-hash.ts";

const SETTINGS = { url: true, digest: true, equivalent: false, validators: false };

interface Outcome {
  readonly isQuick: boolean;
  readonly entries: readonly (DigestEntry & { readonly hash: string })[];
  readonly skipped: Readonly<Record<string, number>>;
}

/** What comes of a line by one of the ways. */
function take(line: string, options: IntakeOptions, way: "bytes" | "text"): Outcome {
  using sorter = new EntrySorter(new ForgetfulDisk(), { folder: "/" });
  const intake = new Intake(sorter, SETTINGS, options);
  const bytes = Buffer.from(`#${line}#`);
  const isQuick = way === "bytes" && new CrawlLogScanner(intake).take(bytes, 1, bytes.length - 1);
  if (!isQuick) {
    const parsed = parseCrawlLogLine(line);
    intake.take(parsed === undefined ? "unreadable" : entryOfLog(parsed));
  }
  expect(intake.read).toBe(1);
  const cursor = sorter.sorter.sorted();
  const entries: Outcome["entries"][number][] = [];
  while (cursor.next()) {
    const entry = decodeEntry(new ByteReader(cursor.buffer, cursor.start, cursor.end, "test"), sorter.words);
    entries.push({ ...entry, hash: `${cursor.high} ${cursor.low}` });
  }
  return { isQuick, entries, skipped: intake.skipped };
}

const iso = fc.integer({ min: 0, max: 4_000_000_000_000 }).map((timeMs) => new Date(timeMs).toISOString());
const digits = iso.map((text) => text.replace(/[-:.TZ]/g, ""));
const often = <T>(usual: T, ...odd: readonly T[]) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) });
const base32 = fc.string({
  unit: fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".split("")),
  minLength: 32,
  maxLength: 32,
});
const url = fc.oneof(
  fc.webUrl({ withQueryParameters: true }),
  fc.constantFrom(
    "http://",
    "https://www.",
    "http://www.a.test/",
    "dns:a.test",
    "httpx://a",
    "http:/a",
    "https://ü.test/",
    "h",
  ),
  fc.string({ minLength: 1, maxLength: 5 }).map((text) => `http://a.test/${text.replace(/\s/g, "_")}`),
  fc.integer({ min: 3000, max: 5000 }).map((size) => `http://a.test/${"x".repeat(size)}`),
);

const line = fc
  .tuple(
    fc.oneof(
      { weight: 9, arbitrary: iso },
      digits,
      fc.constantFrom("2019-02-30T00:00:00.000Z", "-", "2019-02-28T00:00:60.000Z"),
    ),
    often("200", "404", "304", "-2", "1", "20000", "x", "99", "0"),
    often("1234", "0", "-", "12x", "1234567890123456"),
    url,
    often("LLE", "-", "P"),
    often("http://a.test/", "-"),
    often("text/html", "TEXT/html;charset=x", "-", "no-type", "ümlaut/x", "x".repeat(400)),
    often("#012", "-", "#", "#1x", "012"),
    fc.oneof(
      { weight: 9, arbitrary: fc.tuple(digits, fc.nat(99_999)).map(([text, ms]) => `${text}+${ms}`) },
      digits,
      fc.constantFrom("-", "20190230000000000+1", "20190228000000000+", "20190228000000000+1x", "20190228000000000;5"),
    ),
    fc.oneof(
      { weight: 6, arbitrary: base32.map((text) => `sha1:${text}`) },
      base32,
      base32.map((text) => `sha1:${text.toLowerCase()}`),
      fc.constantFrom("-", "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", "sha1:!", "md5:d41d8cd98f00b204e9800998ecf8427e"),
    ),
    often("-", "http://seed.test/", "tag"),
    often(
      "-",
      "3t",
      "Q:group-max-all-kb",
      "2t,content-size:12",
      "timeTrunc",
      "2t,lenTrunc",
      "duplicate:digest",
      'duplicate:"a.arc,12,20190228000000"',
      'deduplicate:"crawl 1"',
      'x,duplicate:"a",equivalentURL:"http://b.test/"',
      '- {"warcFilename":"a.warc.gz","warcFileOffset":12}',
      'Revisit:IdenticalPayloadDigest {"RevisitRefersToURI":"http://b.test/","RevisitRefersToDate":"2019-02-28T00:00:00Z"}',
      "",
    ),
    fc.constantFrom(12, 12, 12, 11, 10, 9),
    fc.constantFrom(" ", " ", "   "),
  )
  .map(([...parts]) => {
    const [fields, count, blank] = [parts.slice(0, 12) as string[], parts[12], parts[13]];
    return fields.slice(0, count).join(blank);
  });

it("agrees with what is read by way of text", () => {
  let quick = 0;
  fc.assert(
    fc.property(
      line,
      fc.constantFrom<IntakeOptions>({}, { origin: "crawl 1" }, { notMimeRegex: ["^text/.*"] }, { mime: ["text/*"] }),
      (text, options) => {
        const byBytes = take(text, options, "bytes");
        const byText = take(text, options, "text");
        if (byBytes.isQuick) quick++;
        expect(byBytes.skipped).toEqual(byText.skipped);
        expect(byBytes.entries).toEqual(byText.entries);
        const pair = createHashPair();
        for (const { uri, hash } of byBytes.entries) {
          hashText(uri, pair);
          expect(hash).toBe(`${pair[0]} ${pair[1]}`);
        }
      },
    ),
    { numRuns: 3000 },
  );
  // A test of the quick way that never took it would prove nothing.
  expect(quick).toBeGreaterThan(300);
});

it("agrees on which URLs are too long, to the byte", () => {
  let taken = 0;
  for (const options of [{}, { origin: "crawl 1" }]) {
    for (const mime of ["text/html", "-"]) {
      for (let size = 3980; size < 4080; size++) {
        const url = `http://a.test/${"x".repeat(size)}`;
        const text = `2019-02-28T00:00:00.000Z 200 12 ${url} L - ${mime} #1 20190228000000000+0 sha1:${"A".repeat(32)} - -`;
        const byBytes = take(text, options, "bytes");
        expect(byBytes.isQuick).toBe(true);
        expect(byBytes.entries.length).toBe(take(text, options, "text").entries.length);
        taken += byBytes.entries.length;
      }
    }
  }
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThan(400);
});

it("carries a duplicate's origin on", () => {
  const of = (annotation: string) => {
    const digest = formatDigest({ algorithm: "sha1", hex: "ab".repeat(20) });
    const text = `2019-04-03T11:15:33.835Z 200 12 http://a.test/ - - text/html #001 20190403111533700+88 ${digest} - ${annotation}`;
    return take(text, { origin: "this crawl" }, "bytes").entries[0]!;
  };
  expect(of("-")).toMatchObject({
    origin: "this crawl",
    framing: "plain",
    original: { uri: "http://a.test/", date: "2019-04-03T11:15:33Z" },
  });
  expect(of('duplicate:"a.arc,12,20180101000000"')).toMatchObject({
    origin: "a.arc,12",
    original: { uri: "http://a.test/", date: "2018-01-01T00:00:00Z" },
    place: { file: "a.arc", offset: 12 },
  });
  expect(of('duplicate:"first crawl",equivalentURL:"http://www.a.test/"')).toMatchObject({
    origin: "first crawl",
    original: undefined,
  });
  expect(of("duplicate:digest").original).toBeUndefined();
});
