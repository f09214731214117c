/** Builds leaves, entry by entry in the order of keys. What does not change is copied from the leaf that it stands in. */
import type { SortedVisits } from "./batch.ts";
import { ByteWriter, numberSize } from "./bytes.ts";
import { CARRIED, isAt, LEAF_TYPE, Leaf, sharedLength, TAIL, UNKNOWN } from "./leaf.ts";
import type { Run } from "./run.ts";
import { type Growth, RunWriter } from "./run-writer.ts";

export class LeafBuilder {
  private readonly digestSize: number;
  private readonly head = new ByteWriter(64);
  private readonly out = new ByteWriter();
  private readonly runWriter = new RunWriter();
  private base = 0;
  private carried = 0;
  private count = 0;
  /** Of all entries so far; and of further ones, as long as they are those of the leaf that is built anew. */
  private keys: string[] = [];
  private areKeysOwn = true;
  /** Of each entry where it and its body begin. */
  private places = new Uint32Array(1 << 11);
  /** Of each entry how its last run ends, see `Leaf.tails`. */
  private tails = new Float64Array(TAIL << 10);

  constructor(digestSize: number) {
    this.digestSize = digestSize;
  }

  /** A leaf that is built anew may be told by its keys, which are not stored again where they stay the same. */
  begin(base: number, keys?: readonly string[]): void {
    this.base = base;
    this.out.length = 0;
    this.carried = 0;
    this.count = 0;
    this.areKeysOwn = keys === undefined;
    this.keys = (keys as string[] | undefined) ?? [];
  }

  /** Bytes of the entries so far. */
  get size(): number {
    return this.out.length;
  }

  /** Entries of a leaf with the same base, from one position up to another. */
  copy(leaf: Leaf, from: number, to: number): void {
    if (from >= to) return;
    const { out } = this;
    let first = from;
    if (!this.isBehind(leaf, from)) {
      const next = leaf.entryAt(++first);
      this.startKey(leaf.keys[from]!);
      this.startBody(next - leaf.bodyAt(from), leaf.isCarried(from));
      out.words(leaf.view, leaf.bodyAt(from), next);
      this.copyTail(leaf, from);
    }
    // Each stands behind the same key as in the leaf.
    const { keys, places } = leaf.readKeys();
    const start = places[2 * first]!;
    const shift = out.length - start;
    for (let i = first; i < to; i++) {
      const bodyAt = places[2 * i + 1]!;
      this.place(keys[i]!, places[2 * i]! + shift, i);
      this.placeBody(bodyAt + shift, (leaf.bytes[bodyAt]! & CARRIED) !== 0);
      this.copyTail(leaf, i);
    }
    out.words(leaf.view, start, places[2 * to]!);
  }

  /** The next entry begins there; it is the one at `index` of the leaf that is built anew, if any. */
  private place(key: string, at: number, index?: number): void {
    const { count } = this;
    if (2 * count === this.places.length) {
      const [places, tails] = [new Uint32Array(4 * count), new Float64Array(2 * TAIL * count)];
      places.set(this.places);
      tails.set(this.tails);
      this.places = places;
      this.tails = tails;
    }
    this.places[2 * count] = at;
    if (!this.areKeysOwn && index !== count) {
      this.keys = this.keys.slice(0, count);
      this.areKeysOwn = true;
    }
    if (this.areKeysOwn) this.keys[count] = key;
    this.count++;
  }

  private placeBody(at: number, isCarried: boolean): void {
    this.places[2 * this.count - 1] = at;
    if (isCarried) this.carried++;
  }

  private placeTail(lastVisit: number, digestAt: number, visitsSizeAt: number): void {
    const at = TAIL * (this.count - 1);
    this.tails[at] = lastVisit;
    this.tails[at + 1] = digestAt;
    this.tails[at + 2] = visitsSizeAt;
  }

  private copyTail({ tails }: Leaf, index: number): void {
    if (tails === undefined) this.placeTail(UNKNOWN, 0, 0);
    else this.placeTail(tails[TAIL * index]!, tails[TAIL * index + 1]!, tails[TAIL * index + 2]!);
  }

  private startKey(key: string): void {
    const { out } = this;
    const shared = this.count === 0 ? 0 : sharedLength(this.keys[this.count - 1]!, key);
    this.place(key, out.length);
    out.number(shared);
    out.number(key.length - shared);
    out.text(key, shared);
  }

  /** Whether the next entry stands behind the same key as in the leaf, and so is coded the same. */
  private isBehind(leaf: Leaf, index: number): boolean {
    const { count } = this;
    return index === 0 ? count === 0 : count > 0 && isAt(this.keys, count - 1, leaf.keys[index - 1]!);
  }

  /** The key of an entry; as the bytes tell it where the key before is the same as there. */
  private startKnown(leaf: Leaf, index: number): void {
    if (!this.isBehind(leaf, index)) {
      this.startKey(leaf.keys[index]!);
      return;
    }
    this.place(leaf.keys[index]!, this.out.length, index);
    const bodyAt = leaf.bodyAt(index);
    this.out.words(leaf.view, leaf.entryAt(index), bodyAt - numberSize(leaf.entryAt(index + 1) - bodyAt));
  }

  private startBody(size: number, isCarried: boolean): void {
    this.out.number(size);
    this.placeBody(this.out.length, isCarried);
  }

  private putBody(): void {
    const { out, isCarried, lastVisit, digestAt, visitsSizeAt } = this.runWriter;
    this.startBody(out.length, isCarried);
    this.out.words(out.view, 0, out.length);
    this.placeTail(lastVisit, digestAt, visitsSizeAt);
  }

  put(key: string, runs: readonly Run[]): void {
    const { runWriter } = this;
    runWriter.begin();
    let reference = this.base;
    for (const run of runs) {
      runWriter.put(run, reference);
      reference = run.start;
    }
    this.startKey(key);
    this.putBody();
  }

  /** A new key with its visits, [from, to) of the given ones. */
  start(visits: SortedVisits, from: number, to: number, growth: Growth): void {
    const { runWriter } = this;
    runWriter.begin();
    runWriter.start(visits, from, this.base, growth);
    runWriter.goOn(visits, from + 1, to, visits.times[from]!, growth);
    this.startKey(visits.keys[from]!);
    this.putBody();
    growth.keys++;
    if (!visits.isGone(to - 1)) growth.alive++;
  }

  /** The entry of a leaf with further visits, [from, to) of the given ones. False where they are not behind all others. */
  extend(leaf: Leaf, index: number, visits: SortedVisits, from: number, to: number, growth: Growth): boolean {
    const time = visits.times[from]!;
    if (time <= leaf.readTail(index)[TAIL * index]!) return false;
    const isSame = this.isConfirmed(leaf, index, visits, from);
    if (isSame) growth.visits++;
    const { runWriter } = this;
    const last = leaf.findLast(index);
    growth.alive += Number(last.digestAt === undefined) - Number(visits.isGone(to - 1));
    runWriter.take(leaf, index, last, isSame);
    if (isSame) runWriter.visit(time);
    else runWriter.start(visits, from, last.start, growth);
    runWriter.goOn(visits, from + 1, to, isSame ? last.start : time, growth);
    this.startKnown(leaf, index);
    this.putBody();
    return true;
  }

  /** Whether a visit found what the last run of an entry holds. */
  private isConfirmed(leaf: Leaf, index: number, visits: SortedVisits, at: number): boolean {
    const digestAt = leaf.readTail(index)[TAIL * index + 1]! | 0;
    if (digestAt === 0 || visits.isGone(at)) return digestAt === 0 && visits.isGone(at);
    return visits.hasDigest(at, leaf.view, leaf.bodyAt(index) + digestAt);
  }

  /** What the last run of an entry is for the page behind, with further visits, [from, to) of the given ones. */
  carry(leaf: Leaf, index: number, visits: SortedVisits, from: number, to: number, growth: Growth): void {
    const { runWriter } = this;
    const isSame = from < to && this.isConfirmed(leaf, index, visits, from);
    const start = runWriter.carry(leaf, index, this.base);
    if (isSame) {
      runWriter.visit(visits.times[from]!);
      growth.visits++;
    } else if (from < to) {
      runWriter.end();
      runWriter.start(visits, from, start, growth);
    }
    runWriter.goOn(visits, from + 1, to, isSame ? start : (visits.times[from] ?? start), growth);
    this.startKnown(leaf, index);
    this.putBody();
  }

  /**
   * Entries of a leaf from one position on, each with one visit more of its last run: of the given visits, [from, to),
   * as many as are just that, and only where the numbers that change take as many bytes as before. How many.
   */
  confirm(
    leaf: Leaf,
    index: number,
    visits: SortedVisits,
    from: number,
    to: number,
    growth: Growth & { lastVisit: number },
  ): number {
    if (!this.isBehind(leaf, index)) return 0;
    const { out } = this;
    const { bytes, view } = leaf;
    const { keys, places } = leaf.readKeys();
    const { keys: visited, times } = visits;
    let at = from;
    for (let i = index; at < to && isAt(keys, i, visited[at]!) && visits.keyEnd(at) === at + 1; i++) {
      const time = times[at]!;
      const tails = leaf.readTail(i);
      const lastVisit = tails[TAIL * i]!;
      const digestAt = tails[TAIL * i + 1]! | 0;
      const visitsSizeAt = tails[TAIL * i + 2]! | 0;
      const entryAt = places[2 * i]!;
      const bodyAt = places[2 * i + 1]!;
      const end = places[2 * i + 2]!;
      if (time <= lastVisit || digestAt === 0 || !visits.found(at, view, bodyAt + digestAt)) break;
      const added = numberSize(time - lastVisit);
      const sizeAt = bodyAt + visitsSizeAt;
      let visitsAt = sizeAt + 1;
      while (bytes[visitsAt - 1]! > 127) visitsAt++;
      const visitsSize = end - visitsAt + added;
      const bodySize = end - bodyAt + added;
      const sizeSize = numberSize(bodySize);
      // Both numbers take as much as before, so that all is copied in one go, and they are written over.
      if (numberSize(visitsSize) !== visitsAt - sizeAt || sizeSize !== numberSize(end - bodyAt)) break;
      const shift = out.length - entryAt;
      this.place(keys[i]!, out.length, i);
      this.placeBody(bodyAt + shift, (bytes[bodyAt]! & CARRIED) !== 0);
      this.placeTail(time, digestAt, visitsSizeAt);
      out.words(view, entryAt, end);
      out.numberAt(bodySize, bodyAt + shift - sizeSize);
      out.numberAt(visitsSize, sizeAt + shift);
      out.number(time - lastVisit);
      if (time > growth.lastVisit) growth.lastVisit = time;
      at++;
    }
    growth.visits += at - from;
    return at - from;
  }

  /** The leaf. */
  finish(lastVisit: number): Leaf {
    const { head, count } = this;
    head.length = 0;
    head.byte(LEAF_TYPE);
    head.byte(this.digestSize);
    head.signed(this.base);
    head.signed(lastVisit - this.base);
    head.number(this.carried);
    head.number(count);
    const size = head.length + this.out.length;
    // One piece of memory for the image and what is known of it, since there are many leaves.
    const tailsAt = (size + 7) & ~7;
    const placesAt = tailsAt + 8 * TAIL * count;
    const { buffer } = Buffer.allocUnsafeSlow(placesAt + 4 * (2 * count + 1));
    const bytes = Buffer.from(buffer, 0, size);
    const tails = new Float64Array(buffer, tailsAt, TAIL * count);
    const places = new Uint32Array(buffer, placesAt, 2 * count + 1);
    head.bytes.copy(bytes, 0, 0, head.length);
    this.out.bytes.copy(bytes, head.length, 0, this.out.length);
    for (let i = 0; i < 2 * count; i++) places[i] = this.places[i]! + head.length;
    places[2 * count] = size;
    tails.set(this.tails.subarray(0, TAIL * count));
    const keys = this.keys.length === count ? this.keys : this.keys.slice(0, count);
    return new Leaf(bytes, { keys, places, tails });
  }
}
