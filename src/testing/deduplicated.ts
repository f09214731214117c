/**
 * What must hold between archive files and what deduplication made of them, found out by reading both: every record is
 * there as itself, or as a revisit from which it can be put together again. Knows no plan, no ledger and no job.
 */
import { digestOf, isDamage, parseDigest } from "../base/index.ts";
import {
  bufferSource,
  cutIntoChunks,
  parseHttpHead,
  parseProfile,
  type RecordScan,
  refersToOf,
  replacedBy,
  replacedHead,
  scanRecord,
  WarcReader,
  type WarcRecord,
} from "../warc/index.ts";
import type { ArchiveFile } from "./dedup-trial.ts";

/** A record with all its bytes, its own. */
export interface HeldRecord {
  readonly file: string;
  readonly offset: number;
  readonly type: string;
  readonly id: string | undefined;
  readonly uri: string | undefined;
  readonly date: string | undefined;
  /** As Latin-1, blank line included. */
  readonly head: string;
  readonly block: Buffer;
  /** As it lies in the file; absent where it shares a member. */
  readonly raw: Buffer | undefined;
  readonly payload: Buffer;
  readonly framing: RecordScan["framing"];
  /** Damaged, cut off or split: nothing may lead here, and nothing may take its place. */
  readonly flawed: boolean;
  /** Something about it is not as the standard has it: nothing may take its place. */
  readonly odd: boolean;
  readonly refersTo: ReturnType<typeof refersToOf>;
  readonly replaced: ReturnType<typeof replacedBy>;
  readonly fields: ReadonlyMap<string, string>;
}

function hold(record: WarcRecord, bytes: Buffer): HeldRecord {
  const pieces: Buffer[] = [];
  const payload: Buffer[] = [];
  const scan = scanRecord(record, {
    onBlock: (piece) => void pieces.push(Buffer.from(piece)),
    onPayload: (piece) => void payload.push(Buffer.from(piece)),
  });
  record.drain();
  const { offset, length, type, id, uri, headers } = record;
  return {
    file: record.file,
    offset,
    type,
    id,
    uri,
    date: record.dateText,
    head: headers.text,
    block: Buffer.concat(pieces),
    raw: length === undefined ? undefined : bytes.subarray(offset, offset + length),
    payload: Buffer.concat(payload),
    framing: scan.framing,
    flawed: record.truncated !== undefined || record.segmented || record.warnings.some(isDamage),
    odd: record.warnings.length > 0,
    refersTo: refersToOf(record),
    replaced: replacedBy(record),
    fields: new Map([...headers].map(([name, value]) => [name.toLowerCase(), value])),
  };
}

export function readRecords({ name, bytes }: ArchiveFile): HeldRecord[] {
  const records: HeldRecord[] = [];
  for (const record of new WarcReader(bufferSource(bytes, name))) records.push(hold(record, bytes));
  return records;
}

/** Captures by URI and date as replay tools look for them. */
class Captures {
  private readonly byPlace = new Map<string, HeldRecord[]>();

  constructor(records: Iterable<HeldRecord>) {
    for (const record of records) {
      if (record.type !== "response" && record.type !== "resource") continue;
      const key = placeOf(record.uri, record.date);
      this.byPlace.set(key, [...(this.byPlace.get(key) ?? []), record]);
    }
  }

  find(uri: string | undefined, date: string | undefined): readonly HeldRecord[] {
    return this.byPlace.get(placeOf(uri, date)) ?? [];
  }
}

function placeOf(uri: string | undefined, date: string | undefined): string {
  return `${date?.slice(0, 19)} ${uri}`;
}

class Complaint extends Error {
  constructor(record: HeldRecord, message: string) {
    super(`${record.file}:${record.offset} ${record.uri} ${record.date}: ${message}`);
  }
}

function demand(condition: boolean, record: HeldRecord, message: string): asserts condition {
  if (!condition) throw new Complaint(record, message);
}

export interface DeduplicatedCounts {
  readonly records: number;
  /** Records that are revisits now and were none. */
  readonly replaced: readonly HeldRecord[];
}

/** Other sets of files whose records may be referred to: earlier holdings. */
export interface DeduplicatedOptions {
  readonly known?: readonly ArchiveFile[];
}

/** Throws what it finds wrong. Files that are no WARC files must be the same, byte for byte. */
export function checkDeduplicated(
  before: readonly ArchiveFile[],
  after: readonly ArchiveFile[],
  options: DeduplicatedOptions = {},
): DeduplicatedCounts {
  const names = (files: readonly ArchiveFile[]) => files.map(({ name }) => name).sort();
  if (JSON.stringify(names(before)) !== JSON.stringify(names(after))) {
    throw new Error(`other files: ${names(before).join()} became ${names(after).join()}`);
  }
  const outputs = new Map(after.map((file) => [file.name, file.bytes]));
  const isWarc = ({ bytes }: ArchiveFile) => bytes.toString("latin1", 0, 2) !== "PK" && bytes.length > 0;
  const warcs = before.filter(isWarc);
  const same = before.filter((file) => !isWarc(file));
  for (const { name, bytes } of same) {
    if (!bytes.equals(outputs.get(name)!)) throw new Error(`${name} was changed`);
  }
  const inputs = warcs.map((file) => readRecords(file));
  const written = warcs.map(({ name }) => readRecords({ name, bytes: outputs.get(name)! }));
  const captures = new Captures([...written, ...(options.known ?? []).map(readRecords)].flat());
  const replaced: HeldRecord[] = [];
  let records = 0;
  for (const [i, inputRecords] of inputs.entries()) {
    const outputRecords = written[i]!;
    if (inputRecords.length !== outputRecords.length) throw new Error(`${warcs[i]!.name}: records were lost or added`);
    for (const [k, input] of inputRecords.entries()) {
      records++;
      const output = outputRecords[k]!;
      if (isSame(input, output)) continue;
      checkReplaced(input, output, captures);
      replaced.push(output);
    }
  }
  checkOldRevisits(inputs.flat(), captures);
  return { records, replaced };
}

function isSame(input: HeldRecord, output: HeldRecord): boolean {
  const raw = input.raw === undefined || output.raw === undefined ? true : input.raw.equals(output.raw);
  return raw && input.head === output.head && input.block.equals(output.block);
}

function checkReplaced(input: HeldRecord, revisit: HeldRecord, captures: Captures): void {
  demand(revisit.type === "revisit", input, `became a ${revisit.type} with other bytes`);
  demand(input.type === "response" || input.type === "resource", input, `a ${input.type} was replaced`);
  demand(input.id === revisit.id && input.uri === revisit.uri && input.date === revisit.date, input, "lost its name");
  const sound = !input.flawed && !input.odd && input.raw !== undefined;
  demand(sound && input.payload.length > 0, input, "should have been left alone");
  const { refersTo, fields } = revisit;
  demand(parseProfile(fields.get("warc-profile")) === "identical-payload-digest", revisit, "no profile");
  demand(fields.get("warc-truncated") === "length", revisit, "does not say that it is cut off");
  const original = findOriginal(revisit, captures, input);
  demand(original.payload.equals(input.payload), revisit, "leads to another payload");
  demand(original.framing === input.framing, revisit, `${input.framing}, but its original is ${original.framing}`);
  demand(!original.flawed && original.payload.length > 0, revisit, "leads to a record that is not sound");
  demand(refersTo?.date === original.date, revisit, "tells another date than its original's");
  demand(placeOf(input.uri, input.date) !== placeOf(original.uri, original.date), revisit, "refers to itself");
  checkDigest(revisit, original);
  checkRestored(input, revisit, original.payload);
}

function findOriginal(revisit: HeldRecord, captures: Captures, input: HeldRecord): HeldRecord {
  const { refersTo } = revisit;
  const found = captures.find(refersTo?.uri, refersTo?.date);
  const [original] = found.filter(({ id }) => refersTo?.id === undefined || refersTo.id === id);
  demand(original !== undefined, revisit, `its original is not there: ${refersTo?.uri} ${refersTo?.date}`);
  const others = found.filter(({ payload, framing }) => !payload.equals(input.payload) || framing !== input.framing);
  demand(others.length === 0, revisit, "its URI and second lead to another payload or framing as well");
  return original;
}

/** What the revisit claims of the payload is what the original holds, as transferred or as stored. */
function checkDigest(revisit: HeldRecord, original: HeldRecord): void {
  const claim = parseDigest(revisit.fields.get("warc-payload-digest") ?? "");
  demand(claim !== undefined, revisit, "claims no digest that can be read");
  const { algorithm } = claim;
  const http = parseHttpHead(original.block, 0, original.block.length, true);
  const stored = original.block.subarray(original.type === "resource" ? 0 : (http?.text.length ?? 0));
  const holds = [original.payload, stored].some((bytes) => digestOf(algorithm, bytes).hex === claim.hex);
  demand(holds, revisit, "claims a digest that is not its original's");
  const block = parseDigest(revisit.fields.get("warc-block-digest") ?? "");
  const sound = block === undefined || digestOf(block.algorithm, revisit.block).hex === block.hex;
  demand(sound, revisit, "claims a digest that is not its block's");
}

/** Puts the record together again from the revisit and the payload. */
function checkRestored(input: HeldRecord, revisit: HeldRecord, payload: Buffer): void {
  const { replaced } = revisit;
  demand(replaced !== undefined, revisit, "does not tell what it took the place of");
  const body = replaced.chunks === undefined ? [payload] : [...cutIntoChunks([payload], replaced.chunks)];
  const block = Buffer.concat([revisit.block, ...body]);
  demand(block.equals(input.block), revisit, "the block does not come back");
  const head = replacedHead(revisit.head, replaced.type, block.length, (claim) => {
    const algorithm = parseDigest(claim)?.algorithm;
    return algorithm === undefined ? undefined : digestOf(algorithm, block);
  });
  demand(head === input.head, revisit, "the header does not come back");
  const whole = Buffer.concat([Buffer.from(head, "latin1"), block, Buffer.from("\r\n\r\n")]);
  demand(digestOf("sha256", whole).hex === replaced.digest.hex, revisit, "its digest is not that of the record");
}

/** A revisit of the input that led to a capture still does: what it refers to was not replaced. */
function checkOldRevisits(inputs: readonly HeldRecord[], captures: Captures): void {
  const before = new Captures(inputs);
  for (const record of inputs) {
    if (record.type !== "revisit") continue;
    const { refersTo } = record;
    if (refersTo?.uri === undefined || refersTo.date === undefined) continue;
    const was = before.find(refersTo.uri, refersTo.date);
    const is = captures.find(refersTo.uri, refersTo.date);
    demand(is.length >= was.length, record, "its original was replaced");
  }
}
