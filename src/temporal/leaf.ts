/**
 * Leaves: the pages that hold entries, each for a range of keys and a stretch of time. Keys are front-coded, a key's runs
 * stand together, times are differences. Obeys docs/format/timeline.md.
 */
import { ArchiveError } from "../base/index.ts";
import { ByteReader } from "./bytes.ts";
import { NO_CHANGES, withChange } from "./change-map.ts";
import type { PageSummary } from "./node.ts";
import type { Run } from "./run.ts";

export const GONE = 1;
export const CARRIED = 2;
export const LEAF_TYPE = 1;

export function sharedLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}

/**
 * Whether a key stands there. Where it is the very same string, as with most, `Object.is` sees that from where the two
 * are; `===` looks at them first, and that they are seldom in a cache was a third of what it took to confirm an entry.
 */
export function isAt(keys: readonly string[], at: number, key: string): boolean {
  return at < keys.length && Object.is(keys[at], key);
}

/** Numbers that tell how the last run of an entry ends; and what stands in place of the first where that was not read. */
export const TAIL = 3;
export const UNKNOWN = Number.NaN;

/** The last run of a key, as far as is needed to go on from it. */
export interface LastRun {
  start: number;
  lastVisit: number;
  /** Visits before the page; 0 for a run that began in it. */
  before: number;
  /** Where its digest is; absent where the key is gone. */
  digestAt: number | undefined;
  /** Where its value ends. */
  valueEnd: number;
  /** Where the number of bytes of its visits stands, and where those begin. */
  visitsSizeAt: number;
  visitsAt: number;
}

/** Where the run is that is alive at a moment. */
export interface AliveRun {
  at: number;
  /** The start of the run before it, or the base of the leaf. */
  reference: number;
  start: number;
  isGone: boolean;
  /** When the next one begins. */
  next: number | undefined;
}

/** What a leaf knows of its entries once all of them were gone through. */
interface KnownKeys {
  readonly keys: readonly string[];
  /** Of each entry where it, and in it the body, begins; and where the last one ends. */
  readonly places: Uint32Array;
}

/** The runs of one key, as they lie in a leaf. */
export interface Body {
  readonly at: number;
  readonly end: number;
}

/** A leaf that was read. Its keys are read when one asks for them, or for an entry by its number; runs, one by one. */
export class Leaf {
  readonly bytes: Buffer;
  readonly digestSize: number;
  /** Times are told as differences to it. */
  readonly base: number;
  /** No visit in it is later. */
  readonly lastVisit: number;
  /** How many of its runs are carried. */
  readonly carried: number;
  private readonly count: number;
  private readonly entriesAt: number;
  private known: KnownKeys | undefined;
  /**
   * Of each entry how its last run ends, so that a visit that confirms it costs next to nothing: the last visit; and from
   * the body on, where the digest is, or 0 where the key is gone, and where the number of bytes of its visits stands.
   */
  tails: Float64Array | undefined;
  readonly view: DataView;
  private readonly reader: ByteReader;

  /** Who made the bytes may know the places in them already. */
  constructor(bytes: Buffer, known?: KnownKeys & { readonly tails: Float64Array }) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const reader = new ByteReader(bytes);
    this.reader = reader;
    if (reader.number() !== LEAF_TYPE) throw new ArchiveError("HT_CORRUPT", "not a leaf");
    this.digestSize = reader.number();
    this.base = reader.signed();
    this.lastVisit = this.base + reader.signed();
    this.carried = reader.number();
    this.count = reader.number();
    this.entriesAt = reader.at;
    if (!(this.count <= bytes.length)) throw cut();
    this.known = known;
    this.tails = known?.tails;
  }

  /** Whether its keys were read: then it takes about three times the memory. */
  get hasKeys(): boolean {
    return this.known !== undefined;
  }

  get keys(): readonly string[] {
    return this.readKeys().keys;
  }

  private get places(): Uint32Array {
    return this.readKeys().places;
  }

  readKeys(): KnownKeys {
    return (this.known ??= this.decodeKeys());
  }

  private decodeKeys(): KnownKeys {
    const { bytes, count } = this;
    const reader = new ByteReader(bytes, this.entriesAt);
    const keys = new Array<string>(count);
    const places = new Uint32Array(2 * count + 1);
    let key = "";
    for (let i = 0; i < count; i++) {
      places[2 * i] = reader.at;
      const shared = reader.number();
      key = key.slice(0, shared) + reader.text(reader.number());
      keys[i] = key;
      const size = reader.number();
      places[2 * i + 1] = reader.at;
      reader.at += size;
      if (!(reader.at <= bytes.length)) throw cut();
    }
    places[2 * count] = reader.at;
    if (reader.at !== bytes.length) throw new ArchiveError("HT_CORRUPT", "a leaf that does not end where it should");
    return { keys, places };
  }

  /** What the leaf holds of a key; absent where it has none. Its keys need not be read for that. */
  find(key: string): Body | undefined {
    if (this.known !== undefined) {
      const index = this.search(key);
      return this.known.keys[index] === key ? this.body(index) : undefined;
    }
    const { bytes, reader } = this;
    reader.at = this.entriesAt;
    // How much of `key` the one before has, which is before it.
    let same = 0;
    for (let i = 0; i < this.count; i++) {
      const shared = reader.number();
      let own = reader.number();
      const at = reader.at;
      reader.at += own;
      const end = reader.number() + reader.at;
      if (!(end <= bytes.length)) throw cut();
      if (shared <= same) {
        own += at;
        let from = at;
        for (same = shared; from < own && bytes[from] === key.charCodeAt(same); from++) same++;
        if (from === own && same === key.length) return { at: reader.at, end };
        // Also where `key` ends here.
        if (from < own && !(bytes[from]! < key.charCodeAt(same))) return undefined;
      }
      reader.at = end;
    }
    return undefined;
  }

  body(index: number): Body {
    return { at: this.bodyAt(index), end: this.entryAt(index + 1) };
  }

  /** Where the entry begins; behind the last one, where that ends. */
  entryAt(index: number): number {
    return this.places[2 * index]!;
  }

  bodyAt(index: number): number {
    return this.places[2 * index + 1]!;
  }

  isCarried(index: number): boolean {
    return (this.bytes[this.places[2 * index + 1]!]! & CARRIED) !== 0;
  }

  /** The same as `search` from a place on, where somebody believes to know how many keys lie before the one sought. */
  searchFrom(key: string, from: number, gap: number): number {
    const { keys } = this;
    const at = from + gap;
    if (isAt(keys, at, key)) return at;
    const isThere = at <= keys.length && (gap === 0 || keys[at - 1]! < key) && (at === keys.length || keys[at]! > key);
    return isThere ? at : this.search(key, from);
  }

  /** The position of the key, or of the first one behind it. */
  search(key: string, from = 0): number {
    let [low, high] = [from, this.keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  runs(index: number): Run[] {
    return this.runsIn(this.body(index));
  }

  runsIn({ at, end }: Body): Run[] {
    const reader = new ByteReader(this.bytes, at);
    const runs: Run[] = [];
    for (let reference = this.base; reader.at < end; ) {
      const run = this.readRun(reader, reference);
      reference = run.start;
      runs.push(run);
    }
    return runs;
  }

  private readRun(reader: ByteReader, reference: number): Run {
    const flags = reader.number();
    const start = reference + reader.signed();
    const digest = (flags & GONE) === 0 ? reader.text(this.digestSize) : undefined;
    const value = digest === undefined ? NOTHING : reader.raw(reader.number());
    const isCarried = (flags & CARRIED) !== 0;
    const before = isCarried ? reader.number() : 0;
    const lastBefore = isCarried ? start + reader.number() : start;
    const visitsSize = reader.number();
    const visitsEnd = reader.at + visitsSize;
    const visits = isCarried ? [] : [start];
    for (let last = lastBefore; reader.at < visitsEnd; ) {
      last += reader.number();
      visits.push(last);
    }
    return { start, digest, value, before, lastBefore, visits };
  }

  /** Goes over a run without looking at it; its start. */
  private skipRun(reader: ByteReader, reference: number): number {
    const flags = reader.number();
    const start = reference + reader.signed();
    if ((flags & GONE) === 0) {
      reader.skip(this.digestSize);
      reader.skip(reader.number());
    }
    if ((flags & CARRIED) !== 0) {
      reader.number();
      reader.number();
    }
    reader.skip(reader.number());
    return start;
  }

  /** What is worth knowing of it before it is read, and how many runs it has. */
  summarize(): PageSummary & { readonly runs: number } {
    const { bytes, reader } = this;
    let [alive, lastChange, changes, runs] = [0, this.base, NO_CHANGES, 0];
    for (let i = 0; i < this.keys.length; i++) {
      const end = this.places[2 * i + 2]!;
      reader.at = this.places[2 * i + 1]!;
      let flags = 0;
      for (let reference = this.base; reader.at < end; runs++) {
        flags = bytes[reader.at]!;
        reference = this.skipRun(reader, reference);
        if (reference > lastChange) lastChange = reference;
        if ((flags & CARRIED) === 0) changes = withChange(changes, reference);
      }
      if ((flags & GONE) === 0) alive++;
    }
    return { alive, lastChange, changes, runs };
  }

  /**
   * Finds the last run of a body that began by then, and when the next one begins. Where it is goes into `found`, which is the
   * caller's, since this is asked for every entry of a slice. False where there is none.
   */
  findAlive(bodyAt: number, end: number, time: number, found: AliveRun): boolean {
    const reader = this.reader;
    reader.at = bodyAt;
    let reference = this.base;
    let isFound = false;
    found.next = undefined;
    while (reader.at < end) {
      const at = reader.at;
      const isGone = (this.bytes[at]! & GONE) !== 0;
      const start = this.skipRun(reader, reference);
      if (start > time) {
        found.next = start;
        break;
      }
      isFound = true;
      found.at = at;
      found.reference = reference;
      found.start = start;
      found.isGone = isGone;
      reference = start;
    }
    return isFound;
  }

  /** What the run that was found there holds, and how often and when last that was seen. */
  aliveAt(at: number, reference: number): { digest: string; value: Buffer; lastSeen: number; visits: number } {
    const { reader } = this;
    reader.at = at;
    const flags = reader.number();
    const start = reference + reader.signed();
    const digest = reader.text(this.digestSize);
    const value = reader.raw(reader.number());
    const isCarried = (flags & CARRIED) !== 0;
    let visits = isCarried ? reader.number() : 1;
    let lastSeen = start + (isCarried ? reader.number() : 0);
    const visitsSize = reader.number();
    for (const end = reader.at + visitsSize; reader.at < end; visits++) lastSeen += reader.number();
    return { digest, value, lastSeen, visits };
  }

  /** All tails, of which the one of this entry is known then. */
  readTail(index: number): Float64Array {
    this.tails ??= new Float64Array(TAIL * this.keys.length).fill(UNKNOWN);
    const { tails } = this;
    if (Number.isNaN(tails[TAIL * index]!)) {
      const bodyAt = this.bodyAt(index);
      const { lastVisit, digestAt, visitsSizeAt } = this.findLast(index);
      tails[TAIL * index] = lastVisit;
      tails[TAIL * index + 1] = digestAt === undefined ? 0 : digestAt - bodyAt;
      tails[TAIL * index + 2] = visitsSizeAt - bodyAt;
    }
    return tails;
  }

  /** The last run of a key. What is told holds until this is asked the next time. */
  findLast(index: number): LastRun {
    const end = this.places[2 * index + 2]!;
    const { reader } = this;
    reader.at = this.places[2 * index + 1]!;
    for (let reference = this.base; ; ) {
      const flags = reader.number();
      const start = reference + reader.signed();
      reference = start;
      const digestAt = (flags & GONE) === 0 ? reader.at : undefined;
      if (digestAt !== undefined) {
        reader.skip(this.digestSize);
        reader.skip(reader.number());
      }
      last.valueEnd = reader.at;
      let lastVisit = start;
      last.before = 0;
      if ((flags & CARRIED) !== 0) {
        last.before = reader.number();
        lastVisit += reader.number();
      }
      last.visitsSizeAt = reader.at;
      const visitsSize = reader.number();
      last.visitsAt = reader.at;
      if (reader.at + visitsSize < end) {
        reader.at += visitsSize;
        continue;
      }
      while (reader.at < end) lastVisit += reader.number();
      last.start = start;
      last.lastVisit = lastVisit;
      last.digestAt = digestAt;
      return last;
    }
  }
}

const last: LastRun = {
  start: 0,
  lastVisit: 0,
  before: 0,
  digestAt: undefined,
  valueEnd: 0,
  visitsSizeAt: 0,
  visitsAt: 0,
};
const NOTHING = Buffer.alloc(0);

function cut(): ArchiveError {
  return new ArchiveError("HT_CORRUPT", "a leaf that is cut");
}
