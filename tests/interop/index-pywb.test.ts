/**
 * The index that Holotype makes of pywb's sample files against the indexes that pywb ships beside them: key, time,
 * digest, status, media type, offset and length of every capture. Where the two differ, the difference has a name and
 * a reason here, and no other is let through.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { nodeDisk } from "../../src/disk/index.ts";
import { findInputs, LineSorter, runTask } from "../../src/pipeline/index.ts";
import { CDX_11, type CdxEntry, parseCdxDigest, parseCdxjLine, parseCdxLine } from "../../src/warc/index.ts";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const SAMPLES = join(dirname(ROOT), "shared", "corpus", "real", "webrecorder__pywb", "sample_archive");
const present = existsSync(SAMPLES);
const why = present ? "" : " (skipped: the corpus of real files is not here)";

/** Which index describes which file. */
const PAIRS: readonly { readonly index: string; readonly file: string }[] = [
  { index: "cdxj/dupes.cdxj", file: "dupes.warc.gz" },
  { index: "cdxj/example.cdxj", file: "example.warc.gz" },
  { index: "cdxj/example-no-digest.cdxj", file: "example.warc.gz" },
  { index: "cdxj/example2.cdxj", file: "example2.warc.gz" },
  { index: "cdxj/iana.cdxj", file: "iana.warc.gz" },
  { index: "cdx/dupes.cdx", file: "dupes.warc.gz" },
  { index: "cdx/example.cdx", file: "example.warc.gz" },
  { index: "cdx/iana.cdx", file: "iana.warc.gz" },
  { index: "cdx/httpbin-resource.cdxj", file: "httpbin-resource.warc.gz" },
  { index: "cdx/missing-status-text.cdxj", file: "missing-status-text.warc" },
];
// The WARC of `post-test` is not in the corpus; the keys of its index are tested in src/url.

type Field = "urlKey" | "timestamp" | "url" | "mime" | "status" | "digest" | "redirect" | "length" | "offset" | "file";
const FIELDS: readonly Field[] = [
  "urlKey",
  "timestamp",
  "url",
  "mime",
  "status",
  "digest",
  "redirect",
  "length",
  "offset",
  "file",
];

interface Difference {
  readonly index: string;
  readonly field: Field;
  readonly ours: CdxEntry;
  readonly theirs: CdxEntry;
}

/** Every difference there is, and why it is right to be there. */
const EXPLAINED: readonly { readonly why: string; readonly count: number; holds: (d: Difference) => boolean }[] = [
  {
    why: "a revisit has its own HTTP header, and with it a status: the pywb of 2014 did not look, cdxj-indexer does now",
    count: 2 * (9 + 123) + 3,
    holds: ({ field, ours, theirs }) =>
      field === "status" && ours.mime === "warc/revisit" && ours.status === 200 && theirs.status === undefined,
  },
  {
    why: "CDX-11 has a column for where a redirect leads; pywb leaves it empty",
    count: 6,
    holds: ({ index, field, ours, theirs }) =>
      index.endsWith(".cdx") &&
      field === "redirect" &&
      theirs.redirect === undefined &&
      ours.redirect !== undefined &&
      ours.status !== undefined &&
      ours.status >= 300 &&
      ours.status < 400,
  },
  {
    why: "pywb's example.cdxj and example-no-digest.cdxj are cut by hand, to test indexes without these fields",
    count: 2 * 4 + 3,
    holds: ({ index, field, theirs }) =>
      /\/example(?:-no-digest)?\.cdxj$/.test(index) &&
      (field === "mime" || field === "status" || (field === "digest" && index.includes("no-digest"))) &&
      theirs[field] === undefined,
  },
  {
    why: "the file's lines end in CR CR LF, and pywb does not count the six bytes of line ends behind the last record",
    count: 1,
    holds: ({ index, field, ours, theirs }) =>
      index.endsWith("missing-status-text.cdxj") && field === "length" && ours.length! - theirs.length! === 6,
  },
];

async function makeIndex(file: string, format: "cdxj" | "cdx11"): Promise<CdxEntry[]> {
  const inputs = findInputs(nodeDisk, [join(SAMPLES, "warcs", file)], ({ error }) => expect.fail(error.message));
  using sorter = new LineSorter(nodeDisk);
  const options = { format, stripWww: true, fullPath: false };
  await runTask(nodeDisk, inputs, { kind: "cdx", options }, { threads: 1, onText: (text) => sorter.addText(text) });
  return parseLines(Buffer.concat([...sorter.sorted()]).toString(), format);
}

function parseLines(text: string, format: "cdxj" | "cdx11"): CdxEntry[] {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith(" CDX "));
  return lines.map((line) => {
    const entry = format === "cdxj" ? parseCdxjLine(line) : parseCdxLine(line, CDX_11);
    expect(entry, line).toBeDefined();
    return entry!;
  });
}

/** Two digests are equal if their bytes are: example2 has one in hex. */
function comparable(entry: CdxEntry, field: Field): unknown {
  return field === "digest" && entry.digest !== undefined ? parseCdxDigest(entry.digest) : entry[field];
}

async function compare(index: string, file: string): Promise<Difference[]> {
  const format = index.endsWith(".cdxj") ? "cdxj" : "cdx11";
  const theirs = parseLines(readFileSync(join(SAMPLES, index), "utf8"), format);
  const ours = await makeIndex(file, format);
  // The same captures in the same order: none is missing, and there is none too many.
  const places = (entries: readonly CdxEntry[]) =>
    entries.map(({ urlKey, timestamp, offset }) => [urlKey, timestamp, offset]);
  expect(places(ours)).toEqual(places(theirs));
  return ours.flatMap((entry, i) =>
    FIELDS.filter(
      (field) => JSON.stringify(comparable(entry, field)) !== JSON.stringify(comparable(theirs[i]!, field)),
    ).map((field) => ({ index, field, ours: entry, theirs: theirs[i]! })),
  );
}

describe(`our index of pywb's samples${why}`, () => {
  it.skipIf(!present).each(PAIRS)("agrees with $index but for what is explained", async ({ index, file }) => {
    const differences = await compare(index, file);
    expect(differences.filter((difference) => !EXPLAINED.some(({ holds }) => holds(difference)))).toEqual([]);
  });

  it.skipIf(!present)("has no explanation that explains nothing, or more than it was made for", async () => {
    const counts = EXPLAINED.map(() => 0);
    for (const { index, file } of PAIRS) {
      for (const difference of await compare(index, file)) {
        const at = EXPLAINED.findIndex(({ holds }) => holds(difference));
        if (at >= 0) counts[at]!++;
      }
    }
    expect(counts).toEqual(EXPLAINED.map(({ count }) => count));
  });
});
