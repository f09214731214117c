/** Records that are no captures and belong to one: its request, its metadata. */
import type { RecordFacts } from "../../pipeline/index.ts";

/** What records name each other by. */
export type Named = Pick<RecordFacts, "id" | "with">;

/** One of them names the other; which one depends on who wrote them, and in which order. */
export function belongsTo(note: Named, capture: Named): boolean {
  if (capture.id !== undefined && note.with?.includes(capture.id) === true) return true;
  return note.id !== undefined && capture.with?.includes(note.id) === true;
}
