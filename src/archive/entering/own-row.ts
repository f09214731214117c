/**
 * The row of a capture as its own record makes it, what the capture is known by, and whether two are the same. Obeys
 * docs/lifespans.md.
 */
import { parseDigest } from "../../base/index.ts";
import { isNotModified, referenceOf } from "../../dedup/index.ts";
import type { CaptureFacts, RecordFacts } from "../../pipeline/index.ts";
import { archiveKey, recordMark } from "../catalogue/capture-key.ts";
import {
  type CaptureKind,
  type CaptureRow,
  Flag,
  has,
  isHolder,
  type Payload,
  type RecordPlace,
  type RowRequest,
} from "../catalogue/capture-row.ts";
import { classOf } from "../catalogue/visit-class.ts";
import { sha1Of } from "./payloads.ts";

/** Where a record went, and what stands around it. */
export interface EnteredPlace {
  readonly kind: CaptureKind;
  readonly place: RecordPlace;
  readonly before: number;
  readonly source: number;
  /** What the requests right before it tell. */
  readonly request: RowRequest | undefined;
}

/** Before the web was archived. */
const EARLIEST_MS = Date.UTC(1990, 0, 1);
const DAY_MS = 86_400_000;

/** `addedMs` is when the file came that the record is from. */
export function rowOf(facts: RecordFacts, entered: EnteredPlace, urlKey: string, addedMs: number): CaptureRow {
  const capture = facts.capture!;
  const { kind, place, before, source, request } = entered;
  const url = facts.uri ?? "";
  const payload = payloadIn(facts);
  const flags = flagsOf(facts, addedMs, urlKey);
  const { status, mime, location } = (flags & Flag.headless) === 0 ? capture : ({} as CaptureFacts);
  // Field by field: this is on the path of every capture.
  const row: { -readonly [K in keyof CaptureRow]: CaptureRow[K] } = {
    url,
    kind,
    class: "state",
    flags,
    status,
    mime,
    location,
    request,
    payload: (flags & Flag.notModified) === 0 ? payload : undefined,
    claim: payload === undefined ? undefined : otherClaim(facts),
    form: capture.form,
    etag: capture.etag,
    lastModified: capture.lastModified,
    source,
    place,
    before,
    after: 0,
  };
  row.class = classOf(row);
  return row;
}

function flagsOf(facts: RecordFacts, addedMs: number, urlKey: string): number {
  const {
    sha256,
    status,
    profile,
    isOurs,
    wasResource,
    hasHttp,
    lies,
    truncated,
    segmented,
    short,
    wholeRange,
    location,
  } = facts.capture!;
  const isRevisit = facts.type === "revisit" && isOurs !== true;
  const is304 = isRevisit ? isNotModified({ profile, status }) : status === 304;
  const isHeadless = is304 || (isRevisit && hasHttp !== true);
  const isSilent = is304 && (!isRevisit || referenceOf(facts.capture!).kind === "silent");
  const tellsItself = isHeadless
    ? 0
    : (wholeRange === true ? Flag.wholeRange : 0) | (isToSelf(urlKey, facts.uri, status, location) ? Flag.toSelf : 0);
  const isCutOff = sha256 !== undefined && !is304 && (truncated === true || segmented === true || short === true);
  return (
    (lies === true ? Flag.lies : 0) |
    (isOddDate(facts.timeMs, addedMs) ? Flag.oddDate : 0) |
    (isCutOff ? Flag.cutOff : 0) |
    (is304 ? Flag.notModified : 0) |
    (isHeadless ? Flag.headless : 0) |
    (isSilent ? Flag.silent : 0) |
    (isRevisit && profile === "unknown" ? Flag.unread : 0) |
    // What had no date gets this one when it is converted, and others write it where they know none.
    ((facts.timeMs ?? 0) === 0 ? Flag.undated : 0) |
    (facts.type === "resource" || wasResource === true ? Flag.resource : 0) |
    (segmented === true && !is304 ? Flag.segmented : 0) |
    tellsItself
  );
}

function isOddDate(timeMs = 0, addedMs: number): boolean {
  return timeMs !== 0 && (timeMs < EARLIEST_MS || timeMs > addedMs + DAY_MS);
}

/** Whether what was read of a record is what the catalogue has of its capture. */
export function isAsEntered({ kind, flags, payload }: CaptureRow, { sha256 }: CaptureFacts): boolean {
  if (kind === "revisit" || kind === "replaced") return sha256 === undefined;
  // What a 304 confirms is not in its record, and a segmented capture is more than its record.
  const isOther = (flags & (Flag.notModified | Flag.segmented)) !== 0;
  return sha256 !== undefined && (isOther || payload?.sha256.toString("hex") === sha256);
}

/** What a record is a capture as, that was not made a revisit here. */
export function kindOf({ type, capture }: RecordFacts): CaptureKind {
  return capture!.isOurs === true ? "replaced" : (type as "response" | "resource" | "revisit");
}

/**
 * By what a record is known beside its URL key and its time: its id, its URL, its HTTP header, and what it says of its
 * payload. A record and the revisit that takes its place have the same.
 */
export function markOf(facts: RecordFacts): string {
  return recordMark(facts.id, knownBy(facts));
}

/** That of a capture whose mark is taken by one with another form of its block: its chunks are cut otherwise. */
export function formedMarkOf(facts: RecordFacts): string {
  return recordMark(facts.id, `${knownBy(facts)} ${facts.capture!.form ?? ""}`);
}

/** That of a capture whose mark is taken by one with another payload: somebody made two with one digest. */
export function otherMarkOf({ id, capture }: RecordFacts): string {
  return recordMark(id, `another ${capture!.sha256 ?? ""}`);
}

/** All that it may have. */
export function marksOf(facts: RecordFacts): readonly string[] {
  return [markOf(facts), formedMarkOf(facts), otherMarkOf(facts)];
}

function knownBy({ uri, type, capture }: RecordFacts): string {
  const { claim, sha256, lies, head, truncated } = capture!;
  const own = sha256 === undefined ? undefined : `sha256:${sha256}`;
  const told = lies === true ? own : (claim ?? own);
  const isCut = truncated === true && type !== "revisit";
  return `${told ?? ""} ${head ?? ""} ${isCut ? "cut" : ""} ${uri ?? ""}`;
}

export function payloadIn({ capture }: RecordFacts): Payload | undefined {
  const { sha256, payloadSize = 0 } = capture!;
  return sha256 === undefined
    ? undefined
    : { sha256: Buffer.from(sha256, "hex"), sha1: sha1Of(capture!), size: payloadSize };
}

/** The digest in the header, where it is neither of ours. */
function otherClaim({ capture }: RecordFacts): string | undefined {
  const { claim, lies, sha1 } = capture!;
  if (claim === undefined) return undefined;
  const isOurs = lies !== true && (sha1 === undefined || claim.startsWith("sha256:"));
  return isOurs ? undefined : claim;
}

/** The digest in the header of a revisit, where it is neither of those of its payload. */
export function claimBeside({ capture }: RecordFacts, payload: Payload | undefined): string | undefined {
  const digest = capture!.claim === undefined ? undefined : parseDigest(capture!.claim);
  const { algorithm } = digest ?? {};
  const own = algorithm === "sha256" || algorithm === "sha1" ? payload?.[algorithm] : undefined;
  return own?.toString("hex") === digest?.hex ? undefined : capture!.claim;
}

/** Whether a redirect leads to the URL that it comes from. */
export function isToSelf(urlKey: string, uri: string | undefined, status = 0, location?: string): boolean {
  if (location === undefined || uri === undefined || status < 300 || status > 399 || status === 304) return false;
  try {
    return archiveKey(new URL(location, uri).href) === urlKey;
  } catch {
    return false;
  }
}

/** Where both are known: blocks with the same header and payload are the same bytes exactly if their forms are equal. */
export function hasOtherForm(row: CaptureRow, { capture }: RecordFacts): boolean {
  const { form, sha256 } = capture!;
  const isKnown = row.form !== undefined || row.kind === "response" || row.kind === "resource";
  return isKnown && !has(row, Flag.removed) && (form !== undefined || sha256 !== undefined) && row.form !== form;
}

/** One that has its payload is not one with another, though all else be equal. */
export function hasSamePayload(row: CaptureRow, { capture }: RecordFacts): boolean {
  const { sha256 } = capture!;
  if (sha256 === undefined || row.payload === undefined || !isHolder(row) || has(row, Flag.segmented)) return true;
  return row.payload.sha256.toString("hex") === sha256;
}

/** Whether nothing differs that answers depend on. */
export function isSameRow(one: CaptureRow, other: CaptureRow): boolean {
  return (
    one.flags === other.flags &&
    one.class === other.class &&
    one.status === other.status &&
    one.mime === other.mime &&
    one.location === other.location &&
    one.claim === other.claim &&
    (one.payload === other.payload ||
      (other.payload !== undefined && one.payload?.sha256.equals(other.payload.sha256) === true))
  );
}
