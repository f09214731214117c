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

/** Absent where the line is not an ARC header. The line end may be part of it. */
export function parseArcLine(line: string): ArcLine | undefined {
  if (!SCHEME.test(line)) return undefined;
  const text = line.replace(/[ \t]*[\r\n]*$/, "");
  const lastBlank = text.lastIndexOf(" ");
  const lengthText = text.slice(lastBlank + 1);
  if (lastBlank < 0 || !/^\d{1,15}$/.test(lengthText)) return undefined;
  const length = Number(lengthText);
  const pivot = findPivot(text);
  if (pivot === undefined) return undefined;
  const { url, ip, date, rest } = pivot;
  if (rest > lastBlank) return { url, ip, date, mime: "", length };
  const middle = text.slice(rest, lastBlank).split(" ");
  // Version 2: mime, result code, checksum, location, offset, file name. A mime type with parameters has blanks too.
  if (middle.length >= 6 && /^\d{3}$|^-$/.test(middle.at(-5)!) && /^\d+$/.test(middle.at(-2)!)) {
    const [status, checksum, location, , filename] = middle.slice(-5) as [string, string, string, string, string];
    return { url, ip, date, mime: middle.slice(0, -5).join(" "), length, status, checksum, location, filename };
  }
  return { url, ip, date, mime: middle.join(" "), length };
}

/** The last place where an IP address and a date follow each other: a URL may hold such a pair as well. */
function findPivot(text: string) {
  let found: { url: string; ip: string; date: string; rest: number } | undefined;
  IP_AND_DATE.lastIndex = 0;
  for (let m = IP_AND_DATE.exec(text); m !== null; m = IP_AND_DATE.exec(text)) {
    found = { url: text.slice(0, m.index), ip: m[1]!, date: m[2]!, rest: m.index + m[0].length };
    IP_AND_DATE.lastIndex = m.index + m[0].length - 1;
  }
  return found;
}

/** The version in the block of a `filedesc:` record: `1 1 InternetArchive` says 1. */
export function parseArcVersion(block: string): string | undefined {
  return /^\s*([12]) \d+ /.exec(block)?.[1];
}
