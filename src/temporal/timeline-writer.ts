/**
 * Writes a timeline. One does at a time, who holds a lock. What a commit made durable stays, whatever happens.
 */
import { join } from "node:path";
import { ArchiveError } from "../base/index.ts";
import { type Disk, type Lock, removeLeftovers } from "../disk/index.ts";
import { applyVisits } from "./apply.ts";
import { applyChanges } from "./apply-past.ts";
import { VisitBatch } from "./batch.ts";
import { copyPages, createEmpty, putInPlace } from "./copy.ts";
import { isAsOf, type PageFile } from "./page-file.ts";
import { hasManyCopies, layAnew } from "./relay.ts";
import { compareVisits, type Visit } from "./run.ts";
import type { Root } from "./slot.ts";
import {
  CACHE_BYTES_DEFAULT,
  FILE_NAME,
  type OpenOptions,
  openFile,
  type TimelineOptions,
  TimelineSnapshot,
} from "./timeline.ts";
import type { TimelineVisit } from "./timeline-store.ts";

export const PAGE_SIZE_DEFAULT = 8192;
export const DIGEST_SIZE_DEFAULT = 16;
export const KEY_SIZE_MAX = 65_536;
export const VALUE_SIZE_MAX = 4096;
/** Times are whole numbers, of whatever unit; this leaves room for anything in microseconds. */
export const TIME_MAX = 2 ** 51;
/** Visits that wait in memory, in bytes, before they are worked in. */
const WAITING_MAX = 64 << 20;
/** The file is written anew when two thirds of it are dead, and more than this. */
const DEAD_LEAST = 16 << 20;
/** By who tidies up, when a fifth of it is dead, and more than this. */
const TIDY_LEAST = 1 << 20;

/** What becomes of a key: visits that are forgotten, and others that are told. */
export interface TimelineChange {
  readonly key: string;
  readonly forgotten: readonly TimelineVisit[];
  readonly visits: readonly Visit[];
}

/** Whether the file was written anew, and which commit is the last. */
interface Tidied {
  readonly isChanged: boolean;
  readonly generation: number;
}

export class TimelineWriter implements Disposable {
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly options: TimelineOptions;
  private readonly lock: Lock;
  private pages: PageFile;
  private root: Root;
  private waiting: VisitBatch;
  /** Pages that hold more than the last commit does. */
  private ahead: Root | undefined;
  private readonly lent = new Map<PageFile, number>();
  /** Whether the name of the file that is written is known to be durable. */
  private isNamed = false;
  private isClosed = false;
  /** After a compaction that failed, the next one is tried when the file is larger than this. */
  private compactFrom = 0;
  /** After pages were laid out anew, that is done again when there are more copies than this. */
  private layFrom = 0;

  /**
   * Opens the timeline in the folder, and makes it where there is none. HT_LOCKED where another writer is there. Where the
   * commit that is wanted is the one before the last, it goes on from that, and the last one is forgotten. HT_CORRUPT, and
   * nothing is touched, where the wanted one is not known.
   */
  static open(disk: Disk, folder: string, options: OpenOptions = {}): TimelineWriter {
    disk.makeFolder(folder);
    const lock = disk.lock(join(folder, "lock"));
    try {
      removeLeftovers(disk, folder);
      if (disk.stat(join(folder, FILE_NAME)) === undefined) create(disk, folder, options);
      return new TimelineWriter(disk, folder, options, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  private constructor(disk: Disk, folder: string, options: OpenOptions, lock: Lock) {
    this.disk = disk;
    this.folder = folder;
    this.options = options;
    this.lock = lock;
    this.pages = openFile(disk, folder, "update", options.cacheBytes);
    try {
      const root = this.pages.readRoot(options.generation);
      if (!isAsOf(root, options.generation)) throw notKept(this.pages.file.path, root, options.generation!);
      this.root = this.pages.continueFrom(root);
      this.waiting = new VisitBatch(this.root.digestSize);
    } catch (error) {
      this.pages.close();
      throw error;
    }
  }

  /** At this time the key held the content with this digest. Heard of before, it changes nothing. */
  insert(key: string | Uint8Array, time: number, value: Uint8Array, digest: Uint8Array): void {
    if (digest.length !== this.root.digestSize) {
      throw new ArchiveError("HT_USAGE", `a digest of ${digest.length} bytes instead of ${this.root.digestSize}`);
    }
    if (value.length > VALUE_SIZE_MAX) throw new ArchiveError("HT_TOO_LARGE", `a value of ${value.length} bytes`);
    this.add(key, time, digest, value);
  }

  /** At this time the key was found to be gone. */
  end(key: string | Uint8Array, time: number): void {
    this.add(key, time, undefined, NOTHING);
  }

  private add(key: string | Uint8Array, time: number, digest: Uint8Array | undefined, value: Uint8Array): void {
    const text = keyText(key);
    if (!Number.isInteger(time) || Math.abs(time) > TIME_MAX) throw new ArchiveError("HT_USAGE", `not a time: ${time}`);
    this.waiting.add(text, time, digest, value);
    if (this.waiting.cost > WAITING_MAX) this.workIn();
  }

  /**
   * It is as if these visits of these keys had never been heard of; one that was not changes nothing. Costs what it costs
   * to write the pages of the keys anew.
   */
  remove(visits: ReadonlyMap<string, readonly TimelineVisit[]>): void {
    this.change([...visits].map(([key, forgotten]) => ({ key, forgotten, visits: [] })));
  }

  /**
   * The same, with other visits in their place. All at once: what is forgotten and told again is not taken for gone in
   * between, which would make one lifespan of those before and after it.
   */
  change(all: readonly TimelineChange[]): void {
    const byTime = (one: TimelineVisit, other: TimelineVisit) => one.time - other.time;
    const changes = all.map(({ key, forgotten, visits }) => {
      return { key: keyText(key), visits: visits.toSorted(compareVisits), forgotten: forgotten.toSorted(byTime) };
    });
    changes.sort((one, other) => (one.key < other.key ? -1 : 1));
    if (this.waiting.length > 0) this.workIn();
    this.advance((root) => applyChanges(this.pages, root, changes));
  }

  /** Takes what waits into pages. They are reachable only after a commit. */
  private workIn(): void {
    const visits = this.waiting.take();
    this.advance((root) => applyVisits(this.pages, root, visits));
  }

  private advance(change: (root: Root) => Root): void {
    try {
      this.ahead = change(this.ahead ?? this.root);
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /**
   * All that was inserted or removed since the last commit is so durably when this returns. When it throws, none of it is,
   * or, where it was the last write or sync that failed, all of it: `snapshot` shows which. It can be done again in any case.
   */
  commit(): Root {
    this.commitAlone();
    this.compactWhereWorth();
    return this.root;
  }

  /** The same, after which the commit before is still in the file, for who has to tell others of this one first. */
  commitAlone(): Root {
    if (this.waiting.length > 0) this.workIn();
    if (this.ahead === undefined) return this.root;
    const generation = this.root.generation + 1;
    const next = { ...this.ahead, generation, since: generation, end: this.pages.size };
    try {
      // A file that was renamed by somebody who was cut off then could still lose its name, and with it this commit.
      if (!this.isNamed) this.disk.syncFolder(this.folder);
      this.isNamed = true;
      this.pages.commit(next);
    } catch (error) {
      this.forget();
      throw error;
    }
    this.root = next;
    this.ahead = undefined;
    return this.root;
  }

  /**
   * For who is done for a while: writes the file anew where much of it is dead, or whatever is, and says which commit is
   * the last then.
   */
  tidy(isThorough = false): Tidied {
    const { live, generation } = this.root;
    if (isThorough || this.pages.size - live > Math.max(TIDY_LEAST, live / 4)) this.compactIfPossible();
    return { isChanged: this.root.generation !== generation, generation: this.root.generation };
  }

  /** The same in the midst of work, where most of it is dead. */
  compactWhereWorth(): Tidied {
    const { size } = this.pages;
    const { live, generation } = this.root;
    const isDead = size - live > Math.max(DEAD_LEAST, 2 * live);
    const isWorth = isDead || (live > DEAD_LEAST && this.isScattered());
    if (isWorth && size >= this.compactFrom) this.compactIfPossible();
    return { isChanged: this.root.generation !== generation, generation: this.root.generation };
  }

  /** What was committed stays so where there is no room to write it anew. */
  private compactIfPossible(): void {
    const { size } = this.pages;
    try {
      this.compact();
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      this.compactFrom = size + Math.max(DEAD_LEAST, this.root.live);
    }
  }

  /** Whether visits came in an order that made many copies, and it is worth to lay pages out anew. */
  private isScattered(): boolean {
    return hasManyCopies(this.root) && this.root.copies > this.layFrom;
  }

  /** Goes back to the last commit. */
  private forget(): void {
    this.waiting = new VisitBatch(this.root.digestSize);
    this.ahead = undefined;
    this.closeUnlessLent(this.pages);
    this.pages = openFile(this.disk, this.folder, "update", this.options.cacheBytes);
    this.root = this.pages.continueFrom(this.pages.readRoot());
  }

  /**
   * Writes the file anew without what is dead; and where visits came in an order that scattered them over many pages, as
   * if they had come in order. Who reads the old file goes on with it.
   */
  compact(): void {
    if (this.waiting.length > 0 || this.ahead !== undefined) this.commit();
    const cacheBytes = this.options.cacheBytes ?? CACHE_BYTES_DEFAULT;
    const path = join(this.folder, FILE_NAME);
    const old = { pages: this.pages, root: this.root };
    try {
      const isScattered = this.isScattered();
      const partial = isScattered
        ? layAnew(this.disk, path, old, cacheBytes)
        : copyPages(this.disk, path, old, cacheBytes);
      const { pages, root } = putInPlace(this.disk, path, partial, this.root);
      this.closeUnlessLent(this.pages);
      this.pages = pages;
      this.root = root;
      if (isScattered) this.layFrom = 2 * root.copies;
    } catch (error) {
      // The new file may have the name already, and then the old one must not be written to any more.
      this.isNamed = false;
      this.forget();
      throw error;
    }
  }

  /** The number of the last commit. */
  get generation(): number {
    return this.root.generation;
  }

  /** As of the last commit. */
  snapshot(): TimelineSnapshot {
    const { pages } = this;
    this.lent.set(pages, (this.lent.get(pages) ?? 0) + 1);
    let isHeld = true;
    return new TimelineSnapshot(pages, this.root, () => {
      if (!isHeld) return;
      isHeld = false;
      const left = this.lent.get(pages)! - 1;
      if (left > 0) this.lent.set(pages, left);
      else this.lent.delete(pages);
      if (left === 0 && (pages !== this.pages || this.isClosed)) pages.close();
    });
  }

  private closeUnlessLent(pages: PageFile): void {
    if (!this.lent.has(pages)) pages.close();
  }

  /** What was not committed is gone. */
  [Symbol.dispose](): void {
    this.isClosed = true;
    this.closeUnlessLent(this.pages);
    this.lock.release();
  }
}

function notKept(file: string, { since }: Root, wanted: number): ArchiveError {
  return new ArchiveError("HT_CORRUPT", `${file}: the timeline is as of commit ${since}, not of ${wanted}`, { file });
}

function create(disk: Disk, folder: string, options: TimelineOptions): void {
  const { pageSize = PAGE_SIZE_DEFAULT, digestSize = DIGEST_SIZE_DEFAULT } = options;
  if (!Number.isInteger(pageSize) || pageSize < 256 || pageSize > 1 << 20) {
    throw new ArchiveError("HT_USAGE", `pages of ${pageSize} bytes`);
  }
  if (!Number.isInteger(digestSize) || digestSize < 1 || digestSize > 64) {
    throw new ArchiveError("HT_USAGE", `digests of ${digestSize} bytes`);
  }
  const path = join(folder, FILE_NAME);
  const empty = createEmpty(disk, path, { pageSize, digestSize }, 0);
  putInPlace(disk, path, empty, { generation: 0, since: 1 }).pages.close();
}

const NOTHING = Buffer.alloc(0);

function latin1(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString("latin1");
}

/** In one place, since each evaluation of a pattern makes an object of its own. */
const NO_BYTE = /[\u0100-\uffff]/;

/** A key as a string of which each character is one byte. */
export function keyText(key: string | Uint8Array): string {
  const text = typeof key === "string" ? key : latin1(key);
  if (text.length === 0 || text.length > KEY_SIZE_MAX)
    throw new ArchiveError("HT_USAGE", `a key of ${text.length} bytes`);
  if (typeof key === "string" && NO_BYTE.test(text)) {
    throw new ArchiveError("HT_USAGE", "a key with characters that are no bytes");
  }
  return text;
}
