/**
 * Enters records that lie in segments into the catalogue and the timeline. The one way in: for what is added, for what is
 * adopted, for what a crash left unentered, and when everything is made anew.
 */
import { type Clock, parseDigest } from "../../base/index.ts";
import { type CaptureFacts, factsOf, type RecordFacts } from "../../pipeline/index.ts";
import type { TimelineWriter } from "../../temporal/index.ts";
import {
  type CaptureKey,
  timeOf,
  urlHash,
  urlOf,
  waitForCapture,
  waitForClaim,
  waitForUrl,
} from "../catalogue/capture-key.ts";
import {
  archiveKey,
  type CaptureKind,
  type CaptureRow,
  DIGEST_HALF,
  halfOf,
  isSameRecord,
  type RecordPlace,
  recordMark,
} from "../catalogue/capture-row.ts";
import { type Catalogue } from "../catalogue/catalogue.ts";
import { type Framing } from "../catalogue/catalogue-keys.ts";
import { UNKNOWN_DIGEST } from "../catalogue/catalogue-view.ts";
import { type Content, contentIdentity, encodeContent } from "../catalogue/content.ts";
import type { JournalEntry } from "../journal/journal.ts";
import { recordRemovalMark, removalMark } from "../journal/removal-mark.ts";
import type { RecordShelf } from "../segments/segments.ts";
import { headerPlace } from "./revisit-header.ts";
import {
  type Asking,
  isHeadless,
  type Patience,
  type Resolved,
  RevisitOriginals,
  referredTime,
} from "./revisit-original.ts";

/** Where a record went, and what stands around it. */
export interface EnteredPlace {
  readonly kind: CaptureKind;
  readonly place: RecordPlace;
  readonly before: number;
  readonly source: number;
}

/** Before the web was archived. */
const EARLIEST_MS = Date.UTC(1990, 0, 1);
const DAY_MS = 86_400_000;

export class Indexer {
  private readonly catalogue: Catalogue;
  private readonly timeline: TimelineWriter;
  private readonly shelf: RecordShelf;
  private readonly clock: Clock;
  private readonly originals: RevisitOriginals;

  constructor(catalogue: Catalogue, timeline: TimelineWriter, shelf: RecordShelf, clock: Clock) {
    this.catalogue = catalogue;
    this.timeline = timeline;
    this.shelf = shelf;
    this.clock = clock;
    this.originals = new RevisitOriginals(catalogue, shelf);
  }

  /** Whether what is not known of a record yet may still become known by others. */
  get isWaiting(): boolean {
    return this.originals.patience === "entering";
  }

  /** The first half of the digest of a capture's payload, as far as it is known. */
  digestOf(facts: RecordFacts): Buffer | undefined {
    const { sha256 } = facts.capture!;
    if (sha256 !== undefined) return halfOf(sha256);
    return this.originals.find({ capture: facts.capture!, key: archiveKey(facts.uri), timeMs: facts.timeMs ?? 0 })
      ?.digest;
  }

  /** Whether the capture was taken out of the archive before. Of one that waits for its payload that turns out later. */
  isRemoved(facts: RecordFacts): boolean {
    const { catalogue } = this;
    const mark = this.removalOf(facts);
    if (mark === undefined) return false;
    const { sha256, isOurs, claim } = facts.capture!;
    // What others' revisits stand for may not have been known then, or was made out by what is not there any more.
    const isVague = sha256 === undefined && isOurs !== true;
    if (isVague && (claim === undefined || catalogue.isRemoved(mark, UNKNOWN_DIGEST))) return true;
    const digest = this.digestOf(facts);
    if (digest !== undefined) return catalogue.isRemoved(mark, digest);
    return !this.isWaiting && this.isRemovedUnknown(facts, mark);
  }

  /** Whether a record was removed that nothing tells the payload of: itself, and not another one of its id. */
  private isRemovedUnknown(facts: RecordFacts, mark: Buffer): boolean {
    const { catalogue } = this;
    return (
      catalogue.isRemoved(mark, UNKNOWN_DIGEST) ||
      catalogue.isRemoved(recordRemovalMark(mark, markOf(facts)), undefined)
    );
  }

  /** Its mark, where a capture with that mark was removed. As long as nothing was ever written to the journal, none was. */
  private removalOf({ uri, timeMs = 0, id }: RecordFacts): Buffer | undefined {
    if (this.catalogue.state.journal === 0) return undefined;
    const mark = removalMark(archiveKey(uri), timeMs, id);
    return this.catalogue.isRemoved(mark, undefined) ? mark : undefined;
  }

  /** Enters a capture; the key it has then. */
  enter(facts: RecordFacts, entered: EnteredPlace): CaptureKey {
    const { catalogue } = this;
    const capture = facts.capture!;
    const key = archiveKey(facts.uri);
    const timeMs = facts.timeMs ?? 0;
    const captureKey = catalogue.freeKey(urlHash(key), timeMs);
    const { kind, place, before, source } = entered;
    const row: CaptureRow = {
      kind,
      place,
      before,
      source,
      after: 0,
      mark: markOf(facts),
      digest: capture.sha256 === undefined ? undefined : this.digestOf(facts),
      lies: capture.lies === true,
      oddDate: isOddDate(facts.timeMs, this.clock.now()),
    };
    if (capture.sha256 !== undefined) this.enterPayload(captureKey, key, facts, row);
    else this.enterRevisit(captureKey, key, facts, row);
    return captureKey;
  }

  /** One that has its payload with it, or had when it came and is a revisit of ours now. */
  private enterPayload(captureKey: CaptureKey, key: string, facts: RecordFacts, row: CaptureRow): void {
    const { catalogue } = this;
    const capture = facts.capture!;
    catalogue.addCapture(captureKey, row);
    this.visit(key, timeOf(captureKey), {
      url: facts.uri ?? "",
      capture,
      sha256: capture.sha256!,
      payloadSize: capture.payloadSize!,
    });
    if (row.kind === "replaced") this.enterClaim(claimsOf(capture)[1], row.digest!);
    else this.enterOriginal(facts, row.place);
    this.resolveWaiting(key, timeOf(captureKey), claimsOf(capture));
  }

  /** Enters the record as one that holds a payload. */
  enterOriginal(facts: RecordFacts, place: RecordPlace): void {
    const { catalogue } = this;
    const capture = facts.capture!;
    const bytes = Buffer.from(capture.sha256!, "hex");
    const digest = bytes.subarray(0, DIGEST_HALF);
    const framing: Framing = capture.framing ?? "plain";
    const isWhole = capture.truncated !== true && capture.segmented !== true && capture.payloadSize! > 0;
    // What does not hold its checksum is kept, but nothing is to rely on it.
    const isReferable = isWhole && facts.damaged === undefined && facts.date !== undefined && facts.uri !== undefined;
    const there = catalogue.original(digest, framing);
    // One that can be referred to is better than one that cannot.
    if (there === undefined || (!there.isReferable && isReferable)) {
      const digestRest = bytes.subarray(DIGEST_HALF);
      catalogue.putOriginal(digest, framing, { place, payloadSize: capture.payloadSize!, digestRest, isReferable });
    }
    this.enterClaim(claimsOf(capture)[1], digest);
  }

  private enterClaim(claim: string | undefined, digest: Buffer): void {
    if (claim !== undefined && this.catalogue.digestOf(claim) === undefined) this.catalogue.putClaim(claim, digest);
  }

  /** The same for one whose capture was removed: what refers to it must still find it. */
  enterRemoved(facts: RecordFacts, place: RecordPlace): void {
    const capture = facts.capture!;
    const [key, timeMs] = [archiveKey(facts.uri), facts.timeMs ?? 0];
    if (capture.sha256 !== undefined) {
      this.enterOriginal(facts, place);
      this.resolveWaiting(key, timeMs, claimsOf(capture));
      return;
    }
    const resolved = this.originals.find({ capture, key, timeMs });
    if (resolved !== undefined) this.resolveWaiting(key, timeMs, this.provenClaims(capture, resolved));
  }

  private enterRevisit(captureKey: CaptureKey, key: string, facts: RecordFacts, row: CaptureRow): void {
    const { catalogue } = this;
    const resolved = this.originals.find(this.asking(captureKey, key, facts, row));
    catalogue.addCapture(captureKey, row);
    if (resolved !== undefined) {
      this.settleRevisit(captureKey, key, facts, row, resolved);
      this.resolveWaiting(key, timeOf(captureKey), this.provenClaims(facts.capture!, resolved));
      return;
    }
    catalogue.count({ pending: 1 });
    if (!this.originals.mustWait(facts.capture!)) this.addWaits(captureKey, facts);
  }

  private asking(captureKey: CaptureKey, key: string, { capture }: RecordFacts, row: CaptureRow): Asking {
    return { capture: capture!, key, timeMs: timeOf(captureKey), entered: { key: captureKey, row } };
  }

  private addWaits(captureKey: CaptureKey, { uri, capture }: RecordFacts): void {
    for (const wait of waitsOf(capture!, archiveKey(uri))) this.catalogue.addPending(wait, captureKey);
  }

  private settleRevisit(
    captureKey: CaptureKey,
    key: string,
    facts: RecordFacts,
    row: CaptureRow,
    resolved: Resolved,
  ): void {
    const capture = facts.capture!;
    const { digest, original } = resolved;
    const { refersTo } = capture;
    this.catalogue.putCapture(captureKey, { ...row, digest });
    const before = this.catalogue.capturesBefore(urlHash(key), timeOf(captureKey));
    const told = isHeadless(capture)
      ? { ...capture, ...this.httpOf(headerPlace(this.catalogue, { digest, row, refersTo }, before)!) }
      : capture;
    const sha256 = Buffer.concat([digest, original.digestRest]).toString("hex");
    this.visit(key, timeOf(captureKey), {
      url: facts.uri ?? "",
      capture: told,
      sha256,
      payloadSize: original.payloadSize,
    });
  }

  /** The record that a revisit of ours stands for had a digest that others may refer to; it is entered if it is true. */
  private provenClaims({ claim, isOurs }: CaptureFacts, resolved: Resolved): string[] {
    if (isOurs !== true || claim === undefined || parseDigest(claim)?.algorithm === "sha256") return [];
    if (this.catalogue.digestOf(claim) !== undefined || this.originals.fitOf(resolved, claim) !== "proven") return [];
    this.enterClaim(claim, resolved.digest);
    return [claim];
  }

  private visit(
    key: string,
    timeMs: number,
    visited: { url: string; capture: CaptureFacts; sha256: string; payloadSize: number },
  ): void {
    const { url, capture, sha256, payloadSize } = visited;
    const { status, mime, location } = capture;
    const content: Content = { url, status, mime, sha256, payloadSize };
    this.timeline.insert(key, timeMs, encodeContent(key, content, location), contentIdentity(status, location, sha256));
  }

  /** Status, media type and redirect that a record tells. */
  private httpOf(place: RecordPlace): Pick<CaptureFacts, "status" | "mime" | "location"> {
    const { status, mime, location } = this.factsAt(place).capture ?? {};
    return { status, mime, location };
  }

  /** Revisits that came before what they refer to; and those that wait for one of them. */
  private resolveWaiting(key: string, timeMs: number, claims: readonly string[]): void {
    const { catalogue } = this;
    if (catalogue.state.pending === 0) return;
    this.settleAll(new Set([...claims.map(waitForClaim), ...waitsForCapture(key, timeMs)]));
  }

  private settleAll(waits: Set<string>): void {
    const { catalogue } = this;
    // One that is put in while it is being looked at comes up once more.
    for (const wait of waits) {
      waits.delete(wait);
      const waiting = catalogue.pending(wait);
      if (waiting.length === 0) continue;
      const left = waiting.filter((captureKey) => !this.settlePending(captureKey, waits));
      catalogue.clearPending(wait);
      for (const captureKey of left) catalogue.addPending(wait, captureKey);
    }
  }

  /**
   * Resolves what waited until everything was there: what may mean others that wait, behind those; then what tells which
   * capture it means; then, in the order of times, what does not. All must have been committed; `afterEach` may do so again.
   */
  resolvePatient(afterEach: () => void, journal: () => Iterable<JournalEntry>): void {
    let left: readonly CaptureKey[] = [...this.catalogue.allCaptures()].flatMap(({ key, row }) =>
      row.digest === undefined ? key : [],
    );
    if (this.catalogue.state.journal > 0) this.originals.recall(new Set(left.map(urlOf)), journal());
    for (const patience of ["careful", "telling", "none"] as const) left = this.settleEach(left, patience, afterEach);
    for (const key of left) {
      const row = this.catalogue.capture(key)!;
      const facts = this.factsAt(row.place);
      const mark = this.removalOf(facts);
      const isRemoved = mark !== undefined && this.isRemovedUnknown(facts, mark);
      if (isRemoved || this.isTwice(key, facts, row)) this.catalogue.removeCapture(key);
      else if (facts.capture!.isOurs !== true) this.addWaits(key, facts);
      afterEach();
    }
  }

  /** Those that wait on. */
  private settleEach(keys: readonly CaptureKey[], patience: Patience, afterEach: () => void): readonly CaptureKey[] {
    this.originals.patience = patience;
    let left = keys;
    for (let before = left.length + 1; left.length < before; ) {
      before = left.length;
      left = left.filter((key) => {
        const waits = new Set<string>();
        const isSettled = this.settlePending(key, waits);
        this.settleAll(waits);
        afterEach();
        return !isSettled;
      });
    }
    return left;
  }

  private factsAt(place: RecordPlace): RecordFacts {
    return this.shelf.read(place, (record) => factsOf(record, "", () => {}));
  }

  /** Whether it waits no longer; what waits for it may come to an end then too. */
  private settlePending(captureKey: CaptureKey, waits: Set<string>): boolean {
    const { catalogue } = this;
    const row = catalogue.capture(captureKey);
    if (row === undefined || row.digest !== undefined) return true;
    const facts = this.factsAt(row.place);
    const key = archiveKey(facts.uri);
    const resolved = this.originals.find(this.asking(captureKey, key, facts, row));
    if (resolved === undefined) return false;
    for (const wait of waitsForCapture(key, timeOf(captureKey))) waits.add(wait);
    for (const claim of this.provenClaims(facts.capture!, resolved)) waits.add(waitForClaim(claim));
    const { digest } = resolved;
    const mark = this.removalOf(facts);
    if ((mark !== undefined && catalogue.isRemoved(mark, digest)) || this.isTwice(captureKey, facts, row, digest)) {
      catalogue.removeCapture(captureKey);
      return true;
    }
    this.settleRevisit(captureKey, key, facts, row, resolved);
    catalogue.count({ pending: -1 });
    return true;
  }

  /**
   * Whether another capture is of the same record, and this one is not needed beside it: as long as both wait, the earlier
   * one counts. What lies in a file of others may go with it, and what stands around a record belongs to its capture.
   */
  private isTwice(captureKey: CaptureKey, { uri }: RecordFacts, own: CaptureRow, digest?: Buffer): boolean {
    const { catalogue } = this;
    const isEnough = ({ place, before, after }: CaptureRow) =>
      catalogue.segment(place.segment)?.adopted === undefined && before + after >= own.before + own.after;
    const there = catalogue.capturesAt(urlHash(archiveKey(uri)), timeOf(captureKey));
    return there.some(({ key, row }) => {
      if (key === captureKey || !isEnough(row)) return false;
      if (digest !== undefined) return isSameRecord(row, own.mark, digest);
      return key < captureKey && row.digest === undefined && row.mark.equals(own.mark);
    });
  }

  /** Lets a revisit wait that has its payload, which it must not have; the key that it is filed under. */
  unsettle(captureKey: CaptureKey): string {
    const row = this.catalogue.capture(captureKey)!;
    const facts = this.factsAt(row.place);
    this.catalogue.putCapture(captureKey, { ...row, digest: undefined });
    this.catalogue.count({ pending: 1 });
    this.addWaits(captureKey, facts);
    return archiveKey(facts.uri);
  }

  /** Records right behind a capture that belong to it. */
  extend(captureKey: CaptureKey, bytes: number): void {
    const row = this.catalogue.capture(captureKey);
    if (row !== undefined) this.catalogue.putCapture(captureKey, { ...row, after: row.after + bytes });
  }
}

/** A record and the revisit that takes its place have the same: what the header says of the payload is kept. */
export function markOf({ id, capture }: RecordFacts): Buffer {
  const { claim, sha256 } = capture!;
  return recordMark(id, claim ?? (sha256 === undefined ? undefined : `sha256:${sha256}`));
}

/** Digests by which a revisit may refer to a payload; the first is ours, the other one's own, if it is true. */
function claimsOf({ sha256, claim, lies, claimsStored }: CaptureFacts): string[] {
  const isTrue = claim !== undefined && lies !== true && claimsStored !== true;
  return isTrue && claim !== `sha256:${sha256!}` ? [`sha256:${sha256!}`, claim] : [`sha256:${sha256!}`];
}

/** What a revisit waits for that this capture puts an end to, whatever it held. */
function waitsForCapture(key: string, timeMs: number): string[] {
  return [waitForCapture(key, timeMs), waitForUrl(key)];
}

/** One that tells nothing of what it refers to waits for any capture of its own URL. */
function waitsOf(capture: CaptureFacts, key: string): string[] {
  const { claim, refersTo } = capture;
  const waits: string[] = [];
  if (claim !== undefined) waits.push(waitForClaim(claim));
  const timeMs = refersTo?.date === undefined ? undefined : referredTime(capture, refersTo.date);
  if (refersTo?.uri !== undefined && timeMs !== undefined) waits.push(waitForCapture(archiveKey(refersTo.uri), timeMs));
  if (waits.length === 0) waits.push(waitForUrl(key));
  return waits;
}

function isOddDate(timeMs: number | undefined, nowMs: number): boolean {
  return timeMs === undefined || timeMs < EARLIEST_MS || timeMs > nowMs + DAY_MS;
}
