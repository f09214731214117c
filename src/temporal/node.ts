/**
 * Nodes: pages that lead to others. A key node divides its range of keys among its children, a time node its stretch of
 * time; each child has all of the other dimension. So the leaves divide the plane of keys and times, and every point
 * lies in exactly one of them.
 */
import { ArchiveError } from "../base/index.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { type ChangeMap, NO_CHANGES, unite } from "./change-map.ts";
import { sharedLength } from "./leaf.ts";

export const KEY_NODE_TYPE = 2;
export const TIME_NODE_TYPE = 3;

export type PageKind = "leaf" | "keys" | "times";

/** What is worth knowing of a page before it is read. */
export interface PageSummary {
  /** The last time at which something began or ended in it; nothing changed later. */
  readonly lastChange: number;
  /** Keys that hold something where its stretch of time ends. */
  readonly alive: number;
  readonly changes: ChangeMap;
}

/** Where a page is, and what it is. */
export interface PageRef extends PageSummary {
  readonly kind: PageKind;
  readonly offset: number;
  readonly length: number;
}

export interface KeyNode {
  readonly kind: "keys";
  /** The lowest key of each child; that of the first is the node's own. */
  readonly bounds: readonly string[];
  readonly children: readonly PageRef[];
}

export interface TimeNode {
  readonly kind: "times";
  /** The first time of each child; that of the first is the node's own. */
  readonly bounds: readonly number[];
  readonly children: readonly PageRef[];
}

export type Node = KeyNode | TimeNode;

const KINDS: readonly PageKind[] = ["leaf", "keys", "times"];

/** The beginning of time, so to say: no visit is earlier. */
export const BEGINNING = -(2 ** 52);
/** No visit is as late. */
export const FOREVER = 2 ** 52;

/** Nodes are encoded one at a time. */
const writer = new ByteWriter(1 << 12);

export function encodeNode(node: Node): Buffer {
  writer.length = 0;
  writer.byte(node.kind === "keys" ? KEY_NODE_TYPE : TIME_NODE_TYPE);
  writer.number(node.children.length);
  let key = "";
  let time = 0;
  for (const [i, { kind, offset, length, lastChange, alive, changes }] of node.children.entries()) {
    if (node.kind === "keys") {
      const bound = node.bounds[i]!;
      const shared = sharedLength(key, bound);
      writer.number(shared);
      writer.number(bound.length - shared);
      writer.text(bound, shared);
      key = bound;
    } else {
      writer.signed(node.bounds[i]! - time);
      time = node.bounds[i]!;
    }
    writer.byte(KINDS.indexOf(kind));
    writer.number(offset);
    writer.number(length);
    writer.signed(lastChange);
    writer.number(alive);
    writer.byte(changes.scale);
    writer.signed(changes.first);
    writer.number(changes.bits);
  }
  return writer.finish();
}

export function decodeNode(bytes: Buffer): Node {
  const reader = new ByteReader(bytes);
  const type = reader.number();
  const count = reader.number();
  if ((type !== KEY_NODE_TYPE && type !== TIME_NODE_TYPE) || !(count <= bytes.length)) {
    throw new ArchiveError("HT_CORRUPT", "not a node");
  }
  const keys: string[] = [];
  const times: number[] = [];
  const children: PageRef[] = [];
  let key = "";
  let time = 0;
  for (let i = 0; i < count; i++) {
    if (type === KEY_NODE_TYPE) {
      const shared = reader.number();
      key = key.slice(0, shared) + reader.text(reader.number());
      keys.push(key);
    } else {
      time += reader.signed();
      times.push(time);
    }
    const kind = KINDS[reader.number()];
    if (kind === undefined) throw new ArchiveError("HT_CORRUPT", "a node with a child of no known kind");
    const [offset, length, lastChange, alive] = [reader.number(), reader.number(), reader.signed(), reader.number()];
    const changes = { scale: reader.number(), first: reader.signed(), bits: reader.number() };
    children.push({ kind, offset, length, lastChange, alive, changes });
  }
  if (reader.at !== bytes.length) throw new ArchiveError("HT_CORRUPT", "a node that does not end where it should");
  return type === KEY_NODE_TYPE ? { kind: "keys", bounds: keys, children } : { kind: "times", bounds: times, children };
}

/** Which child has this key or time: the last whose bound is not behind it. */
export function childAt<T extends string | number>(bounds: readonly T[], at: T): number {
  let [low, high] = [0, bounds.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (bounds[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** What is worth knowing about the children of a node, as one. Alive at the end are those of the last stretch. */
export function summarize(kind: "keys" | "times", children: readonly PageRef[]): PageSummary {
  let [lastChange, alive, changes] = [-FOREVER, 0, NO_CHANGES];
  for (const child of children) {
    lastChange = Math.max(lastChange, child.lastChange);
    alive = kind === "keys" ? alive + child.alive : child.alive;
    changes = unite(changes, child.changes);
  }
  return { lastChange, alive, changes };
}
