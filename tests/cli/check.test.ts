import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../../src/base/index.ts";
import { DATE, record, response, revisit, warcFile } from "./archives.ts";
import { holotype, linesOf, put, SAMPLE, SAMPLES, temporaryFolder, withFlippedByte } from "./holotype.ts";

const folder = temporaryFolder();

interface Told {
  readonly findings: readonly { readonly code: string; readonly message: string; readonly offset: number }[];
  readonly reports: readonly Record<string, unknown>[];
  readonly summary: Record<string, unknown>;
  readonly exit: number | null;
}

/** What `check --json` says, sorted into findings, reports of files and the summary at its end. */
function check(...args: readonly string[]): Told {
  const { exit, out } = holotype(["check", "--json", ...args]);
  const lines = linesOf(out).map((line) => JSON.parse(line) as Record<string, unknown>);
  const summary = lines.pop()!["summary"] as Record<string, unknown>;
  return {
    findings: lines.filter((line) => "code" in line) as unknown as Told["findings"],
    reports: lines.filter((line) => "records" in line),
    summary,
    exit,
  };
}

const plain = (records: Parameters<typeof warcFile>[0]) => warcFile(records, { compression: "none" });

describe("check on what is sound", () => {
  it("says so of the samples, with one thread and with two", () => {
    const { exit, out, err } = holotype(["check", SAMPLES]);
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    const lines = linesOf(out);
    expect(lines).toHaveLength(5);
    for (const line of lines.slice(0, 4))
      expect(line).toMatch(/: \d+ records, sound; payload digests: \d+ held as transferred$/);
    expect(lines[4]).toMatch(/^4 files, 262 records: all sound/);
    expect(holotype(["check", "--threads", "2", SAMPLES]).out).toBe(out);
  });

  it("says with --json how many digests held, and in which reading", () => {
    const path = put(
      folder,
      "dialects.warc.gz",
      warcFile([
        response("http://a.example/", "one"),
        response("http://a.example/t", "two", { chunked: true, digest: "transferred" }),
        response("http://a.example/s", "three", { chunked: true, digest: "stored" }),
        response("http://a.example/hex", "one", { digest: "sha1:FE05BCDCDC4928012781A5F1A2A77CBB5398E106" }),
        response("http://a.example/b3", "one", { digest: "blake3:zz" }),
      ]),
    );
    const { reports, summary, findings, exit } = check(path);
    expect(reports).toEqual([
      {
        file: path,
        records: 5,
        types: { response: 5 },
        payloadDigests: { transferred: 3, stored: 1, unknown: 1 },
        blockDigests: { stored: 5 },
        damage: 0,
        notes: 1,
      },
    ]);
    expect(findings.map(({ code }) => code)).toEqual(["HT_DIGEST_UNKNOWN"]);
    expect({ summary, exit }).toEqual({
      summary: { files: 1, records: 5, damage: 0, orphans: 0, skipped: 0, sound: true },
      exit: 0,
    });
    const people = holotype(["check", path]).out;
    expect(people).toContain("3 held as transferred, 1 held as stored");
  });
});

describe("check on a capture in segments", () => {
  const body = "0123456789".repeat(40);
  const chunked = `190\r\n${body}\r\n0\r\n\r\n`;

  it.each([
    ["plain", `HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n${body}`, 200],
    ["chunked", `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`, 200],
    ["cut inside its HTTP header", `HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n${body}`, 25],
  ])("finds a valid one sound, and says that its payload digest was not verified: %s", (name, message, cut) => {
    const uri = "http://a.example/";
    const type = "application/http; msgtype=response";
    const claim: [string, string] = ["WARC-Payload-Digest", formatDigest(digestOf("sha1", Buffer.from(body)))];
    const first = record("response", uri, type, message.slice(0, cut), [claim, ["WARC-Segment-Number", "1"]]);
    const id = first.fields.find(([field]) => field === "WARC-Record-ID")![1];
    const last = record("continuation", uri, type, message.slice(cut), [
      ["WARC-Segment-Number", "2"],
      ["WARC-Segment-Origin-ID", id],
      ["WARC-Segment-Total-Length", String(message.length)],
    ]);
    const path = put(folder, `segments ${name}.warc.gz`, warcFile([first, last]));
    const { exit, findings, reports } = check("--notes", path);
    expect(exit).toBe(0);
    expect(findings).toMatchObject([{ code: "HT_DIGEST_SEGMENTED", offset: 0 }]);
    expect(reports).toMatchObject([{ payloadDigests: { segmented: 1 }, damage: 0 }]);
    expect(holotype(["check", path]).out).toContain("sound; payload digests: 1 of segmented records, not verified");
  });
});

describe("check on damage", () => {
  it("finds a flipped byte in a gzip member by its checksum or its data", () => {
    const path = put(folder, "flipped.warc.gz", withFlippedByte(SAMPLE, 1700));
    const { exit, findings, summary } = check(path);
    expect(exit).toBe(4);
    expect(findings[0]).toMatchObject({
      code: expect.stringMatching(/^HT_GZIP_(?:DATA|CHECKSUM)$/) as string,
      offset: 1299,
    });
    expect(summary).toMatchObject({ sound: false });
  });

  it("finds a flipped byte in a payload that nothing else protects, by both digests", () => {
    const bytes = plain([response("http://a.example/", "The quick brown fox")]);
    bytes[bytes.indexOf("quick")]! ^= 1;
    const { exit, findings } = check(put(folder, "flipped.warc", bytes));
    expect(exit).toBe(4);
    expect(findings.map(({ code, message }) => [code, message.split(" ", 2).join(" ")])).toEqual([
      ["HT_DIGEST_MISMATCH", "block digest"],
      ["HT_DIGEST_MISMATCH", "payload digest"],
    ]);
    const { out } = holotype(["check", put(folder, "flipped.warc", bytes)]);
    expect(out).toMatch(/2 findings of damage; payload digests: 1 wrong/);
  });

  it("finds a flipped byte in a chunked payload whose digest is that of the stored form", () => {
    const bytes = plain([response("http://a.example/", "The quick brown fox", { chunked: true, digest: "stored" })]);
    expect(check(put(folder, "stored.warc", bytes)).exit).toBe(0);
    bytes[bytes.indexOf("quick")]! ^= 1;
    expect(check(put(folder, "stored.warc", bytes)).exit).toBe(4);
  });

  it("finds what is missing from headers", () => {
    const lacking = { fields: [["WARC-Type", "response"]] as [string, string][], block: Buffer.from("x") };
    const { exit, findings } = check(put(folder, "lacking.warc.gz", warcFile([lacking])));
    expect(exit).toBe(4);
    const missing = findings
      .filter(({ code }) => code === "HT_FIELD_MISSING")
      .map(({ message }) => message.split(" ")[0]);
    expect(missing).toEqual(["WARC-Record-ID", "WARC-Date", "WARC-Target-URI"]);
  });

  it("finds fields that are no dates, ids or types", () => {
    const odd = record("riddle", "http://a.example/", "text/plain", "x");
    const fields = odd.fields.map(([name, value]) => [name, name === "WARC-Date" ? "yesterday" : value] as const);
    const { findings } = check(put(folder, "odd.warc.gz", warcFile([{ ...odd, fields }])));
    expect(findings.map(({ code }) => code)).toEqual(["HT_FIELD_INVALID", "HT_FIELD_INVALID"]);
  });

  it("finds a file that breaks off, and tells of the records before", () => {
    const bytes = plain([response("http://a.example/", "one"), response("http://b.example/", "two")]);
    const { exit, findings, reports } = check(put(folder, "cut.warc", bytes.subarray(0, -8)));
    expect(exit).toBe(4);
    expect(findings.map(({ code }) => code)).toContain("HT_RECORD_TRUNCATED");
    expect(reports[0]).toMatchObject({ records: 2 });
  });
});

describe("check on oddities", () => {
  it("tells notes only when asked, and exits with 0", () => {
    const shared = put(
      folder,
      "shared.warc.gz",
      gzipSync(plain([response("http://a.example/", "one"), response("http://b.example/", "two")])),
    );
    expect(holotype(["check", shared])).toMatchObject({ exit: 0, out: expect.not.stringContaining("HT_") as string });
    expect(holotype(["check", "--notes", shared])).toMatchObject({
      exit: 0,
      out: expect.stringContaining("HT_MEMBER_SHARED") as string,
    });
  });

  const digest = "sha1:7YC3ZXG4JEUACJ4BUXY2FJ34XNJZRYIG";
  const original = { uri: "http://a.example/", date: DATE };

  it("has a note for a revisit of wget, whose block digest is that of nothing", () => {
    const { blockDigest: _, ...rest } = revisit("http://a.example/", original, digest);
    const empty = formatDigest(digestOf("sha1", new Uint8Array(0)));
    const of = (claim: string) => ({
      ...rest,
      fields: [...rest.fields, ["WARC-Block-Digest", claim] as [string, string]],
    });
    const { exit, findings } = check(put(folder, "wget.warc.gz", warcFile([of(empty)])));
    expect(exit).toBe(0);
    expect(findings.filter(({ code }) => code.startsWith("HT_DIGEST"))).toMatchObject([
      { code: "HT_DIGEST_EMPTY", message: expect.stringMatching(/^wget writes /) as string },
    ]);
    // Another one that does not hold is damage as before.
    const wrong = formatDigest(digestOf("sha1", Buffer.from("other")));
    expect(check(put(folder, "not-wget.warc.gz", warcFile([of(wrong)]))).exit).toBe(4);
  });

  it("tells a revisit without its original, but does not fail", () => {
    const path = put(folder, "orphan.warc.gz", warcFile([revisit("http://b.example/", original, digest)]));
    const { exit, findings, summary } = check(path);
    expect(exit).toBe(0);
    expect(findings).toEqual([
      {
        code: "HT_REVISIT_ORPHAN",
        message: expect.stringContaining("http://a.example/") as string,
        file: path,
        offset: 0,
      },
    ]);
    expect(summary).toMatchObject({ orphans: 1, sound: true });
    expect(holotype(["check", path]).out).toMatch(/all sound, 1 revisit without original here/);
  });

  it("finds the original in another file of the set, before or behind", () => {
    const revisits = put(folder, "revisits.warc.gz", warcFile([revisit("http://b.example/", original, digest)]));
    const originals = put(folder, "originals.warc.gz", warcFile([response("http://a.example/", "one")]));
    expect(check(revisits, originals).summary).toMatchObject({ orphans: 0 });
    expect(check(originals, revisits, "--threads", "2").summary).toMatchObject({ orphans: 0 });
  });
});

describe("check on what holds nothing", () => {
  const empty = put(folder, "empty.warc.gz", Buffer.alloc(0));

  it.each(["1", "2"])("does not call it sound, with %s threads", (threads) => {
    const { exit, out, err } = holotype(["check", "-j", threads, SAMPLE, empty]);
    expect(exit).toBe(3);
    expect(linesOf(out).at(-1)).toMatch(/^2 files, \d+ records: sound as far as it was read, 1 skipped$/);
    expect(err).toBe(`skipped ${empty}: there is no record in it (HT_FORMAT_UNKNOWN)\n`);
    expect(check(empty)).toMatchObject({ exit: 3, summary: { files: 1, records: 0, skipped: 1, sound: false } });
  });

  it("tells names so that a terminal obeys nothing in them", () => {
    const { err } = holotype(["check", "\x1b[2Jgone.warc"]);
    expect(err).toContain("\\x1b[2Jgone.warc");
    expect(err).not.toContain("\x1b");
  });
});
