/** Every way to break a good set that we could think of: each is found, and by its right name. */
import { describe, expect, it } from "vitest";
import { captureBytes, idOf, noise, packRecords } from "../../testing/capture-text.ts";
import { getFile, INPUT_FOLDER, putFile } from "../../testing/dedup-trial.ts";
import {
  type Change,
  capture,
  edit,
  type GoodSet,
  goodSet,
  IMAGE,
  PAGE,
  recordsOf,
  repair,
  rewriteFile,
  sha1,
} from "../../testing/good-set.ts";
import { type VerifyOptions, type VerifyResult, verify } from "../index.ts";

function look(set: GoodSet, options: VerifyOptions = {}): Promise<VerifyResult> {
  return verify(set.disk, [set.folder], { threads: 1, ...options });
}

const against = { against: [INPUT_FOLDER] };

function codesOf(result: VerifyResult): string[] {
  return Object.keys(result.problemCounts).sort();
}

const isOurs = (text: string) => text.includes("\nHolotype-Replaced:");
const isCut = (text: string) => text.includes("\nHolotype-Chunks:");
const isOf = (uri: string) => (text: string) => text.includes(`WARC-Target-URI: ${uri}\r\n`);

/** Points the first revisit of ours at this record. */
const pointAt = (uri: string, date: string, id: string) => (records: Buffer[]) => {
  const one = edit(records, /(WARC-Refers-To: ).*?(\r\n)/, `$1<${id}>$2`, isOurs);
  const two = edit(one, /(WARC-Refers-To-Target-URI: ).*?(\r\n)/, `$1${uri}$2`, isOurs);
  return edit(two, /(WARC-Refers-To-Date: ).*?(\r\n)/, `$1${date}$2`, isOurs);
};

interface Break {
  readonly name: string;
  readonly crawl: 1 | 2;
  readonly change: Change;
  /** What is found without the originals, and with them. */
  readonly alone: readonly string[];
  readonly beside: readonly string[];
}

const BREAKS: readonly Break[] = [
  {
    name: "a byte of an original's payload",
    crawl: 1,
    change: (records) =>
      records.map((record, i) => {
        const changed = Buffer.from(record);
        if (i === 1) changed[changed.length - 100]! ^= 1;
        return changed;
      }),
    alone: ["HT_DIGEST_MISMATCH", "HT_REVISIT_IRREVERSIBLE", "HT_REVISIT_MISMATCH"],
    beside: ["HT_DIGEST_MISMATCH", "HT_LOST", "HT_REVISIT_IRREVERSIBLE", "HT_REVISIT_MISMATCH"],
  },
  {
    name: "a byte of an original's payload, with its digests put right",
    crawl: 1,
    change: (records) =>
      records.map((record, i) => {
        const text = record.toString("latin1");
        if (i !== 1) return record;
        const changed = `${text.slice(0, -100)}!${text.slice(-99)}`;
        const payload = Buffer.from(changed.slice(-PAGE.length - 4, -4), "latin1");
        return repair(changed.replace(/(WARC-Payload-Digest: )\S+/, `$1${sha1(payload)}`));
      }),
    alone: ["HT_REVISIT_IRREVERSIBLE", "HT_REVISIT_MISMATCH"],
    beside: ["HT_LOST", "HT_REVISIT_IRREVERSIBLE", "HT_REVISIT_MISMATCH"],
  },
  {
    name: "an original that is not there",
    crawl: 1,
    change: (records) => records.filter((_, i) => i !== 1),
    alone: ["HT_REVISIT_ORPHAN"],
    beside: ["HT_LOST", "HT_REVISIT_ORPHAN"],
  },
  {
    name: "a revisit that refers to another revisit",
    crawl: 2,
    change: pointAt(
      "http://b.example/",
      "2021-01-01T00:00:05Z",
      idOf("response http://b.example/ 2021-01-01T00:00:05Z"),
    ),
    alone: ["HT_REVISIT_CHAIN"],
    beside: ["HT_REVISIT_CHAIN"],
  },
  {
    name: "a revisit that refers to itself",
    crawl: 2,
    change: pointAt(
      "http://a.example/",
      "2021-01-01T00:00:01Z",
      idOf("response http://a.example/ 2021-01-01T00:00:01Z"),
    ),
    alone: ["HT_REVISIT_SELF"],
    beside: ["HT_REVISIT_SELF"],
  },
  {
    name: "a revisit that refers to nothing",
    crawl: 2,
    change: pointAt("http://nowhere.example/", "2020-01-01T00:00:01Z", "urn:uuid:0"),
    // Its digest leads to the original, but replay goes by URI and date.
    alone: ["HT_REVISIT_MISMATCH"],
    beside: ["HT_REVISIT_MISMATCH"],
  },
  {
    name: "a revisit that refers to another second",
    crawl: 2,
    change: (records) => edit(records, /(WARC-Refers-To-Date: 2020-01-01T00:00:0)1/, "$19", isOurs),
    alone: ["HT_REVISIT_MISMATCH"],
    beside: ["HT_REVISIT_MISMATCH"],
  },
  {
    name: "a revisit that refers to another original",
    crawl: 2,
    change: pointAt(
      "http://a.example/i",
      "2020-01-01T00:00:02Z",
      idOf("response http://a.example/i 2020-01-01T00:00:02Z"),
    ),
    alone: ["HT_REVISIT_MISMATCH"],
    beside: ["HT_REVISIT_MISMATCH"],
  },
  {
    name: "a revisit that names another id",
    crawl: 2,
    change: (records) => edit(records, /(WARC-Refers-To: <urn:uuid:)./, "$1x", isOurs),
    alone: ["HT_REVISIT_MISMATCH"],
    beside: ["HT_REVISIT_MISMATCH"],
  },
  {
    name: "Content-Length in an HTTP header that was kept",
    crawl: 2,
    change: (records) => edit(records, /(\r\n\r\nHTTP[^]*Content-Length: 9)00/, "$101", isOurs),
    alone: ["HT_REVISIT_IRREVERSIBLE", "HT_REVISIT_MISMATCH"],
    beside: ["HT_REVISIT_IRREVERSIBLE", "HT_REVISIT_MISMATCH"],
  },
  {
    name: "another line of an HTTP header that was kept",
    crawl: 2,
    change: (records) => edit(records, /Server: b/, "Server: c", isOurs),
    alone: ["HT_REVISIT_IRREVERSIBLE"],
    beside: ["HT_REVISIT_IRREVERSIBLE"],
  },
  {
    name: "the claim of a revisit",
    crawl: 2,
    change: (records) => edit(records, /(WARC-Payload-Digest: )\S+/, `$1${sha1(IMAGE)}`, isOurs),
    alone: ["HT_REVISIT_IRREVERSIBLE", "HT_REVISIT_MISMATCH"],
    beside: ["HT_REVISIT_IRREVERSIBLE", "HT_REVISIT_MISMATCH"],
  },
  {
    name: "the claim of a revisit of the crawler's",
    crawl: 2,
    change: (records) => edit(records, /(WARC-Payload-Digest: )\S+/, `$1${sha1(IMAGE)}`, isOf("http://a.example/old")),
    alone: ["HT_REVISIT_MISMATCH"],
    beside: ["HT_LOST", "HT_REVISIT_MISMATCH"],
  },
  {
    name: "Content-Length in a revisit of the crawler's",
    crawl: 2,
    change: (records) => edit(records, /(HTTP[^]*Content-Length: 9)00/, "$101", isOf("http://a.example/old")),
    alone: ["HT_REVISIT_MISMATCH"],
    beside: ["HT_LOST", "HT_REVISIT_MISMATCH"],
  },
  {
    name: "the chunks of a record",
    crawl: 2,
    change: (records) => edit(records, /(Holotype-Chunks: )\S+/, "$12bc+12d+12b+c8+0", isCut),
    alone: ["HT_REVISIT_IRREVERSIBLE"],
    beside: ["HT_REVISIT_IRREVERSIBLE"],
  },
  {
    name: "chunks that never end",
    crawl: 2,
    change: (records) => edit(records, /(Holotype-Chunks: \S+)\+0/, `$1${"+0*999999999".repeat(50)}`, isCut),
    alone: ["HT_REVISIT_IRREVERSIBLE"],
    beside: ["HT_REVISIT_IRREVERSIBLE"],
  },
  {
    name: "chunks that are gone",
    crawl: 2,
    change: (records) => edit(records, /Holotype-Chunks: .*?\r\n/, "", isCut),
    alone: ["HT_REVISIT_IRREVERSIBLE", "HT_REVISIT_MISMATCH"],
    beside: ["HT_REVISIT_IRREVERSIBLE", "HT_REVISIT_MISMATCH"],
  },
  {
    name: "the field by which replay finds the original",
    crawl: 2,
    change: (records) => edit(records, /WARC-Refers-To-Target-URI/, "X-Refers-To-Target-URI", isOurs),
    alone: ["HT_REVISIT_INCOMPLETE"],
    beside: ["HT_REVISIT_INCOMPLETE"],
  },
  {
    name: "the profile of a revisit",
    crawl: 2,
    change: (records) => edit(records, /identical-payload-digest/, "server-not-modified", isOurs),
    alone: ["HT_REVISIT_INCOMPLETE"],
    beside: ["HT_REVISIT_INCOMPLETE"],
  },
  {
    name: "a block digest that cannot be read",
    crawl: 2,
    change: (records) =>
      records.map((record) => {
        const text = record.toString("latin1");
        return isCut(text) ? Buffer.from(text.replace(/(WARC-Block-Digest: sha1:)./, "$1!"), "latin1") : record;
      }),
    alone: ["HT_DIGEST_MISMATCH"],
    beside: ["HT_DIGEST_MISMATCH"],
  },
  {
    name: "the digest of what a revisit took the place of",
    crawl: 2,
    change: (records) => edit(records, /(Holotype-Replaced: response sha256:)../, "$1zz", isOurs),
    alone: ["HT_REVISIT_IRREVERSIBLE"],
    beside: ["HT_LOST", "HT_REVISIT_IRREVERSIBLE"],
  },
  {
    name: "the type of what a revisit took the place of",
    crawl: 2,
    change: (records) => edit(records, /(Holotype-Replaced: )response/, "$1resource", isOurs),
    alone: ["HT_REVISIT_IRREVERSIBLE"],
    beside: ["HT_REVISIT_IRREVERSIBLE"],
  },
  {
    name: "a revisit's own header",
    crawl: 2,
    change: (records) => edit(records, /(WARC-Target-URI: http:\/\/a\.example\/)\r/, "$1x\r", isOurs),
    alone: ["HT_REVISIT_IRREVERSIBLE"],
    beside: ["HT_REVISIT_IRREVERSIBLE"],
  },
  {
    name: "a revisit's id",
    crawl: 2,
    change: (records) => edit(records, /(WARC-Record-ID: <urn:uuid:)./, "$1x", isOurs),
    alone: ["HT_REVISIT_IRREVERSIBLE"],
    beside: ["HT_LOST", "HT_REVISIT_IRREVERSIBLE"],
  },
  {
    name: "a record that is not there",
    crawl: 2,
    change: (records) => records.filter((_, i) => i !== 1),
    alone: [],
    beside: ["HT_LOST"],
  },
  {
    name: "the last record not there",
    crawl: 2,
    change: (records) => records.slice(0, -1),
    alone: [],
    beside: ["HT_LOST"],
  },
  {
    name: "a revisit of ours that is not there",
    crawl: 2,
    change: (records) => records.filter((record) => !isCut(record.toString("latin1"))),
    alone: [],
    beside: ["HT_LOST"],
  },
  {
    name: "two records that changed places",
    crawl: 2,
    change: ([one, two, ...rest]) => [two!, one!, ...rest],
    alone: [],
    beside: ["HT_ORDER"],
  },
  {
    name: "a record twice",
    crawl: 2,
    change: (records) => [...records.slice(0, 2), records[1]!, ...records.slice(2)],
    alone: [],
    beside: ["HT_ADDED"],
  },
  {
    name: "a record more at the end",
    crawl: 1,
    change: (records) => [...records, capture("http://c.example/", "2022-01-01T00:00:00Z", noise("c", 90))],
    alone: [],
    beside: ["HT_ADDED"],
  },
  {
    name: "a header field of a record that was not touched",
    crawl: 1,
    change: (records) => edit(records, /X-Odd: {2}yes/, "X-Odd:  no"),
    alone: [],
    beside: ["HT_LOST"],
  },
  {
    name: "a blank in a header of a record that was not touched",
    crawl: 1,
    change: (records) => edit(records, /X-Odd: {2}yes /, "X-Odd:  yes"),
    alone: [],
    beside: ["HT_LOST"],
  },
  {
    name: "a request that was not touched",
    crawl: 2,
    change: (records) => edit(records, /Host: a/, "Host: b"),
    alone: [],
    beside: ["HT_LOST"],
  },
];

describe.each(["none", "gzip"] as const)("a broken set, compression %s:", (compression) => {
  it.each(BREAKS)("$name", async ({ crawl, change, alone, beside }) => {
    const set = await goodSet(compression);
    rewriteFile(set, crawl, change);
    const one = await look(set);
    expect(codesOf(one)).toEqual(alone);
    expect(one.holds).toBe(alone.length === 0);
    const two = await look(set, against);
    expect(codesOf(two)).toEqual(beside);
    expect({ holds: two.holds, before: two.before }).toEqual({ holds: false, before: 0 });
    for (const { file, offset } of two.problems) {
      expect(file.startsWith(set.folder) || file.startsWith(INPUT_FOLDER)).toBe(true);
      expect(offset).toBeGreaterThanOrEqual(0);
    }
  });

  it("a revisit that has the URI and second of its original", async () => {
    const set = await goodSet(compression);
    rewriteFile(set, 1, (records) =>
      edit(records, /2020-01-01T00:00:01Z/, "2021-01-01T00:00:01Z", isOf("http://a.example/")),
    );
    rewriteFile(set, 2, (records) =>
      edit(records, /(Refers-To-Date: )2020-01-01T00:00:01Z/, "$12021-01-01T00:00:01Z", isOurs),
    );
    const { problems, restorable } = await look(set);
    const first = problems.filter(({ file, offset }) => file === set.name(2) && offset === 0);
    expect(first.map(({ code }) => code)).toEqual(["HT_REVISIT_SELF"]);
    expect(restorable).toBe(4);
  });

  it("a revisit that is whole, but stands for another record than the original file has", async () => {
    const set = await goodSet(compression);
    const name = set.name(2).replace(set.folder, `${INPUT_FOLDER}/crawls`);
    const changed = edit(recordsOf(getFile(set.disk, name)), /Server: b/, "Server: c");
    putFile(set.disk, name, packRecords(changed, compression));
    expect(codesOf(await look(set))).toEqual([]);
    const { problems, restorable } = await look(set, against);
    expect(problems.map(({ code, file, offset }) => [code, file, offset])).toEqual([["HT_LOST", name, 0]]);
    expect(restorable).toBe(4);
  });

  it("a file cut off at any byte", async () => {
    const set = await goodSet(compression);
    const whole = getFile(set.disk, set.name(2));
    const step = compression === "none" ? 97 : 41;
    for (let size = 0; size < whole.length; size += step) {
      putFile(set.disk, set.name(2), whole.subarray(0, size));
      const result = await look(set, against);
      expect({ size, holds: result.holds }).toEqual({ size, holds: false });
      expect(result.problemCounts.HT_LOST, String(size)).toBeGreaterThan(0);
    }
  });

  it("a file that is not there, and one too many", async () => {
    const set = await goodSet(compression);
    const bytes = getFile(set.disk, set.name(2));
    set.disk.remove(set.name(2));
    const lost = await look(set, against);
    expect(codesOf(lost)).toEqual(["HT_LOST"]);
    expect(lost.problems[0]!.file).toBe(set.name(2).replace(set.folder, `${INPUT_FOLDER}/crawls`));
    putFile(set.disk, set.name(2), bytes);
    putFile(
      set.disk,
      `${set.folder}/3.warc`,
      captureBytes({ uri: "http://c.example/", date: "2020-01-01T00:00:00Z", payload: "c" }),
    );
    expect(codesOf(await look(set, against))).toEqual(["HT_ADDED"]);
  });

  it("line ends between the records", async () => {
    const set = await goodSet("none");
    const bytes = getFile(set.disk, set.name(1));
    bytes.write("\n\n\r\n", bytes.length - 4);
    putFile(set.disk, set.name(1), bytes);
    expect(codesOf(await look(set, against))).toEqual(["HT_LOST"]);
  });

  it("bytes between the records", async () => {
    const set = await goodSet(compression);
    const bytes = getFile(set.disk, set.name(1));
    const [first] = recordsOf(bytes);
    const cut = compression === "none" ? first!.length : packRecords([first!]).length;
    const odd = Buffer.from("these are no record\n");
    putFile(set.disk, set.name(1), Buffer.concat([bytes.subarray(0, cut), odd, bytes.subarray(cut)]));
    const result = await look(set, against);
    expect(result.holds).toBe(false);
    expect(codesOf(result)).toEqual(expect.arrayContaining(["HT_GARBAGE", "HT_LOST"]));
  });
});
