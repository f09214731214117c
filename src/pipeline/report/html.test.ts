/** The page is well formed, tells every figure, and is the same page whatever the archives try to put into it. */

import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeHtml, formatNumber, html } from "../../markup/index.ts";
import { type Page, readPage } from "../../testing/report-page.ts";
import type { ManifestLine } from "../manifest-line.ts";
import { DedupStatistics } from "./dedup-statistics.ts";
import { formatReportHtml } from "./html.ts";
import type { DedupReport, ReportTotals } from "./shape.ts";

function reportWith(texts: readonly string[]): DedupReport {
  const statistics = new DedupStatistics();
  const [uri = "", mime = "", file = "", date = "", reason = "", setting = ""] = texts;
  const original = { uri: `${uri}.`, date, id: undefined, file, offset: 7 };
  const facts = { file, offset: 381, length: 40_021, date, digest: "sha1:X", payloadSize: 61_217, status: 200, mime };
  const line: ManifestLine = {
    ...facts,
    uri,
    framing: "plain",
    id: undefined,
    flags: [],
    extension: 0,
    copy: 2,
    original,
  };
  statistics.addRecord({ ...line, original: undefined }, { kind: "original" });
  statistics.addRecord(line, { kind: "duplicate", copy: 2 });
  statistics.addRecord(line, { kind: "duplicate", copy: 3 });
  statistics.addRecord(line, { kind: "kept", reason });
  statistics.addRewritten(line, 40_021, 313);
  statistics.addLeft(line, reason);
  statistics.addFile({
    input: file,
    output: `${file}.out`,
    bytesBefore: 91_731,
    bytesAfter: 52_023,
    records: 19,
    replaced: 1,
  });
  return statistics.finish({
    versions: { holotype: setting, [setting]: "1" },
    startedAt: date,
    finishedAt: "2024-06-12T16:42:00Z",
    settings: { [setting]: setting, list: [setting, "x"], many: 20_000, yes: true },
    proofs: [setting],
  });
}

const CALM = ["http://a.example/", "text/html", "one.warc.gz", "2009-05-14T09:30:02Z", "because", "value"];
const HOSTILE = [
  "<script>alert(1)</script>",
  `"><img src=x onerror=alert(1)>`,
  "' onmouseover='alert(1)",
  "javascript:alert(1)//http://a.example/",
  "data:text/html,<script>alert(1)</script>",
  "</title></style></table><svg/onload=alert(1)>",
  "<!--",
  "]]>",
  "&lt;script&gt;&amp;&#60;",
  "`${alert(1)}`",
  "\0\x01\x1b[31m\x7f\x85",
  "\u202egnp.exe\u202c\u2066\u200f",
  "\ud800\udfff\ud83d",
  "\u2028\u2029\ufeff\ufffe\uffff",
  "a\tb\nc\rd",
];

/** The page as its tags, with the attributes that hold no text of others. */
function skeleton(page: Page): string {
  return page.tags
    .map(({ name, attributes }) => `${name} ${Object.keys(attributes).join(" ")} ${attributes["class"] ?? ""}`)
    .join("\n");
}

describe("the page", () => {
  const page = formatReportHtml(reportWith(CALM));
  const { tags } = readPage(page);

  it("tells every figure of the totals", () => {
    const report = reportWith(CALM);
    const keys = Object.keys(report.totals);
    // Figures that cannot be there by chance.
    const totals = Object.fromEntries(keys.map((key, i) => [key, 7_310_417 + i * 1_000_003]));
    const told = readPage(formatReportHtml({ ...report, totals: totals as unknown as ReportTotals })).text;
    for (const key of keys) expect(told).toContain(formatNumber(totals[key]!));
  });

  it("allows its own style sheet and nothing else", () => {
    const style = /<style>([^<]*)<\/style>/.exec(page)![1]!;
    const hash = createHash("sha256").update(style).digest("base64");
    const policy = tags.find(({ attributes }) => attributes["http-equiv"] === "Content-Security-Policy");
    expect(policy!.attributes["content"]).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`,
    );
    expect(style).not.toMatch(/@import|url\((?!#)|expression|http/);
  });

  it("loads nothing, leads nowhere and runs nothing", () => {
    const names = new Set(tags.map(({ name }) => name));
    for (const name of ["script", "link", "img", "iframe", "object", "embed", "form", "base", "image", "use"]) {
      expect(names).not.toContain(name);
    }
    for (const { attributes } of tags) {
      for (const [key, value] of Object.entries(attributes)) {
        expect(key).not.toMatch(/^on|^style$|^src|^action$|^xlink/);
        if (key === "href") expect(value).toMatch(/^#[a-z]+$/);
        if (/url\(/.test(value)) expect(value).toMatch(/^url\(#[a-z]+\)$/);
      }
    }
  });

  it("leads to sections that are there, each named once", () => {
    const ids = tags.flatMap(({ attributes }) => attributes["id"] ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    const targets = tags.flatMap(({ attributes }) => [
      ...(attributes["href"] === undefined ? [] : [attributes["href"].slice(1)]),
      ...(attributes["aria-labelledby"] === undefined ? [] : [attributes["aria-labelledby"]]),
    ]);
    expect(targets.length).toBeGreaterThan(10);
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
  });

  it("can be read without eyes: captions, scopes, words for charts", () => {
    const count = (name: string) => tags.filter((tag) => tag.name === name).length;
    expect(count("h1")).toBe(1);
    expect(count("caption")).toBe(count("table"));
    for (const { name, attributes } of tags) {
      if (name === "th") expect(attributes["scope"]).toMatch(/^(?:row|col)$/);
      if (name !== "svg") continue;
      if (attributes["role"] === "img") expect(attributes["aria-label"]).not.toBe("");
      else expect(attributes["aria-hidden"]).toBe("true");
    }
  });
});

describe("hostile text", () => {
  it.each(HOSTILE)("changes nothing but words: %j", (hostile) => {
    // Where a text is the same everywhere, rows fall together as they do for calm ones.
    const page = readPage(formatReportHtml(reportWith(CALM.map((calm) => `${calm}${hostile}`))));
    expect(skeleton(page)).toBe(skeleton(readPage(formatReportHtml(reportWith(CALM.map((calm) => `${calm}!`))))));
    expect(page.text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Cn}]/u);
  });

  it("is shown as it is, as far as it can be seen", () => {
    const { text } = readPage(formatReportHtml(reportWith(CALM.map(() => "<b>\"'`&lt;\u202e"))));
    expect(text).toContain("<b>\"'`&lt;⟨U+202E⟩");
  });

  it("whatever it is", () => {
    const piece = fc.oneof(fc.constantFrom(...HOSTILE, "<", ">", '"', "&", "="), fc.string({ unit: "binary" }));
    const texts = fc.array(
      fc.array(piece, { maxLength: 4 }).map((parts) => `x${parts.join("")}`),
      {
        minLength: 6,
        maxLength: 6,
      },
    );
    fc.assert(
      fc.property(texts, (some) => {
        const { tags } = readPage(formatReportHtml(reportWith(some)));
        expect(tags.every(({ name }) => name !== "script" && name !== "img")).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});

describe("reports of all kinds", () => {
  const metadata = { versions: {}, startedAt: "", finishedAt: "", settings: {} };

  it("of nothing", () => {
    const { text } = readPage(formatReportHtml(new DedupStatistics().finish(metadata)));
    expect(text).toContain("No duplicates found");
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("of a plan that nobody carried out", () => {
    const statistics = new DedupStatistics();
    const report = reportWith(CALM);
    statistics.addFile({ input: "x", bytesBefore: 10, bytesAfter: 10, records: 2, replaced: 0 });
    const planned = { ...statistics.finish(metadata), totals: { ...report.totals, replaced: 0, savedBytes: 0 } };
    expect(readPage(formatReportHtml(planned)).text).toContain("2\u00a0duplicates found, none replaced");
  });

  it("of files that grew", () => {
    const statistics = new DedupStatistics();
    statistics.addFile({ input: "x", bytesBefore: 1000, bytesAfter: 3500, records: 2, replaced: 1 });
    const grown = statistics.finish(metadata);
    const { text } = readPage(formatReportHtml({ ...grown, totals: { ...grown.totals, replaced: 1 } }));
    expect(text).toContain("Nothing saved");
    expect(text).toContain("\u22122.5\u00a0kB");
  });

  it("with more rows than are shown", () => {
    const statistics = new DedupStatistics({ namesMax: 300, rowsMax: 200 });
    for (let i = 0; i < 5000; i++) {
      const { file, offset } = { file: `f${i}.warc.gz`, offset: i };
      statistics.addFile({ input: file, bytesBefore: 1000 + i, bytesAfter: 1000, records: 1, replaced: 1 });
      const told = { uri: `http://h${i % 2500}.example/`, length: 900, payloadSize: 900, flags: [] as string[] };
      const line = { file, offset, ...told } as unknown as ManifestLine;
      statistics.addRecord(line, { kind: "duplicate", copy: 2 });
      statistics.addRewritten(line, 900, 100);
    }
    const { text } = readPage(formatReportHtml(statistics.finish(metadata)));
    expect(text).toContain("4,985\u00a0other files");
    expect(text).toContain("85 more files");
    expect(text).toContain("100 more files are in report.json");
    expect(text).toMatch(/about 2,\d\d\d\u00a0other hosts/);
    expect(text).toContain("at least so large");
  });
});

describe("markup", () => {
  it("escapes what is put into it, unless it is markup", () => {
    const inner = html`<b>${"<&>"}</b>`;
    expect(html`<i title="${'"'}">${inner}${undefined}${[1, "<"]}</i>`.text).toBe(
      '<i title="&#34;"><b>&#60;&#38;&#62;</b>1&#60;</i>',
    );
    expect(escapeHtml("'`")).toBe("&#39;&#96;");
  });
});
