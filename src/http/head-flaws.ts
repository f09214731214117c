/** What is odd about the header of an answer, by name. */
import type { HttpHead } from "../warc/index.ts";
import type { Flaw } from "./flaws.ts";

/** A header without any oddity, as nearly all are: one look decides. */
const PLAIN = /^HTTP\/1\.[01] [1-5]\d\d [\t\x20-\x7e]*\r\n(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e]*\r\n)+\r\n$/;
/** The engine keeps a place for each line that `PLAIN` matches. */
const PLAIN_SIZE_MAX = 1 << 14;

const STATUS_LINE = /^(?:HTTP\/|ICY\b|SHOUTCAST)/i;

const TEXT_FLAWS: readonly (readonly [Flaw, RegExp])[] = [
  ["bare-lf", /(?:^|[^\r])\n/],
  ["control-byte", /[^\t\n\r\x20-\x7e\x80-\xff]/],
  ["eight-bit", /[\x80-\xff]/],
  ["folded-line", /\n[ \t]+[^ \t\r\n]/],
  ["blank-before-colon", /^[^\s:]+[ \t]+:/m],
];

export function headFlaws(head: HttpHead): Flaw[] {
  const { text, startLine, status } = head;
  if (text.length <= PLAIN_SIZE_MAX && PLAIN.test(text)) return [];
  // Whatever it is, it is not for us to judge its lines.
  if (!beginsLikeAnswer(startLine)) return ["not-http"];
  const flaws: Flaw[] = [];
  if (/^(?:ICY|SHOUTCAST)/i.test(startLine)) flaws.push("icy");
  else if (!/^HTTP\/1\.[01]\s/.test(startLine)) flaws.push("version-odd");
  if (status === undefined || status < 100 || status > 599) flaws.push("status-odd");
  else if (/\d{3}$/.test(startLine) && /[\r\n]/.test(text.charAt(startLine.length))) flaws.push("no-reason");
  for (const [flaw, pattern] of TEXT_FLAWS) if (pattern.test(text)) flaws.push(flaw);
  if (head.headers.oddLineCount > 0) flaws.push("no-colon");
  return flaws;
}

/** Whether a first line is that of an answer, and not just any text. */
export function beginsLikeAnswer(startLine: string): boolean {
  return STATUS_LINE.test(startLine);
}
