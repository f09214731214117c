/** The index in LMDB: mapped into memory, so that opening it costs nothing and its pages come as they are needed. */
import { createRequire } from "node:module";
import { join } from "node:path";
import type * as Lmdb from "lmdb";
import type { Database, RootDatabase } from "lmdb";
import { ArchiveError } from "../../base/index.ts";
import { type Disk, refuseCutLmdb } from "../../disk/index.ts";
import type { BlockAddress } from "../content-key.ts";
import { formatAddress, parseAddress } from "../content-key.ts";
import { AnswerPages } from "./answer-pages.ts";
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
const FORMAT = 2;
const PAGE_COUNT = 256;
const SIGNATURES_COUNT = 4096;
const STATE_KEY = "state";

type Bytes = Database<Buffer, Buffer>;

/** The index is of a Holotype that wrote it otherwise. The segments are as they were, so it can be made anew. */
export class OlderIndex extends Error {}

export class LmdbIndex implements PackIndex {
  state: IndexState;
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
    refuseCutLmdb(disk, join(folder, NAME), { isSynced: false, advice: "`holotype volume rebuild` makes it again" });
    try {
      return new LmdbIndex(folder);
    } catch (cause) {
      if (cause instanceof ArchiveError || cause instanceof OlderIndex) throw cause;
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
    await this.root.batch(() => {
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
    });
    await this.root.flushed;
    this.state = state;
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
