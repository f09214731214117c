/**
 * A block of `Name: value` lines, as WARC and HTTP headers are. Its text is the bytes read as Latin-1, so nothing is
 * lost or changed by holding it; a value is decoded as UTF-8 where it is valid UTF-8. Lines are found once, on demand.
 */

const NON_ASCII = /[\x80-\xff]/;
const NON_ASCII_ALL = /[\x80-\xff]/g;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Undoes the Latin-1 reading of bytes that were UTF-8; other text stays as it is. */
export function decodeText(latin1: string): string {
  return NON_ASCII.test(latin1) ? (decodeUtf8(latin1) ?? latin1) : latin1;
}

/**
 * The same for a URI. Bytes that are not UTF-8 become the escapes that stand for them, so that no other URI has the same
 * text: read as Latin-1, a byte 0xE9 would be the letter whose UTF-8 is C3 A9.
 */
export function decodeUri(latin1: string): string {
  return NON_ASCII.test(latin1) ? (decodeUtf8(latin1) ?? latin1.replace(NON_ASCII_ALL, escapeByte)) : latin1;
}

function decodeUtf8(latin1: string): string | undefined {
  try {
    return utf8.decode(Buffer.from(latin1, "latin1"));
  } catch {
    return undefined;
  }
}

function escapeByte(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase()}`;
}

const NOT_ASCII = /[^\0-\x7f]/;

/** The UTF-8 bytes of a text, read as Latin-1. */
export function encodeText(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text).toString("latin1") : text;
}

/** Whether a name stands there, in whatever case. */
export function equalsIgnoringCase(text: string, from: number, lowerName: string): boolean {
  for (let i = 0; i < lowerName.length; i++) {
    let code = text.charCodeAt(from + i);
    if (code >= 65 && code <= 90) code |= 32;
    if (code !== lowerName.charCodeAt(i)) return false;
  }
  return true;
}

export function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

function isSpace(code: number): boolean {
  return isBlank(code) || (code >= 10 && code <= 13);
}

/** Folded lines as one, with a blank where each was folded. */
function unfold(value: string): string {
  const lines = value.split("\n").map((line, i) => {
    let from = 0;
    let to = line.length;
    if (i > 0) while (isBlank(line.charCodeAt(from))) from++;
    while (line.charCodeAt(to - 1) === 13) to--;
    return line.slice(from, to);
  });
  return lines.join(" ");
}

export class FieldBlock {
  /** All lines with their line ends, as Latin-1; the blank line at the end may be part of it. */
  readonly text: string;
  private readonly from: number;
  /** For each field: start of its name, end of its name, start and end of its value (folded lines included). */
  private spans: number[] | undefined;
  private oddities = 0;
  private isAscii: boolean | undefined;

  /** `from` is where the fields begin, behind a version or status line. */
  constructor(text: string, from = 0) {
    this.text = text;
    this.from = from;
  }

  private index(): number[] {
    if (this.spans !== undefined) return this.spans;
    const { text } = this;
    const spans: number[] = [];
    let at = this.from;
    while (at < text.length) {
      let next = text.indexOf("\n", at);
      if (next < 0) next = text.length;
      let stop = next;
      while (stop > at && text.charCodeAt(stop - 1) === 13) stop--;
      if (stop === at) break;
      if (isBlank(text.charCodeAt(at)) && spans.length > 0) {
        spans[spans.length - 1] = stop;
      } else {
        const colon = text.indexOf(":", at);
        if (colon < 0 || colon >= stop) {
          this.oddities++;
        } else {
          let nameEnd = colon;
          while (nameEnd > at && isBlank(text.charCodeAt(nameEnd - 1))) nameEnd--;
          spans.push(at, nameEnd, colon + 1, stop);
        }
      }
      at = next + 1;
    }
    this.spans = spans;
    return spans;
  }

  /** Lines that are no fields: without a colon. */
  get oddLineCount(): number {
    this.index();
    return this.oddities;
  }

  get count(): number {
    return this.index().length / 4;
  }

  private value(at: number, decode = decodeText): string {
    const { text } = this;
    let from = this.spans![at + 2]!;
    let to = this.spans![at + 3]!;
    // `trim` would take a byte 0xA0 off, which is the second half of many letters in UTF-8.
    while (from < to && isSpace(text.charCodeAt(from))) from++;
    while (from < to && isSpace(text.charCodeAt(to - 1))) to--;
    const raw = text.slice(from, to);
    const value = raw.includes("\n") ? unfold(raw) : raw;
    // Most headers have nothing to decode, which is found out once for all fields.
    this.isAscii ??= !NON_ASCII.test(text);
    return this.isAscii ? value : decode(value);
  }

  /** The first field of that name (given in small letters), without blanks around it. */
  get(lowerName: string): string | undefined {
    const at = this.find(lowerName);
    return at === undefined ? undefined : this.value(at);
  }

  /** The same where the value is a URI: see `decodeUri`. */
  uri(lowerName: string): string | undefined {
    const at = this.find(lowerName);
    return at === undefined ? undefined : this.value(at, decodeUri);
  }

  private find(lowerName: string): number | undefined {
    const spans = this.index();
    for (let i = 0; i < spans.length; i += 4) {
      const start = spans[i]!;
      if (spans[i + 1]! - start === lowerName.length && equalsIgnoringCase(this.text, start, lowerName)) return i;
    }
    return undefined;
  }

  /** All fields of that name, in order. */
  all(lowerName: string): string[] {
    return [...this].filter(([name]) => name.toLowerCase() === lowerName).map(([, value]) => value);
  }

  *[Symbol.iterator](): Generator<[name: string, value: string]> {
    const spans = this.index();
    for (let i = 0; i < spans.length; i += 4) {
      yield [decodeText(this.text.slice(spans[i]!, spans[i + 1]!)), this.value(i)];
    }
  }
}
