/**
 * One line of a manifest as its columns, and what the stages after it add: the hash extension of `resolve`, and of
 * `plan` the copy number and the original. Obeys docs/format/manifest.md.
 */
import { ArchiveError } from "../base/index.ts";
import type { Framing } from "../warc/index.ts";

export const MANIFEST_COLUMNS = [
  "file",
  "offset",
  "length",
  "uri",
  "date",
  "digest",
  "payload size",
  "status",
  "mime",
  "framing",
  "record id",
  "flags",
  "hash extension",
  "copy number",
  "original uri",
  "original date",
  "original id",
  "original file",
  "original offset",
] as const;

/** How many columns `manifest` writes itself. */
export const MANIFEST_WIDTH = 12;

/** Which column is which. */
export const Column = {
  file: 0,
  offset: 1,
  length: 2,
  uri: 3,
  date: 4,
  digest: 5,
  payloadSize: 6,
  status: 7,
  mime: 8,
  framing: 9,
  id: 10,
  flags: 11,
  extension: 12,
  copy: 13,
  originalUri: 14,
  originalDate: 15,
  originalId: 16,
  originalFile: 17,
  originalOffset: 18,
} as const;

/** The record that a copy, or a revisit of the input, refers to; as far as that tells. */
export interface OriginalPlace {
  readonly uri: string | undefined;
  readonly date: string | undefined;
  readonly id: string | undefined;
  /** As the manifest or index calls it; absent where only a revisit of the input tells of the original. */
  readonly file: string | undefined;
  readonly offset: number | undefined;
}

export interface ManifestLine {
  readonly file: string;
  readonly offset: number;
  /** Absent where the record shares its member with others. */
  readonly length: number | undefined;
  readonly uri: string | undefined;
  readonly date: string | undefined;
  /** As text; absent for a revisit that tells none. */
  readonly digest: string | undefined;
  readonly payloadSize: number | undefined;
  readonly status: number | undefined;
  readonly mime: string | undefined;
  readonly framing: Framing | undefined;
  readonly id: string | undefined;
  readonly flags: readonly string[];
  /** Tells payloads with one digest apart; absent before `resolve`, and for records that were not compared. */
  readonly extension: number | undefined;
  /** 1 for an original, more for what refers to it; absent before `plan`, and for records that take no part. */
  readonly copy: number | undefined;
  readonly original: OriginalPlace | undefined;
}

const UNSAFE = /[\t\n\r\udc80-\udcff]/u;
/** The lone halves of pairs stand for bytes that are not UTF-8, and would not survive in a file of UTF-8. */
const BYTES = /[\udc80-\udcff]/u;

/** Whether a value cannot stand in a column as it is. */
export function needsEscape(value: string | undefined): boolean {
  return value !== undefined && UNSAFE.test(value);
}

/**
 * A value as a column: a tab, line end or byte that is not UTF-8 is percent-encoded, an absent value is a dash. Where
 * there are such bytes, percent signs are encoded, too.
 */
export function formatColumn(value: string | undefined): string {
  if (value === undefined || value === "") return "-";
  if (!needsEscape(value)) return value;
  return value.replace(BYTES.test(value) ? /[%\t\n\r\udc80-\udcff]/gu : /[\t\n\r]/g, (c) => {
    const code = c.charCodeAt(0) & 0xff;
    return `%${code.toString(16).toUpperCase().padStart(2, "0")}`;
  });
}

/** What may stand as this column: the same, or with the tabs and line ends that it had, or with bytes as well. */
export function columnValues(column: string): string[] {
  const unescape = (codes: RegExp) =>
    column.replace(codes, (code) => {
      const byte = Number.parseInt(code.slice(1), 16);
      return String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte);
    });
  return [column, unescape(/%0[9AD]/g), unescape(/%(?:25|0[9AD]|[89A-F][0-9A-F])/g)];
}

/** Splits a line into its columns; throws where it is none of a manifest. `place` names the manifest and the line. */
export function splitLine(line: string, place: string): string[] {
  const columns = line.split("\t");
  if (columns.length < MANIFEST_WIDTH) {
    const hint = columns.length === 1 ? " (if it is one of the original warcsum: holotype resolve takes them)" : "";
    throw new ArchiveError(
      "HT_USAGE",
      `${place}: not a line of a manifest: ${columns.length} columns instead of ${MANIFEST_WIDTH}${hint}`,
    );
  }
  return columns;
}

function text(value: string | undefined): string | undefined {
  return value === "-" ? undefined : value;
}

const NUMBER_DIGITS_MAX = 16;

/** Absent where the text is no number. Millions of these are read, and a regular expression takes twice as long. */
function parseNumber(digits: string): number | undefined {
  if (digits === "" || digits.length > NUMBER_DIGITS_MAX) return undefined;
  let number = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return undefined;
    number = number * 10 + digit;
  }
  return number;
}

function numberOf(columns: readonly string[], column: number, place: string): number | undefined {
  const value = text(columns[column]);
  if (value === undefined) return undefined;
  const number = parseNumber(value);
  if (number !== undefined) return number;
  throw new ArchiveError("HT_USAGE", `${place}: ${MANIFEST_COLUMNS[column]} is not a number: ${value}`);
}

export function parseManifestLine(line: string, place: string): ManifestLine {
  return parseColumns(splitLine(line, place), place);
}

/** The same from the columns that `splitLine` gave. */
export function parseColumns(c: readonly string[], place: string): ManifestLine {
  const offset = numberOf(c, Column.offset, place);
  if (offset === undefined) throw new ArchiveError("HT_USAGE", `${place}: no offset`);
  const flags = c[Column.flags]!;
  return {
    file: c[Column.file]!,
    offset,
    length: numberOf(c, Column.length, place),
    uri: text(c[Column.uri]),
    date: text(c[Column.date]),
    digest: text(c[Column.digest]),
    payloadSize: numberOf(c, Column.payloadSize, place),
    status: numberOf(c, Column.status, place),
    mime: text(c[Column.mime]),
    framing: text(c[Column.framing]) as Framing | undefined,
    id: text(c[Column.id]),
    flags: flags === "-" ? [] : flags.includes(",") ? flags.split(",") : [flags],
    extension: numberOf(c, Column.extension, place),
    copy: numberOf(c, Column.copy, place),
    original: c.length > Column.originalUri ? originalOf(c, place) : undefined,
  };
}

function originalOf(c: readonly string[], place: string): OriginalPlace | undefined {
  const original: OriginalPlace = {
    uri: text(c[Column.originalUri]),
    date: text(c[Column.originalDate]),
    id: text(c[Column.originalId]),
    file: text(c[Column.originalFile]),
    offset: numberOf(c, Column.originalOffset, place),
  };
  const refers = original.uri !== undefined || original.date !== undefined || original.id !== undefined;
  return refers ? original : undefined;
}

/** The line without its line end; columns that nothing is known of are left out at its end. */
export function formatManifestLine(line: ManifestLine): string {
  const columns = [
    formatColumn(line.file),
    String(line.offset),
    count(line.length),
    formatColumn(line.uri),
    formatColumn(line.date),
    formatColumn(line.digest),
    count(line.payloadSize),
    count(line.status),
    formatColumn(line.mime),
    line.framing ?? "-",
    formatColumn(line.id),
    line.flags.length === 0 ? "-" : line.flags.join(","),
    count(line.extension),
  ];
  const planned = formatPlanColumns(line);
  if (planned === "" && columns.at(-1) === "-") columns.pop();
  return columns.join("\t") + planned;
}

function count(value: number | undefined): string {
  return value === undefined ? "-" : String(value);
}

/** What `plan` adds behind the extension, as far as anything is known; each column with the tab before it. */
export function formatPlanColumns({ copy, original }: ManifestLine): string {
  if (original === undefined) return copy === undefined ? "" : `\t${copy}`;
  const columns = [count(copy), formatColumn(original.uri), formatColumn(original.date), formatColumn(original.id)];
  columns.push(formatColumn(original.file), count(original.offset));
  while (columns.at(-1) === "-") columns.pop();
  return columns.map((column) => `\t${column}`).join("");
}

/** A flag with a value, as in `inner:512`; absent where the line does not have it. */
export function flagValue(line: ManifestLine, name: string): string | undefined {
  const mark = `${name}:`;
  const flag = line.flags.find((candidate) => candidate.startsWith(mark));
  return flag?.slice(mark.length);
}

/** On a copy of another URL's capture: its payload was captured before at its own URL, too. */
export const AGAIN_FLAG = "again";

/** The algorithm in which the payload was taken. */
export function algorithmOf(line: ManifestLine): string | undefined {
  return line.digest?.slice(0, Math.max(0, line.digest.indexOf(":")));
}

/** Whether the text of a line is that of a revisit. */
export function isRevisit(line: string): boolean {
  return line.split("\t", Column.flags + 1)[Column.flags]?.startsWith("revisit") === true;
}

/** Whether the text of a line has a copy number above 1. */
export function isCopy(line: string): boolean {
  const copy = line.split("\t", Column.copy + 1)[Column.copy];
  return copy !== undefined && copy !== "-" && copy !== "1";
}

const OFFSET_DIGITS = 16;

/**
 * Orders in which the stages take their lines, as the columns that come first. A line is sorted with these columns in
 * front of it and numbers padded, so that its bytes sort as the columns do; the order is that of GNU sort on them.
 */
export interface LineOrder {
  readonly name: string;
  readonly columns: readonly number[];
  /** The options of GNU sort that give the same order. */
  readonly sortKeys: string;
  /** Payloads that were not compared stand among those of the first extension; GNU sort puts them before. */
  readonly joinsUncompared?: boolean;
}

const { file, offset, uri, date, digest, extension } = Column;

export const BY_DIGEST: LineOrder = {
  name: "digest",
  columns: [digest, extension, date, file, offset],
  sortKeys: "-k 6,6 -k 13,13 -k 5,5 -k 1,1 -k 2,2n",
};
export const BY_DIGEST_AND_URI: LineOrder = {
  name: "digest and URI",
  columns: [digest, extension, uri, date, file, offset],
  sortKeys: "-k 6,6 -k 13,13 -k 4,4 -k 5,5 -k 1,1 -k 2,2n",
};
export const BY_PLACE: LineOrder = { name: "place", columns: [file, offset], sortKeys: "-k 1,1 -k 2,2n" };

/** The line with the columns of the order in front of it, made to sort by its bytes. */
export function toSortable(line: string, columns: readonly string[], order: LineOrder): string {
  let front = "";
  for (const column of order.columns) {
    const value = columns[column] ?? "";
    if (column === offset) front += `${padOffset(value)}\t`;
    else if (column !== extension || order.joinsUncompared !== true) front += `${value}\t`;
    else front += value === "" || value === "-" ? "0\t" : `${value}\t`;
  }
  return front + line;
}

function padOffset(digits: string): string {
  return digits.padStart(OFFSET_DIGITS, "0");
}

/** What `toSortable` makes of a line by its place, from one that was parsed. */
export function toSortableByPlace(text: string, { file, offset }: ManifestLine): string {
  return `${formatColumn(file)}\t${padOffset(String(offset))}\t${text}`;
}

/** Undoes `toSortable`. */
export function fromSortable(sortable: string, order: LineOrder): string {
  let at = 0;
  for (let i = order.columns.length; i > 0; i--) at = sortable.indexOf("\t", at) + 1;
  return sortable.slice(at);
}
