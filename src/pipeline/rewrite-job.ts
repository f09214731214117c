/**
 * Rewriting one file of a job: under an unfinished name, made durable, proven against the input, entered in the ledger,
 * and only then given its name. Whatever stops it at whatever moment, the file is as it was or as it should be.
 */
import { ArchiveError, loadDigest } from "../base/index.ts";
import { type Disk, type DiskFile, DurableOutput } from "../disk/index.ts";
import { type ByteSource, fileSource, loadZstd } from "../warc/index.ts";
import { detectCompression } from "./compression.ts";
import { accessOf } from "./input-access.ts";
import { openInput } from "./inputs.ts";
import { fileOf, isRewritten, isUnchanged, isUntouched, type JobFile, loadJobFiles } from "./job-files.ts";
import { DRAFT } from "./job-folder.ts";
import { formatClaim, formatEntry, formatLeft, isRemark, LEDGER_FORMAT, parseEntry, writeLedger } from "./ledger.ts";
import { createLocator, type LocatorSettings } from "./locator.ts";
import { type ManifestLine, parseManifestLine } from "./manifest-line.ts";
import { OriginalProof } from "./original-proof.ts";
import type { PayloadFacts } from "./payload-facts.ts";
import { rewriteSource } from "./rewrite.ts";
import { proveRewrite, type ReplacedLine } from "./rewrite-proof.ts";
import type { StageEvents } from "./stage-job.ts";
import { readTextLines } from "./text-lines.ts";

export interface RewriteJob {
  readonly kind: "rewrite";
  /** Its name in the list of files. */
  readonly file: string;
  /** The list of files, see `job-files.ts`. */
  readonly files: string;
  /** The copies of the plan in order of their places, and the stretch of it that is this file's. */
  readonly copies: string;
  readonly start: number;
  readonly end: number;
  readonly minSaving: number;
  /** Count, and write nothing. */
  readonly dryRun: boolean;
  /** Files that could not be taken along: what refers to a record of theirs stays as it is. */
  readonly missing: readonly string[];
  /** Without it, the output is not read back; for measuring. */
  readonly prove: boolean;
  /** No copy was compared with its original in this run, so all are compared now. */
  readonly compare: boolean;
  /** Inputs on a server: they are in no list of files, and were compared with the others. */
  readonly remote: readonly string[];
  /** Where originals are found that lie in other files. */
  readonly originals: LocatorSettings;
  /** An original that cannot be reached is taken for what it is said to be. */
  readonly believe: boolean;
}

export interface RewriteResult {
  readonly replaced: number;
  /** How many of these refer to originals that could not be read. */
  readonly claims: number;
  readonly left: Readonly<Record<string, number>>;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

export async function doRewriteJob(disk: Disk, job: RewriteJob, events: StageEvents): Promise<RewriteResult> {
  const files = loadJobFiles(disk, job.files);
  const file = files.get(job.file)!;
  if (!isAsCompared(disk, job, file)) throw changed(file, "changed since the job began; it was left as it is");
  const source = openInput(disk, { name: file.path, path: file.path, entries: [], size: file.size });
  try {
    if (source.size !== file.size) throw changed(file, "changed since the job began; it was left as it is");
    if (detectCompression(source) === "zstd") await loadZstd();
    // What an original needs to be read is not known before.
    if (job.compare || job.originals.folders !== undefined) await Promise.all([loadZstd(), loadDigest("blake3")]);
    using originals = new OriginalProof(disk, files, createLocator(disk, job.originals));
    const watch = new OriginalWatch(disk, files, job);
    return new FileRewrite(disk, job, file, watch, originals, events).run(source);
  } finally {
    source.close?.();
  }
}

/** A copy that is compared now may be in a file that somebody moved meanwhile; one that was must be in that very file. */
function isAsCompared(disk: Disk, { compare }: RewriteJob, file: JobFile): boolean {
  return compare ? isUnchanged(disk, file) : isUntouched(disk, file);
}

function changed(file: JobFile, message: string): ArchiveError {
  return new ArchiveError("HT_CHANGED", `${file.path}: ${message}`, { file: file.path });
}

/** Sees to it that what is referred to stays where it is. */
class OriginalWatch {
  private readonly disk: Disk;
  private readonly job: RewriteJob;
  private readonly files: ReadonlyMap<string, JobFile>;
  private readonly missing: ReadonlySet<string>;
  private readonly remote: ReadonlySet<string>;
  private readonly present = new Map<string, boolean>();

  constructor(disk: Disk, files: ReadonlyMap<string, JobFile>, job: RewriteJob) {
    this.disk = disk;
    this.job = job;
    this.files = files;
    this.missing = new Set(job.missing);
    this.remote = new Set(job.remote);
  }

  /** Whether a file is none of the job, so that nobody has compared anything with its records. */
  isElsewhere(name: string): boolean {
    return fileOf(this.files, name) === undefined && !this.remote.has(name);
  }

  isPresent(name: string): boolean {
    const known = this.present.get(name);
    if (known !== undefined) return known;
    const file = fileOf(this.files, name);
    const present = !this.missing.has(file?.name ?? name) && (file === undefined || this.isThere(file));
    this.present.set(name, present);
    return present;
  }

  private isThere(file: JobFile): boolean {
    return isAsCompared(this.disk, this.job, file) || isRewritten(this.disk, file);
  }

  /** Looks again, right before what refers to them gets its name. */
  check(): void {
    for (const [name, present] of this.present) {
      const file = fileOf(this.files, name);
      if (present && file !== undefined && !this.isThere(file)) {
        throw changed(file, "changed while records that refer to it were written; they were thrown away");
      }
    }
  }
}

class FileRewrite {
  private readonly disk: Disk;
  private readonly job: RewriteJob;
  private readonly file: JobFile;
  private readonly watch: OriginalWatch;
  private readonly originals: OriginalProof;
  private readonly events: StageEvents;
  private replaced = 0;
  private claims = 0;
  private readonly left: Record<string, number> = {};

  constructor(
    disk: Disk,
    job: RewriteJob,
    file: JobFile,
    watch: OriginalWatch,
    originals: OriginalProof,
    events: StageEvents,
  ) {
    this.disk = disk;
    this.job = job;
    this.file = file;
    this.watch = watch;
    this.originals = originals;
    this.events = events;
  }

  run(source: ByteSource): RewriteResult {
    const { file, job } = this;
    const bytesAfter = job.dryRun ? this.rewrite(source, { write: () => {} }, () => {}) : this.rewriteDurably(source);
    const { replaced, claims, left } = this;
    return { replaced, claims, left, bytesBefore: file.size, bytesAfter };
  }

  private rewriteDurably(source: ByteSource): number {
    const { disk, file, job } = this;
    const draft = `${file.ledger}${DRAFT}`;
    // In place, all that could be done with the file can still be done.
    const isInPlace = file.output === file.path;
    const access = isInPlace ? undefined : accessOf(disk, [file]);
    using output = DurableOutput.begin(disk, file.output, { replace: isInPlace, access });
    {
      using entries = new DraftWriter(disk, draft);
      this.rewrite(source, output, (line) => entries.write(`${line}\n`));
      entries.flush();
    }
    // In place, a file in which nothing was replaced stays as it is.
    if (this.replaced === 0 && isInPlace) {
      disk.remove(draft);
      // A run that was stopped may have left one that tells otherwise.
      disk.remove(file.ledger);
      return file.size;
    }
    output.sync();
    const sha256 = job.prove ? this.prove(source, output, draft) : "";
    writeLedger(
      disk,
      file.ledger,
      {
        format: LEDGER_FORMAT,
        input: { name: file.name, size: file.size, modifiedMs: file.modifiedMs },
        output: { path: file.output, size: output.size, sha256 },
        compression: detectCompression(source),
      },
      readTextLines(disk, draft),
    );
    disk.remove(draft);
    if (!isAsCompared(disk, this.job, file))
      throw changed(file, "changed while it was rewritten; it was left as it is");
    this.watch.check();
    output.commit();
    return output.size;
  }

  private *copies(): Generator<ManifestLine> {
    const { copies, start, end } = this.job;
    if (start === end) return;
    for (const line of readTextLines(this.disk, copies, start, end)) yield parseManifestLine(line, copies);
  }

  private rewrite(
    source: ByteSource,
    sink: { write(bytes: Uint8Array): void },
    onLine: (line: string) => void,
  ): number {
    const { minSaving, compare, believe } = this.job;
    const whyLeave = ({ original }: ManifestLine) =>
      original?.file === undefined || this.watch.isPresent(original.file) ? undefined : "original-missing";
    const isClaim = ({ original }: ManifestLine) =>
      compare || original?.file === undefined || this.watch.isElsewhere(original.file);
    /** Of the copy at hand: its original could not be read. */
    let isBelieved = false;
    const whyNotOriginal = (line: ManifestLine, payload: PayloadFacts) => {
      const verdict = this.originals.judge(line, payload);
      isBelieved = verdict === "unreached" && believe;
      if (verdict === "differs") return "original-differs";
      return verdict === "same" || isBelieved ? undefined : "original-missing";
    };
    return rewriteSource(
      source,
      this.copies(),
      sink,
      { minSaving, whyLeave, isClaim, whyNotOriginal },
      {
        onReplaced: (_, entry) => {
          this.replaced++;
          if (isBelieved) {
            this.claims++;
            onLine(formatClaim(entry.inputOffset));
          }
          isBelieved = false;
          onLine(formatEntry(entry));
        },
        onLeft: (line, reason) => {
          isBelieved = false;
          onLine(formatLeft({ inputOffset: line.offset, reason }));
          this.left[reason] = (this.left[reason] ?? 0) + 1;
        },
        onProgress: everyMegabytes(16, this.events.onProgress),
      },
    );
  }

  private prove(source: ByteSource, output: DurableOutput, draft: string): string {
    using written = output.openForReading();
    return proveRewrite(source, fileSource(written, this.file.output), this.replacedLines(draft));
  }

  /** The copies of the plan that were replaced, with their entries: both are in order of their offsets. */
  private *replacedLines(draft: string): Generator<ReplacedLine> {
    const copies = this.copies();
    for (const text of readTextLines(this.disk, draft)) {
      if (isRemark(text)) continue;
      const entry = parseEntry(text, draft);
      let line = copies.next().value as ManifestLine | undefined;
      while (line !== undefined && line.offset !== entry.inputOffset) line = copies.next().value as ManifestLine;
      if (line === undefined) throw new ArchiveError("HT_CORRUPT", `${draft}: an entry without its line in the plan`);
      yield { line, entry };
    }
  }
}

function everyMegabytes(megabytes: number, tell: (bytes: number) => void): (bytes: number) => void {
  let told = 0;
  return (bytes) => {
    if (bytes - told < megabytes << 20) return;
    told = bytes;
    tell(bytes);
  };
}

const DRAFT_SIZE = 1 << 16;

/** Lines that are needed for a while, and need not survive. */
class DraftWriter implements Disposable {
  private readonly file: DiskFile;
  private text = "";
  private position = 0;

  constructor(disk: Disk, path: string) {
    this.file = disk.open(path, "replace");
  }

  write(text: string): void {
    this.text += text;
    if (this.text.length > DRAFT_SIZE) this.flush();
  }

  flush(): void {
    const bytes = Buffer.from(this.text);
    this.file.write(bytes, this.position);
    this.position += bytes.length;
    this.text = "";
  }

  [Symbol.dispose](): void {
    this.file.close();
  }
}
