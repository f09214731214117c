/**
 * Writes one run: takes records in the order of their hashes, makes one of those that tell of one content of a URL, lays
 * them into pages, and sorts the rows by which they are found. Nothing is read back; the run has its name when it is whole.
 */
import { BloomFilter } from "../base/index.ts";
import { type Disk, DurableOutput } from "../disk/index.ts";
import { ByteReader, ByteWriter } from "./byte-fields.ts";
import { type DigestEntry, mergeStates } from "./entry.ts";
import { decodeEntry, encodeEntry } from "./entry-bytes.ts";
import { GrowingWords } from "./growing-words.ts";
import { HashSorter } from "./hash-sorter.ts";
import { RowKeys } from "./row-keys.ts";
import { encodeFoot, encodeHead, PAGE_ROOM, PAGE_SIZE, PageSink, type Section, type Sections } from "./run-pages.ts";
import type { IndexSettings } from "./settings.ts";
import type { SortedCursor } from "./spill.ts";
import type { WordTable } from "./word-table.ts";

/** Key of six bytes, page of four, slot of one. */
export const ROW_SIZE = 11;
export const ROW_KEY_SIZE = 6;
export const ROWS_A_PAGE = Math.floor((PAGE_ROOM - 2) / ROW_SIZE);
/** Before the records of a page: how many there are, and where they end. */
export const RECORDS_AT = 4;
/** Of a record in the directory at the end of its page: the lowest 16 bits of its hash, and where it begins. */
export const SLOT_SIZE = 4;
export const SLOTS_MAX = 255;
export const RECORD_MAX = PAGE_ROOM - RECORDS_AT - SLOT_SIZE;
/** So many records of one hash are looked at together; a URL with more states than this has them in several stretches. */
const GROUP_MAX = 4096;

export interface RunWriterOptions {
  readonly settings: IndexSettings;
  readonly words: WordTable;
  /** Records that will come at most. */
  readonly count: number;
  readonly folder: string;
  readonly memoryBytes?: number | undefined;
}

export interface WrittenRun {
  readonly entries: number;
  readonly sizeBytes: number;
}

interface WrittenRows {
  readonly section: Section;
  readonly fences: Uint8Array;
  readonly filter: Uint8Array;
}

/** So many records and rows make a step. */
const STEP_COUNT = 1 << 16;

export class RunWriter implements Disposable {
  private readonly options: RunWriterOptions;
  private readonly output: DurableOutput;
  private readonly sink: PageSink;
  private readonly digestRows: HashSorter;
  private readonly equivalentRows: HashSorter;
  private readonly keys: RowKeys;
  private readonly urlFilter: BloomFilter;
  private readonly fences = new GrowingWords();
  private readonly page = Buffer.alloc(PAGE_SIZE);
  private pageEnd = RECORDS_AT;
  private slots = 0;
  private entries = 0;
  private readonly group: Buffer[] = [];
  private groupHigh = 0;
  private groupLow = 0;
  private readonly single = Buffer.alloc(RECORD_MAX);
  private singleSize = 0;
  private readonly encoded = new ByteWriter(Buffer.alloc(RECORD_MAX));

  constructor(disk: Disk, path: string, options: RunWriterOptions) {
    this.options = options;
    const { folder, memoryBytes, settings } = options;
    // Half of it for each: both may be full at once.
    const rowMemory = { folder, memoryBytes: memoryBytes === undefined ? undefined : memoryBytes >> 1 };
    this.digestRows = new HashSorter(disk, rowMemory);
    this.equivalentRows = new HashSorter(disk, rowMemory);
    this.keys = new RowKeys(settings, this.digestRows, this.equivalentRows);
    this.urlFilter = new BloomFilter(settings.url ? options.count : 0);
    this.output = DurableOutput.begin(disk, path, { replace: true });
    this.sink = new PageSink(this.output);
    this.sink.put(encodeHead());
  }

  /** Takes all records and makes the run durable under its name. */
  write(cursor: SortedCursor): WrittenRun {
    const steps = this.writeInSteps(cursor);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** The same for whoever has to look up now and then: gives how many records and rows were taken so far. */
  *writeInSteps(cursor: SortedCursor): Generator<number, WrittenRun> {
    let done = 0;
    while (cursor.next()) {
      this.take(cursor);
      if (++done % STEP_COUNT === 0) yield done;
    }
    this.endGroup();
    const records = this.endRecords();
    const digests = yield* this.writeRows(this.digestRows, done);
    const equivalents = yield* this.writeRows(this.equivalentRows, done + this.digestRows.count);
    const words = this.sink.putStream(encodeWords(this.options.words.words));
    const sections: Sections = {
      records,
      digests: digests.section,
      equivalents: equivalents.section,
      words,
      recordFences: this.sink.putStream(this.fences.bytes()),
      digestFences: this.sink.putStream(digests.fences),
      equivalentFences: this.sink.putStream(equivalents.fences),
      urlFilter: this.sink.putStream(
        this.options.settings.url ? littleEndian(this.urlFilter.words) : new Uint8Array(0),
      ),
      digestFilter: this.sink.putStream(digests.filter),
      equivalentFilter: this.sink.putStream(equivalents.filter),
    };
    this.sink.put(encodeFoot(sections));
    this.output.commit();
    return { entries: this.entries, sizeBytes: this.sink.pages * PAGE_SIZE };
  }

  private take(cursor: SortedCursor): void {
    const { high, low, buffer, start, end } = cursor;
    const isHeld = this.singleSize > 0 || this.group.length > 0;
    if (isHeld && (high !== this.groupHigh || low !== this.groupLow)) this.endGroup();
    this.groupHigh = high;
    this.groupLow = low;
    if (this.singleSize === 0 && this.group.length === 0) {
      // Most are the only ones of their hash: they are not looked into.
      buffer.copy(this.single, 0, start, end);
      this.singleSize = end - start;
      return;
    }
    if (this.group.length === 0) this.group.push(Buffer.from(this.single.subarray(0, this.singleSize)));
    this.singleSize = 0;
    this.group.push(Buffer.from(buffer.subarray(start, end)));
    if (this.group.length >= GROUP_MAX) this.shrinkGroup();
  }

  private endGroup(): void {
    if (this.singleSize > 0) {
      this.append(this.single, this.singleSize);
      this.singleSize = 0;
    } else if (this.group.length > 0) this.appendEntries(this.takeGroup());
  }

  /** The entries that the group comes to, URL by URL. */
  private takeGroup(): DigestEntry[] {
    const byUri = new Map<string, DigestEntry[]>();
    for (const bytes of this.group.splice(0)) {
      const entry = this.decode(bytes);
      const list = byUri.get(entry.uri);
      if (list === undefined) byUri.set(entry.uri, [entry]);
      else list.push(entry);
    }
    return [...byUri.values()].flatMap(mergeStates);
  }

  /** Makes room in a group that is full: by merging, or else by writing what is there. */
  private shrinkGroup(): void {
    const entries = this.takeGroup();
    if (entries.length > GROUP_MAX / 2) return this.appendEntries(entries);
    for (const entry of entries) {
      if (this.encode(entry)) this.group.push(Buffer.from(this.encoded.buffer.subarray(0, this.encoded.at)));
    }
  }

  private decode(bytes: Buffer): DigestEntry {
    return decodeEntry(new ByteReader(bytes, 0, bytes.length, this.output.path), this.options.words);
  }

  private appendEntries(entries: readonly DigestEntry[]): void {
    for (const entry of entries) if (this.encode(entry)) this.append(this.encoded.buffer, this.encoded.at);
  }

  private encode(entry: DigestEntry): boolean {
    this.encoded.at = 0;
    this.encoded.isFull = false;
    return encodeEntry(entry, this.options.words, this.encoded);
  }

  private append(bytes: Buffer, size: number): void {
    const room = PAGE_ROOM - SLOT_SIZE * (this.slots + 1) - this.pageEnd;
    if (size > room || this.slots === SLOTS_MAX) this.endPage();
    if (this.slots === 0) this.fences.push(this.groupHigh);
    bytes.copy(this.page, this.pageEnd, 0, size);
    this.slots++;
    const slotAt = PAGE_ROOM - SLOT_SIZE * this.slots;
    this.page.writeUInt16BE(this.groupLow & 0xffff, slotAt);
    this.page.writeUInt16BE(this.pageEnd, slotAt + 2);
    this.pageEnd += size;
    this.entries++;
    if (this.options.settings.url) this.urlFilter.add(this.groupHigh, this.groupLow);
    this.keys.add(bytes, size, this.sink.pages - 1, this.slots - 1);
  }

  private endPage(): void {
    if (this.slots === 0) return;
    this.page.writeUInt16BE(this.slots, 0);
    this.page.writeUInt16BE(this.pageEnd, 2);
    this.page.fill(0, this.pageEnd, PAGE_ROOM - SLOT_SIZE * this.slots);
    this.sink.put(this.page);
    this.slots = 0;
    this.pageEnd = RECORDS_AT;
  }

  private endRecords(): Section {
    this.endPage();
    return { firstPage: 1, pages: this.sink.pages - 1, size: this.entries };
  }

  private *writeRows(rows: HashSorter, before: number): Generator<number, WrittenRows> {
    const firstPage = this.sink.pages;
    const fences = new GrowingWords();
    const filter = new BloomFilter(rows.count);
    const page = Buffer.alloc(PAGE_SIZE);
    let count = 0;
    const endPage = () => {
      page.writeUInt16BE(count, 0);
      page.fill(0, 2 + count * ROW_SIZE, PAGE_ROOM);
      this.sink.put(page);
      count = 0;
    };
    const cursor = rows.sorted();
    for (let done = before + 1; cursor.next(); done++) {
      if (done % STEP_COUNT === 0) yield done;
      const { high, low } = cursor;
      if (count === ROWS_A_PAGE) endPage();
      if (count === 0) fences.push(high);
      const at = 2 + count * ROW_SIZE;
      page.writeUInt32BE(high, at);
      page.writeUInt16BE(low >>> 16, at + 4);
      cursor.buffer.copy(page, at + ROW_KEY_SIZE, cursor.start, cursor.end);
      filter.add(high, low);
      count++;
    }
    if (count > 0) endPage();
    const section = { firstPage, pages: this.sink.pages - firstPage, size: rows.count };
    const kept = rows.count === 0 ? new Uint8Array(0) : littleEndian(filter.words);
    return { section, fences: fences.bytes(), filter: kept };
  }

  [Symbol.dispose](): void {
    this.output[Symbol.dispose]();
    this.digestRows[Symbol.dispose]();
    this.equivalentRows[Symbol.dispose]();
  }
}

/** Each behind its size. */
function encodeWords(words: readonly string[]): Uint8Array {
  const parts = words.flatMap((word) => {
    const bytes = Buffer.from(word);
    const size = Buffer.alloc(2);
    size.writeUInt16BE(bytes.length);
    return [size, bytes];
  });
  return Buffer.concat(parts);
}

const IS_LITTLE = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** Words as bytes, the lowest first; the array itself where the machine has them so. */
export function littleEndian(words: Uint32Array): Buffer {
  const bytes = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
  return IS_LITTLE ? bytes : Buffer.from(bytes).swap32();
}
