/**
 * Leaves: the pages that hold entries, each for a range of keys and a stretch of time. Keys are front-coded, a key's runs
 * stand together, times are differences. Obeys docs/format/timeline.md.
 */
import { ArchiveError } from "../base/index.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import type { Run } from "./run.ts";

/** A key and its runs: as objects, or as the bytes they were read from as long as nobody looks. */
export interface LeafEntry {
  readonly key: string;
  readonly runs?: readonly Run[] | undefined;
  /** Where in a leaf its bytes are. */
  readonly from?: { readonly leaf: Leaf; readonly index: number } | undefined;
}

const GONE = 1;
const CARRIED = 2;
export const LEAF_TYPE = 1;

/** Writes leaves, one after another, with one buffer. */
export class LeafWriter {
  private readonly writer = new ByteWriter();
  private readonly runWriter = new ByteWriter();
  private readonly visitWriter = new ByteWriter(1 << 10);
  private readonly digestSize: number;

  constructor(digestSize: number) {
    this.digestSize = digestSize;
  }

  encode(entries: readonly LeafEntry[], base: number, lastVisit: number): Buffer {
    const { writer } = this;
    writer.length = 0;
    writer.byte(LEAF_TYPE);
    writer.byte(this.digestSize);
    writer.signed(base);
    writer.signed(lastVisit - base);
    writer.number(entries.length);
    let before = "";
    for (const { key, runs, from } of entries) {
      const shared = sharedLength(before, key);
      writer.number(shared);
      writer.number(key.length - shared);
      writer.text(key, shared);
      before = key;
      if (runs === undefined && from!.leaf.base === base) {
        const { leaf, index } = from!;
        const [start, end] = leaf.bodyAt(index);
        writer.number(end - start);
        writer.raw(leaf.bytes, start, end);
        continue;
      }
      const body = this.encodeRuns(runs ?? from!.leaf.runs(from!.index), base);
      writer.number(body.length);
      writer.raw(body.bytes, 0, body.length);
    }
    return writer.finish();
  }

  /** How many bytes the runs of a key take. */
  sizeOf(runs: readonly Run[], base: number): number {
    return this.encodeRuns(runs, base).length;
  }

  private encodeRuns(runs: readonly Run[], base: number): ByteWriter {
    const { runWriter: out, visitWriter: visits } = this;
    out.length = 0;
    let reference = base;
    for (const run of runs) {
      const isCarried = run.before > 0;
      out.number((run.digest === undefined ? GONE : 0) + (isCarried ? CARRIED : 0));
      out.signed(run.start - reference);
      reference = run.start;
      if (run.digest !== undefined) {
        out.text(run.digest);
        out.number(run.value.length);
        out.raw(run.value);
      }
      visits.length = 0;
      let last = isCarried ? run.lastBefore : run.start;
      if (isCarried) {
        out.number(run.before);
        out.number(run.lastBefore - run.start);
      }
      for (let i = isCarried ? 0 : 1; i < run.visits.length; i++) {
        visits.number(run.visits[i]! - last);
        last = run.visits[i]!;
      }
      out.number(visits.length);
      out.raw(visits.bytes, 0, visits.length);
    }
    return out;
  }
}

export function sharedLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}

/** A leaf that was read. Keys are there at once; runs are read when they are asked for. */
export class Leaf {
  readonly bytes: Buffer;
  /** Times are told as differences to it. */
  readonly base: number;
  /** No visit in it is later. */
  readonly lastVisit: number;
  readonly keys: readonly string[];
  private readonly digestSize: number;
  /** Start and end of each body. */
  private readonly bodies: Uint32Array;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    const reader = new ByteReader(bytes);
    if (reader.number() !== LEAF_TYPE) throw new ArchiveError("HT_CORRUPT", "not a leaf");
    this.digestSize = reader.number();
    this.base = reader.signed();
    this.lastVisit = this.base + reader.signed();
    const count = reader.number();
    if (!(count <= bytes.length)) throw new ArchiveError("HT_CORRUPT", "a leaf that is cut");
    const keys = new Array<string>(count);
    this.bodies = new Uint32Array(2 * count);
    let key = "";
    for (let i = 0; i < count; i++) {
      const shared = reader.number();
      key = key.slice(0, shared) + reader.text(reader.number());
      keys[i] = key;
      const size = reader.number();
      this.bodies[2 * i] = reader.at;
      reader.at += size;
      this.bodies[2 * i + 1] = reader.at;
    }
    if (reader.at !== bytes.length) throw new ArchiveError("HT_CORRUPT", "a leaf that does not end where it should");
    this.keys = keys;
  }

  bodyAt(index: number): readonly [start: number, end: number] {
    return [this.bodies[2 * index]!, this.bodies[2 * index + 1]!];
  }

  /** The position of the key, or of the first one behind it. */
  search(key: string): number {
    let [low, high] = [0, this.keys.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  runs(index: number): Run[] {
    const [start, end] = this.bodyAt(index);
    const reader = new ByteReader(this.bytes, start);
    const runs: Run[] = [];
    let reference = this.base;
    while (reader.at < end) {
      const flags = reader.number();
      const runStart = reference + reader.signed();
      reference = runStart;
      const digest = (flags & GONE) === 0 ? reader.text(this.digestSize) : undefined;
      const value = digest === undefined ? NOTHING : reader.raw(reader.number());
      const isCarried = (flags & CARRIED) !== 0;
      const before = isCarried ? reader.number() : 0;
      const lastBefore = isCarried ? runStart + reader.number() : runStart;
      const visitsSize = reader.number();
      const visitsEnd = reader.at + visitsSize;
      const visits = isCarried ? [] : [runStart];
      for (let last = lastBefore; reader.at < visitsEnd; ) {
        last += reader.number();
        visits.push(last);
      }
      runs.push({ start: runStart, digest, value, before, lastBefore, visits });
    }
    return runs;
  }
}

const NOTHING = Buffer.alloc(0);
