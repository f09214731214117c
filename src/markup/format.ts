/** Numbers, sizes, shares and times as a report shows them to people, and texts of strangers made harmless to look at. */
import { parseIso } from "../base/index.ts";

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"] as const;
const MINUS = "\u2212";
/** Keeps a number and its unit on one line. */
const TIE = "\u00a0";

/** `1,234,567`. */
export function formatNumber(value: number): string {
  const digits = String(Math.abs(value)).replace(/\B(?=(?:\d{3})+$)/g, ",");
  return value < 0 ? MINUS + digits : digits;
}

/** In the units of the command line: `1.2 MB`, of thousands. */
export function formatBytes(bytes: number): string {
  const size = Math.abs(bytes);
  const sign = bytes < 0 ? MINUS : "";
  if (size < 1000) return `${sign}${size}${TIE}B`;
  let power = 1;
  while (power < UNITS.length - 1 && Number((size / 1000 ** power).toFixed(1)) >= 1000) power++;
  return `${sign}${formatTenths(size / 1000 ** power)}${TIE}${UNITS[power]}`;
}

function formatTenths(value: number): string {
  const [whole, tenths] = value.toFixed(1).split(".");
  return `${formatNumber(Number(whole))}.${tenths}`;
}

/** `3 files`, `1 file`. */
export function formatAmount(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)}${TIE}${count === 1 ? one : many}`;
}

/** In percent with one decimal; what is little or nearly all does not become nothing or all. */
export function formatShare(part: number, whole: number): string {
  if (whole <= 0) return "\u2013";
  const percent = (part / whole) * 100;
  if (percent > 0 && percent < 0.05) return `<${TIE}0.1${TIE}%`;
  if (percent < 100 && percent >= 99.95) return `>${TIE}99.9${TIE}%`;
  if (percent === 0 || percent === 100) return `${percent}${TIE}%`;
  return `${percent < 0 ? MINUS : ""}${Math.abs(percent).toFixed(1)}${TIE}%`;
}

/** How long it took from one time to another; absent where either is no time. */
export function formatSpan(startedAt: string, finishedAt: string): string | undefined {
  const from = parseIso(startedAt);
  const to = parseIso(finishedAt);
  if (from === undefined || to === undefined || to < from) return undefined;
  const seconds = Math.round((to - from) / 1000);
  const tied = (text: string) => text.replaceAll(" ", TIE);
  if (seconds < 60) return tied(`${seconds} s`);
  if (seconds < 3600) return tied(`${Math.floor(seconds / 60)} min ${seconds % 60} s`);
  return tied(`${formatNumber(Math.floor(seconds / 3600))} h ${Math.floor((seconds % 3600) / 60)} min`);
}

/** What cannot be seen, or turns round the order of what can: controls, format characters, lone surrogates, fillers. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;
/** Marks in a pile would be drawn over the lines above and below. */
const PILED_MARKS = /(\p{M}{4})\p{M}+/gu;

/** A text of a stranger with everything unseen in it spelled out: `⟨U+202E⟩`. Not yet escaped for a page. */
export function formatForeign(text: string, lengthMax = 300): string {
  const seen = shorten(text, lengthMax).replace(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
  });
  return seen.replace(PILED_MARKS, "$1…");
}

/** The text, or its beginning with `…` behind it; a pair of surrogates is not parted. */
export function shorten(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const end = lengthMax - 1;
  const last = text.charCodeAt(end - 1);
  return `${text.slice(0, last >= 0xd800 && last < 0xdc00 ? end - 1 : end)}…`;
}
