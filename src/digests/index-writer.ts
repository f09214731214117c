/**
 * The folder of a digest index, and whoever writes to it. A run is there, durable and whole, before a slot names it; a run
 * that no slot names is one that was not finished, and goes. Obeys docs/format/digest-index.md.
 */
import { join } from "node:path";
import { ArchiveError, invariant } from "../base/index.ts";
import { createDurably, type Disk, type Lock, removeLeftovers, Slots } from "../disk/index.ts";
import { damagedIndex } from "./byte-fields.ts";
import { runName } from "./run.ts";
import { type IndexSettings, SETTINGS_DEFAULT } from "./settings.ts";
import { INDEX_SLOT_FORMAT, type IndexSlot, RUNS_MAX } from "./slot.ts";

const SLOTS_NAME = "slots";
const LOCK_NAME = "lock";
const RUN_NAME = /^\d{6,}\.run$/;

export function isDigestIndex(disk: Disk, folder: string): boolean {
  return disk.stat(join(folder, SLOTS_NAME))?.kind === "file";
}

/** The last commit. HT_NOT_FOUND where there is no index. */
export function readIndexSlot(disk: Disk, folder: string): IndexSlot {
  const path = join(folder, SLOTS_NAME);
  if (!isDigestIndex(disk, folder)) {
    const inside = join(folder, "digests");
    const hint = isDigestIndex(disk, inside) ? `did you mean ${inside}?` : "holotype digests build makes one";
    throw new ArchiveError("HT_NOT_FOUND", `${folder}: no digest index (${hint})`, { file: folder });
  }
  using file = disk.open(path, "read");
  const { commits, isLost } = new Slots(file, INDEX_SLOT_FORMAT).read();
  const [last] = commits;
  if (last === undefined || isLost) throw damagedIndex(path, last === undefined ? "is damaged" : "lost a commit");
  return last;
}

export interface WriterOptions {
  /** Of a new index. One that is there keeps its own; HT_USAGE where they differ. */
  readonly settings?: IndexSettings | undefined;
  /** HT_EXISTS where there is an index already. */
  readonly isNew?: boolean | undefined;
}

export class IndexWriter implements Disposable {
  readonly disk: Disk;
  readonly folder: string;
  private readonly lock: Lock;
  private committed: IndexSlot;
  private isThere: boolean;

  private constructor(disk: Disk, folder: string, lock: Lock, options: WriterOptions) {
    this.disk = disk;
    this.folder = folder;
    this.lock = lock;
    this.isThere = isDigestIndex(disk, folder);
    if (this.isThere && options.isNew === true) {
      throw new ArchiveError("HT_EXISTS", `${folder}: exists already; --add adds to it`, {
        file: folder,
      });
    }
    const settings = options.settings ?? SETTINGS_DEFAULT;
    const end = Slots.dataStart(INDEX_SLOT_FORMAT);
    this.committed = this.isThere
      ? readIndexSlot(disk, folder)
      : { generation: 0, end, settings, nextRun: 1, runs: [] };
    if (options.settings !== undefined) refuseOther(folder, this.committed.settings, options.settings);
    this.tidy();
  }

  /** Holds the lock until it is disposed of. */
  static open(disk: Disk, folder: string, options: WriterOptions = {}): IndexWriter {
    disk.makeFolder(folder);
    const lock = disk.lock(join(folder, LOCK_NAME));
    try {
      return new IndexWriter(disk, folder, lock, options);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  get settings(): IndexSettings {
    return this.committed.settings;
  }

  /** Numbers of the runs that count, the oldest first. */
  get runs(): readonly number[] {
    return this.committed.runs;
  }

  /** What work left that did not come to its end. */
  private tidy(): void {
    removeLeftovers(this.disk, this.folder);
    for (const { name } of this.disk.list(this.folder)) {
      if (RUN_NAME.test(name) && !this.runs.includes(Number.parseInt(name, 10)))
        this.disk.remove(join(this.folder, name));
    }
  }

  /** Has `write` make a run at a path, and counts it in the place of those that it `replaces`. */
  addRun<T>(write: (path: string) => T, replaces: readonly number[] = []): T {
    const number = this.committed.nextRun;
    const written = write(join(this.folder, runName(number)));
    const kept = this.runs.filter((run) => !replaces.includes(run));
    invariant(kept.length < RUNS_MAX, "more runs than a slot has room for");
    this.commit({ nextRun: number + 1, runs: [...kept, number] });
    for (const run of replaces) this.disk.remove(join(this.folder, runName(run)));
    return written;
  }

  /** The same where making the run takes its time. Nothing else may write to the index meanwhile. */
  async addRunLater<T>(write: (path: string) => Promise<T>): Promise<T> {
    const written = await write(join(this.folder, runName(this.committed.nextRun)));
    return this.addRun(() => written);
  }

  /** An index of no runs is one too. */
  create(): void {
    if (!this.isThere) this.commit({ nextRun: this.committed.nextRun, runs: [] });
  }

  private commit(change: Pick<IndexSlot, "nextRun" | "runs">): void {
    const path = join(this.folder, SLOTS_NAME);
    const { settings } = this;
    if (!this.isThere) {
      const end = Slots.dataStart(INDEX_SLOT_FORMAT);
      createDurably(this.disk, path, (output) => {
        for (const generation of [0, 1])
          output.write(INDEX_SLOT_FORMAT.encode({ generation, end, settings, ...change }));
      });
      this.committed = { generation: 1, end, settings, ...change };
      this.isThere = true;
      return;
    }
    using file = this.disk.open(path, "update");
    const slots = new Slots(file, INDEX_SLOT_FORMAT);
    const last = slots.settle(this.committed);
    const next = { generation: last.generation + 1, end: slots.startAfter(last), settings, ...change };
    slots.commit(next, last);
    this.committed = next;
  }

  [Symbol.dispose](): void {
    this.lock.release();
  }
}

function refuseOther(folder: string, own: IndexSettings, wanted: IndexSettings): void {
  const other = (["url", "digest", "equivalent", "validators"] as const).find((name) => own[name] !== wanted[name]);
  if (other === undefined) return;
  const message = `${folder}: this index was made with other settings (${other}: ${own[other] ? "yes" : "no"})`;
  throw new ArchiveError("HT_USAGE", message, { file: folder });
}
