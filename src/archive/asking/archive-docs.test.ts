import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { writeText } from "../../testing/disk-suite.ts";
import { ForgetfulDisk } from "../../testing/forgetful-disk.ts";
import { captureKey, timeOf, urlHash, waitForClaim } from "../catalogue/capture-key.ts";
import {
  archiveKey,
  type CaptureRow,
  decodeCapture,
  decodeOriginal,
  encodeCapture,
  encodeOriginal,
  recordMark,
} from "../catalogue/capture-row.ts";
import { contentIdentity, decodeContent, encodeContent } from "../catalogue/content.ts";
import { readJournal } from "../journal/journal.ts";
import { removalMark } from "../journal/removal-mark.ts";
import { readSettings } from "../segments/archive-folder.ts";

const page = readFileSync(new URL("../../../docs/format/archive.md", import.meta.url), "utf8");
const settings = /```json\n([^]*?)```/.exec(page)![1]!;
const journal = /```jsonl\n([^]*?)```/.exec(page)![1]!;

function example(name: string): Buffer {
  const [, hex] = new RegExp(`^${name} {2,}((?:[0-9a-f]+ ?)+)$`, "m").exec(page)!;
  return Buffer.from(hex!.replaceAll(" ", ""), "hex");
}

const URL_TEXT = "http://cabinet.example/";
const KEY = archiveKey(URL_TEXT);
const TIME = Date.UTC(2013, 8, 3, 14, 5, 4);
const ID = "urn:uuid:709490e0-9965-5875-96c2-2bcbcdfe4a81";
const CLAIM = "sha1:7RYY7JAMZPGBPAQL6HRUBFRPSMUV54PT";
const SHA256 = "ab7e9517cda4a9c9208f569337d2b09ae42bb18858bcea2e190dc84c93f51174";
const digest = Buffer.from(SHA256, "hex");
const place = { segment: 1, offset: 100_751, length: 1974, inner: 0 };

describe("docs/format/archive.md", () => {
  it("has a capture key", () => {
    const key = example("capture key").toString("latin1");
    expect(captureKey(urlHash(KEY), TIME, 0)).toBe(key);
    expect(timeOf(key)).toBe(TIME);
  });

  it("has a capture", () => {
    const row: CaptureRow = {
      kind: "response",
      place,
      before: 0,
      after: 428,
      source: 2,
      mark: recordMark(ID, CLAIM),
      digest: digest.subarray(0, 16),
      lies: false,
      oddDate: false,
    };
    expect(decodeCapture(example("capture"))).toEqual(row);
    expect(encodeCapture(row).equals(example("capture"))).toBe(true);
  });

  it("has an original", () => {
    const row = { place, payloadSize: 4177, digestRest: digest.subarray(16), isReferable: true };
    expect(decodeOriginal(example("original"))).toEqual(row);
    expect(encodeOriginal(row).equals(example("original"))).toBe(true);
  });

  it("has a content and its identity", () => {
    const content = { url: URL_TEXT, status: 200, mime: "text/html", sha256: SHA256, payloadSize: 4177 };
    expect(decodeContent(KEY, example("content"), example("identity").toString("latin1"))).toEqual(content);
    expect(encodeContent(KEY, content, undefined).equals(example("content"))).toBe(true);
    expect(contentIdentity(200, undefined, SHA256).equals(example("identity"))).toBe(true);
  });

  it("has the keys of a claim and of a removal", () => {
    expect(waitForClaim(CLAIM)).toBe(example("claim").toString("latin1"));
    expect(removalMark(KEY, TIME, ID).equals(example("removed"))).toBe(true);
  });

  it("has the settings of an archive, and a journal", () => {
    const disk = new ForgetfulDisk();
    disk.makeFolder("/archive");
    writeText(disk, "/archive/archive.json", settings);
    writeText(disk, "/archive/journal.jsonl", journal);
    expect(readSettings(disk, "/archive")).toMatchObject({ segmentSizeBytes: 2 ** 30 });
    expect([...readJournal(disk, "/archive/journal.jsonl")]).toMatchObject([
      { kind: "remove", reason: "a guest asked", captures: [{ date: "2009-05-14T09:30:22Z" }] },
    ]);
  });
});
