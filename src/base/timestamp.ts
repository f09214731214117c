/**
 * Times as web archives write them: the 14 digits of CDX and ARC, and the ISO 8601 form of WARC with whatever
 * precision the record has. A time is kept as milliseconds since 1970; its text is kept beside it where it matters.
 */
import { ArchiveError } from "./errors.ts";

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

const FOUR_CENTURIES_MS = 146_097 * 86_400_000;

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function toTime(year: number, month: number, day: number, hour: number, minute: number, second: number, ms: number) {
  if (month < 1 || month > 12) return undefined;
  const days = month === 2 && isLeap(year) ? 29 : DAYS[month - 1]!;
  // A leap second is a real time: 23:59:60 becomes the second after it.
  if (day < 1 || day > days || hour > 23 || minute > 59 || second > 60) return undefined;
  // `Date.UTC` takes the years 0 to 99 for 1900 to 1999; 400 years later everything is the same but the year.
  return Date.UTC(year + 400, month - 1, day, hour, minute, second, ms) - FOUR_CENTURIES_MS;
}

/** The time of 4 to 17 digits; what is missing is the earliest (`start`) or the latest (`end`) that it can be. */
export function parseTimestamp(digits: string, padding: "start" | "end" = "start"): number | undefined {
  if (!/^\d{4,17}$/.test(digits)) return undefined;
  const late = padding === "end";
  const part = (from: number, to: number, early: number, latest: number) => {
    const text = digits.slice(from, to);
    if (text.length === to - from) return Number(text);
    // A lone first digit of a pair (2019-1 for October to December) pads like a missing one.
    if (text.length === 0) return late ? latest : early;
    return Math.min(Math.max(Number(text.padEnd(to - from, late ? "9" : "0")), early), latest);
  };
  const year = Number(digits.slice(0, 4));
  const month = part(4, 6, 1, 12);
  const lastDay = month === 2 && isLeap(year) ? 29 : (DAYS[month - 1] ?? 31);
  const day = part(6, 8, 1, lastDay);
  return toTime(year, month, day, part(8, 10, 0, 23), part(10, 12, 0, 59), part(12, 14, 0, 59), part(14, 17, 0, 999));
}

const ISO =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+-])(\d{2}):?(\d{2}))?)?)?)?$/;

/** The time of `2019-04-01T00:00:00Z`, which is how nearly all are written; absent for every other form. */
function parsePlainIso(text: string): number | undefined {
  if (text.length !== 20 || text[4] !== "-" || text[7] !== "-" || text[10] !== "T") return undefined;
  if (text[13] !== ":" || text[16] !== ":" || text[19] !== "Z") return undefined;
  const year = 100 * pairAt(text, 0) + pairAt(text, 2);
  const month = pairAt(text, 5);
  const day = pairAt(text, 8);
  const hour = pairAt(text, 11);
  const minute = pairAt(text, 14);
  const second = pairAt(text, 17);
  return year < 0 || Math.min(month, day, hour, minute, second) < 0
    ? undefined
    : toTime(year, month, day, hour, minute, second, 0);
}

/** The number of two digits; far below zero where they are none. */
function pairAt(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? 10 * tens + ones : NO_PAIR;
}

const NO_PAIR = -1_000_000;

/** A time in ISO 8601, from a year to nanoseconds (which are cut to milliseconds); without a zone it is UTC. */
export function parseIso(text: string): number | undefined {
  const plain = parsePlainIso(text);
  if (plain !== undefined) return plain;
  const m = ISO.exec(text.trim());
  if (m === null) return undefined;
  const number = (i: number, otherwise: number) => (m[i] === undefined ? otherwise : Number(m[i]));
  const ms = m[7] === undefined ? 0 : Number(m[7].padEnd(3, "0").slice(0, 3));
  const time = toTime(number(1, 0), number(2, 1), number(3, 1), number(4, 0), number(5, 0), number(6, 0), ms);
  if (time === undefined || m[9] === undefined) return time;
  return time - (m[9] === "-" ? -1 : 1) * (number(10, 0) * 60 + number(11, 0)) * 60_000;
}

/** From the year to the second, and to the millisecond: half a month is a slip of the hand. */
const TYPED_LENGTHS: ReadonlySet<number> = new Set([4, 6, 8, 10, 12, 14, 17]);
const TYPED = /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[Tt ](\d{2})(?::(\d{2})(?::(\d{2}))?)?[Zz]?)?)?)?$/;
const TYPED_BASIC = /^(\d{8})[Tt](\d{2}(?:\d{2}){0,2})[Zz]?$/;

/** A time in UTC without fractions of a second as its digits, in whichever way it is written. */
function typedDigits(text: string): string | undefined {
  if (/^\d+$/.test(text)) return TYPED_LENGTHS.has(text.length) ? text : undefined;
  return (TYPED.exec(text) ?? TYPED_BASIC.exec(text))?.slice(1).join("");
}

/**
 * What people may type: digits, ISO 8601, or `now`. What is missing at its end is the earliest or the latest that it can
 * be, however it is written: 201903 and 2019-03 are the same month.
 */
export function parseTime(text: string, nowMs: number, padding: "start" | "end" = "start"): number {
  if (text === "now") return nowMs;
  const digits = typedDigits(text);
  const isOdd = /^\d+$|^\s|\s$/.test(text);
  const time = digits === undefined ? (isOdd ? undefined : parseIso(text)) : parseTimestamp(digits, padding);
  if (time === undefined) throw new ArchiveError("HT_USAGE", `not a time: ${text} (try 20190401, 2019-04-01 or now)`);
  return time;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/** `Sun, 06 Nov 1994 08:49:37 GMT`, and what RFC 850 and careless servers make of it. */
const HTTP_DATE =
  /^(?:[a-z]{3,9},? ?)?(\d{1,2})[ -]([a-z]{3})[a-z]{0,6}[ -](\d{4}|\d{2}) (\d{1,2}):(\d{2}):(\d{2})(?: ?(?:gmt|utc|ut|z|([+-])(\d{2})(\d{2})))?$/i;
/** `Sun Nov  6 08:49:37 1994`, as `asctime` writes it. */
const ASCTIME = /^[a-z]{3} {1,2}([a-z]{3}) {1,2}(\d{1,2}) (\d{1,2}):(\d{2}):(\d{2}) (\d{4})(?: (?:gmt|utc))?$/i;
const HTTP_DATE_LENGTH_MAX = 64;
/** RFC 850 has years of two digits; HTTP has none before 1970. */
const CENTURY_TURN = 70;

/**
 * A time as HTTP headers have it, in each of the three forms that RFC 9110 wants read. Without a zone it is GMT. Absent
 * for anything else. Never throws.
 */
export function parseHttpDate(text: string): number | undefined {
  const value = text.length > HTTP_DATE_LENGTH_MAX ? "" : text.trim();
  const m = HTTP_DATE.exec(value);
  if (m === null) {
    const [, month = "", day, hour, minute, second, year] = ASCTIME.exec(value) ?? [];
    return toTime(Number(year), monthOf(month), Number(day), Number(hour), Number(minute), Number(second), 0);
  }
  const [, day, month, years, hour, minute, second, sign, zoneHours, zoneMinutes] = m;
  const year = Number(years) + (years!.length === 4 ? 0 : Number(years) < CENTURY_TURN ? 2000 : 1900);
  const time = toTime(year, monthOf(month!), Number(day), Number(hour), Number(minute), Number(second), 0);
  if (time === undefined || sign === undefined) return time;
  return time - (sign === "-" ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000;
}

/** From 1; 0 where it is none. */
function monthOf(name: string): number {
  return MONTHS.indexOf(name.toLowerCase()) + 1;
}

/** 14 digits, UTC. */
export function formatTimestamp(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 19).replace(/[-:T]/g, "");
}

const DAY_MS = 86_400_000;
/** From here on a year has five digits. */
const YEAR_10000_MS = 253_402_300_800_000;
/** Days whose text is remembered: what is asked for one after the other is most often of few. */
const DAYS_MAX = 1024;
const dayTexts = new Map<number, string>();
const PAIRS = Array.from({ length: 100 }, (_, i) => String(i).padStart(2, "0"));

/** `2019-04-01T` */
function dayText(day: number): string {
  let text = dayTexts.get(day);
  if (text === undefined) {
    text = new Date(day * DAY_MS).toISOString().slice(0, 11);
    if (dayTexts.size >= DAYS_MAX) dayTexts.clear();
    dayTexts.set(day, text);
  }
  return text;
}

/** The WARC form: whole seconds unless the time has milliseconds. */
export function formatIso(timeMs: number): string {
  if (!(timeMs >= 0 && timeMs < YEAR_10000_MS && Number.isInteger(timeMs))) {
    const text = new Date(timeMs).toISOString();
    return timeMs % 1000 === 0 ? `${text.slice(0, 19)}Z` : text;
  }
  const day = Math.floor(timeMs / DAY_MS);
  const rest = timeMs - day * DAY_MS;
  const second = Math.floor(rest / 1000);
  const minute = Math.floor(second / 60);
  const ms = rest - second * 1000;
  const text = `${dayText(day)}${PAIRS[Math.floor(minute / 60)]!}:${PAIRS[minute % 60]!}:${PAIRS[second % 60]!}`;
  return ms === 0 ? `${text}Z` : `${text}.${ms < 100 ? "0" : ""}${ms < 10 ? "0" : ""}${ms}Z`;
}
