/**
 * The lines of a tree's journal: what was decided, written down before it is done. Each begins with the CRC-32 of the
 * rest. Obeys docs/format/tree-volume.md.
 */
import { crc32 } from "node:zlib";
import { formatAddress, parseAddress } from "../content-key.ts";
import type { BlockInfo, StoreReceipt } from "../volume.ts";

export const JOURNAL_VERSION = 1;

export const DEEDS = ["new", "duplicate", "remove", "leave", "left"] as const;
export type Deed = (typeof DEEDS)[number];

/** What was done to a block: `references` is its counter then, 0 where it is gone. */
export interface JournalEntry extends BlockInfo {
  readonly deed: Deed;
  /** The counter before; 0 for a new block. */
  readonly before: number;
  readonly requestId?: string | undefined;
  /** Content keys that lead to the block from now on. */
  readonly formerKeys: readonly string[];
}

export interface Totals {
  readonly blocks: number;
  readonly contentBytes: number;
  readonly storedBytes: number;
  readonly references: number;
}

export type JournalLine =
  | { readonly kind: "journal"; readonly version: number }
  | { readonly kind: "do" | "said"; readonly entry: JournalEntry }
  | { readonly kind: "settled"; readonly totals: Totals };

export const NO_TOTALS: Totals = { blocks: 0, contentBytes: 0, storedBytes: 0, references: 0 };

/** What an entry makes of the totals; `times` -1 takes it back. */
export function addTotals(totals: Totals, entry: JournalEntry, times = 1): Totals {
  const { before, references, size, storedSize } = entry;
  const blocks = times * ((before === 0 ? 1 : 0) - (references === 0 ? 1 : 0));
  return {
    blocks: totals.blocks + blocks,
    contentBytes: totals.contentBytes + blocks * size,
    storedBytes: totals.storedBytes + blocks * storedSize,
    references: totals.references + times * (references - before),
  };
}

/** The answer that the request of an entry got. */
export function receiptOf(entry: JournalEntry): StoreReceipt {
  return { ...infoOf(entry), outcome: entry.deed === "new" ? "new" : "duplicate" };
}

export function infoOf({ signature, overflow, size, storedSize, compression, references }: BlockInfo): BlockInfo {
  return { signature, overflow, size, storedSize, compression, references };
}

export function formatLine(line: JournalLine): string {
  return sumUp(formatText(line));
}

/** A line of its text: the checksum before it, a line end behind it. */
export function sumUp(text: string): string {
  return `${checksum(text)} ${text}\n`;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}

function formatText(line: JournalLine): string {
  if (line.kind === "journal") return `journal ${line.version}`;
  if (line.kind === "settled") {
    const { blocks, contentBytes, storedBytes, references } = line.totals;
    return `settled ${blocks} ${contentBytes} ${storedBytes} ${references}`;
  }
  return `${line.kind} ${formatEntry(line.entry)}`;
}

export function formatEntry(entry: JournalEntry): string {
  const { deed, size, storedSize, compression, before, references, requestId, formerKeys } = entry;
  const id = requestId === undefined ? "-" : `=${requestId}`;
  const former = formerKeys.length === 0 ? "-" : formerKeys.join(",");
  return `${deed} ${formatAddress(entry)} ${size} ${storedSize} ${compression} ${before} ${references} ${id} ${former}`;
}

/** A line whose change, if it is one, is still the text that `parseEntry` takes apart. */
export type RawLine =
  | Exclude<JournalLine, { readonly entry: JournalEntry }>
  | { readonly kind: "do" | "said"; readonly text: string };

/** Without its line end. Absent for what is not a line, or not a whole one. */
export function readLine(line: string): RawLine | undefined {
  const text = line.slice(9);
  if (line[8] !== " " || checksum(text) !== line.slice(0, 8)) return undefined;
  if (text.startsWith("do ")) return { kind: "do", text: text.slice(3) };
  if (text.startsWith("said ")) return { kind: "said", text: text.slice(5) };
  const words = text.split(" ");
  if (words[0] === "journal" && words.length === 2) return { kind: "journal", version: Number(words[1]) };
  if (words[0] === "settled" && words.length === 5) {
    const [blocks, contentBytes, storedBytes, references] = words.slice(1).map(Number);
    return { kind: "settled", totals: { blocks, contentBytes, storedBytes, references } as Totals };
  }
  return undefined;
}

export function parseLine(line: string): JournalLine | undefined {
  const raw = readLine(line);
  if (raw === undefined || raw.kind === "journal" || raw.kind === "settled") return raw;
  const entry = parseEntry(raw.text);
  return entry === undefined ? undefined : { kind: raw.kind, entry };
}

/** The id of the request in the text of a change. */
export function requestIdIn(text: string): string | undefined {
  const end = text.lastIndexOf(" ");
  const start = text.lastIndexOf(" ", end - 1) + 1;
  return text[start] === "=" ? text.slice(start + 1, end) : undefined;
}

export function parseEntry(text: string): JournalEntry | undefined {
  const words = text.split(" ");
  const [deed, addressText = "", size, stored, compression = "", before, references, id = "", former = ""] = words;
  const address = parseAddress(addressText);
  if (words.length !== 9 || !isDeed(deed) || address === undefined) return undefined;
  return {
    ...address,
    deed,
    compression,
    size: Number(size),
    storedSize: Number(stored),
    before: Number(before),
    references: Number(references),
    requestId: id === "-" ? undefined : id.slice(1),
    formerKeys: former === "-" ? [] : former.split(","),
  };
}

function isDeed(word: string | undefined): word is Deed {
  return (DEEDS as readonly unknown[]).includes(word);
}
