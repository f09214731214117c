/**
 * What is lost, added, changed or out of order between a file and its original, record by record. Both are read once, a
 * few hundred records ahead of one another at most, so that one missing record does not make all behind it strangers.
 */
import { createHasher, formatPlace, invariant, isDamage } from "../../base/index.ts";
import { type ByteSource, replacedBy, SEPARATOR, WarcReader, type WarcRecord } from "../../warc/index.ts";
import { hasPayload } from "../listing.ts";
import { RECORD_DIGEST } from "../reversal.ts";

/** One difference. A place is absent on the side that has nothing. */
export interface Difference {
  readonly code: "HT_LOST" | "HT_ADDED" | "HT_ORDER";
  readonly message: string;
  readonly offset: number | undefined;
  readonly originalOffset: number | undefined;
}

/** What a record of the original could be referred to by. */
export interface GoneRecord {
  readonly uri: string | undefined;
  readonly date: string | undefined;
  readonly id: string | undefined;
}

export interface DifferenceEvents {
  onDifference(difference: Difference): void;
  /** The record at this offset is not in the original as it is here. */
  onTouched(offset: number, length: number): void;
  /** A record of the original that held a payload is here no more as itself. */
  onGone(record: GoneRecord): void;
  /** Records of the original that stand as revisits. */
  onStanding(): void;
  onProgress(bytes: number): void;
}

export interface DifferenceResult {
  readonly differences: number;
  /** One of the two is damaged, so that there are bytes that this did not look at. */
  readonly damaged: boolean;
}

/** The digest that a revisit tells of the record whose place it took: header, block and separator. */
export function digestOfRecord(record: WarcRecord): string {
  const hasher = createHasher(RECORD_DIGEST);
  hasher.update(Buffer.from(record.headers.text, "latin1"));
  for (let piece = record.read(); piece !== undefined; piece = record.read()) hasher.update(piece);
  hasher.update(SEPARATOR);
  return `${RECORD_DIGEST}:${hasher.finish().hex}`;
}

interface Entry extends GoneRecord {
  readonly offset: number;
  readonly length: number;
  readonly digest: string;
  /** Of the record that a revisit of ours took the place of. */
  readonly replaced: string | undefined;
  readonly held: boolean;
}

/** How far one side is read ahead to find a record of the other. */
const AHEAD = 256;

class RecordQueue {
  readonly entries: Entry[] = [];
  damaged = false;
  private readonly reader: WarcReader;
  private ended = false;

  constructor(source: ByteSource) {
    this.reader = new WarcReader(source, {
      onWarning: (warning) => {
        this.damaged ||= isDamage(warning);
      },
    });
  }

  fill(): void {
    while (!this.ended && this.entries.length < AHEAD) {
      const record = this.reader.next();
      if (record === undefined) this.ended = true;
      else this.entries.push(entryOf(record));
    }
  }

  get first(): Entry | undefined {
    return this.entries[0];
  }

  close(): void {
    this.reader.close();
  }
}

function entryOf(record: WarcRecord): Entry {
  const { offset, id, uri, dateText: date } = record;
  const replaced = record.type === "revisit" ? replacedBy(record)?.digest : undefined;
  const held = hasPayload(record);
  const digest = digestOfRecord(record);
  return {
    offset,
    length: record.length ?? 0,
    id,
    uri,
    date,
    digest,
    replaced: replaced === undefined ? undefined : `${replaced.algorithm}:${replaced.hex}`,
    held,
  };
}

function isSame(original: Entry, entry: Entry): boolean {
  return original.digest === entry.digest;
}

function standsFor(entry: Entry, original: Entry): boolean {
  return isSame(original, entry) || (entry.replaced === original.digest && entry.id === original.id);
}

/** Tells every difference between the two. */
export function findDifferences(file: ByteSource, original: ByteSource, events: DifferenceEvents): DifferenceResult {
  const search = new DifferenceSearch(file, original, events);
  try {
    return search.run();
  } finally {
    search.close();
  }
}

class DifferenceSearch {
  private readonly events: DifferenceEvents;
  private readonly names: { readonly file: string; readonly original: string };
  private readonly here: RecordQueue;
  private readonly there: RecordQueue;
  private differences = 0;

  constructor(file: ByteSource, original: ByteSource, events: DifferenceEvents) {
    this.events = events;
    this.names = { file: file.name, original: original.name };
    this.here = new RecordQueue(file);
    this.there = new RecordQueue(original);
  }

  run(): DifferenceResult {
    const { here, there } = this;
    for (;;) {
      here.fill();
      there.fill();
      const { first } = here;
      const { first: wanted } = there;
      if (first === undefined && wanted === undefined) break;
      if (first === undefined || wanted === undefined || !standsFor(first, wanted)) this.step(first, wanted);
      else this.take(0, 0);
      if (wanted !== undefined) this.events.onProgress(wanted.offset);
    }
    return { differences: this.differences, damaged: here.damaged || there.damaged };
  }

  /** The two records at hand are not one: finds out which of them is too much. */
  private step(first: Entry | undefined, wanted: Entry | undefined): void {
    const { here, there } = this;
    const later = wanted === undefined ? -1 : here.entries.findIndex((entry) => standsFor(entry, wanted));
    const sooner = first === undefined ? -1 : there.entries.findIndex((entry) => standsFor(first, entry));
    if (first !== undefined && wanted !== undefined && later >= 0 && sooner >= 0) {
      const moved = here.entries[later]!;
      const message = `${this.thatOf(wanted)} stands here, out of its order`;
      this.tell({ code: "HT_ORDER", message, offset: moved.offset, originalOffset: wanted.offset });
      this.take(later, 0);
    } else if (first !== undefined && (wanted === undefined || later >= 0)) this.add(first);
    else if (wanted !== undefined && (first === undefined || sooner >= 0)) this.lose(wanted, undefined);
    else {
      invariant(first !== undefined && wanted !== undefined, "one side has a record");
      this.lose(wanted, first);
    }
  }

  private tell(difference: Difference): void {
    this.differences++;
    this.events.onDifference(difference);
  }

  private thatOf(original: Entry): string {
    return formatPlace({ file: this.names.original, offset: original.offset });
  }

  /** Takes a record and the one it is or stands for off. */
  private take(index: number, originalIndex: number): void {
    const [entry] = this.here.entries.splice(index, 1);
    const [original] = this.there.entries.splice(originalIndex, 1);
    invariant(entry !== undefined && original !== undefined, "both are there");
    if (isSame(original, entry)) return;
    this.events.onStanding();
    this.events.onTouched(entry.offset, entry.length);
    this.events.onGone(original);
  }

  private add(entry: Entry): void {
    this.here.entries.shift();
    this.events.onTouched(entry.offset, entry.length);
    const message = `no record of ${this.names.original} is this one`;
    this.tell({ code: "HT_ADDED", message, offset: entry.offset, originalOffset: undefined });
  }

  private lose(original: Entry, instead: Entry | undefined): void {
    this.there.entries.shift();
    if (original.held) this.events.onGone(original);
    const offset = instead?.offset;
    if (instead !== undefined) {
      this.here.entries.shift();
      this.events.onTouched(instead.offset, instead.length);
    }
    const place = formatPlace({ file: this.names.file, offset });
    const message = instead === undefined ? `it is not in ${place}` : `another record stands in its place at ${place}`;
    this.tell({ code: "HT_LOST", message, offset, originalOffset: original.offset });
  }

  close(): void {
    this.here.close();
    this.there.close();
  }
}
