/**
 * Gives back the space of records that nothing leads to any more. Only segments are read of which the catalogue knows that
 * something was removed: of a large archive, to read all of it takes days. What is alive in a segment goes to the end of the
 * archive with the bytes that it has, the catalogue learns of its new place, and only then the segment goes. Killed at any
 * moment, it leaves at most records that are there twice, of which one counts.
 */
import { derivedId, type RecordFacts } from "../../pipeline/index.ts";
import { type ByteSink, unbracket } from "../../warc/index.ts";
import { noteMark } from "../catalogue/capture-key.ts";
import { DIGEST_HALF, isSamePlace, type Payload, type RecordPlace } from "../catalogue/capture-row.ts";
import { FRAMINGS } from "../catalogue/catalogue-keys.ts";
import type { ArchiveCore } from "../core/archive-core.ts";
import { isOddSegment, listSegments, segmentPath } from "../segments/segments.ts";
import { sourceIn, sourceNumberOf, tellsPlaced } from "../segments/source-record.ts";
import { enterContinuations, Heirs } from "./heirs.ts";
import { type Judged, SegmentJudge } from "./segment-judge.ts";

export interface CompactOptions {
  /** Segments of which less than this share is dead stay as they are; without it, those in which nothing is. */
  readonly deadShare?: number | undefined;
  /** Looks at every segment. */
  readonly all?: boolean | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

export interface CompactReport {
  readonly segments: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Bytes that nothing leads to, in segments that were left because there are few. */
  readonly bytesDead: number;
  /** Segments in which something cannot be read. What is not known to be removed is kept, as it is. */
  readonly damaged: readonly string[];
  /** Payloads that others share and that cannot be read: records of removed captures that hold them stay. */
  readonly stuck: number;
}

export function compactArchive(core: ArchiveCore, options: CompactOptions): CompactReport {
  return new Compaction(core, options).run();
}

class Compaction {
  private readonly core: ArchiveCore;
  private readonly options: CompactOptions;
  private readonly heirs: Heirs;
  private readonly judge: SegmentJudge;
  private readonly damaged = new Set<string>();

  constructor(core: ArchiveCore, options: CompactOptions) {
    this.core = core;
    this.options = options;
    this.heirs = new Heirs(core);
    this.judge = new SegmentJudge(core, this.heirs);
  }

  run(): CompactReport {
    try {
      return this.compact();
    } catch (error) {
      // Most often the disk is full, and copies of what is there would leave no room for anything.
      this.core.commits.takeBack(error);
      throw error;
    }
  }

  private compact(): CompactReport {
    const { core, options } = this;
    core.commits.commit();
    const bytesBefore = this.size();
    // What is copied goes to a segment that is not itself looked at.
    const there = listSegments(core.disk, core.paths.segments);
    const [orphan] = core.catalogue.orphaned();
    if (orphan !== undefined || there.some((number) => this.isWorthALook(number))) core.segment.turn();
    this.heirs.settle();
    core.commits.commit();
    const numbers = there.filter((number) => this.isWorthALook(number));
    let segments = 0;
    let bytesDead = 0;
    for (const [i, number] of numbers.entries()) {
      const { dead, all } = this.weigh(number);
      if (dead >= all * (options.deadShare ?? 0) && (dead > 0 || all === 0)) {
        if (this.move(number)) segments++;
      } else if (dead > 0) bytesDead += dead;
      else core.catalogue.markLoose(number, this.damaged.has(this.pathOf(number)));
      options.onProgress?.(i + 1, numbers.length);
    }
    core.commits.commit();
    core.commits.tidyTimeline(true);
    const { stuck } = this.heirs;
    return { segments, bytesBefore, bytesAfter: this.size(), bytesDead, damaged: [...this.damaged], stuck };
  }

  private isWorthALook(number: number): boolean {
    const { disk, catalogue } = this.core;
    return this.options.all === true || catalogue.isLoose(number) || disk.stat(this.pathOf(number))!.sizeBytes === 0;
  }

  private pathOf(number: number): string {
    return segmentPath(this.core.paths.segments, number);
  }

  private size(): number {
    const { disk, paths } = this.core;
    const sizes = listSegments(disk, paths.segments).map((number) => disk.stat(this.pathOf(number))!.sizeBytes);
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Bytes of records, and of those that nothing leads to. */
  private weigh(number: number): { readonly dead: number; readonly all: number } {
    let [dead, all] = [0, 0];
    const use = ({ from, to, isAlive, stale }: Judged) => {
      all += to - from;
      if (!isAlive || stale) dead += to - from;
    };
    this.judge.look(number, use, () => ([dead, all] = [0, 0]));
    if (!this.judge.isSound(number)) this.damaged.add(this.pathOf(number));
    return { dead, all };
  }

  /** Whether the segment is gone. */
  private move(number: number): boolean {
    const { core } = this;
    const { catalogue, disk, paths } = core;
    let hasRotted = false;
    this.judge.look(
      number,
      (judged) => this.carry(number, judged),
      () => (hasRotted = true),
    );
    core.commits.commit();
    if (hasRotted) return false;
    // Nothing may lead here any more; it is looked up once more, for a mistake would cost a capture.
    if (this.judge.isLedTo(number)) return false;
    // Its number is not given out again: who reads as of an earlier commit would take other records for those in it.
    const isOdd = isOddSegment(number);
    if (core.nextSegment(isOdd) === number + 1) core.segment.begin(isOdd);
    catalogue.leaveSegment(number);
    core.commits.commit();
    core.shelf.forget(number);
    disk.remove(this.pathOf(number));
    disk.syncFolder(paths.segments);
    catalogue.forgetSegment(number);
    return true;
  }

  private carry(number: number, judged: Judged): void {
    const { core } = this;
    const { from, isAlive, note, source, follows } = judged;
    if (note !== undefined) this.leave(number, note);
    if (!isAlive || (note !== undefined && (this.isWarcinfoOf(number, note) || this.isSource(number, note)))) return;
    if (!follows) this.tellSource(source);
    const rewritten = judged.stale ? this.heirs.rewrite(judged.captures[0]!, follows) : undefined;
    const place = rewritten?.place ?? this.copy(number, judged);
    if (note !== undefined && judged.isApart) core.indexer.enterNote(note, place);
    const { apart } = judged;
    if (apart !== undefined) core.catalogue.putApart(apart.mark, { ...apart.note, place });
    for (const { key, row } of judged.captures) {
      const { offset, length, inner } = row.place;
      const moved = { segment: place.segment, offset: place.offset + offset - from, length, inner };
      const now = rewritten ?? { kind: row.kind, place: moved };
      core.catalogue.putCapture(key, row, { ...row, ...now });
      this.follow(row.payload, row.place, now.place);
    }
    if (judged.original !== undefined) this.follow(judged.original, judged.place!, place);
    if (note !== undefined) core.indexer.enterContinuation(note, place);
    else if (judged.captures.length === 0) enterContinuations(core, place);
    core.commits.whereDue();
  }

  private copy(number: number, { from, to, note, follows }: Judged): RecordPlace {
    const { segment, shelf } = this.core;
    const isOdd = isOddSegment(number);
    const { positions } = segment;
    const write = (sink: ByteSink) => {
      for (const piece of shelf.raw(number, from, to)) sink.write(piece);
    };
    const place = segment.append(write, follows, isOdd);
    if (sourceNumberOf(note?.uri) === undefined || !this.isSource(place.segment, { ...note!, ...place })) return place;
    // One that came with the segments of others says that it lies here; in another place it says nothing.
    segment.undo(positions);
    return segment.append(write, follows, isOdd);
  }

  /** A note that stands by itself is not here any more. */
  private leave(number: number, note: RecordFacts): void {
    const { catalogue } = this.core;
    const mark = noteMark(note);
    const { origin, number: nth } = note.continuation ?? {};
    if (origin !== undefined) catalogue.dropContinuation(origin, nth!, mark, { segment: number, offset: note.offset });
    const { segment, offset } = catalogue.apart(mark, note.uri)?.place ?? {};
    if (segment === number && offset === note.offset) catalogue.dropApart(mark, note.uri);
  }

  /** What holds a payload has moved. */
  private follow(payload: Pick<Payload, "sha256"> | undefined, from: RecordPlace, to: RecordPlace): void {
    if (payload === undefined) return;
    const { catalogue } = this.core;
    const digest = payload.sha256.subarray(0, DIGEST_HALF);
    for (const framing of FRAMINGS) {
      const original = catalogue.original(digest, framing);
      if (original !== undefined && isSamePlace(original.place, from))
        catalogue.putOriginal(digest, framing, original, { ...original, place: to }, true);
    }
  }

  /** Records of several sources come together in the new segment, each behind the record of its own. */
  private tellSource(number: number | undefined): void {
    const { catalogue, segment } = this.core;
    const row = number === undefined ? undefined : catalogue.source(number);
    if (row !== undefined) segment.beginSource(number!, row);
  }

  /** Whether it is one of ours, which is written again where something of its source is left. */
  private isSource(segment: number, { uri, offset, length = 0 }: RecordFacts): boolean {
    if (sourceNumberOf(uri) === undefined) return false;
    const { shelf, settings } = this.core;
    const isPlaced = shelf.first(segment, tellsPlaced) === true;
    const place = { segment, offset, length, inner: 0 };
    return (
      shelf.read(place, (record) => sourceIn(record, { archiveId: settings.id, ...place }, isPlaced)) !== undefined
    );
  }

  /** What stands in front of a segment says nothing in another one. */
  private isWarcinfoOf(number: number, { id }: RecordFacts): boolean {
    return id === unbracket(derivedId("segment", this.core.settings.id, String(number)));
  }
}
