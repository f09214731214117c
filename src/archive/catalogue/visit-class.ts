/** What a visit is, by what its row says. Obeys docs/lifespans.md, "What a visit is". */
import { type CaptureRow, Flag, has, type VisitClass } from "./capture-row.ts";

/**
 * The class of a visit. `isBeginning` says that its payload begins that of a whole state beside it, which counts only for
 * one that may have been cut off; without it, it is the class that its own header says.
 */
export function classOf(row: CaptureRow, isBeginning = false): VisitClass {
  const { request, status = 0 } = row;
  if (has(row, Flag.undated)) return "undated";
  if (request !== undefined && request.method !== "GET") return "other-method";
  if (has(row, Flag.unread)) return "unread";
  if (isBeginning && has(row, Flag.cutOff)) return "truncated";
  if ((status === 206 && !has(row, Flag.wholeRange)) || status === 416) return "part";
  if (has(row, Flag.toSelf)) return "redirect-to-self";
  if (status === 408 || status === 425 || status === 429 || status >= 500) return "failed";
  if (!has(row, Flag.notModified)) return "state";
  return request?.isConditional === false ? "failed" : "confirmation";
}

/** The status of what was found: a 206 with the whole counts as 200. */
export function contentStatus({ status, flags }: Pick<CaptureRow, "status" | "flags">): number | undefined {
  return status === 206 && (flags & Flag.wholeRange) !== 0 ? 200 : status;
}

/** A revisit without its payload; or a 304 that confirms nothing. */
export function isPending(row: CaptureRow): boolean {
  return row.payload === undefined && !has(row, Flag.unread | Flag.removed);
}

/** Whether what it found is known, and says what its URL held. */
export function isVisit(row: CaptureRow): boolean {
  return (
    (row.class === "state" || row.class === "confirmation") && row.payload !== undefined && !has(row, Flag.removed)
  );
}

/** A state that others can be compared with. */
export function isWholeState(row: CaptureRow): boolean {
  return row.class === "state" && row.payload !== undefined && !has(row, Flag.cutOff | Flag.removed);
}

/** Whether it has a status that another capture with its payload may have, too. */
export function tellsStatus(row: CaptureRow): boolean {
  return row.status !== undefined && !has(row, Flag.headless | Flag.undated | Flag.removed | Flag.unread);
}
