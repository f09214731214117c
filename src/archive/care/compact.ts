/**
 * Gives back the space of records that nothing leads to any more. Only segments are read of which the catalogue knows that
 * something was removed: of a large archive, to read all of it takes days. What is alive in a segment goes to the end of the
 * archive with the bytes that it has, the catalogue learns of its new place, and only then the segment goes. Killed at any
 * moment, it leaves at most records that are there twice, of which one counts.
 */
import { derivedId, type RecordFacts, readFacts } from "../../pipeline/index.ts";
import { unbracket, WarcReader } from "../../warc/index.ts";
import { archiveKey } from "../catalogue/capture-key.ts";
import { DIGEST_HALF, Flag, has, type RecordPlace } from "../catalogue/capture-row.ts";
import { type Framing } from "../catalogue/catalogue-keys.ts";
import { type FoundCapture } from "../catalogue/catalogue-view.ts";
import type { ArchiveCore } from "../core/archive-core.ts";
import { belongsTo } from "../segments/companions.ts";
import { listSegments, openArchive, segmentInput, segmentPath } from "../segments/segments.ts";
import { sourceNumberOf } from "../segments/source-record.ts";

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
  /** Segments that are damaged, and were left as they are. */
  readonly damaged: readonly string[];
}

/** A record of a segment, and what of the catalogue leads to it. */
interface Judged {
  readonly facts: RecordFacts;
  readonly isAlive: boolean;
  /** Whether what belongs to it is. */
  readonly isKept: boolean;
  readonly captures: readonly FoundCapture[];
  readonly isOriginal: boolean;
  /** Of its capture, if that is known. */
  readonly source: number | undefined;
  /** It belongs together with the record before it, and stays right behind that. */
  readonly follows: boolean;
}

export function compactArchive(core: ArchiveCore, options: CompactOptions): CompactReport {
  return new Compaction(core, options).run();
}

class Compaction {
  private readonly core: ArchiveCore;
  private readonly options: CompactOptions;
  private readonly damaged = new Set<string>();

  constructor(core: ArchiveCore, options: CompactOptions) {
    this.core = core;
    this.options = options;
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
    const numbers = listSegments(core.disk, core.paths.segments).filter((number) => this.isWorthALook(number));
    if (numbers.length > 0) core.segment.turn();
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
    return { segments, bytesBefore, bytesAfter: this.size(), bytesDead, damaged: [...this.damaged] };
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

  /** Bytes of records, and of those that nothing leads to; of a damaged segment it is not known. */
  private weigh(number: number): { readonly dead: number; readonly all: number } {
    let [dead, all] = [0, 0];
    const isSound = this.judge(number, ({ facts, isAlive }) => {
      all += facts.length!;
      if (!isAlive) dead += facts.length!;
    });
    return isSound ? { dead, all } : { dead: 0, all: Number.POSITIVE_INFINITY };
  }

  /** Whether every byte of the segment belongs to a record that is whole. Only then it may go. */
  private judge(number: number, use: (judged: Judged) => void): boolean {
    const path = this.pathOf(number);
    const { source } = openArchive(this.core.disk, segmentInput(path, 0));
    let isSound = true;
    let end = 0;
    const reader = new WarcReader(source, { onWarning: () => {} });
    let last: Judged | undefined;
    let lastEnd = 0;
    let held: RecordFacts[] = [];
    const useNote = (facts: RecordFacts, capture: Judged | undefined, follows: boolean) => {
      const { isKept = true, source } = capture ?? {};
      use({ facts, isAlive: isKept, isKept, captures: [], isOriginal: false, source, follows });
    };
    /** Whether what comes next follows one of them. */
    const release = (capture: Judged | undefined): boolean => {
      let follows = false;
      for (const facts of held) {
        const belongs = capture !== undefined && belongsTo(facts, capture.facts);
        useNote(facts, belongs ? capture : undefined, belongs && follows);
        follows = belongs;
      }
      held = [];
      return follows;
    };
    try {
      for (const facts of readFacts(reader, "")) {
        isSound = facts.damaged === undefined && facts.length !== undefined && facts.offset === end;
        if (!isSound) break;
        end += facts.length!;
        if (facts.capture !== undefined) {
          last = this.judgeCapture(number, facts);
          use({ ...last, follows: release(last) });
          lastEnd = end;
        } else if (last !== undefined && lastEnd === facts.offset && belongsTo(facts, last.facts)) {
          useNote(facts, last, last.isAlive);
          lastEnd = end;
        } else held.push(facts);
      }
      isSound &&= end === source.size;
      release(undefined);
    } finally {
      reader.close();
      source.close?.();
    }
    if (!isSound) this.damaged.add(path);
    return isSound;
  }

  private judgeCapture(number: number, facts: RecordFacts): Judged {
    const { catalogue } = this.core;
    const isHere = (place: RecordPlace) => place.segment === number && place.offset === facts.offset;
    const there = catalogue.at(archiveKey(facts.uri), facts.timeMs ?? 0);
    const captures = there.filter(({ row }) => isHere(row.place) && !has(row, Flag.removed));
    const original = this.originalOf(facts, captures);
    const isOriginal = original !== undefined && isHere(original.row.place);
    const source = captures[0]?.row.source;
    const { same } = this.core.indexer.find(facts);
    const isThere = same !== undefined && !has(same.row, Flag.removed);
    // One that lies in a file of others, too, may go with that.
    const isCovered = isThere && catalogue.segment(same.row.place.segment)?.adopted !== undefined;
    const isAlive = captures.length > 0 || isOriginal || isCovered;
    // Of one that is there in another place or as another record, what belongs to it may be new.
    const isKept = isAlive || isThere;
    return { facts, isAlive, isKept, captures, isOriginal, source, follows: false };
  }

  private originalOf({ capture }: RecordFacts, captures: readonly FoundCapture[]) {
    if (capture?.sha256 === undefined) return undefined;
    // Of a segmented capture the record has a part.
    const whole = captures.find(({ row }) => has(row, Flag.segmented))?.row.payload;
    const sha256 = whole?.sha256 ?? Buffer.from(capture.sha256, "hex");
    const framing: Framing = capture.framing ?? "plain";
    const digest = sha256.subarray(0, DIGEST_HALF);
    const row = this.core.catalogue.original(digest, framing);
    return row && { digest, framing, row };
  }

  /** Whether the segment is gone. */
  private move(number: number): boolean {
    const { core } = this;
    const { catalogue, disk, paths } = core;
    const isSound = this.judge(number, (judged) => this.carry(number, judged));
    if (!isSound) return false;
    core.commits.commit();
    // Nothing may lead here any more; it is looked up once more, for a mistake would cost a capture.
    let isLedTo = false;
    this.judge(number, ({ captures, isOriginal }) => {
      isLedTo ||= captures.length > 0 || isOriginal;
    });
    if (isLedTo) return false;
    // Its number is not given out again: who reads as of an earlier commit would take other records for those in it.
    if (core.nextSegment() === number + 1) core.segment.begin();
    catalogue.putSegment(number, undefined);
    catalogue.markLoose(number, false);
    core.commits.commit();
    core.shelf.forget(number);
    disk.remove(this.pathOf(number));
    disk.syncFolder(paths.segments);
    return true;
  }

  private carry(number: number, { facts, isAlive, captures, isOriginal, source, follows }: Judged): void {
    if (!isAlive || this.isWarcinfoOf(number, facts) || this.isSource(facts)) return;
    const { core } = this;
    if (!follows) this.tellSource(source);
    const place = core.segment.append((sink) => {
      for (const piece of core.shelf.raw(number, facts.offset, facts.offset + facts.length!)) sink.write(piece);
    }, follows);
    for (const { key, row } of captures) core.catalogue.putCapture(key, row, { ...row, place });
    const original = isOriginal ? this.originalOf(facts, captures) : undefined;
    if (original !== undefined) {
      const { digest, framing, row } = original;
      core.catalogue.putOriginal(digest, framing, row, { ...row, place }, true);
    }
    core.indexer.enterContinuation(facts, place);
    core.commits.whereDue();
  }

  /** Records of several sources come together in the new segment, each behind the record of its own. */
  private tellSource(number: number | undefined): void {
    const { catalogue, segment } = this.core;
    const row = number === undefined ? undefined : catalogue.source(number);
    if (row !== undefined) segment.beginSource(number!, row);
  }

  /** It is written anew, where something of its source is left. */
  private isSource({ uri }: RecordFacts): boolean {
    const number = sourceNumberOf(uri);
    return number !== undefined && this.core.catalogue.source(number) !== undefined;
  }

  /** What stands in front of a segment says nothing in another one. */
  private isWarcinfoOf(number: number, { id }: RecordFacts): boolean {
    return id === unbracket(derivedId("segment", this.core.settings.id, String(number)));
  }
}
