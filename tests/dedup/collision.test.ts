/** Digest collision: two files that have one SHA-1. */
import { describe, expect, test } from "vitest";
import { digestOf } from "../../src/base/index.ts";
import { idOf } from "../../src/testing/capture-text.ts";
import { capture, deduplicate, gzipFile } from "./fates.ts";
import { SHATTERED } from "./shattered.ts";

const [one, two] = SHATTERED;

const pdf = { mime: "application/pdf" };
const files = [
  gzipFile("a.warc.gz", capture("one", 1, { ...pdf, payload: one }), capture("two", 2, { ...pdf, payload: two })),
  gzipFile("b.warc.gz", capture("one", 3, { ...pdf, payload: one }), capture("two", 4, { ...pdf, payload: two })),
];

describe("digest collision (shattered pair)", () => {
  test("is one", () => {
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
