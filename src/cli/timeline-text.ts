/** Timelines as text: keys and values whatever bytes they are of, times, the lines that `load` takes and `dump` gives. */
import { ArchiveError, formatIso, parseIso, parseTime, systemClock } from "../base/index.ts";
import { nodeDisk } from "../disk/index.ts";
import { openTimeline, type TimelineEntry, type TimelineSnapshot } from "../temporal/index.ts";
import type { Arguments, Command } from "./command.ts";
import { requireFolder } from "./volume-option.ts";

/** Bytes (each a character) as text that has no blank, tab or line end in it: what is not printed is told as `\xNN`. */
export function escapeBytes(bytes: string): string {
  return bytes.replace(/[^!-[\]-~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** The bytes that such a text stands for. Other characters stand for themselves in UTF-8. */
export function unescapeBytes(text: string, place: string): Buffer {
  if (/\\(?!x[0-9a-fA-F]{2})/.test(text)) throw new ArchiveError("HT_USAGE", `${place}: a \\ without xNN behind it`);
  const latin1 = Buffer.from(text, "utf8").toString("latin1");
  return Buffer.from(
    latin1.replace(/\\x(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}

/** Values are text, or hex behind `0x`. */
export function formatValue(value: Uint8Array): string {
  return escapeBytes(Buffer.from(value).toString("latin1")).replace(/^0x/, "\\x30x");
}

export function parseValue(text: string, place: string): Buffer {
  return text.startsWith("0x") ? parseHex(text.slice(2), place) : unescapeBytes(text, place);
}

export function parseHex(text: string, place: string): Buffer {
  if (text.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(text)) return Buffer.from(text, "hex");
  throw new ArchiveError("HT_USAGE", `${place}: not hex: ${text.slice(0, 40)}`);
}

/** A time in a line: milliseconds since 1970 as a whole number, or ISO 8601 with a month and a day. */
export function parseLineTime(text: string, place: string): number {
  const time = /^-?\d{1,16}$/.test(text) ? Number(text) : parseIso(text);
  if (time === undefined) throw new ArchiveError("HT_USAGE", `${place}: not a time: ${text.slice(0, 40)}`);
  return time;
}

/** What people type: as everywhere, or `@N` for N milliseconds since 1970. */
export function parseAskedTime(text: string, padding: "start" | "end" = "start"): number {
  const [, number] = /^@(-?\d{1,16})$/.exec(text) ?? [];
  return number === undefined ? parseTime(text, systemClock.now(), padding) : Number(number);
}

export function digestHex(digest: string): string {
  return Buffer.from(digest, "latin1").toString("hex");
}

/** One line about an entry, for people. */
export function formatEntry({ key, birth, end, digest, value, lastSeen, visits, isWhole }: TimelineEntry): string {
  const until = end === undefined ? (isWhole ? "open" : "later") : formatIso(end);
  const seen = `${visits}${isWhole ? "" : "+"}`;
  const fields = [escapeBytes(key), formatIso(birth), until, formatIso(lastSeen), seen, digestHex(digest)];
  return [...fields, formatValue(value)].join("\t");
}

/** The same for programs. Where `whole` is false, `end`, `lastSeen` and `visits` are those up to some later time. */
export function entryJson({ key, birth, end, digest, value, lastSeen, visits, isWhole }: TimelineEntry) {
  const times = { birth: formatIso(birth), end: end === undefined ? null : formatIso(end) };
  const seen = { lastSeen: formatIso(lastSeen), visits, whole: isWhole };
  return { key: escapeBytes(key), ...times, ...seen, digest: digestHex(digest), value: formatValue(value) };
}

/** Opens the timeline that a command was given, to read it as of its last commit. */
export function openFolder(command: Command, args: Arguments): { folder: string; snapshot: TimelineSnapshot } {
  const folder = requireFolder(command, args);
  return { folder, snapshot: openTimeline(nodeDisk, folder) };
}
