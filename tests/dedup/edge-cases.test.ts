/**
 * The cases that tools of this kind get wrong, each under its name. The disk is in memory. Three have files of their
 * own: the digest collision (collision.test.ts), offsets beyond 4 GiB (large-offsets.test.ts), and the original that is
 * deleted while revisits remain (tests/cli/dedup.test.ts, with verify).
 */
import { describe, expect, test } from "vitest";
import { digestOf, formatDigest } from "../../src/base/index.ts";
import { dedup } from "../../src/pipeline/index.ts";
import { captureBytes, idOf, recordBytes, revisitBytes } from "../../src/testing/capture-text.ts";
import { getFile, putFile } from "../../src/testing/dedup-trial.ts";
import { checkDeduplicated, readRecords } from "../../src/testing/deduplicated.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { at, capture, deduplicate, gzipFile, OTHER, PAYLOAD } from "./fates.ts";

const SHA1 = formatDigest(digestOf("sha1", PAYLOAD));
const url = (name: string) => `http://a.example/${name}`;

function revisit(name: string, day: number, refersTo: { uri?: string; date?: string; id?: string }): Buffer {
  return revisitBytes({ uri: url(name), date: at(day), refersTo, digest: SHA1 });
}

describe("revisits of the input", () => {
  test("revisit before original", async () => {
    const { fates, kept, result } = await deduplicate([
      gzipFile(
        "a.warc.gz",
        revisit("early", 1, { uri: url("late"), date: at(5) }),
        capture("first", 2),
        capture("late", 5),
        capture("last", 6),
      ),
    ]);
    expect(fates).toEqual({ "last 6": "first 2" });
    // The first is the original of all, but somebody refers to the late one: it has to stay.
    expect(kept).toEqual({ "late 5": "referred" });
    expect(result.orphans).toBe(0);
  });

  test("revisit of revisit", async () => {
    const { fates, kept, result } = await deduplicate([
      gzipFile(
        "a.warc.gz",
        capture("first", 1),
        capture("held", 2),
        revisit("one", 3, { uri: url("held"), date: at(2) }),
        revisit("two", 4, { uri: url("one"), date: at(3) }),
        capture("last", 5),
      ),
    ]);
    expect(fates).toEqual({ "last 5": "first 1" });
    expect(kept).toEqual({ "held 2": "referred" });
    // The second leads to no payload in one step: it is told, and left as it is.
    expect(result.orphans).toBe(1);
  });

  test("self-revisit", async () => {
    const { fates, result, warnings } = await deduplicate([
      gzipFile("a.warc.gz", revisit("self", 1, { uri: url("self"), date: at(1) }), capture("a", 2), capture("b", 3)),
    ]);
    expect(fates).toEqual({ "b 3": "a 2" });
    expect(result.orphans).toBe(1);
    expect(warnings.map(({ code }) => code)).toEqual(["HT_REVISIT_ORPHAN"]);
  });

  test("self-revisit: none is made of two captures of one URI in one second", async () => {
    const { fates, kept } = await deduplicate([
      gzipFile("a.warc.gz", capture("a", 1)),
      gzipFile("b.warc.gz", capture("a", 1, { id: idOf("another") }), capture("b", 1)),
      gzipFile("c.warc.gz", capture("a", 1, { date: "2020-01-01T00:00:00.750Z", id: idOf("a third") })),
    ]);
    expect(fates).toEqual({ "b 1": "a 1" });
    expect(kept).toEqual({ "a 1": "same-capture" });
  });

  test("a revisit that tells nothing but its digest means a capture of its own URI", async () => {
    const { fates, kept } = await deduplicate([
      gzipFile("a.warc.gz", capture("first", 1), capture("page", 2), revisit("page", 3, {}), capture("last", 4)),
    ]);
    expect(fates).toEqual({ "last 4": "first 1" });
    expect(kept).toEqual({ "page 2": "referred" });
  });

  test("what a revisit may mean under an equal URL stays", async () => {
    const refersTo = { uri: "https://www.a.example/held", date: "2020-01-02T00:00:00.5Z" };
    const silent = revisitBytes({
      uri: "https://www.a.example/page",
      date: at(6),
      profile: "http://netpreserve.org/warc/1.0/revisit/server-not-modified",
    });
    const { fates, kept } = await deduplicate([
      gzipFile(
        "a.warc.gz",
        capture("first", 1),
        capture("held", 2),
        capture("page", 3),
        revisit("other", 4, refersTo),
        capture("last", 5),
        silent,
      ),
    ]);
    expect(fates).toEqual({ "last 5": "first 1" });
    expect(kept).toEqual({ "held 2": "referred", "page 3": "referred" });
  });

  test("a revisit that tells nothing but an id", async () => {
    const { fates, kept } = await deduplicate([
      gzipFile(
        "a.warc.gz",
        capture("first", 1),
        capture("held", 2),
        revisit("page", 3, { id: idOf(`response ${url("held")} ${at(2)}`) }),
        capture("last", 4),
      ),
    ]);
    expect(fates).toEqual({ "last 4": "first 1" });
    expect(kept).toEqual({ "held 2": "referred" });
  });

  test("a revisit whose original is nowhere is kept and told", async () => {
    const { result, warnings } = await deduplicate([
      gzipFile("a.warc.gz", capture("a", 1), revisit("b", 2, { uri: url("gone"), date: at(1) })),
    ]);
    expect(result.orphans).toBe(1);
    expect(warnings).toMatchObject([{ code: "HT_REVISIT_ORPHAN", file: "/in/a.warc.gz" }]);
  });
});

describe("captures that are hard to tell apart", () => {
  test("two originals at the same second", async () => {
    const { fates } = await deduplicate([
      gzipFile(
        "a.warc.gz",
        capture("page", 1),
        capture("page", 1, { payload: OTHER, id: idOf("the other") }),
        capture("a", 2),
        capture("b", 3),
        capture("c", 4, { payload: OTHER }),
        capture("d", 5, { payload: OTHER }),
      ),
    ]);
    // Whoever looks for the page of that second may get either, so nothing refers to it.
    expect(fates).toEqual({ "b 3": "a 2", "d 5": "c 4" });
  });

  test("two originals at the same second, in files that know nothing of each other", async () => {
    const { fates } = await deduplicate([
      gzipFile("a.warc.gz", capture("page", 1, { date: "2020-01-01T00:00:00.200Z" })),
      gzipFile("b.warc.gz", capture("a", 2), capture("b", 3)),
      gzipFile("c.warc.gz", capture("page", 1, { payload: OTHER, date: "2020-01-01T00:00:00.900Z" })),
    ]);
    expect(fates).toEqual({ "b 3": "a 2" });
  });

  test("two originals at the same second, one chunked and one plain", async () => {
    const { fates } = await deduplicate([
      gzipFile(
        "a.warc.gz",
        capture("page", 1),
        capture("page", 1, { chunks: [100], id: idOf("the other") }),
        capture("a", 2),
        capture("b", 3),
        capture("c", 4, { chunks: [5, 6] }),
        capture("d", 5, { chunks: [7] }),
      ),
    ]);
    expect(fates).toEqual({ "b 3": "a 2", "d 5": "c 4" });
  });

  test("`<<uri>>`: brackets that belong to the URI", async () => {
    const uri = "<http://a.example/a>";
    const { fates } = await deduplicate([
      gzipFile("a.warc.gz", capture("a", 1, { uri, brackets: true }), capture("b", 2)),
    ]);
    // What it refers to is found under the name that it has there.
    expect(fates).toEqual({ "b 2": "<a> 1" });
  });

  test("`<uri>` brackets", async () => {
    const { fates, output } = await deduplicate([
      gzipFile("a.warc.gz", capture("a", 1, { brackets: true }), capture("b", 2, { brackets: true }), capture("c", 3)),
      gzipFile("b.warc.gz", capture("held", 4), revisitBracketed("d", 5, "held", 4)),
    ]);
    expect(fates).toEqual({ "b 2": "a 1", "c 3": "a 1" });
    const [, second] = readRecords(output[0]!);
    expect(second!.fields.get("warc-target-uri")).toBe(`<${url("b")}>`);
    expect(second!.fields.get("warc-refers-to-target-uri")).toBe(url("a"));
  });

  test("a record that tells of a reference already is left as it is", async () => {
    const { fates, kept } = await deduplicate([
      gzipFile(
        "a.warc.gz",
        capture("a", 1),
        capture("b", 2, { lines: [`WARC-Refers-To-Target-URI: ${url("elsewhere")}`] }),
        capture("c", 3),
      ),
    ]);
    expect(fates).toEqual({ "c 3": "a 1" });
    expect(kept).toEqual({ "b 2": "irreversible" });
  });
});

function revisitBracketed(name: string, day: number, original: string, originalDay: number): Buffer {
  const refersTo = { uri: url(original), date: at(originalDay) };
  return revisitBytes({ uri: url(name), date: at(day), refersTo, digest: SHA1, brackets: true });
}

describe("digests in headers", () => {
  test("same digest text in hex and base32", async () => {
    const { fates, output } = await deduplicate([
      gzipFile("a.warc.gz", capture("a", 1), capture("b", 2, { digest: "hex" }), capture("c", 3)),
    ]);
    expect(fates).toEqual({ "b 2": "a 1", "c 3": "a 1" });
    const claims = readRecords(output[0]!).map(({ fields }) => fields.get("warc-payload-digest"));
    expect(claims).toEqual([SHA1, `sha1:${digestOf("sha1", PAYLOAD).hex}`, SHA1]);
  });

  test("sha1 vs sha256 of one payload", async () => {
    const { fates, output } = await deduplicate([
      gzipFile(
        "a.warc.gz",
        capture("a", 1),
        capture("b", 2, { digest: "sha256" }),
        capture("c", 3, { digest: "none" }),
      ),
    ]);
    expect(fates).toEqual({ "b 2": "a 1", "c 3": "a 1" });
    const claims = readRecords(output[0]!).map(({ fields }) => fields.get("warc-payload-digest"));
    const sha256 = formatDigest(digestOf("sha256", PAYLOAD));
    expect(claims).toEqual([SHA1, sha256, sha256]);
  });

  test("a digest that lies: its record stays, and is no worse an original for it", async () => {
    const { fates, kept } = await deduplicate([
      gzipFile(
        "a.warc.gz",
        capture("a", 1, { digest: "wrong" }),
        capture("b", 2, { digest: "wrong" }),
        capture("c", 3),
      ),
    ]);
    expect(fates).toEqual({ "c 3": "a 1" });
    expect(kept).toEqual({ "b 2": "irreversible" });
  });

  test("a header says the same of two payloads", async () => {
    const { fates, result } = await deduplicate([
      gzipFile(
        "a.warc.gz",
        capture("a", 1, { digestText: SHA1 }),
        capture("b", 2, { payload: OTHER, digestText: SHA1 }),
      ),
    ]);
    expect(fates).toEqual({});
    expect(result.collisions).toBe(0);
  });

  test.each([true, false])("of the body as stored, in other cuts; compared: %s", async (compare) => {
    const { fates } = await deduplicate(
      [
        gzipFile(
          "a.warc.gz",
          capture("a", 1, { chunks: [10, 20], digest: "stored" }),
          capture("b", 2, { chunks: [1000], digest: "stored" }),
          capture("c", 3, { chunks: [1000], digest: "stored" }),
        ),
      ],
      { compare },
    );
    // A revisit claims a digest that its original has, or there is none.
    expect(fates).toEqual(compare ? { "c 3": "b 2" } : {});
  });
});

describe("bodies", () => {
  test("chunked vs plain twin", async () => {
    const { fates } = await deduplicate([
      gzipFile(
        "a.warc.gz",
        capture("plain", 1),
        capture("chunked", 2, { chunks: [1000, 1000] }),
        capture("plain", 3),
        capture("chunked", 4, { chunks: [1, 2, 3] }),
        capture("chunked", 5, { chunks: [] }),
      ),
    ]);
    expect(fates).toEqual({ "plain 3": "plain 1", "chunked 4": "chunked 2", "chunked 5": "chunked 2" });
  });

  test.each([
    ["extensions", { chunkExtension: ";name=value" }],
    ["a trailer", { trailer: "X-Trailer: 1\r\n\r\n" }],
    ["no blank line at its end", { trailer: "" }],
    ["something behind its end", { trailer: "\r\nand more" }],
  ])("chunked with %s stays", async (_, more) => {
    const { fates, kept } = await deduplicate([
      gzipFile(
        "a.warc.gz",
        capture("a", 1, { chunks: [9] }),
        capture("b", 2, { chunks: [9], ...more, digest: "none" }),
      ),
    ]);
    expect(fates).toEqual({});
    expect(kept).toEqual({ "b 2": "irreversible" });
  });

  test("header says chunked, body is not", async () => {
    const lies = { http: ["Transfer-Encoding: chunked"] };
    const { fates } = await deduplicate([
      gzipFile("a.warc.gz", capture("honest", 1), capture("liar", 2, lies), capture("honest", 3)),
      gzipFile("b.warc.gz", capture("chunked", 4, { chunks: [50] }), capture("chunked", 5, { chunks: [60] })),
    ]);
    expect(fates).toEqual({ "liar 2": "honest 1", "honest 3": "honest 1", "chunked 5": "chunked 4" });
  });

  test("truncated twin", async () => {
    const cut = { lines: ["WARC-Truncated: length"] };
    const { fates, kept } = await deduplicate([
      gzipFile("a.warc.gz", capture("cut", 1, cut), capture("a", 2), capture("cut", 3, cut), capture("b", 4)),
    ]);
    expect(fates).toEqual({ "b 4": "a 2" });
    expect(kept).toEqual({ "cut 1": "truncated", "cut 3": "truncated" });
  });

  test("segmented twin", async () => {
    const part = { lines: ["WARC-Segment-Number: 1"] };
    const { fates, kept } = await deduplicate([
      gzipFile("a.warc.gz", capture("part", 1, part), capture("a", 2), capture("part", 3, part), capture("b", 4)),
    ]);
    expect(fates).toEqual({ "b 4": "a 2" });
    expect(kept).toEqual({ "part 1": "segmented", "part 3": "segmented" });
  });

  test("zero payload", async () => {
    const nothing = { payload: "", http: [`X-Padding: ${"x".repeat(2000)}`] };
    const { fates, kept } = await deduplicate([
      gzipFile(
        "a.warc.gz",
        capture("a", 1, nothing),
        capture("b", 2, nothing),
        capture("c", 3, { ...nothing, chunks: [] }),
      ),
    ]);
    expect(fates).toEqual({});
    expect(kept).toEqual({ "a 1": "empty", "b 2": "empty", "c 3": "empty" });
  });

  test("redirect with new Location and equal body", async () => {
    const moved = (where: string) => ({ status: "301 Moved", http: [`Location: ${url(where)}`] });
    const { fates, output } = await deduplicate([
      gzipFile("a.warc.gz", capture("page", 1, moved("here")), capture("page", 2, moved("there")), capture("page", 3)),
    ]);
    expect(fates).toEqual({ "page 2": "page 1", "page 3": "page 1" });
    const heads = readRecords(output[0]!).map(({ block }) => block.toString("latin1").split("\r\n\r\n")[0]!);
    expect(heads[1]).toMatch(/^HTTP\/1\.1 301 [^]*Location: http:\/\/a\.example\/there$/);
    expect(heads[2]).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("POST + revisit", async () => {
    const post = (day: number, body: string) =>
      recordBytes(
        [
          "WARC/1.0",
          "WARC-Type: request",
          `WARC-Target-URI: ${url("form")}`,
          `WARC-Date: ${at(day)}`,
          `WARC-Record-ID: <${idOf(`request ${day}`)}>`,
          `WARC-Concurrent-To: <${idOf(`response ${url("form")} ${at(day)}`)}>`,
          "Content-Type: application/http; msgtype=request",
        ],
        `POST /form HTTP/1.1\r\nHost: a.example\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    const { fates, output } = await deduplicate([
      gzipFile(
        "a.warc.gz",
        capture("form", 1),
        post(1, "q=1"),
        capture("form", 2, { payload: OTHER }),
        post(2, "q=2"),
        capture("form", 3),
        post(3, "q=1"),
      ),
    ]);
    expect(fates).toEqual({ "form 3": "form 1" });
    const records = readRecords(output[0]!);
    const [response, request] = records.slice(4);
    expect(request!.fields.get("warc-concurrent-to")).toBe(`<${response!.id}>`);
    expect(request!.block.toString()).toMatch(/q=1$/);
  });

  test("a resource that is an HTTP message keeps its header", async () => {
    const message = { type: "resource", bare: false, http: ["X-Only-Here: yes"] };
    const { fates, output } = await deduplicate([
      gzipFile("a.warc.gz", capture("a", 1), capture("b", 2, message), capture("c", 3, { type: "resource" })),
    ]);
    expect(fates).toEqual({ "b 2": "a 1", "c 3": "a 1" });
    expect(readRecords(output[0]!)[1]!.block.toString()).toContain("X-Only-Here: yes");
  });

  test("a response of another protocol whose block looks like HTTP has no HTTP header", async () => {
    const looksLike = (name: string, day: number) =>
      captureBytes({
        uri: `gopher://a.example/${name}`,
        date: at(day),
        payload: HTTP_LIKE,
        bare: true,
        digest: "none",
      });
    const { fates } = await deduplicate([gzipFile("a.warc.gz", looksLike("a", 1), looksLike("b", 2))]);
    expect(Object.keys(fates)).toEqual(["gopher://a.example/b 2"]);
  });
});

const HTTP_LIKE = Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\nServer: none\r\n\r\n"), PAYLOAD]);

describe("kill -9 at every write of a dedup job then resume", () => {
  const files = [
    gzipFile("a.warc.gz", capture("a", 1), capture("b", 2), capture("c", 3, { payload: OTHER })),
    gzipFile("b.warc.gz", capture("d", 4, { payload: OTHER }), capture("e", 5)),
  ];

  /** tests/crash/ stops at every operation and at random moments of the real process; here at some, by name. */
  test("gives what an undisturbed run gives", { timeout: 20_000 }, async () => {
    const make = (stopAt?: number) => {
      const empty = new ForgetfulDisk();
      for (const { name, bytes } of files) putFile(empty, `/in/${name}`, bytes);
      return empty.reopen({ data: "keep", names: "keep", seed: 0 }, stopAt === undefined ? {} : { stopAt });
    };
    const options = { output: "/out", threads: 1, clock: { now: () => 0 } } as const;
    const outputOf = (disk: ForgetfulDisk) => files.map(({ name }) => ({ name, bytes: getFile(disk, `/out/${name}`) }));
    const undisturbed = make();
    const { replaced, left, bytesAfter } = await dedup(undisturbed, ["/in"], options);
    expect(replaced).toBe(3);
    const count = undisturbed.operations.log.length;
    for (let stopAt = 1; stopAt < count; stopAt += Math.ceil(count / 12)) {
      const disk = make(stopAt);
      await expect(dedup(disk, ["/in"], options)).rejects.toThrow();
      const again = disk.reopen({ data: "drop", names: "drop", seed: stopAt });
      expect(await dedup(again, ["/in"], options)).toMatchObject({ replaced, left, bytesAfter, skipped: [] });
      expect(outputOf(again), `stopped at ${stopAt}`).toEqual(outputOf(undisturbed));
      checkDeduplicated(files, outputOf(again));
    }
  });
});
