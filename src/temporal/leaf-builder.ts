/** Builds leaves, entry by entry in the order of keys. What does not change is copied from the leaf that it stands in. */
import { ByteWriter } from "./bytes.ts";
import { CARRIED, GONE, type LastRun, LEAF_TYPE, Leaf, sharedLength } from "./leaf.ts";
import type { Run, Visit } from "./run.ts";

export class LeafBuilder {
  private readonly digestSize: number;
  private readonly out = new ByteWriter();
  private readonly body = new ByteWriter();
  private readonly visits = new ByteWriter(1 << 10);
  private base = 0;
  private keys: string[] = [];
  private starts: number[] = [];
  private bodies: number[] = [];

  constructor(digestSize: number) {
    this.digestSize = digestSize;
  }

  begin(base: number): void {
    this.base = base;
    this.out.length = 0;
    this.keys = [];
    this.starts = [];
    this.bodies = [];
  }

  /** Bytes of entries so far. */
  get size(): number {
    return this.out.length;
  }

  /** Entries of a leaf with the same base, from one position up to another. */
  copy(leaf: Leaf, from: number, to: number): void {
    if (from >= to) return;
    const before = this.keys.at(-1) ?? "";
    const first = this.startKey(leaf.keys[from]!, before);
    this.out.number(leaf.entryAt(from + 1) - leaf.bodyAt(from));
    this.bodies.push(this.out.length);
    this.out.raw(leaf.bytes, leaf.bodyAt(from), leaf.entryAt(from + 1));
    this.keys.push(first);
    if (from + 1 === to) return;
    // From the second on each stands behind the same key as in the leaf.
    const shift = this.out.length - leaf.entryAt(from + 1);
    for (let i = from + 1; i < to; i++) {
      this.keys.push(leaf.keys[i]!);
      this.starts.push(leaf.entryAt(i) + shift);
      this.bodies.push(leaf.bodyAt(i) + shift);
    }
    this.out.raw(leaf.bytes, leaf.entryAt(from + 1), leaf.entryAt(to));
  }

  private startKey(key: string, before: string): string {
    this.starts.push(this.out.length);
    const shared = sharedLength(before, key);
    this.out.number(shared);
    this.out.number(key.length - shared);
    this.out.text(key, shared);
    return key;
  }

  private putBody(key: string): void {
    this.startKey(key, this.keys.at(-1) ?? "");
    this.out.number(this.body.length);
    this.bodies.push(this.out.length);
    this.out.raw(this.body.bytes, 0, this.body.length);
    this.keys.push(key);
  }

  put(key: string, runs: readonly Run[]): void {
    this.body.length = 0;
    let reference = this.base;
    for (const run of runs) {
      this.putRun(run, reference);
      reference = run.start;
    }
    this.putBody(key);
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
    body.number(this.visits.length);
    body.raw(this.visits.bytes, 0, this.visits.length);
  }

  /** The entry of a leaf with one visit more, behind all that it has: of its last run, or of a new one. */
  append(leaf: Leaf, index: number, last: LastRun, visit: Visit): void {
    const { body } = this;
    const end = leaf.entryAt(index + 1);
    body.length = 0;
    if (leaf.hasDigest(last.digestAt, visit.digest)) {
      this.visits.length = 0;
      this.visits.number(visit.time - last.lastVisit);
      body.raw(leaf.bytes, leaf.bodyAt(index), last.visitsSizeAt);
      body.number(end - last.visitsAt + this.visits.length);
      body.raw(leaf.bytes, last.visitsAt, end);
      body.raw(this.visits.bytes, 0, this.visits.length);
    } else {
      body.raw(leaf.bytes, leaf.bodyAt(index), end);
      const { time, digest, value } = visit;
      this.putRun({ start: time, digest, value, before: 0, lastBefore: time, visits: [time] }, last.start);
    }
    this.putBody(leaf.keys[index]!);
  }

  /** The leaf. */
  finish(lastVisit: number): Leaf {
    const head = new ByteWriter(64);
    head.byte(LEAF_TYPE);
    head.byte(this.digestSize);
    head.signed(this.base);
    head.signed(lastVisit - this.base);
    head.number(this.keys.length);
    const bytes = Buffer.allocUnsafeSlow(head.length + this.out.length);
    head.bytes.copy(bytes, 0, 0, head.length);
    this.out.bytes.copy(bytes, head.length, 0, this.out.length);
    const starts = new Uint32Array(this.keys.length + 1);
    const bodies = new Uint32Array(this.keys.length);
    for (let i = 0; i < bodies.length; i++) {
      starts[i] = this.starts[i]! + head.length;
      bodies[i] = this.bodies[i]! + head.length;
    }
    starts[bodies.length] = bytes.length;
    return new Leaf(bytes, { keys: this.keys, starts, bodies });
  }
}
