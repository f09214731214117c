/** Finds the revisits of a set of files whose originals are not in the set, whatever the number of records. */
import type { Disk } from "../disk/index.ts";
import { isRevisitText } from "./capture-line.ts";
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
  private revisits = 0;

  constructor(disk: Disk) {
    this.spool = new CaptureSpool(disk);
    this.join = new ReferenceJoin(disk);
  }

  /** Takes a line of the task `check`, and gives what it says of the record. Those of one file come together. */
  take(line: string): RecordCheck {
    const tab = line.indexOf("\t");
    const check = JSON.parse(line.slice(0, tab)) as RecordCheck;
    if (tab + 1 === line.length) return check;
    if (this.files.at(-1) !== check.file) this.files.push(check.file);
    const text = line.slice(tab + 1);
    if (isRevisitText(text)) this.revisits++;
    this.spool.add(this.files.length - 1, text);
    return check;
  }

  /** May be called once. */
  *orphans(): Generator<Orphan> {
    if (this.revisits === 0) return;
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
