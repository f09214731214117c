import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { NewRecord } from "../../src/warc/index.ts";
import { record, response, warcFile } from "./archives.ts";
import { holotype, holotypeBytes, linesOf, list, put, SAMPLES, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();

/** The text of a manifest as rows of columns. */
function rowsOf(text: string): string[][] {
  return linesOf(text).map((line) => line.split("\t"));
}

describe("manifest", () => {
  const { exit, out, err } = holotype(["manifest", "--digest", "sha1", SAMPLES]);
  const rows = rowsOf(out);

  it("has twelve columns for each response and resource record, in the order of the files", () => {
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    const captures = list(SAMPLES).filter(({ type }) => type === "response" || type === "resource");
    expect(rows).toEqual(
      captures.map((each) => [
        each.file,
        String(each.offset),
        String(each.length),
        each.uri,
        each.date,
        each.payloadDigest,
        String(each.payloadSize),
        String(each.status),
        each.mime ?? "-",
        expect.stringMatching(/^(?:plain|chunked)$/),
        each.id,
        expect.stringMatching(/^header-digest:transferred/),
      ]),
    );
  });

  it.each(["sha1", "sha256", "md5", "sha512", "blake3"])("computes %s", (algorithm) => {
    const path = put(folder, "digests.warc.gz", warcFile([response("http://a.example/", "abc")]));
    const [[, , , , , digest] = []] = rowsOf(holotype(["manifest", "--digest", algorithm, path]).out);
    const known: Readonly<Record<string, string>> = {
      sha1: "VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5",
      blake3: "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85",
    };
    const value = known[algorithm] ?? createHash(algorithm).update("abc").digest("hex");
    expect(digest).toBe(`${algorithm}:${value}`);
  });

  it("tells framing, the verdict on the header's digest, and what keeps a record from being an original", () => {
    const path = put(
      folder,
      "flags.warc.gz",
      warcFile([
        response("http://a.example/t", "one", { chunked: true }),
        response("http://a.example/s", "one", { chunked: true, digest: "stored" }),
        response("http://a.example/w", "one", { digest: "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" }),
        response("http://a.example/m", "one", { digest: "md5:f97c5d29941bfb1b2fdab0874906ab82" }),
        response("http://a.example/e", ""),
        record("resource", "http://a.example/r", "text/plain", "one", [["WARC-Truncated", "length"]]),
      ]),
    );
    const told = rowsOf(holotype(["manifest", "--digest", "sha1", path]).out).map((row) => [row[9], row[11]]);
    expect(told).toEqual([
      ["chunked", "header-digest:transferred"],
      ["chunked", "header-digest:stored"],
      ["plain", "header-digest:wrong"],
      ["plain", "header-digest:unchecked"],
      ["plain", "header-digest:transferred,empty"],
      ["plain", "header-digest:none,resource,truncated"],
    ]);
  });

  it("is the same on one thread, two and four", () => {
    for (const threads of ["2", "4"]) {
      expect(holotype(["manifest", "--digest", "sha1", "--threads", threads, SAMPLES]).out).toBe(out);
    }
  });
});

/** Larger than 64 MB, where gzip files are cut into parts that are read at once. */
const SIZE = 70 << 20;

/** Records of about `size` bytes each until there is enough. */
function* enough(size: number, makeBody: (i: number) => Buffer): Generator<NewRecord> {
  for (let i = 0; i * size < SIZE; i++) yield response(`http://a.example/${i}`, makeBody(i));
}

describe("manifest of a file that is cut into parts", () => {
  const noise = Buffer.concat(Array.from({ length: 1 << 12 }, (_, i) => createHash("md5").update(String(i)).digest()));
  /** A gzip member that holds a record: what whoever looks for the next member takes for one. */
  const bait = gzipSync("WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 4\r\n\r\nWARC\r\n\r\n", { level: 0 });
  const baits = Buffer.concat(Array.from({ length: 1 << 8 }, (_, i) => [bait, noise.subarray(0, 4000 + i)]).flat());
  const stored = { level: 0 } as const;

  const large: readonly { readonly what: string; make: () => Buffer }[] = [
    {
      what: "small records",
      make: () =>
        warcFile(
          enough(noise.length, () => noise),
          stored,
        ),
    },
    {
      what: "payloads that look like members with records",
      make: () =>
        warcFile(
          enough(baits.length, () => baits),
          stored,
        ),
    },
    {
      what: "one member for all records",
      make: () =>
        gzipSync(
          warcFile(
            enough(noise.length, () => noise),
            { compression: "none" },
          ),
          stored,
        ),
    },
    {
      what: "a record larger than a part, and others behind it",
      make: () =>
        warcFile(
          [
            response("http://a.example/first", "one"),
            response("http://a.example/large", Buffer.alloc(SIZE - (1 << 20), "large ")),
            ...Array.from({ length: 40 }, (_, i) => response(`http://a.example/${i}`, noise)),
          ],
          stored,
        ),
    },
  ];

  it.each(large)("is the same on one thread, two and four: $what", ({ make }) => {
    const path = put(folder, "large.warc.gz", make());
    const [one, ...others] = ["1", "2", "4"].map((threads) => holotypeBytes(["manifest", "--threads", threads, path]));
    expect({ exit: one!.exit, err: one!.err }).toEqual({ exit: 0, err: "" });
    expect(one!.out.length).toBeGreaterThan(1000);
    for (const { exit, out, err } of others) {
      expect({ exit, err }).toEqual({ exit: 0, err: "" });
      expect(out.equals(one!.out)).toBe(true);
    }
  });

  it("is the same on one thread, two and four: damage at the seams", () => {
    const bytes = warcFile(
      enough(noise.length, () => noise),
      stored,
    );
    for (const seam of [32 << 20, 64 << 20]) bytes.fill(0x55, seam - 100_000, seam + 100_000);
    const path = put(folder, "large.warc.gz", bytes);
    const [one, two, four] = ["1", "2", "4"].map((threads) => holotype(["manifest", "--threads", threads, path]));
    expect(one!.exit).toBe(4);
    expect(linesOf(one!.out).length).toBeGreaterThan(1000);
    expect(two).toEqual(one);
    expect(four).toEqual(one);
  });
});
