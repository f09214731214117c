/**
 * Takes records into an archive, one input after the other. A record that is new is written to the segment as it is; one
 * whose payload the archive has becomes a revisit; one that the archive has is passed over. Records that belong to a
 * capture (its request, its metadata) share its fate and stand beside it.
 *
 * Invariants: what the catalogue knows lies in a segment, and was durable there before; an original of ours is never a
 * revisit; so every revisit that is written leads to its payload in one step.
 */
import { ArchiveError, type Clock, type Warning } from "../../base/index.ts";
import { DuplicateTally, type HitKind, hitKind, type Policy, Rules } from "../../dedup/index.ts";
import type { Disk } from "../../disk/index.ts";
import { type CaptureFacts, factsOf, type Input, type RecordFacts } from "../../pipeline/index.ts";
import { hostOf } from "../../url/index.ts";
import type { OriginalReference } from "../../warc/index.ts";
import { archiveKey, type CaptureKey, markIn, noteHash } from "../catalogue/capture-key.ts";
import { type CaptureKind, DIGEST_HALF, Flag, has, type RecordPlace } from "../catalogue/capture-row.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Commits } from "../core/commits.ts";
import { type FoundSame, type Indexer } from "../entering/indexer.ts";
import { kindOf } from "../entering/own-row.ts";
import { isSameRequest, joinRequests, requestFor } from "../entering/requests.ts";
import type { ActiveSegment } from "../segments/active-segment.ts";
import { belongsTo } from "../segments/companions.ts";
import type { RecordShelf } from "../segments/segments.ts";
import { IntakeSource } from "./intake-source.ts";
import type { KnownOriginal, OriginalReferences } from "./original-references.ts";

export interface IntakeParts {
  readonly disk: Disk;
  readonly catalogue: Catalogue;
  readonly indexer: Indexer;
  readonly segment: ActiveSegment;
  readonly shelf: RecordShelf;
  readonly references: OriginalReferences;
  readonly clock: Clock;
  readonly policy: Policy;
  /** Takes back what was removed before. */
  readonly readmit: boolean;
  readonly commits: Commits;
  readonly onWarning: (warning: Warning) => void;
}

/** What became of the records of an `add`. */
export interface IntakeCounts {
  records: number;
  captures: number;
  /** Captures that the archive had already. */
  known: number;
  contents: number;
  duplicates: number;
  acrossTime: number;
  acrossLocation: number;
  /** Revisits that were in the input. */
  revisits: number;
  /** Captures that were removed from the archive before, and stay so. */
  removed: number;
  /** Records that cannot be read to their end. */
  damaged: number;
  bytesIn: number;
  bytesKept: number;
}

export function noCounts(): IntakeCounts {
  const none = { records: 0, captures: 0, known: 0, contents: 0, duplicates: 0, acrossTime: 0, acrossLocation: 0 };
  return { ...none, revisits: 0, removed: 0, damaged: 0, bytesIn: 0, bytesKept: 0 };
}

type Fate =
  | { readonly kind: "kept" }
  | { readonly kind: "passed" }
  | {
      readonly kind: "duplicate";
      readonly original: OriginalReference;
      readonly hit: HitKind;
      readonly replaced: CaptureFacts["replaced"];
    };

const KEPT: Fate = { kind: "kept" };
const PASSED: Fate = { kind: "passed" };

/** Records that may belong to a capture that is still to come, and ids of captures whose fate is known. */
const HELD_MAX = 64;
const DECIDED_MAX = 4096;

export class Intake implements Disposable {
  readonly counts = noCounts();
  readonly tally = new DuplicateTally();
  private readonly parts: IntakeParts;
  private readonly rules: Rules;
  private source: IntakeSource | undefined;
  private sourceNumber = 0;
  private nextSource: number;
  private held: RecordFacts[] = [];
  private decided = new Map<string, boolean>();
  /** The same, from before: the oldest go all at once. */
  private decidedBefore = new Map<string, boolean>();
  private last:
    | { readonly named: RecordFacts; readonly key: CaptureKey; readonly segment: number; end: number }
    | undefined;
  /** The capture before, where it was passed over: what belongs to it is too. */
  private passed: RecordFacts | undefined;

  constructor(parts: IntakeParts) {
    this.parts = parts;
    this.rules = new Rules(parts.policy);
    this.nextSource = parts.catalogue.nextSource();
  }

  begin(input: Input): void {
    this.source = new IntakeSource(this.parts.disk, input);
    this.sourceNumber = 0;
    this.last = undefined;
    this.passed = undefined;
    this.decided.clear();
    this.decidedBefore.clear();
  }

  end(): void {
    for (const facts of this.held.splice(0)) this.keepNote(facts);
    this.source?.[Symbol.dispose]();
    this.source = undefined;
  }

  take(facts: RecordFacts): void {
    this.counts.records++;
    this.counts.bytesIn += facts.length ?? 0;
    if (facts.damaged === "cut") {
      this.counts.damaged++;
      return;
    }
    if (facts.capture !== undefined) this.takeCapture(facts);
    else this.attempt(facts, () => this.takeNote(facts));
  }

  /** Writes something; a record that cannot be taken is told of, and nothing of it stays. Entering it comes later. */
  private attempt<T>(facts: RecordFacts, write: () => T): T | undefined {
    const { segment } = this.parts;
    const before = segment.position;
    try {
      return write();
    } catch (error) {
      if (!(error instanceof ArchiveError) || !this.isOfRecord(error)) throw error;
      if (before !== undefined) segment.undo(before);
      this.counts.damaged++;
      const code = error.code === "HT_CHANGED" ? error.code : "HT_RECORD_TRUNCATED";
      this.warn(facts, code, `left out: ${error.message}`);
      return undefined;
    }
  }

  /** It could be read once, but not again, or not by itself; or there is no place left for another of its moment. */
  private isOfRecord({ code, place }: ArchiveError): boolean {
    if (code === "HT_TOO_LARGE") return true;
    return (code === "HT_CORRUPT" || code === "HT_CHANGED") && place.file === this.source!.input.name;
  }

  private takeCapture(facts: RecordFacts): void {
    const held = this.held.splice(0);
    const companions = held.filter((note) => belongsTo(note, facts));
    for (const note of held) if (!companions.includes(note)) this.keepNote(note);
    const found = this.find(facts);
    const fate = this.decide(facts, found);
    const isKept = fate.kind !== "passed";
    this.remember(facts.id, isKept);
    this.last = undefined;
    this.passed = isKept ? undefined : facts;
    if (!isKept) {
      for (const note of companions) this.keepTelling(note, facts);
      return;
    }
    this.beginSource(facts);
    const written = this.attempt(facts, () => this.write(facts, companions, fate));
    if (written === undefined) return;
    const { place, before, hit } = written;
    const kind: CaptureKind = hit === undefined ? kindOf(facts) : "replaced";
    const request = companions.map((note) => requestFor(facts, note)).reduce(joinRequests, undefined);
    const entered = { kind, place, before, source: this.sourceNumber, request };
    const key = this.parts.indexer.enter(facts, entered, found);
    this.last = { named: facts, key, segment: place.segment, end: place.offset + place.length };
    this.count(facts, hit);
    if (kind === "response" || kind === "resource") this.parts.references.learn(facts, place);
  }

  /** What the archive has of it. One that was removed may come back. */
  private find(facts: RecordFacts): FoundSame {
    const { indexer, readmit, commits } = this.parts;
    const found = indexer.find(facts);
    const { same } = found;
    if (!readmit || same === undefined || !has(same.row, Flag.removed)) return found;
    const { date, id, capture } = facts;
    const mark = Buffer.from(markIn(same.key), "latin1").toString("hex");
    commits.readmit({ url: same.row.url, date: date ?? "", sha256: capture!.sha256 ?? null, id: id ?? null, mark });
    indexer.readmit(same.key, same.row);
    return { ...found, same: undefined };
  }

  /** Writes a capture behind what belongs to it: as it is, or as a revisit if it is a duplicate (then `hit` is there). */
  private write(facts: RecordFacts, companions: readonly RecordFacts[], fate: Fate) {
    const before = companions.reduce((sum, note) => sum + this.keep(note, sum > 0).length, 0);
    const revisit = fate.kind === "duplicate" ? this.source!.revisit(facts, fate.original, fate.replaced) : undefined;
    const follows = before > 0;
    if (fate.kind !== "duplicate" || revisit === undefined)
      return { place: this.keep(facts, follows), before, hit: undefined };
    const place = this.parts.segment.append((sink) => sink.write(revisit), follows);
    this.counts.bytesKept += place.length;
    return { place, before, hit: fate.hit };
  }

  private count(facts: RecordFacts, hit: HitKind | undefined): void {
    const { counts } = this;
    const { capture, uri } = facts;
    counts.captures++;
    if (facts.type === "revisit") {
      counts.revisits++;
      return;
    }
    this.tally.add({ host: hostOf(archiveKey(uri)), mime: capture!.mime, bytes: capture!.payloadSize ?? 0, hit });
    if (hit === undefined) return;
    counts.duplicates++;
    if (hit === "exact") counts.acrossTime++;
    else counts.acrossLocation++;
  }

  private remember(id: string | undefined, isKept: boolean): void {
    if (id === undefined) return;
    this.decided.set(id, isKept);
    if (this.decided.size < DECIDED_MAX) return;
    this.decidedBefore = this.decided;
    this.decided = new Map();
  }

  private decide(facts: RecordFacts, found: FoundSame): Fate {
    const { same, isTwice } = found;
    if (same !== undefined && has(same.row, Flag.removed)) {
      this.counts.removed++;
      return PASSED;
    }
    if (this.parts.indexer.isKnown(facts, found)) {
      this.counts.known++;
      return PASSED;
    }
    if (same === undefined && isTwice)
      this.warn(facts, "HT_FIELD_INVALID", `${facts.id} is there already with another content; both are kept`);
    return this.findOriginal(facts);
  }

  private warn({ offset }: RecordFacts, code: Warning["code"], message: string): void {
    this.parts.onWarning({ code, message, file: this.source!.input.name, offset });
  }

  private findOriginal(facts: RecordFacts): Fate {
    const { sha256, framing = "plain", payloadSize, truncated, short, segmented, mime, status } = facts.capture!;
    // What a 304 carries is not what its URL held.
    if (sha256 === undefined || status === 304) return KEPT;
    const digest = Buffer.from(sha256, "hex");
    const row = this.parts.catalogue.original(digest.subarray(0, DIGEST_HALF), framing);
    if (row === undefined) {
      // In another framing it is no new content, but needs an original of its own.
      if (this.parts.catalogue.anyOriginal(digest.subarray(0, DIGEST_HALF)) === undefined) this.counts.contents++;
      return KEPT;
    }
    if (!row.isReferable || !row.digestRest.equals(digest.subarray(DIGEST_HALF))) return KEPT;
    const original = this.parts.references.of(row.place);
    if (original === undefined) return KEPT;
    const replaced = this.replacedBy(facts);
    const candidate = {
      uri: facts.uri,
      date: facts.date,
      mime,
      framing,
      payloadSize,
      length: facts.length,
      truncated: truncated === true || short === true,
      segmented,
      empty: payloadSize === 0,
      irreversible: facts.isArc !== true && (replaced === undefined || !mayKeepClaim(facts, original)),
    };
    if (!this.rules.isInReach(original, candidate) || this.rules.whyKept(original, candidate) !== undefined)
      return KEPT;
    return { kind: "duplicate", original, hit: hitKind(original, candidate), replaced };
  }

  /** What a revisit needs to stand for the record. Who read it may have been too early to see that it is wanted. */
  private replacedBy(facts: RecordFacts): CaptureFacts["replaced"] {
    const { unexamined, replaced } = facts.capture!;
    if (unexamined !== true || facts.isArc === true) return replaced;
    try {
      return this.source!.examine(facts);
    } catch (error) {
      // It is kept as it is then.
      if (error instanceof ArchiveError) return undefined;
      throw error;
    }
  }

  /** A record that is no capture: what it belongs to decides, as soon as that is known. */
  private takeNote(facts: RecordFacts): void {
    const { last, passed } = this;
    if (passed !== undefined && belongsTo(facts, passed)) {
      this.keepTelling(facts, passed);
      return;
    }
    if (last !== undefined && belongsTo(facts, last.named)) {
      const position = this.parts.segment.position;
      // Only what stands right behind it can be found again with it.
      const follows = position?.number === last.segment && position.end === last.end;
      if (!follows) {
        this.keepNote(facts);
        return;
      }
      const { length } = this.keep(facts, follows);
      this.parts.indexer.extend(last.key, length, requestFor(last.named, facts));
      last.end += length;
      return;
    }
    const isKept = facts.with
      ?.map((id) => this.decided.get(id) ?? this.decidedBefore.get(id))
      .find((fate) => fate !== undefined);
    if (isKept === false && !this.parts.indexer.isNews(facts)) return;
    if (isKept !== undefined) this.keepNote(facts);
    else this.held.push(facts);
    if (this.held.length > HELD_MAX) this.keepNote(this.held.shift()!);
  }

  /** One that belongs to no capture, or to one that went before: kept once. */
  private keepNote(facts: RecordFacts): void {
    const id = noteHash(facts.id ?? `${facts.type} ${facts.offset} ${this.source!.name}`);
    const { catalogue } = this.parts;
    if (catalogue.hasNote(id)) return;
    this.beginSource(facts);
    if (this.attempt(facts, () => this.keep(facts)) === undefined) return;
    catalogue.addNote(id);
    this.parts.indexer.enterRequest(facts);
  }

  /** Beside a capture that is passed over: kept if it is a request that tells of it what was not known. */
  private keepTelling(note: RecordFacts, capture: RecordFacts): void {
    const { same } = this.parts.indexer.find(capture);
    const request = requestFor(capture, note);
    if (same === undefined || request === undefined) return;
    if (!isSameRequest(joinRequests(same.row.request, request), same.row.request)) this.keepNote(note);
  }

  /** See `ActiveSegment.append`. */
  private keep(facts: RecordFacts, follows = false): RecordPlace {
    let isCopied = false;
    const place = this.parts.segment.append((sink) => {
      isCopied = this.source!.keep(facts, sink);
    }, follows);
    if (!isCopied) this.prove(facts, place);
    this.counts.bytesKept += place.length;
    return place;
  }

  /** A record that was put together anew is read back: it must be what it was. */
  private prove(facts: RecordFacts, place: RecordPlace): void {
    const { name } = this.source!.input;
    const fail = () => {
      const message = `${name}:${facts.offset}: read by itself, it is another record`;
      return new ArchiveError("HT_CORRUPT", message, { file: name, offset: facts.offset });
    };
    let capture: RecordFacts["capture"];
    try {
      ({ capture } = this.parts.shelf.read(place, (record) => factsOf(record, "", () => {})));
    } catch (error) {
      throw error instanceof ArchiveError && error.code === "HT_CORRUPT" ? fail() : error;
    }
    const wanted = facts.capture;
    if (capture?.sha256 !== wanted?.sha256 || capture?.framing !== wanted?.framing) throw fail();
    if (capture?.status !== wanted?.status) throw fail();
  }

  /** Before the first record of an input stands one that says where they come from. */
  private beginSource(facts: RecordFacts): void {
    if (this.sourceNumber > 0) return;
    const { catalogue, segment, clock } = this.parts;
    this.sourceNumber = this.nextSource++;
    const { name } = this.source!.input;
    const source = { name, addedMs: clock.now() };
    segment.beginSource(this.sourceNumber, source);
    catalogue.putSource(this.sourceNumber, source);
    const warcinfo = this.source!.arcWarcinfo(facts);
    if (warcinfo === undefined || catalogue.hasNote(noteHash(warcinfo.id))) return;
    segment.append((sink) => warcinfo.write(sink));
    catalogue.addNote(noteHash(warcinfo.id));
  }

  [Symbol.dispose](): void {
    this.source?.[Symbol.dispose]();
  }
}

/** A digest of the chunked body as it is stored says nothing about an original that is cut otherwise. */
function mayKeepClaim({ capture }: RecordFacts, original: KnownOriginal): boolean {
  return capture!.claimsStored !== true || capture!.claim === original.claim;
}
