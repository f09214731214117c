/**
 * The file of a timeline: pages, appended and never changed, and two slots in front of which the newer one says where
 * the root is. Whoever has found a root can go on reading from it for as long as the file is open, whatever is committed
 * meanwhile. Obeys docs/format/timeline.md.
 */
import { crc32 } from "node:zlib";
import { ArchiveError, invariant } from "../base/index.ts";
import { type Disk, type DiskFile, Slots } from "../disk/index.ts";
import { Leaf } from "./leaf.ts";
import { decodeNode, type Node, type PageRef, type PageSummary } from "./node.ts";
import { type Root, SLOT_FORMAT } from "./slot.ts";

/** Before each page: its length and its CRC-32. */
const PAGE_HEAD_SIZE = 8;
const DATA_START = Slots.dataStart(SLOT_FORMAT);
const BUFFER_SIZE = 1 << 20;
/** Memory that a leaf with its keys, and a node, take, in bytes of theirs; and what any page takes beside its bytes. */
const LEAF_COST = 3;
const NODE_COST = 8;
const PAGE_COST = 512;

export class PageFile {
  readonly file: DiskFile;
  private readonly slots: Slots<Root>;
  private readonly cache: PageCache;
  /** The commit that the next one follows; absent for who only reads, and in a file that has none yet. */
  private last: Root | undefined;
  /** Pages taken from the file, for who counts them. */
  pagesRead = 0;
  private end: number;
  /** Pages that wait to be written, as one piece. */
  private buffer: Buffer | undefined;
  private buffered = 0;

  /** A file that has no root yet. */
  static create(disk: Disk, path: string, cacheBytes: number): PageFile {
    return new PageFile(disk.open(path, "create"), DATA_START, cacheBytes);
  }

  static open(disk: Disk, path: string, mode: "read" | "update", cacheBytes: number): PageFile {
    const file = disk.open(path, mode);
    return new PageFile(file, Math.max(DATA_START, file.size()), cacheBytes);
  }

  private constructor(file: DiskFile, end: number, cache: number | PageCache) {
    this.file = file;
    this.slots = new Slots(file, SLOT_FORMAT);
    this.end = end;
    this.cache = typeof cache === "number" ? new PageCache(cache) : cache;
  }

  /** The same file under another name, with the pages that are in memory; this one is closed. */
  reopen(disk: Disk, path: string, last: Root): PageFile {
    const pages = new PageFile(disk.open(path, "update"), this.end, this.cache);
    pages.follow(last);
    return pages;
  }

  /** Where slots are that do not hold: a commit was cut off in the middle of them, or they were damaged. */
  brokenSlots(): readonly number[] {
    // Another process may be in the middle of writing one; then it holds the next time.
    return this.slots.read().broken.length === 0 ? [] : this.slots.read().broken;
  }

  /**
   * The last commit; where one is wanted that is not the last and still known, that, or the one that says the same. Throws
   * where the last commit, or the wanted one, is later than all that are known, and where the file is shorter than it was.
   */
  readRoot(wanted?: number): Root {
    const { commits, isLost } = this.slots.read();
    const [newest] = commits;
    if (newest === undefined) throw this.damaged("not a timeline, or both of its roots are damaged");
    if (isLost) throw this.damaged(`the commit after ${newest.generation} is damaged`);
    if (wanted !== undefined && newest.generation < wanted)
      throw this.damaged(`the timeline is as of commit ${newest.generation}, and was as of ${wanted}`);
    const asked = commits.find((root) => isAsOf(root, wanted)) ?? newest;
    const size = this.file.size();
    if (asked.end <= size) return asked;
    throw this.damaged(`cut off: ${asked.end} bytes were committed`, size);
  }

  private damaged(what: string, offset?: number): ArchiveError {
    const { path: file } = this.file;
    const where = offset === undefined ? file : `${file}:${offset}`;
    return new ArchiveError("HT_CORRUPT", `${where}: ${what}`, { file, offset });
  }

  /** Goes on from this commit, which was read: what lies after it belongs to none. The same commit, by its last number. */
  continueFrom(root: Root): Root {
    invariant(this.buffered === 0, "pages are waiting");
    const last = this.settle(root);
    if (this.file.size() > last.end) this.file.truncate(last.end);
    this.follow(last);
    return last;
  }

  private settle(root: Root): Root {
    try {
      return this.slots.settle(root);
    } catch (error) {
      // It does no harm, and the next commit writes that slot.
      if (!(error instanceof ArchiveError)) throw error;
      return root;
    }
  }

  private follow(last: Root): void {
    this.last = last;
    this.end = this.slots.startAfter(last);
  }

  /** Bytes of the file, with those that wait to be written. */
  get size(): number {
    return this.end;
  }

  /** A leaf as bytes, which nobody has looked at. */
  appendImage(image: Buffer, summary: PageSummary): PageRef {
    return this.append(image, "leaf", summary);
  }

  private append(image: Buffer, kind: PageRef["kind"], { lastChange, alive, changes }: PageSummary): PageRef {
    const size = PAGE_HEAD_SIZE + image.length;
    if (this.buffered + size > (this.buffer?.length ?? 0)) this.makeRoom(size);
    const buffer = this.buffer!;
    buffer.writeUInt32BE(image.length, this.buffered);
    buffer.writeUInt32BE(crc32(image), this.buffered + 4);
    buffer.set(image, this.buffered + PAGE_HEAD_SIZE);
    const offset = this.end;
    this.buffered += size;
    this.end += size;
    return { kind, offset, length: image.length, lastChange, alive, changes };
  }

  private makeRoom(size: number): void {
    this.flush();
    if (size > (this.buffer?.length ?? 0)) this.buffer = Buffer.allocUnsafeSlow(Math.max(BUFFER_SIZE, size));
  }

  /** A page that will be wanted again is at hand then. */
  appendLeaf(leaf: Leaf, summary: PageSummary): PageRef {
    const ref = this.append(leaf.bytes, "leaf", summary);
    this.cache.set(ref.offset, leaf, LEAF_COST * ref.length);
    return ref;
  }

  appendNode(node: Node, image: Buffer, summary: PageSummary): PageRef {
    const ref = this.append(image, node.kind, summary);
    this.cache.set(ref.offset, node, NODE_COST * ref.length);
    return ref;
  }

  private flush(): void {
    if (this.buffered === 0) return;
    this.file.write(this.buffer!.subarray(0, this.buffered), this.end - this.buffered);
    this.buffered = 0;
  }

  /** Durable when it returns. */
  commit(root: Root): void {
    invariant(this.last !== undefined, "a commit that follows none");
    this.flush();
    this.slots.commit(root, this.last);
    this.follow(root);
  }

  /** The first commit of a file that has no name yet: the same commit, by its last number. Durable when it returns. */
  begin(root: Root): Root {
    this.flush();
    const last = this.slots.begin(root);
    this.file.sync();
    return last;
  }

  /** A leaf that is in memory. */
  knownLeaf(ref: PageRef): Leaf | undefined {
    const known = this.cache.get(ref.offset);
    return known instanceof Leaf ? known : undefined;
  }

  /** A leaf with its keys. */
  leaf(ref: PageRef): Leaf {
    const known = this.knownLeaf(ref);
    if (known?.hasKeys === true) return known;
    const leaf = known ?? new Leaf(this.read(ref));
    leaf.readKeys();
    this.release(ref);
    this.cache.set(ref.offset, leaf, LEAF_COST * ref.length);
    return leaf;
  }

  /** A leaf for who looks for one key: many more of those that have not read their keys find room in memory. */
  leafToSearch(ref: PageRef): Leaf {
    const known = this.knownLeaf(ref);
    if (known !== undefined) return known;
    const leaf = new Leaf(this.read(ref));
    this.cache.set(ref.offset, leaf, PAGE_COST + ref.length);
    return leaf;
  }

  node(ref: PageRef): Node {
    const known = this.cache.get(ref.offset);
    if (known !== undefined && !(known instanceof Leaf)) return known;
    const node = decodeNode(this.read(ref));
    this.cache.set(ref.offset, node, NODE_COST * ref.length);
    return node;
  }

  /** The page will hardly be wanted again: it need not be in memory. */
  release({ offset }: PageRef): void {
    this.cache.delete(offset);
  }

  /** The bytes of a page, checked. */
  read({ offset, length }: PageRef): Buffer {
    if (offset + PAGE_HEAD_SIZE + length > this.end - this.buffered) this.flush();
    this.pagesRead++;
    const bytes = Buffer.allocUnsafeSlow(PAGE_HEAD_SIZE + length);
    const { path } = this.file;
    const count = this.file.read(bytes, offset);
    const image = bytes.subarray(PAGE_HEAD_SIZE);
    if (count !== bytes.length || bytes.readUInt32BE(0) !== length || bytes.readUInt32BE(4) !== crc32(image)) {
      throw new ArchiveError("HT_CORRUPT", `${path}:${offset}: a page does not hold its checksum`, {
        file: path,
        offset,
      });
    }
    return image;
  }

  close(): void {
    this.file.close();
  }
}

/** Whether a root says what the commit of this number did. */
export function isAsOf({ since, generation }: Pick<Root, "since" | "generation">, wanted: number | undefined): boolean {
  return wanted === undefined || (since <= wanted && wanted <= generation);
}

interface CachedPage {
  readonly page: Leaf | Node;
  readonly cost: number;
  /** Asked for since it was last considered to go. */
  isWanted: boolean;
}

/** Pages as they were read, up to a number of bytes. Those go first that nobody has asked for the longest. */
class PageCache {
  private readonly pages = new Map<number, CachedPage>();
  private readonly costMax: number;
  private cost = 0;

  constructor(costMax: number) {
    this.costMax = costMax;
  }

  get(offset: number): Leaf | Node | undefined {
    const held = this.pages.get(offset);
    if (held === undefined) return undefined;
    held.isWanted = true;
    return held.page;
  }

  delete(offset: number): void {
    const held = this.pages.get(offset);
    if (held === undefined) return;
    this.pages.delete(offset);
    this.cost -= held.cost;
  }

  set(offset: number, page: Leaf | Node, cost: number): void {
    this.pages.set(offset, { page, cost, isWanted: false });
    this.cost += cost;
    if (this.cost <= this.costMax) return;
    for (const [oldest, held] of this.pages) {
      if (this.cost <= this.costMax) break;
      this.pages.delete(oldest);
      // Who was asked for meanwhile is asked for again; it goes behind all others, once.
      if (held.isWanted && oldest !== offset) {
        held.isWanted = false;
        this.pages.set(oldest, held);
      } else this.cost -= held.cost;
    }
  }
}
