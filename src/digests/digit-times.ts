/** Times read from bytes: the two forms of a crawl.log. Below zero where there is none, or one that is better left to others. */

/** What each byte stands for as a digit; 255 where it is none. */
export const DIGIT_VALUES = new Uint8Array(256).fill(255);
for (let digit = 0; digit < 10; digit++) DIGIT_VALUES[0x30 + digit] = digit;

const DAY_MS = 86_400_000;
const NONE = -1;
let lastDate = -1;
let lastDayMs = 0;

/** Two digits; far above what a pair can be where they are none. */
function pairAt(bytes: Uint8Array, at: number): number {
  const [tens, ones] = [DIGIT_VALUES[bytes[at]!]!, DIGIT_VALUES[bytes[at + 1]!]!];
  return tens > 9 || ones > 9 ? 10_000 : 10 * tens + ones;
}

/** The beginning of a day; days of one log follow each other, so the last one is remembered. */
function dayOf(century: number, year: number, month: number, day: number): number {
  const date = ((century * 100 + year) * 100 + month) * 100 + day;
  if (date === lastDate) return lastDayMs;
  // Days that not every month has, and centuries out of use, are left to others.
  if (century > 20 || century < 19 || year > 99 || month < 1 || month > 12 || day < 1 || day > 31) return NONE;
  const dayMs = Date.UTC(century * 100 + year, month - 1, day);
  if (dayMs < 0 || new Date(dayMs).getUTCDate() !== day) return NONE;
  lastDate = date;
  lastDayMs = dayMs;
  return dayMs;
}

function timeOf(dayMs: number, hour: number, minute: number, second: number, ms: number): number {
  if (dayMs < 0 || hour > 23 || minute > 59 || second > 59 || ms > 999) return NONE;
  return dayMs + hour * 3_600_000 + minute * 60_000 + second * 1000 + ms;
}

function thousandthsAt(bytes: Uint8Array, at: number): number {
  const hundreds = DIGIT_VALUES[bytes[at]!]!;
  return hundreds > 9 ? DAY_MS : 100 * hundreds + pairAt(bytes, at + 1);
}

/** `2019-04-03T11:15:33.835Z` */
export function timeOfIso(bytes: Uint8Array, at: number): number {
  if (bytes[at + 4] !== 0x2d || bytes[at + 7] !== 0x2d || bytes[at + 10] !== 0x54 || bytes[at + 13] !== 0x3a)
    return NONE;
  if (bytes[at + 16] !== 0x3a || bytes[at + 19] !== 0x2e || bytes[at + 23] !== 0x5a) return NONE;
  const dayMs = dayOf(pairAt(bytes, at), pairAt(bytes, at + 2), pairAt(bytes, at + 5), pairAt(bytes, at + 8));
  const ms = thousandthsAt(bytes, at + 20);
  return timeOf(dayMs, pairAt(bytes, at + 11), pairAt(bytes, at + 14), pairAt(bytes, at + 17), ms);
}

/** `20190403111533835` */
export function timeOfDigits(bytes: Uint8Array, at: number): number {
  const dayMs = dayOf(pairAt(bytes, at), pairAt(bytes, at + 2), pairAt(bytes, at + 4), pairAt(bytes, at + 6));
  const ms = thousandthsAt(bytes, at + 14);
  return timeOf(dayMs, pairAt(bytes, at + 8), pairAt(bytes, at + 10), pairAt(bytes, at + 12), ms);
}
