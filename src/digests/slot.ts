/** A slot of a digest index: its settings and the runs that count as of one commit. Obeys docs/format/digest-index.md. */
import { crc32 } from "node:zlib";
import { ArchiveError } from "../base/index.ts";
import type { SlotFormat } from "../disk/index.ts";
import { damagedIndex } from "./byte-fields.ts";
import { decodeSettings, encodeSettings, type IndexSettings } from "./settings.ts";

export const INDEX_SLOT_SIZE = 1024;
const MAGIC = "HTDI";
const VERSION = 1;
const HEAD_SIZE = 26;
const RUN_SIZE = 4;
export const RUNS_MAX = Math.floor((INDEX_SLOT_SIZE - HEAD_SIZE - 4) / RUN_SIZE);

export interface IndexSlot {
  /** Counts the commits. */
  readonly generation: number;
  readonly end: number;
  readonly settings: IndexSettings;
  /** The number of the next run to be written. */
  readonly nextRun: number;
  /** Numbers of runs, the oldest first. */
  readonly runs: readonly number[];
}

function encodeSlot({ generation, end, settings, nextRun, runs }: IndexSlot): Buffer {
  const bytes = Buffer.alloc(INDEX_SLOT_SIZE);
  bytes.write(MAGIC, 0, "latin1");
  bytes.writeUInt16BE(VERSION, 4);
  bytes.writeUInt16BE(runs.length, 6);
  bytes.writeUIntBE(generation, 8, 6);
  bytes.writeUIntBE(end, 14, 6);
  bytes.writeUInt16BE(encodeSettings(settings), 20);
  bytes.writeUInt32BE(nextRun, 22);
  for (const [i, run] of runs.entries()) bytes.writeUInt32BE(run, HEAD_SIZE + RUN_SIZE * i);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, INDEX_SLOT_SIZE - 4)), INDEX_SLOT_SIZE - 4);
  return bytes;
}

/** Absent where the bytes do not hold; HT_FORMAT_TOO_NEW or HT_CORRUPT where they do, and cannot be read or be so. */
function decodeSlot(bytes: Buffer, path: string): IndexSlot | undefined {
  if (bytes.toString("latin1", 0, 4) !== MAGIC) return undefined;
  if (bytes.readUInt32BE(INDEX_SLOT_SIZE - 4) !== crc32(bytes.subarray(0, INDEX_SLOT_SIZE - 4))) return undefined;
  if (bytes.readUInt16BE(4) > VERSION) {
    throw new ArchiveError("HT_FORMAT_TOO_NEW", `${path}: a digest index of a newer Holotype`, { file: path });
  }
  const count = bytes.readUInt16BE(6);
  if (count > RUNS_MAX) throw damagedIndex(path, "a slot names more runs than it has room for");
  return {
    generation: bytes.readUIntBE(8, 6),
    end: bytes.readUIntBE(14, 6),
    settings: decodeSettings(bytes.readUInt16BE(20)),
    nextRun: bytes.readUInt32BE(22),
    runs: Array.from({ length: count }, (_, i) => bytes.readUInt32BE(HEAD_SIZE + RUN_SIZE * i)),
  };
}

export const INDEX_SLOT_FORMAT: SlotFormat<IndexSlot> = {
  sizeBytes: INDEX_SLOT_SIZE,
  encode: encodeSlot,
  decode: decodeSlot,
};
