/** Writes pages in place of others: leaves, layouts of what did not fit into one, and the nodes over them. */
import { NO_CHANGES, withChange } from "./change-map.ts";
import { type Layout, layOut } from "./layout.ts";
import type { Leaf } from "./leaf.ts";
import { LeafBuilder } from "./leaf-builder.ts";
import { encodeNode, type Node, type PageRef, type PageSummary, summarize } from "./node.ts";
import type { PageFile } from "./page-file.ts";
import { lastSeen } from "./run.ts";
import type { Settings } from "./slot.ts";

/** The plane that a page covers. */
export interface Area {
  readonly low: string;
  readonly start: number;
  readonly end: number;
}

/** What a page became: one page, or several that divide its keys or its times. */
export interface Pieces {
  readonly divide: "nothing" | "keys" | "times";
  readonly bounds: readonly (string | number)[];
  readonly refs: readonly PageRef[];
}

export class PageWriter {
  readonly file: PageFile;
  readonly settings: Settings;
  readonly builder: LeafBuilder;
  /** Bytes of the pages that are in use. */
  live: number;
  /** Runs in them that are carried. */
  copies: number;

  constructor(
    file: PageFile,
    settings: Settings,
    { live, copies }: { readonly live: number; readonly copies: number },
  ) {
    this.file = file;
    this.settings = settings;
    this.builder = new LeafBuilder(settings.digestSize);
    this.live = live;
    this.copies = copies;
  }

  /** The leaf is not in use any more. */
  dropLeaf(ref: PageRef, leaf: Leaf): void {
    this.file.release(ref);
    this.live -= leaf.bytes.length;
    this.copies -= leaf.carried;
  }

  dropNode(ref: PageRef): void {
    this.file.release(ref);
    this.live -= ref.length;
  }

  appendLeaf(leaf: Leaf, summary: PageSummary): PageRef {
    this.live += leaf.bytes.length;
    this.copies += leaf.carried;
    return this.file.appendLeaf(leaf, summary);
  }

  /** Pages for what a leaf would hold that is too large, or whose history is. */
  layOut(built: Leaf, { low, start, end }: Area): Pieces {
    const entries = built.keys.map((key, i) => ({ key, runs: built.runs(i) }));
    return this.write(layOut(entries, start, end, this.settings), low);
  }

  write(layout: Layout, low: string, kept?: PageRef): Pieces {
    if (layout.kind === "kept") return one(kept!);
    if (layout.kind === "leaf") return one(this.writeEntries(layout));
    const gathered = new Gathering(layout.kind);
    for (const [i, part] of layout.parts.entries()) {
      const bound = layout.bounds[i] === "" ? low : layout.bounds[i]!;
      gathered.add(bound, this.write(part, typeof bound === "string" ? bound : low, kept), this);
    }
    return { divide: layout.kind, bounds: gathered.bounds, refs: gathered.refs };
  }

  private writeEntries({ entries }: Layout & { readonly kind: "leaf" }): PageRef {
    const base = entries[0]?.runs[0]!.start ?? 0;
    let [lastChange, lastVisit, alive, changes] = [base, base, 0, NO_CHANGES];
    this.builder.begin(base);
    for (const { key, runs } of entries) {
      const last = runs.at(-1)!;
      lastChange = Math.max(lastChange, last.start);
      lastVisit = Math.max(lastVisit, lastSeen(last));
      if (last.digest !== undefined) alive++;
      for (const { start, before } of runs) if (before === 0) changes = withChange(changes, start);
      this.builder.put(key, runs);
    }
    return this.appendLeaf(this.builder.finish(lastVisit), { lastChange, alive, changes });
  }

  /** One page that leads to all of the pieces. */
  wrap(pieces: Pieces): PageRef {
    let { divide, bounds, refs } = pieces;
    while (divide !== "nothing") ({ divide, bounds, refs } = this.build(divide, bounds, refs));
    return refs[0]!;
  }

  /** Nodes over pages that divide keys or times: one, or several where one would be too large. */
  build(divide: "keys" | "times", bounds: readonly (string | number)[], refs: readonly PageRef[]): Pieces {
    if (refs.length === 1) return one(refs[0]!);
    const node = { kind: divide, bounds, children: refs } as Node;
    const image = encodeNode(node);
    if (image.length <= this.settings.pageSize || refs.length < 4) return one(this.appendNode(node, image));
    const count = Math.ceil(image.length / (this.settings.pageSize / 2));
    const each = Math.max(2, Math.ceil(refs.length / count));
    const [outer, nodes]: [(string | number)[], PageRef[]] = [[], []];
    for (let at = 0; at < refs.length; at += each) {
      const part = refs.slice(at, at + each);
      const inner = { kind: divide, bounds: bounds.slice(at, at + each), children: part } as Node;
      outer.push(bounds[at]!);
      nodes.push(part.length === 1 ? part[0]! : this.appendNode(inner, encodeNode(inner)));
    }
    return { divide, bounds: outer, refs: nodes };
  }

  private appendNode(node: Node, image: Buffer): PageRef {
    this.live += image.length;
    return this.file.appendNode(node, image, summarize(node.kind, node.children));
  }
}

export function one(ref: PageRef): Pieces {
  return { divide: "nothing", bounds: [""], refs: [ref] };
}

/** The children of a node in the making. What divides the same as the node is taken up into it. */
export class Gathering {
  readonly bounds: (string | number)[] = [];
  readonly refs: PageRef[] = [];
  private readonly divide: "keys" | "times";

  constructor(divide: "keys" | "times") {
    this.divide = divide;
  }

  add(bound: string | number, pieces: Pieces, writer: PageWriter): void {
    if (pieces.divide !== this.divide) {
      this.bounds.push(bound);
      this.refs.push(writer.wrap(pieces));
      return;
    }
    for (const [i, ref] of pieces.refs.entries()) {
      this.bounds.push(i === 0 ? bound : pieces.bounds[i]!);
      this.refs.push(ref);
    }
  }
}
