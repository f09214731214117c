/**
 * The catalogue in one file that only grows: each commit appends a run of rows in order, and then says in one of two slots
 * which runs count. So a reader finds what one commit left, whatever the writer does meanwhile, and a crash leaves the
 * commit before. Runs of like size become one as they add up. Obeys docs/format/catalogue.md.
 */
import { join } from "node:path";
import { ArchiveError, invariant } from "../base/index.ts";
import type { Disk, DiskFile } from "../disk/index.ts";
import { BlockCache } from "./block-cache.ts";
import { hashKey, KeyFilter } from "./key-filter.ts";
import type { OrderedStore, Pair, StoreView } from "./ordered-store.ts";
import { KEY_SIZE_MAX, type Row, VALUE_SIZE_MAX } from "./row-block.ts";
import { damagedRows } from "./row-damage.ts";
import { mergeRows } from "./row-merge.ts";
import { Run, RunWriter } from "./row-run.ts";
import { decodeSlot, encodeSlot, RUNS_AT, RUNS_MAX, SLOT_COUNT, SLOT_SIZE, type Slot } from "./row-slot.ts";

const NAME = "catalogue.rows";
/** So many runs are searched without becoming fewer. */
const RUNS_ENOUGH = 16;
/** Smaller ones are copied however little that saves. */
const SMALL_BYTES = 1 << 20;
const LOOSE_RATIO = 1.25;
const LOWEST = "";
const HIGHEST = "\xff".repeat(64);
const NOTHING: Slot = { generation: 0, end: RUNS_AT, runs: [] };

/** A run, and what is known of its keys if this process has written it. */
interface OpenRun {
  readonly run: Run;
  readonly filter: KeyFilter | undefined;
}

class RowView implements StoreView {
  private readonly open: readonly OpenRun[];
  private readonly runs: readonly Run[];

  constructor(open: readonly OpenRun[]) {
    this.open = open;
    this.runs = open.map(({ run }) => run);
  }

  get(key: string): Buffer | undefined {
    const hash = hashKey(key);
    for (let i = this.open.length - 1; i >= 0; i--) {
      const { run, filter } = this.open[i]!;
      const found = filter?.mayHave(hash) === false ? undefined : run.get(key);
      if (found !== undefined) return found.value;
    }
    return undefined;
  }

  *range(from: string, to: string, backwards = false): Generator<Pair> {
    for (const row of mergeRows(this.runs, from, to, backwards)) if (isPair(row)) yield row;
  }

  first(from: string, to: string, backwards = false): Pair | undefined {
    let first: Row | undefined;
    // The newest run that says something of a key is right.
    for (const run of this.runs) {
      const row = backwards ? run.lastBefore(to) : run.firstFrom(from);
      if (row === undefined || row.key < from || row.key >= to) continue;
      const isFirst = first === undefined || (backwards ? row.key >= first.key : row.key <= first.key);
      if (isFirst) first = row;
    }
    // Where that says that the key was removed, the next one has to be looked for.
    if (first === undefined || isPair(first)) return first;
    return this.range(from, to, backwards).next().value as Pair | undefined;
  }
}

function isPair(row: Row): row is Pair {
  return row.value !== undefined;
}

class RowStore implements OrderedStore {
  private readonly disk: Disk;
  private readonly file: DiskFile;
  private slot: Slot;
  private open: readonly OpenRun[];
  private readonly cache = new BlockCache();
  private readonly runsEnough: number;
  /** Not where the other slot leads to what an earlier commit left. */
  private isSettled = true;
  private failure: { readonly error: unknown } | undefined;

  constructor(disk: Disk, file: DiskFile, runsEnough: number) {
    this.disk = disk;
    this.file = file;
    this.runsEnough = runsEnough;
    this.slot = readSlot(file);
    this.open = this.slot.runs.map((place) => ({ run: new Run(file, place, this.cache), filter: undefined }));
  }

  get generation(): number {
    return this.slot.generation;
  }

  view(): StoreView {
    return new RowView(this.open);
  }

  /** After one that failed there is none: what is behind the last slot may have been read, and is not what it was. */
  commit(changes: ReadonlyMap<string, Buffer | undefined>): void {
    if (this.failure !== undefined) throw this.failure.error;
    try {
      this.append(changes);
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }

  private append(changes: ReadonlyMap<string, Buffer | undefined>): void {
    const keys = [...changes.keys()].sort();
    for (const key of keys) refuseLarge(key, changes.get(key));
    const rows = (function* () {
      for (const key of keys) yield { key, value: changes.get(key) };
    })();
    const added = this.write(this.slot.end, rows, keys.length, this.open.length === 0);
    let [next, end] = added === undefined ? [this.open, this.slot.end] : [[...this.open, added], added.run.place.end];
    const from = firstToMerge(next.map(({ run }) => run.size));
    if (next.length > this.runsEnough && from < next.length - 1) {
      const runs = next.slice(from).map(({ run }) => run);
      const count = runs.reduce((sum, { place }) => sum + place.rows, 0);
      const merged = this.write(end, mergeRows(runs, LOWEST, HIGHEST), count, from === 0);
      next = merged === undefined ? next.slice(0, from) : [...next.slice(0, from), merged];
      end = merged?.run.place.end ?? end;
    }
    invariant(next.length <= RUNS_MAX, "more runs than a slot has room for");
    const slot = { generation: this.slot.generation + 1, end, runs: next.map(({ run }) => run.place) };
    writeSlot(this.file, slot);
    this.slot = slot;
    this.open = next;
    this.isSettled = false;
  }

  /** Writes a run; absent where there is nothing to write. What was removed need not be said where nothing is before it. */
  private write(at: number, rows: Iterable<Row>, count: number, isOldest: boolean): OpenRun | undefined {
    const writer = new RunWriter(this.file, at);
    const filter = new KeyFilter(count);
    for (const { key, value } of rows) {
      if (value === undefined && isOldest) continue;
      writer.add(key, value);
      filter.add(hashKey(key));
    }
    const place = writer.finish();
    return place === undefined ? undefined : { run: new Run(this.file, place, this.cache), filter };
  }

  isLoose(): boolean {
    const sizes = this.open.map(({ run }) => run.size);
    // With what commits left that did not come to their end.
    const used = this.file.size() - RUNS_AT;
    return used < SMALL_BYTES ? used > Math.max(0, ...sizes) : used > LOOSE_RATIO * Math.max(...sizes);
  }

  copyTo(folder: string): void {
    this.disk.makeFolder(folder);
    using file = this.disk.open(join(folder, NAME), "replace");
    const writer = new RunWriter(file, RUNS_AT);
    for (const { key, value } of this.view().range(LOWEST, HIGHEST)) writer.add(key, value);
    const place = writer.finish();
    const runs = place === undefined ? [] : [place];
    // Both slots lead to it, and all at once: nobody opens it before it gets its name.
    for (const more of [1, 2]) {
      const generation = this.slot.generation + more;
      file.write(encodeSlot({ generation, end: place?.end ?? RUNS_AT, runs }), slotAt(generation));
    }
    file.sync();
  }

  /** Says in the other slot too what counts: then neither of them can rot and leave an earlier commit to be believed. */
  private settle(): void {
    if (this.isSettled || this.failure !== undefined) return;
    const generation = this.slot.generation + 1;
    try {
      this.file.write(encodeSlot({ ...this.slot, generation }), slotAt(generation));
      this.file.sync();
    } catch (error) {
      // What was committed is as durable as before.
      if (!(error instanceof ArchiveError)) throw error;
    }
  }

  [Symbol.dispose](): void {
    try {
      this.settle();
    } finally {
      this.file.close();
    }
  }
}

/** What could be written, and not be read again. */
function refuseLarge(key: string, value: Buffer | undefined): void {
  invariant(key < HIGHEST, "a key behind all that are asked for");
  if (key.length <= KEY_SIZE_MAX && (value?.length ?? 0) <= VALUE_SIZE_MAX) return;
  throw new ArchiveError("HT_TOO_LARGE", "too large for a row of the catalogue");
}

/** The first of those runs that become one: it is no more than twice as large as all behind it. */
function firstToMerge(sizes: readonly number[]): number {
  let first = sizes.length - 1;
  for (let i = first - 1, sum = sizes.at(-1) ?? 0; i >= 0; i--) {
    if (sizes[i]! <= 2 * sum) first = i;
    sum += sizes[i]!;
  }
  return first;
}

function slotAt(generation: number): number {
  return (generation % SLOT_COUNT) * SLOT_SIZE;
}

/** Runs are durable before a slot leads to them, and the slot when this returns. */
function writeSlot(file: DiskFile, slot: Slot): void {
  file.sync();
  file.write(encodeSlot(slot), slotAt(slot.generation));
  file.sync();
}

function readSlot(file: DiskFile): Slot {
  const bytes = Buffer.alloc(RUNS_AT);
  file.read(bytes, 0);
  let last: Slot | undefined;
  for (let i = 0; i < SLOT_COUNT; i++) {
    const slot = decodeSlot(bytes.subarray(i * SLOT_SIZE, (i + 1) * SLOT_SIZE), file.path);
    if (slot !== undefined && slot.generation >= (last?.generation ?? 0)) last = slot;
  }
  const size = file.size();
  // Who began it did not come to its first commit: so there was nothing in it.
  if ((last?.generation ?? 0) === 0 && size <= RUNS_AT) return NOTHING;
  if (last === undefined || size < last.end)
    throw damagedRows(file.path, last === undefined ? "is damaged" : "was cut off");
  return last;
}

/** Makes it durable, together with its name, that there is nothing in the file. */
function begin(disk: Disk, folder: string, file: DiskFile): void {
  const slots = Buffer.alloc(RUNS_AT);
  encodeSlot(NOTHING).copy(slots);
  file.write(slots, 0);
  file.sync();
  disk.syncFolder(folder);
}

/** Opens the catalogue in the folder, and makes it where there is none. Only one may have it open so. */
export function openRows(disk: Disk, folder: string, runsEnough = RUNS_ENOUGH): OrderedStore {
  const path = join(folder, NAME);
  const isThere = disk.stat(path) !== undefined;
  if (!isThere) disk.makeFolder(folder);
  return openStore(disk.open(path, isThere ? "update" : "create"), (file) => {
    // What is read may not be durable yet, and things are about to be removed that only the commit before needs.
    if (isThere) file.sync();
    if (readSlot(file).generation === 0) begin(disk, folder, file);
    return new RowStore(disk, file, runsEnough);
  });
}

/** HT_CORRUPT where there is none. */
export function openRowsToRead(disk: Disk, folder: string): OrderedStore {
  const path = join(folder, NAME);
  if (disk.stat(path) === undefined) throw damagedRows(folder, "is not there");
  return openStore(disk.open(path, "read"), (file) => new RowStore(disk, file, RUNS_ENOUGH));
}

function openStore(file: DiskFile, open: (file: DiskFile) => OrderedStore): OrderedStore {
  try {
    return open(file);
  } catch (error) {
    file.close();
    throw error;
  }
}
