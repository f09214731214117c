/** Builds leaves, entry by entry in the order of keys. What does not change is copied from the leaf that it stands in. */
import { type SortedVisits, sameBytes } from "./batch.ts";
import { ByteWriter, numberSize } from "./bytes.ts";
import { type ChangeMap, withChange } from "./change-map.ts";
import { CARRIED, GONE, type LastRun, LEAF_TYPE, Leaf, sharedLength } from "./leaf.ts";
import type { Run } from "./run.ts";

/** What visits added to a leaf. */
export interface Growth {
  visits: number;
  entries: number;
  /** Keys that hold something at the end. */
  alive: number;
  lastChange: number;
  changes: ChangeMap;
}

export class LeafBuilder {
  private readonly digestSize: number;
  private readonly head = new ByteWriter(64);
  private readonly out = new ByteWriter();
  private readonly body = new ByteWriter();
  private readonly visits = new ByteWriter(1 << 10);
  private base = 0;
  private carried = 0;
  private keys: string[] = [];
  /** Of each entry where it and its body begin. */
  private places = new Uint32Array(1 << 11);

  constructor(digestSize: number) {
    this.digestSize = digestSize;
  }

  begin(base: number): void {
    this.base = base;
    this.out.length = 0;
    this.carried = 0;
    this.keys = [];
  }

  /** Entries of a leaf with the same base, from one position up to another. */
  copy(leaf: Leaf, from: number, to: number): void {
    if (from >= to) return;
    const { out } = this;
    const next = leaf.entryAt(from + 1);
    this.startKnown(leaf, from);
    this.startBody(next - leaf.bodyAt(from), leaf.isCarried(from));
    out.raw(leaf.bytes, leaf.bodyAt(from), next);
    // From the second on each stands behind the same key as in the leaf.
    const shift = out.length - next;
    for (let i = from + 1; i < to; i++) {
      this.place(leaf.keys[i]!, leaf.entryAt(i) + shift);
      this.places[2 * this.keys.length - 1] = leaf.bodyAt(i) + shift;
      if (leaf.isCarried(i)) this.carried++;
    }
    out.raw(leaf.bytes, next, leaf.entryAt(to));
  }

  private place(key: string, at: number): void {
    const count = this.keys.length;
    if (2 * count === this.places.length) {
      const places = new Uint32Array(4 * count);
      places.set(this.places);
      this.places = places;
    }
    this.places[2 * count] = at;
    this.keys.push(key);
  }

  private startKey(key: string): void {
    const { out } = this;
    const shared = this.keys.length === 0 ? 0 : sharedLength(this.keys.at(-1)!, key);
    this.place(key, out.length);
    out.number(shared);
    out.number(key.length - shared);
    out.text(key, shared);
  }

  /** Whether the next entry stands behind the same key as in the leaf, and so is coded the same. */
  private isBehind(leaf: Leaf, index: number): boolean {
    const count = this.keys.length;
    return index === 0 ? count === 0 : count > 0 && this.keys[count - 1] === leaf.keys[index - 1];
  }

  /** The key of an entry; as the bytes tell it where the key before is the same as there. */
  private startKnown(leaf: Leaf, index: number): void {
    if (!this.isBehind(leaf, index)) {
      this.startKey(leaf.keys[index]!);
      return;
    }
    this.place(leaf.keys[index]!, this.out.length);
    const bodyAt = leaf.bodyAt(index);
    this.out.raw(leaf.bytes, leaf.entryAt(index), bodyAt - numberSize(leaf.entryAt(index + 1) - bodyAt));
  }

  private startBody(size: number, isCarried: boolean): void {
    this.out.number(size);
    this.places[2 * this.keys.length - 1] = this.out.length;
    if (isCarried) this.carried++;
  }

  private putBody(): void {
    const { body } = this;
    this.startBody(body.length, (body.bytes[0]! & CARRIED) !== 0);
    this.out.raw(body.bytes, 0, body.length);
  }

  put(key: string, runs: readonly Run[]): void {
    this.body.length = 0;
    let reference = this.base;
    for (const run of runs) {
      this.putRun(run, reference);
      reference = run.start;
    }
    this.startKey(key);
    this.putBody();
  }

  private putRun({ start, digest, value, before, lastBefore, visits }: Run, reference: number): void {
    const { body } = this;
    const isCarried = before > 0;
    body.number((digest === undefined ? GONE : 0) + (isCarried ? CARRIED : 0));
    body.signed(start - reference);
    if (digest !== undefined) {
      body.text(digest);
      body.number(value.length);
      body.raw(value);
    }
    if (isCarried) {
      body.number(before);
      body.number(lastBefore - start);
    }
    this.visits.length = 0;
    let last = isCarried ? lastBefore : start;
    for (let i = isCarried ? 0 : 1; i < visits.length; i++) {
      this.visits.number(visits[i]! - last);
      last = visits[i]!;
    }
    this.endRun();
  }

  private endRun(): void {
    this.body.number(this.visits.length);
    this.body.raw(this.visits.bytes, 0, this.visits.length);
  }

  /** A new key with its visits, [from, to) of the given ones. */
  start(visits: SortedVisits, from: number, to: number, growth: Growth): void {
    this.body.length = 0;
    this.startRun(visits, from, this.base, growth);
    this.addRuns(visits, from + 1, to, visits.times[from]!, growth);
    this.startKey(visits.keys[from]!);
    this.putBody();
    if (!visits.isGone(to - 1)) growth.alive++;
  }

  /** The entry of a leaf with further visits, [from, to) of the given ones. False where they are not behind all others. */
  extend(leaf: Leaf, index: number, visits: SortedVisits, from: number, to: number, growth: Growth): boolean {
    const last = leaf.findLast(index);
    if (visits.times[from]! <= last.lastVisit) return false;
    const isSame = hasContent(leaf, last.digestAt, visits, from, this.digestSize);
    if (isSame && to - from === 1) {
      this.confirm(leaf, index, last, visits.times[from]! - last.lastVisit);
      growth.visits++;
      return true;
    }
    const { body } = this;
    const end = leaf.entryAt(index + 1);
    growth.alive += Number(last.digestAt === undefined) - Number(visits.isGone(to - 1));
    body.length = 0;
    if (isSame) {
      body.raw(leaf.bytes, leaf.bodyAt(index), last.visitsSizeAt);
      this.visits.length = 0;
      this.visits.raw(leaf.bytes, last.visitsAt, end);
      this.visits.number(visits.times[from]! - last.lastVisit);
      growth.visits++;
    } else {
      body.raw(leaf.bytes, leaf.bodyAt(index), end);
      this.startRun(visits, from, last.start, growth);
    }
    this.addRuns(visits, from + 1, to, isSame ? last.start : visits.times[from]!, growth);
    this.startKnown(leaf, index);
    this.putBody();
    return true;
  }

  /** What the last run of an entry is for the page behind, with further visits, [from, to) of the given ones. */
  carry(leaf: Leaf, index: number, visits: SortedVisits, from: number, to: number, growth: Growth): void {
    const { body } = this;
    const { start, lastVisit, digestAt, valueEnd, before, visitsAt } = leaf.findLast(index);
    const isSame = from < to && hasContent(leaf, digestAt, visits, from, this.digestSize);
    body.length = 0;
    body.number((digestAt === undefined ? GONE : 0) + CARRIED);
    body.signed(start - this.base);
    if (digestAt !== undefined) body.raw(leaf.bytes, digestAt, valueEnd);
    body.number((before === 0 ? 1 : before) + countNumbers(leaf.bytes, visitsAt, leaf.entryAt(index + 1)));
    body.number(lastVisit - start);
    this.visits.length = 0;
    if (isSame) this.visits.number(visits.times[from]! - lastVisit);
    else if (from < to) {
      this.endRun();
      this.startRun(visits, from, start, growth);
    }
    this.addRuns(visits, from + 1, to, isSame ? start : (visits.times[from] ?? start), growth);
    this.startKnown(leaf, index);
    this.putBody();
  }

  /** The entry with one visit more of its last run: two numbers change, and one is added. */
  private confirm(leaf: Leaf, index: number, { visitsSizeAt, visitsAt }: LastRun, later: number): void {
    const { out } = this;
    const [entryAt, bodyAt, end] = [leaf.entryAt(index), leaf.bodyAt(index), leaf.entryAt(index + 1)];
    const visitsSize = end - visitsAt + numberSize(later);
    const isAlike = numberSize(visitsSize) === visitsAt - visitsSizeAt;
    const bodySize = visitsAt - bodyAt + visitsSize;
    const sizeSize = numberSize(bodySize);
    if (isAlike && sizeSize === numberSize(end - bodyAt) && this.isBehind(leaf, index)) {
      // Both numbers take as much as before: all is copied in one go, and they are written over.
      const shift = out.length - entryAt;
      this.place(leaf.keys[index]!, out.length);
      this.places[2 * this.keys.length - 1] = bodyAt + shift;
      if (leaf.isCarried(index)) this.carried++;
      out.raw(leaf.bytes, entryAt, end);
      out.numberAt(bodySize, bodyAt + shift - sizeSize);
      out.numberAt(visitsSize, visitsSizeAt + shift);
    } else {
      this.startKnown(leaf, index);
      this.startBody(visitsSizeAt - bodyAt + numberSize(visitsSize) + visitsSize, leaf.isCarried(index));
      out.raw(leaf.bytes, bodyAt, visitsSizeAt);
      out.number(visitsSize);
      out.raw(leaf.bytes, visitsAt, end);
    }
    out.number(later);
  }

  private startRun(visits: SortedVisits, at: number, reference: number, growth: Growth): void {
    const { body } = this;
    const time = visits.times[at]!;
    body.number(visits.isGone(at) ? GONE : 0);
    body.signed(time - reference);
    if (!visits.isGone(at)) {
      const valueAt = visits.valueAt(at);
      body.raw(visits.bytes, visits.digestAt(at), valueAt);
      body.number(visits.valueSize(at));
      body.raw(visits.bytes, valueAt, valueAt + visits.valueSize(at));
      growth.entries++;
    }
    growth.visits++;
    if (time > growth.lastChange) growth.lastChange = time;
    growth.changes = withChange(growth.changes, time);
    this.visits.length = 0;
  }

  /** Goes on with visits behind one that is in the body already, whose run began at `start`. */
  private addRuns(visits: SortedVisits, from: number, to: number, start: number, growth: Growth): void {
    let reference = start;
    for (let at = from; at < to; at++) {
      const time = visits.times[at]!;
      if (!visits.isSame(at - 1, at)) {
        this.endRun();
        this.startRun(visits, at, reference, growth);
        reference = time;
      } else if (time !== visits.times[at - 1]) {
        this.visits.number(time - visits.times[at - 1]!);
        growth.visits++;
      }
    }
    this.endRun();
  }

  /** The leaf. */
  finish(lastVisit: number): Leaf {
    const { head } = this;
    head.length = 0;
    head.byte(LEAF_TYPE);
    head.byte(this.digestSize);
    head.signed(this.base);
    head.signed(lastVisit - this.base);
    head.number(this.carried);
    head.number(this.keys.length);
    const size = head.length + this.out.length;
    const count = this.keys.length;
    // One piece of memory for the image and the places in it, since there are many leaves.
    const placesAt = (size + 3) & ~3;
    const { buffer } = Buffer.allocUnsafeSlow(placesAt + 4 * (2 * count + 1));
    const bytes = Buffer.from(buffer, 0, size);
    const places = new Uint32Array(buffer, placesAt, 2 * count + 1);
    head.bytes.copy(bytes, 0, 0, head.length);
    this.out.bytes.copy(bytes, head.length, 0, this.out.length);
    for (let i = 0; i < 2 * count; i++) places[i] = this.places[i]! + head.length;
    places[2 * count] = size;
    return new Leaf(bytes, { keys: this.keys, places });
  }
}

/** How many numbers there are in a range of bytes: each ends with a byte below 128. */
function countNumbers(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) if (bytes[at]! < 128) count++;
  return count;
}

function hasContent(
  leaf: Leaf,
  digestAt: number | undefined,
  visits: SortedVisits,
  at: number,
  digestSize: number,
): boolean {
  if (digestAt === undefined || visits.isGone(at)) return digestAt === undefined && visits.isGone(at);
  return sameBytes(leaf.bytes, digestAt, visits.bytes, visits.digestAt(at), digestSize);
}
