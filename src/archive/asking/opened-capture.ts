/**
 * A capture that somebody looks into: the header of its record, its HTTP header, its payload. Bytes are brought without
 * making others wait, and then taken apart at once.
 */
import { ArchiveError, createHasher, formatPlace, type Warning } from "../../base/index.ts";
import { damageOf } from "../../pipeline/index.ts";
import { Dechunker, type HttpHead, parseHttpHead, saysChunked, WarcReader, type WarcRecord } from "../../warc/index.ts";
import { Flag, has, isHolder, type Payload, type RecordPlace } from "../catalogue/capture-row.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import { continuationsOf } from "../segments/continuations.ts";
import { idIn } from "../segments/segments.ts";
import type { Snapshot } from "./snapshot.ts";

/** The block of a small record, which was read with its header. */
interface HeldBlock {
  readonly place: RecordPlace;
  readonly isHttp: boolean;
  readonly bytes: Uint8Array;
}

const HELD_SIZE_MAX = 1 << 18;

/** Bytes from the one position up to before the other. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

export class OpenedCapture implements AsyncDisposable {
  /** Of a payload up to this size nothing is given out before all of it is proven. */
  static readonly provenFirstMax = 8 << 20;
  /** The header of its record, as it stands. */
  readonly head: string;
  /** Without brackets. */
  readonly id: string | undefined;
  /** As the record has it. */
  readonly date: string | undefined;
  /** Its own, or for a revisit without one that of what it stands for; absent where there is none. */
  readonly http: HttpHead | undefined;
  /** Of a segmented capture that is not complete: what is missing of it, in words. */
  readonly missing: string | undefined;
  private readonly snapshot: Snapshot;
  private readonly found: FoundCapture;
  private readonly held: HeldBlock | undefined;
  private readonly release: () => void;
  private isReleased = false;

  /** `release` is called when it is closed, and where it cannot be opened. */
  static async open(snapshot: Snapshot, found: FoundCapture, release: () => void): Promise<OpenedCapture> {
    try {
      if (has(found.row, Flag.removed)) throw new ArchiveError("HT_NOT_FOUND", `${found.row.url}: was removed`);
      const { place } = snapshot.locator.capture(found);
      const name = snapshot.shelf.nameOf(place.segment).replace(/^.*[/!]/, "");
      const own = await readLater(snapshot, place, async (record) => ({
        head: record.headers.text,
        id: idIn(record, name, place),
        date: record.dateText,
        http: await httpOf(record),
        missing: missingOf(snapshot, found, record),
        held: heldBlock(found, record, place),
      }));
      const told = has(found.row, Flag.headless) ? snapshot.reader.headerPlace(found) : undefined;
      const http = told === undefined ? own.http : await readLater(snapshot, told, httpOf);
      return new OpenedCapture(snapshot, found, release, { ...own, http });
    } catch (error) {
      release();
      throw error;
    }
  }

  private constructor(
    snapshot: Snapshot,
    found: FoundCapture,
    release: () => void,
    own: Pick<OpenedCapture, "head" | "id" | "date" | "http" | "missing"> & { readonly held: HeldBlock | undefined },
  ) {
    this.snapshot = snapshot;
    this.found = found;
    this.release = release;
    this.head = own.head;
    this.id = own.id;
    this.date = own.date;
    this.http = own.http;
    this.missing = own.missing;
    this.held = own.held;
  }

  /** Of the payload, where it is known. */
  get size(): number | undefined {
    return this.found.row.payload?.size;
  }

  /**
   * The payload as it was sent, or a part of it. It is compared with its digest: a small one before anything is given out, a
   * large one as it goes, and the stream fails (HT_CORRUPT) where it is another. A chunk is valid until the next is asked for.
   */
  async *payload(range?: ByteRange): AsyncGenerator<Uint8Array> {
    const { row } = this.found;
    const { payload } = row;
    if (payload?.size === 0 && !isHolder(row)) return;
    const place = this.snapshot.reader.payloadPlace(this.found);
    const chunks = this.chunksAt(place);
    const proven = payload === undefined ? chunks : this.prove(chunks, payload, place);
    if (payload !== undefined && payload.size <= OpenedCapture.provenFirstMax) {
      const all: Uint8Array[] = [];
      for await (const chunk of proven) all.push(Buffer.from(chunk));
      yield* cut(all, range);
    } else yield* cut(proven, range);
  }

  /** What can be read of a payload that is damaged, unproven, up to where it breaks off. Chunks as above. */
  async *remains(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.chunksAt(this.snapshot.reader.payloadPlace(this.found));
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.code === "HT_NOT_FOUND") throw error;
    }
  }

  private chunksAt(place: RecordPlace): AsyncIterable<Uint8Array> | Iterable<Uint8Array> {
    const { held, snapshot } = this;
    const isHeld =
      place.segment === held?.place.segment && place.offset === held.place.offset && place.inner === held.place.inner;
    return isHeld ? entityIn(held) : payloadLater(snapshot, place);
  }

  private async *prove(
    chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    { sha256 }: Payload,
    place: RecordPlace,
  ): AsyncGenerator<Uint8Array> {
    const hasher = createHasher("sha256");
    for await (const chunk of chunks) {
      hasher.update(chunk);
      yield chunk;
    }
    if (hasher.finish().hex === sha256.toString("hex")) return;
    const at = { file: this.snapshot.shelf.nameOf(place.segment), offset: place.offset };
    const message = `${formatPlace(at)}: the payload is not the one that was captured; see holotype doctor`;
    throw new ArchiveError("HT_CORRUPT", message, at);
  }

  /** Once is enough; again does nothing. */
  [Symbol.asyncDispose](): Promise<void> {
    if (!this.isReleased) this.release();
    this.isReleased = true;
    return Promise.resolve();
  }
}

/** The part of a stream that is asked for. The rest is read all the same: only all of it proves anything. */
async function* cut(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  range?: ByteRange,
): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const chunk of chunks) {
    const from = Math.max(0, (range?.from ?? 0) - at);
    const to = Math.min(chunk.length, (range?.to ?? Number.POSITIVE_INFINITY) - at);
    at += chunk.length;
    if (to > from) yield chunk.subarray(from, to);
  }
}

function heldBlock({ row }: FoundCapture, record: WarcRecord, place: RecordPlace): HeldBlock | undefined {
  const { block, isHttp } = record;
  if (block === undefined || block.length > HELD_SIZE_MAX || has(row, Flag.segmented)) return undefined;
  return { place, isHttp, bytes: Buffer.from(block) };
}

function missingOf({ locator }: Snapshot, { row }: FoundCapture, record: WarcRecord): string | undefined {
  if (!has(row, Flag.segmented) || !has(row, Flag.cutOff)) return undefined;
  const { missing } = continuationsOf(locator, record);
  return missing === undefined
    ? "its segments do not have as many bytes as the last one says"
    : `segment ${missing} is not in the archive`;
}

async function httpOf(record: WarcRecord): Promise<HttpHead | undefined> {
  if (!record.isHttp && record.type !== "revisit") return undefined;
  const whole = record.block !== undefined;
  for await (const first of record) return parseHttpHead(first, 0, first.length, whole);
  return undefined;
}

/** The record at a place, read without making others wait. The reader is to be closed. */
async function openRecord({ shelf }: Snapshot, place: RecordPlace, onWarning: (warning: Warning) => void) {
  const { source, start } = await shelf.later(place);
  const reader = new WarcReader(source, { start, onWarning });
  let record = await reader.nextLater();
  while (place.length === 0 && record !== undefined && (record.inner ?? 0) !== place.inner)
    record = await reader.nextLater();
  return { reader, record };
}

/** HT_CORRUPT where no whole record is there. */
async function readLater<T>(
  snapshot: Snapshot,
  place: RecordPlace,
  use: (record: WarcRecord) => Promise<T>,
): Promise<T> {
  let damage: Warning | undefined;
  const onWarning = (warning: Warning) => {
    if (damageOf([warning]) === "cut") damage ??= warning;
  };
  try {
    const { reader, record } = await openRecord(snapshot, place, onWarning);
    using _closing = { [Symbol.dispose]: () => reader.close() };
    const result = record === undefined ? undefined : await use(record);
    if (record !== undefined && damage === undefined) return result!;
  } catch (error) {
    if (!(error instanceof ArchiveError) || error.code !== "HT_FORMAT_UNKNOWN") throw error;
  }
  const at = { file: snapshot.shelf.nameOf(place.segment), offset: place.offset };
  throw new ArchiveError("HT_CORRUPT", `${formatPlace(at)}: ${damage?.message ?? "no record there"}`, at);
}

/** The payload of a record, transfer coding undone; a chunk is valid until the next is asked for. */
async function* payloadLater(snapshot: Snapshot, place: RecordPlace): AsyncGenerator<Uint8Array> {
  const { reader, record } = await openRecord(snapshot, place, () => {});
  try {
    if (record !== undefined) yield* entityOf(record, blockLater(snapshot, record));
  } finally {
    reader.close();
  }
}

/** The block of a record, and of those that continue it. */
async function* blockLater(snapshot: Snapshot, record: WarcRecord): AsyncGenerator<Uint8Array> {
  yield* record;
  for (const { place } of continuationsOf(snapshot.locator, record).rows) {
    const { reader, record: next } = await openRecord(snapshot, place, () => {});
    try {
      if (next !== undefined) yield* next;
    } finally {
      reader.close();
    }
  }
}

async function* entityOf(record: WarcRecord, block: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const entity = new Entity(record.isHttp, record.block !== undefined);
  for await (const piece of block) yield* entity.push(piece);
  yield* entity.finish();
}

function* entityIn({ isHttp, bytes }: HeldBlock): Generator<Uint8Array> {
  const entity = new Entity(isHttp, true);
  yield* entity.push(bytes);
  yield* entity.finish();
}

/** Takes the entity out of a block that comes in pieces. What it gives are parts of those. */
class Entity {
  private readonly isHttp: boolean;
  private readonly isWhole: boolean;
  private isFirst = true;
  private dechunker: Dechunker | undefined;
  private parts: Uint8Array[] = [];

  constructor(isHttp: boolean, isWhole: boolean) {
    this.isHttp = isHttp;
    this.isWhole = isWhole;
  }

  push(piece: Uint8Array): Uint8Array[] {
    const rest = this.isFirst ? this.behindHead(piece) : piece;
    if (this.dechunker === undefined) return rest.length > 0 ? [rest] : [];
    this.dechunker.push(rest);
    return this.taken();
  }

  private behindHead(piece: Uint8Array): Uint8Array {
    this.isFirst = false;
    const http = this.isHttp ? parseHttpHead(piece, 0, piece.length, this.isWhole) : undefined;
    if (http !== undefined && saysChunked(http)) this.dechunker = new Dechunker((bytes) => void this.parts.push(bytes));
    return piece.subarray(http?.text.length ?? 0);
  }

  finish(): Uint8Array[] {
    this.dechunker?.finish();
    return this.taken();
  }

  private taken(): Uint8Array[] {
    const { parts } = this;
    this.parts = [];
    return parts;
  }
}

const PIECE_SIZE = 1 << 18;

/** The bytes of a record as they lie in its file; of one that shares its member with others there is no such thing. */
export async function* rawRecord({ shelf, locator }: Snapshot, found: FoundCapture): AsyncGenerator<Uint8Array> {
  const { place } = locator.capture(found);
  const at = { file: shelf.nameOf(place.segment), offset: place.offset };
  if (place.length === 0) {
    const message = `${formatPlace(at)}: the record shares its compressed member with others`;
    throw new ArchiveError("HT_UNSUPPORTED", message, at);
  }
  const { source, start } = await shelf.later(place);
  for (let position = 0; position < place.length; ) {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_SIZE, place.length - position));
    const count = await source.readLater(piece, start + position);
    if (count === 0) throw new ArchiveError("HT_CORRUPT", `${formatPlace(at)}: the file ends before`, at);
    yield piece.subarray(0, count);
    position += count;
  }
}
