/** What stays of a capture that was removed: that there was a visit, and what makes its class. */
import { type CaptureKind, type CaptureRow, Flag, has, NO_PLACE, type RowRequest } from "./capture-row.ts";
import { classOf } from "./visit-class.ts";

/** As the journal has it. */
export interface RemovedFacts {
  readonly kind: CaptureKind;
  readonly status?: number | undefined;
  /** Names of flags. */
  readonly flags?: readonly string[] | undefined;
  readonly request?: RowRequest | undefined;
  readonly etag?: number | undefined;
  readonly lastModified?: number | undefined;
}

/** Of what its own header says. */
const OWN = [
  "lies",
  "oddDate",
  "cutOff",
  "wholeRange",
  "notModified",
  "silent",
  "unread",
  "undated",
  "toSelf",
  "resource",
] as const;

export function factsLeft(row: CaptureRow): RemovedFacts {
  const isHeadless = has(row, Flag.headless);
  const told: number = isHeadless ? Flag.wholeRange | Flag.toSelf : 0;
  const flags = OWN.filter((name) => has(row, Flag[name] & ~told));
  const status = isHeadless ? undefined : row.status;
  const { kind, request, etag, lastModified } = row;
  return { kind, status, flags: flags.length === 0 ? undefined : flags, request, etag, lastModified };
}

/** `entry` is that of the journal, which may also have what stood beside it. */
export function removedRow(url: string, left: RemovedFacts, entry: number, isBesideTold = false): CaptureRow {
  const { kind, status, request, etag, lastModified, flags: names = [] } = left;
  const removed: number = Flag.removed | (isBesideTold ? Flag.besideTold : 0);
  const flags = OWN.reduce((sum, name) => (names.includes(name) ? sum | Flag[name] : sum), removed);
  const none = { mime: undefined, location: undefined, payload: undefined, claim: undefined, form: undefined };
  const row: CaptureRow = {
    ...none,
    url,
    kind,
    class: "state",
    flags,
    status,
    request,
    etag,
    lastModified,
    source: entry,
    place: NO_PLACE,
    before: 0,
    after: 0,
  };
  return { ...row, class: classOf(row) };
}
