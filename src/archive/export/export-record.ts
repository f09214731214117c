/**
 * Writes captures of an archive as gzip members that need no others than those of the same export. A record goes over
 * with the bytes that it has where that can be; a revisit stays one as long as what it refers to goes over too, and is
 * the record that it stands for otherwise. What belongs to a capture goes with it.
 */
import { ArchiveError, createHasher, formatDigest, formatPlace } from "../../base/index.ts";
import { timeOfDate } from "../../dedup/index.ts";
import type { ByteSink, Disk } from "../../disk/index.ts";
import {
  Expansion,
  type OwnRevisit,
  parseReplaced,
  RecordHasher,
  readFacts,
  restoredBlock,
  restoredHead,
} from "../../pipeline/index.ts";
import {
  HTTP_HEAD_SIZE_MAX,
  referringTo,
  refersToOf,
  WarcReader,
  type WarcRecord,
  WarcWriter,
} from "../../warc/index.ts";
import { IntakeSource } from "../adding/intake-source.ts";
import type { Snapshot } from "../asking/snapshot.ts";
import { archiveKey } from "../catalogue/capture-key.ts";
import {
  type CaptureRow,
  DIGEST_HALF,
  Flag,
  has,
  type OriginalRow,
  type Payload,
  type RecordPlace,
} from "../catalogue/capture-row.ts";
import { type FoundCapture } from "../catalogue/catalogue-view.ts";
import { continuationsOf, wholePayloadOf } from "../segments/continuations.ts";
import { adoptedInput, segmentInput } from "../segments/segments.ts";
import { RestoredFirsts } from "./export-firsts.ts";
import type { SelectedCapture, SelectedCaptures } from "./export-selection.ts";

/**
 * What a capture became: the record that it was; a revisit, as it was; the record that a revisit of ours stands for; the
 * response that another revisit stands for; or a revisit whose original is not in the archive.
 */
export type ExportFate = "record" | "revisit" | "restored" | "expanded" | "orphan";

/** A larger payload is not held, but read as often as it is needed. */
const HELD_SIZE_MAX = 8 << 20;
const OPEN_MAX = 16;

/** The payload of an original, and what its record says. */
interface Original {
  readonly uri: string;
  readonly date: string;
  /** Pieces are valid until the next one is asked for. */
  readonly chunks: Iterable<Uint8Array>;
}

interface ReadRevisit {
  /** Its body is gone, its header stays. */
  readonly record: WarcRecord;
  /** Absent where it is too large for that of a revisit. */
  readonly block: Buffer | undefined;
}

/** A segment whose records are taken out one by one. */
interface OpenFile {
  readonly source: IntakeSource;
  /** Its records are gzip members, and go over as they are where they share none. */
  readonly isCopied: boolean;
}

export class RecordExport implements Disposable {
  private readonly disk: Disk;
  private readonly archive: Snapshot;
  private readonly selected: SelectedCaptures;
  private readonly open = new Map<number, OpenFile>();
  private readonly firsts = new RestoredFirsts();
  /** Continuation records that went out with captures that they do not stand beside. */
  segmentCount = 0;
  private held: { readonly digest: Buffer; readonly original: Original & { readonly chunks: [Buffer] } } | undefined;

  constructor(disk: Disk, archive: Snapshot, selected: SelectedCaptures) {
    this.disk = disk;
    this.archive = archive;
    this.selected = selected;
  }

  /** Throws HT_VERIFY where a record cannot be put together again. What was written to the sink is of no use then. */
  write(capture: SelectedCapture, sink: ByteSink): ExportFate {
    const mending = this.selected.mendingOf(capture);
    const isAnew = mending !== undefined;
    const { kind, place, ...around } = this.archive.locator.capture(capture);
    const { before, after } = mending === "alone" ? { before: 0, after: 0 } : around;
    const { payload } = capture.row;
    const [from, to] = [place.offset - before, place.offset + place.length + after];
    const keep = () => this.keep(place, from, to, sink, isAnew);
    if (kind === "response" || kind === "resource") {
      keep();
      if (has(capture.row, Flag.segmented)) this.writeSegments(capture, { segment: place.segment, from, to }, sink);
      return "record";
    }
    // One for an empty payload needs no original, and what one with another profile needs nobody knows.
    if (payload?.size === 0 || has(capture.row, Flag.unread)) {
      keep();
      return "revisit";
    }
    const revisit = this.readRevisit(place, isAnew);
    const original = payload && this.archive.catalogue.anyOriginal(halfIn(payload));
    if (original === undefined || revisit.block === undefined || this.leadsToSelected(capture, revisit.record)) {
      keep();
      return original === undefined || revisit.block === undefined ? "orphan" : "revisit";
    }
    if (before > 0) this.keep(place, from, place.offset, sink, isAnew);
    const fate = this.writeFull(capture, revisit.record, revisit.block, original, new WarcWriter(sink));
    const end = place.offset + place.length;
    if (after > 0) this.keep(place, end, to, sink, isAnew);
    return fate;
  }

  /** Of a segmented capture: the other segments, wherever they lie. Those around its record are written already. */
  private writeSegments(
    capture: SelectedCapture,
    written: { readonly segment: number; readonly from: number; readonly to: number },
    sink: ByteSink,
  ): void {
    const { reader, locator } = this.archive;
    const rows = reader.record(capture, (record) => continuationsOf(locator, record).all);
    for (const { place } of rows) {
      const { segment, offset, length } = place;
      if (segment === written.segment && offset >= written.from && offset < written.to) continue;
      this.keep(place, offset, offset + length, sink);
      this.segmentCount++;
    }
    // What is written is read back record by record, which says nothing about the whole.
    const hasher = createHasher("sha256");
    reader.payload(capture, (chunks) => {
      for (const chunk of chunks) hasher.update(chunk);
    });
    if (hasher.finish().hex === capture.row.payload?.sha256.toString("hex")) return;
    const { place } = capture.row;
    const at = { file: this.archive.shelf.nameOf(place.segment), offset: place.offset };
    throw new ArchiveError("HT_VERIFY", `${formatPlace(at)}: its segments are not what they were`, at);
  }

  /** Writes a record that goes out with no capture. Whether it was sound; HT_CORRUPT where it cannot be read. */
  writeUnlinked(place: RecordPlace, sink: ByteSink): boolean {
    const { segment, offset, length } = place;
    const isSound = this.archive.shelf.isSound(segment, offset, offset + length);
    this.keep(place, offset, offset + length, sink, !isSound);
    return isSound || this.archive.catalogue.segment(segment)?.adopted !== undefined;
  }

  /** Writes what a revisit stands for; of those that we wrote for one payload the first, and the others refer to it. */
  private writeFull(
    capture: SelectedCapture,
    record: WarcRecord,
    block: Buffer,
    original: OriginalRow,
    writer: WarcWriter,
  ): ExportFate {
    const { row } = capture;
    const { text } = record.headers;
    const replaced = parseReplaced(text);
    if (replaced === undefined) {
      this.expand(capture, record, block, original, writer);
      return "expanded";
    }
    const first = this.firsts.of(capture, record, replaced);
    if (first !== undefined) {
      writer.writeSmall({ head: referringTo(text, first), block: block.toString("latin1") });
      return "revisit";
    }
    this.restore(row, { text, http: block, replaced }, original, writer);
    if (this.selectedIn(capture.archiveKey, capture.timeMs).length === 1) this.firsts.learn(capture, record, replaced);
    return "restored";
  }

  private readRevisit(place: RecordPlace, isAnew: boolean): ReadRevisit {
    return this.archive.shelf.read(
      place,
      (record) => {
        const isLarge = (record.blockSize ?? 0) > HTTP_HEAD_SIZE_MAX;
        return { record, block: isLarge ? undefined : Buffer.from(record.readAll(HTTP_HEAD_SIZE_MAX)) };
      },
      isAnew,
    );
  }

  /** Whether it refers to a capture that goes over as a full record. A revisit of the input may name it loosely. */
  private leadsToSelected({ row, archiveKey: ownKey, timeMs: ownMs }: SelectedCapture, record: WarcRecord): boolean {
    const { uri, date } = refersToOf(record) ?? {};
    const timeMs = date === undefined ? undefined : timeOfDate(date);
    if (uri === undefined || timeMs === undefined) return false;
    const key = archiveKey(uri);
    // Replay passes over what refers to its own URL and time.
    if (key === ownKey && timeMs === ownMs) return false;
    const there = this.selectedIn(key, timeMs);
    if (!there.every(({ row: { payload } }) => payload?.sha256.equals(row.payload!.sha256) === true)) return false;
    return there.some((found) => {
      const { kind } = found.row;
      if ((kind !== "response" && kind !== "resource") || found.timeMs !== timeMs) return false;
      return row.kind === "replaced" || this.archive.reader.record(found, (original) => original.uri === uri);
    });
  }

  /** What goes over of a URL in one second, which is as well as an index tells times apart. */
  private selectedIn(key: string, timeMs: number): FoundCapture[] {
    const second = Math.floor(timeMs / 1000) * 1000;
    const there = this.archive.catalogue.captures(key, second, second + 999);
    return [...there].filter((found) => this.selected.has(key, found));
  }

  private restore(row: CaptureRow, revisit: OwnRevisit, original: OriginalRow, writer: WarcWriter): void {
    const { head } = this.useOriginal(row, original, ({ chunks }) =>
      restoredHead(revisit, restoredBlock(revisit, chunks)),
    );
    const hasher = new RecordHasher(head);
    this.useOriginal(row, original, ({ chunks }) =>
      writer.writeStream(head, hasher.pass(restoredBlock(revisit, chunks))),
    );
    if (hasher.finish() === formatDigest(revisit.replaced.digest)) return;
    const place = { file: this.archive.shelf.nameOf(row.place.segment), offset: row.place.offset };
    const message = `${formatPlace(place)}: the record that this revisit stands for cannot be put together again`;
    throw new ArchiveError("HT_VERIFY", message, place);
  }

  private expand(
    capture: SelectedCapture,
    record: WarcRecord,
    block: Buffer,
    original: OriginalRow,
    writer: WarcWriter,
  ): void {
    const { row } = capture;
    const { payloadSize } = original;
    const { http, blockType } = this.archive.reader.header(capture)!;
    const expansion = this.useOriginal(
      row,
      original,
      ({ uri, date }) =>
        new Expansion(record, block, { http, blockType, payloadSize, uri: uri || "-", date: date || "-" }),
    );
    const { head } = this.useOriginal(row, original, ({ chunks }) => expansion.head(chunks, new Set()));
    this.useOriginal(row, original, ({ chunks }) => writer.writeStream(head, expansion.block(chunks)));
  }

  private useOriginal<T>({ payload }: CaptureRow, row: OriginalRow, use: (original: Original) => T): T {
    const digest = halfIn(payload!);
    if (row.payloadSize > HELD_SIZE_MAX) return this.readOriginal(digest, use);
    // Revisits of one payload are most often those of one URL, and come one behind the other.
    if (this.held?.digest.equals(digest) !== true) {
      const original = this.readOriginal(digest, (each) => {
        const pieces: Buffer[] = [];
        for (const chunk of each.chunks) pieces.push(Buffer.from(chunk));
        return { ...each, chunks: [Buffer.concat(pieces)] as [Buffer] };
      });
      this.held = { digest, original };
    }
    return use(this.held.original);
  }

  private readOriginal<T>(digest: Buffer, use: (original: Original) => T): T {
    const { place } = this.archive.locator.original(digest)!;
    const { shelf, locator } = this.archive;
    const read = (record: WarcRecord) => {
      const { chunks } = wholePayloadOf(record, locator, shelf);
      const { uri = "", dateText: date = "" } = record;
      const result = use({ chunks, uri, date });
      while (record.read() !== undefined);
      return result;
    };
    // What comes of it is compared with a digest, so a checksum that fails does not matter.
    return shelf.read(place, read, true);
  }

  /**
   * Writes what lies in a segment from one position to another: a record, and those around it. `isAnew` says that it cannot
   * be copied.
   */
  private keep(place: RecordPlace, from: number, to: number, sink: ByteSink, isAnew = false): void {
    const { segment } = place;
    const { shelf, catalogue } = this.archive;
    // A file of others may have sizes and checksums that are not true.
    const file = isAnew || catalogue.segment(segment)?.adopted !== undefined ? this.fileOf(segment) : undefined;
    const isCopied =
      file === undefined || (!isAnew && file.isCopied && place.length > 0 && shelf.isSound(segment, from, to));
    if (isCopied) for (const piece of shelf.raw(segment, from, to)) sink.write(piece);
    else this.keepAnew(place, from, to, file.source, sink);
  }

  /** Of what is not in gzip members of its own, or not sound, each record becomes one. What cannot be read stays out. */
  private keepAnew(place: RecordPlace, from: number, to: number, file: IntakeSource, sink: ByteSink): void {
    if (from < 0) throw new ArchiveError("HT_CORRUPT", `${file.input.name}: what belongs to a record lies elsewhere`);
    const { source } = this.archive.shelf.openFile(place.segment);
    const reader = new WarcReader(source, { start: from, onWarning: () => {} });
    try {
      for (const facts of readFacts(reader, file.name)) {
        const isShared = place.length === 0;
        if (isShared && (facts.offset !== place.offset || (facts.inner ?? 0) !== place.inner)) continue;
        if (!isShared && facts.offset >= to) return;
        const isAround = facts.offset !== place.offset;
        if (!isAround || facts.damaged !== "cut") file.keep(facts, sink);
        if (isShared) return;
      }
    } finally {
      reader.close();
      source.close?.();
    }
  }

  private fileOf(segment: number): OpenFile {
    const there = this.open.get(segment);
    if (there !== undefined) return there;
    const name = this.archive.shelf.nameOf(segment);
    const isAdopted = this.archive.catalogue.segment(segment)?.adopted !== undefined;
    const input = isAdopted ? adoptedInput(this.disk, name, 0) : segmentInput(name, 0);
    const isCopied = this.isCopied(segment);
    const file = { source: new IntakeSource(this.disk, input), isCopied };
    this.open.set(segment, file);
    if (this.open.size > OPEN_MAX) this.forget(this.open.keys().next().value!);
    return file;
  }

  private isCopied(segment: number): boolean {
    const { source, compression } = this.archive.shelf.openFile(segment);
    const reader = new WarcReader(source, { onWarning: () => {} });
    try {
      return compression === "gzip" && reader.next()?.arc === undefined;
    } finally {
      reader.close();
      source.close?.();
    }
  }

  private forget(segment: number): void {
    this.open.get(segment)?.source[Symbol.dispose]();
    this.open.delete(segment);
  }

  [Symbol.dispose](): void {
    for (const { source } of this.open.values()) source[Symbol.dispose]();
    this.open.clear();
  }
}

/** The first half of the digest. */
function halfIn({ sha256 }: Payload): Buffer {
  return sha256.subarray(0, DIGEST_HALF);
}
