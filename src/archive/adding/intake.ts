/**
 * Takes records into an archive, one input after the other. A record that is new is written to the segment as it is; one
 * whose payload the archive has becomes a revisit; one that the archive has is skipped, after what is there was read: if
 * that cannot be read any more, the record that came takes its place. Records that belong to a capture (its request, its
 * metadata) stand beside it; each of them is skipped only if the archive has that very record.
 *
 * Invariants: what the catalogue knows lies in a segment, and was durable there before; an original of ours is never a
 * revisit; so every revisit that is written leads to its payload in one step.
 */
import { ArchiveError, type Warning } from "../../base/index.ts";
import { DuplicateTally, type HitKind, hitKind, type Policy, Rules, timeOfDate } from "../../dedup/index.ts";
import { type CaptureFacts, factsOf, type Input, type RecordFacts } from "../../pipeline/index.ts";
import { hostOf } from "../../url/index.ts";
import type { OriginalReference } from "../../warc/index.ts";
import { archiveKey, type CaptureKey, markIn, noteMark } from "../catalogue/capture-key.ts";
import {
  type CaptureKind,
  type CaptureRow,
  Flag,
  halfOf,
  has,
  isSamePlace,
  type Payload,
  type RecordPlace,
} from "../catalogue/capture-row.ts";
import { FRAMINGS, type Framing } from "../catalogue/catalogue-keys.ts";
import type { ArchiveCore } from "../core/archive-core.ts";
import type { FoundSame } from "../entering/indexer.ts";
import { isAsEntered, kindOf } from "../entering/own-row.ts";
import { joinRequests, requestFor } from "../entering/requests.ts";
import { HELD_MAX } from "../entering/segment-entry.ts";
import { markText } from "../entering/told.ts";
import { belongsTo } from "../segments/companions.ts";
import { isOddSegment, readable } from "../segments/segments.ts";
import { sourceIn, sourceNumberOf } from "../segments/source-record.ts";
import { crawlIn } from "./crawl-name.ts";
import { countRepeated, noCounts, type RepeatedReason } from "./intake-counts.ts";
import { IntakePages } from "./intake-pages.ts";
import { IntakeSource } from "./intake-source.ts";
import type { HeldPayload, HeldPayloads, KnownOriginal } from "./original-references.ts";
import { readmitNote } from "./readmit-note.ts";

export interface IntakeOptions {
  readonly known: HeldPayloads;
  readonly policy: Policy;
  /** Takes back what was removed before. */
  readonly readmit: boolean;
  /** The crawl that all inputs are part of; else each says it, or its name. */
  readonly crawl?: string | undefined;
}

/** Why a record is written as it is. */
type KeptWhy = RepeatedReason | "new" | "incomparable";

type Fate =
  /** With `heals`, nothing else holds its payload that can be read. */
  | { readonly kind: "kept"; readonly why: KeptWhy; readonly heals?: boolean }
  | { readonly kind: "passed"; readonly notes: Notes }
  | {
      readonly kind: "duplicate";
      readonly original: OriginalReference;
      readonly hit: HitKind;
      readonly replaced: CaptureFacts["replaced"];
    };

type Taken = Exclude<Fate, { kind: "passed" }>;

/** Marks of the records that stand beside a capture in the archive; of one that was removed, whatever belongs to it. */
type Notes = ReadonlySet<string> | "removed";

/** What a capture that was written must have in common with the one that was read. */
const PROVEN = ["sha256", "framing", "status", "head", "form"] as const satisfies readonly (keyof CaptureFacts)[];

const HEALING: Fate = { kind: "kept", why: "original-missing", heals: true };

function kept(why: KeptWhy): Fate {
  return { kind: "kept", why };
}

export class Intake implements Disposable {
  readonly counts = noCounts();
  readonly tally = new DuplicateTally();
  private readonly core: ArchiveCore;
  private readonly options: IntakeOptions;
  private readonly rules: Rules;
  private source: IntakeSource | undefined;
  private sourceNumber = 0;
  private held: RecordFacts[] = [];
  private readonly pages: IntakePages;
  private last:
    | { readonly named: RecordFacts; readonly key: CaptureKey; readonly segment: number; end: number }
    | undefined;
  /** The capture before, where it was skipped. */
  private passed: { readonly facts: RecordFacts; readonly notes: Notes } | undefined;

  constructor(core: ArchiveCore, options: IntakeOptions) {
    this.core = core;
    this.options = options;
    this.rules = new Rules(options.policy);
    this.pages = new IntakePages(core, options.readmit);
  }

  begin(input: Input): void {
    this.source = new IntakeSource(this.core.disk, input);
    this.sourceNumber = 0;
    this.last = undefined;
    this.passed = undefined;
  }

  end(): void {
    for (const facts of this.held.splice(0)) this.keepNote(facts);
    this.counts.bytesKept += this.pages.take(this.source!.input, (facts) => this.beginSource(facts));
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
    else this.takeNote(facts);
  }

  /** Writes something; a record that cannot be taken is told of, and nothing of it stays. Entering it comes later. */
  private attempt<T>(facts: RecordFacts, write: () => T): T | undefined {
    const { segment } = this.core;
    const before = segment.positions;
    try {
      return write();
    } catch (error) {
      if (!(error instanceof ArchiveError) || !this.isOfRecord(error)) throw error;
      segment.undo(before);
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
    const found = this.find(facts);
    const fate = this.decide(facts, found);
    const heals = fate.kind !== "passed" && this.core.indexer.isKnown(facts, found);
    if (heals) this.core.indexer.standAlone(found.same!.row);
    const companions: RecordFacts[] = [];
    for (const note of held) {
      if (!belongsTo(note, facts)) this.keepNote(note);
      else if (!this.isKnownNote(note)) companions.push(note);
    }
    this.last = undefined;
    this.passed = fate.kind === "passed" ? { facts, notes: fate.notes } : undefined;
    if (fate.kind === "passed") {
      for (const note of companions) this.keepMissing(note, fate.notes);
      return;
    }
    this.beginSource(facts);
    const written = this.attempt(facts, () => this.write(facts, companions, fate));
    if (written === undefined) {
      for (const note of companions) this.keepNote(note);
      return;
    }
    const { place, before, why } = written;
    const kind: CaptureKind = why === "replaced" ? "replaced" : kindOf(facts);
    const request = companions.map((note) => requestFor(facts, note)).reduce(joinRequests, undefined);
    const entered = { kind, place, before, source: this.sourceNumber, request };
    const isOriginal = fate.kind === "kept" && fate.heals === true;
    // Before it is entered itself.
    if (heals) this.counts.healed++;
    else this.count(facts, fate, why);
    const key = this.core.indexer.enter(facts, entered, found, isOriginal);
    for (const note of companions) this.core.indexer.enterBeside(note, facts);
    this.last = { named: facts, key, segment: place.segment, end: place.offset + place.length };
    if (kind === "response" || kind === "resource") this.options.known.learn(facts, place);
  }

  /** What the archive has of it. One that was removed may come back. */
  private find(facts: RecordFacts): FoundSame {
    const { indexer } = this.core;
    const found = indexer.find(facts);
    const { same } = found;
    if (!this.options.readmit || same === undefined || !has(same.row, Flag.removed)) return found;
    const { date = "", id, capture } = facts;
    const { timeMs } = same;
    const mark = markText(markIn(same.key));
    const told = { url: same.row.url, date, ...((timeOfDate(date) ?? 0) === timeMs ? {} : { timeMs }) };
    indexer.untold.readmitted.captures.push({ ...told, sha256: capture!.sha256 ?? null, id: id ?? null, mark });
    indexer.readmit(same.key, same.row);
    return { ...found, same: undefined };
  }

  /** Writes a capture behind what belongs to it: as it is, or as a revisit if it is a duplicate; and why it is as it is. */
  private write(facts: RecordFacts, companions: readonly RecordFacts[], fate: Taken) {
    const isOdd = [facts, ...companions].some(({ odd }) => odd === true);
    const before = companions.reduce((sum, note) => sum + this.keep(note, sum > 0, isOdd).length, 0);
    const follows = before > 0;
    const revisit = fate.kind === "kept" ? fate.why : this.makeRevisit(facts, fate);
    if (typeof revisit === "string") return { place: this.keep(facts, follows, isOdd), before, why: revisit };
    const place = this.core.segment.append((sink) => sink.write(revisit), follows, isOdd);
    this.counts.bytesKept += place.length;
    return { place, before, why: "replaced" } as const;
  }

  private makeRevisit(facts: RecordFacts, { original, replaced }: Extract<Fate, { kind: "duplicate" }>) {
    return this.source!.revisit(facts, original, replaced, this.options.policy.minSaving === "none");
  }

  private count(facts: RecordFacts, fate: Taken, why: KeptWhy | "replaced"): void {
    const { counts } = this;
    const { capture, uri } = facts;
    counts.captures++;
    if (facts.type === "revisit") {
      counts.revisits++;
      return;
    }
    const hit = fate.kind === "duplicate" ? fate.hit : undefined;
    const bytes = capture!.payloadSize ?? 0;
    this.tally.add({ host: hostOf(archiveKey(uri)), mime: capture!.mime, bytes, hit, kept: why !== "replaced" });
    if (why === "new") counts.contents++;
    else if (why === "incomparable") counts.incomparable++;
    else countRepeated(counts, why);
    if (fate.kind !== "duplicate") return;
    counts.duplicates++;
    if (fate.original.uri === uri || this.isSeenAt(uri, capture!.sha256!)) counts.acrossTime++;
    else counts.acrossLocation++;
  }

  private isSeenAt(uri: string | undefined, sha256: string): boolean {
    const { catalogue } = this.core;
    for (const key of catalogue.seenAt(halfOf(sha256), archiveKey(uri))) {
      const row = catalogue.capture(key);
      if (row !== undefined && row.url === (uri ?? "") && !has(row, Flag.removed)) return true;
    }
    return false;
  }

  private decide(facts: RecordFacts, found: FoundSame): Fate {
    const { same, isTwice } = found;
    if (same !== undefined && has(same.row, Flag.removed)) {
      this.counts.removed++;
      return { kind: "passed", notes: "removed" };
    }
    const isKnown = this.core.indexer.isKnown(facts, found);
    if (isKnown) {
      const { isSound, notes } = this.readStored(same!.row);
      if (isSound) {
        this.counts.known++;
        return { kind: "passed", notes };
      }
    }
    if (same === undefined && isTwice)
      this.warn(facts, "HT_FIELD_INVALID", `${facts.id} is there already with another content; both are kept`);
    return this.findOriginal(facts, isKnown ? same!.row.place : undefined);
  }

  /** What lies in the archive of a capture and beside it, by reading it. */
  private readStored(row: CaptureRow): { readonly isSound: boolean; readonly notes: ReadonlySet<string> } {
    const { shelf, catalogue } = this.core;
    const isAdopted = catalogue.segment(row.place.segment)?.adopted !== undefined;
    const notes = new Set<string>();
    let isSound = false;
    for (const facts of readable(() => [...shelf.facts(row)]) ?? []) {
      if (facts.damaged === "cut" || (facts.damaged !== undefined && !isAdopted)) continue;
      if (facts.capture === undefined) notes.add(noteMark(facts));
      else isSound ||= this.isWhole(row, facts.capture);
    }
    return { isSound, notes };
  }

  /** Whether what was read is what the catalogue has of a capture; for one that became a revisit, whether its original is. */
  private isWhole(row: CaptureRow, capture: CaptureFacts): boolean {
    const { kind, payload } = row;
    return isAsEntered(row, capture) && (kind !== "replaced" || (payload !== undefined && this.isHeld(payload)));
  }

  private isHeld({ sha256, size }: Payload): boolean {
    const { known } = this.options;
    const isProven = (payload: HeldPayload | undefined) => payload !== undefined && known.prove(payload) !== undefined;
    return size === 0 || FRAMINGS.some((framing) => isProven(this.payload(sha256.toString("hex"), "", framing)));
  }

  private payload(sha256: string, uri: string, framing: Framing): HeldPayload | undefined {
    return this.options.known.payload({ by: "digest", digests: [`sha256:${sha256}`], uri, framing });
  }

  private warn({ offset }: RecordFacts, code: Warning["code"], message: string): void {
    this.core.onWarning({ code, message, file: this.source!.input.name, offset });
  }

  /** `broken` is where the archive has the record of its capture, and cannot read it. */
  private findOriginal(facts: RecordFacts, broken: RecordPlace | undefined): Fate {
    const { sha256, framing = "plain", payloadSize, truncated, short, segmented, mime, status } = facts.capture!;
    // What a 304 carries is not what its URL held.
    if (sha256 === undefined || status === 304) return kept("incomparable");
    const payload = this.payload(sha256, facts.uri ?? "", framing);
    if (payload === undefined) return kept("new");
    // In another framing it is no new content, but needs an original of its own.
    if (payload.framing !== framing) return kept("framing");
    if (broken !== undefined && isSamePlace(broken, payload.place)) return HEALING;
    if (!payload.isReferable) return kept("original-unfit");
    const original = this.options.known.prove(payload) === undefined ? undefined : payload.original;
    if (original === undefined) return HEALING;
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
    if (!this.rules.isInReach(original, candidate)) return kept("out-of-reach");
    const reason = this.rules.whyKept(original, candidate);
    if (reason !== undefined) return kept(reason);
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
    // One that tells a source, as other archives have them, must not be taken for one of ours: it stands by itself.
    if (sourceNumberOf(facts.uri) !== undefined) return this.keepNote(facts);
    if (passed !== undefined && belongsTo(facts, passed.facts)) {
      this.keepMissing(facts, passed.notes);
      return;
    }
    if (last !== undefined && belongsTo(facts, last.named)) {
      if (this.isKnownNote(facts)) return;
      const isOdd = isOddSegment(last.segment);
      // Only what stands right behind it can be found again with it.
      if (!this.core.segment.isEnd(last.segment, last.end) || (facts.odd === true && !isOdd)) {
        this.keepNote(facts);
        return;
      }
      const place = this.attempt(facts, () => this.keep(facts, true, isOdd));
      if (place === undefined) return;
      this.core.indexer.extend(last.key, place.length, requestFor(last.named, facts));
      this.core.indexer.enterBeside(facts, last.named);
      last.end += place.length;
      return;
    }
    this.held.push(facts);
    if (this.held.length > HELD_MAX) this.keepNote(this.held.shift()!);
  }

  /** One that belongs to no capture, or to one that went before: kept once. */
  private keepNote(facts: RecordFacts): void {
    const { indexer } = this.core;
    if (!this.isReadmitted(facts) && (indexer.hasNote(facts) || indexer.isOfRemoved(facts))) return;
    this.beginSource(facts);
    const place = this.attempt(facts, () => this.keep(facts, false, facts.odd === true));
    if (place !== undefined) indexer.enterNote(facts, place);
  }

  /** Whether a record is there by itself, or was removed and stays away. */
  private isKnownNote(note: RecordFacts): boolean {
    return this.core.indexer.hasApart(note) && !this.isReadmitted(note);
  }

  private isReadmitted(note: RecordFacts): boolean {
    return this.options.readmit && readmitNote(this.core, note);
  }

  /** Beside a capture that is skipped: kept unless it is there, or was removed with it. */
  private keepMissing(note: RecordFacts, notes: Notes): void {
    if (notes !== "removed" && !notes.has(noteMark(note))) this.keepNote(note);
  }

  /** See `ActiveSegment.append`. */
  private keep(facts: RecordFacts, follows: boolean, isOdd: boolean): RecordPlace {
    const place = this.append(facts, follows, isOdd);
    this.core.indexer.enterContinuation(facts, place);
    if (sourceNumberOf(facts.uri) === undefined || !this.isTakenForSource(place)) return place;
    // In another place it tells nothing.
    const { segment } = this.core;
    segment.undo(
      segment.positions.map((each) => (each?.number === place.segment ? { ...each, end: place.offset } : each)),
    );
    return this.append(facts, follows, isOdd);
  }

  private isTakenForSource(place: RecordPlace): boolean {
    const { shelf, settings } = this.core;
    return shelf.read(place, (record) => sourceIn(record, { ...place, archiveId: settings.id }, true)) !== undefined;
  }

  private append(facts: RecordFacts, follows: boolean, isOdd: boolean): RecordPlace {
    let isCopied = false;
    const place = this.core.segment.append(
      (sink) => {
        isCopied = this.source!.keep(facts, sink);
      },
      follows,
      isOdd,
    );
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
    let found: RecordFacts;
    try {
      found = this.core.shelf.read(place, (record) => factsOf(record, "", () => {}));
    } catch (error) {
      throw error instanceof ArchiveError && error.code === "HT_CORRUPT" ? fail() : error;
    }
    const [capture, wanted] = [found.capture, facts.capture];
    const isSame = PROVEN.every((name) => capture?.[name] === wanted?.[name]);
    if (!isSame || found.block !== facts.block) throw fail();
  }

  /** Before the first record of an input stands one that says where they come from. */
  private beginSource(facts: RecordFacts): void {
    if (this.sourceNumber > 0) return;
    const { catalogue, segment, shelf, clock } = this.core;
    this.sourceNumber = catalogue.nextSource();
    const { name } = this.source!.input;
    const crawl = this.options.crawl ?? crawlIn(this.core.disk, this.source!.input);
    const source = { name, addedMs: clock.now(), ...(crawl === undefined ? {} : { crawl }) };
    segment.beginSource(this.sourceNumber, source);
    catalogue.putSource(this.sourceNumber, source);
    const warcinfo = this.source!.arcWarcinfo(facts);
    if (warcinfo === undefined) return;
    const before = segment.positions;
    const place = segment.append((sink) => warcinfo.write(sink));
    const mark = shelf.read(place, (record) => noteMark(factsOf(record, "", () => {})));
    if (catalogue.hasNote(mark)) segment.undo(before);
    else catalogue.addNote(mark, "warcinfo");
  }

  [Symbol.dispose](): void {
    this.source?.[Symbol.dispose]();
  }
}

/** A digest of the chunked body as it is stored says nothing about an original that is cut otherwise. */
function mayKeepClaim({ capture }: RecordFacts, original: KnownOriginal): boolean {
  return capture!.claimsStored !== true || capture!.claim === original.claim;
}
