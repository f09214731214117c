import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest, type Warning } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { formatEntry, LEDGER_FORMAT, type LedgerHead, parseEntry, readLedger, writeLedger } from "../ledger.ts";
import { checkLedger, LedgerShelf } from "./ledger.ts";

const PAGE = readFileSync(new URL("../../../docs/format/ledger.md", import.meta.url), "utf8");
const EXAMPLE = /```tsv\n([^]*?)```/.exec(PAGE)![1]!;

function write(disk: Disk, path: string, text: string): void {
  disk.makeFolder(path.slice(0, path.lastIndexOf("/")));
  using file = disk.open(path, "replace");
  file.write(Buffer.from(text), 0);
}

describe("the example in docs/format/ledger.md", () => {
  it("is read as it says, and tells of the samples what is so", () => {
    const disk = new ForgetfulDisk();
    write(disk, "/ledger/000002.tsv", EXAMPLE);
    const { head, entries, left } = readLedger(disk, "/ledger/000002.tsv")!;
    expect(head).toMatchObject({ format: LEDGER_FORMAT, compression: "gzip", output: { size: 50118 } });
    expect([...left]).toEqual([{ inputOffset: 379, reason: "saving" }]);
    const sample = readFileSync(new URL(`../../../${head.input.name}`, import.meta.url));
    expect(head.input.size).toBe(sample.length);
    const read = [...entries];
    expect(read.map(({ inputOffset, outputOffset }) => inputOffset - outputOffset)).toEqual([0, 218]);
    for (const { inputOffset, inputLength, storedDigest, recordDigest, gzipHeader, id } of read) {
      const stored = sample.subarray(inputOffset, inputOffset + inputLength);
      expect(storedDigest).toBe(formatDigest(digestOf("sha256", stored)));
      expect(stored.toString("hex", 0, gzipHeader!.length / 2)).toBe(gzipHeader);
      const record = gunzipSync(stored);
      expect(recordDigest).toBe(formatDigest(digestOf("sha256", record)));
      expect(record.toString("latin1")).toContain(`WARC-Record-ID: <${id}>\r\n`);
    }
    const lines = EXAMPLE.split("\n").slice(2, 4);
    expect(read.map(formatEntry)).toEqual(lines);
    const dump = [...PAGE.matchAll(/^ {4}((?:[0-9a-f]{2} ){16})/gm)]
      .map(([, hex]) => hex!.replaceAll(" ", ""))
      .join("");
    expect(Buffer.from(dump, "hex").toString()).toBe(lines[0]!.slice(0, 32));
  });
});

describe("an entry", () => {
  it("may have more columns than are known, but not fewer", () => {
    const line = EXAMPLE.split("\n")[2]!;
    expect(parseEntry(`${line}\tmore`, "x")).toEqual(parseEntry(line, "x"));
    expect(() => parseEntry(line.split("\t").slice(0, 7).join("\t"), "x")).toThrow("not a line of a ledger");
    expect(() => parseEntry(line.replace("853", "8e400"), "x")).toThrow("not a line of a ledger");
  });
});

function headOf(path: string, size: number): LedgerHead {
  return {
    format: LEDGER_FORMAT,
    input: { name: "in", size: 10, modifiedMs: 0 },
    output: { path, size, sha256: "" },
    compression: "none",
  };
}

describe("checkLedger", () => {
  it("adds up what was replaced", () => {
    const disk = new ForgetfulDisk();
    disk.makeFolder("/l");
    const entry = { inputOffset: 0, inputLength: 8, outputOffset: 0, outputLength: 3, id: "a", gzipHeader: undefined };
    const line = formatEntry({ ...entry, recordDigest: "sha256:0", storedDigest: "sha256:0" });
    writeLedger(disk, "/l/sound.tsv", headOf("/o", 5), [line, "#left\t9\tsaving"]);
    writeLedger(disk, "/l/short.tsv", headOf("/o", 5), []);
    writeLedger(disk, "/l/torn.tsv", headOf("/o", 5), [line.slice(0, 9)]);
    expect(checkLedger(disk, "/l/sound.tsv")).toBeUndefined();
    expect(checkLedger(disk, "/l/short.tsv")).toBe("its entries do not add up to the size of the input");
    expect(checkLedger(disk, "/l/torn.tsv")).toMatch("not a line of a ledger");
  });
});

describe("the shelf", () => {
  function shelfOf(outputs: readonly (readonly [path: string, size: number])[], output?: string) {
    const disk = new ForgetfulDisk();
    disk.makeFolder("/now/holotype-job/ledger");
    if (output !== undefined)
      write(disk, "/now/holotype-job/job.json", `${JSON.stringify({ settings: { output } })}\n`);
    for (const [i, [path, size]] of outputs.entries()) {
      writeLedger(disk, `/now/holotype-job/ledger/${i}.tsv`, headOf(path, size), []);
    }
    write(disk, "/now/holotype-job/ledger/9.tsv.draft", "half");
    const warnings: Warning[] = [];
    const shelf = new LedgerShelf(disk, ["/now/holotype-job", "/nowhere"], (warning) => void warnings.push(warning));
    const find = (path: string, size: number) => shelf.find(path, size)?.replace(/^.*\//, "");
    return { find, warnings };
  }

  it("finds a ledger by the place of its file, whatever its size", () => {
    const { find } = shelfOf([
      ["/now/a.warc", 5],
      ["/now/b/a.warc", 5],
    ]);
    expect([find("/now/a.warc", 5), find("/now/b/a.warc", 5), find("/now/b/a.warc", 6)]).toEqual([
      "0.tsv",
      "1.tsv",
      "1.tsv",
    ]);
    expect([find("/now/x.warc", 5), find("/now/c/a.warc", 7)]).toEqual([undefined, undefined]);
  });

  it("finds it beside a job folder that was moved with its files", () => {
    const { find } = shelfOf(
      [
        ["then/a.warc", 5],
        ["then/b/a.warc", 5],
      ],
      "then",
    );
    expect([find("/now/a.warc", 6), find("/now/b/a.warc", 6)]).toEqual(["0.tsv", "1.tsv"]);
  });

  it("finds it by name and size elsewhere, if there is no other", () => {
    const { find, warnings } = shelfOf([
      ["/then/x/a.warc", 5],
      ["/then/y/a.warc", 5],
      ["/then/b.warc", 5],
      ["/then/b.warc", 6],
    ]);
    expect([find("/new/y/a.warc", 5), find("/new/z/a.warc", 5), find("/new/b.warc", 6)]).toEqual([
      "1.tsv",
      undefined,
      "3.tsv",
    ]);
    expect(find("/new/b.warc", 7)).toBeUndefined();
    expect(warnings).toEqual([]);
  });
});
