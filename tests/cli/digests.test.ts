/** `holotype digests` as built, on logs that are sound, odd and broken. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { DigestEntry } from "../../src/digests/index.ts";
import { CORPUS, corpusFiles, why } from "../interop/corpus-files.ts";
import { holotype, linesOf, put, SAMPLES, temporaryFolder } from "./holotype.ts";

const DIGESTS = ["A", "B", "C", "D", "E"].map((letter) => `sha1:${letter.repeat(32)}`);

function line(day: number, uri: string, digest: number, more: { mime?: string; annotations?: string } = {}): string {
  const date = `2019-04-0${day}`;
  const fetch = `2019040${day}111533700+88`;
  const { mime = "image/png", annotations = "-" } = more;
  return `${date}T11:15:33.835Z   200       1200 ${uri} E http://site.test/ ${mime} #002 ${fetch} ${DIGESTS[digest]} - ${annotations}\n`;
}

function build(folder: string, name: string, text: string | Buffer, ...options: string[]) {
  const log = put(folder, `${name}.log`, text);
  const index = join(folder, name);
  return { index, outcome: holotype(["digests", "build", log, "-o", index, "--json", ...options]) };
}

const report = (out: string) =>
  JSON.parse(linesOf(out)[0]!) as Record<string, unknown> & { skipped: Record<string, number> };

interface Found {
  readonly asked: string;
  readonly found: readonly {
    uri: string;
    origin?: string;
    original?: { uri: string; date: string };
    digests: string[];
  }[];
}

function lookUp(index: string, ...words: string[]): Found[] {
  return linesOf(holotype(["digests", "lookup", index, ...words, "--json"]).out).map(
    (each) => JSON.parse(each) as Found,
  );
}

describe("holotype digests", () => {
  it("reads what it can, and names lines that it cannot", () => {
    const folder = temporaryFolder();
    const text = `${line(1, "http://site.test/a", 0)}this is no line\n${line(1, "http://site.test/b", 1)}\n{"half":\n`;
    const { index, outcome } = build(folder, "broken", text);
    expect(outcome.exit).toBe(3);
    expect(linesOf(outcome.err).map((each) => JSON.parse(each) as unknown)).toEqual([
      { fault: { file: join(folder, "broken.log"), line: 2, message: "not a line of a crawl.log" } },
      { fault: { file: join(folder, "broken.log"), line: 5, message: "not a line of a crawl.log" } },
    ]);
    expect(report(outcome.out)).toMatchObject({ read: 4, captures: 2, entries: 2, skipped: { unreadable: 2 } });
    expect(lookUp(index, "http://site.test/a", DIGESTS[1]!).map(({ found }) => found[0]!.uri)).toEqual([
      "http://site.test/a",
      "http://site.test/b",
    ]);
    expect(holotype(["digests", "lookup", index, "http://stranger.test/"]).exit).toBe(20);
  });

  it("carries origins forward through any number of crawls", () => {
    const folder = temporaryFolder();
    const uri = "http://site.test/a";
    const { index, outcome } = build(folder, "index", line(1, uri, 0), "--origin", "crawl 1");
    expect(outcome.exit).toBe(0);
    for (const day of [2, 3, 4]) {
      const log = put(folder, `${day}.log`, line(day, uri, 0, { annotations: "duplicate:digest" }));
      expect(holotype(["digests", "build", log, "-o", index, "--add", "--origin", `crawl ${day}`]).exit).toBe(0);
    }
    const expected = {
      origin: "crawl 1",
      original: { uri, date: "2019-04-01T11:15:33Z" },
      timeMs: Date.UTC(2019, 3, 4, 11, 15, 33, 700),
    };
    expect(lookUp(index, uri)[0]!.found).toEqual([expect.objectContaining(expected)]);
    const merged = join(folder, "merged");
    expect(holotype(["digests", "merge", index, "-o", merged]).exit).toBe(0);
    expect(lookUp(merged, uri)[0]!.found).toEqual([expect.objectContaining(expected)]);
    expect(holotype(["digests", "check", merged]).exit).toBe(0);
  });

  it("leaves out what an original cannot be, and what the filters say", () => {
    const folder = temporaryFolder();
    const text = [
      line(1, "http://site.test/page", 0, { mime: "text/html" }),
      line(1, "http://site.test/image", 1),
      line(1, "http://site.test/cut", 2, { annotations: "timeTrunc" }),
      line(1, "http://site.test/empty", 0).replace(DIGESTS[0]!, "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
      line(1, "http://site.test/304", 3).replace("   200 ", "   304 "),
      line(1, "dns:site.test", 4).replace("   200 ", "     1 "),
    ].join("");
    const { index, outcome } = build(folder, "black", text, "--not-mime-regex", "^text/.*");
    expect(report(outcome.out)).toMatchObject({ entries: 1, skipped: { mime: 1, truncated: 1, empty: 1, status: 2 } });
    expect(lookUp(index, "http://site.test/image")[0]!.found.length).toBe(1);
    expect(report(build(folder, "white", text, "--mime", "text/*").outcome.out)).toMatchObject({ entries: 1 });
    const odd = build(folder, "odd", text, "--mime-regex", "(");
    expect(odd.outcome.exit).toBe(2);
  });

  it("reads logs from standard input, compressed ones, and an archive of ours", () => {
    const folder = temporaryFolder();
    const text = line(1, "http://site.test/a", 0) + line(1, "http://site.test/b", 1);
    const index = join(folder, "piped");
    const piped = holotype(["digests", "build", "-", "-o", index, "--json"], { input: Buffer.from(text) });
    expect(report(piped.out)).toMatchObject({ entries: 2 });
    expect(report(build(folder, "gz", gzipSync(text)).outcome.out)).toMatchObject({ entries: 2 });
    const archive = join(folder, "archive");
    expect(holotype(["add", "-a", archive, SAMPLES]).exit).toBe(0);
    const fromArchive = holotype(["digests", "build", archive, "-o", join(folder, "from-archive"), "--json"]);
    const fromFiles = holotype(["digests", "build", SAMPLES, "-o", join(folder, "from-files"), "--json"]);
    expect(fromArchive.exit).toBe(0);
    expect(report(fromArchive.out)["entries"]).toBe(report(fromFiles.out)["entries"]);
  });

  it("knows of an archive of ours what its files tell: framing, validators, originals", () => {
    const folder = temporaryFolder();
    const archive = join(folder, "archive");
    expect(holotype(["add", "-a", archive, SAMPLES]).exit).toBe(0);
    const newestOf = (input: string, name: string) => {
      const index = join(folder, name);
      expect(holotype(["digests", "build", input, "-o", index, "--etag"]).exit).toBe(0);
      const lines = linesOf(holotype(["digests", "export", index, "--format", "jsonl"]).out);
      const entries = lines.map((each) => JSON.parse(each) as DigestEntry);
      expect(entries.filter(({ original }) => original?.id === undefined)).toEqual([]);
      const newest = new Map<string, DigestEntry>();
      for (const entry of entries)
        if (entry.timeMs > (newest.get(entry.uri)?.timeMs ?? 0)) newest.set(entry.uri, entry);
      return [...newest.values()].map(({ uri, digests, framing, etag, lastModified }) => ({
        uri,
        digests: digests.toSorted(),
        framing,
        etag,
        lastModified,
      }));
    };
    const fromFiles = newestOf(SAMPLES, "from-files");
    expect(fromFiles.filter(({ framing }) => framing === "chunked").length).toBeGreaterThan(0);
    expect(fromFiles.filter(({ etag }) => etag !== undefined).length).toBeGreaterThan(0);
    expect(newestOf(archive, "from-archive")).toEqual(fromFiles);
  });

  it("refuses what is there, what is none, and other settings", () => {
    const folder = temporaryFolder();
    const text = line(1, "http://site.test/a", 0);
    const { index } = build(folder, "index", text);
    expect(build(folder, "index", text).outcome.exit).toBe(2);
    expect(build(folder, "index", text, "--add", "--index", "url").outcome.exit).toBe(2);
    expect(holotype(["digests", "info", folder]).exit).toBe(20);
    const unknown = put(folder, "poem.txt", "shall I compare thee\nto a summer's day\n");
    const outcome = holotype(["digests", "build", unknown, "-o", join(folder, "none")]);
    expect(outcome.exit).toBe(3);
    expect(outcome.err).toMatch(/neither an archive nor.*\nnothing could be read; no index was made\n$/);
    // It can be made there once the right file is found.
    expect(build(folder, "none", text).outcome.exit).toBe(0);
    const more = holotype(["digests", "check", index, "--originals", SAMPLES, folder]);
    expect({ exit: more.exit, err: more.err }).toEqual({
      exit: 2,
      err: expect.stringContaining(`unexpected argument ${folder} `) as string,
    });
    for (const command of ["info", "export"]) expect(holotype(["digests", command, index, index]).exit).toBe(2);
    expect(holotype(["digests", "info", index]).exit).toBe(0);
    rmSync(join(index, "000001.run"));
    const missing = holotype(["digests", "info", index]);
    expect({ exit: missing.exit, err: missing.err }).toEqual({
      exit: 23,
      err: `holotype: ${join(index, "000001.run")}: is missing; build the digest index again\n`,
    });
  });

  it("finds a contradicted original", () => {
    const folder = temporaryFolder();
    const cdx = `${linesOf(holotype(["index", SAMPLES, "--format", "cdx11"]).out).join("\n")}\n`;
    const sound = put(folder, "sound.cdx", cdx);
    expect(holotype(["digests", "build", sound, "-o", join(folder, "sound")]).exit).toBe(0);
    expect(holotype(["digests", "check", join(folder, "sound"), "--originals", SAMPLES]).exit).toBe(0);
    const wrong = put(folder, "wrong.cdx", cdx.replace(/ [A-Z2-7]{32} /, ` ${"Q".repeat(32)} `));
    expect(holotype(["digests", "build", wrong, "-o", join(folder, "wrong")]).exit).toBe(0);
    const checked = holotype(["digests", "check", join(folder, "wrong"), "--originals", SAMPLES, "--json"]);
    expect(checked.exit).toBe(4);
    expect(JSON.parse(linesOf(checked.out)[0]!)).toMatchObject({
      damaged: 0,
      originals: { contradicted: 1, claimed: 0 },
    });
  });

  it("exports lines that it reads again", () => {
    const folder = temporaryFolder();
    const index = join(folder, "index");
    expect(holotype(["digests", "build", SAMPLES, "-o", index]).exit).toBe(0);
    for (const format of ["cdx11", "cdxj"]) {
      const file = join(folder, `out.${format}`);
      expect(holotype(["digests", "export", index, "--format", format, "-o", file]).exit).toBe(0);
      const lines = linesOf(readFileSync(file, "latin1"));
      expect(lines).toEqual([...lines].sort());
      const again = holotype(["digests", "build", file, "-o", join(folder, `from-${format}`), "--json"]);
      expect(report(again.out)["entries"]).toBe(75);
    }
  });
});

describe(`crawl.logs of others${why}`, () => {
  const logs = corpusFiles().filter((path) =>
    /^(?:crawl|derived|real\/(?:nla|iipc|netarchive)).*crawl[^/]*\.log$/.test(path),
  );
  /** Lines in them that are none, as those who test their readers with them mean it. */
  const unreadable = (path: string) => (/invalid-/.test(path) ? 2 : /dedup-annotations/.test(path) ? 1 : 0);

  it.skipIf(logs.length === 0)("are all read", () => {
    const folder = temporaryFolder();
    for (const [i, path] of logs.entries()) {
      const { exit, out } = holotype(["digests", "build", join(CORPUS, path), "-o", join(folder, `${i}`), "--json"]);
      const found = { path, exit, unreadable: report(out).skipped["unreadable"] };
      expect(found).toEqual({ path, exit: unreadable(path) > 0 ? 3 : 0, unreadable: unreadable(path) });
    }
  });
});
