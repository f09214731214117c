/** The bytes that docs/format/digest-index.md shows are those that are written and read. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ByteReader, ByteWriter } from "./byte-fields.ts";
import { decodeEntry, encodeEntry, URL_PREFIXES } from "./entry-bytes.ts";
import { PAGE_SIZE, SECTIONS } from "./run-pages.ts";
import { INDEX_SLOT_SIZE, RUNS_MAX } from "./slot.ts";
import { createHashPair, hashText } from "./url-hash.ts";
import { WordTable } from "./word-table.ts";

const page = readFileSync(new URL("../../docs/format/digest-index.md", import.meta.url), "utf8");

function example(name: string): string {
  return new RegExp(`^${name} +([0-9a-f ]+)$`, "m").exec(page)![1]!.replaceAll(" ", "");
}

const URI = "http://www.site.test/a.css";
const ENTRY = {
  uri: URI,
  timeMs: Date.UTC(2019, 3, 3, 11, 15, 33, 700),
  digests: ["sha1:CJ2ZDFJ55NOHRCEQBTEXJL4RMA2NBBAU"],
  framing: "plain",
  status: 200,
  mime: "text/css",
  original: { uri: URI, date: "2019-04-03T11:15:33Z", id: undefined },
} as const;

it("has a record", () => {
  const shown = ["flags, time, digests", "digest", "URL", "status, type"].map(example).join("");
  const words = new WordTable();
  const writer = new ByteWriter(Buffer.alloc(1000));
  expect(encodeEntry(ENTRY, words, writer)).toBe(true);
  expect(writer.buffer.toString("hex", 0, writer.at)).toBe(shown);
  const bytes = Buffer.from(shown, "hex");
  expect(decodeEntry(new ByteReader(bytes, 0, bytes.length, "example"), words)).toMatchObject(ENTRY);
});

it("has the hash of a URL", () => {
  const pair = createHashPair();
  hashText(URI, pair);
  const hash = [...pair].map((half) => half.toString(16).padStart(8, "0")).join("");
  expect(page).toContain(`The hash of its URL is \`${hash}\``);
});

it("has the sizes and names", () => {
  expect([PAGE_SIZE, INDEX_SLOT_SIZE, RUNS_MAX, SECTIONS.length]).toEqual([4096, 1024, 248, 10]);
  for (const prefix of URL_PREFIXES.slice(1)) expect(page).toContain(`\`${prefix}\``);
});
