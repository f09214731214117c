import { join } from "node:path";
import { brotliCompressSync, deflateSync, gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../../src/base/index.ts";
import { chunk, DATE, record, response, revisit, warcFile } from "./archives.ts";
import {
  holotype,
  holotypeBytes,
  linesOf,
  list,
  put,
  SAMPLE,
  SAMPLES,
  temporaryFolder,
  withFlippedByte,
} from "./holotype.ts";

const folder = temporaryFolder();
const ORIGINAL = { uri: "http://a.example/", date: DATE };
const SHA1_OF_ONE = "sha1:7YC3ZXG4JEUACJ4BUXY2FJ34XNJZRYIG";

describe("ls", () => {
  it("prints a line a record for people", () => {
    const { exit, out, err } = holotype(["ls", SAMPLE]);
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    const lines = linesOf(out);
    expect(lines).toHaveLength(52);
    for (const line of lines)
      expect(line).toMatch(/^ +\d+ +\d+ [a-z]+ +(?:\d{3}|-) +\d+ \d{4}-\d\d-\d\dT[\d:]+Z \S+ +\S+$/);
  });

  it("prints with --json exactly the fields that are promised, in one order", () => {
    const promised = "file offset length type id date uri status mime payloadSize payloadDigest warnings".split(" ");
    const records = list(SAMPLES);
    expect(records).toHaveLength(262);
    for (const each of records) expect(Object.keys(each)).toEqual(promised);
  });

  it("tells of each type what it has", () => {
    const path = put(
      folder,
      "types.warc.gz",
      warcFile([
        response("http://a.example/", "one", { status: "404 Not Found", mime: "text/HTML; charset=utf-8" }),
        response("http://a.example/c", "one", { chunked: true }),
        revisit("http://a.example/r", ORIGINAL, SHA1_OF_ONE),
        record("resource", "ftp://a.example/file", "image/gif", "GIF89a"),
        record("metadata", "http://a.example/", "application/warc-fields", "via: x\r\n"),
      ]),
    );
    const told = list(path).map((each) => {
      expect(each).toMatchObject({
        file: path,
        id: expect.stringMatching(/^urn:uuid:/) as string,
        date: DATE,
        warnings: [],
      });
      return [each.type, each.uri, each.status, each.mime, each.payloadSize, each.payloadDigest];
    });
    expect(told).toEqual([
      ["response", "http://a.example/", 404, "text/html", 3, SHA1_OF_ONE],
      ["response", "http://a.example/c", 200, "text/plain", 3, SHA1_OF_ONE],
      ["revisit", "http://a.example/r", 200, null, null, SHA1_OF_ONE],
      ["resource", "ftp://a.example/file", null, "image/gif", 6, "sha1:EXE3G6XDNIFAQMMNJXFHZJL6VGGXO2BB"],
      ["metadata", "http://a.example/", null, "application/warc-fields", null, null],
    ]);
  });

  it("tells warnings with their record, and marks its line", () => {
    const unterminated = "HTTP/1.1 200 OK\r\nContent-Type: text/html";
    const odd = record("response", "http://a.example/", "application/http; msgtype=response", unterminated);
    const path = put(folder, "odd.warc.gz", warcFile([odd]));
    expect(list(path)[0]!.warnings).toEqual([{ code: "HT_HTTP_UNTERMINATED", message: expect.any(String) as string }]);
    expect(holotype(["ls", path]).out).toMatch(/^!/);
  });

  it("gives offsets and lengths that cut the file into its records", () => {
    const records = list(SAMPLE);
    let next = 0;
    for (const { offset, length } of records) {
      expect(offset).toBe(next);
      next += length!;
    }
    const last = holotypeBytes(["cat", SAMPLE, "--offset", String(records.at(-1)!.offset)]);
    expect(last.exit).toBe(0);
  });
});

describe("cat", () => {
  const page = "one page, ".repeat(50);
  const codings = { gzip: gzipSync(page), deflate: deflateSync(page), br: brotliCompressSync(page) };
  const coded = Object.entries(codings).map(([coding, body]) =>
    response(`http://a.example/${coding}`, body, { chunked: true, headers: `Content-Encoding: ${coding}\r\n` }),
  );
  const path = put(folder, "coded.warc.gz", warcFile(coded));
  const records = list(path);

  it("prints a record as it is inside its compression", () => {
    const { offset, length } = records[1]!;
    const { out } = holotypeBytes(["cat", path, "--offset", String(offset)]);
    const raw = warcFile(coded).subarray(offset, offset + length!);
    // All but the two line ends that stand between records.
    expect(out.toString("latin1")).toBe(gunzipSync(raw).toString("latin1").slice(0, -4));
  });

  it.each(Object.entries(codings))("prints a payload of %s with chunks undone, and with -d decoded", (coding, body) => {
    const { offset, payloadDigest } = records.find(({ uri }) => uri!.endsWith(`/${coding}`))!;
    const stored = holotypeBytes(["cat", path, "-p", "--offset", String(offset)]).out;
    expect(stored.equals(body)).toBe(true);
    expect(payloadDigest).toHaveLength("sha1:".length + 32);
    expect(holotype(["cat", path, "-d", "--offset", String(offset)]).out).toBe(page);
  });

  it("prints the payload whose digest ls tells", () => {
    const responses = list(SAMPLE).filter(({ type }) => type === "response");
    for (const { offset, payloadDigest } of responses.slice(1, 3)) {
      const { out } = holotypeBytes(["cat", SAMPLE, "--payload", "--offset", String(offset)]);
      expect(formatDigest(digestOf("sha1", out))).toBe(payloadDigest);
    }
  });

  it("finds records that share a member by --inner", () => {
    const plain = warcFile([response("http://a.example/", "one"), response("http://b.example/", "two")], {
      compression: "none",
    });
    const shared = put(folder, "shared.warc.gz", gzipSync(plain));
    const [first, second] = list(shared);
    expect(first).toMatchObject({ offset: 0, length: null });
    expect(second).toMatchObject({ offset: 0, length: null, inner: plain.indexOf("WARC/1.1", 10) });
    expect(holotype(["cat", shared, "-p"]).out).toBe("one");
    expect(holotype(["cat", shared, "-p", "--inner", String(second!.inner)]).out).toBe("two");
    expect(holotype(["cat", shared, "-p", "--inner", "3"]).exit).toBe(20);
  });

  it("finds a record in the middle of a zstd file with a dictionary", () => {
    const dictionary = put(folder, "dictionary", "HTTP/1.1 200 OK\\r\\nContent-Type: text/html\\r\\n".repeat(9));
    const output = join(folder, "with-dictionary");
    expect(holotype(["convert", SAMPLE, "--to", "zstd", "--dictionary", dictionary, "-o", output]).exit).toBe(0);
    const file = join(output, "cabinet-2009.warc.zst");
    const { offset, uri } = list(file).at(-1)!;
    expect(holotype(["cat", file, "--offset", String(offset)]).out).toContain(`WARC-Target-URI: ${uri}`);
  });

  it("says that a record is damaged, and which file that is", () => {
    const { offset, length } = list(SAMPLE)[1]!;
    const path = put(folder, "flipped.warc.gz", withFlippedByte(SAMPLE, offset + length! - 6));
    const { exit, out, err } = holotype(["cat", path, "--offset", String(offset)]);
    expect(exit).toBe(4);
    expect(out).toContain("WARC-Target-URI");
    expect(err).toContain(`${path}:${offset}: HT_GZIP_CHECKSUM`);
    // The others are not concerned.
    expect(holotype(["cat", path, "--offset", String(offset + length!)])).toMatchObject({ exit: 0, err: "" });
  });

  it.each([
    ["gzip", "the gzip content coding is broken"],
    ["unheard-of", "content coding not known: unheard-of"],
  ])("names the file whose %s coding cannot be undone", (coding, message) => {
    const block = `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\n\r\nnot coded at all`;
    const lying = record("response", "http://a.example/", "application/http; msgtype=response", block);
    const path = put(folder, `${coding}.warc.gz`, warcFile([lying]));
    expect(holotype(["cat", path, "--decode"])).toMatchObject({ exit: 23, err: `holotype: ${path}:0: ${message}\n` });
    const archive = join(folder, `${coding}-archive`);
    holotype(["add", "--archive", archive, path]);
    const asked = holotype(["at", "http://a.example/", "2030", "--archive", archive, "--decode", "-o", "-"]);
    expect(asked.exit).toBe(23);
    expect(asked.err).toMatch(new RegExp(`${archive}.*000001\\.warc\\.gz:\\d+: ${message}`));
  });

  it("takes a body whose header says chunked though it is not as it is", () => {
    const block = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnot chunked at all";
    const lying = record("response", "http://a.example/", "application/http; msgtype=response", block);
    const path = put(folder, "lying.warc.gz", warcFile([lying]));
    expect(holotype(["cat", path, "-p"]).out).toBe("not chunked at all");
    expect(chunk(Buffer.from("ab")).toString()).toBe("1\r\na\r\n1\r\nb\r\n0\r\n\r\n");
  });
});
