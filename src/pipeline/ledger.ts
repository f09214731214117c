/**
 * The ledger: for each file that was rewritten, what stood where a revisit stands now, with the digests that prove it
 * when it is put back. It is durable before the rewritten file gets its name. Obeys docs/format/ledger.md.
 */
import { ArchiveError } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { readTextLines, writeTextLines } from "./text-lines.ts";

export const LEDGER_FORMAT = "holotype-ledger/1";

/** The first line, as JSON. */
export interface LedgerHead {
  readonly format: typeof LEDGER_FORMAT;
  readonly input: { readonly name: string; readonly size: number; readonly modifiedMs: number };
  readonly output: { readonly path: string; readonly size: number; readonly sha256: string };
  readonly compression: "none" | "gzip" | "zstd";
}

/** One record that was replaced. */
export interface LedgerEntry {
  readonly inputOffset: number;
  readonly inputLength: number;
  readonly outputOffset: number;
  readonly outputLength: number;
  readonly id: string | undefined;
  /** Of the record, uncompressed, with its separator: `sha256:…`. */
  readonly recordDigest: string;
  /** Of its bytes as they lay in the file: `sha256:…`. */
  readonly storedDigest: string;
  /** The header of its gzip member in hex; absent for other files. */
  readonly gzipHeader: string | undefined;
}

const COLUMNS = 8;

export function formatEntry(entry: LedgerEntry): string {
  return [
    entry.inputOffset,
    entry.inputLength,
    entry.outputOffset,
    entry.outputLength,
    entry.id ?? "-",
    entry.recordDigest,
    entry.storedDigest,
    entry.gzipHeader ?? "-",
  ].join("\t");
}

export function parseEntry(line: string, path: string): LedgerEntry {
  const columns = line.split("\t");
  const [inputOffset, inputLength] = [Number(columns[0]), Number(columns[1])];
  const [outputOffset, outputLength] = [Number(columns[2]), Number(columns[3])];
  const areWhole = Number.isSafeInteger(inputOffset) && Number.isSafeInteger(inputLength);
  if (
    columns.length < COLUMNS ||
    !areWhole ||
    !Number.isSafeInteger(outputOffset) ||
    !Number.isSafeInteger(outputLength)
  ) {
    throw new ArchiveError("HT_CORRUPT", `${path}: not a line of a ledger: ${line.slice(0, 80)}`, { file: path });
  }
  const text = (column: number) => (columns[column] === "-" ? undefined : columns[column]);
  return {
    inputOffset,
    inputLength,
    outputOffset,
    outputLength,
    id: text(4),
    recordDigest: columns[5]!,
    storedDigest: columns[6]!,
    gzipHeader: text(7),
  };
}

/** Writes the ledger of one file. `entries` are lines without their ends, in order of their offsets. */
export function writeLedger(disk: Disk, path: string, head: LedgerHead, entries: Iterable<string>): void {
  writeTextLines(
    disk,
    path,
    (function* () {
      yield JSON.stringify(head);
      yield* entries;
    })(),
  );
}

export interface Ledger {
  readonly head: LedgerHead;
  /** Read from the file as they are asked for. */
  readonly entries: Iterable<LedgerEntry>;
  /** Copies of the plan that stayed as they are. */
  readonly left: Iterable<LeftRecord>;
  /** How many of the entries refer to originals that were not read. */
  readonly claims: () => number;
  /** Entries and copies that stayed, in the order of their places. */
  readonly fates: Iterable<LedgerEntry | LeftRecord>;
}

/** A copy of the plan that stayed as it is, and why; its line begins with a number sign. */
export interface LeftRecord {
  readonly inputOffset: number;
  readonly reason: string;
}

const LEFT_MARK = "#left";
const CLAIM_MARK = "#claim";

export function formatLeft({ inputOffset, reason }: LeftRecord): string {
  return `${LEFT_MARK}\t${inputOffset}\t${reason}`;
}

/** Remarks that the entry after it refers to an original which could not be read: a plan or an index claims it. */
export function formatClaim(inputOffset: number): string {
  return `${CLAIM_MARK}\t${inputOffset}`;
}

/** Opens the ledger of one file; absent where there is none. */
export function readLedger(disk: Disk, path: string): Ledger | undefined {
  if (disk.stat(path) === undefined) return undefined;
  const [first] = readTextLines(disk, path);
  const head = parseHead(first ?? "", path);
  return {
    head,
    entries: readEntries(disk, path),
    left: readLeft(disk, path),
    claims: () => countClaims(disk, path),
    fates: readFates(disk, path),
  };
}

function countClaims(disk: Disk, path: string): number {
  let count = 0;
  for (const line of readBody(disk, path)) if (line.startsWith(CLAIM_MARK)) count++;
  return count;
}

function* readBody(disk: Disk, path: string): Generator<string> {
  let isHead = true;
  for (const line of readTextLines(disk, path)) {
    if (!isHead) yield line;
    isHead = false;
  }
}

function* readEntries(disk: Disk, path: string): Generator<LedgerEntry> {
  for (const line of readBody(disk, path)) if (!isRemark(line)) yield parseEntry(line, path);
}

function* readLeft(disk: Disk, path: string): Generator<LeftRecord> {
  for (const line of readBody(disk, path)) {
    const left = isRemark(line) ? parseLeft(line) : undefined;
    if (left !== undefined) yield left;
  }
}

function* readFates(disk: Disk, path: string): Generator<LedgerEntry | LeftRecord> {
  for (const line of readBody(disk, path)) {
    const fate = isRemark(line) ? parseLeft(line) : parseEntry(line, path);
    if (fate !== undefined) yield fate;
  }
}

/** Absent where the remark is another. */
function parseLeft(line: string): LeftRecord | undefined {
  const [mark, offset, reason] = line.split("\t");
  return mark === LEFT_MARK ? { inputOffset: Number(offset), reason: reason ?? "" } : undefined;
}

/** Lines that begin with a number sign are no entries. */
export function isRemark(line: string): boolean {
  return line.startsWith("#");
}

/** Ledgers lie beside files that may have come from anywhere. */
function isHead({ input, output }: Partial<LedgerHead>): boolean {
  const hasSizes = Number.isSafeInteger(input?.size) && Number.isSafeInteger(output?.size);
  return hasSizes && typeof output?.path === "string" && typeof output.sha256 === "string";
}

function parseHead(line: string, path: string): LedgerHead {
  try {
    const head = JSON.parse(line) as LedgerHead;
    const format: string = head.format;
    if (format === LEDGER_FORMAT && isHead(head)) return head;
    const code = /^holotype-ledger\/\d+$/.test(format) ? "HT_FORMAT_TOO_NEW" : "HT_CORRUPT";
    throw new ArchiveError(code, `${path}: not a ledger that this version reads: ${format}`, { file: path });
  } catch (cause) {
    if (cause instanceof ArchiveError) throw cause;
    throw new ArchiveError("HT_CORRUPT", `${path}: not a ledger`, { file: path }, cause);
  }
}
