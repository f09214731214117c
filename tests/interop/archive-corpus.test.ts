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
  archiveKey,
  examineArchive,
  exportArchive,
} from "../../src/archive/index.ts";
import { ArchiveError, digestOf, type Warning } from "../../src/base/index.ts";
import { nodeDisk } from "../../src/disk/index.ts";
import { findInputs, type Input, openInput } from "../../src/pipeline/index.ts";
import { loadZstd, payloadOf, WarcReader, type WarcRecord } from "../../src/warc/index.ts";
import { temporaryFolder } from "../cli/holotype.ts";
import { CORPUS, present, why } from "./corpus-files.ts";

const folder = temporaryFolder();
const PATIENCE = { timeout: 240_000 };

interface Expected {
  readonly uri: string;
  readonly timeMs: number;
  readonly id: string | undefined;
  readonly http: string | undefined;
  readonly sha256: string;
}

/** The captures of an input that can be read to their ends, read by themselves. */
function capturesOf(input: Input): Expected[] {
  const source = openInput(nodeDisk, input);
  const found: { readonly expected: Expected; readonly record: WarcRecord }[] = [];
  const warnings: Warning[] = [];
  const reader = new WarcReader(source, { onWarning: (warning) => void warnings.push(warning) });
  try {
    for (const record of reader) {
      if (record.type !== "response" && record.type !== "resource") continue;
      const { uri = "", timeMs = 0, id } = record;
      const { http, chunks } = payloadOf(record);
      const pieces: Buffer[] = [];
      for (const chunk of chunks) pieces.push(Buffer.from(chunk));
      const sha256 = digestOf("sha256", Buffer.concat(pieces)).hex;
      const expected = { uri, timeMs, id: record.arc === undefined ? id : undefined, http: http?.text, sha256 };
      found.push({ expected, record });
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

/**
 * Where a capture is not as its record was; empty if all are. The corpus has records with one id and one payload and
 * different headers, which for an archive are one: then one of them must be there.
 */
function differences(archive: Archive, expected: readonly Expected[]): string[] {
  const records = new Map<string, Expected[]>();
  for (const each of expected) {
    const name = `${archiveKey(each.uri)} ${each.timeMs} ${each.id} ${each.sha256}`;
    records.set(name, [...(records.get(name) ?? []), each]);
  }
  return [...records].flatMap(([name, variants]) => {
    const { uri, timeMs, id, sha256 } = variants[0]!;
    const isIt = [...archive.captures(uri, timeMs, timeMs)].some((capture) => {
      const details = archive.reader.details(capture);
      if (id !== undefined && details.id !== id) return false;
      if (!variants.some(({ http }) => http === details.http?.text)) return false;
      return digestOf("sha256", archive.reader.payloadBytes(capture)).hex === sha256;
    });
    return isIt && archive.at(uri, timeMs) !== undefined ? [] : [name];
  });
}

async function open<T>(name: string, use: (archive: Archive) => T): Promise<T> {
  await using archive = await Archive.open(nodeDisk, join(folder, name));
  return use(archive);
}

/** Answers to questions of every kind, as text. */
function answers(archive: Archive): string[] {
  const texts: string[] = [];
  for (const { key, birth, sha256, status } of archive.span(-(2 ** 50), 2 ** 50)) {
    texts.push([key, birth, sha256, status].join(" "));
    for (const { end, lastSeen, visits } of archive.timeline.history(key))
      texts.push([end, lastSeen, visits].join(" "));
    for (const { timeMs, row } of archive.capturesOf(key))
      texts.push(`${timeMs} ${row.kind} ${row.digest?.toString("hex")}`);
  }
  return texts;
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
    for (const input of inputs) own.set(input, capturesOf(input));
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
    const kept = await open("added", (archive) => {
      const digests = new Set<string>();
      for (const { digest, row } of archive.catalogue.allOriginals()) {
        digests.add(Buffer.concat([digest, row.digestRest]).toString("hex"));
      }
      return digests;
    });
    expect(kept).toEqual(contents);
    expect(report!.duplicates).toBe(report!.tally.total.duplicates);
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
    const held = await open("added", (archive) => archive.catalogue.state.captures);
    expect(exported).toMatchObject({ captures: held, left: 0 });
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
