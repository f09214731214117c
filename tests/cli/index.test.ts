import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseCdxjLine } from "../../src/warc/index.ts";
import { record, response, revisit, warcFile } from "./archives.ts";
import { holotype, linesOf, list, put, SAMPLE, SAMPLES, temporaryFolder, withFlippedByte } from "./holotype.ts";

const folder = temporaryFolder();

function sortedByBytes(lines: readonly string[]): string[] {
  return [...lines].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

describe("index", () => {
  const cdxj = holotype(["index", SAMPLES]);
  const lines = linesOf(cdxj.out);

  it("has a line for each capture of the samples, with its place", () => {
    expect({ exit: cdxj.exit, err: cdxj.err }).toEqual({ exit: 0, err: "" });
    const entries = lines.map((line) => parseCdxjLine(line)!);
    const captures = list(SAMPLES).filter(({ type }) => type === "response" || type === "revisit");
    const place = (file: string, offset: number, length: number) => `${file.replace(/^.*\//, "")} ${offset} ${length}`;
    expect(entries.map(({ file, offset, length }) => place(file!, offset!, length!)).sort()).toEqual(
      captures.map(({ file, offset, length }) => place(file, offset, length!)).sort(),
    );
    for (const { url, urlKey, timestamp, mime, digest } of entries) {
      expect(url).toMatch(/^http/);
      expect(urlKey).toMatch(/^\S+\)\//);
      expect(timestamp).toMatch(/^\d{14}$/);
      expect(mime).toMatch(/\S/);
      expect(digest).toMatch(/^[A-Z2-7]{32}$/);
    }
  });

  it("is sorted by bytes, as LC_ALL=C sort has it, whatever the threads", () => {
    expect(lines).toEqual(sortedByBytes(lines));
    const sort = spawnSync("sort", [], { input: cdxj.out, env: { ...process.env, LC_ALL: "C" } });
    if (sort.error === undefined) expect(cdxj.out).toBe(sort.stdout.toString());
    expect(holotype(["index", "--threads", "2", SAMPLES]).out).toBe(cdxj.out);
  });

  it("sorts keys that are not ASCII by bytes too", () => {
    const uris = ["http://a.example/\u{1F600}", "http://a.example/\uff21", "http://a.example/z", "http://a.example/é"];
    const path = put(folder, "unicode.warc.gz", warcFile(uris.map((uri) => response(uri, "x"))));
    const out = linesOf(holotype(["index", path]).out);
    expect(out).toHaveLength(4);
    expect(out).toEqual(sortedByBytes(out));
  });

  it("writes CDX-11 with its header line first", () => {
    const [header, ...rest] = linesOf(holotype(["index", "--format", "cdx11", SAMPLES]).out);
    expect(header).toBe(" CDX N b a m s k r M S V g");
    expect(rest).toHaveLength(lines.length);
    expect(rest).toEqual(sortedByBytes(rest));
    for (const line of rest) expect(line.split(" ")).toHaveLength(11);
    const redirects = rest.filter((line) => / 30[12] /.test(line));
    expect(redirects.length).toBeGreaterThan(0);
    for (const line of redirects) expect(line.split(" ")[6]).not.toBe("-");
  });

  it("takes captures in and leaves notes about them out, as cdxj-indexer does", () => {
    const original = { uri: "http://a.example/", date: "2020-02-02T20:20:20Z" };
    const path = put(
      folder,
      "types.warc.gz",
      warcFile([
        record("warcinfo", "urn:x", "application/warc-fields", "software: x\r\n"),
        response("http://a.example/", "one"),
        record("request", "http://a.example/", "application/http; msgtype=request", "GET / HTTP/1.1\r\n\r\n"),
        record("metadata", "http://a.example/", "application/warc-fields", "via: x\r\n"),
        record("metadata", "http://a.example/video.json", "application/json", "{}"),
        record("resource", "http://a.example/shot.png", "image/png", "PNG"),
        record("conversion", "http://a.example/text", "text/plain", "one"),
        revisit("http://a.example/again", original, "sha1:7YC3ZXG4JEUACJ4BUXY2FJ34XNJZRYIG"),
      ]),
    );
    const told = linesOf(holotype(["index", path]).out).map((line) => parseCdxjLine(line)!);
    expect(told.map(({ url, mime, status }) => [url, mime, status])).toEqual([
      ["http://a.example/", "text/plain", 200],
      ["http://a.example/again", "warc/revisit", 200],
      ["http://a.example/shot.png", "image/png", undefined],
      ["http://a.example/text", "text/plain", undefined],
      ["http://a.example/video.json", "application/json", undefined],
    ]);
  });

  it("has URLs with bytes that are not UTF-8 under the escapes of these bytes", () => {
    const bytes = (head: string) => head.replace("caf!", "caf\xe9");
    const records = [response("http://a.example/caf!", "x"), response("http://a.example/café", "y")];
    const plain = warcFile(records, { compression: "none" }).toString("latin1");
    const path = put(folder, "bytes.warc", Buffer.from(bytes(plain), "latin1"));
    const told = linesOf(holotype(["index", path]).out).map((line) => parseCdxjLine(line)!);
    expect(told.map(({ urlKey, url }) => [urlKey, url])).toEqual([
      ["example,a)/caf%c3%a9", "http://a.example/café"],
      ["example,a)/caf%e9", "http://a.example/caf%E9"],
    ]);
  });

  it("makes up no digest for a revisit without one", () => {
    const original = { uri: "http://a.example/", date: "2020-02-02T20:20:20Z" };
    const path = put(folder, "no-digest.warc.gz", warcFile([revisit("http://a.example/", original)]));
    const cdxj = holotype(["index", path]).out;
    expect(cdxj).toContain('"mime": "warc/revisit"');
    expect(cdxj).not.toContain('digest"');
    expect(linesOf(holotype(["index", "--format", "cdx11", path]).out)[1]).toMatch(/ warc\/revisit \d+ - - - /);
  });

  it("names captures that it leaves out for want of a date or a URI, and only those", () => {
    const info = record("warcinfo", "urn:x", "application/warc-fields", "software: x\r\n");
    const undated = response("http://a.example/undated", "one", { date: "yesterday" });
    const nameless = response("http://a.example/nameless", "two");
    const fields = nameless.fields.filter(([name]) => name !== "WARC-Target-URI");
    const records = [info, undated, { ...nameless, fields }, response("http://a.example/", "three")];
    const path = put(folder, "undated.warc.gz", warcFile(records));
    const { exit, out, err } = holotype(["index", path]);
    expect(exit).toBe(4);
    expect(linesOf(out)).toHaveLength(1);
    expect(linesOf(err)).toEqual([
      expect.stringMatching(
        /HT_FIELD_INVALID http:\/\/a\.example\/undated: date yesterday cannot be read, so it is not/,
      ),
      expect.stringMatching(/HT_FIELD_MISSING it has no URI, so it is not in the index/),
    ]);
  });

  it("keeps www. and folders where asked", () => {
    const path = put(folder, "www.warc.gz", warcFile([response("http://www.a.example/", "one")]));
    expect(holotype(["index", path]).out).toMatch(/^example,a\)\/ .*"filename": "www\.warc\.gz"}\n$/);
    expect(holotype(["index", "--keep-www", path]).out).toMatch(/^example,a,www\)\/ /);
    expect(holotype(["index", "--full-path", path]).out).toContain(`"filename": ${JSON.stringify(path)}`);
  });
});

describe("index -o", () => {
  const target = join(folder, "outputs");
  mkdirSync(target);

  it("writes the same to a file, and leaves nothing beside it", () => {
    const path = join(target, "x.cdxj");
    expect(holotype(["index", SAMPLES, "-o", path])).toEqual({ exit: 0, out: "", err: "" });
    expect(readFileSync(path, "utf8")).toBe(holotype(["index", SAMPLES]).out);
    expect(readdirSync(target)).toEqual(["x.cdxj"]);
  });

  it("does not overwrite a file unless told to", () => {
    const path = put(target, "kept.cdxj", "precious\n");
    const refused = holotype(["index", SAMPLE, "-o", path]);
    expect(refused).toMatchObject({ exit: 2, out: "", err: expect.stringContaining("there already") as string });
    expect(readFileSync(path, "utf8")).toBe("precious\n");
    expect(holotype(["index", SAMPLE, "-o", path, "--replace"]).exit).toBe(0);
    expect(readFileSync(path, "utf8")).toBe(holotype(["index", SAMPLE]).out);
    expect(readdirSync(target).sort()).toEqual(["kept.cdxj", "x.cdxj"]);
  });

  it("leaves nothing where the inputs are not there", () => {
    expect(holotype(["index", join(folder, "absent"), "-o", join(target, "never.cdxj")]).exit).toBe(20);
    expect(readdirSync(target)).not.toContain("never.cdxj");
  });

  it("indexes what can be read of a damaged file, and says that it is damaged", () => {
    const damaged = put(folder, "damaged.warc.gz", withFlippedByte(SAMPLE, 1500));
    const { exit, out, err } = holotype(["index", damaged]);
    expect(exit).toBe(4);
    expect(linesOf(out).length).toBeGreaterThan(20);
    expect(err).toContain("HT_GZIP");
  });
});
