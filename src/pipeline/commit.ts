/**
 * Carries a finished job over to a second copy of its inputs. First every file of the copy is compared with what the
 * job's input was: outside of the replaced records the bytes must be those of the job's output, and each replaced record
 * must have the digest that the ledger keeps. Only when all of them are right the first one is replaced, by the bytes of
 * the job's output, read back before they get their name. A copy in which some files are replaced and others are not is
 * whole, since originals stay in every form of it; so it can be stopped at any moment, and the same call goes on.
 */
import { createHash } from "node:crypto";
import { relative, resolve } from "node:path";
import { ArchiveError } from "../base/index.ts";
import { type Disk, type DiskFile, DurableOutput, type FileStat, removeLeftovers } from "../disk/index.ts";
import { commonFolder, isUnchanged, type JobFile, loadJobFiles } from "./job-files.ts";
import { type JobState, readState } from "./job-folder.ts";
import { type Ledger, readLedger } from "./ledger.ts";

export interface CommitOptions {
  readonly onProgress?: ((progress: CommitProgress) => void) | undefined;
  /** For people: what is not proven here. */
  readonly onTell?: ((message: string) => void) | undefined;
}

export interface CommitProgress {
  readonly stage: "checking" | "writing";
  readonly done: number;
  readonly total: number;
}

export interface CommitResult {
  readonly job: string;
  readonly copy: string;
  readonly files: number;
  /** Replaced now, replaced by an earlier run, and equal in both forms. */
  readonly written: number;
  readonly writtenBefore: number;
  readonly equal: number;
  /** Records of the copy that are revisits now. */
  readonly replaced: number;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** A file of the copy that is still what the job's input was. */
interface Pending {
  readonly file: JobFile;
  readonly ledger: Ledger;
  readonly path: string;
  /** As it was when it was compared. */
  readonly stat: FileStat;
}

const CHUNK_SIZE = 1 << 20;

/** Commits the job in the folder `job` to the files below `copy`. Throws before a byte is changed where any is wrong. */
export async function commitJob(
  disk: Disk,
  job: string,
  copy: string,
  options: CommitOptions = {},
): Promise<CommitResult> {
  const state = readState(disk, `${job}/job.json`);
  if (state === undefined) throw new ArchiveError("HT_NOT_FOUND", `${job}: no job of dedup or rewrite`, { file: job });
  if (disk.stat(copy)?.kind !== "folder")
    throw new ArchiveError("HT_NOT_FOUND", `${copy}: no such folder`, { file: copy });
  const lock = disk.lock(`${job}/lock`);
  try {
    return await new Commit(disk, job, copy, state, options).run();
  } finally {
    lock.release();
  }
}

class Commit {
  private readonly disk: Disk;
  private readonly job: string;
  private readonly copy: string;
  private readonly state: JobState;
  private readonly options: CommitOptions;
  private readonly files: readonly JobFile[];
  private readonly buffers = [new Uint8Array(CHUNK_SIZE), new Uint8Array(CHUNK_SIZE)] as const;
  private done = 0;

  constructor(disk: Disk, job: string, copy: string, state: JobState, options: CommitOptions) {
    this.disk = disk;
    this.job = job;
    this.copy = copy;
    this.state = state;
    this.options = options;
    this.files = [...loadJobFiles(disk, `${job}/files.jsonl`).values()];
  }

  async run(): Promise<CommitResult> {
    const { disk, job, files } = this;
    if (disk.stat(`${job}/report.json`) === undefined) {
      throw new ArchiveError("HT_USAGE", `${job}: the job is not finished; finish it with its own command first`);
    }
    const { known, plan } = this.state.settings;
    if (known.length > 0 || plan !== undefined) {
      this.options.onTell?.("originals in files that are not part of the job are not looked for in the copy");
    }
    const root = commonFolder(files);
    const pending: Pending[] = [];
    const counts = { written: 0, writtenBefore: 0, equal: 0, replaced: 0, bytesBefore: 0, bytesAfter: 0 };
    const total = files.reduce((sum, { size }) => sum + size, 0);
    for (const file of files) {
      await this.progress("checking", this.done, total);
      const ledger = readLedger(disk, file.ledger);
      const path = `${this.copy}/${relative(root, resolve(file.path))}`;
      const found = this.check(file, ledger, path, root);
      this.done += file.size;
      counts.bytesBefore += file.size;
      counts.bytesAfter += ledger?.head.output.size ?? file.size;
      for (const _ of ledger?.entries ?? []) counts.replaced++;
      if (typeof found === "string") counts[found]++;
      else pending.push(found);
    }
    await this.write(pending);
    counts.written = pending.length;
    return { job, copy: this.copy, files: files.length, ...counts };
  }

  private check(
    file: JobFile,
    ledger: Ledger | undefined,
    path: string,
    root: string,
  ): Pending | "equal" | "writtenBefore" {
    const { disk } = this;
    const stat = disk.statLink(path);
    if (stat?.kind !== "file") {
      const place = `the files of the job lie below ${root}, so name the folder of the copy that answers to it`;
      throw new ArchiveError("HT_NOT_FOUND", `${path}: no such file; ${place}`, { file: path });
    }
    if ([file.path, file.output].some((own) => disk.stat(own)?.identity === stat.identity)) {
      throw new ArchiveError("HT_USAGE", `${path}: a file of the job itself, not of a second copy`, { file: path });
    }
    if (ledger === undefined) {
      if (!isUnchanged(disk, file)) throw changed(file.path, "changed since the job");
      this.compare(path, file.path, []);
      return "equal";
    }
    if (ledger.claims() > 0) {
      const message = `${file.output}: refers to originals that nobody has read (claims), so it must not replace a copy`;
      throw new ArchiveError("HT_UNSUPPORTED", message, { file: file.output });
    }
    const { output } = ledger.head;
    if (stat.sizeBytes === output.size && this.digestAt(path) === output.sha256) {
      return output.size === file.size ? "equal" : "writtenBefore";
    }
    const sha256 = this.compare(path, file.output, ledger.entries);
    if (sha256 !== output.sha256) throw changed(file.output, "not as the job left it");
    return { file, ledger, path, stat: disk.stat(path)! };
  }

  private digestAt(path: string): string {
    using file = this.disk.open(path, "read");
    return this.digestOf(file);
  }

  private digestOf(file: DiskFile, onChunk?: (chunk: Uint8Array) => void): string {
    const hash = createHash("sha256");
    const [buffer] = this.buffers;
    for (let at = 0; ; ) {
      const chunk = buffer.subarray(0, file.read(buffer, at));
      if (chunk.length === 0) return hash.digest("hex");
      hash.update(chunk);
      onChunk?.(chunk);
      at += chunk.length;
    }
  }

  /** Compares a file of the copy with what stands for it now; the sha256 of the latter. */
  private compare(path: string, output: string, entries: Ledger["entries"]): string {
    using copy = this.disk.open(path, "read");
    if (this.disk.stat(output) === undefined) {
      const message = `${output}: not there; run commit in the folder in which the job was run`;
      throw new ArchiveError("HT_NOT_FOUND", message, { file: output });
    }
    using now = this.disk.open(output, "read");
    const hash = createHash("sha256");
    let [at, nowAt] = [0, 0];
    for (const { inputOffset, inputLength, outputOffset, outputLength, storedDigest } of entries) {
      this.compareStretch(copy, at, now, nowAt, inputOffset - at, hash);
      if (nowAt + inputOffset - at !== outputOffset) throw changed(output, "its ledger does not add up");
      if (`sha256:${this.hashStretch(copy, inputOffset, inputLength).digest("hex")}` !== storedDigest) {
        throw differs(path, inputOffset);
      }
      this.hashStretch(now, outputOffset, outputLength, hash);
      at = inputOffset + inputLength;
      nowAt = outputOffset + outputLength;
    }
    const rest = Math.max(copy.size() - at, now.size() - nowAt);
    this.compareStretch(copy, at, now, nowAt, rest, hash);
    return hash.digest("hex");
  }

  private compareStretch(
    copy: DiskFile,
    from: number,
    now: DiskFile,
    nowFrom: number,
    length: number,
    hash: ReturnType<typeof createHash>,
  ): void {
    const [one, other] = this.buffers;
    for (let done = 0; done < length; ) {
      const size = Math.min(CHUNK_SIZE, length - done);
      const left = one.subarray(0, copy.read(one.subarray(0, size), from + done));
      const right = other.subarray(0, now.read(other.subarray(0, size), nowFrom + done));
      if (left.length < size || Buffer.compare(left, right) !== 0) throw differs(copy.path, from + done);
      hash.update(right);
      done += size;
    }
  }

  private hashStretch(file: DiskFile, from: number, length: number, hash = createHash("sha256")) {
    const [buffer] = this.buffers;
    for (let done = 0; done < length; ) {
      const chunk = buffer.subarray(0, file.read(buffer.subarray(0, Math.min(CHUNK_SIZE, length - done)), from + done));
      if (chunk.length === 0) break;
      hash.update(chunk);
      done += chunk.length;
    }
    return hash;
  }

  /** Between two files somebody may interrupt. */
  private async progress(stage: CommitProgress["stage"], done: number, total: number): Promise<void> {
    this.options.onProgress?.({ stage, done, total });
    await new Promise((resume) => void setImmediate(resume));
  }

  private async write(pending: readonly Pending[]): Promise<void> {
    const total = pending.reduce((sum, { ledger }) => sum + ledger.head.output.size, 0);
    let done = 0;
    for (const each of pending) {
      await this.progress("writing", done, total);
      this.replace(each);
      done += each.ledger.head.output.size;
    }
  }

  private replace({ file, ledger, path, stat }: Pending): void {
    const { disk } = this;
    const { sha256 } = ledger.head.output;
    removeLeftovers(disk, resolve(path, ".."));
    using output = DurableOutput.begin(disk, path, { replace: true });
    {
      using source = disk.open(file.output, "read");
      if (this.digestOf(source, (chunk) => output.write(chunk)) !== sha256) {
        throw changed(file.output, "not as the job left it");
      }
    }
    output.sync();
    {
      using written = output.openForReading();
      if (this.digestOf(written) !== sha256) {
        throw new ArchiveError("HT_VERIFY", `${path}: read back otherwise than written; thrown away`, { file: path });
      }
    }
    const now = disk.stat(path);
    if (now?.identity !== stat.identity || now.changed !== stat.changed)
      throw changed(path, "changed while it was compared");
    output.commit();
  }
}

function changed(path: string, message: string): ArchiveError {
  return new ArchiveError("HT_CHANGED", `${path}: ${message}; nothing more was changed`, { file: path });
}

function differs(path: string, offset: number): ArchiveError {
  const message = `${path}: not what the job's input was, from byte ${offset} on or soon after; nothing was changed`;
  return new ArchiveError("HT_CHANGED", message, { file: path, offset });
}
