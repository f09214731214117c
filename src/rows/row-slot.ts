/** A slot: the runs that a catalogue consists of as of one commit. Obeys docs/format/catalogue.md. */
import { crc32 } from "node:zlib";
import { ArchiveError } from "../base/index.ts";
import { type SlotFormat, Slots } from "../disk/index.ts";
import { damagedRows } from "./row-damage.ts";
import type { RunPlace } from "./row-run.ts";

export const SLOT_SIZE = 1024;
/** After the slots. */
export const RUNS_AT = Slots.dataStart({ sizeBytes: SLOT_SIZE });
const MAGIC = "HTCR";
const VERSION = 1;
const RUN_SIZE = 24;
const HEAD_SIZE = 20;
/** As many as a slot has room for. */
export const RUNS_MAX = Math.floor((SLOT_SIZE - HEAD_SIZE - 4) / RUN_SIZE);

export interface Slot {
  /** Counts the commits. */
  readonly generation: number;
  /** Where the last run ends. */
  readonly end: number;
  /** The oldest first. */
  readonly runs: readonly RunPlace[];
}

function encodeSlot({ generation, end, runs }: Slot): Buffer {
  const bytes = Buffer.alloc(SLOT_SIZE);
  bytes.write(MAGIC, 0, "latin1");
  bytes.writeUInt16BE(VERSION, 4);
  bytes.writeUInt16BE(runs.length, 6);
  bytes.writeUIntBE(generation, 8, 6);
  bytes.writeUIntBE(end, 14, 6);
  for (const [i, { start, indexAt, end: runEnd, rows }] of runs.entries()) {
    for (const [k, value] of [start, indexAt, runEnd, rows].entries()) {
      bytes.writeUIntBE(value, HEAD_SIZE + RUN_SIZE * i + 6 * k, 6);
    }
  }
  bytes.writeUInt32BE(crc32(bytes.subarray(0, SLOT_SIZE - 4)), SLOT_SIZE - 4);
  return bytes;
}

/**
 * Absent where the bytes do not hold; HT_FORMAT_TOO_NEW where they do, and are of a newer version; HT_CORRUPT where they do,
 * and cannot be so.
 */
function decodeSlot(bytes: Buffer, path: string): Slot | undefined {
  if (bytes.toString("latin1", 0, 4) !== MAGIC) return undefined;
  if (bytes.readUInt32BE(SLOT_SIZE - 4) !== crc32(bytes.subarray(0, SLOT_SIZE - 4))) return undefined;
  if (bytes.readUInt16BE(4) > VERSION) {
    throw new ArchiveError("HT_FORMAT_TOO_NEW", `${path}: a catalogue of a newer Holotype`, { file: path });
  }
  const count = bytes.readUInt16BE(6);
  if (count > RUNS_MAX) throw damagedRows(path, "is damaged");
  const runs = Array.from({ length: count }, (_, i) => {
    const number = (k: number) => bytes.readUIntBE(HEAD_SIZE + RUN_SIZE * i + 6 * k, 6);
    return { start: number(0), indexAt: number(1), end: number(2), rows: number(3) };
  });
  const slot = { generation: bytes.readUIntBE(8, 6), end: bytes.readUIntBE(14, 6), runs };
  if (!isInOrder(slot)) throw damagedRows(path, "is damaged");
  return slot;
}

export const SLOT_FORMAT: SlotFormat<Slot> = { sizeBytes: SLOT_SIZE, encode: encodeSlot, decode: decodeSlot };

/** Runs lie one behind the other, behind the slots and before the end. */
function isInOrder({ end, runs }: Slot): boolean {
  let before = RUNS_AT;
  for (const { start, indexAt, end: runEnd } of runs) {
    if (start < before || indexAt <= start || runEnd <= indexAt) return false;
    before = runEnd;
  }
  return before <= end;
}
