import { describe, expect, it } from "vitest";
import { formatIso } from "../base/index.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import { bufferSource } from "../warc/index.ts";
import { readStretches } from "./byte-lines.ts";
import { DigestIndex } from "./digest-index.ts";
import type { DigestEntry } from "./entry.ts";
import { HashSorter } from "./hash-sorter.ts";
import { createMimeGate } from "./mime-gate.ts";

const FOLDER = "/index";

function entryOf(uri: string, letter: string, more: Partial<DigestEntry> = {}): DigestEntry {
  const timeMs = 1_600_000_000_000;
  const original = { uri, date: formatIso(timeMs) };
  return { uri, timeMs, digests: [`sha1:${letter.repeat(32)}`], original, ...more };
}

describe("a digest index that learns", () => {
  it("answers at once, and for others once it is durable", async () => {
    const disk = new ForgetfulDisk();
    const index = DigestIndex.open(disk, FOLDER, { learning: true });
    const entry = entryOf("http://a.test/", "A");
    const durable = index.learn(entry);
    expect(index.find([{ by: "url", uri: entry.uri }])[0]).toMatchObject(entry);
    await durable;
    await using reader = DigestIndex.open(disk, FOLDER);
    expect(reader.find([{ by: "digest", uri: "http://b.test/", digests: entry.digests }])[0]).toMatchObject(entry);
    expect(() => DigestIndex.open(disk, FOLDER, { learning: true })).toThrow(
      expect.objectContaining({ code: "HT_LOCKED" }),
    );
    await index.close();
    await using after = DigestIndex.open(disk, FOLDER);
    expect(after.info()).toMatchObject({ learned: 0, runs: [{ entries: 1 }] });
  });

  it("takes no empty payload for an original", async () => {
    const index = DigestIndex.open(new ForgetfulDisk(), FOLDER, { learning: true });
    await index.learn(entryOf("http://a.test/", "A", { payloadSize: 0 }));
    await index.learn(entryOf("http://b.test/", "B", { digests: ["sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"] }));
    expect(index.find(["a", "b"].map((name) => ({ by: "url", uri: `http://${name}.test/` })))).toEqual([
      undefined,
      undefined,
    ]);
    await index.close();
  });

  it("prefers this URL, then an equivalent one, then any, and the framing that is asked for", async () => {
    const index = DigestIndex.open(new ForgetfulDisk(), FOLDER, {
      learning: { settings: { url: true, digest: true, equivalent: true, validators: false } },
    });
    for (const [uri, framing] of [
      ["http://else.test/", "plain"],
      ["http://www.a.test/?session=1", "plain"],
      ["http://a.test/", "chunked"],
      ["http://a.test/", "plain"],
    ] as const) {
      await index.learn(entryOf(uri, "A", { framing }));
    }
    const digests = [`sha1:${"A".repeat(32)}`];
    const ask = (uri: string, framing?: "plain" | "chunked") =>
      index.find([{ by: "digest", uri, digests, framing }])[0];
    for (const framing of ["plain", "chunked"] as const) {
      expect(ask("http://a.test/", framing)).toMatchObject({ uri: "http://a.test/", framing });
    }
    expect(ask("http://a.test/?session=2")!.uri).not.toBe("http://else.test/");
    expect(ask("http://stranger.test/")).toBeDefined();
    await index.close();
  });
});

describe("media types", () => {
  it.each([
    [{ notMimeRegex: ["^text/.*"] }, "text/html", false],
    [{ notMimeRegex: ["^text/.*"] }, "image/png", true],
    // All of the type has to match.
    [{ mimeRegex: ["text"] }, "text/html", false],
    [{ mimeRegex: ["text/.*|image/png"] }, "image/png", true],
    [{ mime: ["image/*"] }, "image/png", true],
    [{ mime: ["image/*"], notMime: ["image/png"] }, "image/png", false],
    [{ mimeRegex: [".*"] }, `x/${"y".repeat(300)}`, false],
    [{}, undefined, true],
  ])("%j takes %s: %s", (filter, mime, taken) => {
    expect(createMimeGate(filter)(mime)).toBe(taken);
  });
});

describe("lines of bytes", () => {
  const lines = (text: string, pieceSize: number) => {
    const bytes = Buffer.from(text);
    const whole = bufferSource(bytes, "test");
    const source = {
      ...whole,
      read: (into: Uint8Array, position: number) => whole.read(into.subarray(0, pieceSize), position),
    };
    let found = "";
    for (const { buffer, start, end } of readStretches(source, false)) found += buffer.toString("latin1", start, end);
    return found;
  };

  it("come as they are, wherever reads end", () => {
    const text = "one\n\ntwo three\r\nfour";
    for (let size = 1; size < 30; size++) expect(lines(text, size)).toBe(text);
  });

  it("end where they are longer than any", () => {
    const long = `${"x".repeat(3 << 20)}\nshort\n`;
    const found = lines(long, 100_000);
    expect(found.endsWith("short\n")).toBe(true);
    expect(found.length).toBe((1 << 20) + 6);
  });
});

describe("sorting by hash", () => {
  it("keeps the order of equal hashes, over many spills", () => {
    using sorter = new HashSorter(new ForgetfulDisk(), { folder: "/", memoryBytes: 200 });
    const expected = Array.from({ length: 3000 }, (_, i) => ({
      high: (i * 7919) % 13,
      low: (i * 31) % 3 === 0 ? 0xffffffff : 5,
      i,
    }));
    for (const { high, low, i } of expected) {
      const at = sorter.reserve(4);
      sorter.buffer.writeUInt32BE(i, at);
      sorter.add(high, low, 4);
    }
    const cursor = sorter.sorted();
    const found: { high: number; low: number; i: number }[] = [];
    while (cursor.next())
      found.push({ high: cursor.high, low: cursor.low, i: cursor.buffer.readUInt32BE(cursor.start) });
    expect(found).toEqual(
      [...expected].sort((one, other) => one.high - other.high || one.low - other.low || one.i - other.i),
    );
  });
});
