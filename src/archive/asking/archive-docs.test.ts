/** The bytes that docs/format/archive.md shows are those that are written and read. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { digestOf, parseDigest } from "../../base/index.ts";
import { nodeDisk } from "../../disk/index.ts";
import { type RecordFacts, readFacts } from "../../pipeline/index.ts";
import { writeText } from "../../testing/disk-suite.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { fileSource, WarcReader } from "../../warc/index.ts";
import { archiveKey, captureKey, markIn, timeOf, urlKeyOf, waitForDigest } from "../catalogue/capture-key.ts";
import {
  type CaptureRow,
  decodeCapture,
  decodeOriginal,
  encodeCapture,
  encodeOriginal,
  Flag,
  VISIT_CLASSES,
} from "../catalogue/capture-row.ts";
import { contentIdentity, decodeContent, encodeContent } from "../catalogue/content.ts";
import { removedRow } from "../catalogue/removed-row.ts";
import { markOf } from "../entering/own-row.ts";
import { type JournalEntry, type RemoveEntry, readJournal } from "../journal/journal.ts";
import { readSettings } from "../segments/archive-folder.ts";

const page = readFileSync(new URL("../../../docs/format/archive.md", import.meta.url), "utf8");
const sample = fileURLToPath(new URL("../../../samples/cabinet-2013.warc.gz", import.meta.url));

function fenced(kind: string): string {
  return new RegExp(`\`\`\`${kind}\n([^]*?)\`\`\``).exec(page)![1]!;
}

function example(name: string): Buffer {
  const [, hex] = new RegExp(`^${name} {2,}((?:[0-9a-f]+ ?)+)$`, "m").exec(page)!;
  return Buffer.from(hex!.replaceAll(" ", ""), "hex");
}

/** The cells of the table that follows this line. */
function table(after: string): string[][] {
  const [, rest] = page.split(`\n${after}\n\n`);
  const lines = rest!.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("|"));
  return lines.slice(2, end).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const URL_TEXT = "http://cabinet.example/";
const KEY = archiveKey(URL_TEXT);
const TIME = Date.UTC(2013, 8, 3, 14, 5, 4);
const place = { segment: 1, offset: 100_751, length: 1974, inner: 0 };

/** The front page of the sample site, read from its file. */
function frontPage(): RecordFacts {
  using file = nodeDisk.open(sample, "read");
  const reader = new WarcReader(fileSource(file, sample));
  for (const facts of readFacts(reader, sample))
    if (facts.uri === URL_TEXT && facts.type === "response") return { ...facts, offset: 0 };
  throw new Error("the sample has no front page");
}

const facts = frontPage();
const { capture } = facts;
const SHA256 = capture!.sha256!;
const digest = Buffer.from(SHA256, "hex");
const sha1 = Buffer.from(parseDigest(capture!.claim!)!.hex, "hex");

function journal(): JournalEntry[] {
  const disk = new ForgetfulDisk();
  writeText(disk, "/journal.jsonl", fenced("jsonl"));
  return [...readJournal(disk, "/journal.jsonl")];
}

const row: CaptureRow = {
  url: URL_TEXT,
  kind: "response",
  class: "state",
  flags: 0,
  status: 200,
  mime: "text/html",
  location: undefined,
  payload: { sha256: digest, sha1, size: 4177 },
  claim: undefined,
  form: undefined,
  etag: capture!.etag,
  lastModified: capture!.lastModified,
  request: { method: "GET", isConditional: false },
  source: 2,
  place,
  before: 0,
  after: 965,
};

describe("docs/format/archive.md", () => {
  it("has a capture key with the mark of the record", () => {
    const key = example("capture key").toString("latin1");
    expect(captureKey(KEY, TIME, markOf(facts))).toBe(key);
    expect([urlKeyOf(key), timeOf(key), markIn(key)]).toEqual([KEY, TIME, markOf(facts)]);
    expect(facts.timeMs).toBe(TIME);
  });

  it("has a capture", () => {
    expect(decodeCapture(KEY, example("capture"))).toEqual(row);
    expect(encodeCapture(KEY, row).toString("hex")).toBe(example("capture").toString("hex"));
  });

  it("has an original", () => {
    const original = {
      place,
      payloadSize: 4177,
      digestRest: digest.subarray(16),
      sha1,
      isReferable: true,
      isHeld: true,
    };
    expect(decodeOriginal(example("original"))).toEqual(original);
    expect(encodeOriginal(original).toString("hex")).toBe(example("original").toString("hex"));
  });

  it("has a content and its identity", () => {
    const content = { url: URL_TEXT, status: 200, mime: "text/html", sha256: SHA256, payloadSize: 4177 };
    expect(decodeContent(KEY, example("content"), example("identity").toString("latin1"))).toEqual(content);
    expect(encodeContent(KEY, content, undefined).equals(example("content"))).toBe(true);
    expect(contentIdentity(200, undefined, SHA256).equals(example("identity"))).toBe(true);
  });

  it("has the key of a claim", () => {
    expect(capture!.claim).toBe("sha1:7RYY7JAMZPGBPAQL6HRUBFRPSMUV54PT");
    const wait = digestOf("sha256", Buffer.from(`claim ${capture!.claim}`)).hex.slice(0, 32);
    expect(example("claim").toString("hex")).toBe(wait);
    expect(waitForDigest(capture!.claim!)).toBe(example("claim").toString("latin1"));
  });

  it("has what is left of what was removed", () => {
    const [{ captures }] = journal() as [RemoveEntry];
    const { url, visit } = captures[0]!;
    const left = removedRow(url, visit!, 1);
    expect(encodeCapture(archiveKey(url), left).toString("hex")).toBe(example("removed").toString("hex"));
    expect(decodeCapture(archiveKey(url), example("removed"))).toEqual(left);
  });

  it("has all classes, flags and media types", () => {
    const [classes] = table("A **capture**:").map(([, , meaning]) => meaning!);
    const told = [...classes!.split(";")[0]!.matchAll(/(\d) ([a-z-]+)/g)].map(([, number, name]) => [+number!, name]);
    expect(told).toEqual(VISIT_CLASSES.map((name, number) => [number, name]));
    const flags = table("Its **flags**:").map(([bit, name]) => [name!.replaceAll("`", ""), +bit!]);
    expect(flags).toEqual(Object.entries(Flag));
    const mimes = fenced("mime").trim().split(/\s+/);
    // The seventh byte of a row with one byte of flags, and two of the status.
    expect(mimes.map((mime) => encodeCapture(KEY, { ...row, mime })[6])).toEqual(mimes.map((_, i) => i + 2));
    expect(encodeCapture(KEY, { ...row, mime: "none/of-these" })[6]).toBe(1);
  });

  it("has the settings of an archive, and a journal", () => {
    const disk = new ForgetfulDisk();
    disk.makeFolder("/archive");
    writeText(disk, "/archive/archive.json", fenced("json"));
    expect(readSettings(disk, "/archive")).toMatchObject({ segmentSizeBytes: 2 ** 30 });
    expect(journal()).toMatchObject([
      { kind: "remove", reason: "a guest asked", captures: [{ date: "2009-05-14T09:30:22Z", isLast: true }] },
    ]);
  });
});
