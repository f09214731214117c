/** The index in LMDB: mapped into memory, so that opening it costs nothing and its pages come as they are needed. */
import { createRequire } from "node:module";
import { join } from "node:path";
import type * as Lmdb from "lmdb";
import type { Database, RootDatabase } from "lmdb";
import { ArchiveError, systemRandom } from "../../base/index.ts";
import { type Disk, partialPath, refuseCutLmdb } from "../../disk/index.ts";
import type { BlockAddress } from "../content-key.ts";
import { formatAddress, parseAddress } from "../content-key.ts";
import { AnswerPages } from "./answer-pages.ts";
import { decodeEntries, encodeEntries } from "./index-entry.ts";
import { checkLmdbPages } from "./lmdb-pages.ts";
import {
  ANSWERS_KEPT,
  type Answer,
  type BlockEntry,
  EMPTY_STATE,
  INDEX_ADVICE,
  type IndexChanges,
  type IndexState,
  type PackIndex,
  type SegmentState,
} from "./pack-index.ts";

// Required and not imported: that takes its build in one file, and saves a fifth of the time until it answers.
const { open } = createRequire(import.meta.url)("lmdb") as typeof Lmdb;

const NAME = "index.lmdb";
/** There as long as the index is open, and longer where its process was killed, perhaps by the index. */
const IN_USE = "in-use";
/** Of an index, with two pages that tell of the rest. */
const LEAST_SIZE = 8192;
/** A larger index is looked through only after such an end: it would be read for seconds. */
const WALKED_SIZE_MAX = 32 << 20;
const FORMAT = 3;
const PAGE_COUNT = 256;
const SIGNATURES_COUNT = 4096;
const STATE_KEY = "state";
/** About what a commit writes. */
const TRIAL_SIZE = 256 << 10;

type Bytes = Database<Buffer, Buffer>;

/** The index is of a Holotype that wrote it otherwise. The segments are as they were, so it can be made anew. */
export class OlderIndex extends Error {}

export class LmdbIndex implements PackIndex {
  state: IndexState;
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly root: RootDatabase<Buffer, Buffer>;
  private readonly places: Bytes;
  private readonly answers: Bytes;
  private readonly answerPages = new AnswerPages(2 * ANSWERS_KEPT);
  private readonly formers: Bytes;
  private readonly segmentStates: Bytes;
  private readonly meta: Bytes;

  /** Makes the index where there is none. Throws OlderIndex. */
  static open(disk: Disk, folder: string): LmdbIndex {
    disk.makeFolder(folder);
    const path = join(folder, NAME);
    // Who began it was stopped before there was anything in it.
    if ((disk.stat(path)?.sizeBytes ?? 0) < LEAST_SIZE) disk.remove(path);
    refuseCutLmdb(disk, path, { isSynced: false, advice: INDEX_ADVICE });
    const inUse = join(folder, IN_USE);
    const wasLeftOpen = disk.stat(inUse) !== undefined;
    if (wasLeftOpen || (disk.stat(path)?.sizeBytes ?? 0) <= WALKED_SIZE_MAX) checkLmdbPages(disk, path, INDEX_ADVICE);
    if (!wasLeftOpen) disk.open(inUse, "create").close();
    try {
      return new LmdbIndex(disk, folder);
    } catch (cause) {
      if (cause instanceof ArchiveError || cause instanceof OlderIndex) throw cause;
      const message = `${folder}: the index cannot be opened; ${INDEX_ADVICE}`;
      throw new ArchiveError("HT_CORRUPT", message, { file: folder }, cause);
    }
  }

  private constructor(disk: Disk, folder: string) {
    this.disk = disk;
    this.folder = folder;
    const binary = { encoding: "binary", keyEncoding: "binary" } as const;
    // Batches are ours to make. Of its own, LMDB rejects a promise that nobody can reach when a commit fails.
    const eventTurnBatching = false;
    const path = join(folder, NAME);
    this.root = open<Buffer, Buffer>({ path, maxDbs: 8, noSubdir: true, eventTurnBatching, ...binary });
    const part = (name: string): Bytes => this.root.openDB<Buffer, Buffer>({ name, ...binary });
    this.places = part("blocks");
    this.answers = part("answers");
    this.formers = part("former");
    this.segmentStates = part("segments");
    this.meta = part("meta");
    this.state = this.readState(folder);
    for (const { key: at, value } of this.answers.getRange({})) {
      this.answerPages.load(at.readUIntBE(0, 6), value.toString("latin1"));
    }
  }

  private readState(folder: string): IndexState {
    const bytes = this.meta.get(key(STATE_KEY));
    if (bytes === undefined) return EMPTY_STATE;
    const json = JSON.parse(bytes.toString()) as IndexState & { format: number };
    if (json.format > FORMAT) {
      throw new ArchiveError("HT_FORMAT_TOO_NEW", `${folder}: an index of a newer Holotype`, { file: folder });
    }
    if (json.format < FORMAT) {
      // Whoever makes it anew puts another file in its place.
      void this.root.close();
      throw new OlderIndex(`${folder}: an index of an older Holotype`);
    }
    return { sequence: json.sequence, totals: json.totals };
  }

  segments(): Map<number, SegmentState> {
    const states = new Map<number, SegmentState>();
    for (const { key: at, value } of this.segmentStates.getRange({})) {
      if (at.length !== 6 || value.length !== 12) throw this.damaged("a segment that is none");
      states.set(at.readUIntBE(0, 6), { end: value.readUIntBE(0, 6), live: value.readUIntBE(6, 6) });
    }
    return states;
  }

  blocks(signature: string): readonly BlockEntry[] {
    const bytes = this.places.get(Buffer.from(signature, "hex"));
    return bytes === undefined ? [] : decodeEntries(bytes);
  }

  answer(requestId: string): Answer | undefined {
    return this.answerPages.find(requestId, (page) => this.answers.get(number(page))?.toString("latin1"));
  }

  former(formerKey: string): BlockAddress | undefined {
    const bytes = this.formers.get(key(formerKey));
    return bytes === undefined ? undefined : parseAddress(bytes.toString());
  }

  page(from: string): readonly { readonly signature: string; readonly entries: readonly BlockEntry[] }[] {
    const range = this.places.getRange({ start: Buffer.from(from, "hex"), limit: PAGE_COUNT });
    return [...range].map((pair) => ({
      signature: pair.key.toString("hex").toUpperCase(),
      entries: decodeEntries(pair.value),
    }));
  }

  signatures(from: string): readonly string[] {
    const keys = this.places.getKeys({ start: Buffer.from(from, "hex"), limit: SIGNATURES_COUNT });
    return [...keys].map((signature) => signature.toString("hex").toUpperCase());
  }

  async commit(changes: IndexChanges): Promise<void> {
    const { blocks, answers, former, segments, state } = changes;
    const text = JSON.stringify({ format: FORMAT, ...state });
    const pages = this.answerPages.add(answers);
    const write = () => {
      for (const [signature, entries] of blocks) {
        const at = Buffer.from(signature, "hex");
        void (entries.length === 0 ? this.places.remove(at) : this.places.put(at, encodeEntries(entries)));
      }
      for (const { page, text: lines } of pages.put) void this.answers.put(number(page), Buffer.from(lines, "latin1"));
      for (const page of pages.removed) void this.answers.remove(number(page));
      for (const [formerKey, address] of former) {
        if (address === undefined) void this.formers.remove(key(formerKey));
        else void this.formers.put(key(formerKey), Buffer.from(formatAddress(address)));
      }
      for (const [at, segment] of segments) {
        if (segment === undefined) void this.segmentStates.remove(number(at));
        else void this.segmentStates.put(number(at), Buffer.concat([number(segment.end), number(segment.live)]));
      }
      void this.meta.put(key(STATE_KEY), Buffer.from(text));
    };
    try {
      await this.root.batch(write);
      await this.root.flushed;
    } catch (error) {
      throw await this.reasonOf(error);
    }
    this.state = state;
  }

  /** Why a commit failed. LMDB says of a full disk that it was an error of input or output, so the disk is asked. */
  private async reasonOf(error: unknown): Promise<ArchiveError> {
    const { commitError } = error as { commitError?: Promise<never> };
    const cause: unknown = commitError === undefined ? error : await commitError.catch((reason: unknown) => reason);
    const path = join(this.folder, NAME);
    const failed = (code: "HT_IO" | "HT_NO_SPACE", reason: string) =>
      new ArchiveError(code, `${path}: could not be written: ${reason}`, { file: path }, cause);
    try {
      tryToWrite(this.disk, this.folder);
    } catch (refusal) {
      if (!(refusal instanceof ArchiveError)) throw refusal;
      if (refusal.code === "HT_NO_SPACE") return failed(refusal.code, "the disk is full");
    }
    return failed("HT_IO", cause instanceof Error ? cause.message : String(cause));
  }

  async close(): Promise<void> {
    await this.root.close();
    this.disk.remove(join(this.folder, IN_USE));
  }

  private damaged(what: string): ArchiveError {
    const path = join(this.folder, NAME);
    return new ArchiveError("HT_CORRUPT", `${path}: damaged, ${what}; ${INDEX_ADVICE}`, { file: path });
  }
}

/** Throws what the system says of a disk that takes nothing more. */
function tryToWrite(disk: Disk, folder: string): void {
  const path = partialPath(join(folder, "trial"), systemRandom);
  using file = disk.open(path, "create");
  try {
    file.write(Buffer.alloc(TRIAL_SIZE), 0);
    file.sync();
  } finally {
    disk.remove(path);
  }
}

const COPY_SIZE = 1 << 20;

/** Copies the index to another folder, if there is one. */
export function copyIndex(disk: Disk, from: string, to: string): void {
  const path = join(from, NAME);
  if (disk.stat(path) === undefined) return;
  using source = disk.open(path, "read");
  using copy = disk.open(join(to, NAME), "create");
  const buffer = Buffer.allocUnsafe(COPY_SIZE);
  for (let at = 0, count = source.read(buffer, 0); count > 0; count = source.read(buffer, at)) {
    copy.write(buffer.subarray(0, count), at);
    at += count;
  }
}

/** Nobody may have it open. */
export function removeIndex(disk: Disk, folder: string): void {
  for (const { name } of disk.list(folder)) disk.remove(join(folder, name));
}

export function indexFolder(volumeFolder: string): string {
  return join(volumeFolder, "index");
}

function key(text: string): Buffer {
  return Buffer.from(text);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(value, 0, 6);
  return bytes;
}
