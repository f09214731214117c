/** Segments as files: their names, and the reading of their records one after another. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { ArchiveError } from "../../base/index.ts";
import type { Disk, DiskFile } from "../../disk/index.ts";
import { fileSource, SEPARATOR, WarcReader, type WarcRecord } from "../../warc/index.ts";
import { holdsChecksum, type PackRecord, parseHead } from "./pack-record.ts";

const FOLDER = "segments";
const NAME = /^(\d{6,})\.warc$/;

export function segmentFolder(folder: string): string {
  return join(folder, FOLDER);
}

export function segmentPath(folder: string, segment: number): string {
  return join(folder, FOLDER, `${String(segment).padStart(6, "0")}.warc`);
}

/** The numbers of the segments that are there, in order. */
export function listSegments(disk: Disk, folder: string): number[] {
  if (disk.stat(segmentFolder(folder)) === undefined) return [];
  const names = disk.list(segmentFolder(folder)).map(({ name }) => NAME.exec(name)?.[1]);
  return names
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((one, other) => one - other);
}

export interface ScannedRecord {
  /** Absent for the record at the start of a segment that tells what it is. */
  readonly record: PackRecord | undefined;
  readonly offset: number;
  readonly headSize: number;
  /** Behind the record and its separator. */
  readonly end: number;
}

/** What lies there is no whole record. */
export interface ScanDamage {
  readonly damageAt: number;
  readonly message: string;
}

/**
 * The records of a segment from `start` on, each as it is read, and what is damaged between them; after damage the next
 * whole record is looked for. With `verify` the bytes of blocks are read and held against their digests.
 */
export function* scanSegment(file: DiskFile, start: number, verify: boolean): Generator<ScannedRecord | ScanDamage> {
  let position = start;
  const source = fileSource(file, file.path);
  const size = source.size!;
  if (size <= start) return;
  const reader = new WarcReader(source, { start, onWarning: () => {} });
  try {
    for (const record of reader) {
      if (record.offset !== position) yield { damageAt: position, message: "bytes that are no record" };
      const { offset } = record;
      const scanned = examine(record, verify);
      if (typeof scanned === "string") yield { damageAt: offset, message: scanned };
      else if (scanned.end > size) yield { damageAt: offset, message: "cut off" };
      else {
        position = scanned.end;
        yield scanned;
        continue;
      }
      position = offset;
    }
  } catch (error) {
    // Not a single record is in it. What that means is for who asked to say.
    if (!(error instanceof ArchiveError) || error.code !== "HT_FORMAT_UNKNOWN") throw error;
  } finally {
    reader.close();
  }
  if (position < size) yield { damageAt: position, message: "bytes that are no record" };
}

/** The record, or what is wrong with it. */
function examine(record: WarcRecord, verify: boolean): ScannedRecord | string {
  const { offset, headers, blockSize } = record;
  const headSize = headers.text.length;
  if (!holdsChecksum(headers)) return "a header that does not hold its checksum";
  if (blockSize === undefined) return "a header without a length";
  const parsed = parseHead(headers);
  if (parsed === undefined && record.type !== "warcinfo") return "a record that is none of a volume";
  const claim = headers.get("warc-block-digest");
  if (verify && claim !== undefined) {
    const hash = createHash("sha256");
    let size = 0;
    for (let piece = record.read(); piece !== undefined; piece = record.read()) {
      hash.update(piece);
      size += piece.length;
    }
    if (size !== blockSize) return "cut off";
    if (`sha256:${hash.digest("hex")}` !== claim) return "a block that does not hold its digest";
  }
  return { record: parsed, offset, headSize, end: offset + headSize + blockSize + SEPARATOR.length };
}
