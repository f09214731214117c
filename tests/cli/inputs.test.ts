import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync, gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { loadZstd } from "../../src/warc/index.ts";
import { arcFile, response, warcFile, zipFile } from "./archives.ts";
import { holotype, holotypeBytes, linesOf, list, put, SAMPLE, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
const sample = readFileSync(SAMPLE);
const small = warcFile([response("http://a.example/", "one"), response("http://b.example/", "two")]);
const uris = ["http://a.example/", "http://b.example/"];

describe("standard input", () => {
  const fromFile = holotype(["ls", "--json", SAMPLE]);

  it("is read like the file", () => {
    const { exit, out, err } = holotype(["ls", "--json", "-"], { input: sample });
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    expect(out).toBe(fromFile.out.replaceAll(JSON.stringify(SAMPLE), '"-"'));
  });

  it("is read like the file by worker threads", () => {
    expect(holotype(["ls", "--json", "--threads", "2", "-"], { input: sample }).out.length).toBeGreaterThan(10_000);
  });

  it("may be plain, gzip, zstd or ARC", async () => {
    await loadZstd();
    const records = [response("http://a.example/", "one")];
    for (const compression of ["none", "gzip", "zstd"] as const) {
      const { exit, out } = holotype(["ls", "-"], { input: warcFile(records, { compression }) });
      expect({ exit, lines: linesOf(out).length }).toEqual({ exit: 0, lines: 1 });
    }
    const arc = arcFile(1, "x.arc", [
      { url: "http://a.example/", mime: "text/plain", block: "HTTP/1.0 200 OK\r\n\r\n" },
    ]);
    expect(linesOf(holotype(["ls", "-"], { input: arc }).out)).toHaveLength(2);
  });

  it("gives cat a record at any offset", () => {
    const [, record] = list(SAMPLE);
    const args = ["--offset", String(record!.offset)];
    expect(holotypeBytes(["cat", "-", ...args], { input: sample })).toEqual(holotypeBytes(["cat", SAMPLE, ...args]));
  });

  it("that is a ZIP file is refused with a reason: its directory is at its end", () => {
    const { exit, err } = holotype(["ls", "-"], { input: zipFile({ "archive/a.warc.gz": small }) });
    expect(exit).toBe(3);
    expect(err).toContain("ZIP");
  });
});

describe("a WACZ", () => {
  const other = warcFile([response("http://c.example/", "three")]);
  const wacz = put(
    folder,
    "x.wacz",
    zipFile({
      "archive/a.warc.gz": small,
      "archive/b.warc": gunzipSync(other),
      "indexes/index.cdx.gz": gzipSync("no archive"),
      "datapackage.json": Buffer.from("{}"),
    }),
  );

  it("stands for the archives in it, with offsets inside them", () => {
    const found = list(wacz).map(({ file, offset, uri }) => ({ file, offset, uri }));
    const second = list(put(folder, "a.warc.gz", small))[1]!.offset;
    expect(found).toEqual([
      { file: `${wacz}!archive/a.warc.gz`, offset: 0, uri: uris[0] },
      { file: `${wacz}!archive/a.warc.gz`, offset: second, uri: uris[1] },
      { file: `${wacz}!archive/b.warc`, offset: 0, uri: "http://c.example/" },
    ]);
  });

  it("gives each archive by its name in it", () => {
    const [record] = list(`${wacz}!archive/b.warc`);
    expect(record).toMatchObject({ file: `${wacz}!archive/b.warc`, uri: "http://c.example/" });
    const payload = ["cat", `${wacz}!archive/a.warc.gz`, "--payload", "--offset"];
    expect(holotype([...payload, String(list(wacz)[1]!.offset)]).out).toBe("two");
    const { exit, err } = holotype(["ls", `${wacz}!archive/none.warc`]);
    expect(exit).toBe(20);
    expect(err).toContain("none.warc");
  });

  it("may hold deflated archives, and other WACZ files", () => {
    const outer = put(folder, "outer.wacz", zipFile({ "x.wacz": readFileSync(wacz) }));
    expect(list(outer).map(({ file }) => file)).toContain(`${outer}!x.wacz!archive/b.warc`);
    const deflated = put(folder, "deflated.wacz", deflatedZip("archive/a.warc.gz", small));
    expect(list(deflated).map(({ uri }) => uri)).toEqual(uris);
  });

  it("is checked, indexed and listed by worker threads as well", () => {
    expect(holotype(["check", wacz]).exit).toBe(0);
    expect(linesOf(holotype(["index", wacz]).out)[0]).toContain('"filename": "a.warc.gz"');
    expect(holotype(["ls", "--threads", "2", wacz]).out).toBe(holotype(["ls", wacz]).out);
  });

  it("that is cut off or holds no archive is skipped with a reason", () => {
    const cut = put(folder, "cut.wacz", readFileSync(wacz).subarray(0, 400));
    const empty = put(folder, "none.wacz", zipFile({ "datapackage.json": Buffer.from("{}") }));
    const { exit, err } = holotype(["ls", cut, empty, wacz]);
    expect(exit).toBe(3);
    expect(linesOf(err)).toEqual([expect.stringContaining("cut.wacz"), expect.stringContaining("no archive in it")]);
  });
});

/** One entry, compressed. */
function deflatedZip(name: string, data: Buffer): Buffer {
  const raw = deflateRawSync(data);
  const zip = zipFile({ [name]: raw });
  // Method 8 in both headers, and the true size in the directory.
  zip.writeUInt16LE(8, 8);
  const directory = zip.lastIndexOf("PK\x01\x02");
  zip.writeUInt16LE(8, directory + 10);
  zip.writeUInt32LE(data.length, directory + 24);
  return zip;
}

describe("a folder", () => {
  it("stands for the archives in it and below it, by name; other files are left alone", () => {
    const top = join(folder, "crawl");
    mkdirSync(join(top, "m"), { recursive: true });
    for (const name of ["z.warc.gz", "a.warc.gz", "m/b.warc.gz", "notes.txt", "x.cdxj"]) put(top, name, small);
    const files = [...new Set(list(top).map(({ file }) => file))];
    expect(files).toEqual([`${top}/a.warc.gz`, `${top}/m/b.warc.gz`, `${top}/z.warc.gz`]);
    expect(list(`${top}/`)).toEqual(list(top));
  });
});

describe("a name that lies", () => {
  it.each([
    { name: "gzip.warc", bytes: small },
    { name: "plain.warc.gz", bytes: gunzipSync(small) },
    { name: "plain.warc.zst", bytes: gunzipSync(small) },
    { name: "warc.arc.gz", bytes: small },
    { name: "archive.bin", bytes: small },
    { name: "zip.warc.gz", bytes: zipFile({ "archive/a.warc.gz": small }) },
  ])("does not matter: $name", ({ name, bytes }) => {
    const path = put(folder, name, bytes);
    const { exit, err } = holotype(["ls", path]);
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    expect(list(path).map(({ uri }) => uri)).toEqual(uris);
  });
});
