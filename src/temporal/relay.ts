/**
 * Lays a timeline out anew, as if all visits had come in the order of their times. Where they came in another order, what
 * is alive was copied behind many cuts in time that are not worth it any more.
 */
import type { Disk } from "../disk/index.ts";
import { applyVisits } from "./apply.ts";
import { VisitBatch } from "./batch.ts";
import { copyPages, createEmpty, discard, type Filed } from "./copy.ts";
import { BEGINNING, FOREVER, type PageRef } from "./node.ts";
import type { PageFile } from "./page-file.ts";
import type { Root } from "./slot.ts";

/** Stretches of time in which visits are taken in, at least; more where a stretch would have too many for memory. */
const STRETCHES = 16;
const VISITS_MOST = 250_000;
/** Moments of which one is kept to tell how visits lie in time. */
const MOMENTS = 4096;
/** Visits of which one run would have as much to tell as a change: what copies are measured by. */
const VISITS_OF_RUN = 16;
/** Copies that are not too many, for each run or as many visits. In order there are less than one. */
const COPIES_MOST = 2;
/** A file in the making is copied when more than this is dead, and two thirds. */
const DEAD_LEAST = 64 << 20;

/** Whether there are many more copies than visits in order of time would have made. */
export function hasManyCopies({ copies, entries, visits }: Root): boolean {
  return copies > COPIES_MOST * (entries + visits / VISITS_OF_RUN);
}

/** A partial file with the same visits. */
export function layAnew(disk: Disk, path: string, { pages: from, root }: Filed, cacheBytes: number): Filed {
  let filed = createEmpty(disk, path, root, cacheBytes);
  try {
    const batch = new VisitBatch(root.digestSize);
    const bounds = stretchBounds(from, root);
    for (let i = 1; i < bounds.length; i++) {
      gather(from, root.root, { start: BEGINNING, end: FOREVER }, { start: bounds[i - 1]!, end: bounds[i]! }, batch);
      filed = { pages: filed.pages, root: applyVisits(filed.pages, filed.root, batch.take()) };
      const { live, end } = filed.root;
      const isLast = i === bounds.length - 1;
      if (isLast || end - live > Math.max(DEAD_LEAST, 2 * live)) {
        const copied = copyPages(disk, path, filed, cacheBytes);
        discard(disk, filed.pages);
        filed = copied;
      }
    }
    return filed;
  } catch (error) {
    discard(disk, filed.pages);
    throw error;
  }
}

interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Puts the visits of a stretch of time into a batch. */
function gather(pages: PageFile, ref: PageRef, own: Stretch, asked: Stretch, batch: VisitBatch): void {
  if (own.start >= asked.end || own.end <= asked.start) return;
  if (ref.kind !== "leaf") {
    const node = pages.node(ref);
    for (const [i, child] of node.children.entries()) {
      const start = node.kind === "keys" ? own.start : Math.max(own.start, node.bounds[i]!);
      const end = node.kind === "keys" ? own.end : Math.min(own.end, node.bounds[i + 1] ?? FOREVER);
      gather(pages, child, { start, end }, asked, batch);
    }
    return;
  }
  const leaf = pages.leaf(ref);
  for (const [i, key] of leaf.keys.entries()) {
    for (const { digest, value, visits } of leaf.runs(i)) {
      const bytes = digest === undefined ? undefined : Buffer.from(digest, "latin1");
      for (const time of visits) if (time >= asked.start && time < asked.end) batch.add(key, time, bytes, value);
    }
  }
}

/** Bounds of stretches with about as many visits each. */
function stretchBounds(pages: PageFile, root: Root): number[] {
  const every = Math.max(1, Math.floor(root.visits / MOMENTS));
  const moments: number[] = [];
  let count = 0;
  const look = (ref: PageRef): void => {
    if (ref.kind !== "leaf") {
      for (const child of pages.node(ref).children) look(child);
      return;
    }
    const leaf = pages.leaf(ref);
    for (const i of leaf.keys.keys()) {
      for (const { visits } of leaf.runs(i)) for (const time of visits) if (count++ % every === 0) moments.push(time);
    }
  };
  look(root.root);
  moments.sort((one, other) => one - other);
  const stretches = Math.max(STRETCHES, Math.ceil(root.visits / VISITS_MOST));
  const inner = Array.from(
    { length: stretches - 1 },
    (_, i) => moments[Math.floor(((i + 1) * moments.length) / stretches)]!,
  );
  return [...new Set([BEGINNING, ...inner, FOREVER])];
}
