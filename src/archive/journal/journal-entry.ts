/** An entry of the journal as it is read. What is not one is not believed: it would take captures out, or bring them back. */
import type { JournalEntry } from "./journal.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Absent where the bytes are no entry. One of a kind that is not known is not looked at. */
export function parseEntry(body: Buffer): JournalEntry | undefined {
  let entry: unknown;
  try {
    entry = JSON.parse(body.toString());
  } catch {
    return undefined;
  }
  if (!isFields(entry) || typeof entry["kind"] !== "string") return undefined;
  const { kind } = entry;
  const isOne =
    kind === "adopt"
      ? isAdoption(entry)
      : !["remove", "readmit", "heal"].includes(kind) ||
        (areAll(entry["captures"], isCapture) && (entry["notes"] === undefined || areAll(entry["notes"], isNote)));
  return isOne ? (entry as unknown as JournalEntry) : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isAdoption({ time, segment, path, size, modifiedMs, crawl }: Fields): boolean {
  const isNumber = Number.isSafeInteger(segment) && Number(segment) > 0 && Number(segment) < 2 ** 31;
  const isFile = typeof path === "string" && Number.isSafeInteger(size) && typeof modifiedMs === "number";
  return isNumber && isFile && typeof time === "string" && (crawl === undefined || typeof crawl === "string");
}

function areAll(values: unknown, isOne: (value: unknown) => boolean): boolean {
  return Array.isArray(values) && values.every(isOne);
}

function isNote(note: unknown): boolean {
  if (!isFields(note)) return false;
  const { url, date, id, mark, place } = note;
  const areTexts = [url, date, id].every((value) => value === null || typeof value === "string");
  const isPlaced = place === undefined || isPlace(place, "segment", "offset", "length");
  return areTexts && isPlaced && typeof mark === "string" && /^[0-9a-f]{16}$/.test(mark);
}

function isPlace(place: unknown, ...fields: readonly string[]): boolean {
  if (!isFields(place)) return false;
  return fields.every((field) => Number.isSafeInteger(place[field]) && Number(place[field]) >= 0);
}

function isCapture(capture: unknown): boolean {
  if (!isFields(capture)) return false;
  const { url, date, sha256, id, mark, timeMs, visit } = capture;
  const isText = (value: unknown) => typeof value === "string";
  return (
    isText(url) &&
    isText(date) &&
    (sha256 === null || (isText(sha256) && /^[0-9a-f]{64}$/.test(sha256 as string))) &&
    (id === null || isText(id)) &&
    (mark === undefined || (isText(mark) && /^(?:[0-9a-f]{2}){8,16}$/.test(mark as string))) &&
    (timeMs === undefined || Number.isSafeInteger(timeMs)) &&
    (visit === undefined || isFields(visit)) &&
    (capture["place"] === undefined || isPlace(capture["place"], "segment", "offset", "length", "before", "after")) &&
    (capture["isLast"] !== true || sha256 !== null)
  );
}
