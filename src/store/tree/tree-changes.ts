/**
 * How a tree is changed: one change of a signature at a time, each in the journal before it is done. What is written in
 * place is synced later, many files together, and before the journal may forget it.
 *
 * 1. A change that was appended and then failed leaves it open what is on the disk. Nothing is changed after it until all
 *    who are at work have ended and the journal has been read and redone, as after a crash.
 * 2. A block that was made or removed is so durably when its change ends, so that nobody finds an older block in its place.
 */
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { formatAddress, parseAddress } from "../content-key.ts";
import { Exclusion } from "../exclusion.ts";
import type { BlockFiles, TreeBlock } from "./block-files.ts";
import { Doorway } from "./doorway.ts";
import type { FormerKeys } from "./former-keys.ts";
import type { IncomingFiles } from "./incoming.ts";
import { Journal } from "./journal.ts";
import { type JournalEntry, NO_TOTALS, type Totals } from "./journal-line.ts";
import { redo } from "./redo.ts";
import { type TreeShape, walkTree } from "./walk.ts";

export interface TreeLimits {
  /** Requests that are remembered, at least. */
  readonly rememberedCount?: number;
  /** After so many changes, what was written in place is synced. It bounds what has to be redone after a crash. */
  readonly settleCount?: number;
  /** A larger journal is begun anew. */
  readonly journalSizeMax?: number;
}

export interface TreeParts {
  readonly disk: Disk;
  readonly folder: string;
  readonly files: BlockFiles;
  readonly former: FormerKeys;
  readonly incoming: IncomingFiles;
  readonly shape: TreeShape;
}

const SETTLE_COUNT_DEFAULT = 10_000;
/** Some 200,000 lines, which are read in less than a second when the volume is opened. */
const JOURNAL_SIZE_MAX_DEFAULT = 32 << 20;
const SYNCS_AT_ONCE = 16;

export class TreeChanges {
  private readonly parts: TreeParts;
  private readonly settleCount: number;
  private readonly journalSizeMax: number;
  readonly journal: Journal;
  private readonly exclusion = new Exclusion();
  /** All who may change something, and those of them who have begun to. */
  private readonly working = new Doorway();
  private readonly performing = new Doorway();
  /** Addresses of blocks that were written in place since the last sync. */
  private unsynced = new Set<string>();
  private settling: Promise<void> | undefined;
  private recovering: Promise<void> | undefined;
  /** Why nothing is changed. */
  private refusal: ArchiveError | undefined;
  private failure: { readonly error: unknown } | undefined;
  /** Changes that were begun and not ended, and how often one began or ended. */
  private activeCount = 0;
  private turnCount = 0;

  constructor(parts: TreeParts, limits: TreeLimits = {}) {
    this.parts = parts;
    this.settleCount = limits.settleCount ?? SETTLE_COUNT_DEFAULT;
    this.journalSizeMax = limits.journalSizeMax ?? JOURNAL_SIZE_MAX_DEFAULT;
    const { rememberedCount } = limits;
    this.journal = new Journal(parts.disk, parts.folder, rememberedCount === undefined ? {} : { rememberedCount });
  }

  get totals(): Totals {
    return this.journal.totals;
  }

  recall(requestId: string | undefined): JournalEntry | undefined {
    return this.journal.recall(requestId);
  }

  async open(): Promise<void> {
    const { disk, folder, files, incoming } = this.parts;
    disk.makeFolder(files.path);
    incoming.clear();
    const content = this.journal.read();
    // Also where folders were made by an opening that failed to.
    disk.syncFolder(folder);
    if (content?.clean === true) return this.journal.goOn();
    if (content === undefined) this.journal.totals = this.countBlocks();
    else await this.redo(content.unsettled);
    await this.journal.beginAnew();
  }

  /** Changes nothing: what a crash left half done stays so, and every change fails with HT_READ_ONLY. */
  openToRead(): void {
    const { folder } = this.parts;
    const error = new ArchiveError("HT_READ_ONLY", `${folder}: cannot be written`, { file: folder });
    this.refusal = error;
    if (this.journal.look() === undefined) this.journal.totals = this.countBlocks();
  }

  private async redo(entries: readonly JournalEntry[]): Promise<void> {
    for (const entry of await redo(entries, this.parts.files, this.parts.former)) this.journal.forget(entry);
  }

  /** Only where there is no journal: a new volume, or one whose journal somebody took away. */
  private countBlocks(): Totals {
    const { disk, files, shape } = this.parts;
    let { blocks, contentBytes, storedBytes, references } = NO_TOTALS;
    for (const { address } of walkTree(disk, files.path, shape)) {
      const block = address && files.get(address);
      if (block === undefined) continue;
      blocks++;
      contentBytes += block.size;
      storedBytes += block.storedSize;
      references += block.references;
    }
    return { blocks, contentBytes, storedBytes, references };
  }

  /** Runs `work` while nobody else changes blocks of this signature. */
  async exclusive<T>(signature: string, work: () => Promise<T>): Promise<T> {
    if (this.refusal !== undefined) throw this.refusal;
    if (this.failure !== undefined) await this.recover();
    return this.working.through(() => this.exclusion.run(signature, work));
  }

  /** Writes the entry down and then does what it says; both are over when this resolves. */
  async perform(entry: JournalEntry, apply: () => void): Promise<void> {
    await this.performing.through(async () => {
      if (this.failure !== undefined) throw this.failure.error;
      this.activeCount++;
      this.turnCount++;
      try {
        await this.journal.append(entry);
        apply();
      } catch (error) {
        this.failure ??= { error };
        throw error;
      } finally {
        this.activeCount--;
        this.turnCount++;
      }
      this.journal.remember(entry);
    });
    if (this.journal.unsettledCount >= this.settleCount) this.settleSoon();
  }

  /**
   * Puts a file in the place of a block whose bytes are damaged. Its counter stays, so this is no change for the journal,
   * but for the totals. Nothing that the journal says of the block may be redone over it, so all of that is settled first.
   */
  async heal(block: TreeBlock, before: TreeBlock, place: () => void): Promise<void> {
    await this.performing.alone(async () => {
      if (this.failure !== undefined) throw this.failure.error;
      this.turnCount++;
      try {
        await this.syncBlocks();
        await this.journal.settled();
        place();
        this.journal.restate(block.storedSize - before.storedSize);
        await this.journal.settled();
      } catch (error) {
        this.failure ??= { error };
        throw error;
      }
    });
  }

  /** Whether nothing was being changed when this was called, and nothing has been since. */
  watch(): () => boolean {
    const { activeCount, turnCount } = this;
    return () => activeCount === 0 && this.turnCount === turnCount;
  }

  /** Writes a block's header in place; it is synced later. */
  update(block: TreeBlock): void {
    this.parts.files.update(block);
    this.unsynced.add(formatAddress(block));
  }

  private settleSoon(): void {
    this.settling ??= this.settle()
      .catch((error: unknown) => {
        this.failure ??= { error };
      })
      .finally(() => {
        this.settling = undefined;
      });
  }

  private async settle(): Promise<void> {
    // Most of it while others work; only the rest while they wait.
    await this.syncBlocks();
    await this.performing.alone(async () => {
      if (this.failure !== undefined) return;
      await this.syncBlocks();
      if (this.journal.size > this.journalSizeMax) await this.journal.beginAnew();
      else await this.journal.settled();
    });
  }

  private async syncBlocks(): Promise<void> {
    const names = [...this.unsynced];
    this.unsynced = new Set();
    for (let at = 0; at < names.length; at += SYNCS_AT_ONCE) {
      const some = names.slice(at, at + SYNCS_AT_ONCE);
      await Promise.all(some.map((name) => this.parts.files.sync(parseAddress(name)!)));
    }
  }

  /** Reads the journal again and does what may not have been done. */
  private recover(): Promise<void> {
    this.recovering ??= this.working
      .alone(async () => {
        await this.settling;
        await this.journal.close();
        this.unsynced.clear();
        this.parts.incoming.clear();
        await this.redo(this.journal.read()?.unsettled ?? []);
        // A disk that failed to sync may have forgotten what it still shows: all of it goes to a new file.
        await this.journal.beginAnew();
        this.failure = undefined;
      })
      .finally(() => {
        this.recovering = undefined;
      });
    return this.recovering;
  }

  /** Waits for all who are at work. What was not settled is redone at the next opening. */
  close(): Promise<void> {
    return this.working.alone(async () => {
      await this.settling;
      try {
        if (this.refusal === undefined && this.failure === undefined && this.journal.unsettledCount > 0)
          await this.settle();
      } catch (error) {
        if (!(error instanceof ArchiveError)) throw error;
      } finally {
        await this.journal.close();
      }
    });
  }
}
