/** Which records of an export other readers stop at: those go to a file of their own, as they have segments of their own. */
import { isOrdinaryHead } from "../../pipeline/index.ts";
import type { Snapshot } from "../asking/snapshot.ts";
import type { RecordPlace } from "../catalogue/capture-row.ts";
import { isOddSegment } from "../segments/segments.ts";
import type { SelectedCapture, SelectedCaptures } from "./export-selection.ts";

/** Of an adopted file the header of the record decides, as far as it can be read by itself. */
export function isOddPlace({ catalogue, shelf }: Snapshot, place: RecordPlace): boolean {
  if (catalogue.segment(place.segment)?.adopted === undefined) return isOddSegment(place.segment);
  const head = shelf.head(place);
  return head !== undefined && head.arc === undefined && !isOrdinaryHead(head.headers.text);
}

/** Whether there may be any: most archives have none, and are gone through once. */
export function mayHaveOdd({ catalogue }: Snapshot): boolean {
  return [...catalogue.segments()].some(({ number, row }) => row.adopted !== undefined || isOddSegment(number));
}

/** The captures that go to the one kind of file or to the other. */
export function* capturesOfKind(
  archive: Snapshot,
  selected: SelectedCaptures,
  isOdd: boolean,
): Generator<SelectedCapture> {
  for (const capture of selected) {
    if (isOddPlace(archive, archive.locator.capture(capture).place) === isOdd) yield capture;
  }
}
