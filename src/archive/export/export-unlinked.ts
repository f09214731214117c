/**
 * Records that go out with no capture: what says how files were made (`warcinfo`), requests and metadata that stand by
 * themselves, conversions, continuations of records that are not there. They are found by reading the segments, since
 * nothing in the catalogue leads to them. What belongs to a capture that was removed is not among them.
 */
import { ArchiveError, type ErrorCode, type Warning } from "../../base/index.ts";
import { damageOf, derivedId, factsOf, namedBy } from "../../pipeline/index.ts";
import { unbracket, WarcReader, type WarcRecord } from "../../warc/index.ts";
import type { Snapshot } from "../asking/snapshot.ts";
import { archiveKey, FIRST_MS, idMark, idMarkIn, LAST_MS, noteMark } from "../catalogue/capture-key.ts";
import { Flag, has, type RecordPlace } from "../catalogue/capture-row.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import { belongsTo, type Named } from "../segments/companions.ts";
import { type PageLine, pageIn } from "../segments/page-record.ts";
import { sourceIn, sourceNumberOf, tellsPlaced } from "../segments/source-record.ts";

export interface UnlinkedRecord extends Named {
  readonly type: string;
  readonly uri: string | undefined;
  readonly timeMs: number | undefined;
  /** The line of a list of pages, and the file that it came with; it may stand beside a capture all the same. */
  readonly page: { readonly line: PageLine; readonly source: string; readonly goesWithCapture: boolean } | undefined;
  readonly place: RecordPlace;
  /** It cannot be read to its end. */
  readonly damage: { readonly code: ErrorCode; readonly message: string } | undefined;
}

const CAPTURES = new Set(["response", "resource", "revisit"]);
/** As many stand before their capture at most; see `Intake`. */
const HELD_MAX = 256;

export interface UnlinkedParts {
  readonly pause: (bytes: number) => Promise<void>;
  /** A segment is not there, or nothing in it can be read. */
  readonly onUnreadable: (segment: number, error: ArchiveError) => void;
}

const UNREADABLE = new Set<ErrorCode>(["HT_LOST", "HT_FORMAT_UNKNOWN"]);

export class UnlinkedRecords {
  private readonly archive: Snapshot;
  private readonly parts: UnlinkedParts;

  constructor(archive: Snapshot, parts: UnlinkedParts) {
    this.archive = archive;
    this.parts = parts;
  }

  /** In the order of the segments. */
  async *[Symbol.asyncIterator](): AsyncGenerator<UnlinkedRecord> {
    for (const { number } of this.archive.catalogue.segments()) {
      try {
        yield* this.inSegment(number);
      } catch (error) {
        if (!(error instanceof ArchiveError) || !UNREADABLE.has(error.code)) throw error;
        this.parts.onUnreadable(number, error);
      }
    }
  }

  /** Whether it is a record that was removed by itself, and that is there until the next compaction. */
  private isRemoved(record: WarcRecord, segment: number): boolean {
    const { shelf, catalogue } = this.archive;
    if (catalogue.state.journal === 0 || CAPTURES.has(record.type)) return false;
    const name = shelf.nameOf(segment).replace(/^.*[/!]/, "");
    return catalogue.isRemovedNote(noteMark(factsOf(record, name, () => {})));
  }

  private async *inSegment(segment: number): AsyncGenerator<UnlinkedRecord> {
    const { shelf, catalogue } = this.archive;
    const { adopted, end } = catalogue.segment(segment)!;
    const { source } = shelf.openFile(segment);
    let damage: Warning | undefined;
    const reader = new WarcReader(source, {
      onWarning: (warning) => {
        if (damageOf([warning]) === "cut") damage ??= warning;
      },
    });
    try {
      const walk = new Walk(this.archive, segment);
      for (let record = reader.next(); record !== undefined; record = reader.next()) {
        if (adopted === undefined && record.offset >= end) break;
        if (adopted === undefined && walk.isOurs(record)) continue;
        const page = pageIn(record);
        if (this.isRemoved(record, segment)) continue;
        record.drain();
        const found = damage;
        damage = undefined;
        yield* walk.take(record, page, found);
        await this.parts.pause(record.length ?? 0);
      }
      yield* walk.end();
    } finally {
      reader.close();
      source.close?.();
    }
  }
}

/** The records of one segment, of which those are passed on that no capture takes along. */
class Walk {
  private readonly archive: Snapshot;
  private readonly segment: number;
  private held: UnlinkedRecord[] = [];
  /** Up to here records go out with the capture before. */
  private coveredTo = 0;
  /** The name of the file that records come from. */
  private source = "";
  /** The capture before, where it was removed. */
  private removed: Named | undefined;

  constructor(archive: Snapshot, segment: number) {
    this.archive = archive;
    this.segment = segment;
  }

  *take(record: WarcRecord, line: PageLine | undefined, damage: Warning | undefined): Generator<UnlinkedRecord> {
    if (CAPTURES.has(record.type)) {
      yield* this.takeCapture(record);
      return;
    }
    const { offset, inner = 0, length = 0, id, type, uri, timeMs } = record;
    if (offset < this.coveredTo && line === undefined) return;
    const place = { segment: this.segment, offset, length, inner };
    const page = line && { line, source: this.source, goesWithCapture: offset < this.coveredTo };
    const unlinked = { id, with: namedBy(record), type, uri, timeMs, page, place, damage };
    if (this.removed !== undefined && belongsTo(unlinked, this.removed)) return;
    if (this.continues(unlinked)) return;
    this.held.push(unlinked);
    if (this.held.length > HELD_MAX) yield this.held.shift()!;
  }

  private *takeCapture(record: WarcRecord): Generator<UnlinkedRecord> {
    const { id, offset, inner = 0, length = 0, uri, timeMs } = record;
    const named = { id, with: namedBy(record) };
    const there = this.archive.catalogue.at(archiveKey(uri), timeMs ?? 0);
    const isHere = ({ row: { place } }: FoundCapture) =>
      place.segment === this.segment && place.offset === offset && place.inner === inner;
    const here = there.find((found) => !has(found.row, Flag.removed) && isHere(found));
    const same = there.filter(({ key }) => idMarkIn(key) === idMark(id));
    const isRemoved = here === undefined && same.length > 0 && same.every(({ row }) => has(row, Flag.removed));
    this.removed = isRemoved ? named : undefined;
    const from = offset - (here?.row.before ?? 0);
    if (here !== undefined) this.coveredTo = offset + length + here.row.after;
    for (const each of this.held.splice(0)) {
      const goesWithCapture = here !== undefined && each.place.offset >= from;
      if (isRemoved && belongsTo(each, named)) continue;
      if (!goesWithCapture) yield each;
      else if (each.page !== undefined) yield { ...each, page: { ...each.page, goesWithCapture } };
    }
  }

  *end(): Generator<UnlinkedRecord> {
    yield* this.held.splice(0);
  }

  /** Whether a capture takes it along as one of its segments. */
  private continues({ type, uri, with: names = [] }: UnlinkedRecord): boolean {
    if (type !== "continuation" || uri === undefined) return false;
    const marks = names.map(idMark);
    return [...this.archive.catalogue.captures(archiveKey(uri), FIRST_MS, LAST_MS)].some(
      ({ key, row }) => has(row, Flag.segmented) && marks.includes(idMarkIn(key)),
    );
  }

  /** What stands in our segments for ourselves: their beginnings, and where records come from. */
  isOurs(record: WarcRecord): boolean {
    const { settings, shelf } = this.archive;
    const { segment } = this;
    if (record.id === unbracket(derivedId("segment", settings.id, String(segment)))) return true;
    if (sourceNumberOf(record.uri) === undefined) return false;
    const isPlaced = shelf.first(segment, tellsPlaced) === true;
    const source = sourceIn(record, { archiveId: settings.id, segment, offset: record.offset }, isPlaced);
    this.source = source?.row.name ?? this.source;
    return source !== undefined;
  }
}
