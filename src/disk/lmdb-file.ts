/**
 * LMDB maps its file into memory and believes what its first pages say: where the file was cut, the system ends the process
 * at the first look behind its end. So whoever opens one asks here before.
 */
import { ArchiveError } from "../base/index.ts";
import type { Disk, DiskFile } from "./disk.ts";

const MAGIC = 0xbeefc0de;
/** The layout that this is about; others are left to LMDB. */
const VERSION = 2;
/** From the start of a page: what stands in each of the two that tell of the rest. */
const MAGIC_AT = 24;
const VERSION_AT = 28;
const PAGE_SIZE_AT = 48;
const LAST_PAGE_AT = 144;
const TRANSACTION_AT = 152;
const META_SIZE = 160;
const PAGE_SIZE_MAX = 1 << 16;

export interface LmdbFile {
  /** Whether each transaction was durable before it was told of. If not, LMDB may go on from the one before the last. */
  readonly isSynced: boolean;
  /** What to do where the file was cut. */
  readonly advice: string;
}

/** Throws HT_CORRUPT where the file is shorter than its transactions left it. */
export function refuseCutLmdb(disk: Disk, path: string, { isSynced, advice }: LmdbFile): void {
  if (disk.stat(path) === undefined) return;
  using file = disk.open(path, "read");
  const first = readMeta(file, 0);
  if (first === undefined) return;
  const second = readMeta(file, first.pageSize) ?? first;
  const last = second.transaction > first.transaction ? second : first;
  const lastPage = isSynced ? last.lastPage : Math.min(first.lastPage, second.lastPage);
  const wanted = (lastPage + 1) * first.pageSize;
  // Asked for after the pages were read: one who writes meanwhile makes the file longer, and then tells of it.
  const size = file.size();
  if (size >= wanted) return;
  throw new ArchiveError("HT_CORRUPT", `${path}: cut off, ${size} bytes of ${wanted}; ${advice}`, { file: path });
}

interface Meta {
  readonly pageSize: number;
  readonly lastPage: number;
  readonly transaction: number;
}

function readMeta(file: DiskFile, at: number): Meta | undefined {
  const page = Buffer.alloc(META_SIZE);
  if (file.read(page, at) < META_SIZE) return undefined;
  if (page.readUInt32LE(MAGIC_AT) !== MAGIC || page.readUInt32LE(VERSION_AT) !== VERSION) return undefined;
  const pageSize = page.readUInt32LE(PAGE_SIZE_AT);
  if (pageSize < META_SIZE || pageSize > PAGE_SIZE_MAX) return undefined;
  const number = (place: number) => Number(page.readBigUInt64LE(place));
  return { pageSize, lastPage: number(LAST_PAGE_AT), transaction: number(TRANSACTION_AT) };
}
