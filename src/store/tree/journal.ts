/**
 * The journal of a tree: every change of a block is in it, durably, before the block is changed. It repairs what a crash
 * left half done, remembers the ids of requests, and knows the totals, so that no folder has to be gone through.
 *
 * 1. There is one journal; while one takes the place of another there are two, and the one with the higher number is it.
 *    A journal gets its name when it is whole.
 * 2. A `settled` line stands only behind entries that are done, durably.
 */
import { join } from "node:path";
import { invariant } from "../../base/index.ts";
import { AppendLog, createDurably, type Disk, removeLeftovers } from "../../disk/index.ts";
import { type JournalContent, readJournal, remember, type SaidEntries } from "./journal-file.ts";
import {
  addTotals,
  formatLine,
  JOURNAL_VERSION,
  type JournalEntry,
  NO_TOTALS,
  parseEntry,
  sumUp,
  type Totals,
} from "./journal-line.ts";
import { journalFolder } from "./location.ts";

/** Requests that are remembered, and which share of them more before the oldest go. */
export const REMEMBERED_DEFAULT = 100_000;
const SPARE = 0.5;
/** Lines that are gathered into one write. */
const BUFFER_SIZE = 1 << 16;

export interface JournalOptions {
  readonly rememberedCount?: number;
}

export class Journal {
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly rememberedCount: number;
  private number = 0;
  private log: AppendLog | undefined;
  private said: SaidEntries = new Map();
  totals: Totals = NO_TOTALS;
  /** Entries behind the last `settled` line. */
  unsettledCount = 0;

  constructor(disk: Disk, folder: string, options: JournalOptions = {}) {
    this.disk = disk;
    this.folder = journalFolder(folder);
    this.rememberedCount = options.rememberedCount ?? REMEMBERED_DEFAULT;
  }

  private pathOf(number: number): string {
    return join(this.folder, `${String(number).padStart(6, "0")}.log`);
  }

  /** The path of the journal as it is now. */
  get path(): string {
    return this.pathOf(this.number);
  }

  get size(): number {
    return this.log?.end ?? 0;
  }

  /** Reads what is there; absent where nothing is. Nothing can be appended before `goOn` or `beginAnew`. */
  read(): JournalContent | undefined {
    this.disk.makeFolder(this.folder);
    removeLeftovers(this.disk, this.folder);
    const content = this.look();
    this.dropBefore(this.number);
    return content;
  }

  /** The same for who cannot write. */
  look(): JournalContent | undefined {
    if (this.disk.stat(this.folder) === undefined) return undefined;
    const numbers = this.disk
      .list(this.folder)
      .flatMap(({ name }) => (/^\d{6,}\.log$/.test(name) ? [parseInt(name, 10)] : []));
    this.number = Math.max(0, ...numbers);
    if (this.number === 0) return undefined;
    const content = readJournal(this.disk, this.path);
    this.said = content.said;
    this.trim();
    this.totals = content.totals;
    this.unsettledCount = content.unsettled.length;
    return content;
  }

  /** Appends to what is there, which must be clean. */
  goOn(): void {
    this.log = new AppendLog(this.disk.open(this.path, "update"), { bufferSizeBytes: BUFFER_SIZE });
  }

  /** Begins a journal with the totals as they are and the requests that are remembered; all entries must be done. */
  async beginAnew(): Promise<void> {
    await this.log?.close();
    this.log = undefined;
    const remembered = [...this.said.values()].slice(-this.rememberedCount);
    const path = this.pathOf(this.number + 1);
    createDurably(this.disk, path, (output) => {
      output.write(Buffer.from(formatLine({ kind: "journal", version: JOURNAL_VERSION })));
      for (const text of remembered) output.write(Buffer.from(sumUp(`said ${text}`)));
      output.write(Buffer.from(formatLine({ kind: "settled", totals: this.totals })));
    });
    this.number++;
    this.unsettledCount = 0;
    this.goOn();
    this.dropBefore(this.number);
  }

  private dropBefore(number: number): void {
    for (const { name } of this.disk.list(this.folder)) {
      if (/^\d{6,}\.log$/.test(name) && parseInt(name, 10) < number) this.disk.remove(join(this.folder, name));
    }
  }

  /** Resolves when the entry is durable. Entries get their order from the order of the calls. */
  async append(entry: JournalEntry): Promise<void> {
    this.totals = addTotals(this.totals, entry);
    this.unsettledCount++;
    await this.write(formatLine({ kind: "do", entry }));
  }

  /** A block has other stored bytes than before, so many more or fewer. Written down with the next `settled`. */
  restate(storedBytes: number): void {
    this.totals = { ...this.totals, storedBytes: this.totals.storedBytes + storedBytes };
  }

  /** All entries so far are done, durably. */
  async settled(): Promise<void> {
    await this.write(formatLine({ kind: "settled", totals: this.totals }));
    this.unsettledCount = 0;
  }

  private async write(line: string): Promise<void> {
    invariant(this.log !== undefined, `${this.path} is written while it is not open`);
    await this.log.append(Buffer.from(line, "latin1"));
  }

  /** The entry of a request that was carried out. */
  recall(requestId: string | undefined): JournalEntry | undefined {
    const text = requestId === undefined ? undefined : this.said.get(requestId);
    return text === undefined ? undefined : parseEntry(text);
  }

  /** An entry was carried out. */
  remember(entry: JournalEntry): void {
    remember(this.said, entry);
    // Many at once: taking the first of a map away costs as much as going past all that were taken before.
    if (this.said.size > this.rememberedCount * (1 + SPARE)) this.trim();
  }

  private trim(): void {
    let excess = this.said.size - this.rememberedCount;
    for (const id of this.said.keys()) {
      if (excess-- <= 0) break;
      this.said.delete(id);
    }
  }

  /** Forgets a request that was not carried out after all; its entry counts no more. */
  forget(entry: JournalEntry): void {
    this.totals = addTotals(this.totals, entry, -1);
    if (entry.requestId !== undefined) this.said.delete(entry.requestId);
  }

  async close(): Promise<void> {
    await this.log?.close();
    this.log = undefined;
  }
}
