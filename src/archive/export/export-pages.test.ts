/** Lists of pages come in with WACZ files, and go out again. */
import { describe, expect, it } from "vitest";
import type { Disk } from "../../disk/index.ts";
import type { Input } from "../../pipeline/index.ts";
import { diagnose, FOLDER, makeInput, openWriter, rebuild, visitBytes } from "../../testing/archive-fixture.ts";
import { noise, packRecords } from "../../testing/capture-text.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { bufferSource, openZipEntry, readZipEntries, ZipWriter } from "../../warc/index.ts";
import { exportArchive } from "./export.ts";

const TIME = Date.UTC(2021, 4, 6);
const TS = "2021-05-06T00:00:00Z";
const visit = (name: string) => ({ uri: `http://${name}.example/`, timeMs: TIME, payload: noise(name, 300) });
const page = (name: string) =>
  JSON.stringify({ id: name, url: `http://${name}.example/`, ts: TS, title: `Grüße ${name}`, text: "seen" });
const HEADER = '{"format":"json-pages-1.0","id":"pages","title":"Seeds","hasText":true}';
const NAMES = ["one", "two", "three"];

/** With three captures; the first is a page, the second another one. */
function makeWacz(disk: Disk, pages: readonly string[], path = "/a!b.wacz"): Input {
  const entries: [string, Buffer][] = [
    ["archive/data.warc.gz", packRecords(NAMES.map((name) => visitBytes(visit(name))))],
    ["pages/pages.jsonl", Buffer.from([HEADER, ...pages].map((line) => `${line}\n`).join(""))],
    ["pages/extraPages.jsonl", Buffer.from(`${HEADER}\n${page("two")}`)],
  ];
  {
    using file = disk.open(path, "replace");
    let size = 0;
    const sink = {
      write(bytes: Uint8Array) {
        file.write(bytes, size);
        size += bytes.length;
      },
    };
    const zip = new ZipWriter(sink, { timeMs: TIME });
    for (const [name, bytes] of entries) zip.add(name, bytes);
    zip.finish();
    file.sync();
  }
  const inner = "archive/data.warc.gz";
  return { name: `${path}!${inner}`, path, entries: [inner], size: entries[0]![1].length };
}

async function archiveOf(kind: "add" | "adopt", pages = [page("one")]): Promise<ForgetfulDisk> {
  const disk = new ForgetfulDisk();
  await using writer = openWriter(disk);
  await writer[kind]([makeWacz(disk, pages)]);
  return disk;
}

function readFile(disk: Disk, path: string): Buffer {
  using file = disk.open(path, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return bytes;
}

/** The lines of each list in an export. */
async function listsOf(disk: Disk, format: "warc" | "wacz" = "wacz"): Promise<Record<string, string[]>> {
  const output = `/out.${format === "wacz" ? "wacz" : "warc.gz"}`;
  const asked = { output, format, selection: {}, description: "test", software: "test", replace: true };
  await exportArchive(disk, FOLDER, asked);
  const lists: Record<string, string[]> = {};
  if (format === "warc") return lists;
  const source = bufferSource(readFile(disk, output));
  for (const entry of readZipEntries(source)) {
    if (!entry.name.startsWith("pages/")) continue;
    const bytes = Buffer.alloc(entry.size);
    openZipEntry(source, entry, entry.name).read(bytes, 0);
    lists[entry.name] = bytes.toString().trim().split("\n");
  }
  return lists;
}

const LISTS = {
  "pages/pages.jsonl": [expect.stringContaining('"hasText":true'), page("one")],
  "pages/extraPages.jsonl": [expect.stringContaining("json-pages-1.0"), page("two")],
};

describe.each(["add", "adopt"] as const)("the pages of a WACZ: %s", (kind) => {
  it("go out as they came in", async () => {
    const disk = await archiveOf(kind);
    expect(await listsOf(disk)).toEqual(LISTS);
    expect(await diagnose(disk)).toEqual([]);
    await rebuild(disk);
    expect(await listsOf(disk)).toEqual(LISTS);
  });

  it("are without those that were removed", async () => {
    const disk = await archiveOf(kind);
    {
      await using writer = openWriter(disk);
      await writer.remove({ url: "http://one.example/" }, { reason: "a test" });
      writer.compact();
    }
    const { "pages/pages.jsonl": pages } = await listsOf(disk);
    expect(pages).toHaveLength(1);
  });
});

it("come in once", async () => {
  const disk = await archiveOf("add");
  const before = readFile(disk, `${FOLDER}/volumes/0/segments/000001.warc.gz`);
  await using writer = openWriter(disk);
  await writer.add([makeWacz(disk, [page("one")])]);
  expect(readFile(disk, `${FOLDER}/volumes/0/segments/000001.warc.gz`).equals(before)).toBe(true);
});

it("survive an export to WARC that is added again", async () => {
  const disk = await archiveOf("add");
  await listsOf(disk, "warc");
  const bytes = readFile(disk, "/out.warc.gz");
  const other = new ForgetfulDisk();
  const { path, ...input } = makeInput(other, []);
  {
    using file = other.open(path, "update");
    file.write(bytes, 0);
  }
  {
    await using writer = openWriter(other);
    await writer.add([{ ...input, path, size: bytes.length }]);
  }
  expect(await listsOf(other)).toMatchObject({ "pages/extraPages.jsonl": LISTS["pages/extraPages.jsonl"] });
});

it("may have lines that are none", async () => {
  const warnings: string[] = [];
  const disk = new ForgetfulDisk();
  {
    await using writer = openWriter(disk, { onWarning: ({ message }) => void warnings.push(message) });
    await writer.add([makeWacz(disk, ["{", "[]", '{"url":3}', page("one")])]);
  }
  expect(warnings).toEqual([expect.stringMatching(/^3 lines of its list of pages \(pages\) were skipped/)]);
  expect(await listsOf(disk)).toEqual(LISTS);
});
