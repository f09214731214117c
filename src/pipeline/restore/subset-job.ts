/**
 * Taking a subset out of one file: its records as they are, and every revisit as the full record that it stands for, so
 * that nothing in the output refers to a record that is not in it. What comes out depends on nothing but what went in.
 */
import { createHash } from "node:crypto";
import { dirname } from "node:path";
import { ArchiveError, formatPlace, isDamage, loadDigest } from "../../base/index.ts";
import { type Access, type ByteSink, type Disk, DurableOutput } from "../../disk/index.ts";
import {
  type ByteSource,
  type Compression,
  fileSource,
  HTTP_HEAD_SIZE_MAX,
  loadZstd,
  WarcReader,
  type WarcRecord,
} from "../../warc/index.ts";
import { detectCompression } from "../compression.ts";
import { type Input, openInput } from "../inputs.ts";
import type { StageEvents } from "../stage-job.ts";
import { missing, RecordBuilder } from "./builder.ts";
import { Expansion, type ExpansionSource, editHead } from "./expand.ts";
import { createFilter, type RecordFilter, type SubsetFilter } from "./filter.ts";
import { RecipeFinder } from "./member-recipe-finder.ts";
import { type OriginalPayload, Originals } from "./original.ts";
import { PlanCursor, type RevisitPlan, type Stretch } from "./plan.ts";
import { parseReplaced } from "./record.ts";
import { readDictionary, sampleMembers } from "./samples.ts";
import { type Decision, isDropped, isNamed, type Selection, selectRecords } from "./select.ts";
import { proveSubset } from "./subset-proof.ts";

export interface SubsetJob {
  readonly kind: "subset";
  readonly name: string;
  readonly input: Input;
  readonly size: number;
  readonly output: string;
  readonly filter: SubsetFilter;
  /** The revisits of all files, and which of them are in this one. */
  readonly plan: string;
  readonly stretch: Stretch;
  /** A folder for what is sorted. */
  readonly scratch: string;
  readonly access: Access | undefined;
}

export interface SubsetFile {
  readonly file: string;
  /** Absent where the file holds nothing that was asked for. */
  readonly output: string | undefined;
  /** Records in the output, the warcinfo among them. */
  readonly records: number;
  /** Revisits of ours that are the records again whose places they took. */
  readonly restored: number;
  /** Revisits of the input that became responses. */
  readonly expanded: number;
  /** Revisits that were left out because their originals were not found or did not prove to be. */
  readonly orphans: number;
  /** Damaged records, which were left out. */
  readonly damaged: number;
  readonly size: number;
  readonly sha256: string;
  /** The output was there from an earlier run, and is the same. */
  readonly kept: boolean;
}

export async function doSubsetJob(disk: Disk, job: SubsetJob, events: StageEvents): Promise<SubsetFile> {
  await Promise.all([loadZstd(), loadDigest("blake3")]);
  const source = openInput(disk, job.input);
  try {
    const filter = createFilter(job.filter);
    using selection = selectRecords(disk, source, filter, job.scratch);
    if (selection.count === 0) return nothing(job);
    const dictionary = await readDictionary(source);
    using originals = new Originals(disk);
    const finder = new RecipeFinder(detectCompression(source), dictionary);
    finder.learn(sampleMembers(source, detectCompression(source)));
    const parts = { disk, job, source, filter, originals, finder, events };
    return disk.stat(job.output) === undefined ? writeSubset(parts, selection) : keepSubset(parts, selection);
  } finally {
    source.close?.();
  }
}

function nothing({ input }: SubsetJob): SubsetFile {
  const counts = { records: 0, restored: 0, expanded: 0, orphans: 0, damaged: 0 };
  return { file: input.name, output: undefined, ...counts, size: 0, sha256: "", kept: false };
}

interface SubsetParts {
  readonly disk: Disk;
  readonly job: SubsetJob;
  readonly source: ByteSource;
  readonly filter: RecordFilter;
  readonly originals: Originals;
  readonly finder: RecipeFinder;
  readonly events: StageEvents;
}

function writeSubset(parts: SubsetParts, selection: Selection): SubsetFile {
  const { disk, job } = parts;
  disk.makeFolder(dirname(job.output));
  using output = DurableOutput.begin(disk, job.output, { access: job.access });
  const file = new SubsetWriter(parts, output).run(selection);
  output.sync();
  {
    using written = output.openForReading();
    proveSubset(fileSource(written, job.output), file);
  }
  output.commit();
  return file;
}

/** An output that is there is compared with what would be written now. */
function keepSubset(parts: SubsetParts, selection: Selection): SubsetFile {
  const { disk, job } = parts;
  const file = new SubsetWriter(parts, { write: () => {} }).run(selection);
  using there = disk.open(job.output, "read");
  try {
    proveSubset(fileSource(there, job.output), file);
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    const message = `${job.output}: there already, and not the subset of ${job.input.name}`;
    throw new ArchiveError("HT_EXISTS", message, { file: job.output });
  }
  return { ...file, kept: true };
}

const COPY_SIZE = 1 << 20;
const PROGRESS_RECORDS = 256;
const NO_IDS: ReadonlySet<string> = new Set();

class SubsetWriter {
  private readonly parts: SubsetParts;
  private readonly sink: ByteSink;
  private readonly builder: RecordBuilder;
  private readonly compression: Compression;
  private readonly hash = createHash("sha256");
  private readonly plans: PlanCursor;
  private readonly counts = { records: 0, restored: 0, expanded: 0, orphans: 0, damaged: 0 };
  private size = 0;

  constructor(parts: SubsetParts, output: ByteSink) {
    this.parts = parts;
    this.sink = {
      write: (bytes) => {
        output.write(bytes);
        this.hash.update(bytes);
        this.size += bytes.length;
      },
    };
    this.compression = detectCompression(parts.source);
    this.builder = new RecordBuilder(parts.originals, parts.finder, this.sink);
    this.plans = new PlanCursor(parts.disk, parts.job.plan, parts.job.stretch);
  }

  run(selection: Selection): SubsetFile {
    const { source, job, filter, events } = this.parts;
    const decisions = selection.decisions();
    let decision = decisions.next().value as Decision | undefined;
    const reader = new WarcReader(source);
    try {
      for (let record = reader.next(), number = 0; record !== undefined; record = reader.next(), number++) {
        if (number === 0) this.copyPrelude(record.offset);
        while (decision !== undefined && decision.number < number) {
          decision = decisions.next().value as Decision | undefined;
        }
        const own = decision?.number === number ? decision : undefined;
        const plan = record.type === "revisit" ? this.plans.take(record) : undefined;
        if (record.type === "warcinfo" || own?.taken === true || isNamed(record, filter)) {
          this.take(record, plan, own?.dropped ?? NO_IDS);
        }
        if (number % PROGRESS_RECORDS === 0) events.onProgress(record.offset);
      }
    } finally {
      reader.close();
      decisions.return(undefined);
      this.plans[Symbol.dispose]();
    }
    const { counts, size } = this;
    const sha256 = this.hash.digest("hex");
    return { file: job.input.name, output: job.output, ...counts, size, sha256, kept: false };
  }

  /** A zstd file may begin with a dictionary that its frames need. */
  private copyPrelude(end: number): void {
    if (this.compression === "zstd") this.copy(0, end);
  }

  private take(record: WarcRecord, plan: RevisitPlan | undefined, dropped: ReadonlySet<string>): void {
    if (plan !== undefined) return this.takeRevisit(record, plan, dropped);
    if (record.type === "revisit") throw this.fail(record, "a revisit that was not there when the file was read");
    const shared = record.inner !== undefined || (record.block !== undefined && record.length === undefined);
    if (shared || dropped.size > 0) return this.takeAnew(record, dropped);
    const { raw } = record;
    if (raw === undefined) record.drain();
    if (record.warnings.some(isDamage)) {
      this.counts.damaged++;
      return;
    }
    this.counts.records++;
    if (raw !== undefined) this.sink.write(raw);
    else if (record.length !== undefined) this.copy(record.offset, record.length);
    else this.streamAgain(record.offset);
  }

  /** A large record that turned out to share its member with those behind it. */
  private streamAgain(offset: number): void {
    const reader = new WarcReader(this.parts.source, { start: offset });
    try {
      const record = reader.next()!;
      this.builder.stream(Buffer.from(record.headers.text, "latin1"), record.chunks());
    } finally {
      reader.close();
    }
  }

  /** Written as a member of its own, without references that lead nowhere. */
  private takeAnew(record: WarcRecord, dropped: ReadonlySet<string>): void {
    const { block, headers } = record;
    if (record.arc !== undefined) throw this.fail(record, "ARC records that share a member; convert the file first");
    const head = Buffer.from(
      editHead(headers.text, (name, value) => (isDropped(name, value, dropped) ? null : undefined)),
      "latin1",
    );
    if (record.warnings.some(isDamage)) {
      this.counts.damaged++;
      return;
    }
    this.counts.records++;
    if (block !== undefined) return this.builder.write(head, [block], block.length);
    this.builder.stream(head, record.chunks());
    if (record.warnings.some(isDamage)) throw this.fail(record, "it is damaged behind its beginning");
  }

  private takeRevisit(record: WarcRecord, plan: RevisitPlan, dropped: ReadonlySet<string>): void {
    const { text } = record.headers;
    const replaced = parseReplaced(text);
    if ((record.blockSize ?? 0) > HTTP_HEAD_SIZE_MAX) return this.leave(record, "its block is too large for a header");
    const block = Buffer.from(record.readAll(HTTP_HEAD_SIZE_MAX));
    if (replaced === undefined && record.warnings.some(isDamage)) {
      this.counts.damaged++;
      return;
    }
    if (replaced !== undefined) {
      if (record.warnings.some(isDamage)) throw this.fail(record, "a revisit of ours is damaged");
      this.builder.restore(plan, { text, http: block, replaced }, undefined);
      this.counts.restored++;
      this.counts.records++;
      return;
    }
    const { flags } = plan.revisit;
    if (flags.includes("unread")) return this.leave(record, "its profile is not known");
    const source = flags.includes("empty") ? emptySource(record) : this.findOriginal(plan);
    if (source === undefined) {
      const reason =
        plan.originals.length > 0 ? "its original cannot be read, or is another one" : missing(plan.revisit);
      return this.leave(record, reason);
    }
    this.expand(record, block, source, dropped);
    this.counts.expanded++;
    this.counts.records++;
  }

  private leave({ file, offset }: WarcRecord, message: string): void {
    this.counts.orphans++;
    this.parts.events.onWarning({ code: "HT_REVISIT_ORPHAN", message: `${message}; left out`, file, offset });
  }

  /** The first that can be read and is not found to have another payload than the revisit says. */
  private findOriginal({ revisit, originals }: RevisitPlan): PayloadSource | undefined {
    for (const line of originals) {
      try {
        const payloadSize = this.parts.originals.measure(line, revisit.digest);
        if (payloadSize === undefined) continue;
        const { uri = "-", date = "-" } = line;
        return { payloadSize, uri, date, use: (take) => this.parts.originals.use(line, take) };
      } catch (error) {
        if (!(error instanceof ArchiveError)) throw error;
      }
    }
    return undefined;
  }

  private expand(record: WarcRecord, block: Buffer, source: PayloadSource, dropped: ReadonlySet<string>): void {
    const expansion = source.use(({ http, blockType }) => new Expansion(record, block, { ...source, http, blockType }));
    const { head } = source.use(({ chunks }) => expansion.head(chunks, dropped));
    source.use(({ chunks }) => this.builder.stream(head, expansion.block(chunks)));
  }

  private copy(start: number, length: number): void {
    const buffer = Buffer.allocUnsafe(Math.min(COPY_SIZE, length));
    for (let at = start; at < start + length; ) {
      const count = this.parts.source.read(buffer.subarray(0, Math.min(buffer.length, start + length - at)), at);
      if (count === 0) throw new ArchiveError("HT_CHANGED", `${this.parts.source.name}: shorter than it was`);
      this.sink.write(buffer.subarray(0, count));
      at += count;
    }
  }

  private fail(place: { readonly file: string; readonly offset: number }, message: string): ArchiveError {
    return new ArchiveError("HT_VERIFY", `${formatPlace(place)}: ${message}`, place);
  }
}

/** A payload, which may be read as often as it is needed, and the capture that it is of. */
interface PayloadSource extends Omit<ExpansionSource, "http" | "blockType"> {
  use<T>(take: (payload: OriginalPayload) => T): T;
}

/** A revisit of an empty payload is the answer in its own header. */
function emptySource({ uri = "-", dateText = "-", blockType }: WarcRecord): PayloadSource {
  return { payloadSize: 0, uri, date: dateText, use: (take) => take({ chunks: [], http: undefined, blockType }) };
}
