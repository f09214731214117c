import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { WARCParser } from "warcio";
import { digestOf, formatDigest } from "../../src/base/index.ts";
import { loadZstd } from "../../src/warc/index.ts";
import { record, response, warcFile, zipFile } from "./archives.ts";
import { holotype, linesOf, list, put, SAMPLES, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
await loadZstd();

const NAMES = readdirSync(SAMPLES).filter((name) => name.endsWith(".warc.gz"));
const out = join(folder, "out");

function sha256(path: string): string {
  return digestOf("sha256", readFileSync(path)).hex;
}

interface RestoredLine {
  readonly output: string;
  readonly state: string;
  readonly restored: number;
  readonly sha256: string;
  readonly kept: boolean;
}

function jsonLines(text: string): (RestoredLine & { readonly summary?: Readonly<Record<string, number>> })[] {
  return linesOf(text).map((line) => JSON.parse(line) as RestoredLine);
}

/** On one thread: most of these take no time but that of their threads to start. */
function restore(...args: readonly string[]) {
  return holotype(["restore", ...args, "--threads", "1"]);
}

const dedup = holotype(["dedup", "samples", "-o", out, "--threads", "1"]);

describe("restore of the samples", () => {
  it("gives every file back byte for byte, on one thread as on two", () => {
    expect(dedup).toMatchObject({ exit: 0, err: "" });
    for (const threads of ["1", "2"]) {
      const back = join(folder, `back-${threads}`);
      const { exit, out: told, err } = holotype(["restore", out, "-o", back, "--threads", threads]);
      expect({ exit, err }).toEqual({ exit: 0, err: "" });
      expect(readdirSync(back)).toEqual(NAMES);
      for (const name of NAMES) expect(sha256(join(back, name))).toBe(sha256(join(SAMPLES, name)));
      const [head, ...lines] = linesOf(told);
      expect(head).toMatch(/^file +restored +size$/);
      expect(lines.slice(0, -1)).toEqual(
        NAMES.map((name) => expect.stringMatching(`${name} +[0-9]+ +[0-9.]+ kB  byte-identical$`)),
      );
      expect(lines.at(-1)).toBe("4 files, 48 records restored, 494.7 kB; 4 byte-identical");
    }
  });

  it("tells objects with --json, and keeps what is there", () => {
    const back = join(folder, "back-1");
    const { exit, out: told } = restore(out, "-o", back, "--json");
    const files = jsonLines(told);
    expect(exit).toBe(0);
    expect(files.at(-1)?.summary).toMatchObject({ files: 4, restored: 48, identical: 4, failed: 0, skipped: 0 });
    expect(files.slice(0, -1).map(({ state, kept }) => [state, kept])).toEqual(NAMES.map(() => ["identical", true]));
    expect(files.slice(0, -1).map((file) => file.sha256)).toEqual(NAMES.map((name) => sha256(join(SAMPLES, name))));
  });

  it("keeps folders, and undoes what was done in place", () => {
    const place = join(folder, "place");
    for (const [i, name] of NAMES.entries()) {
      mkdirSync(join(place, String(i)), { recursive: true });
      copyFileSync(join(SAMPLES, name), join(place, String(i), name));
    }
    expect(holotype(["dedup", place, "--in-place", "--threads", "1"]).exit).toBe(0);
    const back = join(folder, "back-place");
    expect(restore(place, "-o", back).exit).toBe(0);
    for (const [i, name] of NAMES.entries()) {
      expect(sha256(join(back, String(i), name))).toBe(sha256(join(SAMPLES, name)));
    }
  });
});

describe("restore of what cannot be proven", () => {
  it("exits with 4 and names the file and the original where that is missing", () => {
    const broken = join(folder, "broken");
    cpSync(out, broken, { recursive: true });
    rmSync(join(broken, "cabinet-2009.warc.gz"));
    const back = join(folder, "back-broken");
    const { exit, err, out: told } = restore(broken, "-o", back);
    expect(exit).toBe(4);
    expect(linesOf(err)).toHaveLength(3);
    for (const line of linesOf(err)) {
      expect(line).toMatch(
        /^not restored: \S+cabinet-20\d\d\.warc\.gz: \S+:\d+: its original is not there: http:\/\/cabinet\.example\/\S+ of 2009-\S+; say where with --originals \(HT_NOT_FOUND\)$/,
      );
    }
    expect(told).toMatch(/0 files, 0 records restored, 0 B; 3 not restored\n$/);
    expect(readdirSync(back)).toEqual([]);
    const found = restore(broken, "-o", back, "--originals", join(SAMPLES, NAMES[0]!));
    expect(found.exit).toBe(0);
    expect(readdirSync(back)).toEqual(NAMES.slice(1));
    // As objects too.
    const failed = JSON.parse(linesOf(restore(broken, "-o", join(folder, "x"), "--json").err)[0]!) as object;
    expect(failed).toMatchObject({ failed: { name: expect.stringContaining("cabinet-2013"), code: "HT_NOT_FOUND" } });
  });

  it("exits with 4 where a file has changed since, and with 3 where an input is skipped", () => {
    const changed = join(folder, "changed");
    cpSync(out, changed, { recursive: true });
    const bytes = readFileSync(join(changed, NAMES[0]!));
    bytes[9] = 7;
    put(changed, NAMES[0]!, bytes);
    const { exit, out: told } = restore(changed, "-o", join(folder, "back-changed"));
    expect(exit).toBe(4);
    expect(told).toContain("restored, but other bytes have changed since dedup");
    const absent = restore(out, join(folder, "absent.warc"), "-o", join(folder, "back-absent"));
    expect(absent.exit).toBe(3);
    expect(absent.err).toMatch(/^skipped \S+absent\.warc: no such file \(HT_NOT_FOUND\)\n$/);
  });

  it("copies a WACZ, and does not restore inside of one", () => {
    const packed = join(folder, "packed");
    mkdirSync(packed);
    put(packed, "sound.wacz", zipFile({ "archive/a.warc.gz": readFileSync(join(SAMPLES, NAMES[0]!)) }));
    put(packed, "ours.wacz", zipFile({ "archive/b.warc.gz": readFileSync(join(out, NAMES[1]!)) }));
    const back = join(folder, "back-packed");
    const { exit, err } = restore(packed, "-o", back);
    expect(exit).toBe(4);
    expect(err).toMatch(
      /^not restored: \S+ours\.wacz: .*inside a ZIP file cannot be restored there; unpack it first \(HT_UNSUPPORTED\)\n$/,
    );
    expect(readdirSync(back)).toEqual(["sound.wacz"]);
  });

  it.each(["1", "2"])(
    "refuses a revisit that shares its member, with %s threads, and restores the others",
    (threads) => {
      const shared = join(folder, `shared-${threads}`);
      mkdirSync(shared);
      const [first, second, third] = NAMES.map((name) => readFileSync(join(out, name)));
      put(shared, NAMES[0]!, first!);
      put(shared, NAMES[1]!, gzipSync(gunzipSync(second!)));
      put(shared, NAMES[2]!, third!);
      const back = join(folder, `back-shared-${threads}`);
      const { exit, out: told, err } = holotype(["restore", shared, "-o", back, "--threads", threads]);
      expect(err).toMatch(
        /^not restored: \S+: .* shares its member with others; convert the file first \(HT_UNSUPPORTED\)\n$/,
      );
      expect(told).toContain("2 files, ");
      expect(exit).toBe(4);
    },
  );

  it("takes originals out of entries that are deflated", () => {
    const entries = NAMES.slice(0, 3).map((name) => [`archive/${name}`, readFileSync(join(SAMPLES, name))]);
    const originals = put(folder, "deflated.zip", zipFile(Object.fromEntries(entries), "deflated"));
    const back = join(folder, "back-deflated");
    expect(restore(join(out, NAMES[3]!), "-o", back, "--originals", originals)).toMatchObject({ exit: 0, err: "" });
    expect(readFileSync(join(back, NAMES[3]!)).equals(readFileSync(join(SAMPLES, NAMES[3]!)))).toBe(true);
  });

  it("wants a folder that is not the one it reads", () => {
    expect(restore(out)).toMatchObject({ exit: 2 });
    expect(restore(out, "-o", join(out, "back"))).toMatchObject({ exit: 2 });
    expect(existsSync(join(out, "back"))).toBe(false);
  });
});

describe("restore of a subset", () => {
  /** What a neighbour makes of a file, with nothing else at hand. */
  async function readWithWarcio(path: string) {
    const bytes = readFileSync(path);
    const records: { type: string; uri: string; payload: Buffer }[] = [];
    for await (const each of new WARCParser([bytes] as unknown as AsyncIterable<Uint8Array>)) {
      const payload = Buffer.from((await each.readFully(true)) ?? []);
      records.push({ type: each.warcType ?? "", uri: each.warcTargetURI ?? "", payload });
    }
    return records;
  }

  it("takes records out of a ZIP file, stored or deflated", () => {
    const entries = { "archive/a.warc.gz": readFileSync(join(SAMPLES, NAMES[0]!)) };
    const subsets = ["stored", "deflated"].map((method) => {
      const zip = put(folder, `${method}-subset.zip`, zipFile(entries, method));
      const alone = join(folder, `alone-${method}`);
      expect(restore(zip, "-o", alone, "--host", "cabinet.example")).toMatchObject({ exit: 0, err: "" });
      return readFileSync(join(alone, `${method}-subset`, "a.warc.gz"));
    });
    expect(subsets[0]!.length).toBeGreaterThan(100_000);
    expect(subsets[1]!.equals(subsets[0]!)).toBe(true);
  });

  it("of the samples is what a neighbour plays without the other files", async () => {
    const press = join(folder, "press");
    const { exit, out: told, err } = restore(out, "-o", press, "--url", "http://cabinet.example/press/");
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    expect(linesOf(told).at(-1)).toBe("4 files, 12 records, 43.6 kB; 4 restored from revisits of ours");
    const [beetle] = list(join(SAMPLES, NAMES[0]!)).filter(({ uri }) => uri?.endsWith("/orchard-beetle.png") === true);
    for (const name of NAMES) {
      const records = await readWithWarcio(join(press, name));
      expect(records.map(({ type }) => type).sort()).toEqual(["request", "response", "warcinfo"]);
      const played = records.find(({ type }) => type === "response")!;
      expect(formatDigest(digestOf("sha1", played.payload))).toBe(beetle!.payloadDigest);
    }
    expect(holotype(["check", press])).toMatchObject({ exit: 0 });
  });

  it("expands revisits that were there, and tells those that it cannot", async () => {
    const crawl = join(folder, "crawl");
    mkdirSync(crawl);
    const payload = "the same page, again and again";
    const sha1 = (text: string) => formatDigest(digestOf("sha1", Buffer.from(text)));
    const original = { uri: "http://a.example/", date: "2020-02-02T20:20:20Z" };
    put(crawl, "1.warc.gz", warcFile([response(original.uri, payload, { chunked: true })]));
    const again = (uri: string, refersTo: string, body: string) =>
      record("revisit", uri, "application/http; msgtype=response", "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n", [
        ["WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"],
        ["WARC-Refers-To-Target-URI", refersTo],
        ["WARC-Refers-To-Date", original.date],
        ["WARC-Payload-Digest", sha1(body)],
      ]);
    const revisits = [
      again("http://b.example/", original.uri, payload),
      again("http://b.example/2", "http://gone.example/", "a page that nobody has"),
    ];
    put(crawl, "2.warc.gz", warcFile(revisits));
    const alone = join(folder, "alone");
    const { exit, out: told, err } = restore(crawl, "-o", alone, "--host", "b.example");
    expect(exit).toBe(4);
    expect(err).toMatch(
      /HT_REVISIT_ORPHAN its original is not there: http:\/\/gone\.example\/ of 2020-02-02T20:20:20Z; left out\n$/,
    );
    expect(linesOf(told).at(-1)).toMatch(
      /^1 file, 1 record, .*; 1 made of revisits that were there; 1 revisits left out for want of their originals$/,
    );
    expect(readdirSync(alone)).toEqual(["2.warc.gz"]);
    const records = await readWithWarcio(join(alone, "2.warc.gz"));
    expect(records.map(({ type, uri, payload: bytes }) => [type, uri, bytes.toString()])).toEqual([
      ["response", "http://b.example/", payload],
    ]);
  });

  it("goes by hosts and times, and refuses what is none", () => {
    const some = join(folder, "some");
    const { exit, out: told } = restore(
      out,
      "-o",
      some,
      "--host",
      "*.example",
      "--from",
      "2013",
      "--to",
      "2018",
      "--json",
    );
    expect(exit).toBe(0);
    expect(readdirSync(some)).toEqual(["cabinet-2013.warc.gz", "cabinet-2018.warc.gz"]);
    expect(jsonLines(told).at(-1)?.summary).toMatchObject({ files: 2, records: 136, restored: 23, orphans: 0 });
    expect(restore(out, "-o", join(folder, "y"), "--host", "a b")).toMatchObject({ exit: 2 });
    expect(restore(out, "-o", join(folder, "y"), "--from", "soon")).toMatchObject({ exit: 2 });
    expect(existsSync(join(folder, "y"))).toBe(false);
  });
});
