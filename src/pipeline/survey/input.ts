/**
 * Surveys one archive file: counts its records, and reads those in full whose payload is in the sample. Where it can it
 * skips from record to record; where it cannot it reads record by record until it can again. Either way the same rule
 * says which records are in the sample.
 */
import { isDamage, type Warning } from "../../base/index.ts";
import { namesReferredTo } from "../../dedup/index.ts";
import {
  type ByteSource,
  type Framing,
  type RecordOpening,
  type RecordScan,
  refersToOf,
  scanRecord,
  WarcReader,
  WarcRecord,
} from "../../warc/index.ts";
import {
  estimateSaving,
  formatCapture,
  hashUri,
  identityOf,
  likenessOf,
  placeOf,
  type SurveyedCapture,
} from "./capture.ts";
import type { SurveyCounts } from "./counts.ts";
import { findingsOf, IDENTITY, RecordFeed } from "./feed.ts";
import { type PayloadSampler, type PayloadStart, PREFIX_SIZE, PrefixCollector, payloadStartOf } from "./sampler.ts";
import { RecordSkipper } from "./skipper.ts";

export interface InputSurveyEvents {
  /** What the opening of a record tells whose payload takes part, as `formatCapture` writes it. */
  onSketch(line: string): void;
  /** What was found by reading one that is in the sample. */
  onCapture(line: string): void;
  /** A revisit refers to the record that answers to this name. */
  onReferred(name: string): void;
  onWarning(warning: Warning): void;
  /** Now and then: offset reached and records done. */
  onProgress(offset: number, records: number): void;
}

export interface InputSurveyOptions {
  readonly sampler: PayloadSampler;
  /** Which input it is. */
  readonly order: number;
  /** Nothing in this file can be replaced where it lies. */
  readonly fixed: boolean;
}

/** Beside the prefix, so much of a block is asked for, for its HTTP header: at first, by how much more, at the most. */
const HTTP_SIZE = { first: 512, step: 256, most: 4096 };
/** Where that was too little. */
const LARGE_OPENING_SIZE = 1 << 15;
/** So many records are read before skipping is tried again, at the most. */
const PATIENCE_MAX = 1024;
const PROGRESS_RECORDS = 256;

/** A record of which only the beginning was decoded has nothing to read. */
const UNREAD: ConstructorParameters<typeof WarcRecord>[0] = {
  readBody: () => undefined,
  readBodyLater: () => Promise.resolve(undefined),
  blockOf: () => undefined,
  rawOf: () => undefined,
  endOf: () => undefined,
};

/** What is known of a payload by its beginning. */
interface SketchedContent {
  readonly cluster: string;
  readonly likeness: string;
  readonly framing: Framing;
  readonly httpSize: number;
}

/** A record that was opened, and whose end is known. */
interface PassedRecord {
  readonly record: WarcRecord;
  readonly end: number;
  readonly compressed: boolean;
  /** Absent where its payload takes no part. */
  readonly content: SketchedContent | undefined;
  readonly decodedBytes: number;
}

/** What is known of a record whose payload takes part; of one that is in the sample also what reading it gave. */
interface FoundContent {
  readonly length: number;
  readonly compressed: boolean;
  readonly scan: RecordScan | undefined;
  readonly damaged: boolean;
}

/** Surveys a source to its end, and counts. Throws where it is no archive, or cannot be read; what was counted stays. */
export function surveySource(
  source: ByteSource,
  options: InputSurveyOptions,
  events: InputSurveyEvents,
  counts: SurveyCounts,
): void {
  const survey = new InputSurvey(source, options, events, counts);
  try {
    survey.run();
  } finally {
    survey.close();
  }
}

/** Whether the payload may take part, as far as the record's header tells. */
function isFit(record: WarcRecord): boolean {
  if (record.truncated !== undefined || record.segmented) return false;
  return (record.uri ?? "") !== "" && record.dateText !== undefined;
}

function holdsPayload(record: WarcRecord): boolean {
  return record.type === "response" || record.type === "resource";
}

class InputSurvey {
  private readonly counts: SurveyCounts;
  private readonly source: ByteSource;
  private readonly size: number;
  private readonly options: InputSurveyOptions;
  private readonly events: InputSurveyEvents;
  /** Absent where the source has to be read from its start to its end. */
  private readonly skipper: RecordSkipper | undefined;
  private readonly feed: RecordFeed;
  private patience = 1;
  private httpSize = HTTP_SIZE.first;

  constructor(source: ByteSource, options: InputSurveyOptions, events: InputSurveyEvents, counts: SurveyCounts) {
    const read = (into: Uint8Array, position: number): number => {
      const count = source.read(into, position);
      counts.bytesRead += count;
      return count;
    };
    this.counts = counts;
    this.source = { name: source.name, seekable: source.seekable, size: source.size, read };
    this.size = source.size ?? 0;
    this.options = options;
    this.events = events;
    if (source.seekable && source.size !== undefined) this.skipper = new RecordSkipper(this.source, source.size);
    this.feed = new RecordFeed(this.skipper?.nearSource ?? this.source);
  }

  run(): void {
    for (let at: number | undefined = 0; at !== undefined; ) {
      const stop: number | undefined = this.skipper === undefined ? at : this.skip(this.skipper, at);
      at = stop === undefined ? undefined : this.readThrough(stop);
    }
  }

  /** Bytes count where there is a record in them. */
  close(): void {
    const { counts, feed, source } = this;
    if (counts.records > 0) counts.bytes = source.size ?? counts.bytesRead;
    feed.close();
  }

  /**
   * Passes over records from `start` on. Each counts only when the next one has been opened, because only then is it
   * certain where it ends. The offset of the first that has to be read; absent at the end of the file.
   */
  private skip(skipper: RecordSkipper, start: number): number | undefined {
    let passed: PassedRecord | undefined;
    let count = 0;
    for (let at = start; ; at = passed.end) {
      const opening = at < this.size ? skipper.open(at, PREFIX_SIZE + this.httpSize) : undefined;
      if (opening === undefined && at < this.size) return passed?.record.offset ?? at;
      if (passed !== undefined && !this.takePassed(passed)) return passed.record.offset;
      if (opening === undefined) return undefined;
      if (++count === PATIENCE_MAX) this.patience = 1;
      passed = this.pass(skipper, at, opening);
      if (passed === undefined) return at;
    }
  }

  private pass(skipper: RecordSkipper, offset: number, first: RecordOpening): PassedRecord | undefined {
    const { head } = first;
    const record = new WarcRecord(UNREAD, { file: this.source.name, offset, inner: undefined }, head, head.blockSize);
    let { start } = first;
    let content: SketchedContent | undefined;
    if (holdsPayload(record) && isFit(record)) {
      let payload = payloadStartOf(start, start.length === head.blockSize, record.isHttp);
      if (payload === undefined) {
        this.httpSize = Math.min(HTTP_SIZE.most, this.httpSize + HTTP_SIZE.step);
        start = skipper.open(offset, LARGE_OPENING_SIZE)?.start ?? start;
        payload = payloadStartOf(start, start.length === head.blockSize, record.isHttp);
      }
      if (payload === undefined) return undefined;
      // Its bytes are gone when the window moves.
      content = this.sketch(payload, (head.blockSize ?? 0) - payload.httpSize);
    }
    const compressed = skipper.isCompressed(offset);
    const decodedBytes = head.headers.text.length + start.length;
    const end = skipper.endOf(offset, head);
    return end === undefined ? undefined : { record, end, compressed, content, decodedBytes };
  }

  /** Absent for an empty payload, which is no content. */
  private sketch({ prefix, framing, httpSize }: PayloadStart, bodySize: number): SketchedContent | undefined {
    if (prefix.length === 0) return undefined;
    const cluster = this.options.sampler.clusterOf(prefix);
    return { cluster, likeness: likenessOf(framing, bodySize), framing, httpSize };
  }

  /** Counts a record that was passed over, or reads it where it is in the sample; false where that goes wrong. */
  private takePassed({ record, end, compressed, content, decodedBytes }: PassedRecord): boolean {
    const { offset } = record;
    let decoded = decodedBytes;
    if (content !== undefined) {
      let scan: RecordScan | undefined;
      let damaged = false;
      if (this.options.sampler.takes(content.cluster)) {
        const read = this.feed.read(offset, end, compressed);
        if (read === undefined) return false;
        for (const warning of read.warnings) this.events.onWarning(warning);
        scan = read.scan;
        damaged = read.warnings.some(isDamage);
        decoded = record.headers.text.length + scan.blockSize;
      }
      this.takeContent(record, content, { length: end - offset, compressed, scan, damaged });
    }
    this.count(record, decoded);
    return true;
  }

  private count(record: WarcRecord, decodedBytes: number): void {
    const { counts } = this;
    const { type } = record;
    if (type === "response" || type === "resource") counts.responses++;
    else if (type === "revisit") {
      counts.revisits++;
      for (const name of namesReferredTo(record.uri, refersToOf(record))) this.events.onReferred(name);
    }
    counts.contentBytes += record.headers.text.length + (record.blockSize ?? 0);
    counts.decodedBytes += decodedBytes;
    if (++counts.records % PROGRESS_RECORDS === 0) this.events.onProgress(record.offset, counts.records);
  }

  /** Reads record by record from `start` on, until skipping can be tried again; absent at the end of the file. */
  private readThrough(start: number): number | undefined {
    const { source, size, skipper, patience } = this;
    this.patience = Math.min(PATIENCE_MAX, 2 * patience);
    const onWarning = (warning: Warning) => this.events.onWarning(warning);
    const reader = new WarcReader(source, { start, onWarning });
    try {
      let count = 0;
      for (const record of reader) {
        this.takeRead(record, reader.compression !== "none");
        this.counts.readThrough++;
        if (skipper === undefined || skipper.tired || reader.format === "arc" || reader.compression === "zstd")
          continue;
        if (++count < patience || record.length === undefined) continue;
        const end = record.offset + record.length;
        if (end === size) return undefined;
        if (skipper.open(end, 0) !== undefined) return end;
        count = 0;
      }
      return undefined;
    } finally {
      reader.close();
    }
  }

  private takeRead(record: WarcRecord, compressed: boolean): void {
    let scan: RecordScan | undefined;
    let content: SketchedContent | undefined;
    if (holdsPayload(record) && isFit(record)) {
      const { block } = record;
      if (block !== undefined) {
        const payload = payloadStartOf(block, true, record.isHttp)!;
        content = this.sketch(payload, block.length - payload.httpSize);
        if (content !== undefined && this.options.sampler.takes(content.cluster)) scan = scanRecord(record, IDENTITY);
      } else {
        const collector = new PrefixCollector();
        scan = scanRecord(record, { ...IDENTITY, onPayload: collector.push });
        const httpSize = scan.http?.text.length ?? 0;
        content = this.sketch({ prefix: collector.prefix, framing: scan.framing, httpSize }, scan.payloadSize);
        if (content !== undefined && !this.options.sampler.takes(content.cluster)) scan = undefined;
      }
    }
    record.drain();
    const { length } = record;
    // A record without a length shares its member with others, or is broken: nothing can refer to it or replace it.
    if (content !== undefined && length !== undefined) {
      const findings = scan === undefined ? [] : findingsOf(record, scan);
      for (const finding of findings) this.events.onWarning(finding);
      const damaged = findings.some(isDamage) || record.warnings.some(isDamage);
      this.takeContent(record, content, { length, compressed, scan, damaged });
    }
    this.count(record, record.headers.text.length + (record.blockSize ?? 0));
  }

  private takeContent(record: WarcRecord, content: SketchedContent, found: FoundContent): void {
    const { cluster, likeness, framing, httpSize } = content;
    const { length, compressed, scan, damaged } = found;
    const uri = record.uri!;
    const sketch: SurveyedCapture = {
      cluster,
      identity: likeness,
      date: record.dateText!,
      place: placeOf(this.options.order, record.offset),
      framing,
      uri: hashUri(uri),
      id: undefined,
      length,
      saving: estimateSaving(length, record.headers.text.length + httpSize, uri, compressed),
      damaged: false,
      fixed: this.options.fixed ? "wacz" : record.arc !== undefined ? "arc" : undefined,
    };
    if (sketch.fixed !== undefined) this.counts[`${sketch.fixed}Files`] = 1;
    this.counts.candidates++;
    this.counts.candidateBytes += length;
    this.events.onSketch(formatCapture(sketch));
    if (scan === undefined) return;
    const identity = identityOf(scan.payloadDigests[0]!, scan.payloadSize);
    this.events.onCapture(formatCapture({ ...sketch, identity, framing: scan.framing, uri, id: record.id, damaged }));
  }
}
