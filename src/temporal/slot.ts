/** A slot: the root of a timeline as of one commit, and what the timeline is. Obeys docs/format/timeline.md. */
import { crc32 } from "node:zlib";
import { ArchiveError } from "../base/index.ts";
import type { SlotFormat } from "../disk/index.ts";
import type { PageKind, PageRef } from "./node.ts";

const SLOT_SIZE = 512;
const MAGIC = "HTTL";
const VERSION = 1;
const KINDS: readonly PageKind[] = ["leaf", "keys", "times"];

export interface Totals {
  /** Keys that were ever seen. */
  readonly keys: number;
  /** Runs, those that say "gone" left out. */
  readonly entries: number;
  readonly visits: number;
}

export interface Settings {
  /** Bytes that a page should not exceed. */
  readonly pageSize: number;
  /** Bytes of a digest. */
  readonly digestSize: number;
}

export interface Root extends Totals, Settings {
  /** Counts the commits. */
  readonly generation: number;
  /** The commit that brought what is in it; those since then wrote the same to another file, or to the other slot. */
  readonly since: number;
  readonly root: PageRef;
  /** Where the pages of this commit end. */
  readonly end: number;
  /** Bytes of pages that the root leads to. */
  readonly live: number;
  /** Runs in them that are carried: copies of what another page has. */
  readonly copies: number;
}

const NUMBERS = ["generation", "end", "live", "keys", "entries", "visits", "pageSize", "digestSize", "copies"] as const;

function encodeSlot(root: Root): Buffer {
  const bytes = Buffer.alloc(SLOT_SIZE);
  bytes.write(MAGIC, 0, "latin1");
  bytes.writeUInt32BE(VERSION, 4);
  let at = 8;
  for (const name of NUMBERS) {
    bytes.writeDoubleBE(root[name], at);
    at += 8;
  }
  const { kind, offset, length, lastChange, alive, changes } = root.root;
  const { scale, first, bits } = changes;
  for (const value of [KINDS.indexOf(kind), offset, length, lastChange, alive, scale, first, bits, root.since]) {
    bytes.writeDoubleBE(value, at);
    at += 8;
  }
  bytes.writeUInt32BE(crc32(bytes.subarray(0, SLOT_SIZE - 4)), SLOT_SIZE - 4);
  return bytes;
}

/** Absent where the bytes do not hold; HT_FORMAT_TOO_NEW where they do, and are of a newer version. */
function decodeSlot(bytes: Buffer, path: string): Root | undefined {
  if (bytes.toString("latin1", 0, 4) !== MAGIC) return undefined;
  if (bytes.readUInt32BE(SLOT_SIZE - 4) !== crc32(bytes.subarray(0, SLOT_SIZE - 4))) return undefined;
  if (bytes.readUInt32BE(4) > VERSION) {
    throw new ArchiveError("HT_FORMAT_TOO_NEW", `${path}: a timeline of a newer Holotype`, { file: path });
  }
  const values = Array.from({ length: NUMBERS.length + 9 }, (_, i) => asWhole(bytes.readDoubleBE(8 + 8 * i)));
  const numbers = Object.fromEntries(NUMBERS.map((name, i) => [name, values[i]!])) as Omit<Root, "root" | "since">;
  const [kind = 0, offset = 0, length = 0, lastChange = 0, alive = 0] = values.slice(NUMBERS.length);
  const [scale = 0, first = 0, bits = 0, since = 0] = values.slice(NUMBERS.length + 5);
  const changes = { scale, first, bits };
  const root = { kind: KINDS[kind]!, offset, length, lastChange, alive, changes };
  // Slots that were written before this was have zeros there.
  return { ...numbers, since: since === 0 ? numbers.generation : since, root };
}

export const SLOT_FORMAT: SlotFormat<Root> = { sizeBytes: SLOT_SIZE, encode: encodeSlot, decode: decodeSlot };

/**
 * The same number as V8 keeps whole ones. What is reckoned with one that was read as a double is a double too, and then
 * all places in what is written would be.
 */
function asWhole(value: number): number {
  const whole = value | 0;
  return whole === value ? whole : value;
}
