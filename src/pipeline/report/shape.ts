/** What a report on a deduplication holds: plain data, as it stands in `report.json`. docs/operating/report.md reads it. */

/** What is passed over untouched by the statistics: what was asked for, by which program, when. */
export interface ReportMetadata {
  /** Programs and their versions: `{ holotype: "0.2.0", node: "20.19.0" }`. */
  readonly versions: Readonly<Record<string, string>>;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly finishedAt: string;
  /** What was asked for, by the names of the options. */
  readonly settings: Readonly<Record<string, ReportSetting>>;
  /** What was proven in this run, a sentence each: "Every output was read back and compared with its input." */
  readonly proofs?: readonly string[] | undefined;
}

export type ReportSetting = string | number | boolean | readonly string[];

/** What some of the records have in them, and what became of it. */
export interface Share {
  /** Response and resource records. */
  readonly records: number;
  /** Bytes that they took in their files, compressed as they lay; a record that shares its member counts 0. */
  readonly recordBytes: number;
  /** Bytes of their payloads, not compressed. */
  readonly payloadBytes: number;
  /** Those that the plan calls duplicates. */
  readonly duplicates: number;
  /** Bytes that these took in their files: more than can be saved by them. */
  readonly duplicateBytes: number;
  /** Duplicates that were really replaced. */
  readonly replaced: number;
  /** Bytes that their replacement saved, of record against record. */
  readonly savedBytes: number;
}

/** A share with a name: a media type, a host, a year. What has none is `-`, as in a manifest. */
export interface ShareRow extends Share {
  readonly name: string;
  /** The name was folded into the others before it came again: the figures may be too small, never too large. */
  readonly atLeast: boolean;
}

/** What did not get a row of its own. */
export interface OtherShares extends Share {
  /** How many names are in it, in whole or in part; counted by a filter that may take one for another, so about. */
  readonly names: number;
}

/** Rows and others together are always the totals. */
export interface ShareTable {
  readonly rows: readonly ShareRow[];
  /** Absent where every name has its row. */
  readonly others: OtherShares | undefined;
}

/** One file, as it was told. */
export interface FileFigures {
  readonly input: string;
  /** Absent where none was written. */
  readonly output?: string | undefined;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** As the caller counts them. */
  readonly records: number;
  readonly replaced: number;
}

export interface FileRow extends FileFigures {
  readonly savedBytes: number;
}

export interface OtherFiles {
  readonly files: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly savedBytes: number;
  readonly records: number;
  readonly replaced: number;
}

export interface FileTable {
  /** Those that saved most, in that order. */
  readonly rows: readonly FileRow[];
  /** Absent where every file has its row. */
  readonly others: OtherFiles | undefined;
}

/** Duplicates of one kind. */
export interface DuplicateShare {
  readonly duplicates: number;
  readonly duplicateBytes: number;
  readonly replaced: number;
  readonly savedBytes: number;
}

/** Payloads that occur so often. */
export interface CopyClass {
  readonly from: number;
  /** Absent in the last class, which has no end. */
  readonly to: number | undefined;
  /** Different payloads. */
  readonly payloads: number;
  /** Records that hold them. */
  readonly records: number;
  /** Bytes of all these payloads, each as often as it occurs. */
  readonly payloadBytes: number;
  /** The part of it that is there a second time or more. */
  readonly repeatedBytes: number;
}

export interface Collisions {
  /** Digests that stand for more than one payload. */
  readonly digests: number;
  /** The payloads that these stand for. */
  readonly payloads: number;
  /** Records that collision resolution has looked at; with 0 of them no collision could be found. */
  readonly resolvedRecords: number;
}

/** A duplicate that was replaced. Texts of more than 2,000 characters are cut, with `…` at their end. */
export interface LargestDuplicate {
  readonly savedBytes: number;
  readonly payloadBytes: number;
  readonly uri: string | undefined;
  readonly date: string | undefined;
  readonly file: string;
  readonly offset: number;
  readonly originalUri: string | undefined;
  readonly originalDate: string | undefined;
}

export interface ReasonRow {
  readonly reason: string;
  readonly records: number;
  readonly recordBytes: number;
  readonly payloadBytes: number;
}

export interface ReportTotals {
  readonly files: number;
  /** Records in these files, as they were told of each. */
  readonly fileRecords: number;
  /** Bytes of the files. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** The difference of the two; negative where files grew. */
  readonly savedBytes: number;
  /** Response and resource records: what was looked at for duplicates. */
  readonly records: number;
  readonly recordBytes: number;
  readonly payloadBytes: number;
  /** Different payloads, without those of records that can be neither original nor duplicate. */
  readonly payloads: number;
  /** Records that hold a payload others may refer to. */
  readonly originals: number;
  readonly duplicates: number;
  readonly duplicateBytes: number;
  /** Records that are neither: kept as they are, for a reason. */
  readonly kept: number;
  readonly replaced: number;
  /** Bytes of the replaced records, and of the revisits in their place. */
  readonly replacedBytesBefore: number;
  readonly replacedBytesAfter: number;
  /** Duplicates that were left as they are after all. */
  readonly left: number;
}

export interface DedupReport {
  readonly format: "holotype-dedup-report";
  /** Grows when a reader of the one before would go wrong. */
  readonly formatVersion: 1;
  readonly metadata: ReportMetadata;
  readonly totals: ReportTotals;
  /** Captures of the URI that the original is of. */
  readonly acrossTime: DuplicateShare;
  /** Captures of other URIs than the original's. */
  readonly acrossLocation: DuplicateShare;
  /** Duplicates whose original's URI was not told. */
  readonly acrossUnknown: DuplicateShare;
  readonly byFile: FileTable;
  readonly byMime: ShareTable;
  readonly byHost: ShareTable;
  /** In order of years. */
  readonly byYear: ShareTable;
  readonly copies: readonly CopyClass[];
  readonly largest: readonly LargestDuplicate[];
  readonly kept: readonly ReasonRow[];
  readonly left: readonly ReasonRow[];
  readonly collisions: Collisions;
}

/** The text of `report.json`. */
export function formatReportJson(report: DedupReport): string {
  return `${JSON.stringify(report, undefined, 2)}\n`;
}
