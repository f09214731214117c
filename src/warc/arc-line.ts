/**
 * The header line of an ARC record: `URL IP date mime length` (version 1) or with result code, checksum, location,
 * offset and file name before the length (version 2). URLs in the wild hold blanks, dates 8 to 18 digits, mime types
 * anything; so the line is read from what is firm: an IP address followed by a date, and the length at the end.
 */

export interface ArcLine {
  readonly url: string;
  readonly ip: string;
  /** As written: 14 digits in a sound file. */
  readonly date: string;
  readonly mime: string;
  readonly length: number;
  /** Version 2 only. */
  readonly status?: string;
  readonly checksum?: string;
  readonly location?: string;
  readonly filename?: string;
}

/** Longer lines than this are no headers. */
export const ARC_LINE_SIZE_MAX = 65_536;

// One blank before each of these; the mime type may be empty, then two blanks stand together.
const IP_AND_DATE = / (\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]+|-|None|0) (\d{4,20}|-) /g;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/;

/** Version 2 between mime type and length: result code, checksum, location, offset, file name. */
const VERSION_2 = / (\d{3}|-) (\S+) (\S+) (\d+) (\S+)$/;

/** Absent where the line is not an ARC header. The line end may be part of it. */
export function parseArcLine(line: string): ArcLine | undefined {
  if (!SCHEME.test(line)) return undefined;
  const text = line.slice(0, endOfText(line));
  const lastBlank = text.lastIndexOf(" ");
  const lengthText = text.slice(lastBlank + 1);
  if (lastBlank < 0 || !/^\d{1,15}$/.test(lengthText)) return undefined;
  const length = Number(lengthText);
  const before = text.slice(0, lastBlank);
  const fields = VERSION_2.exec(before);
  // A mime type with parameters has blanks too, and a `-` before a number looks like an address before a date.
  const wide = fields === null ? undefined : findPivot(before.slice(0, fields.index));
  if (fields !== null && wide !== undefined) {
    const [, status, checksum, location, , filename] = fields as unknown as [
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    return { ...wide, length, status, checksum, location, filename };
  }
  const pivot = findPivot(before);
  return pivot === undefined ? undefined : { ...pivot, length };
}

/** The line without blanks and line ends at its end. */
function endOfText(line: string): number {
  let end = line.length;
  while (end > 0 && (line[end - 1] === "\n" || line[end - 1] === "\r")) end--;
  while (end > 0 && (line[end - 1] === " " || line[end - 1] === "\t")) end--;
  return end;
}

/** Splits at the last place where an IP address and a date follow each other: a URL may hold such a pair as well. */
function findPivot(text: string): { url: string; ip: string; date: string; mime: string } | undefined {
  // An empty mime type may have lost its blank.
  const padded = `${text} `;
  let found: { url: string; ip: string; date: string; mime: string } | undefined;
  IP_AND_DATE.lastIndex = 0;
  for (let m = IP_AND_DATE.exec(padded); m !== null; m = IP_AND_DATE.exec(padded)) {
    const mime = text.slice(m.index + m[0].length);
    found = { url: text.slice(0, m.index), ip: m[1]!, date: m[2]!, mime };
    IP_AND_DATE.lastIndex = m.index + m[0].length - 1;
  }
  return found;
}

/** The version in the block of a `filedesc:` record: `1 1 InternetArchive` says 1. */
export function parseArcVersion(block: string): string | undefined {
  return /^\s*([12]) \d+ /.exec(block)?.[1];
}
