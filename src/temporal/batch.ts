/**
 * Visits that wait to be taken into pages: columns instead of objects, since there may be millions of them. Keys stay
 * as they were given; digests and values are copied.
 */
import { ByteWriter } from "./bytes.ts";
import { KeyOrder, type OrderedKeys } from "./key-order.ts";
import type { Visit } from "./run.ts";

/** In place of the size of a value: the key was found to be gone. */
const GONE_SIZE = 0xffff;
/** What a visit takes in memory beside its key and its content. */
const VISIT_COST = 32;

export class VisitBatch {
  readonly digestSize: number;
  private readonly order = new KeyOrder();
  private keys: string[] = [];
  private times = new Float64Array(1 << 10);
  /** Where the digest begins; the value stands behind it. */
  private places = new Uint32Array(1 << 10);
  private sizes = new Uint16Array(1 << 10);
  private readonly contents = new ByteWriter(1 << 15);
  /** About what it takes in memory. */
  cost = 0;

  constructor(digestSize: number) {
    this.digestSize = digestSize;
  }

  get length(): number {
    return this.keys.length;
  }

  add(key: string, time: number, digest: Uint8Array | undefined, value: Uint8Array): void {
    const at = this.keys.length;
    if (at === this.times.length) this.grow();
    this.keys[at] = key;
    this.times[at] = time;
    this.places[at] = this.contents.length;
    this.sizes[at] = digest === undefined ? GONE_SIZE : value.length;
    if (digest !== undefined) {
      this.contents.raw(digest);
      this.contents.raw(value);
    }
    this.cost += VISIT_COST + key.length + this.digestSize + value.length;
  }

  private grow(): void {
    const length = 2 * this.times.length;
    const [times, places, sizes] = [new Float64Array(length), new Uint32Array(length), new Uint16Array(length)];
    times.set(this.times);
    places.set(this.places);
    sizes.set(this.sizes);
    this.times = times;
    this.places = places;
    this.sizes = sizes;
  }

  /** The visits in the order of keys, times and digests; this batch is empty then. */
  take(): SortedVisits {
    const ordered = this.order.sort(this.keys);
    const { order } = ordered;
    const { length } = order;
    const [times, places, sizes] = [new Float64Array(length), new Uint32Array(length), new Uint16Array(length)];
    for (let i = 0; i < length; i++) {
      const at = order[i]!;
      times[i] = this.times[at]!;
      places[i] = this.places[at]!;
      sizes[i] = this.sizes[at]!;
    }
    const sorted = new SortedVisits({ ...ordered, times, places, sizes }, this.contents.finish(), this.digestSize);
    this.keys = [];
    this.contents.length = 0;
    this.cost = 0;
    return sorted;
  }
}

interface Columns extends OrderedKeys {
  readonly times: Float64Array;
  readonly places: Uint32Array;
  readonly sizes: Uint16Array;
}

export class SortedVisits {
  readonly keys: readonly string[];
  readonly times: Float64Array;
  /** Digests and values. */
  readonly bytes: Buffer;
  readonly view: DataView;
  private readonly places: Uint32Array;
  private readonly sizes: Uint16Array;
  private readonly digestSize: number;
  /** Behind the last visit of each one's key. */
  private readonly ends: Uint32Array;
  private readonly gaps: Uint32Array;

  /** The columns in the order of keys; visits of one key are put into order here. */
  constructor({ keys, ends, gaps, times, places, sizes }: Columns, bytes: Buffer, digestSize: number) {
    this.keys = keys;
    this.times = times;
    this.places = places;
    this.sizes = sizes;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.digestSize = digestSize;
    this.ends = ends;
    this.gaps = gaps;
    for (let from = 0; from < keys.length; from = ends[from]!) {
      if (ends[from]! - from > 1) this.sortVisits(from, ends[from]!);
    }
  }

  /** Behind the last visit of the key that is there. */
  keyEnd(at: number): number {
    return this.ends[at]!;
  }

  /** How many keys lie between the one that is there, and begins there, and the one before it, as far as is known. */
  gapBefore(at: number): number {
    return this.gaps[at]!;
  }

  /** The first one in [from, to) whose key is not below this one; it is sought in longer steps from where it may be. */
  search(key: string, from: number, to: number, guess: number): number {
    let [low, high] = [from, to];
    for (let [at, step] = [Math.min(guess, to - 1), 2]; low <= at && at < high; step *= 2) {
      if (this.keys[at]! < key) {
        low = at + 1;
        at = low + step;
      } else {
        high = at;
        at = high - 1 - step;
      }
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private sortVisits(from: number, to: number): void {
    const order = Array.from({ length: to - from }, (_, i) => from + i);
    order.sort((one, other) => this.compare(one, other));
    const [times, places, sizes] = [this.times, this.places, this.sizes].map((column) =>
      order.map((at) => column[at]!),
    );
    this.times.set(times!, from);
    this.places.set(places!, from);
    this.sizes.set(sizes!, from);
  }

  /** As visits of one key are ordered; the earlier given one first where they are the same. */
  private compare(one: number, other: number): number {
    const { bytes, digestSize } = this;
    const difference = this.times[one]! - this.times[other]!;
    if (difference !== 0) return difference;
    if (this.isGone(one) || this.isGone(other)) return Number(this.isGone(one)) - Number(this.isGone(other));
    const [left, right] = [this.places[one]!, this.places[other]!];
    return bytes.compare(bytes, right, right + digestSize, left, left + digestSize) || left - right;
  }

  isGone(at: number): boolean {
    return this.sizes[at] === GONE_SIZE;
  }

  digestAt(at: number): number {
    return this.places[at]!;
  }

  valueAt(at: number): number {
    return this.places[at]! + this.digestSize;
  }

  valueSize(at: number): number {
    return this.sizes[at]!;
  }

  /** Whether two visits found the same. */
  isSame(one: number, other: number): boolean {
    if (this.isGone(one) || this.isGone(other)) return this.isGone(one) && this.isGone(other);
    return this.hasDigest(one, this.view, this.places[other]!);
  }

  /** Whether a visit found the content whose digest stands there, and not that the key is gone. */
  found(at: number, other: DataView, otherAt: number): boolean {
    return !this.isGone(at) && this.hasDigest(at, other, otherAt);
  }

  /** Whether a visit found the content whose digest stands there. */
  hasDigest(at: number, other: DataView, otherAt: number): boolean {
    const { view, digestSize } = this;
    const place = this.places[at]!;
    let i = 0;
    for (; i + 4 <= digestSize; i += 4)
      if (view.getInt32(place + i, true) !== other.getInt32(otherAt + i, true)) return false;
    for (; i < digestSize; i++) if (view.getUint8(place + i) !== other.getUint8(otherAt + i)) return false;
    return true;
  }

  /** The earliest in a range. */
  firstTime(from: number, to: number): number {
    let first = Number.POSITIVE_INFINITY;
    for (let at = from; at < to; at++) if (this.times[at]! < first) first = this.times[at]!;
    return first;
  }

  visit(at: number): Visit {
    const time = this.times[at]!;
    if (this.isGone(at)) return { time, digest: undefined, value: NOTHING };
    const place = this.places[at]!;
    const valueAt = place + this.digestSize;
    const digest = this.bytes.toString("latin1", place, valueAt);
    return { time, digest, value: this.bytes.subarray(valueAt, valueAt + this.sizes[at]!) };
  }
}

const NOTHING = Buffer.alloc(0);
