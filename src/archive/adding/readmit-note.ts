/** Records that are not captures, and that come back though they were removed, or what they belong to. */
import type { RecordFacts } from "../../pipeline/index.ts";
import { noteMark } from "../catalogue/capture-key.ts";
import type { ArchiveCore } from "../core/archive-core.ts";
import { toldRecord } from "../entering/told.ts";

/** Whether it was removed; then it is not any more, and the journal says so with the next commit. */
export function readmitNote({ catalogue, indexer }: ArchiveCore, note: RecordFacts): boolean {
  const mark = noteMark(note);
  if (catalogue.hasNote(mark) ? !catalogue.isRemovedNote(mark) : !indexer.isOfRemoved(note)) return false;
  indexer.untold.readmitted.notes.push(toldRecord(note));
  catalogue.readmitNote(mark);
  return true;
}
