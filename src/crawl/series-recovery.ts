/**
 * What a process left that was killed while it wrote WARC files: the file that was open is cut at its first record that
 * is not whole, and sealed. Nothing that is whole is thrown away, acknowledged or not.
 */
import { join } from "node:path";
import { ArchiveError, isDamage, type Warning } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { fileSource, WarcReader } from "../warc/index.ts";
import { listSeries, OPEN_ENDING, sealFile } from "./warc-series.ts";

export interface RecoveredFile {
  /** Its name now. Absent where nothing was left of it but its warcinfo record, and it was removed. */
  readonly name: string | undefined;
  /** Bytes that were cut off. */
  readonly cutBytes: number;
}

/**
 * Whether a file was written by this job, as its warcinfo record says: whoever copies other files into the folder finds them
 * as they were. Of a file that a kill left without a whole record nobody can tell.
 */
export function isOfJob(disk: Disk, path: string, job: string): boolean | undefined {
  using file = disk.open(path, "read");
  try {
    const reader = new WarcReader(fileSource(file, path), { onWarning: () => {} });
    using _closing = { [Symbol.dispose]: () => reader.close() };
    const record = reader.next();
    if (record === undefined || record.block === undefined) return undefined;
    return record.type === "warcinfo" && Buffer.from(record.block).includes(`isPartOf: ${job}\r\n`);
  } catch (error) {
    if (error instanceof ArchiveError) return undefined;
    throw error;
  }
}

/** Those that `isOwn` names. `durableEnd` says up to where a file need not be read: the offset of a record that was acknowledged, or 0. */
export function recoverSeries(
  disk: Disk,
  folder: string,
  durableEnd: (name: string) => number,
  isOwn: (fileName: string) => boolean = () => true,
): RecoveredFile[] {
  const left = listSeries(disk, folder).filter(({ name, isOpen }) => isOpen && isOwn(`${name}${OPEN_ENDING}`));
  return left.map(({ name }) => recoverFile(disk, folder, name, durableEnd(name)));
}

function recoverFile(disk: Disk, folder: string, name: string, from: number): RecoveredFile {
  const path = join(folder, `${name}${OPEN_ENDING}`);
  let size: number;
  let end: number;
  let isWorthless: boolean;
  {
    using file = disk.open(path, "update");
    size = file.size();
    const whole = findWhole(fileSource(file, path), Math.min(from, size));
    ({ end } = whole);
    isWorthless = from === 0 && whole.captures === 0;
    if (end < size) file.truncate(end);
    // What was whole may not have been durable before.
    file.sync();
  }
  if (isWorthless) {
    disk.remove(path);
    disk.syncFolder(folder);
    return { name: undefined, cutBytes: size };
  }
  sealFile(disk, folder, name);
  return { name, cutBytes: size - end };
}

/** Up to where the records from an offset on are whole, and how many of them are more than a warcinfo. */
function findWhole(source: ReturnType<typeof fileSource>, from: number): { end: number; captures: number } {
  let damageAt: number | undefined;
  const onWarning = (warning: Warning) => {
    if (isDamage(warning) || warning.code === "HT_PADDING") damageAt ??= warning.offset;
  };
  const reader = new WarcReader(source, { start: from, onWarning });
  let whole = { end: from, captures: 0 };
  let last = whole;
  try {
    for (let record = reader.next(); record !== undefined && damageAt === undefined; record = reader.next()) {
      // Its checksum is known to hold when the next one was looked for.
      whole = last;
      record.drain();
      const { offset, length, type } = record;
      if (length === undefined || record.inner !== undefined) break;
      last = { end: offset + length, captures: whole.captures + (type === "warcinfo" ? 0 : 1) };
    }
    return damageAt === undefined || damageAt >= last.end ? last : whole;
  } catch (error) {
    // Not even its first bytes are those of a record.
    if (error instanceof ArchiveError && error.code === "HT_FORMAT_UNKNOWN") return whole;
    throw error;
  } finally {
    reader.close();
  }
}
