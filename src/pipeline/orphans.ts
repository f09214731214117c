/** Finds the revisits of a set of files whose originals are not in the set, whatever the number of records. */
import type { Disk } from "../disk/index.ts";
import { CaptureSpool } from "./capture-spool.ts";
import type { RecordCheck } from "./check.ts";
import { isOrphan, type JoinedRevisit, ReferenceJoin } from "./reference-join.ts";

export interface Orphan {
  readonly file: string;
  readonly offset: number;
  readonly refersTo: string;
}

export class OrphanFinder implements Disposable {
  private readonly spool: CaptureSpool;
  private readonly join: ReferenceJoin;
  private readonly files: string[] = [];

  constructor(disk: Disk) {
    this.spool = new CaptureSpool(disk);
    this.join = new ReferenceJoin(disk);
  }

  /** Records of one file come together. */
  add({ file, capture }: Pick<RecordCheck, "file" | "capture">): void {
    if (capture === undefined) return;
    if (this.files.at(-1) !== file) this.files.push(file);
    this.spool.add(this.files.length - 1, JSON.stringify(capture));
  }

  /** May be called once. */
  *orphans(): Generator<Orphan> {
    this.join.fill(() => this.spool.lines());
    for (const joined of this.join.joined()) {
      const { file, offset } = joined.revisit;
      if (isOrphan(joined)) yield { file: this.files[file]!, offset, refersTo: describeReference(joined) };
    }
  }

  [Symbol.dispose](): void {
    this.spool[Symbol.dispose]();
    this.join[Symbol.dispose]();
  }
}

/** What a revisit refers to, in words. */
export function describeReference({ revisit, reference }: JoinedRevisit): string {
  if (reference.kind !== "named") return `what ${revisit.uri} held before ${revisit.date}`;
  const { capture, id, digest } = reference;
  if (capture !== undefined) return `${revisit.refersTo?.uri} of ${revisit.refersTo?.date}`;
  return id ?? digest ?? "it names none";
}
