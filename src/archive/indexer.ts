/**
 * Enters records that lie in segments into the catalogue and the timeline. The one way in: for what is added, for what is
 * adopted, for what a crash left unentered, and when everything is made anew.
 */
import { type Clock, formatDigest, parseDigest } from "../base/index.ts";
import { timeOfDate } from "../dedup/index.ts";
import { type CaptureFacts, factsOf, type RecordFacts } from "../pipeline/index.ts";
import type { TimelineWriter } from "../temporal/index.ts";
import { judgeDigest, scanRecord } from "../warc/index.ts";
import { type CaptureKey, timeOf, urlHash, waitForCapture, waitForClaim, waitForUrl } from "./capture-key.ts";
import {
  archiveKey,
  type CaptureKind,
  type CaptureRow,
  DIGEST_HALF,
  hasSameId,
  type OriginalRow,
  type RecordPlace,
  recordMark,
} from "./capture-row.ts";
import { type Catalogue } from "./catalogue.ts";
import { type Framing } from "./catalogue-keys.ts";
import { type FoundCapture, UNKNOWN_DIGEST } from "./catalogue-view.ts";
import { type Content, contentIdentity, encodeContent } from "./content.ts";
import { removalMark } from "./removal-mark.ts";
import { headerPlace } from "./revisit-header.ts";
import type { RecordShelf } from "./segments.ts";

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

/** What a revisit leads to. */
interface Resolved {
  readonly digest: Buffer;
  readonly original: OriginalRow;
}

export class Indexer {
  private readonly catalogue: Catalogue;
  private readonly timeline: TimelineWriter;
  private readonly shelf: RecordShelf;
  private readonly clock: Clock;
  /**
   * While everything is made anew records do not come in the order in which they came first. What a revisit of others
   * means may be still to come, and something else that fits be there: unless it tells all by itself, it waits until all are.
   */
  private isPatient: boolean;

  constructor(catalogue: Catalogue, timeline: TimelineWriter, shelf: RecordShelf, clock: Clock) {
    this.isPatient = catalogue.state.unfinished > 0;
    this.catalogue = catalogue;
    this.timeline = timeline;
    this.shelf = shelf;
    this.clock = clock;
  }

  /** The first half of the digest of a capture's payload, as far as it is known. */
  digestOf(facts: RecordFacts): Buffer | undefined {
    const { sha256 } = facts.capture!;
    if (sha256 !== undefined) return Buffer.from(sha256, "hex").subarray(0, DIGEST_HALF);
    return this.resolve(facts.capture!, archiveKey(facts.uri), facts.timeMs ?? 0)?.digest;
  }

  /** Whether the capture was taken out of the archive before. */
  isRemoved(facts: RecordFacts): boolean {
    // As long as nothing was ever written to the journal, nothing was.
    if (this.catalogue.state.journal === 0) return false;
    const mark = removalMark(archiveKey(facts.uri), facts.timeMs ?? 0, facts.id);
    if (!this.catalogue.isRemoved(mark, undefined)) return false;
    // What it stands for may not have been known then.
    const isUnknown = facts.capture!.sha256 === undefined && this.catalogue.isRemoved(mark, UNKNOWN_DIGEST);
    return isUnknown || this.catalogue.isRemoved(mark, this.digestOf(facts));
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

  /** The same for one whose capture was removed: what refers to it by URL and date must still find it. */
  enterRemoved(facts: RecordFacts, place: RecordPlace): void {
    this.enterOriginal(facts, place);
    const digest = Buffer.from(facts.capture!.sha256!, "hex").subarray(0, DIGEST_HALF);
    const [key, timeMs] = [archiveKey(facts.uri), facts.timeMs ?? 0];
    this.catalogue.putClaim(momentClaim(key, timeMs), digest);
    this.resolveWaiting(key, timeMs, claimsOf(facts.capture!));
  }

  private enterRevisit(captureKey: CaptureKey, key: string, facts: RecordFacts, row: CaptureRow): void {
    const { catalogue } = this;
    const resolved = this.resolve(facts.capture!, key, timeOf(captureKey), row.source);
    catalogue.addCapture(captureKey, row);
    if (resolved !== undefined) {
      this.settleRevisit(captureKey, key, facts, row, resolved);
      this.resolveWaiting(key, timeOf(captureKey), this.provenClaims(facts.capture!, resolved));
      return;
    }
    catalogue.count({ pending: 1 });
    if (!this.mustWait(facts.capture!)) this.addWaits(captureKey, facts);
  }

  private mustWait({ isOurs }: CaptureFacts): boolean {
    return this.isPatient && isOurs !== true;
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
      ? { ...capture, ...this.httpOf(headerPlace(this.catalogue, { digest, refersTo }, before)!) }
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
    if (this.catalogue.digestOf(claim) !== undefined || this.fitOf(resolved, claim) !== "proven") return [];
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

  /** The payload that a revisit stands for, as far as it is known by now. */
  private resolve(capture: CaptureFacts, key: string, timeMs: number, source = 0): Resolved | undefined {
    const { catalogue } = this;
    const { claim, refersTo } = capture;
    if (this.mustWait(capture) && isHeadless(capture)) return undefined;
    const sha256 = claim === undefined ? undefined : parseDigest(claim);
    if (sha256?.algorithm === "sha256") {
      const found = this.resolved(Buffer.from(sha256.hex, "hex").subarray(0, DIGEST_HALF));
      if (found !== undefined) return found;
    }
    const claimed = claim === undefined ? undefined : catalogue.digestOf(claim);
    if (claimed !== undefined) return this.resolved(claimed);
    if (this.mustWait(capture)) return undefined;
    if (refersTo?.uri !== undefined && refersTo.date !== undefined) {
      const found = this.resolveByCapture(capture, refersTo.uri, refersTo.date);
      if (found !== undefined) return found;
    }
    return isSilent(capture) ? this.resolveByUrl(key, timeMs, source) : undefined;
  }

  /** All that it says is that nothing has changed since the last time. What came later is meant only where nothing else is. */
  private resolveByUrl(key: string, timeMs: number, source: number): Resolved | undefined {
    let later: Buffer | undefined;
    for (const { row } of this.catalogue.capturesBefore(urlHash(key), timeMs)) {
      if (row.digest === undefined) continue;
      if (!this.cameLater(row.source, source)) return this.resolved(row.digest);
      later ??= row.digest;
    }
    return later && this.resolved(later);
  }

  private cameLater(source: number, than: number): boolean {
    const addedMs = (number: number) => this.catalogue.source(number)?.addedMs ?? 0;
    return addedMs(source) > addedMs(than) || (addedMs(source) === addedMs(than) && source > than);
  }

  private resolved(digest: Buffer): Resolved | undefined {
    const original = this.catalogue.anyOriginal(digest);
    return original === undefined ? undefined : { digest, original };
  }

  private resolveByCapture(capture: CaptureFacts, uri: string, date: string): Resolved | undefined {
    const timeMs = referredTime(capture, date);
    if (timeMs === undefined) return undefined;
    const { named, others } = this.referredTo(archiveKey(uri), timeMs, capture.refersTo?.id);
    let likely: Resolved | undefined;
    for (const [i, resolved] of [...named, ...others].entries()) {
      const fit = this.fitOf(resolved, capture.claim);
      if (fit === "proven") return resolved;
      // One of ours means the record with that id and no other, which may be still to come.
      const isMeant = i < named.length || capture.isOurs !== true || capture.refersTo?.id === undefined;
      if (fit === "possible" && isMeant) likely ??= resolved;
    }
    return likely;
  }

  /** What was captured at a moment, or else in its second: under the id that is asked for, and the others. */
  private referredTo(key: string, timeMs: number, id: string | undefined) {
    const { catalogue } = this;
    const url = urlHash(key);
    const second = Math.floor(timeMs / 1000) * 1000;
    const exact = catalogue.capturesAt(url, timeMs);
    const isExact = exact.length > 0;
    const found = isExact
      ? exact
      : [...catalogue.capturesBefore(url, second + 1000)].filter((each) => each.timeMs >= second);
    const mark = recordMark(id, undefined);
    const isNamed = ({ row }: FoundCapture) => isExact && id !== undefined && hasSameId(row, mark);
    // What was removed may be kept for others.
    const removed = catalogue.removedDigests(removalMark(key, timeMs, id));
    const removedThen = catalogue.digestOf(momentClaim(key, timeMs));
    const resolve = (digests: readonly (Buffer | undefined)[]) =>
      digests.flatMap((digest) => (digest === undefined ? undefined : this.resolved(digest)) ?? []);
    return {
      named: resolve([...found.filter(isNamed).map(({ row }) => row.digest), ...removed]),
      others: resolve([removedThen, ...found.filter((each) => !isNamed(each)).map(({ row }) => row.digest)]),
    };
  }

  /** Whether the payload is the one with this digest; where only its bytes could tell, they are asked. */
  private fitOf({ digest, original }: Resolved, claim: string | undefined): "proven" | "possible" | "none" {
    const wanted = claim === undefined ? undefined : parseDigest(claim);
    if (wanted === undefined) return "possible";
    if (wanted.algorithm === "sha256")
      return wanted.hex === Buffer.concat([digest, original.digestRest]).toString("hex") ? "proven" : "none";
    const { algorithm } = wanted;
    const { own, scan } = this.shelf.read(original.place, (record) => {
      const own = parseDigest(record.payloadDigest ?? "");
      return { own, scan: scanRecord(record, { payload: [algorithm], stored: [algorithm] }) };
    });
    const isTrue = (text: string) => ["transferred", "stored"].includes(judgeDigest(text, scan));
    if (isTrue(formatDigest(wanted))) return "proven";
    // One that says nothing, or nothing true, may have been told by another measure.
    return own?.algorithm === algorithm && isTrue(formatDigest(own)) ? "none" : "possible";
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
   * Resolves what waited until everything was there: first what tells which capture it means, then, in the order of times,
   * what does not. All must have been committed; `afterEach` may do so again.
   */
  resolvePatient(afterEach: () => void): void {
    this.isPatient = false;
    let left = [...this.catalogue.allCaptures()].flatMap(({ key, row }) => (row.digest === undefined ? key : []));
    for (const silent of [false, true]) {
      for (let before = left.length + 1; left.length < before; ) {
        before = left.length;
        left = left.filter((key) => {
          const waits = new Set<string>();
          const isSettled = this.settlePending(key, waits, silent);
          if (silent) this.settleAll(waits);
          afterEach();
          return !isSettled;
        });
      }
    }
    for (const key of left) {
      const facts = this.factsAt(this.catalogue.capture(key)!.place);
      if (facts.capture!.isOurs !== true) this.addWaits(key, facts);
    }
  }

  private factsAt(place: RecordPlace): RecordFacts {
    return this.shelf.read(place, (record) => factsOf(record, "", () => {}));
  }

  /** Whether it waits no longer; what waits for it may come to an end then too. Those that tell nothing may be passed over. */
  private settlePending(captureKey: CaptureKey, waits: Set<string>, evenSilent = true): boolean {
    const { catalogue } = this;
    const row = catalogue.capture(captureKey);
    if (row === undefined || row.digest !== undefined) return true;
    const facts = this.factsAt(row.place);
    if (!evenSilent && isSilent(facts.capture!)) return false;
    const key = archiveKey(facts.uri);
    const resolved = this.resolve(facts.capture!, key, timeOf(captureKey), row.source);
    if (resolved === undefined) return false;
    this.settleRevisit(captureKey, key, facts, row, resolved);
    catalogue.count({ pending: -1 });
    for (const wait of waitsForCapture(key, timeOf(captureKey))) waits.add(wait);
    for (const claim of this.provenClaims(facts.capture!, resolved)) waits.add(waitForClaim(claim));
    return true;
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

function momentClaim(key: string, timeMs: number): string {
  return `at ${Math.floor(timeMs / 1000)} ${key}`;
}

/** What a revisit waits for that this capture puts an end to, whatever it held. */
function waitsForCapture(key: string, timeMs: number): string[] {
  return [waitForCapture(key, timeMs), waitForUrl(key)];
}

/** What has a date that cannot be read is filed under 1970, and a revisit of ours may refer to it. */
function referredTime({ isOurs }: CaptureFacts, date: string): number | undefined {
  return timeOfDate(date) ?? (isOurs === true ? 0 : undefined);
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

/** Tells nothing of status and location. One of ours has all that its record had. */
function isHeadless({ status, profile, isOurs }: CaptureFacts): boolean {
  return isOurs !== true && (status === undefined || status === 304 || profile === "server-not-modified");
}

/** Says nothing but "not modified". */
function isSilent({ claim, refersTo, profile }: CaptureFacts): boolean {
  const tellsNothing = claim === undefined && refersTo?.uri === undefined && refersTo?.date === undefined;
  return profile === "server-not-modified" && tellsNothing;
}

function isOddDate(timeMs: number | undefined, nowMs: number): boolean {
  return timeMs === undefined || timeMs < EARLIEST_MS || timeMs > nowMs + DAY_MS;
}
