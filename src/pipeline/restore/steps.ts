/**
 * The revisits of one file that are to become records again, in order: those of the ledger where there is one, else all
 * that deduplication wrote. Revisits that were in the input before are passed over.
 */
import { ArchiveError, formatDigest, formatPlace } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { type ByteSource, type Compression, HTTP_HEAD_SIZE_MAX, rangeSource, WarcReader } from "../../warc/index.ts";
import { type LedgerEntry, readLedger } from "../ledger.ts";
import type { ManifestLine } from "../manifest-line.ts";
import { type RevisitPlan, readPlan, type Stretch } from "./plan.ts";
import { type OwnRevisit, parseReplaced } from "./record.ts";

export interface RestoreStep {
  /** Where the revisit stands; its length is known. */
  readonly line: ManifestLine & { readonly length: number };
  readonly revisit: OwnRevisit;
  readonly originals: readonly ManifestLine[];
  /** Absent where there is no ledger. */
  readonly entry: LedgerEntry | undefined;
}

export interface StepsRequest {
  readonly plan: string;
  readonly stretch: Stretch;
  readonly ledger: string | undefined;
  /** A revisit of ours that the ledger does not know: it was in the input, from an earlier deduplication. */
  readonly onEarlier?: (() => void) | undefined;
}

/** Throws HT_VERIFY where a revisit that must be restored is not there, or not sound. */
export function* restoreSteps(
  disk: Disk,
  source: ByteSource,
  compression: Compression,
  request: StepsRequest,
): Generator<RestoreStep> {
  const ledger = request.ledger === undefined ? undefined : readLedger(disk, request.ledger);
  const entries = (ledger?.entries ?? [])[Symbol.iterator]();
  const nextEntry = () => entries.next().value as LedgerEntry | undefined;
  let sharedChecked = false;
  try {
    let entry = nextEntry();
    for (const plan of readPlan(disk, request.plan, request.stretch)) {
      const { offset, length } = plan.revisit;
      if (length === undefined) {
        if (!sharedChecked) refuseShared(source);
        sharedChecked = true;
        continue;
      }
      const line = { ...plan.revisit, length };
      if (entry !== undefined && entry.outputOffset < offset) throw lost(source, entry);
      const revisit = readOwnRevisit(source, compression, line);
      if (entry?.outputOffset === offset) {
        yield { ...stepOf(plan, line, checked(source, line, entry, revisit)), entry };
        entry = nextEntry();
      } else if (revisit === undefined) continue;
      else if (ledger === undefined) yield { ...stepOf(plan, line, sound(source, line, revisit)), entry: undefined };
      else request.onEarlier?.();
    }
    if (entry !== undefined) throw lost(source, entry);
  } finally {
    entries.return?.();
  }
}

function stepOf({ originals }: RevisitPlan, line: RestoreStep["line"], revisit: OwnRevisit) {
  return { line, revisit, originals };
}

/** A revisit of ours as it was read; where something is odd about it, without its block. */
type Found = OwnRevisit | "unsound";

/** Absent where there is no revisit, or one that is not ours. */
export function readOwnRevisit(
  source: ByteSource,
  compression: Compression,
  { offset, length }: { readonly offset: number; readonly length: number },
): Found | undefined {
  let odd = false;
  const onWarning = () => {
    odd = true;
  };
  const reader =
    compression === "zstd"
      ? new WarcReader(rangeSource(source, 0, offset + length), { start: offset, onWarning })
      : new WarcReader(rangeSource(source, offset, length), { onWarning });
  try {
    const record = reader.next();
    if (record?.type !== "revisit") return undefined;
    const { text } = record.headers;
    const replaced = parseReplaced(text);
    if (replaced === undefined) return undefined;
    if ((record.blockSize ?? 0) > HTTP_HEAD_SIZE_MAX) return "unsound";
    const http = Buffer.from(record.readAll(HTTP_HEAD_SIZE_MAX));
    return reader.next() !== undefined || odd ? "unsound" : { text, http, replaced };
  } finally {
    reader.close();
  }
}

function sound(source: ByteSource, line: ManifestLine, found: Found): OwnRevisit {
  if (found !== "unsound") return found;
  throw fail(source, line.offset, "a revisit of ours is damaged");
}

/** What the file says of the record must be what the ledger says of it. */
function checked(
  source: ByteSource,
  line: RestoreStep["line"],
  entry: LedgerEntry,
  found: Found | undefined,
): OwnRevisit {
  if (found === undefined || entry.outputLength !== line.length) throw lost(source, entry);
  const revisit = sound(source, line, found);
  if (formatDigest(revisit.replaced.digest) === entry.recordDigest) return revisit;
  throw fail(source, line.offset, "a revisit tells of another record than the ledger does");
}

function lost(source: ByteSource, entry: LedgerEntry): ArchiveError {
  return fail(source, entry.outputOffset, `the revisit that stands for ${entry.id ?? "a record"} is not there`);
}

function fail(source: ByteSource, offset: number, message: string): ArchiveError {
  const place = { file: source.name, offset };
  return new ArchiveError("HT_VERIFY", `${formatPlace(place)}: ${message}`, place);
}

/** A revisit of ours is a member by itself; where it shares one, somebody has packed the file anew. */
function refuseShared(source: ByteSource): void {
  const reader = new WarcReader(source);
  try {
    for (let record = reader.next(); record !== undefined; record = reader.next()) {
      if (record.type !== "revisit" || parseReplaced(record.headers.text) === undefined) continue;
      record.drain();
      if (record.length !== undefined) continue;
      const message = `${formatPlace(record)}: a revisit of ours shares its member with others; convert the file first`;
      throw new ArchiveError("HT_UNSUPPORTED", message, record);
    }
  } finally {
    reader.close();
  }
}
