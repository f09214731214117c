/**
 * Archive files in which the originals of an index may lie: turns its claims into proofs. Where an entry tells the place of
 * its record, that record is read; for others all files are read once, when the first of them is to be proven.
 */
import { ArchiveError, isDamage } from "../base/index.ts";
import { type Certainty, shareDigest, timeOfDate } from "../dedup/index.ts";
import { type Disk, type ScratchFolder, scratchFolder } from "../disk/index.ts";
import { findInputs, type Input, openInput } from "../pipeline/index.ts";
import { type OriginalReference, WarcReader } from "../warc/index.ts";
import { baseName } from "./cdx-entries.ts";
import { DigestIndex, type OriginalProver } from "./digest-index.ts";
import { type DigestEntry, isChunked, type RecordPlace } from "./entry.ts";
import { EntrySorter } from "./entry-sorter.ts";
import { IndexWriter } from "./index-writer.ts";
import { InputSource } from "./input-source.ts";
import { Intake, type Moment, type SkipReason } from "./intake.ts";
import { entryOfRecord } from "./record-entries.ts";

/** Proofs that are remembered: an original is read once in a run, as long as there are no more than this. */
const PROOFS_MAX = 100_000;

export class OriginalFiles implements OriginalProver, AsyncDisposable {
  private readonly disk: Disk;
  /** By their names without folders; several files may have one. */
  private readonly files = new Map<string, Input[]>();
  private readonly inputs: readonly Input[];
  private readonly proofs = new Map<string, Certainty | "differs">();
  private scan: Promise<DigestIndex> | undefined;
  private scratch: ScratchFolder | undefined;

  /** Files, or folders of them. HT_NOT_FOUND where there is no such. */
  constructor(disk: Disk, names: readonly string[]) {
    this.disk = disk;
    this.inputs = findInputs(disk, names, ({ name, error }) => {
      if (names.includes(name)) throw error;
    });
    for (const input of this.inputs) {
      const name = baseName(input.name);
      this.files.set(name, [...(this.files.get(name) ?? []), input]);
    }
  }

  async prove(entry: DigestEntry): Promise<Certainty | undefined> {
    const { original, place, digests } = entry;
    if (original === undefined) return "claimed";
    const key = [isChunked(entry), original.uri, original.date, original.id, ...digests].join("\n");
    let proof = this.proofs.get(key);
    if (proof === undefined) {
      proof = this.proveAt(entry, place) ?? (await this.proveByScan(entry));
      if (this.proofs.size >= PROOFS_MAX) this.proofs.clear();
      this.proofs.set(key, proof);
    }
    return proof === "differs" ? undefined : proof;
  }

  /** Absent where the place is not told, or its file is not among these. */
  private proveAt(entry: DigestEntry, place: RecordPlace | undefined): Certainty | "differs" | undefined {
    const inputs = this.files.get(baseName(place?.file ?? ""));
    if (place === undefined || inputs === undefined) return undefined;
    // A file of the same name may be another crawl's.
    return inputs.some((input) => this.isThere(entry, input, place.offset)) ? "proven" : "differs";
  }

  private isThere(entry: DigestEntry, input: Input, offset: number): boolean {
    let isDamaged = false;
    const onWarning = (warning: Parameters<typeof isDamage>[0]) => {
      isDamaged ||= isDamage(warning);
    };
    try {
      const source = openInput(this.disk, input);
      const reader = new WarcReader(source, { start: offset, onWarning });
      try {
        const record = reader.next();
        if (record?.offset !== offset || record.type === "revisit") return false;
        const found = entryOfRecord(record, "");
        return typeof found === "object" && !isDamaged && isMeant(entry, found);
      } finally {
        reader.close();
        source.close?.();
      }
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      return false;
    }
  }

  private async proveByScan(entry: DigestEntry): Promise<Certainty | "differs"> {
    this.scan ??= this.readAll();
    const moment = momentOf(entry.original!);
    const index = await this.scan;
    const captures = index.statesOf(moment);
    if (captures.some((found) => isContent(entry, found))) return "proven";
    // The URL was captured in that second, and was something else or is no longer whole.
    return captures.length > 0 || index.statesOf(brokenAt(moment)).length > 0 ? "differs" : "claimed";
  }

  /** An index of all records that hold a payload, by URL and second: for each of these, and not only for the first. */
  private async readAll(): Promise<DigestIndex> {
    this.scratch = scratchFolder(this.disk);
    const folder = this.scratch.path;
    using writer = IndexWriter.open(this.disk, folder);
    using sorter = new EntrySorter(this.disk, { folder });
    const intake = new MomentIntake(sorter, writer.settings, {});
    for (const input of this.inputs) {
      try {
        await new InputSource(this.disk, input).readInto(intake);
      } catch (error) {
        // What of a file cannot be read is out of reach.
        if (!(error instanceof ArchiveError) || error.code === "HT_NO_SPACE") throw error;
      }
    }
    writer.addRun((path) => sorter.writeRun(path, writer.settings));
    return DigestIndex.open(this.disk, folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.scan)?.close();
    this.scratch?.remove();
  }
}

/** Takes captures for what they are proof of. */
class MomentIntake extends Intake {
  override take(entry: DigestEntry | SkipReason): void {
    const isProof = typeof entry === "object" && entry.place !== undefined && entry.original !== undefined;
    // An index has no empty payloads, but what is empty now was not what is asked for.
    if (isProof && entry.payloadSize === 0) this.passOver(entry);
    super.take(isProof ? { ...entry, uri: momentOf(entry.original), original: undefined } : "status");
  }

  override passOver({ uri, timeMs }: Moment): void {
    super.take({ uri: brokenAt(momentAt(uri, timeMs)), timeMs, digests: [NO_DIGEST] });
  }
}

/** An entry needs one. Nobody asks for that of a broken record. */
const NO_DIGEST = `sha1:${"A".repeat(32)}`;

/** Under which the scan keeps that a record of this moment cannot be read, or is not whole. */
function brokenAt(moment: string): string {
  return `broken ${moment}`;
}

/** Seconds are what captures are told apart by. */
function momentOf({ uri, date }: OriginalReference): string {
  return momentAt(uri, timeOfDate(date) ?? Number.NaN);
}

function momentAt(uri: string, timeMs: number): string {
  return `${Math.floor(timeMs / 1000)} ${uri}`;
}

/** What was found is the original that the entry tells of, and has its content. */
function isMeant(entry: DigestEntry, found: DigestEntry): boolean {
  const { original } = entry;
  if (original === undefined || found.original === undefined) return false;
  return momentOf(original) === momentOf(found.original) && isContent(entry, found);
}

/** A revisit cannot tell of another framing than its original has. */
function isContent(entry: DigestEntry, found: DigestEntry): boolean {
  return isChunked(entry) === isChunked(found) && shareDigest(entry.digests, found.digests);
}
