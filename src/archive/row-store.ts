/**
 * The catalogue in one file that only grows: each commit appends a run of rows in order, and then says in one of two slots
 * which runs count. So a reader finds what one commit left, whatever the writer does meanwhile, and a crash leaves the
 * commit before. Runs of like size become one as they add up. Obeys docs/format/catalogue.md.
 */
import { join } from "node:path";
import { ArchiveError, invariant } from "../base/index.ts";
import type { Disk, DiskFile } from "../disk/index.ts";
import { hashKey, KeyFilter } from "./key-filter.ts";
import type { OrderedStore, Pair, StoreView } from "./ordered-store.ts";
import type { Row } from "./row-block.ts";
import { mergeRows } from "./row-merge.ts";
import { Run, RunWriter } from "./row-run.ts";
import { decodeSlot, encodeSlot, RUNS_AT, RUNS_MAX, SLOT_COUNT, SLOT_SIZE, type Slot } from "./row-slot.ts";

const NAME = "catalogue.rows";
/** What was there before Holotype had a format of its own for this. */
const FORMER_NAME = "catalogue.lmdb";
/** So many runs are searched without becoming fewer. */
const RUNS_ENOUGH = 16;
/** Smaller ones are copied however little that saves. */
const SMALL_BYTES = 1 << 20;
const LOOSE_RATIO = 1.25;
const LOWEST = "";
const HIGHEST = "\xff".repeat(64);
const ADVICE = "`holotype rebuild` makes it again";
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
    const [only] = this.runs;
    if (this.runs.length !== 1) return this.range(from, to, backwards).next().value as Pair | undefined;
    // The oldest run has no row that says that something was removed: there is nothing before it.
    const row = backwards ? only!.lastBefore(to) : only!.firstFrom(from);
    if (row === undefined || row.key < from || row.key >= to) return undefined;
    invariant(isPair(row), "the oldest run removes nothing");
    return row;
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

  constructor(disk: Disk, file: DiskFile) {
    this.disk = disk;
    this.file = file;
    this.slot = readSlot(file);
    this.open = this.slot.runs.map((place) => ({ run: new Run(file, place), filter: undefined }));
  }

  view(): StoreView {
    return new RowView(this.open);
  }

  commit(changes: ReadonlyMap<string, Buffer | undefined>): void {
    const keys = [...changes.keys()].sort();
    const rows = (function* () {
      for (const key of keys) yield { key, value: changes.get(key) };
    })();
    const added = this.write(this.slot.end, rows, keys.length, this.open.length === 0);
    let [next, end] = added === undefined ? [this.open, this.slot.end] : [[...this.open, added], added.run.place.end];
    if (next.length > RUNS_ENOUGH) {
      const from = firstToMerge(next.map(({ run }) => run.size));
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
    return place === undefined ? undefined : { run: new Run(this.file, place), filter };
  }

  isLoose(): boolean {
    const sizes = this.open.map(({ run }) => run.size);
    const used = this.slot.end - RUNS_AT;
    return used < SMALL_BYTES ? used > Math.max(0, ...sizes) : used > LOOSE_RATIO * Math.max(...sizes);
  }

  copyTo(folder: string): void {
    using file = createFile(this.disk, folder);
    const writer = new RunWriter(file, RUNS_AT);
    for (const { key, value } of this.view().range(LOWEST, HIGHEST)) writer.add(key, value);
    const place = writer.finish();
    const runs = place === undefined ? [] : [place];
    writeSlot(file, { generation: this.slot.generation + 1, end: place?.end ?? RUNS_AT, runs });
  }

  [Symbol.dispose](): void {
    this.file.close();
  }
}

/** The first of those runs that become one: it is no more than twice as large as all behind it. */
function firstToMerge(sizes: readonly number[]): number {
  let first = sizes.length - 1;
  for (let i = first - 1, sum = sizes.at(-1)!; i >= 0; i--) {
    if (sizes[i]! <= 2 * sum) first = i;
    sum += sizes[i]!;
  }
  return first;
}

/** Runs are durable before a slot leads to them, and the slot when this returns. */
function writeSlot(file: DiskFile, slot: Slot): void {
  file.sync();
  file.write(encodeSlot(slot), (slot.generation % SLOT_COUNT) * SLOT_SIZE);
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
  // Who began it did not come to its first slot: so there was nothing in it.
  if (last === undefined && size <= RUNS_AT) return NOTHING;
  if (last === undefined || size < last.end)
    throw damaged(file.path, last === undefined ? "is damaged" : "was cut off");
  return last;
}

function damaged(path: string, what: string): ArchiveError {
  return new ArchiveError("HT_CORRUPT", `${path}: the catalogue ${what}; ${ADVICE}`, { file: path });
}

/** Makes the file anew: empty, and durable together with its name. */
function createFile(disk: Disk, folder: string): DiskFile {
  disk.makeFolder(folder);
  const file = disk.open(join(folder, NAME), "replace");
  file.write(Buffer.alloc(RUNS_AT), 0);
  writeSlot(file, NOTHING);
  disk.syncFolder(folder);
  return file;
}

function refuseFormer(disk: Disk, folder: string): void {
  if (disk.stat(join(folder, FORMER_NAME)) === undefined) return;
  const message = `${folder}: the catalogue was made by an earlier Holotype; \`holotype rebuild\` makes it anew`;
  throw new ArchiveError("HT_UNSUPPORTED", message, { file: folder });
}

/** Opens the catalogue in the folder, and makes it where there is none. Only one may have it open so. */
export function openRows(disk: Disk, folder: string): OrderedStore {
  const path = join(folder, NAME);
  const isThere = disk.stat(path) !== undefined;
  if (!isThere) refuseFormer(disk, folder);
  return openStore(disk, isThere ? disk.open(path, "update") : createFile(disk, folder));
}

/** HT_CORRUPT where there is none. */
export function openRowsToRead(disk: Disk, folder: string): OrderedStore {
  const path = join(folder, NAME);
  if (disk.stat(path) === undefined) {
    refuseFormer(disk, folder);
    throw damaged(folder, "is not there");
  }
  return openStore(disk, disk.open(path, "read"));
}

function openStore(disk: Disk, file: DiskFile): OrderedStore {
  try {
    return new RowStore(disk, file);
  } catch (error) {
    file.close();
    throw error;
  }
}
