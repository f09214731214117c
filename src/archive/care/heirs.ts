/**
 * Payloads that outlive the record that held them. The earliest capture that stays becomes the record: the revisit that we
 * wrote in its place is undone, from the old record and proven by its digest. Revisits that we wrote to the old record are
 * written again to the new one. Revisits of others stay as they came.
 */
import { ArchiveError, type ErrorCode, formatDigest } from "../../base/index.ts";
import { timeOfDate } from "../../dedup/index.ts";
import {
  factsOf,
  type OwnRevisit,
  parseReplaced,
  type RecordFacts,
  RecordHasher,
  restoredBlock,
  restoredHead,
} from "../../pipeline/index.ts";
import {
  type ByteSink,
  HTTP_HEAD_SIZE_MAX,
  hasReadableSize,
  payloadOf,
  referringTo,
  WarcWriter,
} from "../../warc/index.ts";
import { OriginalReferences } from "../adding/original-references.ts";
import { archiveKey, idMark, markIn, timeOf, urlKeyOf } from "../catalogue/capture-key.ts";
import {
  type CaptureKind,
  DIGEST_HALF,
  Flag,
  has,
  isHolder,
  isSamePlace,
  type OriginalRow,
  type RecordPlace,
} from "../catalogue/capture-row.ts";
import type { Framing } from "../catalogue/catalogue-keys.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import type { ArchiveCore } from "../core/archive-core.ts";
import { mayBeReferredTo } from "../entering/payloads.ts";
import { isOddSegment, readable } from "../segments/segments.ts";

/** So many payloads, and so many captures of one, are looked at before others are looked up. */
const BATCH = 1000;

const UNREADABLE = new Set<ErrorCode>(["HT_CORRUPT", "HT_LOST", "HT_VERIFY"]);

/** What a capture is and where, once it was written again. */
interface Rewritten {
  readonly kind: CaptureKind;
  readonly place: RecordPlace;
}

export class Heirs {
  private readonly core: ArchiveCore;
  private readonly references: OriginalReferences;
  /** Payloads for which no capture can take over, since something cannot be read: their records stay. */
  stuck = 0;

  constructor(core: ArchiveCore) {
    this.core = core;
    this.references = new OriginalReferences(core.shelf, false);
  }

  /** Finds an heir for every payload that needs one. Segments with revisits to the old records are then to be compacted. */
  settle(): void {
    const { catalogue, commits } = this.core;
    for (let behindKey: string | undefined; ; ) {
      const batch = firstOf(catalogue.orphaned(behindKey), BATCH);
      if (batch.length === 0) return;
      for (const { digest, framing } of batch) {
        this.settleOne(digest, framing);
        commits.whereDue();
      }
      behindKey = batch.at(-1)!.key;
    }
  }

  private settleOne(digest: Buffer, framing: Framing): void {
    const { catalogue } = this.core;
    const original = catalogue.original(digest, framing);
    let isStuck = false;
    let heir: RecordPlace | undefined;
    let lesser: RecordPlace | undefined;
    for (const found of original === undefined ? [] : this.holders(digest)) {
      const { row } = found;
      if (isSamePlace(row.place, original!.place)) heir = row.place;
      else if (row.kind === "replaced") heir = this.promote(found, framing, original!, () => (isStuck = true));
      else {
        const own = this.ownRecord(found, framing, () => (isStuck = true));
        if (own === true) heir = row.place;
        else if (own === false) lesser ??= row.place;
      }
      if (heir !== undefined) break;
    }
    if (heir === undefined && isStuck) {
      this.stuck++;
      return;
    }
    catalogue.markOrphaned(digest, framing, false);
    if (original === undefined) return;
    if (heir === undefined && lesser !== undefined) {
      catalogue.putOriginal(digest, framing, original, { ...original, place: lesser, isReferable: false }, true);
      return;
    }
    if (heir === undefined) {
      // Those who have it have it in the other framing, and refer to that.
      catalogue.dropOriginal(digest, framing);
      return;
    }
    catalogue.putOriginal(digest, framing, original, { ...original, place: heir, isHeld: true }, true);
    this.markReferring(digest);
  }

  /** The captures that have a payload by themselves, the earliest first. */
  private *holders(digest: Buffer): Generator<FoundCapture> {
    for (let last: FoundCapture | undefined; ; ) {
      let earliest: FoundCapture[] = [];
      for (const key of this.core.catalogue.seen(digest)) {
        const found = this.core.catalogue.found(key)!;
        if (!isHolder(found.row) || (last !== undefined && inOrder(found, last) <= 0)) continue;
        earliest.push(found);
        if (earliest.length >= 2 * BATCH) earliest = earliest.sort(inOrder).slice(0, BATCH);
      }
      if (earliest.length === 0) return;
      earliest = earliest.sort(inOrder).slice(0, BATCH);
      yield* earliest;
      last = earliest.at(-1);
    }
  }

  /** Whether others may refer to the record of a capture; absent where it does not hold its payload in this framing. */
  private ownRecord({ row }: FoundCapture, framing: Framing, onStuck: () => void): boolean | undefined {
    const facts = readable(() => this.core.shelf.read(row.place, (record) => factsOf(record, "", () => {})));
    // Of one that cannot be read nobody knows its framing.
    if (facts === undefined) onStuck();
    const isHeir = facts?.capture !== undefined && (facts.capture.framing ?? "plain") === framing;
    return isHeir ? mayBeReferredTo(facts) : undefined;
  }

  /** Writes the record that a revisit of ours stands for, with what stands around it; absent where that is not possible. */
  private promote(
    found: FoundCapture,
    framing: Framing,
    original: OriginalRow,
    onStuck: () => void,
  ): RecordPlace | undefined {
    const { catalogue, segment, shelf } = this.core;
    const { key, row } = found;
    const revisit = readable(() => this.readRevisit(row.place));
    if (revisit === undefined) onStuck();
    if (revisit === undefined || framingOf(revisit) !== framing) return undefined;
    const { segment: from, offset, length } = row.place;
    const { positions } = segment;
    const isOdd = isOddSegment(from);
    const copy = (start: number, end: number, follows: boolean) =>
      void segment.append(
        (sink) => {
          for (const piece of shelf.raw(from, start, end)) sink.write(piece);
        },
        follows,
        isOdd,
      );
    const place = unlessUnreadable(() => {
      const source = catalogue.source(row.source);
      if (source !== undefined) segment.beginSource(row.source, source);
      if (row.before > 0) copy(offset - row.before, offset, false);
      const written = this.restore(revisit, original.place, row.before > 0, isOdd);
      if (row.after > 0) copy(offset + length, offset + length + row.after, true);
      return written;
    });
    if (place === undefined) {
      segment.undo(positions);
      onStuck();
      return undefined;
    }
    catalogue.putCapture(key, row, { ...row, kind: kindOf(revisit), place });
    catalogue.markLoose(from);
    const { before, after } = row;
    for (const [start, size] of [
      [place.offset - before, before],
      [place.offset + place.length, after],
    ] as const)
      if (size > 0) enterContinuations(this.core, { ...place, offset: start, length: size });
    return place;
  }

  private readRevisit(place: RecordPlace): OwnRevisit | undefined {
    return this.core.shelf.read(place, (record) => {
      const { text } = record.headers;
      const replaced = parseReplaced(text);
      if (replaced === undefined || (record.blockSize ?? 0) > HTTP_HEAD_SIZE_MAX) return undefined;
      return { text, http: Buffer.from(record.readAll(HTTP_HEAD_SIZE_MAX)), replaced };
    });
  }

  /** HT_VERIFY where the record is not what it was. */
  private restore(revisit: OwnRevisit, original: RecordPlace, follows: boolean, isOdd: boolean): RecordPlace {
    const { segment, shelf } = this.core;
    const read = <T>(use: (block: Iterable<Uint8Array>) => T) =>
      shelf.read(original, (record) => use(restoredBlock(revisit, payloadOf(record).chunks)));
    const { head } = read((block) => restoredHead(revisit, block));
    const write = (sink: ByteSink) => {
      const hasher = new RecordHasher(head);
      read((block) => new WarcWriter(sink).writeStream(head, hasher.pass(block)));
      if (hasher.finish() === formatDigest(revisit.replaced.digest)) return;
      const file = shelf.nameOf(original.segment);
      const message = `${file}:${original.offset}: a record cannot be put together again from this one`;
      throw new ArchiveError("HT_VERIFY", message, { file, offset: original.offset });
    };
    return segment.append(write, follows, isOdd);
  }

  private markReferring(digest: Buffer): void {
    const { catalogue } = this.core;
    for (const key of catalogue.seen(digest)) {
      const row = catalogue.capture(key);
      if (row?.kind === "replaced") catalogue.markLoose(row.place.segment);
    }
  }

  /** Whether a revisit that we wrote refers to a record that is not there any more, and can refer to another. */
  isStale({ key, row }: FoundCapture, { capture }: RecordFacts): boolean {
    const { refersTo } = capture!;
    if (row.kind !== "replaced" || row.payload === undefined || refersTo?.uri === undefined) return false;
    const { catalogue } = this.core;
    const timeMs = timeOfDate(refersTo.date ?? "");
    const isNamed = (found: FoundCapture) =>
      found.key !== key &&
      !has(found.row, Flag.removed) &&
      (found.row.kind === "response" || found.row.kind === "resource") &&
      found.row.payload?.sha256.equals(row.payload!.sha256) === true &&
      (refersTo.id === undefined || markIn(found.key).startsWith(idMark(refersTo.id)));
    if (timeMs !== undefined && catalogue.at(archiveKey(refersTo.uri), timeMs).some(isNamed)) return false;
    return catalogue.anyOriginal(row.payload.sha256.subarray(0, DIGEST_HALF)) !== undefined;
  }

  /**
   * Writes a revisit of ours again, to the record that holds its payload now; or as the record that it stands for, where it
   * may not refer to that. Absent where neither can be.
   */
  rewrite({ key, row }: FoundCapture, follows: boolean): Rewritten | undefined {
    const { catalogue, segment } = this.core;
    const isOdd = isOddSegment(row.place.segment);
    const revisit = readable(() => this.readRevisit(row.place));
    if (revisit === undefined) return undefined;
    const digest = row.payload!.sha256.subarray(0, DIGEST_HALF);
    const original = catalogue.original(digest, framingOf(revisit)) ?? catalogue.anyOriginal(digest);
    if (original === undefined) return undefined;
    const head = this.headFor({ key, row }, revisit, original);
    if (head !== undefined) {
      const block = revisit.http.toString("latin1");
      const place = segment.append((sink) => new WarcWriter(sink).writeSmall({ head, block }), follows, isOdd);
      return { kind: row.kind, place };
    }
    const place = unlessUnreadable(() => this.restore(revisit, original.place, follows, isOdd));
    return place && { kind: kindOf(revisit), place };
  }

  /** Absent where it may not refer to this original: see docs/format/revisit.md, "Invariants". */
  private headFor(
    { key, row }: Pick<FoundCapture, "key" | "row">,
    revisit: OwnRevisit,
    original: OriginalRow,
  ): string | undefined {
    const reference = original.isReferable ? this.references.of(original.place, row.payload!.sha256) : undefined;
    if (reference === undefined) return undefined;
    const timeMs = timeOfDate(reference.date) ?? 0;
    const isSameSecond = Math.floor(timeMs / 1000) === Math.floor(timeOf(key) / 1000);
    if (isSameSecond && archiveKey(reference.uri) === urlKeyOf(key)) return undefined;
    // A digest of the body as it was stored may not fit one that is cut otherwise.
    const isChunked = revisit.replaced.chunks !== undefined;
    if (isChunked && row.claim !== undefined && row.claim !== reference.claim) return undefined;
    const head = referringTo(revisit.text, reference);
    return hasReadableSize({ head, block: "" }) ? head : undefined;
  }
}

/** Continuations among records that were carried to these bytes of a segment. */
export function enterContinuations({ shelf, indexer }: ArchiveCore, bytes: RecordPlace): void {
  for (const facts of readable(() => [...shelf.facts({ place: bytes, before: 0, after: 0 })]) ?? []) {
    const { offset, length = 0 } = facts;
    indexer.enterContinuation(facts, { ...bytes, offset: bytes.offset + offset, length });
  }
}

/** Absent where a record cannot be read, or is not what it was. What fails otherwise, fails. */
function unlessUnreadable<T>(write: () => T): T | undefined {
  try {
    return write();
  } catch (error) {
    if (error instanceof ArchiveError && UNREADABLE.has(error.code)) return undefined;
    throw error;
  }
}

/** Of the record that it stands for. */
function kindOf({ replaced }: OwnRevisit): CaptureKind {
  return replaced.type.toLowerCase() === "resource" ? "resource" : "response";
}

function framingOf({ replaced }: OwnRevisit): Framing {
  return replaced.chunks === undefined ? "plain" : "chunked";
}

function inOrder(one: FoundCapture, other: FoundCapture): number {
  return one.timeMs - other.timeMs || (one.key < other.key ? -1 : one.key > other.key ? 1 : 0);
}

export function firstOf<T>(items: Iterable<T>, count: number): T[] {
  const first: T[] = [];
  for (const item of items) {
    if (first.length === count) break;
    first.push(item);
  }
  return first;
}
