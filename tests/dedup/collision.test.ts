/**
 * Digest collision (shattered pair): the beginnings of the two PDF files that have one SHA-1, published in 2017. Behind
 * them any bytes may follow, if they are the same; the digests stay equal.
 */
import { describe, expect, test } from "vitest";
import { digestOf } from "../../src/base/index.ts";
import { idOf, noise } from "../../src/testing/capture-text.ts";
import { capture, deduplicate, gzipFile } from "./fates.ts";

const COMMON =
  "255044462d312e330a25e2e3cfd30a0a0a312030206f626a0a3c3c2f57696474682032203020522f4865696768742033203020522f54797065" +
  "2034203020522f537562747970652035203020522f46696c7465722036203020522f436f6c6f7253706163652037203020522f4c656e677468" +
  "2038203020522f42697473506572436f6d706f6e656e7420383e3e0a73747265616d0affd8fffe00245348412d312069732064656164212121" +
  "2121852fec092339759c39b1a1c63c4c97e1fffe01";
const ONE =
  "7346dc9166b67e118f029ab621b2560ff9ca67cca8c7f85ba84c79030c2b3de218f86db3a90901d5df45c14f26fedfb3dc38e96ac22fe7bd72" +
  "8f0e45bce046d23c570feb141398bb552ef5a0a82be331fea48037b8b5d71f0e332edf93ac3500eb4ddc0decc1a864790c782c76215660dd30" +
  "9791d06bd0af3f98cda4bc4629b1";
const TWO =
  "7f46dc93a6b67e013b029aaa1db2560b45ca67d688c7f84b8c4c791fe02b3df614f86db1690901c56b45c1530afedfb76038e972722fe7ad72" +
  "8f0e4904e046c230570fe9d41398abe12ef5bc942be33542a4802d98b5d70f2a332ec37fac3514e74ddc0f2cc1a874cd0c78305a2156646130" +
  "9789606bd0bf3f98cda8044629a1";

const TAIL = noise("tail", 2000);
const [one, two] = [ONE, TWO].map((middle) => Buffer.concat([Buffer.from(COMMON + middle, "hex"), TAIL])) as [
  Buffer,
  Buffer,
];

const pdf = { mime: "application/pdf" };
const files = [
  gzipFile("a.warc.gz", capture("one", 1, { ...pdf, payload: one }), capture("two", 2, { ...pdf, payload: two })),
  gzipFile("b.warc.gz", capture("one", 3, { ...pdf, payload: one }), capture("two", 4, { ...pdf, payload: two })),
];

describe("digest collision (shattered pair)", () => {
  test("is one", () => {
    expect(Buffer.from(COMMON + ONE, "hex")).toHaveLength(320);
    expect(one.equals(two)).toBe(false);
    expect(digestOf("sha1", one)).toEqual(digestOf("sha1", two));
    expect(digestOf("sha256", one)).not.toEqual(digestOf("sha256", two));
  });

  test("is told apart with --digest sha1, and the copies of each are found", async () => {
    const { fates, plan, result } = await deduplicate(files, { digest: "sha1" });
    expect(fates).toEqual({ "one 3": "one 1", "two 4": "two 2" });
    expect(new Set(plan.map(({ digest }) => digest))).toHaveLength(1);
    expect(plan.map(({ uri, extension }) => [uri!.slice(-3), extension])).toEqual([
      ["one", 0],
      ["one", 0],
      ["two", 1],
      ["two", 1],
    ]);
    expect(result.collisions).toBe(1);
  });

  test("two different files alone: none is replaced, one collision is counted", async () => {
    const { fates, result } = await deduplicate(files.slice(0, 1), { digest: "sha1" });
    expect(fates).toEqual({});
    expect(result).toMatchObject({ duplicates: 0, replaced: 0, collisions: 1 });
  });

  test("stored chunked", async () => {
    const chunked = files.map(({ name }, i) =>
      gzipFile(
        name,
        capture("one", 2 * i + 1, { payload: one, chunks: [300, 7] }),
        capture("two", 2 * i + 2, { payload: two, chunks: [64 * (i + 1)] }),
      ),
    );
    const { fates, result } = await deduplicate(chunked, { digest: "sha1" });
    expect(fates).toEqual({ "one 3": "one 1", "two 4": "two 2" });
    expect(result.collisions).toBe(1);
  });

  test("two of one URI in one second: nothing refers to either", async () => {
    const { fates, result } = await deduplicate(
      [
        gzipFile(
          "a.warc.gz",
          capture("page", 1, { payload: one }),
          capture("page", 1, { payload: two, id: idOf("the other") }),
          capture("copy", 2, { payload: one }),
          capture("copy", 3, { payload: one }),
          capture("copy", 4, { payload: two }),
          capture("copy", 5, { payload: two }),
        ),
      ],
      { digest: "sha1" },
    );
    expect(fates).toEqual({ "copy 3": "copy 2", "copy 5": "copy 4" });
    expect(result.collisions).toBe(1);
  });

  test("would be merged by whoever does not compare", async () => {
    const found = deduplicate(files.slice(0, 1), { digest: "sha1", compare: false });
    await expect(found).rejects.toThrow(/a\.example\/two \S+: .* another payload/);
  });

  test("is none with the default digest", async () => {
    const { fates, result } = await deduplicate(files);
    expect(fates).toEqual({ "one 3": "one 1", "two 4": "two 2" });
    expect(result.collisions).toBe(0);
  });
});
