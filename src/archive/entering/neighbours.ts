/**
 * What depends on the captures of the same URL around a moment: whether a record that may have been cut off begins the
 * state beside it, and what a silent 304 confirms. Obeys docs/lifespans.md.
 */
import { FIRST_MS, LAST_MS, urlKeyOf } from "../catalogue/capture-key.ts";
import {
  type CaptureRow,
  DIGEST_HALF,
  Flag,
  has,
  isHolder,
  type Payload,
  type RecordPlace,
} from "../catalogue/capture-row.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import { classOf, contentStatus, isWholeState } from "../catalogue/visit-class.ts";
import { wholePayloadOf } from "../segments/continuations.ts";
import { type RecordShelf, readable } from "../segments/segments.ts";
import type { EarlierStates, Originals } from "./originals.ts";

type Put = (found: FoundCapture, row: CaptureRow) => void;

export class Neighbours {
  private readonly catalogue: Catalogue;
  private readonly shelf: RecordShelf;
  private readonly originals: Originals;

  constructor(catalogue: Catalogue, shelf: RecordShelf, originals: Originals) {
    this.catalogue = catalogue;
    this.shelf = shelf;
    this.originals = originals;
  }

  /** Looks again at all that may depend on what has changed within these spans of URLs. */
  settle(spans: () => ReadonlyMap<string, { readonly firstMs: number; readonly lastMs: number }>, put: Put): void {
    const { cutOff, silent } = this.catalogue.state;
    if (cutOff === 0 && silent === 0) return;
    for (const [urlKey, { firstMs, lastMs }] of spans()) {
      const from = this.stateBefore(urlKey, firstMs - 1)?.timeMs ?? FIRST_MS;
      const to = this.endOfReach(urlKey, lastMs);
      let changedMs = firstMs;
      for (const found of this.flagged(urlKey, from, to, Flag.cutOff))
        if (this.settleCutOff(found, put)) changedMs = Math.min(changedMs, found.timeMs);
      // What is confirmed lies before: earlier 304s do not look at what has changed.
      const states = this.originals.statesOf(urlKey);
      for (const found of this.flagged(urlKey, changedMs, to, Flag.silent)) this.settleSilent(found, states, put);
    }
  }

  private flagged(urlKey: string, fromMs: number, toMs: number, flag: number): FoundCapture[] {
    return [...this.catalogue.captures(urlKey, fromMs, toMs)].filter(({ row }) => has(row, flag));
  }

  /** Behind this moment nothing looks back to what has changed. */
  private endOfReach(urlKey: string, lastMs: number): number {
    if (this.catalogue.state.far > 0) return LAST_MS;
    for (const { timeMs, row } of this.catalogue.captures(urlKey, lastMs + 1, LAST_MS))
      if (isWholeState(row) && contentStatus(row) === 200) return timeMs;
    return LAST_MS;
  }

  private stateBefore(urlKey: string, timeMs: number): FoundCapture | undefined {
    for (const found of this.catalogue.captures(urlKey, FIRST_MS, timeMs, true))
      if (isWholeState(found.row)) return found;
    return undefined;
  }

  private stateAfter(urlKey: string, timeMs: number): FoundCapture | undefined {
    for (const found of this.catalogue.captures(urlKey, timeMs, LAST_MS)) if (isWholeState(found.row)) return found;
    return undefined;
  }

  /** Whether its class is another one now. */
  private settleCutOff(found: FoundCapture, put: Put): boolean {
    const { key, timeMs, row } = found;
    const urlKey = urlKeyOf(key);
    const times = [this.stateBefore(urlKey, timeMs)?.timeMs, this.stateAfter(urlKey, timeMs)?.timeMs];
    const states = times.flatMap((time) => (time === undefined ? [] : this.catalogue.at(urlKey, time)));
    const isBeginning = states.some((state) => isWholeState(state.row) && this.begins(row, state.row));
    const next = classOf(row, isBeginning);
    if (next === row.class) return false;
    put(found, { ...row, class: next });
    return true;
  }

  /** Whether the payload of the one is what that of the other begins with. */
  private begins(row: CaptureRow, state: CaptureRow): boolean {
    const [part, whole] = [row.payload!, state.payload!];
    if (part.size === 0) return true;
    if (part.size >= whole.size) return part.sha256.equals(whole.sha256);
    const place = isHolder(state) && state.kind !== "replaced" ? state.place : this.placeOf(whole);
    if (place === undefined) return false;
    const { shelf, catalogue } = this;
    const isBeginning = readable(() =>
      shelf.read(row.place, (record) =>
        shelf.read(place, (other) =>
          isPrefix(wholePayloadOf(record, catalogue, shelf).chunks, wholePayloadOf(other, catalogue, shelf).chunks),
        ),
      ),
    );
    return isBeginning === true;
  }

  private placeOf({ sha256 }: Payload): RecordPlace | undefined {
    return this.catalogue.anyOriginal(sha256.subarray(0, DIGEST_HALF))?.place;
  }

  private settleSilent(found: FoundCapture, states: EarlierStates, put: Put): void {
    const { row } = found;
    const { state, isFar } = this.originals.confirmed(found.key, row, states);
    const { payload, mime, location } = state ?? {};
    const status = state?.status;
    const flags = (row.flags & ~(Flag.far | Flag.wholeRange)) | (isFar ? Flag.far : 0);
    const isWhole = state !== undefined && has(state, Flag.wholeRange);
    const next = { ...row, payload, status, mime, location, flags: flags | (isWhole ? Flag.wholeRange : 0) };
    const isSame =
      next.flags === row.flags &&
      status === row.status &&
      mime === row.mime &&
      location === row.location &&
      (payload === row.payload || (payload !== undefined && row.payload?.sha256.equals(payload.sha256) === true));
    if (!isSame) put(found, next);
  }
}

/** Whether the bytes of the one are those that the other begins with. */
function isPrefix(part: Iterable<Uint8Array>, whole: Iterable<Uint8Array>): boolean {
  const pieces = whole[Symbol.iterator]();
  let rest: Uint8Array = new Uint8Array(0);
  for (const chunk of part) {
    for (let at = 0; at < chunk.length; ) {
      if (rest.length === 0) {
        const step = pieces.next();
        if (step.done === true) return false;
        rest = step.value;
        continue;
      }
      const count = Math.min(rest.length, chunk.length - at);
      if (Buffer.compare(chunk.subarray(at, at + count), rest.subarray(0, count)) !== 0) return false;
      at += count;
      rest = rest.subarray(count);
    }
  }
  return true;
}
