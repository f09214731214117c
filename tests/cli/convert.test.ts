import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../../src/base/index.ts";
import { ARC_LINE_BASE64_FIELD, ARC_LINE_FIELD } from "../../src/pipeline/index.ts";
import { bufferSource, loadZstd, WarcReader } from "../../src/warc/index.ts";
import { type ArcRecord, arcFile, arcRecords, response, warcFile } from "./archives.ts";
import {
  ended,
  holotype,
  linesOf,
  put,
  SAMPLE,
  SAMPLES,
  startHolotype,
  temporaryFolder,
  withFlippedByte,
} from "./holotype.ts";

const folder = temporaryFolder();
await loadZstd();

interface Read {
  readonly head: string;
  readonly block: Buffer;
  readonly fields: ReadonlyMap<string, string>;
}

/** Every record of a file, header and block as they are. */
function readAll(path: string): Read[] {
  const records: Read[] = [];
  for (const record of new WarcReader(bufferSource(readFileSync(path)), { strict: true })) {
    const block = Buffer.from(record.readAll(1 << 24));
    const lines = record.headers.text.split("\r\n").slice(1, -2);
    const fields = new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
    records.push({ head: record.headers.text, block, fields });
  }
  return records;
}

function convert(output: string, ...args: readonly string[]) {
  return holotype(["convert", ...args, "-o", join(folder, output)]);
}

describe("convert from ARC", () => {
  const payload = "<p>one</p>";
  const records: readonly ArcRecord[] = [
    {
      url: "http://a.example/",
      mime: "text/html",
      block: `HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n${payload}`,
    },
    { url: "http://a.example/with blank?q=ü", mime: "text/html", block: "HTTP/1.0 404 Not Found\r\n\r\n" },
    {
      url: "dns:a.example",
      mime: "text/dns",
      block: "20040506070809\na.example. 3600 IN A 192.0.2.7\n",
      ip: "192.0.2.1",
    },
    { url: "ftp://a.example/file", mime: "no mime type", block: Buffer.from([0, 1, 2, 255]) },
  ];

  it.each([
    { version: 1, name: "one.arc" },
    { version: 1, name: "one-gz.arc.gz" },
    { version: 2, name: "two.arc" },
    { version: 2, name: "two-gz.arc.gz" },
  ] as const)(
    "version $version, $name: keeps every line and every block, with digests of ours",
    ({ version, name }) => {
      const path = put(folder, name, arcFile(version, name, records));
      const { exit, out, err } = convert(`from-${name}`, path);
      expect({ exit, err }).toEqual({ exit: 0, err: "" });
      expect(out).toMatch(/: 5 records, .* → .*, verified\n$/);
      const output = join(folder, `from-${name}`, name.replace(/\.arc(?:\.gz)?$/, ".warc.gz"));
      const [warcinfo, ...converted] = readAll(output);
      expect(warcinfo!.fields.get("WARC-Type")).toBe("warcinfo");
      expect(warcinfo!.block.toString()).toContain(`converted from ${name} (ARC/${version})`);
      expect(converted.map(({ fields }) => fields.get("WARC-Type"))).toEqual([
        "metadata",
        "response",
        "response",
        "resource",
        "resource",
      ]);
      const originals = arcRecords(version, name, records);
      for (const [i, { fields, block }] of converted.entries()) {
        const { line, block: original } = originals[i]!;
        expect(block.equals(original)).toBe(true);
        const coded = fields.get(ARC_LINE_BASE64_FIELD);
        const kept = coded === undefined ? fields.get(ARC_LINE_FIELD) : Buffer.from(coded, "base64").toString("latin1");
        expect(kept).toBe(line);
        expect(fields.get("WARC-Date")).toBe("2004-05-06T07:08:09Z");
        expect(fields.get("WARC-Block-Digest")).toBe(formatDigest(digestOf("sha1", original)));
        expect(fields.get("WARC-Target-URI")).not.toMatch(/\s/);
        expect(fields.get("WARC-Warcinfo-ID")).toBe(warcinfo!.fields.get("WARC-Record-ID"));
      }
      expect(converted[1]!.fields.get("WARC-Payload-Digest")).toBe(
        formatDigest(digestOf("sha1", Buffer.from(payload))),
      );
      expect(converted[1]!.fields.get("WARC-IP-Address")).toBe("192.0.2.7");
      expect(converted[1]!.fields.get("Content-Type")).toBe("application/http; msgtype=response");
      expect(converted[3]!.fields.get("Content-Type")).toBe("text/dns");
      expect(holotype(["check", output]).exit).toBe(0);
      expect(linesOf(holotype(["index", output]).out)).toHaveLength(4);
    },
  );

  it("gives the same bytes each time", () => {
    const path = put(folder, "same.arc", arcFile(1, "same.arc", records));
    convert("same-1", path);
    convert("same-2", path);
    const [one, two] = ["same-1", "same-2"].map((name) => readFileSync(join(folder, name, "same.warc.gz")));
    expect(one!.equals(two!)).toBe(true);
  });

  it("takes records larger than the window from a file", () => {
    const block = Buffer.concat([Buffer.from("HTTP/1.0 200 OK\r\n\r\n"), Buffer.alloc(3 << 20, "large ")]);
    const path = put(
      folder,
      "large.arc.gz",
      arcFile(1, "large.arc.gz", [{ url: "http://a.example/", mime: "a/b", block }]),
    );
    expect(convert("large", path)).toMatchObject({ exit: 0, err: "" });
    expect(readAll(join(folder, "large", "large.warc.gz"))[2]!.block.equals(block)).toBe(true);
  });
});

describe("convert between compressions", () => {
  it("gz → zst → none → gz gives the same records at each step", () => {
    const steps = [
      { to: "zstd", from: SAMPLE, output: "cabinet-2009.warc.zst" },
      { to: "none", from: join(folder, "by-zstd", "cabinet-2009.warc.zst"), output: "cabinet-2009.warc" },
      { to: "gzip", from: join(folder, "by-none", "cabinet-2009.warc"), output: "cabinet-2009.warc.gz" },
    ];
    for (const { to, from, output } of steps) {
      expect(convert(`by-${to}`, from, "--to", to)).toMatchObject({ exit: 0, err: "" });
      expect(readAll(join(folder, `by-${to}`, output))).toEqual(readAll(SAMPLE));
    }
  });

  it("compresses with a dictionary, which the file then holds", () => {
    const dictionary = put(folder, "dictionary", readFileSync(join(SAMPLES, "README.md")));
    const { exit } = convert("with-dictionary", SAMPLE, "--to", "zstd", "--dictionary", dictionary, "--level", "9");
    expect(exit).toBe(0);
    const output = join(folder, "with-dictionary", "cabinet-2009.warc.zst");
    expect(readFileSync(output).readUInt32LE(0)).toBe(0x184d2a5d);
    expect(readAll(output)).toEqual(readAll(SAMPLE));
  });

  it("tells with --json what it did", () => {
    const { out } = convert("told", SAMPLE, "--json", "--level", "0");
    const output = join(folder, "told", "cabinet-2009.warc.gz");
    expect(JSON.parse(out)).toEqual({
      input: SAMPLE,
      output,
      records: 52,
      sizeBefore: readFileSync(SAMPLE).length,
      sizeAfter: readFileSync(output).length,
      kept: false,
    });
  });
});

describe("convert is careful", () => {
  const before = readFileSync(SAMPLE);

  it("does not convert a damaged file, and leaves nothing of it", () => {
    const flipped = put(folder, "flipped.warc.gz", withFlippedByte(SAMPLE, 1500));
    const cut = put(folder, "cut.warc.gz", before.subarray(0, -10));
    const { exit, out, err } = convert("refused", flipped, cut, SAMPLE);
    expect(exit).toBe(3);
    expect(linesOf(err)).toEqual([
      expect.stringMatching(/^skipped .*flipped\.warc\.gz:1299: .*a damaged file is not converted \(HT_GZIP_\w+\)$/),
      expect.stringMatching(/^skipped .*cut\.warc\.gz:\d+: .*a damaged file is not converted \(HT_GZIP_TRUNCATED\)$/),
    ]);
    expect(linesOf(out)).toHaveLength(1);
    expect(readdirSync(join(folder, "refused"))).toEqual(["cabinet-2009.warc.gz"]);
  });

  it("leaves an output alone that is there, unless told to replace it", () => {
    mkdirSync(join(folder, "there"));
    const output = put(join(folder, "there"), "cabinet-2009.warc", "precious");
    expect(convert("there", SAMPLE, "--to", "none").exit).toBe(3);
    expect(readFileSync(output, "utf8")).toBe("precious");
    expect(convert("there", SAMPLE, "--to", "none", "--replace").exit).toBe(0);
    expect(readAll(output)).toEqual(readAll(SAMPLE));
  });

  it("keeps the output of an earlier run once it has proved equal", () => {
    expect(convert("again", SAMPLE, "--to", "zstd").exit).toBe(0);
    const output = join(folder, "again", "cabinet-2009.warc.zst");
    const made = statSync(output).mtimeMs;
    expect(convert("again", SAMPLE, "--to", "zstd")).toMatchObject({
      exit: 0,
      out: expect.stringContaining("there already and equal") as string,
    });
    expect(statSync(output).mtimeMs).toBe(made);
  });

  it("never replaces its own input", () => {
    mkdirSync(join(folder, "own"));
    const input = put(join(folder, "own"), "x.warc.gz", before);
    expect(convert("own", input, "--replace")).toMatchObject({
      exit: 3,
      err: expect.stringContaining("its own input") as string,
    });
    expect(readFileSync(input).equals(before)).toBe(true);
  });

  it("keeps files of one name in the folders of a folder apart", () => {
    const place = join(folder, "sides");
    for (const name of ["left", "right"]) {
      mkdirSync(join(place, name), { recursive: true });
      put(join(place, name), "x.warc.gz", warcFile([response("http://a.example/", name)]));
    }
    const { exit, err, out } = convert("both", place, "--to", "none");
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    expect(out.split("\n").at(-2)).toMatch(/^2 files, 2 records, /);
    for (const name of ["left", "right"]) {
      expect(readFileSync(join(folder, "both", name, "x.warc"), "utf8")).toContain(name);
    }
  });

  it("never lets the output of one input replace that of another", () => {
    const place = join(folder, "alike");
    mkdirSync(place);
    const one = put(place, "x.warc.gz", warcFile([response("http://a.example/", "left")]));
    const two = put(place, "x.warc", warcFile([response("http://a.example/", "right")], { compression: "none" }));
    const { exit, err } = convert("alike-out", one, two, "--to", "none", "--replace");
    expect({ exit, err }).toEqual({ exit: 3, err: expect.stringContaining("the same name") as string });
    expect(readFileSync(join(folder, "alike-out", "x.warc"), "utf8")).toContain("left");
  });

  it("killed in the middle, it leaves nothing under the final name, and clears up when run again", async () => {
    const output = join(folder, "killed");
    const large = warcFile(
      Array.from({ length: 40 }, (_, i) => response(`http://a.example/${i}`, "x".repeat(1 << 17))),
      { compression: "none" },
    );
    const child = startHolotype(["convert", "-", "--to", "none", "-o", output]);
    const end = ended(child);
    // Half of the input, and then nothing: it waits in the middle of its work.
    child.stdin.write(large.subarray(0, large.length >> 1));
    const partial = () => (readdirSync(folder).includes("killed") ? readdirSync(output) : []);
    while (partial().length === 0) await sleep(20);
    await sleep(100);
    child.kill("SIGKILL");
    child.stdin.destroy();
    await end;
    expect(readdirSync(output)).toEqual([expect.stringMatching(/^\.stdin\.warc\..*\.partial$/)]);
    const again = holotype(["convert", "-", "--to", "none", "-o", output], { input: large });
    expect(again).toMatchObject({ exit: 0, err: "" });
    expect(readdirSync(output)).toEqual(["stdin.warc"]);
    expect(readFileSync(join(output, "stdin.warc")).equals(large)).toBe(true);
  });
});
