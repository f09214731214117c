/**
 * Whether the pages of an LMDB file hold together. LMDB believes what it maps: a wrong offset or number in a page ends the
 * process at the next look, with no error to catch. So its pages are walked from here first, by what their headers and
 * nodes say. The layout is that of version 2, for machines that write the lowest byte first.
 */
import { ArchiveError } from "../../base/index.ts";
import type { Disk, DiskFile } from "../../disk/index.ts";

const META_COUNT = 2;
const MAGIC = 0xbeefc0de;
const VERSION = 2;
/** From the start of a meta page. */
const MAGIC_AT = 24;
const VERSION_AT = 28;
const PAGE_SIZE_AT = 48;
const TABLES_AT = [48, 96] as const;
const LAST_PAGE_AT = 144;
const TRANSACTION_AT = 152;
const META_SIZE = 160;
/** From the start of any page. */
const FLAGS_AT = 18;
const LOWER_AT = 20;
const UPPER_AT = 22;
const HEAD_SIZE = 24;
const NODE_HEAD_SIZE = 8;
/** Of a table: what kind of keys it has, how deep it is, and its root. */
const TABLE_SIZE = 48;
const TABLE_DEPTH_AT = 6;
const TABLE_ROOT_AT = 40;
/** Of a value on pages of its own: the first of them, a transaction, and how many. */
const FAR_VALUE_SIZE = 24;
const DEPTH_MAX = 32;

const PageFlag = { branch: 1, leaf: 2, overflow: 4, meta: 8 } as const;
const NodeFlag = { far: 1, table: 2 } as const;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;

/** Throws HT_CORRUPT with `advice`. One that is not there, or has nothing in it, is fine. */
export function checkLmdbPages(disk: Disk, path: string, advice: string): void {
  if ((disk.stat(path)?.sizeBytes ?? 0) === 0) return;
  using file = disk.open(path, "read");
  const meta = readMeta(file);
  if (meta !== undefined) return new PageWalk(file, meta, advice).run();
  throw new ArchiveError("HT_CORRUPT", `${path}: damaged, no index begins like this; ${advice}`, { file: path });
}

interface Meta {
  readonly pageSize: number;
  readonly lastPage: number;
  readonly transaction: number;
  readonly tables: readonly Buffer[];
}

/** The newer of the two; absent where one is none. */
function readMeta(file: DiskFile): Meta | undefined {
  const first = readMetaAt(file, 0);
  const second = first && readMetaAt(file, first.pageSize);
  if (first === undefined || second?.pageSize !== first.pageSize) return undefined;
  return second.transaction > first.transaction ? second : first;
}

function readMetaAt(file: DiskFile, at: number): Meta | undefined {
  const page = Buffer.alloc(META_SIZE);
  if (file.read(page, at) < META_SIZE) return undefined;
  if (page.readUInt16LE(FLAGS_AT) !== PageFlag.meta) return undefined;
  if (page.readUInt32LE(MAGIC_AT) !== MAGIC || page.readUInt32LE(VERSION_AT) !== VERSION) return undefined;
  const pageSize = page.readUInt32LE(PAGE_SIZE_AT);
  if (pageSize < 512 || pageSize > 1 << 16 || (pageSize & (pageSize - 1)) !== 0) return undefined;
  return {
    pageSize,
    lastPage: Number(page.readBigUInt64LE(LAST_PAGE_AT)),
    transaction: Number(page.readBigUInt64LE(TRANSACTION_AT)),
    tables: TABLES_AT.map((start) => page.subarray(start, start + TABLE_SIZE)),
  };
}

interface Visit {
  readonly page: number;
  /** How many levels are below it. */
  readonly height: number;
  readonly isOrdered: boolean;
}

class PageWalk {
  private readonly file: DiskFile;
  private readonly meta: Meta;
  private readonly advice: string;
  private readonly page: Buffer;
  /** Each page belongs to one place, or a walk might never end. */
  private readonly seen: Uint8Array;
  private readonly visits: Visit[] = [];
  private at = 0;

  constructor(file: DiskFile, meta: Meta, advice: string) {
    this.file = file;
    this.meta = meta;
    this.advice = advice;
    this.page = Buffer.alloc(meta.pageSize);
    if ((meta.lastPage + 1) * meta.pageSize > file.size()) throw this.damaged("a last page behind the end");
    this.seen = new Uint8Array(meta.lastPage + 1);
  }

  private damaged(what: string): ArchiveError {
    const { path } = this.file;
    const offset = this.at * this.meta.pageSize;
    return new ArchiveError("HT_CORRUPT", `${path}:${offset}: damaged, ${what}; ${this.advice}`, {
      file: path,
      offset,
    });
  }

  run(): void {
    const [free, main] = this.meta.tables;
    // The keys of the first are numbers in the order of the machine.
    this.addTable(free!, false);
    this.addTable(main!, true);
    for (let next = this.visits.pop(); next !== undefined; next = this.visits.pop()) this.visit(next);
  }

  private addTable(table: Buffer, isOrdered: boolean): void {
    const root = table.readBigUInt64LE(TABLE_ROOT_AT);
    const depth = table.readUInt16LE(TABLE_DEPTH_AT);
    if (root === NO_PAGE && depth === 0) return;
    if (depth < 1 || depth > DEPTH_MAX) throw this.damaged("a table without a depth");
    this.visits.push({ page: this.claim(root, 1), height: depth - 1, isOrdered });
  }

  /** The number of the first of `count` pages that nobody else has. */
  private claim(first: bigint, count: number): number {
    const page = Number(first);
    if (page < META_COUNT || count < 1 || page + count - 1 > this.meta.lastPage)
      throw this.damaged("a page that is none");
    for (let i = page; i < page + count; i++) {
      if (this.seen[i] === 1) throw this.damaged("a page that is used twice");
      this.seen[i] = 1;
    }
    return page;
  }

  private visit({ page, height, isOrdered }: Visit): void {
    this.at = page;
    this.read(page);
    const flags = this.page.readUInt16LE(FLAGS_AT);
    const wanted = height > 0 ? PageFlag.branch : PageFlag.leaf;
    if ((flags & (PageFlag.branch | PageFlag.leaf | PageFlag.overflow)) !== wanted)
      throw this.damaged("a page of another kind");
    const [lower, upper] = [this.page.readUInt16LE(LOWER_AT), this.page.readUInt16LE(UPPER_AT)];
    const room = this.meta.pageSize - HEAD_SIZE;
    if (lower % 2 !== 0 || lower === 0 || lower > upper || upper > room) throw this.damaged("a page without room");
    let before: Buffer | undefined;
    for (let i = 0; i < lower / 2; i++) {
      const start = this.page.readUInt16LE(HEAD_SIZE + 2 * i);
      if (start < upper || start + NODE_HEAD_SIZE > room) throw this.damaged("an entry outside of its page");
      const key = this.node(HEAD_SIZE + start, height, isOrdered);
      // The first key of a branch stands for all that are lower, and is empty.
      const isFirstOfBranch = height > 0 && i === 0;
      if (isOrdered && !isFirstOfBranch) {
        if (before !== undefined && Buffer.compare(before, key) >= 0) throw this.damaged("entries out of order");
        before = key;
      }
    }
  }

  private read(page: number): void {
    if (this.file.read(this.page, page * this.meta.pageSize) < this.page.length) throw this.damaged("cut off");
    this.checkHead(this.page, page);
  }

  /** A page of a transaction that has not been would count as one that may be written over. */
  private checkHead(head: Buffer, page: number): void {
    if (head.readBigUInt64LE(0) !== BigInt(page)) throw this.damaged("a page with the number of another");
    if (head.readBigUInt64LE(8) > BigInt(this.meta.transaction)) throw this.damaged("a page of no transaction");
  }

  /** Checks an entry, and gives its key. */
  private node(at: number, height: number, isOrdered: boolean): Buffer {
    const [low, high, flags, keySize] = [0, 2, 4, 6].map((field) => this.page.readUInt16LE(at + field)) as [
      number,
      number,
      number,
      number,
    ];
    const valueAt = at + NODE_HEAD_SIZE + keySize;
    if (valueAt > this.meta.pageSize) throw this.damaged("a key that leaves its page");
    const key = this.page.subarray(at + NODE_HEAD_SIZE, valueAt);
    if (height > 0) {
      const child = BigInt(low) | (BigInt(high) << 16n) | (BigInt(flags) << 32n);
      this.visits.push({ page: this.claim(child, 1), height: height - 1, isOrdered });
      return key;
    }
    const size = low + high * 0x10000;
    const isFar = flags === NodeFlag.far;
    if (valueAt + (isFar ? FAR_VALUE_SIZE : size) > this.meta.pageSize)
      throw this.damaged("a value that leaves its page");
    const value = this.page.subarray(valueAt, valueAt + (isFar ? FAR_VALUE_SIZE : size));
    if (isFar) this.farValue(value, size);
    else if (flags === NodeFlag.table) {
      if (size !== TABLE_SIZE) throw this.damaged("a table that is none");
      this.addTable(Buffer.from(value), true);
    } else if (flags !== 0) throw this.damaged("an entry of no known kind");
    else if (!isOrdered) this.freePages(value);
    return key;
  }

  private farValue(value: Buffer, size: number): void {
    const count = Math.ceil((size + HEAD_SIZE) / this.meta.pageSize);
    if (value.readBigUInt64LE(16) !== BigInt(count)) throw this.damaged("a value of another size than its pages");
    const page = this.claim(value.readBigUInt64LE(0), count);
    const head = Buffer.alloc(HEAD_SIZE);
    this.file.read(head, page * this.meta.pageSize);
    this.checkHead(head, page);
    const isSound = (head.readUInt16LE(FLAGS_AT) & PageFlag.overflow) !== 0 && head.readUInt32LE(LOWER_AT) === count;
    if (!isSound) throw this.damaged("a value on pages of another kind");
  }

  /** A list of pages that may be written over: how many, and which. A length of several stands before some, below zero. */
  private freePages(value: Buffer): void {
    const count = value.length >= 8 ? Number(value.readBigUInt64LE(0)) : -1;
    if (value.length % 8 !== 0 || count < 0 || count > value.length / 8 - 1)
      throw this.damaged("a list of no free pages");
    for (let at = 8; at < 8 * (count + 1); at += 8) {
      const page = value.readBigInt64LE(at);
      if (page > BigInt(this.meta.lastPage)) throw this.damaged("a free page that is none");
    }
  }
}
