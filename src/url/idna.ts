/**
 * Host names outside ASCII in their `xn--` form, by IDNA as RFC 3490 has it (with Nameprep, RFC 3491, and Punycode,
 * RFC 3492), because the keys of existing archives were made with that. Node's own conversion follows a later
 * standard, which keeps `ß` where these keys have `ss`.
 */

const ASCII = /^[\0-\x7f]*$/;
const DOTS = /[.\u3002\uff0e\uff61]/;
const LABEL_LENGTH_MAX = 63;
/**
 * A label longer than this stays longer than 63: normalising makes at most one character out of four, is done twice,
 * and a character has up to two units. Without a limit a label of nothing but combining marks takes quadratic time.
 */
const SOURCE_LENGTH_MAX = LABEL_LENGTH_MAX * 4 * 4 * 2;

/** RFC 3454, table B.1: mapped to nothing. */
const IGNORED_ALL = /\u00ad|\u034f|\u1806|[\u180b-\u180d]|[\u200b-\u200d]|\u2060|[\ufe00-\ufe0f]|\ufeff/g;
/** RFC 3454, tables C.1.2 to C.9 but C.2.1, without what normalising leaves nothing of. */
const PROHIBITED =
  /[\u0080-\u00a0\u06dd\u070f\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u2063\u206a-\u206f\u2ff0-\u2ffb\u3000\ufeff\ufff9-\uffff\u{1d173}-\u{1d17a}\u{e0001}\u{e0020}-\u{e007f}\p{Co}\p{Cs}\p{Noncharacter_Code_Point}]/u;
/** RFC 3454, table D.1: written from right to left. */
const RIGHT_TO_LEFT =
  /[\u05be\u05c0\u05c3\u05d0-\u05ea\u05f0-\u05f4\u061b\u061f\u0621-\u063a\u0640-\u064a\u066d-\u066f\u0671-\u06d5\u06dd\u06e5\u06e6\u06fa-\u06fe\u0700-\u070d\u0710\u0712-\u072c\u0780-\u07a5\u07b1\u200f\ufb1d\ufb1f-\ufb28\ufb2a-\ufb36\ufb38-\ufb3c\ufb3e\ufb40\ufb41\ufb43\ufb44\ufb46-\ufbb1\ufbd3-\ufd3d\ufd50-\ufd8f\ufd92-\ufdc7\ufdf0-\ufdfc\ufe70-\ufe74\ufe76-\ufefc]/u;
/** Near RFC 3454, table D.2: letters and what behaves like them, whatever their direction. */
const LETTER = /[\p{L}\p{Mc}\p{Nl}]/u;

/** The ASCII form of a host name, or `undefined` when it has none: a label empty, too long or forbidden. */
export function hostToAscii(host: string): string | undefined {
  const labels = host.split(DOTS);
  const rooted = labels.length > 1 && labels.at(-1) === "";
  if (rooted) labels.pop();
  const ascii: string[] = [];
  for (const label of labels) {
    const encoded = labelToAscii(label);
    if (encoded === undefined || encoded === "" || encoded.length > LABEL_LENGTH_MAX) return undefined;
    ascii.push(encoded);
  }
  return ascii.join(".") + (rooted ? "." : "");
}

function labelToAscii(label: string): string | undefined {
  if (ASCII.test(label)) return label;
  const prepared = nameprep(label);
  if (prepared === undefined || ASCII.test(prepared)) return prepared;
  return prepared.startsWith("xn--") ? undefined : `xn--${punycode(prepared)}`;
}

function nameprep(label: string): string | undefined {
  const source = label.replace(IGNORED_ALL, "");
  if (source.length > SOURCE_LENGTH_MAX) return undefined;
  const folded = foldCase(foldCase(source).normalize("NFKC")).normalize("NFKC");
  if (PROHIBITED.test(folded)) return undefined;
  return isOneDirection(folded) ? folded : undefined;
}

/** Case folding, character by character: no final sigma, and the dotless i stays. */
function foldCase(text: string): string {
  let folded = "";
  for (const char of text) {
    if (char === "\u0131") folded += char;
    else for (const upper of char.toUpperCase()) folded += upper.toLowerCase();
  }
  return folded;
}

/** RFC 3454, section 6: right to left throughout and at both ends, or nowhere. */
function isOneDirection(text: string): boolean {
  if (!RIGHT_TO_LEFT.test(text)) return true;
  const chars = Array.from(text);
  if (!RIGHT_TO_LEFT.test(chars[0]!) || !RIGHT_TO_LEFT.test(chars.at(-1)!)) return false;
  return chars.every((char) => RIGHT_TO_LEFT.test(char) || !LETTER.test(char));
}

/** RFC 3492, section 6.3. A text that must come out longer than a label is given back as it is, which is too long. */
function punycode(text: string): string {
  const codes = Array.from(text, (char) => char.codePointAt(0)!);
  if (codes.length > LABEL_LENGTH_MAX) return text;
  const basic = codes.filter((code) => code < 0x80);
  let out = basic.length > 0 ? `${String.fromCharCode(...basic)}-` : "";
  let done = basic.length;
  let bias = 72;
  let delta = 0;
  for (let reached = 0x80; done < codes.length; reached++) {
    const next = Math.min(...codes.filter((code) => code >= reached));
    delta += (next - reached) * (done + 1);
    reached = next;
    for (const code of codes) {
      if (code < reached) delta++;
      if (code !== reached) continue;
      out += punycodeDigits(delta, bias);
      bias = adaptedBias(delta, done + 1, done === basic.length);
      delta = 0;
      done++;
    }
    delta++;
  }
  return out;
}

const DIGITS = "abcdefghijklmnopqrstuvwxyz0123456789";

/** `delta` as a number of variable length, least digit first. */
function punycodeDigits(delta: number, bias: number): string {
  let out = "";
  let rest = delta;
  for (let position = 36; ; position += 36) {
    const threshold = Math.min(Math.max(position - bias, 1), 26);
    if (rest < threshold) return out + DIGITS[rest]!;
    out += DIGITS[threshold + ((rest - threshold) % (36 - threshold))]!;
    rest = Math.floor((rest - threshold) / (36 - threshold));
  }
}

function adaptedBias(delta: number, count: number, first: boolean): number {
  let rest = first ? Math.floor(delta / 700) : delta >> 1;
  rest += Math.floor(rest / count);
  let steps = 0;
  for (; rest > 455; steps += 36) rest = Math.floor(rest / 35);
  return steps + Math.floor((36 * rest) / (rest + 38));
}
