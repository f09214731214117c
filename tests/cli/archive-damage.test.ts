/** Archives that are damaged, and ones that only look so: exit codes, and where the damage lies. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { response, warcFile, zipFile } from "./archives.ts";
import { holotype, put, SAMPLES, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
const PAGE = "http://cabinet.example/";
let count = 0;

function makeArchive(): string {
  const archive = join(folder, `archive-${++count}`);
  expect(holotype(["add", SAMPLES, "--archive", archive]).exit).toBe(0);
  return archive;
}

function edit(path: string, change: (bytes: Buffer) => Buffer): void {
  writeFileSync(path, change(readFileSync(path)));
}

function flip(path: string, at: number): void {
  edit(path, (bytes) => {
    bytes[at < 0 ? bytes.length + at : at]! ^= 1;
    return bytes;
  });
}

const derived = (archive: string, kind: "catalogue" | "timeline", file: string) =>
  join(archive, readdirSync(archive).find((name) => name.startsWith(`${kind}-`))!, file);

const ask = (archive: string, ...words: readonly string[]) => holotype([...words, "--archive", archive]);

describe("a segment", () => {
  it("that is gone is damage, not something that nobody has", () => {
    const archive = makeArchive();
    rmSync(join(archive, "volumes/0/segments/000001.warc.gz"));
    const at = ask(archive, "at", PAGE, "2010", "-o", join(folder, "page.html"));
    expect(at).toMatchObject({ exit: 23, err: expect.stringContaining("000001.warc.gz") as string });
    expect(ask(archive, "doctor")).toMatchObject({
      exit: 4,
      out: expect.stringMatching(/^HT_LOST .*000001/) as string,
    });
    expect(ask(archive, "rebuild").exit).toBe(23);
  });

  it("with a record that has rotted is named by rebuild, which leaves everything as it was", () => {
    const archive = makeArchive();
    const path = join(archive, "volumes/0/segments/000001.warc.gz");
    const before = ask(archive, "stats").out;
    const size = readFileSync(path).length;
    flip(path, Math.floor(size / 2));
    const place = /000001\.warc\.gz:\d+/;
    expect(ask(archive, "doctor", "--scrub")).toMatchObject({ exit: 4, out: expect.stringMatching(place) as string });
    const rebuilt = ask(archive, "rebuild");
    expect(rebuilt).toMatchObject({ exit: 4, err: expect.stringMatching(place) as string });
    expect(rebuilt.err).toContain("everything stays as it was");
    expect(ask(archive, "stats").out).toBe(before);
    expect(ask(archive, "rebuild", "--accept-loss")).toMatchObject({
      exit: 4,
      err: expect.stringMatching(place) as string,
    });
  });
});

describe("a journal with one wrong character", () => {
  it("is damage for every command", () => {
    const archive = makeArchive();
    expect(ask(archive, "remove", PAGE, "--reason", "asked").exit).toBe(0);
    edit(join(archive, "journal.jsonl"), (bytes) =>
      Buffer.from(bytes.toString().replace('"url":"http://cabinet', '"url":"http://cabinex')),
    );
    for (const words of [
      ["at", PAGE, "2010"],
      ["history", PAGE],
      ["rebuild"],
      ["add", SAMPLES],
      ["compact"],
      ["stats"],
    ])
      expect(ask(archive, ...words), words[0]).toMatchObject({
        exit: 23,
        err: expect.stringContaining("journal.jsonl") as string,
      });
    expect(ask(archive, "doctor")).toMatchObject({ exit: 4, out: expect.stringContaining("journal.jsonl") as string });
  });
});

describe("a flipped bit", () => {
  it("in a slot changes no answer, and the doctor says where it is", () => {
    const archive = makeArchive();
    const before = ask(archive, "history", PAGE).out;
    const path = derived(archive, "timeline", "timeline.pages");
    const bytes = readFileSync(path);
    const newer = bytes.readDoubleBE(8) > bytes.readDoubleBE(520) ? 0 : 512;
    flip(path, newer + 30);
    expect(ask(archive, "history", PAGE)).toMatchObject({ exit: 0, out: before });
    expect(ask(archive, "doctor")).toMatchObject({
      exit: 4,
      out: expect.stringContaining(`timeline.pages:${newer}:`) as string,
    });
    expect(ask(archive, "add", SAMPLES).exit).toBe(0);
    expect(ask(archive, "history", PAGE)).toMatchObject({ exit: 0, out: before });
    expect(ask(archive, "doctor").exit).toBe(0);
  });

  it("in the catalogue is found by the doctor, which goes on and says where", () => {
    const archive = makeArchive();
    flip(derived(archive, "catalogue", "catalogue.rows"), 5000);
    for (const words of [["doctor"], ["doctor", "--scrub"]]) {
      expect(ask(archive, ...words), words.join(" ")).toMatchObject({
        exit: 4,
        out: expect.stringMatching(/HT_CORRUPT .*catalogue\.rows:\d+/) as string,
      });
    }
    expect(ask(archive, "rebuild").exit).toBe(0);
    expect(ask(archive, "doctor").exit).toBe(0);
  });
});

it("a deflated WACZ that was adopted is no damage, though its records lie further than the file is long", () => {
  const pages = ["a", "b", "c"].map((name) => response(`http://${name}.example/`, name.repeat(20_000)));
  const plain = warcFile(pages, { compression: "none" });
  const wacz = put(folder, "deflated.wacz", zipFile({ "archive/pages.warc": plain }, "deflate"));
  const archive = join(folder, "adopting");
  expect(ask(archive, "add", "--adopt", wacz).exit).toBe(0);
  expect(ask(archive, "doctor")).toMatchObject({ exit: 0 });
  expect(ask(archive, "doctor", "--scrub")).toMatchObject({ exit: 0 });
});
