/**
 * Gathers the figures of a deduplication, line by line, in memory that does not grow with the number of records, files,
 * hosts or media types. What it is made into is in `shape.ts`; nothing here prints or writes.
 */
import { parseIso, parseTimestamp } from "../../base/index.ts";
import { shorten } from "../../markup/index.ts";
import { hostOf, urlKey } from "../../url/index.ts";
import { AGAIN_FLAG, type ManifestLine } from "../manifest-line.ts";
import { BoundedShares, compareText, detach, Tally, TopList } from "./bounded.ts";
import { CopyCounter } from "./copies.ts";
import type {
  DedupReport,
  DuplicateShare,
  FileFigures,
  FileRow,
  LargestDuplicate,
  OtherFiles,
  ReasonRow,
  ReportMetadata,
  ReportTotals,
  Share,
  ShareTable,
} from "./shape.ts";

/** What was decided over a record; a `Decision` of the chooser is one. */
export type RecordDecision =
  | { readonly kind: "original" }
  | { readonly kind: "duplicate"; readonly copy: number }
  | { readonly kind: "kept"; readonly reason: string };

/** How much is kept of what has no bound. */
export interface StatisticsLimits {
  /** Names of hosts and of media types in memory, each; twice as many before some are folded. */
  readonly namesMax?: number | undefined;
  /** Rows of a table in the report. */
  readonly rowsMax?: number | undefined;
  readonly largestMax?: number | undefined;
}

const NAMES_MAX = 8192;
const ROWS_MAX = 1000;
const LARGEST_MAX = 100;
const TEXT_LENGTH_MAX = 2000;
/** Reasons come from a short list, and years have four digits; the bound is for callers and dates that are neither. */
const REASONS_MAX = 100;
const YEARS_MAX = 400;
const NONE = "-";
/** Their digest is not of a whole payload, or of none. */
const NO_PAYLOAD: ReadonlySet<string> = new Set(["truncated", "segmented", "damaged", "empty"]);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type AcrossKind = "time" | "location" | "unknown";

/**
 * Feed it `addRecord` for every response and resource line of the files at work (not of earlier holdings), in an order
 * that keeps lines of one digest and extension together; `addRewritten` or `addLeft` for every duplicate afterwards, in
 * any order; `addFile` for every file. It keeps no line.
 */
export class DedupStatistics {
  private readonly rowsMax: number;
  private readonly totals = startTotals();
  private readonly across: Readonly<Record<AcrossKind, Tally>> = {
    time: new Tally(),
    location: new Tally(),
    unknown: new Tally(),
  };
  private readonly mimes: BoundedShares;
  private readonly hosts: BoundedShares;
  private readonly years = new BoundedShares(YEARS_MAX);
  private readonly kept = new BoundedShares(REASONS_MAX);
  private readonly left = new BoundedShares(REASONS_MAX);
  private year = yearAround(0);
  private readonly copies = new CopyCounter();
  private readonly files: TopList<FileRow>;
  private readonly otherFiles: Mutable<OtherFiles> = {
    files: 0,
    bytesBefore: 0,
    bytesAfter: 0,
    savedBytes: 0,
    records: 0,
    replaced: 0,
  };
  private readonly largest: TopList<LargestDuplicate>;

  constructor(limits: StatisticsLimits = {}) {
    this.rowsMax = limits.rowsMax ?? ROWS_MAX;
    this.mimes = new BoundedShares(limits.namesMax ?? NAMES_MAX);
    this.hosts = new BoundedShares(limits.namesMax ?? NAMES_MAX);
    this.files = new TopList(this.rowsMax, compareFiles, (row) => this.dropFile(row));
    this.largest = new TopList(limits.largestMax ?? LARGEST_MAX, compareLargest);
  }

  /** Counts a record by what was decided over it. The line of a duplicate should tell its original, as planned ones do. */
  addRecord(line: ManifestLine, decision: RecordDecision): void {
    const share = new Tally();
    share.records = 1;
    share.recordBytes = line.length ?? 0;
    share.payloadBytes = line.payloadSize ?? 0;
    if (decision.kind === "duplicate") {
      share.duplicates = 1;
      share.duplicateBytes = share.recordBytes;
      this.across[acrossKind(line)].add(share);
    }
    this.addShare(line, share);
    const { totals } = this;
    totals.records++;
    totals.recordBytes += share.recordBytes;
    totals.payloadBytes += share.payloadBytes;
    totals.duplicates += share.duplicates;
    totals.duplicateBytes += share.duplicateBytes;
    if (decision.kind === "original") totals.originals++;
    if (decision.kind === "kept") {
      totals.kept++;
      this.kept.of(decision.reason).add(share);
      if (NO_PAYLOAD.has(decision.reason)) return;
    }
    this.copies.add(line);
  }

  /** Counts a duplicate that was replaced: bytes of the record as it lay in its file, and of the revisit in its place. */
  addRewritten(line: ManifestLine, bytesBefore: number, bytesAfter: number): void {
    const share = new Tally();
    share.replaced = 1;
    share.savedBytes = bytesBefore - bytesAfter;
    this.across[acrossKind(line)].add(share);
    this.addShare(line, share);
    this.totals.replaced++;
    this.totals.replacedBytesBefore += bytesBefore;
    this.totals.replacedBytesAfter += bytesAfter;
    const { bar } = this.largest;
    if (bar === undefined || share.savedBytes >= bar.savedBytes) {
      this.largest.add(largestDuplicate(line, share.savedBytes));
    }
  }

  /** Counts a duplicate that was planned and left as it is after all. */
  addLeft(line: ManifestLine, reason: string): void {
    this.totals.left++;
    const share = new Tally();
    share.records = 1;
    share.recordBytes = line.length ?? 0;
    share.payloadBytes = line.payloadSize ?? 0;
    this.left.of(reason).add(share);
  }

  addFile(figures: FileFigures): void {
    const { input, output, bytesBefore, bytesAfter, records, replaced } = figures;
    const savedBytes = bytesBefore - bytesAfter;
    const { totals } = this;
    totals.files++;
    totals.fileRecords += records;
    totals.bytesBefore += bytesBefore;
    totals.bytesAfter += bytesAfter;
    totals.savedBytes += savedBytes;
    const names = { input: keepText(input), ...(output === undefined ? {} : { output: keepText(output) }) };
    this.files.add({ ...names, bytesBefore, bytesAfter, savedBytes, records, replaced });
  }

  /** The report over all that was added. The payload under way is ended by it. */
  finish(metadata: ReportMetadata): DedupReport {
    const { copies, collisions, payloads } = this.copies.finish();
    const byYear = this.years.toTable(YEARS_MAX);
    const rows = this.files.toArray();
    return {
      format: "holotype-dedup-report",
      formatVersion: 1,
      metadata,
      totals: { ...this.totals, payloads },
      acrossTime: duplicateShare(this.across.time),
      acrossLocation: duplicateShare(this.across.location),
      acrossUnknown: duplicateShare(this.across.unknown),
      byFile: { rows, others: this.otherFiles.files === 0 ? undefined : { ...this.otherFiles } },
      byMime: this.mimes.toTable(this.rowsMax),
      byHost: this.hosts.toTable(this.rowsMax),
      byYear: { ...byYear, rows: [...byYear.rows].sort((one, other) => compareText(one.name, other.name)) },
      copies,
      largest: this.largest.toArray(),
      kept: reasonRows(this.kept.toTable(REASONS_MAX)),
      left: reasonRows(this.left.toTable(REASONS_MAX)),
      collisions,
    };
  }

  private addShare(line: ManifestLine, share: Share): void {
    this.mimes.of(line.mime ?? NONE).add(share);
    this.hosts.of(hostOfUri(line.uri)).add(share);
    this.years.of(this.yearOf(line.date)).add(share);
  }

  /** Most dates are of the year of the one before. */
  private yearOf(date: string | undefined): string {
    const timeMs = date === undefined ? undefined : (parseIso(date) ?? parseTimestamp(date));
    if (timeMs === undefined) return NONE;
    if (timeMs < this.year.start || timeMs >= this.year.end) this.year = yearAround(timeMs);
    return this.year.name;
  }

  private dropFile(row: FileRow): void {
    const others = this.otherFiles;
    others.files++;
    others.bytesBefore += row.bytesBefore;
    others.bytesAfter += row.bytesAfter;
    others.savedBytes += row.savedBytes;
    others.records += row.records;
    others.replaced += row.replaced;
  }
}

function startTotals(): Mutable<ReportTotals> {
  return {
    files: 0,
    fileRecords: 0,
    bytesBefore: 0,
    bytesAfter: 0,
    savedBytes: 0,
    records: 0,
    recordBytes: 0,
    payloadBytes: 0,
    payloads: 0,
    originals: 0,
    duplicates: 0,
    duplicateBytes: 0,
    kept: 0,
    replaced: 0,
    replacedBytesBefore: 0,
    replacedBytesAfter: 0,
    left: 0,
  };
}

/** URIs are compared as they are written, as the policy does. */
function acrossKind(line: ManifestLine): AcrossKind {
  if (line.flags.includes(AGAIN_FLAG)) return "time";
  const originalUri = line.original?.uri;
  if (originalUri === undefined) return "unknown";
  return originalUri === line.uri ? "time" : "location";
}

function duplicateShare({ duplicates, duplicateBytes, replaced, savedBytes }: Tally): DuplicateShare {
  return { duplicates, duplicateBytes, replaced, savedBytes };
}

function reasonRows({ rows, others }: ShareTable): ReasonRow[] {
  const all = others === undefined ? rows : [...rows, { ...others, name: "other reasons" }];
  return all
    .map(({ name, records, recordBytes, payloadBytes }) => ({ reason: name, records, recordBytes, payloadBytes }))
    .sort((one, other) => other.records - one.records || compareText(one.reason, other.reason));
}

/** The URLs that most are: their host is its own name, and says so without the rest of the URL. */
const PLAIN_HOST_URL = /^https?:\/\/([a-zA-Z][a-zA-Z0-9_-]*(?:\.[a-zA-Z0-9_-]+)*)\//;

/** The host as URL keys have it, with `www` and a port that is not the scheme's own. */
function hostOfUri(uri: string | undefined): string {
  if (uri === undefined) return NONE;
  const plain = PLAIN_HOST_URL.exec(uri)?.[1];
  if (plain !== undefined) return plain.toLowerCase();
  return hostOf(urlKey(uri, { stripWww: false })) ?? NONE;
}

/** The year that a time lies in: its name, and when it begins and ends. */
function yearAround(timeMs: number): { readonly name: string; readonly start: number; readonly end: number } {
  const year = new Date(timeMs).getUTCFullYear();
  const startOf = (value: number) => new Date(0).setUTCFullYear(value, 0, 1);
  return { name: String(year).padStart(4, "0"), start: startOf(year), end: startOf(year + 1) };
}

function keepText(text: string): string {
  return detach(shorten(text, TEXT_LENGTH_MAX));
}

function largestDuplicate(line: ManifestLine, savedBytes: number): LargestDuplicate {
  const keep = (text: string | undefined) => (text === undefined ? undefined : keepText(text));
  return {
    savedBytes,
    payloadBytes: line.payloadSize ?? 0,
    uri: keep(line.uri),
    date: keep(line.date),
    file: keepText(line.file),
    offset: line.offset,
    originalUri: keep(line.original?.uri),
    originalDate: keep(line.original?.date),
  };
}

/** Place breaks ties, so that the list does not depend on the order of threads. */
function compareLargest(one: LargestDuplicate, other: LargestDuplicate): number {
  return other.savedBytes - one.savedBytes || compareText(one.file, other.file) || one.offset - other.offset;
}

function compareFiles(one: FileRow, other: FileRow): number {
  return (
    other.savedBytes - one.savedBytes || other.bytesBefore - one.bytesBefore || compareText(one.input, other.input)
  );
}
