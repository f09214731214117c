/**
 * Reads originals where a plan says that they lie, right before a payload is given up for them. What an earlier run, a
 * plan or an index says of an original is a claim; here it becomes a fact or is turned down.
 */
import { ArchiveError, isDamage } from "../base/index.ts";
import { keyOfMoment, timeOfDate } from "../dedup/index.ts";
import type { Disk } from "../disk/index.ts";
import { type ByteSource, WarcReader, type WarcRecord } from "../warc/index.ts";
import { openInput } from "./inputs.ts";
import { fileOf, isRewritten, isUnchanged, type JobFile } from "./job-files.ts";
import { readLedger } from "./ledger.ts";
import type { Locator } from "./locator.ts";
import type { ManifestLine, OriginalPlace } from "./manifest-line.ts";
import { equalPayloads, PAYLOAD_DIGEST, type PayloadFacts, payloadFacts } from "./payload-facts.ts";
import { examineRecord } from "./reversal.ts";
import { Spool } from "./spool.ts";

/** `unreached`: its file cannot be found or read. `differs`: what lies there is not the original that was told of. */
export type OriginalVerdict = "same" | "unreached" | "differs";

type Found = PayloadFacts | Exclude<OriginalVerdict, "same">;

/** Originals are read once in a run, as long as there are no more of them than this. */
const FACTS_MAX = 100_000;

export class OriginalProof implements Disposable {
  private readonly disk: Disk;
  private readonly files: ReadonlyMap<string, JobFile>;
  private readonly locator: Locator;
  /** Originals come in any order, and some inputs can only be read forward. */
  private readonly spool: Spool;
  private readonly facts = new Map<string, Found>();
  private open: { readonly name: string; readonly state: string; readonly source: ByteSource } | undefined;
  private shift: { readonly ledger: string; readonly offsets: LedgerOffsets } | undefined;

  /** `files` may be rewritten meanwhile; `locator` finds all others. */
  constructor(disk: Disk, files: ReadonlyMap<string, JobFile>, locator: Locator) {
    this.disk = disk;
    this.files = files;
    this.locator = locator;
    this.spool = new Spool(disk);
  }

  /** Whether the original that the line tells of lies there and has this payload. */
  judge({ original }: ManifestLine, payload: PayloadFacts): OriginalVerdict {
    if (original?.file === undefined || original.offset === undefined) return "unreached";
    const key = [original.file, original.offset, original.id, original.uri, original.date].join("\t");
    let found = this.facts.get(key);
    if (found === undefined) {
      found = this.find(original, original.file, original.offset);
      if (this.facts.size >= FACTS_MAX) this.facts.clear();
      this.facts.set(key, found);
    }
    if (typeof found === "string") return found;
    return equalPayloads(found, payload) ? "same" : "differs";
  }

  private find(original: OriginalPlace, name: string, offset: number): Found {
    const file = fileOf(this.files, name);
    for (;;) {
      const state = file === undefined ? "" : this.stateOf(file);
      const found = this.look(original, name, offset, file, state);
      // Another thread may have swapped the file between the look at its state and the reading.
      if (file === undefined || typeof found !== "string" || this.stateOf(file) === state) return found;
    }
  }

  private stateOf(file: JobFile): "unchanged" | "rewritten" | "changed" {
    if (isUnchanged(this.disk, file)) return "unchanged";
    return file.output === file.path && isRewritten(this.disk, file) ? "rewritten" : "changed";
  }

  private look(original: OriginalPlace, name: string, offset: number, file: JobFile | undefined, state: string): Found {
    if (state === "changed") return "differs";
    const start = file !== undefined && state === "rewritten" ? this.offsetsOf(file).now(offset) : offset;
    if (start === undefined) return "differs";
    let source: ByteSource;
    try {
      source = this.sourceOf(name, state);
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.code === "HT_NO_SPACE") throw error;
      return "unreached";
    }
    try {
      return readFacts(source, start, original) ?? "differs";
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      return "differs";
    }
  }

  private sourceOf(name: string, state: string): ByteSource {
    if (this.open?.name !== name || this.open.state !== state) {
      this.close();
      const source = openInput(this.disk, this.spool.take(this.locator.locate(name)));
      this.open = { name, state, source };
    }
    return this.open.source;
  }

  private offsetsOf({ ledger }: JobFile): LedgerOffsets {
    if (this.shift?.ledger !== ledger) this.shift = { ledger, offsets: new LedgerOffsets(this.disk, ledger) };
    return this.shift.offsets;
  }

  private close(): void {
    this.open?.source.close?.();
    this.open = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
    this.spool[Symbol.dispose]();
  }
}

/** Absent where another record, a damaged one, or none begins there. */
function readFacts(source: ByteSource, start: number, original: OriginalPlace): PayloadFacts | undefined {
  let damaged = false;
  const reader = new WarcReader(source, {
    start,
    onWarning: (warning) => {
      damaged ||= isDamage(warning);
    },
  });
  try {
    const record = reader.next();
    if (record?.offset !== start || !isMeant(record, original)) return undefined;
    const facts = payloadFacts(examineRecord(record, { also: [PAYLOAD_DIGEST] }));
    return damaged || record.warnings.some(isDamage) ? undefined : facts;
  } finally {
    reader.close();
  }
}

/** A revisit would lead replay to the URL and the second that it tells, so they must be those of the record. */
function isMeant(record: WarcRecord, { id, uri, date }: OriginalPlace): boolean {
  if (record.type === "revisit" || (id !== undefined && record.id !== id)) return false;
  const moment = momentOf(uri, date);
  return moment !== undefined && momentOf(record.uri, record.dateText) === moment;
}

function momentOf(uri: string | undefined, date: string | undefined): string | undefined {
  const timeMs = timeOfDate(date);
  return uri === undefined || timeMs === undefined ? undefined : keyOfMoment(uri, timeMs);
}

/** Where the records that stayed lie in a file that was rewritten in place, as its ledger tells. */
class LedgerOffsets {
  /** Of the records that were replaced, in order, and the bytes that were saved up to behind each. */
  private readonly replaced: number[] = [];
  private readonly saved: number[] = [];

  constructor(disk: Disk, path: string) {
    for (const { inputOffset, inputLength, outputOffset, outputLength } of readLedger(disk, path)?.entries ?? []) {
      this.replaced.push(inputOffset);
      this.saved.push(inputOffset + inputLength - outputOffset - outputLength);
    }
  }

  /** Absent where a revisit stands there now. */
  now(offset: number): number | undefined {
    let [low, high] = [0, this.replaced.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.replaced[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    if (this.replaced[low] === offset) return undefined;
    return offset - (this.saved[low - 1] ?? 0);
  }
}
