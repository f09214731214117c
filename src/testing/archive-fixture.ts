/** Archives on a disk in memory, and captures to put into them. */
import {
  Archive,
  ArchiveWriter,
  type Capture,
  type CaptureQuery,
  type ExportSelection,
  examineArchive,
  exportArchive,
  type Lifespan,
  type RebuildOptions,
  type WriterOptions,
} from "../archive/index.ts";
import { formatIso } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import type { Input } from "../pipeline/index.ts";
import { readArchive } from "./archive-reading.ts";
import { captureBytes, idOf, packRecords } from "./capture-text.ts";

export const FOLDER = "/archive";

export interface Visit {
  readonly uri: string;
  readonly timeMs: number;
  readonly payload: Buffer;
  readonly status?: number | undefined;
  readonly location?: string | undefined;
  /** Tells captures of one URL and moment apart. */
  readonly number?: number | undefined;
}

export function visitId({ uri, timeMs, number = 0 }: Visit): string {
  return idOf(`${uri} ${timeMs} ${number}`);
}

/** A response as a record, uncompressed. */
export function visitBytes(visit: Visit): Buffer {
  const { uri, timeMs, payload, status = 200, location } = visit;
  return captureBytes({
    uri,
    date: formatIso(timeMs),
    payload,
    status: `${status} Told`,
    id: visitId(visit),
    http: location === undefined ? [] : [`Location: ${location}`],
  });
}

export function openWriter(disk: Disk, options: WriterOptions = {}): ArchiveWriter {
  return ArchiveWriter.open(disk, FOLDER, { create: true, ...options });
}

export function openReader(disk: Disk): Promise<Archive> {
  return Archive.open(disk, FOLDER);
}

export async function rebuild(disk: Disk, options: RebuildOptions = {}): Promise<void> {
  await ArchiveWriter.rebuild(disk, FOLDER, options);
}

/** What the doctor finds, having looked at everything. */
export async function diagnose(disk: Disk, scrub = true): Promise<string[]> {
  const findings: string[] = [];
  for await (const { code, message } of examineArchive(disk, FOLDER, { scrub })) {
    findings.push(`${code} ${message}`);
  }
  return findings;
}

/** What a stream of batches holds. */
export async function all<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const batch of batches) items.push(...batch);
  return items;
}

export function historyOf(archive: Archive, url: string): Promise<Lifespan[]> {
  return all(archive.history(url));
}

export function capturesOf(archive: Archive, url: string, query: CaptureQuery = {}): Promise<Capture[]> {
  return all(archive.captures({ ...query, url }));
}

export async function payloadOf(archive: Archive, capture: Capture): Promise<Buffer> {
  await using opened = await archive.open(capture);
  const chunks: Uint8Array[] = [];
  for await (const chunk of opened.payload()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The payloads of all captures of a URL, in the order of the captures. */
export async function payloadsOf(archive: Archive, url: string): Promise<Buffer[]> {
  const captures = await capturesOf(archive, url);
  return await Promise.all(captures.map((capture) => payloadOf(archive, capture)));
}

/** Types of the records that an export of these captures holds, in order. */
export async function exportedTypes(disk: Disk, selection: ExportSelection): Promise<string[]> {
  const output = "/exported.warc.gz";
  const asked = { output, selection, format: "warc", description: "test", software: "test" } as const;
  await exportArchive(disk, FOLDER, { ...asked, replace: true });
  using file = disk.open(output, "read");
  const bytes = Buffer.alloc(file.size());
  file.read(bytes, 0);
  return readArchive(bytes).records.map(({ type }) => type);
}

let count = 0;

/** Writes records to a file of their own, each a gzip member. */
export function makeInput(disk: Disk, records: readonly Uint8Array[], folder = "/inputs"): Input {
  const bytes = packRecords(records);
  disk.makeFolder(folder);
  const path = `${folder}/${++count}.warc.gz`;
  {
    using file = disk.open(path, "replace");
    file.write(bytes, 0);
    file.sync();
  }
  disk.syncFolder(folder);
  return { name: path, path, entries: [], size: bytes.length };
}
