/**
 * Where a page of rows ended, as text. A cursor names the last row by what it is: its key, its time, its content. So new
 * commits do not disturb it, and a row that was removed meanwhile does no harm.
 */
import type { Lifespan, Scope } from "../../archive/index.ts";
import { ParameterError } from "./parameters.ts";

/** Where a lifespan or a change stands: in the order of keys, then of times. */
export interface RowPlace {
  readonly key: string;
  readonly timeMs: number;
  /** Tells contents of one moment apart. */
  readonly identity: string;
}

export function formatCursor(text: string): string {
  return Buffer.from(text, "utf8").toString("base64url");
}

export function parseCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  if (formatCursor(text) !== cursor) throw wrongCursor();
  return text;
}

export function formatPlaceCursor({ key, timeMs, identity }: RowPlace): string {
  return formatCursor(JSON.stringify([key, timeMs, identity]));
}

export function parsePlaceCursor(cursor: string | undefined): RowPlace | undefined {
  const text = parseCursor(cursor);
  if (text === undefined) return undefined;
  const [key, timeMs, identity] = parseList(text);
  if (typeof key !== "string" || typeof identity !== "string" || !Number.isSafeInteger(timeMs)) throw wrongCursor();
  return { key, timeMs: timeMs as number, identity };
}

function parseList(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/** HT_USAGE for a cursor that lies outside of what is question for: it is that of another question. */
export function checkWithin(text: string, range: Pick<Scope, "from" | "to">): void {
  if (text < (range.from ?? "") || (range.to !== undefined && text >= range.to)) throw wrongCursor();
}

export function wrongCursor(): ParameterError {
  return new ParameterError("cursor", "not one that this call gave as next");
}

/**
 * The rows behind a place, of rows that begin no later than its key. Several contents of one moment have an order that
 * only the archive knows: those up to the named one are left out; where that is gone, all of the moment are given again.
 */
export async function* rowsBehind<T>(
  batches: AsyncIterable<readonly T[]>,
  place: RowPlace | undefined,
  placeOf: (row: T) => RowPlace,
): AsyncGenerator<readonly T[]> {
  let ofMoment: T[] | undefined = place === undefined ? undefined : [];
  for await (const batch of batches) {
    let start = 0;
    while (place !== undefined && ofMoment !== undefined && start < batch.length) {
      const row = batch[start]!;
      const { key, timeMs, identity } = placeOf(row);
      const isBefore = key < place.key || (key === place.key && timeMs < place.timeMs);
      const isThen = key === place.key && timeMs === place.timeMs;
      if (!isBefore && !isThen) break;
      start++;
      if (isBefore) continue;
      ofMoment.push(row);
      if (identity === place.identity) ofMoment = [];
    }
    if (start === batch.length) continue;
    if (ofMoment !== undefined && ofMoment.length > 0) yield ofMoment;
    ofMoment = undefined;
    yield start === 0 ? batch : batch.slice(start);
  }
  if (ofMoment !== undefined && ofMoment.length > 0) yield ofMoment;
}

/** A lifespan stands where it begins. */
export function birthPlace({ key, birth, identity }: Lifespan): RowPlace {
  return { key, timeMs: birth, identity };
}

export function birthCursor(lifespan: Lifespan): string {
  return formatPlaceCursor(birthPlace(lifespan));
}
