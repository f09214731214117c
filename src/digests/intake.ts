/** What sources of captures give their captures to: it leaves out what an index must not have, counts, and sorts the rest. */
import { ArchiveError } from "../base/index.ts";
import { isEmptyDigest } from "../dedup/index.ts";
import type { DigestEntry } from "./entry.ts";
import type { EntrySorter } from "./entry-sorter.ts";
import { createMimeGate, type MimeFilter, plainMime } from "./mime-gate.ts";
import type { IndexSettings } from "./settings.ts";

/**
 * Why something that a source tells is no entry. `status`: no answer with a content of its own, as DNS, failures and 304.
 * `unreadable`: a line or a record that could not be read.
 */
export const SKIP_REASONS = [
  "status",
  "no-digest",
  "no-url",
  "empty",
  "truncated",
  "mime",
  "large",
  "unreadable",
] as const;
export type SkipReason = (typeof SKIP_REASONS)[number];

/** Something that could not be read; reading goes on behind it. */
export interface Fault {
  readonly file: string;
  /** From 1 on; of a text. */
  readonly line?: number | undefined;
  readonly message: string;
}

export interface IntakeOptions extends MimeFilter {
  /** Where the captures of these sources lie, in the operator's words; for those that do not say it themselves. */
  readonly origin?: string | undefined;
  readonly onFault?: ((fault: Fault) => void) | undefined;
  readonly onProgress?: ((progress: IntakeProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** When which URL was captured. */
export interface Moment {
  readonly uri: string;
  readonly timeMs: number;
}

export interface IntakeProgress {
  readonly file: string;
  readonly bytesDone: number;
  /** Lines or records that were looked at. */
  readonly read: number;
}

export class Intake {
  readonly sorter: EntrySorter;
  readonly settings: IndexSettings;
  readonly origin: string | undefined;
  /** Whether captures of this plain media type are taken. */
  readonly takesMime: (mime: string | undefined) => boolean;
  private readonly options: IntakeOptions;
  readonly skipped: Record<SkipReason, number>;
  private file = "";
  private bytesDone = 0;
  /** Lines or records that were looked at, and entries that came of them. */
  read = 0;
  taken = 0;

  constructor(sorter: EntrySorter, settings: IndexSettings, options: IntakeOptions) {
    this.sorter = sorter;
    this.settings = settings;
    this.options = options;
    this.origin = options.origin;
    this.takesMime = createMimeGate(options);
    this.skipped = Object.fromEntries(SKIP_REASONS.map((reason) => [reason, 0])) as Record<SkipReason, number>;
  }

  /** A capture, or why it is none. */
  take(entry: DigestEntry | SkipReason): void {
    this.read++;
    if (typeof entry === "string") {
      this.skipped[entry]++;
      return;
    }
    const mime = entry.mime === undefined ? undefined : plainMime(entry.mime);
    if (entry.payloadSize === 0 || entry.digests.some(isEmptyDigest)) this.skipped.empty++;
    else if (entry.digests.length === 0) this.skipped["no-digest"]++;
    else if (!this.takesMime(mime)) this.skipped.mime++;
    else {
      const { validators } = this.settings;
      const { etag, lastModified } = validators ? entry : { etag: undefined, lastModified: undefined };
      const { refused } = this.sorter;
      this.sorter.add({ ...entry, mime, etag, lastModified, origin: entry.origin ?? this.origin });
      if (this.sorter.refused > refused) this.skipped.large++;
      else this.taken++;
    }
  }

  /** Told of a record that should hold a payload, and cannot be read or is not whole. An index has no use for it. */
  passOver(_moment: Moment): void {}

  /** Counts as read, and as skipped. */
  tellFault(fault: Fault): void {
    this.take("unreadable");
    this.options.onFault?.(fault);
  }

  begin(file: string): void {
    this.file = file;
  }

  /** To be called now and then: tells how far it is, and ends where that is wanted. */
  async breathe(bytes: number): Promise<void> {
    this.bytesDone += bytes;
    this.options.onProgress?.({ file: this.file, bytesDone: this.bytesDone, read: this.read });
    await new Promise((resolve) => setImmediate(resolve));
    if (this.options.signal?.aborted === true) {
      throw new ArchiveError("HT_INTERRUPTED", "interrupted: the index is as it was before");
    }
  }
}
