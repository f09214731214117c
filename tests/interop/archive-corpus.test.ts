/**
 * Every file of the corpus, sound or not, in one archive: each capture that can be read is reachable, with the payload, the
 * status and the header that its record has; also when everything is made anew, and when the files stay where they are.
 * The corpus lies beside the project and is never part of it.
 */
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import {
  type AddReport,
  Archive,
  ArchiveWriter,
  type Capture,
  examineArchive,
  exportArchive,
} from "../../src/archive/index.ts";
import { ArchiveError, digestOf, type Warning } from "../../src/base/index.ts";
import { nodeDisk } from "../../src/disk/index.ts";
import { findInputs, type Input, openInput } from "../../src/pipeline/index.ts";
import { all, capturesOf, payloadOf as payloadIn } from "../../src/testing/archive-fixture.ts";
import { loadZstd, payloadOf, WarcReader, type WarcRecord } from "../../src/warc/index.ts";
import { temporaryFolder } from "../cli/holotype.ts";
import { CORPUS, present, why } from "./corpus-files.ts";

const folder = temporaryFolder();
const PATIENCE = { timeout: 240_000 };

interface Expected {
  readonly uri: string;
  /** Absent where the record has no date that can be read. */
  readonly timeMs: number | undefined;
  readonly id: string | undefined;
  readonly http: string | undefined;
  /** What a 304 says again is another's. */
  readonly is304: boolean;
  readonly sha256: string;
}

/** The captures of an input that can be read to their ends, read by themselves. */
function readCaptures(input: Input): Expected[] {
  const source = openInput(nodeDisk, input);
  const found: { readonly expected: Expected; readonly record: WarcRecord }[] = [];
  const warnings: Warning[] = [];
  const reader = new WarcReader(source, { onWarning: (warning) => void warnings.push(warning) });
  try {
    for (const record of reader) {
      if (record.type !== "response" && record.type !== "resource") continue;
      const { uri = "", id } = record;
      // 1970 is what is written where none is known.
      const timeMs = record.timeMs === 0 ? undefined : record.timeMs;
      const { http, chunks } = payloadOf(record);
      const pieces: Buffer[] = [];
      for (const chunk of chunks) pieces.push(Buffer.from(chunk));
      const sha256 = digestOf("sha256", Buffer.concat(pieces)).hex;
      const own = { uri, timeMs, id: record.arc === undefined ? id : undefined, sha256 };
      found.push({ expected: { ...own, http: http?.text, is304: http?.status === 304 }, record });
    }
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
  } finally {
    reader.close();
    source.close?.();
  }
  const isCut = (offset: number) =>
    warnings.some((warning) => warning.offset === offset && /TRUNCATED|_DATA|_HEADER$|DICTIONARY/.test(warning.code));
  return found.filter(({ record }) => !isCut(record.offset)).map(({ expected }) => expected);
}

/** Records of which the archive has no capture as they are; none if all is well. */
async function differences(archive: Archive, expected: readonly Expected[]): Promise<string[]> {
  const missing: string[] = [];
  for (const each of expected) {
    const { uri, timeMs, id, sha256 } = each;
    const span = timeMs === undefined ? {} : { fromMs: timeMs, toMs: timeMs };
    const there = (await capturesOf(archive, uri, span)).filter((capture) => capture.timeMs === timeMs);
    const found = await firstOf(there, (capture) => isIt(archive, capture, each));
    const isState = found?.class === "state";
    if (found === undefined || (isState && (await archive.at(uri, timeMs!)) === undefined))
      missing.push(`${uri} ${timeMs} ${id} ${sha256}`);
  }
  return missing;
}

/** What cannot be read is not as its record was. */
async function firstOf(captures: readonly Capture[], isIt: (capture: Capture) => Promise<boolean>) {
  for (const capture of captures) {
    try {
      if (await isIt(capture)) return capture;
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
    }
  }
  return undefined;
}

/** Whether the capture has the id, the HTTP header and the payload of the record. */
async function isIt(archive: Archive, capture: Capture, { id, http, is304, sha256 }: Expected): Promise<boolean> {
  await using opened = await archive.open(capture);
  if (id !== undefined && opened.id !== id) return false;
  if (is304) return capture.class === "confirmation" || capture.class === "failed";
  if (opened.http?.text !== http || capture.sha256 !== sha256) return false;
  return digestOf("sha256", await payloadIn(archive, capture)).hex === sha256;
}

async function open<T>(name: string, use: (archive: Archive) => T | Promise<T>): Promise<T> {
  await using archive = await Archive.open(nodeDisk, join(folder, name));
  return await use(archive);
}

/** Answers to questions of every kind, as text. */
async function answers(archive: Archive): Promise<string[]> {
  const texts: string[] = [];
  const urls = new Map<string, string>();
  for (const { key, url, timeMs, type, class: visit, status, sha256, flags } of await all(archive.captures({}))) {
    urls.set(key, url);
    texts.push([key, url, timeMs, type, visit, status, sha256, ...flags].join(" "));
  }
  for (const url of urls.values()) {
    for (const { birth, end, lastSeen, captures, sha256, status } of await all(archive.history(url)))
      texts.push([url, birth, end, lastSeen, captures, sha256, status].join(" "));
  }
  const slice = await all(archive.slice(Date.UTC(2030, 0, 1)));
  return [...texts, ...slice.map(({ key, birth }) => `${key} ${birth}`)];
}

async function findings(name: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { code, message } of examineArchive(nodeDisk, join(folder, name), { scrub: true })) {
    found.push(`${code} ${message}`);
  }
  return found;
}

describe.skipIf(!present)(`the whole corpus in an archive${why}`, PATIENCE, () => {
  let inputs: Input[] = [];
  const own = new Map<Input, Expected[]>();
  let expected: Expected[] = [];
  let report: AddReport | undefined;

  beforeAll(async () => {
    await loadZstd();
    inputs = findInputs(nodeDisk, [CORPUS], () => {});
    for (const input of inputs) own.set(input, readCaptures(input));
    expected = [...own.values()].flat();
    await using writer = ArchiveWriter.open(nodeDisk, join(folder, "added"), { create: true });
    report = await writer.add(inputs);
  }, 240_000);

  it("has every capture as its record was", async () => {
    expect(expected.length).toBeGreaterThan(4000);
    expect(await open("added", (archive) => differences(archive, expected))).toEqual([]);
  });

  it("knows distinct contents as a plain set does", async () => {
    const contents = new Set(expected.map(({ sha256 }) => sha256));
    const captures = await open("added", (archive) => all(archive.captures({})));
    const held = captures.flatMap(({ sha256 }) => sha256 ?? []);
    expect(new Set(held)).toEqual(contents);
    expect(await open("added", (archive) => archive.counts())).toMatchObject({ contents: contents.size });
    expect(report!.replaced).toBe(report!.tally.total.duplicates);
  });

  it("has each record once: compacting gives nothing back, and nothing is found amiss", async () => {
    const found = await findings("added");
    expect(found.filter((text) => !text.startsWith("HT_HTTP_CHUNK"))).toEqual([]);
    await using writer = ArchiveWriter.open(nodeDisk, join(folder, "added"));
    const { bytesBefore, bytesAfter } = writer.compact({ deadShare: 0 });
    expect(Math.abs(bytesBefore - bytesAfter)).toBeLessThan(1000);
  });

  it("is exported whole", async () => {
    const output = join(folder, "all.warc.gz");
    const asked = { selection: {}, description: "all", output, format: "warc", software: "test" } as const;
    const exported = await exportArchive(nodeDisk, join(folder, "added"), asked);
    const held = await open("added", (archive) => archive.counts());
    expect(exported).toMatchObject({ captures: held.captures, left: 0 });
  });

  it("changes nothing when the same files are added again", async () => {
    const before = await open("added", answers);
    await using writer = ArchiveWriter.open(nodeDisk, join(folder, "added"));
    const again = await writer.add(inputs);
    expect(again).toMatchObject({ captures: 0, contents: 0, duplicates: 0, bytesKept: 0 });
    expect(await open("added", answers)).toEqual(before);
  });

  it("answers the same when everything is made anew from the segments, and the doctor finds nothing", async () => {
    const before = await open("added", answers);
    await ArchiveWriter.rebuild(nodeDisk, join(folder, "added"));
    expect(await open("added", answers)).toEqual(before);
    expect(await open("added", (archive) => differences(archive, expected))).toEqual([]);
    expect((await findings("added")).filter((text) => !text.startsWith("HT_HTTP_CHUNK"))).toEqual([]);
    await using writer = ArchiveWriter.open(nodeDisk, join(folder, "added"));
    expect(await writer.add(inputs)).toMatchObject({ captures: 0, contents: 0 });
  });

  it("has the same captures where the files were adopted", async () => {
    await using writer = ArchiveWriter.open(nodeDisk, join(folder, "adopted"), { create: true });
    const files = inputs.filter(({ entries }) => entries.length === 0);
    const adopted = await writer.adopt(files);
    expect(adopted.captures).toBeGreaterThan(2000);
    const held = files.flatMap((file) => own.get(file)!);
    expect(await open("adopted", (archive) => differences(archive, held))).toEqual([]);
  });
});
