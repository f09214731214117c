/**
 * Two slots at the head of a file that only grows. Each says what one commit made of the file; the newer one counts. The
 * bytes of a commit begin with a copy of its slot, which is durable before the slot itself is written. So a slot that fails
 * its checksum, torn or rotten, takes nothing away: the copy stands right after the commit before it. Both slots are
 * written from the beginning, so one that does not hold was damaged, or was being written. See docs/decisions/0024.
 */
import type { DiskFile } from "./disk.ts";

/** What a slot has to say for us; the rest of it belongs to the format. */
export interface Committed {
  /** Counts the commits. */
  readonly generation: number;
  /** Where the bytes of this commit end. */
  readonly end: number;
}

export interface SlotFormat<T extends Committed> {
  readonly sizeBytes: number;
  readonly encode: (commit: T) => Buffer;
  /** Absent where the bytes fail their checksum. */
  readonly decode: (bytes: Buffer, path: string) => T | undefined;
}

export interface SlotsRead<T> {
  /** Newest first; none where the file has no slots that hold. */
  readonly commits: readonly T[];
  /** Offsets of the slots that do not hold. */
  readonly broken: readonly number[];
  /** A later commit than these was made or begun, and neither its slot nor its copy holds. */
  readonly isLost: boolean;
}

const SLOT_COUNT = 2;

export class Slots<T extends Committed> {
  private readonly file: DiskFile;
  private readonly format: SlotFormat<T>;

  constructor(file: DiskFile, format: SlotFormat<T>) {
    this.file = file;
    this.format = format;
  }

  /** Where the bytes after both slots begin. */
  static dataStart({ sizeBytes }: Pick<SlotFormat<never>, "sizeBytes">): number {
    return SLOT_COUNT * sizeBytes;
  }

  read(): SlotsRead<T> {
    const held = this.held();
    const broken = held.flatMap((commit, i) => (commit === undefined ? [i * this.format.sizeBytes] : []));
    const commits = held.flatMap((commit) => commit ?? []).sort((one, other) => other.generation - one.generation);
    const [last] = commits;
    const size = this.file.size();
    // Where nothing follows the commit, the other slot was that of an earlier one.
    if (last === undefined || broken.length === 0 || size <= last.end) return { commits, broken, isLost: false };
    const copy = this.slotAt(last.end);
    const isNext = copy !== undefined && copy.generation > last.generation && copy.end >= this.startAfter(last);
    return isNext ? { commits: [copy, last], broken, isLost: false } : { commits, broken, isLost: true };
  }

  private held(): (T | undefined)[] {
    return Array.from({ length: SLOT_COUNT }, (_, i) => this.slotAt(i * this.format.sizeBytes));
  }

  private slotAt(position: number): T | undefined {
    const bytes = Buffer.alloc(this.format.sizeBytes);
    return this.file.read(bytes, position) === bytes.length ? this.format.decode(bytes, this.file.path) : undefined;
  }

  /** Where the bytes of the commit after this one begin. */
  startAfter(commit: T): number {
    return commit.end + this.format.sizeBytes;
  }

  /** Durable when it returns, with all that was written before. `last` is the commit that it follows. */
  commit(next: T, last: T): void {
    // A power cut in the middle of one slot has to leave the other one.
    if (this.slotAt(this.positionOf(last))?.generation !== last.generation) this.put(last);
    this.file.write(this.format.encode(next), last.end);
    this.file.sync();
    this.put(next);
    this.file.sync();
  }

  private put(commit: T): void {
    this.file.write(this.format.encode(commit), this.positionOf(commit));
  }

  private positionOf({ generation }: Committed): number {
    return (generation % SLOT_COUNT) * this.format.sizeBytes;
  }

  /** The first commit of a file, in both slots: the newer of them. It does not sync. */
  begin(commit: T): T {
    this.put(commit);
    return this.putTwin(commit);
  }

  /**
   * Makes both slots hold, and neither of them lead to a later commit than this one, which was read: what counts then. It
   * does not sync: until the next commit does, the file can be read as well as before.
   */
  settle(commit: T): T {
    const held = this.held();
    const other = held[(commit.generation + 1) % SLOT_COUNT];
    if (held[commit.generation % SLOT_COUNT]?.generation !== commit.generation) {
      this.put(commit);
      return commit;
    }
    return other !== undefined && other.generation < commit.generation ? commit : this.putTwin(commit);
  }

  /** The other slot says the same, as the next commit. */
  private putTwin(commit: T): T {
    const twin = { ...commit, generation: commit.generation + 1 };
    this.put(twin);
    return twin;
  }
}
