/** Records that are no captures and belong to one: its request, its metadata. */
import type { RecordFacts } from "../../pipeline/index.ts";

/** What records name each other by. */
export type Named = Pick<RecordFacts, "id" | "with" | "uri" | "timeMs"> & Partial<Pick<RecordFacts, "type">>;

/** Records of one visit that do not name each other are written about the same time. */
export const NEAR_MS = 60_000;

/** One of them names the other; which one depends on who wrote them, and in which order. */
export function isNamedWith(note: Named, capture: Named): boolean {
  if (capture.id !== undefined && note.with?.includes(capture.id) === true) return true;
  return note.id !== undefined && capture.with?.includes(note.id) === true;
}

/**
 * Whether a record that stands beside a capture belongs to it: one names the other; or neither names any, as some crawlers
 * write them, and they are of one URI and about one time.
 */
export function belongsTo(note: Named, capture: Named): boolean {
  if (isNamedWith(note, capture)) return true;
  if (note.with !== undefined || capture.with !== undefined || note.uri === undefined) return false;
  const laterMs = (note.timeMs ?? 0) - (capture.timeMs ?? 0);
  // A request that was sent after the answer had come is one for another answer.
  if (note.type === "request" && laterMs > 0) return false;
  return note.uri === capture.uri && Math.abs(laterMs) <= NEAR_MS;
}
