import { describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../../base/index.ts";
import { captureBytes, idOf, noise, packRecords, revisitBytes } from "../../testing/capture-text.ts";
import { dedupTrial, getFile, INPUT_FOLDER, putFile } from "../../testing/dedup-trial.ts";
import {
  capture,
  type GoodSet,
  goodSet,
  IMAGE,
  NOTE,
  PAGE,
  recordsOf,
  rewriteFile,
  SECOND,
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

const isOf = (uri: string) => (text: string) => text.includes(`WARC-Target-URI: ${uri}\r\n`);

describe.each(["none", "gzip"] as const)("a good set, compression %s,", (compression) => {
  it("passes, by itself and against the originals", async () => {
    const set = await goodSet(compression);
    for (const options of [{}, against]) {
      const result = await look(set, options);
      expect(result.problems).toEqual([]);
      expect(result).toMatchObject({ holds: true, files: 2, records: 12, originals: 3, before: 0, skipped: [] });
      expect(result).toMatchObject({ revisits: 5, written: 4, restorable: 4 });
    }
    expect((await look(set, against)).against).toEqual({
      files: 2,
      equal: 2,
      standing: 4,
      missing: [],
      uncompared: [],
    });
    expect((await look(set)).against).toBeUndefined();
  });

  it("passes when every sort goes through the disk", async () => {
    const set = await goodSet(compression);
    const options = { ...against, scratchParent: "/scratch", sortMemoryBytes: 300 };
    expect(await look(set, options)).toEqual(await look(set, against));
    expect(set.disk.list("/scratch")).toEqual([]);
  });
});

it("passes where one of two copies of an original is damaged", async () => {
  const payload = noise("payload", 3000);
  const record = (day: number) =>
    packRecords([captureBytes({ uri: `http://a.example/${day}`, date: `2020-01-0${day}T00:00:00Z`, payload })]);
  const damaged = record(1);
  // Of the checksum of its member.
  damaged[damaged.length - 5]! ^= 1;
  const files = Object.entries({ a: damaged, b: record(1), c: record(2) });
  const trial = await dedupTrial(files.map(([name, bytes]) => ({ name: `${name}.warc.gz`, bytes })));
  expect(trial.result.replaced).toBe(1);
  const folder = trial.result.job.replace(/\/[^/]+$/, "");
  const result = await verify(trial.disk, [folder], { threads: 1, ...against });
  expect(result.problems).toMatchObject([{ code: "HT_GZIP_CHECKSUM", before: true }]);
  expect(result).toMatchObject({ holds: true, written: 1, restorable: 1 });
});

describe("places and counts", () => {
  it("are those of the records, in both sets", async () => {
    const set = await goodSet("none");
    rewriteFile(set, 2, (records) => records.filter((_, i) => i !== 1));
    const { problems } = await look(set, against);
    expect(problems).toEqual([
      {
        code: "HT_LOST",
        message: `it is not in ${set.name(2)}`,
        file: `${INPUT_FOLDER}/crawls/2.warc`,
        offset: SECOND[0]!.length,
        before: false,
      },
    ]);
  });

  it("tell all problems, and list the first", async () => {
    const set = await goodSet("gzip");
    rewriteFile(set, 1, (records) => records.slice(0, 1));
    const told: string[] = [];
    const result = await look(set, { problemsMax: 2, onProblem: ({ code }) => void told.push(code) });
    expect(told).toHaveLength(5);
    expect(result.problems).toHaveLength(2);
    expect(result.problemCounts).toEqual({ HT_REVISIT_ORPHAN: 5 });
    expect(result).toMatchObject({ written: 4, restorable: 0 });
  });
});

describe("what was so in the originals", () => {
  const foreign = (date: string, refersTo: { uri?: string; date?: string; id?: string }, digest = sha1(PAGE)) =>
    revisitBytes({ uri: "http://f.example/", date, refersTo, digest });

  it("is told as such: revisits that lead nowhere, to a revisit, to themselves, or to something else", async () => {
    const old = { uri: "http://a.example/old", date: "2021-01-01T00:00:04Z" };
    const self = { uri: "http://f.example/", date: "2021-02-01T00:00:03Z" };
    const set = await goodSet("gzip", [
      ...SECOND,
      foreign("2021-02-01T00:00:00Z", { uri: "http://gone.example/", date: "2019-01-01T00:00:00Z" }),
      foreign("2021-02-01T00:00:01Z", { uri: "http://gone.example/", date: "2019-01-01T00:00:00Z" }, sha1(SECOND[0]!)),
      foreign("2021-02-01T00:00:02Z", old),
      foreign("2021-02-01T00:00:03Z", self),
      foreign("2021-02-01T00:00:04Z", { uri: "http://a.example/", date: "2020-01-01T00:00:01Z" }, sha1(NOTE)),
    ]);
    const result = await look(set, against);
    expect(result.problems.map(({ code, before }) => [code, before])).toEqual([
      ["HT_REVISIT_ORPHAN", true],
      ["HT_REVISIT_CHAIN", true],
      ["HT_REVISIT_SELF", true],
      ["HT_REVISIT_MISMATCH", true],
    ]);
    expect(result).toMatchObject({ holds: true, before: 4 });
    expect(await look(set)).toMatchObject({ holds: false, before: 0 });
  });

  it("is not what a lost or replaced record left behind", async () => {
    const refersTo = { uri: "http://b.example/", date: "2021-01-01T00:00:05Z" };
    const profile = "http://netpreserve.org/warc/1.0/revisit/server-not-modified";
    const leads = revisitBytes({ uri: "http://f.example/", date: "2021-02-01T00:00:01Z", refersTo, profile });
    const set = await goodSet("none", SECOND);
    // As if deduplication had replaced a record that a revisit refers to.
    putFile(set.disk, `${INPUT_FOLDER}/crawls/2.warc`, packRecords([...SECOND, leads], "none"));
    rewriteFile(set, 2, (records) => [...records, leads]);
    const chained = await look(set, against);
    expect(chained.problems.map(({ code, before }) => [code, before])).toEqual([["HT_REVISIT_CHAIN", false]]);
    rewriteFile(set, 2, (records) => records.filter((record) => !isOf("http://b.example/")(record.toString("latin1"))));
    const lost = await look(set, against);
    expect(lost.problemCounts).toEqual({ HT_LOST: 2, HT_REVISIT_ORPHAN: 1 });
    expect(lost.before).toBe(0);
  });

  it("is damage that was copied as it is", async () => {
    const second = [...SECOND];
    second[6] = Buffer.from(second[6]!.toString("latin1").replace("WARC-Date: 2", "WARC-Date: x"), "latin1");
    second.splice(4, 0, Buffer.from("no record at all\n"));
    const set = await goodSet("none", second);
    const result = await look(set, against);
    expect(codesOf(result)).toEqual(["HT_FIELD_INVALID", "HT_GARBAGE"]);
    expect(result).toMatchObject({ holds: true, before: 2 });
    expect((await look(set)).holds).toBe(false);
    // The same damage, but not the same bytes.
    const bytes = getFile(set.disk, set.name(2)).toString("latin1").replace("no record at all", "no record AT all");
    putFile(set.disk, set.name(2), Buffer.from(bytes, "latin1"));
    const changed = await look(set, against);
    expect(changed.holds).toBe(false);
    expect(changed.problemCounts.HT_LOST).toBe(1);
  });

  it("is a revisit of ours from an earlier run, and the second run is proven too", async () => {
    const set = await goodSet("gzip");
    const again = await dedupTrial([
      { name: "1.warc.gz", bytes: getFile(set.disk, set.name(1)) },
      { name: "2.warc.gz", bytes: getFile(set.disk, set.name(2)) },
      { name: "3.warc.gz", bytes: packRecords([capture("http://z.example/", "2022-01-01T00:00:01Z", PAGE)]) },
    ]);
    const folder = again.result.job.replace(/\/[^/]+$/, "");
    const result = await verify(again.disk, [folder], { threads: 1, ...against });
    expect(result).toMatchObject({ holds: true, before: 0, written: 5, restorable: 5 });
    expect(result.against).toEqual({ files: 3, equal: 3, standing: 1, missing: [], uncompared: [] });
  });
});

describe("notes", () => {
  it("are lengths that both the original and the record told wrong", async () => {
    const lies = (server: string) => ({ http: [`Server: ${server}`], status: "200 OK\r\nContent-Length: 7" });
    const set = await goodSet("gzip", [
      ...SECOND,
      capture("http://l.example/", "2021-03-01T00:00:01Z", noise("l", 800), lies("a")),
      capture("http://l.example/", "2021-03-01T00:00:02Z", noise("l", 800), lies("b")),
      // Of these, each tells another.
      capture("http://m.example/", "2021-03-01T00:00:01Z", noise("m", 800)),
      capture("http://m.example/", "2021-03-01T00:00:02Z", noise("m", 800), lies("b")),
    ]);
    const told: string[] = [];
    const result = await look(set, { ...against, notes: true, onProblem: ({ code }) => void told.push(code) });
    expect(result).toMatchObject({
      holds: true,
      problemCounts: {},
      noteCounts: { HT_HTTP_LENGTH: 2 },
      written: 6,
      restorable: 6,
    });
    expect(told).toEqual(["HT_HTTP_LENGTH", "HT_HTTP_LENGTH"]);
    expect(await look(set)).toMatchObject({ holds: true, problems: [], noteCounts: { HT_HTTP_LENGTH: 2 } });
  });

  it("are captures of one second that differ", async () => {
    const second = "2021-03-01T00:00:01Z";
    const refersTo = { uri: "http://t.example/", date: second, id: idOf("two") };
    const set = await goodSet("gzip", [
      capture("http://t.example/", second, noise("one", 300), { id: idOf("one") }),
      capture("http://t.example/", second, noise("two", 300), { id: idOf("two") }),
      revisitBytes({ uri: "http://t.example/r", date: second, refersTo, digest: sha1(noise("two", 300)) }),
    ]);
    expect(await look(set)).toMatchObject({ holds: true, noteCounts: { HT_REVISIT_AMBIGUOUS: 1 } });
  });

  it("are files whose records are the same and whose bytes are not", async () => {
    const set = await goodSet("gzip");
    const name = set.name(1);
    putFile(set.disk, name, packRecords(recordsOf(getFile(set.disk, name)), "none"));
    const result = await look(set, against);
    expect(result).toMatchObject({ holds: true, noteCounts: { HT_RECOMPRESSED: 1 }, restorable: 4 });
    expect(result.against).toEqual({ files: 2, equal: 1, standing: 4, missing: [], uncompared: [] });
  });
});

describe("a revisit is led to its original", () => {
  const original = capture("http://a.example/", "2020-01-01T00:00:01Z", PAGE, { digest: "sha256", chunks: [300] });
  const leads = async (text: Partial<Parameters<typeof revisitBytes>[0]>, first = original) => {
    const revisit = revisitBytes({ uri: "http://a.example/r", date: "2021-01-01T00:00:00Z", ...text });
    const set = await goodSet("gzip", [first, revisit]);
    return await look({ ...set, folder: set.name(2) });
  };
  const uriAndDate = { uri: "http://a.example/", date: "2020-01-01T00:00:01.250Z" };

  it.each([
    ["URI and second", { refersTo: uriAndDate, digest: sha1(PAGE) }],
    ["its id alone", { refersTo: { id: idOf("response http://a.example/ 2020-01-01T00:00:01Z") }, digest: sha1(PAGE) }],
    ["a digest alone, of another algorithm than its own", { digest: sha1(PAGE) }],
    ["a digest alone, of a third algorithm", { digest: formatDigest(digestOf("md5", PAGE)) }],
    ["a digest in hex", { digest: `SHA-1:${digestOf("sha1", PAGE).hex.toUpperCase()}` }],
    ["brackets", { refersTo: uriAndDate, digest: sha1(PAGE), brackets: true }],
    [
      "no digest, where nothing was modified",
      { refersTo: uriAndDate, profile: "http://netpreserve.org/warc/1.0/revisit/server-not-modified" },
    ],
  ])("by %s", async (_, text) => {
    expect(await leads(text)).toMatchObject({ holds: true, problemCounts: {}, revisits: 1, written: 0 });
  });

  it("whatever lengths are told where they mean nothing", async () => {
    for (const head of ["200 OK\r\nTransfer-Encoding: chunked", "304 Not Modified", "204 No Content"]) {
      const http = `HTTP/1.1 ${head}\r\nContent-Length: 7\r\n\r\n`;
      expect(await leads({ refersTo: uriAndDate, digest: sha1(PAGE), http })).toMatchObject({ holds: true });
    }
    const http = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n";
    const { problemCounts } = await leads({ refersTo: uriAndDate, digest: sha1(PAGE), http });
    expect(problemCounts).toEqual({ HT_REVISIT_MISMATCH: 1 });
  });

  it("by the digest of a chunked body as stored", async () => {
    const stored = original.subarray(original.indexOf("\r\n\r\n", original.indexOf("HTTP/")) + 4, -4);
    expect(stored.subarray(0, 3).toString()).toBe("12c");
    for (const refersTo of [uriAndDate, {}]) {
      expect(await leads({ refersTo, digest: sha1(stored) })).toMatchObject({ holds: true, revisits: 1 });
    }
  });

  it("and not where the digest is of something else, or of no known form", async () => {
    expect((await leads({ digest: sha1(NOTE) })).problemCounts).toEqual({ HT_REVISIT_ORPHAN: 1 });
    expect((await leads({ refersTo: uriAndDate, digest: formatDigest(digestOf("md5", NOTE)) })).problemCounts).toEqual({
      HT_REVISIT_MISMATCH: 1,
    });
    const odd = await leads({ refersTo: uriAndDate, digest: "crc32:12345678" });
    expect(odd).toMatchObject({ holds: true, noteCounts: { HT_DIGEST_UNKNOWN: 1 } });
    expect((await leads({ digest: "crc32:12345678" })).problemCounts).toEqual({ HT_REVISIT_ORPHAN: 1 });
  });

  it("among records that share a compressed member", async () => {
    const date = "2020-01-01T00:00:02Z";
    const shared = Buffer.concat([original, capture("http://a.example/2", date, IMAGE)]);
    const refersTo = { uri: "http://a.example/2", date };
    expect(await leads({ refersTo, digest: sha1(IMAGE) }, shared)).toMatchObject({ holds: true, originals: 2 });
  });
});

describe("verify", () => {
  it("looks at further files that may be referred to", async () => {
    const set = await goodSet("gzip");
    const second = { ...set, folder: set.name(2) };
    expect((await look(second)).problemCounts).toEqual({ HT_REVISIT_ORPHAN: 5 });
    const originals = [`${INPUT_FOLDER}/crawls/2.warc.gz`];
    const result = await look(second, { originals: [set.name(1)], against: originals });
    expect(result).toMatchObject({ holds: true, files: 2, restorable: 4, before: 0 });
    expect(result.against).toEqual({ files: 1, equal: 1, standing: 4, missing: [], uncompared: [] });
  });

  it("refuses standard input, and nothing at all", async () => {
    const set = await goodSet("gzip");
    await expect(verify(set.disk, ["-"])).rejects.toMatchObject({ code: "HT_USAGE" });
    await expect(verify(set.disk, ["/nothing"])).rejects.toMatchObject({ code: "HT_NOT_FOUND" });
    await expect(look(set, { against: ["/nothing"] })).rejects.toMatchObject({ code: "HT_NOT_FOUND" });
  });
});
