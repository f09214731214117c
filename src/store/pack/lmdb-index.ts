/** The index in LMDB: mapped into memory, so that opening it costs nothing and its pages come as they are needed. */
import { createRequire } from "node:module";
import { join } from "node:path";
import type * as Lmdb from "lmdb";
import type { Database, RootDatabase } from "lmdb";
import { ArchiveError } from "../../base/index.ts";
import { type Disk, refuseCutLmdb } from "../../disk/index.ts";
import type { BlockAddress } from "../content-key.ts";
import { formatAddress, parseAddress } from "../content-key.ts";
import { decodeEntries, encodeEntries } from "./index-entry.ts";
import {
  ANSWERS_KEPT,
  type Answer,
  type BlockEntry,
  EMPTY_STATE,
  type IndexChanges,
  type IndexState,
  type PackIndex,
  type SegmentState,
} from "./pack-index.ts";

// Required and not imported: that takes its build in one file, and saves a fifth of the time until it answers.
const { open } = createRequire(import.meta.url)("lmdb") as typeof Lmdb;

const NAME = "index.lmdb";
const FORMAT = 1;
const PAGE_COUNT = 256;
const SIGNATURES_COUNT = 4096;
const STATE_KEY = "state";

type Bytes = Database<Buffer, Buffer>;

export class LmdbIndex implements PackIndex {
  state: IndexState;
  private readonly root: RootDatabase<Buffer, Buffer>;
  private readonly places: Bytes;
  private readonly answers: Bytes;
  /** The requests in the order of their sequence numbers, so that the oldest can go. */
  private readonly order: Bytes;
  private readonly formers: Bytes;
  private readonly segmentStates: Bytes;
  private readonly meta: Bytes;
  private answerCount: number;
  private orderNext: number;

  /** Makes the index where there is none. */
  static open(disk: Disk, folder: string): LmdbIndex {
    disk.makeFolder(folder);
    refuseCutLmdb(disk, join(folder, NAME), { isSynced: false, advice: "`holotype volume rebuild` makes it again" });
    try {
      return new LmdbIndex(folder);
    } catch (cause) {
      if (cause instanceof ArchiveError) throw cause;
      const message = `${folder}: the index cannot be opened; \`holotype volume rebuild\` makes it again`;
      throw new ArchiveError("HT_CORRUPT", message, { file: folder }, cause);
    }
  }

  private constructor(folder: string) {
    const binary = { encoding: "binary", keyEncoding: "binary" } as const;
    this.root = open<Buffer, Buffer>({ path: join(folder, NAME), maxDbs: 8, noSubdir: true, ...binary });
    const part = (name: string): Bytes => this.root.openDB<Buffer, Buffer>({ name, ...binary });
    this.places = part("blocks");
    this.answers = part("answers");
    this.order = part("order");
    this.formers = part("former");
    this.segmentStates = part("segments");
    this.meta = part("meta");
    this.state = this.readState(folder);
    this.answerCount = (this.order.getStats() as { entryCount: number }).entryCount;
    const [last] = [...this.order.getKeys({ reverse: true, limit: 1 })];
    this.orderNext = last === undefined ? 1 : (last as Buffer).readUIntBE(0, 6) + 1;
  }

  private readState(folder: string): IndexState {
    const bytes = this.meta.get(key(STATE_KEY));
    if (bytes === undefined) return EMPTY_STATE;
    const json = JSON.parse(bytes.toString()) as IndexState & { format: number };
    if (json.format > FORMAT) {
      throw new ArchiveError("HT_FORMAT_TOO_NEW", `${folder}: an index of a newer Holotype`, { file: folder });
    }
    return { sequence: json.sequence, totals: json.totals };
  }

  segments(): Map<number, SegmentState> {
    const states = new Map<number, SegmentState>();
    for (const { key: at, value } of this.segmentStates.getRange({})) {
      states.set(at.readUIntBE(0, 6), { end: value.readUIntBE(0, 6), live: value.readUIntBE(6, 6) });
    }
    return states;
  }

  blocks(signature: string): readonly BlockEntry[] {
    const bytes = this.places.get(Buffer.from(signature, "hex"));
    return bytes === undefined ? [] : decodeEntries(bytes);
  }

  answer(requestId: string): Answer | undefined {
    const bytes = this.answers.get(key(requestId));
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as Answer);
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
    const forget = this.oldestAnswers(answers.size);
    await this.root.batch(() => {
      for (const [signature, entries] of blocks) {
        const at = Buffer.from(signature, "hex");
        void (entries.length === 0 ? this.places.remove(at) : this.places.put(at, encodeEntries(entries)));
      }
      for (const [id, answer] of answers) {
        void this.answers.put(key(id), Buffer.from(JSON.stringify(answer)));
        void this.order.put(number(this.orderNext++), key(id));
      }
      for (const [at, id] of forget) {
        void this.order.remove(at);
        void this.answers.remove(id);
      }
      for (const [formerKey, address] of former) {
        if (address === undefined) void this.formers.remove(key(formerKey));
        else void this.formers.put(key(formerKey), Buffer.from(formatAddress(address)));
      }
      for (const [at, segment] of segments) {
        if (segment === undefined) void this.segmentStates.remove(number(at));
        else void this.segmentStates.put(number(at), Buffer.concat([number(segment.end), number(segment.live)]));
      }
      void this.meta.put(key(STATE_KEY), Buffer.from(text));
    });
    await this.root.flushed;
    this.answerCount += answers.size - forget.length;
    this.state = state;
  }

  /** Those that have to go when so many come. */
  private oldestAnswers(coming: number): [at: Buffer, id: Buffer][] {
    const over = this.answerCount + coming - 2 * ANSWERS_KEPT;
    if (over <= 0) return [];
    return [...this.order.getRange({ limit: over })].map((pair) => [Buffer.from(pair.key), Buffer.from(pair.value)]);
  }

  async close(): Promise<void> {
    await this.root.close();
  }
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
