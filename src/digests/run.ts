/**
 * One run, open for questions. In memory are its filters, the first hash of each page, and its words; a URL costs one page
 * that is read, a digest two, a stranger none. Obeys docs/format/digest-index.md.
 */
import { basename, join } from "node:path";
import { BloomFilter } from "../base/index.ts";
import type { Disk, DiskFile } from "../disk/index.ts";
import { ByteReader, damagedIndex } from "./byte-fields.ts";
import type { FoundCapture } from "./entry.ts";
import { DIGEST_SIZES, decodeEntry, FIXED_SIZE, FLAG } from "./entry-bytes.ts";
import type { PageCache } from "./page-cache.ts";
import type { UrlProbe } from "./probe.ts";
import { PAGE_ROOM, PAGE_SIZE, readFoot, readPage, readStream, type SectionName, type Sections } from "./run-pages.ts";
import { littleEndian, RECORDS_AT, ROW_SIZE, ROWS_A_PAGE, SLOT_SIZE } from "./run-writer.ts";
import { WordTable } from "./word-table.ts";

/** So many records with one key are looked at. */
const CANDIDATES_MAX = 64;
/** And so many of one URL. */
const STATES_MAX = 1 << 16;

export function runName(number: number): string {
  return `${String(number).padStart(6, "0")}.run`;
}

/** Where a record lies: its page in the section of records, and which it is in that. */
export interface RecordSlot {
  readonly page: number;
  readonly slot: number;
}

/** Digests, by which of them there are. */
const DIGESTS_SIZE = Array.from({ length: 1 << DIGEST_SIZES.length }, (_, mask) =>
  DIGEST_SIZES.reduce<number>((sum, size, i) => ((mask & (1 << i)) === 0 ? sum : sum + size), 0),
);

const NO_BYTES = Buffer.alloc(0);

export type RowSection = "digests" | "equivalents";

export class Run implements Disposable {
  readonly number: number;
  readonly sections: Sections;
  readonly words = new WordTable();
  private readonly file: DiskFile;
  private readonly cache: PageCache;
  private readonly reader: ByteReader;
  private readonly recordFences: Uint32Array;
  private readonly rowFences: Readonly<Record<RowSection, Uint32Array>>;
  private readonly urlFilter: BloomFilter | undefined;
  private readonly rowFilters: Readonly<Record<RowSection, BloomFilter | undefined>>;

  constructor(disk: Disk, folder: string, number: number, cache: PageCache) {
    this.number = number;
    this.cache = cache;
    this.file = disk.open(join(folder, runName(number)), "read");
    this.reader = new ByteReader(NO_BYTES, 0, 0, this.file.path);
    try {
      this.sections = readFoot(this.file);
      readPage(this.file, 0, Buffer.alloc(PAGE_SIZE));
      this.recordFences = this.fences("recordFences", "records");
      this.rowFences = {
        digests: this.fences("digestFences", "digests"),
        equivalents: this.fences("equivalentFences", "equivalents"),
      };
      this.urlFilter = this.filter("urlFilter");
      this.rowFilters = { digests: this.filter("digestFilter"), equivalents: this.filter("equivalentFilter") };
      this.readWords();
    } catch (error) {
      this.file.close();
      throw error;
    }
  }

  get entryCount(): number {
    return this.sections.records.size;
  }

  get sizeBytes(): number {
    return this.file.size();
  }

  /** How it is called in messages. */
  get name(): string {
    return basename(this.file.path);
  }

  private fences(name: SectionName, of: SectionName): Uint32Array {
    const bytes = readStream(this.file, this.sections[name]);
    const count = this.sections[of].pages;
    if (bytes.length !== 4 * count) throw damagedIndex(this.file.path, "the fences are not those of the pages");
    const fences = new Uint32Array(count);
    for (let i = 0; i < count; i++) fences[i] = bytes.readUInt32BE(4 * i);
    return fences;
  }

  private filter(name: SectionName): BloomFilter | undefined {
    const section = this.sections[name];
    if (section.size === 0) return undefined;
    if (section.size % 4 !== 0) throw damagedIndex(this.file.path, "a filter has half a word");
    const bytes = readStream(this.file, section);
    const ordered = littleEndian(new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4));
    return new BloomFilter(new Uint32Array(ordered.buffer, ordered.byteOffset, ordered.length / 4));
  }

  private readWords(): void {
    const bytes = readStream(this.file, this.sections.words);
    const reader = new ByteReader(bytes, 0, bytes.length, this.file.path);
    while (reader.at < bytes.length) {
      const word = reader.text();
      if (this.words.numberOf(word) !== this.words.words.length) reader.damaged("word");
    }
  }

  /** All entries of exactly this URL; without a look where the filter denies it. */
  statesOf(probe: UrlProbe): FoundCapture[] {
    const { high, low } = probe;
    if (this.urlFilter?.mayHave(high, low) === false) return [];
    const states: FoundCapture[] = [];
    const first = firstPage(this.recordFences, high);
    for (let i = first; i < this.recordFences.length && (i === first || this.recordFences[i]! <= high); i++) {
      const page = this.recordPage(i);
      const count = page.readUInt16BE(0);
      const fragment = low & 0xffff;
      for (let slot = 0; slot < count; slot++) {
        if (page.readUInt16BE(PAGE_ROOM - SLOT_SIZE * (slot + 1)) !== fragment) continue;
        const start = this.recordStart(page, slot);
        const urlAt = start + FIXED_SIZE + DIGESTS_SIZE[page[start + FIXED_SIZE - 1]! & 31]!;
        const prefix = (page.readUInt16BE(start) & FLAG.prefix) >> FLAG.prefixShift;
        if (urlAt + 2 > PAGE_ROOM || !probe.isAt(page, urlAt, prefix)) continue;
        states.push(this.decode(page, start));
        if (states.length === STATES_MAX) return states;
      }
    }
    return states;
  }

  /** Whether the section may have a row of this key. */
  mayHave(section: RowSection, high: number, low: number): boolean {
    return this.rowFilters[section]?.mayHave(high, low) ?? false;
  }

  /** The entries that rows with this key lead to, as far as they are looked at; whoever asks compares what they are. */
  entriesAt(section: RowSection, high: number, low: number): FoundCapture[] {
    if (!this.mayHave(section, high, low)) return [];
    return this.slotsAt(section, high, low).map((place) => this.entryAt(place));
  }

  /** Where the records lie that rows with this key lead to. */
  slotsAt(section: RowSection, high: number, low: number): RecordSlot[] {
    const fences = this.rowFences[section];
    const upper = low >>> 16;
    const found: RecordSlot[] = [];
    const first = firstPage(fences, high);
    for (let i = first; i < fences.length && (i === first || fences[i]! <= high); i++) {
      const page = this.cache.read(this.file, this.sections[section].firstPage + i);
      const count = this.rowCount(page);
      for (let row = firstRow(page, count, high, upper); row < count; row++) {
        const at = 2 + row * ROW_SIZE;
        if (page.readUInt32BE(at) !== high || page.readUInt16BE(at + 4) !== upper) return found;
        found.push({ page: page.readUInt32BE(at + 6), slot: page[at + 10]! });
        if (found.length === CANDIDATES_MAX) return found;
      }
    }
    return found;
  }

  entryAt({ page: number, slot }: RecordSlot): FoundCapture {
    const page = this.recordPage(number);
    if (slot >= page.readUInt16BE(0)) throw damagedIndex(this.file.path, "a row leads to no record");
    return this.decode(page, this.recordStart(page, slot));
  }

  /** All entries, in the order of the hashes of their URLs. */
  *entries(): Generator<FoundCapture> {
    for (let number = 0; number < this.sections.records.pages; number++) yield* this.entriesOf(number);
  }

  /** The entries of one page of records. */
  entriesOf(number: number): FoundCapture[] {
    const page = this.recordPage(number);
    return Array.from({ length: page.readUInt16BE(0) }, (_, slot) => this.decode(page, this.recordStart(page, slot)));
  }

  /** The rows of one page of a section. */
  rowsOf(section: RowSection, number: number): (RecordSlot & { readonly high: number; readonly upper: number })[] {
    const page = this.cache.read(this.file, this.sections[section].firstPage + number);
    return Array.from({ length: this.rowCount(page) }, (_, row) => {
      const at = 2 + row * ROW_SIZE;
      const [high, upper] = [page.readUInt32BE(at), page.readUInt16BE(at + 4)];
      return { high, upper, page: page.readUInt32BE(at + 6), slot: page[at + 10]! };
    });
  }

  private recordPage(number: number): Buffer {
    if (number >= this.sections.records.pages) throw damagedIndex(this.file.path, "a row leads to no page");
    return this.cache.read(this.file, this.sections.records.firstPage + number);
  }

  private recordStart(page: Buffer, slot: number): number {
    const slotAt = PAGE_ROOM - SLOT_SIZE * (slot + 1);
    const start = slotAt < RECORDS_AT ? 0 : page.readUInt16BE(slotAt + 2);
    if (start < RECORDS_AT || start + FIXED_SIZE > PAGE_ROOM) {
      throw damagedIndex(this.file.path, "a record begins outside of its page");
    }
    return start;
  }

  private decode(page: Buffer, start: number): FoundCapture {
    return decodeEntry(this.reader.reset(page, start, PAGE_ROOM), this.words);
  }

  private rowCount(page: Buffer): number {
    const count = page.readUInt16BE(0);
    if (count > ROWS_A_PAGE) throw damagedIndex(this.file.path, "a page has more rows than it has room for");
    return count;
  }

  [Symbol.dispose](): void {
    this.file.close();
  }
}

/** The first page that may have this hash: the last that begins before it. */
function firstPage(fences: Uint32Array, high: number): number {
  let [low, end] = [0, fences.length];
  while (low < end) {
    const middle = (low + end) >>> 1;
    if (fences[middle]! < high) low = middle + 1;
    else end = middle;
  }
  return Math.max(0, low - 1);
}

/** The first row with this key or a later one. */
function firstRow(page: Buffer, count: number, high: number, upper: number): number {
  let [low, end] = [0, count];
  while (low < end) {
    const middle = (low + end) >>> 1;
    const at = 2 + middle * ROW_SIZE;
    const key = page.readUInt32BE(at);
    if (key < high || (key === high && page.readUInt16BE(at + 4) < upper)) low = middle + 1;
    else end = middle;
  }
  return low;
}
