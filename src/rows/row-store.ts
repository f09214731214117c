/**
 * The catalogue in one file that only grows: each commit appends a run of rows in order, and then says in one of two slots
 * which runs count. So a reader finds what one commit left, whatever the writer does meanwhile, and a crash leaves the
 * commit before. Runs of like size become one as they add up. The file gets its name when it has its slots: one without
 * any is damaged, never new. Obeys docs/format/catalogue.md.
 */
import { join } from "node:path";
import { ArchiveError, BloomFilter, invariant } from "../base/index.ts";
import { createDurably, type Disk, type DiskFile, removeLeftovers, Slots } from "../disk/index.ts";
import { BlockCache } from "./block-cache.ts";
import { hashKey } from "./key-hash.ts";
import type { OrderedStore, Pair, StoreView } from "./ordered-store.ts";
import { KEY_SIZE_MAX, type Row, VALUE_SIZE_MAX } from "./row-block.ts";
import { damagedRows } from "./row-damage.ts";
import { mergeRows } from "./row-merge.ts";
import { Run, RunWriter } from "./row-run.ts";
import { RUNS_AT, RUNS_MAX, SLOT_FORMAT, SLOT_SIZE, type Slot } from "./row-slot.ts";

const NAME = "catalogue.rows";
/** So many runs are searched without becoming fewer. */
const RUNS_ENOUGH = 16;
/** Smaller ones are copied however little that saves. */
const SMALL_BYTES = 1 << 20;
const LOOSE_RATIO = 1.25;
const LOWEST = "";
const HIGHEST = "\xff".repeat(64);

/** A run, and what is known of its keys if this process has written it. */
interface OpenRun {
  readonly run: Run;
  readonly filter: BloomFilter | undefined;
}

class RowView implements StoreView {
  private readonly open: readonly OpenRun[];
  private readonly runs: readonly Run[];

  constructor(open: readonly OpenRun[]) {
    this.open = open;
    this.runs = open.map(({ run }) => run);
  }

  get(key: string): Buffer | undefined {
    const { first, second } = hashKey(key);
    for (let i = this.open.length - 1; i >= 0; i--) {
      const { run, filter } = this.open[i]!;
      const found = filter?.mayHave(first, second) === false ? undefined : run.get(key);
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
  private readonly slots: Slots<Slot>;
  private slot: Slot;
  private open: readonly OpenRun[];
  private readonly cache = new BlockCache();
  private readonly runsEnough: number;
  private failure: { readonly error: unknown } | undefined;

  constructor(disk: Disk, file: DiskFile, mode: "read" | "update", runsEnough: number) {
    this.disk = disk;
    this.file = file;
    this.runsEnough = runsEnough;
    this.slots = new Slots(file, SLOT_FORMAT);
    const slot = readSlot(file, this.slots);
    this.slot = mode === "read" ? slot : this.slots.settle(slot);
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
    const start = this.slots.startAfter(this.slot);
    const added = this.write(start, rows, keys.length, this.open.length === 0);
    let [next, end] = added === undefined ? [this.open, start] : [[...this.open, added], added.run.place.end];
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
    this.slots.commit(slot, this.slot);
    this.slot = slot;
    this.open = next;
  }

  /** Writes a run; absent where there is nothing to write. What was removed need not be said where nothing is before it. */
  private write(at: number, rows: Iterable<Row>, count: number, isOldest: boolean): OpenRun | undefined {
    const writer = new RunWriter(this.file, at);
    const filter = new BloomFilter(count);
    for (const { key, value } of rows) {
      if (value === undefined && isOldest) continue;
      writer.add(key, value);
      const { first, second } = hashKey(key);
      filter.add(first, second);
    }
    const place = writer.finish();
    return place === undefined ? undefined : { run: new Run(this.file, place, this.cache), filter };
  }

  isLoose(): boolean {
    const sizes = this.open.map(({ run }) => run.size);
    // With what commits left that did not come to their end.
    const used = this.file.size() - RUNS_AT;
    return used < SMALL_BYTES ? used > SLOT_SIZE + Math.max(0, ...sizes) : used > LOOSE_RATIO * Math.max(...sizes);
  }

  copyTo(folder: string): void {
    this.disk.makeFolder(folder);
    using file = this.disk.open(join(folder, NAME), "replace");
    const writer = new RunWriter(file, RUNS_AT);
    for (const { key, value } of this.view().range(LOWEST, HIGHEST)) writer.add(key, value);
    const place = writer.finish();
    const runs = place === undefined ? [] : [place];
    new Slots(file, SLOT_FORMAT).begin({ generation: this.slot.generation + 1, end: place?.end ?? RUNS_AT, runs });
    file.sync();
  }

  [Symbol.dispose](): void {
    this.file.close();
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

function readSlot(file: DiskFile, slots: Slots<Slot>): Slot {
  const { commits, isLost } = slots.read();
  const [last] = commits;
  if (last === undefined || isLost) throw damagedRows(file.path, last === undefined ? "is damaged" : "lost a commit");
  if (file.size() < last.end) throw damagedRows(file.path, "was cut off");
  return last;
}

/** Makes the file with nothing in it. */
function create(disk: Disk, folder: string, path: string): void {
  disk.makeFolder(folder);
  removeLeftovers(disk, folder);
  createDurably(disk, path, (output) => {
    for (const generation of [0, 1]) output.write(SLOT_FORMAT.encode({ generation, end: RUNS_AT, runs: [] }));
  });
}

/** Opens the catalogue in the folder, and makes it where there is none. Only one may have it open so. */
export function openRows(disk: Disk, folder: string, runsEnough = RUNS_ENOUGH): OrderedStore {
  const path = join(folder, NAME);
  if (disk.stat(path) === undefined) create(disk, folder, path);
  return openStore(disk.open(path, "update"), (file) => {
    // What is read may not be durable yet, and things are about to be removed that only the commit before needs.
    file.sync();
    return new RowStore(disk, file, "update", runsEnough);
  });
}

/** HT_CORRUPT where there is none. */
export function openRowsToRead(disk: Disk, folder: string): OrderedStore {
  const path = join(folder, NAME);
  if (disk.stat(path) === undefined) throw damagedRows(folder, "is not there");
  return openStore(disk.open(path, "read"), (file) => new RowStore(disk, file, "read", RUNS_ENOUGH));
}

function openStore(file: DiskFile, open: (file: DiskFile) => OrderedStore): OrderedStore {
  try {
    return open(file);
  } catch (error) {
    file.close();
    throw error;
  }
}
