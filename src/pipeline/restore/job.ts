/**
 * Restoring one file: under an unfinished name, made durable, proven against the file it was made from, and only then
 * given its name. An output that is there from an earlier run is kept where the same proof holds.
 */
import { dirname } from "node:path";
import { ArchiveError, formatPlace, loadDigest } from "../../base/index.ts";
import { type Access, type Disk, DurableOutput } from "../../disk/index.ts";
import { type ByteSource, type Compression, fileSource, isZip, loadZstd } from "../../warc/index.ts";
import { detectCompression } from "../compression.ts";
import { accessOf } from "../input-access.ts";
import { openInput } from "../inputs.ts";
import { type LedgerHead, readLedger } from "../ledger.ts";
import type { StageEvents } from "../stage-job.ts";
import { RecordBuilder } from "./builder.ts";
import { checkLedger } from "./ledger.ts";
import type { StoredMember } from "./member-recipe.ts";
import { RecipeFinder } from "./member-recipe-finder.ts";
import { Originals, pathLocator } from "./original.ts";
import type { Stretch } from "./plan.ts";
import { proveRestore, type RestoreProof } from "./proof.ts";
import { readDictionary, sampleMembers } from "./samples.ts";
import { type RestoreStep, restoreSteps } from "./steps.ts";

export interface RestoreJob {
  readonly kind: "restore";
  readonly name: string;
  /** The file to be restored. */
  readonly path: string;
  readonly size: number;
  readonly output: string;
  /** The revisits of all files, and which of them are in this one: in the file, or in entries of it. */
  readonly plan: string;
  readonly parts: readonly { readonly name: string; readonly stretch: Stretch }[];
  readonly ledger: string | undefined;
  /** Those who may read what is put together from other files. */
  readonly access: Access | undefined;
}

/**
 * `identical`: byte for byte the file that was deduplicated. `equal`: every record that was replaced is as it was, its
 * compression may differ. `copied`: there was nothing to restore, and no ledger to compare with. `changed`: what was
 * replaced is as it was, but other bytes of the file are not those that deduplication wrote.
 */
export type RestoredState = "identical" | "equal" | "copied" | "changed";

export interface RestoredFile {
  readonly file: string;
  readonly output: string;
  readonly state: RestoredState;
  /** Records that were put together again. */
  readonly restored: number;
  /** Revisits of ours that were in the input of the deduplication that was undone; they are as they were. */
  readonly earlier: number;
  readonly sizeBefore: number;
  readonly size: number;
  /** Of the restored file, in hex. */
  readonly sha256: string;
  /** The output was there from an earlier run, and proved right. */
  readonly kept: boolean;
}

export async function doRestoreJob(disk: Disk, job: RestoreJob, events: StageEvents): Promise<RestoredFile> {
  await Promise.all([loadZstd(), loadDigest("blake3")]);
  const source = openInput(disk, pathLocator(disk).locate(job.path));
  try {
    const dictionary = await readDictionary(source);
    using originals = new Originals(disk);
    return new FileRestore(disk, job, source, originals, dictionary, events).run();
  } finally {
    source.close?.();
  }
}

const COPY_SIZE = 1 << 20;
const PROGRESS_SIZE = 4 << 20;
const NO_STRETCH = { start: 0, end: 0 };

class FileRestore {
  private readonly disk: Disk;
  private readonly job: RestoreJob;
  private readonly source: ByteSource;
  private readonly compression: Compression;
  private readonly originals: Originals;
  private readonly finder: RecipeFinder;
  private readonly events: StageEvents;
  private readonly ledger: string | undefined;
  private readonly buffer = Buffer.allocUnsafeSlow(COPY_SIZE);
  private at = 0;
  private told = 0;
  private earlier = 0;

  constructor(
    disk: Disk,
    job: RestoreJob,
    source: ByteSource,
    originals: Originals,
    dictionary: Uint8Array | undefined,
    events: StageEvents,
  ) {
    this.disk = disk;
    this.job = job;
    this.source = source;
    this.compression = detectCompression(source);
    this.originals = originals;
    this.finder = new RecipeFinder(this.compression, dictionary);
    this.events = events;
    this.ledger = this.soundLedger();
  }

  /** Without a ledger the revisits tell enough to go on. */
  private soundLedger(): string | undefined {
    const { ledger } = this.job;
    const message = ledger === undefined ? undefined : checkLedger(this.disk, ledger);
    if (message === undefined) return ledger;
    this.events.onWarning({ code: "HT_CORRUPT", message: `${message}; done without it`, file: ledger!, offset: 0 });
    return undefined;
  }

  run(): RestoredFile {
    const { disk, job } = this;
    this.refuseZip();
    const kept = disk.stat(job.output) !== undefined;
    const { proof, size } = kept ? this.proveThere() : this.write();
    return this.resultOf(proof, size, kept);
  }

  /** A WACZ is copied as a whole: its directory tells where everything in it lies. */
  private refuseZip(): void {
    const { disk, job } = this;
    const magic = Buffer.alloc(4);
    if (this.source.read(magic, 0) < 4 || !isZip(magic)) return;
    for (const { name, stretch } of job.parts) {
      const entry = openInput(disk, pathLocator(disk).locate(name));
      try {
        const request = { plan: job.plan, stretch, ledger: undefined };
        for (const { line } of restoreSteps(disk, entry, detectCompression(entry), request)) {
          const message = `${formatPlace(line)}: a revisit of ours inside a ZIP file cannot be restored there; unpack it first`;
          throw new ArchiveError("HT_UNSUPPORTED", message, { file: line.file, offset: line.offset });
        }
      } finally {
        entry.close?.();
      }
    }
  }

  private steps(): Generator<RestoreStep> {
    const { job } = this;
    this.earlier = 0;
    return restoreSteps(this.disk, this.source, this.compression, {
      plan: job.plan,
      stretch: job.parts.find(({ name }) => name === job.path)?.stretch ?? NO_STRETCH,
      ledger: this.ledger,
      onEarlier: () => this.earlier++,
    });
  }

  private write(): { proof: RestoreProof; size: number } {
    const { disk, job, source } = this;
    disk.makeFolder(dirname(job.output));
    // What is only copied is like its file.
    const access = job.parts.length === 0 ? accessOf(disk, [job]) : job.access;
    using output = DurableOutput.begin(disk, job.output, { access });
    const builder = new RecordBuilder(this.originals, this.finder, output);
    let learnt = false;
    for (const step of this.steps()) {
      if (!learnt) this.finder.learn(sampleMembers(source, this.compression));
      learnt = true;
      this.copyTo(step.line.offset, output);
      builder.restore({ revisit: step.line, originals: step.originals }, step.revisit, storedMember(step));
      this.at += step.line.length;
    }
    this.copyTo(source.size!, output);
    output.sync();
    const proof = this.proveWritten(output);
    output.commit();
    return { proof, size: output.size };
  }

  private proveWritten(output: DurableOutput): RestoreProof {
    using written = output.openForReading();
    return proveRestore(this.source, fileSource(written, this.job.output), this.steps());
  }

  private proveThere(): { proof: RestoreProof; size: number } {
    const { disk, job } = this;
    using file = disk.open(job.output, "read");
    try {
      return { proof: proveRestore(this.source, fileSource(file, job.output), this.steps()), size: file.size() };
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.place.file !== job.output) throw error;
      const message = `${job.output}: there already, and not what ${job.path} is restored to (${error.message})`;
      throw new ArchiveError("HT_EXISTS", message, { file: job.output });
    }
  }

  private copyTo(end: number, output: DurableOutput): void {
    while (this.at < end) {
      const count = this.source.read(this.buffer.subarray(0, Math.min(COPY_SIZE, end - this.at)), this.at);
      if (count === 0) throw new ArchiveError("HT_CHANGED", `${this.source.name}: shorter than it was`, this.place());
      output.write(this.buffer.subarray(0, count));
      this.at += count;
      if (this.at - this.told < PROGRESS_SIZE) continue;
      this.told = this.at;
      this.events.onProgress(this.at);
    }
  }

  private place() {
    return { file: this.source.name, offset: this.at };
  }

  private resultOf(proof: RestoreProof, size: number, kept: boolean): RestoredFile {
    const { job, earlier } = this;
    const head = this.ledger === undefined ? undefined : readLedger(this.disk, this.ledger)!.head;
    return {
      file: job.path,
      output: job.output,
      state: stateOf(proof, size, head, this.compression),
      restored: proof.restored,
      earlier,
      sizeBefore: this.source.size!,
      size,
      sha256: proof.outputDigest,
      kept,
    };
  }
}

function storedMember({ entry }: RestoreStep): StoredMember | undefined {
  if (entry === undefined) return undefined;
  const gzipHeader = entry.gzipHeader === undefined ? undefined : Buffer.from(entry.gzipHeader, "hex");
  return { length: entry.inputLength, digest: entry.storedDigest, gzipHeader };
}

function stateOf(
  proof: RestoreProof,
  size: number,
  head: LedgerHead | undefined,
  compression: Compression,
): RestoredState {
  if (head === undefined) {
    if (proof.restored === 0) return "copied";
    return compression === "none" ? "identical" : "equal";
  }
  // A ledger of a job that proved nothing does not know the digest of its output.
  if (head.output.sha256 === "") return "equal";
  if (head.output.sha256 !== proof.sourceDigest) return "changed";
  return proof.identical && size === head.input.size ? "identical" : "equal";
}
