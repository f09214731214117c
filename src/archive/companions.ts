/** Records that are no captures and belong to one: its request, its metadata. */
import type { RecordFacts } from "../pipeline/index.ts";

export function belongsTo(note: RecordFacts, capture: RecordFacts): boolean {
  if (capture.id !== undefined && note.with?.includes(capture.id) === true) return true;
  return note.id !== undefined && capture.with?.includes(note.id) === true;
}
