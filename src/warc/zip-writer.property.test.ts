import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bufferSource } from "./byte-source.ts";
import { openZipEntry, readZipEntries } from "./zip.ts";
import { ZipWriter, type ZipWriterOptions } from "./zip-writer.ts";

interface Entry {
  readonly name: string;
  readonly pieces: readonly Uint8Array[];
  readonly isStreamed: boolean;
}

const TIME = Date.UTC(2024, 1, 29, 23, 59, 58);

function zip(entries: readonly Entry[], options: Partial<ZipWriterOptions> = {}) {
  const parts: Buffer[] = [];
  const writer = new ZipWriter({ write: (bytes) => void parts.push(Buffer.from(bytes)) }, { timeMs: TIME, ...options });
  const written = entries.map(({ name, pieces, isStreamed }) => {
    if (!isStreamed) return writer.add(name, Buffer.concat(pieces));
    writer.begin(name);
    for (const piece of pieces) writer.write(piece);
    return writer.end();
  });
  writer.finish();
  return { bytes: Buffer.concat(parts), written };
}

function unzip(bytes: Buffer): { name: string; content: Buffer; crc: number }[] {
  const source = bufferSource(bytes);
  return [...readZipEntries(source)].map((entry) => {
    const content = Buffer.alloc(entry.size);
    expect(entry.method).toBe("stored");
    expect(openZipEntry(source, entry, entry.name).read(content, 0)).toBe(entry.size);
    return { name: entry.name, content, crc: entry.crc };
  });
}

const entry: fc.Arbitrary<Entry> = fc.record({
  name: fc
    .string({ minLength: 1, maxLength: 20, unit: "binary" })
    .filter((name) => name === Buffer.from(name).toString()),
  pieces: fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 4 }),
  isStreamed: fc.boolean(),
});
const entries = fc.uniqueArray(entry, { selector: ({ name }) => name, maxLength: 8 });
const limits = fc.option(fc.record({ size: fc.integer({ min: 1, max: 400 }), count: fc.integer({ min: 1, max: 8 }) }), {
  nil: undefined,
});

describe("ZipWriter", () => {
  it("writes what the reader reads, as ZIP64 or not", () => {
    fc.assert(
      fc.property(entries, limits, (given, small) => {
        const { bytes, written } = zip(given, { limits: small });
        const found = unzip(bytes);
        expect(found.map(({ name }) => name)).toEqual(given.map(({ name }) => name));
        for (const [i, { content, crc }] of found.entries()) {
          const wanted = Buffer.concat(given[i]!.pieces);
          expect(content.equals(wanted)).toBe(true);
          const { dataOffset, size } = written[i]!;
          expect(bytes.subarray(dataOffset, dataOffset + size).equals(wanted)).toBe(true);
          expect(crc).toBe(written[i]!.crc);
        }
      }),
    );
  });

  it("gives the same bytes for the same entries", () => {
    const one = { name: "a", pieces: [Buffer.from("x")], isStreamed: true };
    expect(zip([one]).bytes.equals(zip([one]).bytes)).toBe(true);
  });

  it("refuses two entries of one name", () => {
    const one = { name: "a", pieces: [], isStreamed: false };
    expect(() => zip([one, one])).toThrow(/two ZIP entries/);
  });

  const hasPython = spawnSync("python3", ["--version"]).status === 0;
  const why = hasPython ? "" : " (skipped: there is no python3)";
  it.skipIf(!hasPython).each([
    ["plain", undefined],
    ["as ZIP64", { size: 1, count: 1 }],
  ])(`is read by Python, %s${why}`, (_, small) => {
    const folder = mkdtempSync(join(tmpdir(), "holotype-zip-"));
    try {
      const given = [
        { name: "archive/data.warc.gz", pieces: [Buffer.alloc(5000, 7), Buffer.from("end")], isStreamed: true },
        { name: "datapackage.json", pieces: [Buffer.from("{}")], isStreamed: false },
        { name: "empty \u00e9", pieces: [], isStreamed: true },
      ];
      const path = join(folder, "x.zip");
      writeFileSync(path, zip(given, { limits: small }).bytes);
      const program =
        "import sys,zipfile;z=zipfile.ZipFile(sys.argv[1]);print(z.testzip(),[(i.filename,i.file_size,i.date_time) for i in z.infolist()])";
      const { stdout, stderr } = spawnSync("python3", ["-c", program, path]);
      const when = "(2024, 2, 29, 23, 59, 58)";
      expect(stderr.toString()).toBe("");
      expect(stdout.toString().trim()).toBe(
        `None [('archive/data.warc.gz', 5003, ${when}), ('datapackage.json', 2, ${when}), ('empty \u00e9', 0, ${when})]`,
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
