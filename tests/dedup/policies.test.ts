/** What the keeper of a collection may ask for: savings, media types, the same URL, an age, earlier holdings. */
import { describe, expect, test } from "vitest";
import { type ArchiveError, digestOf, formatDigest } from "../../src/base/index.ts";
import { dedup } from "../../src/pipeline/index.ts";
import { noise, revisitBytes } from "../../src/testing/capture-text.ts";
import { type ArchiveFile, putFile } from "../../src/testing/dedup-trial.ts";
import { checkDeduplicated } from "../../src/testing/deduplicated.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { at, capture, deduplicate, gzipFile, PAYLOAD } from "./fates.ts";
import { createManifestText } from "./manifests.ts";

describe("--min-saving", () => {
  const small = { payload: noise("small", 900) };
  const files = [
    gzipFile("a.warc.gz", capture("small", 1, small), capture("small", 2, small), capture("a", 3), capture("a", 4)),
  ];

  test("replaces what saves a byte, unless told otherwise", async () => {
    const { fates, result } = await deduplicate(files);
    expect(fates).toEqual({ "small 2": "small 1", "a 4": "a 3" });
    expect(result.left).toEqual({});
  });

  test("leaves what saves less, and says so", async () => {
    const { fates, result } = await deduplicate(files, { policy: { minSaving: 1500 } });
    expect(fates).toEqual({ "a 4": "a 3" });
    // A small one is given up when planning, where it can be seen at once; else it is tried.
    expect(result.duplicates).toBe(1);
  });

  test("counts the bytes of the compressed revisit: exactly so many are enough, one more is too much", async () => {
    const { result } = await deduplicate(files.slice(0, 1));
    const two = gzipFile("b.warc.gz", capture("a", 3), capture("a", 4));
    const alone = await deduplicate([two]);
    const saved = alone.result.bytesBefore - alone.result.bytesAfter;
    expect(result.bytesBefore - result.bytesAfter).toBeGreaterThan(saved);
    expect((await deduplicate([two], { policy: { minSaving: saved } })).fates).toEqual({ "a 4": "a 3" });
    const more = await deduplicate([two], { policy: { minSaving: saved + 1 } });
    expect(more.fates).toEqual({});
    expect(more.result).toMatchObject({ duplicates: 1, replaced: 0, left: { saving: 1 }, filesChanged: 0 });
    expect(more.output[0]!.bytes.equals(two.bytes)).toBe(true);
  });
});

describe("--mime and --not-mime", () => {
  const files = [
    gzipFile(
      "a.warc.gz",
      ...["image/png", "image/jpeg", "text/html; charset=utf-8", "TEXT/HTML"].map((mime, i) =>
        capture(`x${i}`, i + 1, { mime }),
      ),
      capture("none", 5, { mime: "" }),
    ),
  ];

  test.each([
    [{ mime: ["image/*"] }, ["x1 2"]],
    [{ mime: ["text/html"] }, ["x2 3", "x3 4"]],
    [{ mime: ["*/*"], notMime: ["image/*"] }, ["x2 3", "x3 4"]],
    [{ notMime: ["text/html"] }, ["x1 2", "none 5"]],
    [{ notMime: ["text/html", "-"] }, ["x1 2"]],
    [{ mime: ["-"] }, ["none 5"]],
    [{ mime: ["audio/*"] }, []],
  ])("%j", async (policy, replaced) => {
    const { fates, kept } = await deduplicate(files, { policy });
    // Whatever may be replaced, the first capture is what it leads to.
    expect(fates).toEqual(Object.fromEntries(replaced.map((name) => [name, "x0 1"])));
    expect(new Set(Object.values(kept))).toEqual(new Set(["mime"]));
  });

  test.each(["image", "image/png/x", "", "image/ *"])("refuses %j for a pattern", async (pattern) => {
    const disk = new ForgetfulDisk();
    putFile(disk, "/in/a.warc.gz", files[0]!.bytes);
    const refused = dedup(disk, ["/in"], { output: "/out", threads: 1, policy: { mime: [pattern] } });
    await expect(refused).rejects.toMatchObject({ code: "HT_USAGE" } satisfies Partial<ArchiveError>);
    // Before anything is read: a job with that policy would stand in the way of the next one.
    expect(disk.stat("/out")).toBeUndefined();
  });
});

test("--same-url", async () => {
  const files = [
    gzipFile("a.warc.gz", capture("a", 1), capture("b", 2), capture("a", 3)),
    gzipFile("b.warc.gz", capture("b", 4), capture("c", 5), capture("a", 6)),
  ];
  const { fates } = await deduplicate(files, { policy: { sameUrl: true } });
  expect(fates).toEqual({ "a 3": "a 1", "b 4": "b 2", "a 6": "a 1" });
});

describe("--max-age", () => {
  const days = [1, 3, 5, 8, 9];
  const files = [gzipFile("a.warc.gz", ...days.map((day) => capture("a", day)))];

  test.each([
    [30, { "a 3": "a 1", "a 5": "a 1", "a 8": "a 1", "a 9": "a 1" }],
    [4, { "a 3": "a 1", "a 5": "a 1", "a 9": "a 8" }],
    [1, { "a 9": "a 8" }],
    [0, {}],
  ])("%d days", async (maxAgeDays, expected) => {
    const { fates } = await deduplicate(files, { policy: { maxAgeDays } });
    expect(fates).toEqual(expected);
  });

  test("counts to the millisecond, and an original that is too old begins anew", async () => {
    const almost = capture("b", 2, { date: "2020-01-02T00:00:00.001Z" });
    const { fates } = await deduplicate([gzipFile("a.warc.gz", capture("a", 1), almost, capture("c", 3))], {
      policy: { maxAgeDays: 1 },
    });
    expect(fates).toEqual({ "c 3": "b 2" });
  });
});

describe("--known", () => {
  const holdings: ArchiveFile = gzipFile("old.warc.gz", capture("old", 1), capture("chunked", 1, { chunks: [70] }));
  const crawl = gzipFile("new.warc.gz", capture("a", 5), capture("b", 6), capture("c", 7, { chunks: [80] }));

  async function withKnown(text: string, options = {}) {
    const disk = new ForgetfulDisk();
    putFile(disk, `/in/${crawl.name}`, crawl.bytes);
    putFile(disk, "/known", Buffer.from(text));
    const told = { output: "/out", known: ["/known"], threads: 1, ...options };
    const result = await dedup(disk, ["/in"], told);
    const bytes = Buffer.alloc(disk.stat("/out/new.warc.gz")!.sizeBytes);
    {
      using file = disk.open("/out/new.warc.gz", "read");
      file.read(bytes, 0);
    }
    const { replaced } = checkDeduplicated([crawl], [{ name: crawl.name, bytes }], { known: [holdings] });
    const fates = replaced.map(({ uri, refersTo }) => [
      uri!.slice(-1),
      refersTo!.uri!.slice("http://a.example/".length),
    ]);
    return { result, fates: Object.fromEntries(fates) as Record<string, string> };
  }

  test("a manifest: all is referred to earlier holdings, which are not touched", async () => {
    const text = await createManifestText([holdings]);
    const { fates, result } = await withKnown(text);
    expect(fates).toEqual({ a: "old", b: "old", c: "chunked" });
    expect(result).toMatchObject({ files: 1, records: 3, duplicates: 3 });
  });

  test("what a revisit of earlier holdings refers to stays", async () => {
    const refersTo = { uri: "http://a.example/b", date: at(6) };
    const revisit = revisitBytes({ uri: "http://a.example/late", date: at(9), refersTo });
    const text = await createManifestText([holdings, gzipFile("late.warc.gz", revisit)]);
    expect((await withKnown(text)).fates).toEqual({ a: "old", c: "chunked" });
  });

  test("what a plan of earlier holdings calls a copy is nothing to refer to", async () => {
    const [old, chunked] = (await createManifestText([holdings])).split("\n");
    const copy = [old, "0", "2", "http://a.example/older", at(0), "-", "older.warc.gz", "0"].join("\t");
    expect((await withKnown(`${copy}\n${chunked}\n`)).fates).toEqual({ b: "a", c: "chunked" });
  });

  test("a manifest of another algorithm is refused before anything is read", async () => {
    const text = await createManifestText([holdings], "sha1");
    const disk = new ForgetfulDisk();
    putFile(disk, `/in/${crawl.name}`, crawl.bytes);
    putFile(disk, "/known", Buffer.from(text));
    const refused = dedup(disk, ["/in"], { output: "/out", known: ["/known"], threads: 1 });
    await expect(refused).rejects.toMatchObject({
      code: "HT_USAGE",
      message: expect.stringContaining("--digest sha1"),
    });
    expect(disk.stat("/out")).toBeUndefined();
    expect((await withKnown(text, { digest: "sha1" })).fates).toEqual({ a: "old", b: "old", c: "chunked" });
  });

  const base32 = formatDigest(digestOf("sha1", PAYLOAD)).slice("sha1:".length);
  const cdx = (mime: string, digest = base32) =>
    ` CDX N b a m s k r M S V g\nexample,a)/old 20200101000000 http://a.example/old ${mime} 200 ${digest} - - 3000 0 old.warc.gz\n`;
  const cdxj = (digest: string) =>
    `example,a)/old 20200101000000 {"url": "http://a.example/old", "mime": "text/plain", "status": "200", "digest": "${digest}", "length": "3000", "offset": "0", "filename": "old.warc.gz"}\n`;

  test.each([
    ["a CDX file", cdx("text/plain")],
    ["a CDX file without its header line", cdx("text/plain").split("\n")[1]!],
    ["a CDXJ file", cdxj(base32)],
    ["a CDXJ file with the algorithm told, in hex", cdxj(`sha1:${digestOf("sha1", PAYLOAD).hex}`)],
    ["a CDXJ file with a header line and a blank one", `!OpenWayback-CDXJ 1.0\n\n${cdxj(base32)}`],
  ])("%s", async (_, text) => {
    const { fates } = await withKnown(text, { digest: "sha1" });
    // It says nothing of framing: what it names is taken to be stored plainly.
    expect(fates).toEqual({ a: "old", b: "old" });
  });

  test.each([
    ["revisits", cdx("warc/revisit")],
    ["captures without a digest", cdx("text/plain", "-")],
  ])("%s of an index are nothing to refer to", async (_, text) => {
    expect((await withKnown(text, { digest: "sha1" })).fates).toEqual({ b: "a" });
  });

  test("a file that is no index is refused", async () => {
    await expect(withKnown("Dear diary,\n")).rejects.toMatchObject({ code: "HT_USAGE" });
  });

  test("an index that does not fit the default digest, or is not there", async () => {
    await expect(withKnown(cdxj(base32))).rejects.toMatchObject({ code: "HT_USAGE" });
    await expect(withKnown("", { known: ["/none"] })).rejects.toMatchObject({ code: "HT_NOT_FOUND" });
    expect((await withKnown("")).fates).toEqual({ b: "a" });
  });

  test("a later holding is no original", async () => {
    const later = cdxj(base32).replace("20200101000000", "20200106120000");
    expect((await withKnown(later, { digest: "sha1" })).fates).toEqual({ b: "a" });
    expect(at(6)).toBe("2020-01-06T00:00:00Z");
  });
});
