/**
 * Records that an export has put together again, for later revisits of the same payload to refer to: their original was
 * not selected, and without these each of them would be a full record.
 */
import type { OriginalReference, ReplacedRecord, WarcRecord } from "../../warc/index.ts";
import type { SelectedCapture } from "./export-selection.ts";

/** Those of late; of a payload that was forgotten another one becomes the first. */
const REMEMBERED_MAX = 50_000;

export class RestoredFirsts {
  private readonly remembered = new Map<string, OriginalReference & { readonly place: string }>();

  /** What the revisit may refer to. Absent where it has to be a full record. */
  of(capture: SelectedCapture, record: WarcRecord, replaced: ReplacedRecord): OriginalReference | undefined {
    const first = this.remembered.get(keyOf(capture, record, replaced));
    return first?.place === placeOf(capture) ? undefined : first;
  }

  learn(capture: SelectedCapture, record: WarcRecord, replaced: ReplacedRecord): void {
    const { uri, dateText: date, id } = record;
    if (uri === undefined || date === undefined) return;
    this.remembered.set(keyOf(capture, record, replaced), { uri, date, id, place: placeOf(capture) });
    if (this.remembered.size > REMEMBERED_MAX) this.remembered.delete(this.remembered.keys().next().value!);
  }
}

/** Which URL, and which second. */
function placeOf({ archiveKey, timeMs }: SelectedCapture): string {
  return `${Math.floor(timeMs / 1000)} ${archiveKey}`;
}

/** Payload, framing and what the header says of the payload have to be the same. */
function keyOf({ row }: SelectedCapture, { payloadDigest }: WarcRecord, { chunks }: ReplacedRecord): string {
  return `${row.payload!.sha256.toString("hex")} ${chunks === undefined ? "plain" : "chunked"} ${payloadDigest ?? ""}`;
}
