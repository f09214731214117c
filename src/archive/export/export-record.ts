/**
 * Writes captures of an archive as gzip members that need no others than those of the same export. A record goes over
 * with the bytes that it has where that can be; a revisit stays one as long as what it refers to goes over too, and is
 * the record that it stands for otherwise. What belongs to a capture goes with it.
 */
import { ArchiveError, formatDigest, formatPlace } from "../../base/index.ts";
import { timeOfDate } from "../../dedup/index.ts";
import type { ByteSink, Disk } from "../../disk/index.ts";
import {
  Expansion,
  type Input,
  type OwnRevisit,
  parseReplaced,
  RecordHasher,
  readFacts,
  restoredBlock,
  restoredHead,
} from "../../pipeline/index.ts";
import {
  HTTP_HEAD_SIZE_MAX,
  payloadOf,
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
import { adoptedInput, openArchive } from "../segments/segments.ts";
import { RestoredFirsts, referringTo } from "./export-firsts.ts";
import type { SelectedCapture, SelectedCaptures } from "./export-selection.ts";

/**
 * What a capture became: the record that it was; a revisit, as it was; the record that a revisit of ours stands for; the
 * response that another revisit stands for; or a revisit whose original is not in the archive.
 */
export type ExportFate = "record" | "revisit" | "restored" | "expanded" | "orphan";

/** A larger payload is not held, but read as often as it is needed. */
const HELD_SIZE_MAX = 8 << 20;
const ADOPTED_OPEN_MAX = 16;

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

interface AdoptedFile {
  readonly source: IntakeSource;
  /** Its records are gzip members, and go over as they are where they share none. */
  readonly isCopied: boolean;
}

export class RecordExport implements Disposable {
  private readonly disk: Disk;
  private readonly archive: Snapshot;
  private readonly selected: SelectedCaptures;
  private readonly adopted = new Map<number, AdoptedFile>();
  private readonly firsts = new RestoredFirsts();
  private held: { readonly digest: Buffer; readonly original: Original & { readonly chunks: [Buffer] } } | undefined;

  constructor(disk: Disk, archive: Snapshot, selected: SelectedCaptures) {
    this.disk = disk;
    this.archive = archive;
    this.selected = selected;
  }

  /** Throws HT_VERIFY where a record cannot be put together again. What was written to the sink is of no use then. */
  write(capture: SelectedCapture, sink: ByteSink): ExportFate {
    const { kind, place, before, after } = this.archive.locator.capture(capture);
    if (kind === "response" || kind === "resource") {
      this.keep(place, place.offset - before, place.offset + place.length + after, sink);
      return "record";
    }
    const { payload } = capture.row;
    const keep = () => this.keep(place, place.offset - before, place.offset + place.length + after, sink);
    // One for an empty payload needs no original, and what one with another profile needs nobody knows.
    if (payload?.size === 0 || has(capture.row, Flag.unread)) {
      keep();
      return "revisit";
    }
    const revisit = this.readRevisit(place);
    const original = payload && this.archive.catalogue.anyOriginal(halfIn(payload));
    if (original === undefined || revisit.block === undefined || this.leadsToSelected(capture, revisit.record)) {
      keep();
      return original === undefined || revisit.block === undefined ? "orphan" : "revisit";
    }
    if (before > 0) this.keep(place, place.offset - before, place.offset, sink);
    const fate = this.writeFull(capture, revisit.record, revisit.block, original, new WarcWriter(sink));
    const end = place.offset + place.length;
    if (after > 0) this.keep(place, end, end + after, sink);
    return fate;
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

  private readRevisit(place: RecordPlace): ReadRevisit {
    return this.archive.shelf.read(place, (record) => {
      const isLarge = (record.blockSize ?? 0) > HTTP_HEAD_SIZE_MAX;
      return { record, block: isLarge ? undefined : Buffer.from(record.readAll(HTTP_HEAD_SIZE_MAX)) };
    });
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
    return this.archive.shelf.read(place, (record) => {
      const { chunks } = payloadOf(record);
      const { uri = "", dateText: date = "" } = record;
      const result = use({ chunks, uri, date });
      while (record.read() !== undefined);
      return result;
    });
  }

  /** Writes what lies in a segment from one position to another: a record, and those around it. */
  private keep(place: RecordPlace, from: number, to: number, sink: ByteSink): void {
    const { segment } = place;
    const adopted = this.adoptedFile(segment);
    // A file of others may have sizes and checksums that are not true.
    const isCopied = adopted?.isCopied !== false && place.length > 0;
    if (adopted === undefined || (isCopied && this.archive.shelf.isSound(segment, from, to))) {
      for (const piece of this.archive.shelf.raw(segment, from, to)) sink.write(piece);
    } else this.keepAnew(place, from, to, adopted.source, sink);
  }

  /** Of what is not in gzip members of its own, or not sound, each record becomes one. */
  private keepAnew(place: RecordPlace, from: number, to: number, adopted: IntakeSource, sink: ByteSink): void {
    const { source } = openArchive(this.disk, adopted.input);
    const reader = new WarcReader(source, { start: from, onWarning: () => {} });
    try {
      for (const facts of readFacts(reader, adopted.name)) {
        const isShared = place.length === 0;
        if (isShared && (facts.offset !== place.offset || (facts.inner ?? 0) !== place.inner)) continue;
        if (!isShared && facts.offset >= to) return;
        adopted.keep(facts, sink);
        if (isShared) return;
      }
    } finally {
      reader.close();
      source.close?.();
    }
  }

  /** Absent for our own segments, which are all gzip members. */
  private adoptedFile(segment: number): AdoptedFile | undefined {
    if (this.archive.catalogue.segment(segment)?.adopted === undefined) return undefined;
    const there = this.adopted.get(segment);
    if (there !== undefined) return there;
    const input = adoptedInput(this.disk, this.archive.shelf.nameOf(segment), 0);
    const file = { source: new IntakeSource(this.disk, input), isCopied: this.isCopied(input) };
    this.adopted.set(segment, file);
    if (this.adopted.size > ADOPTED_OPEN_MAX) this.forget(this.adopted.keys().next().value!);
    return file;
  }

  private isCopied(input: Input): boolean {
    const { source, compression } = openArchive(this.disk, input);
    const reader = new WarcReader(source, { onWarning: () => {} });
    try {
      return compression === "gzip" && reader.next()?.arc === undefined;
    } finally {
      reader.close();
      source.close?.();
    }
  }

  private forget(segment: number): void {
    this.adopted.get(segment)?.source[Symbol.dispose]();
    this.adopted.delete(segment);
  }

  [Symbol.dispose](): void {
    for (const { source } of this.adopted.values()) source[Symbol.dispose]();
    this.adopted.clear();
  }
}

/** The first half of the digest. */
function halfIn({ sha256 }: Payload): Buffer {
  return sha256.subarray(0, DIGEST_HALF);
}
