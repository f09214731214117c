/** Tells the revisits of a set of files whose originals are not in the set, whatever the number of records. */
import type { Disk } from "../disk/index.ts";
import type { RecordCheck } from "./check.ts";
import { LineSorter } from "./line-sorter.ts";

export interface Orphan {
  readonly file: string;
  readonly offset: number;
  readonly refersTo: string;
}

/** Gathers what records hold and refer to, and joins the two by sorting. */
export class OrphanFinder implements Disposable {
  private readonly sorter: LineSorter;
  private revisits = 0;

  constructor(disk: Disk) {
    this.sorter = new LineSorter(disk);
  }

  add(check: RecordCheck): void {
    // JSON keeps tabs and line ends out of a key. 0 sorts before 1: holders come before those who refer to them.
    for (const key of check.holds) this.sorter.add(`${JSON.stringify(key)}\t0`);
    if (check.refersTo === undefined) return;
    this.revisits++;
    this.sorter.add(`${JSON.stringify(check.refersTo)}\t1\t${JSON.stringify([check.file, check.offset])}`);
  }

  *orphans(): Generator<Orphan> {
    if (this.revisits === 0) return;
    let held: string | undefined;
    for (const line of this.sorter.sortedLines()) {
      const [key, kind, place] = line.split("\t");
      if (kind === "0") held = key;
      else if (kind === "1" && key !== held) {
        const [file, offset] = JSON.parse(place!) as [string, number];
        yield { file, offset, refersTo: JSON.parse(key!) as string };
      }
    }
  }

  [Symbol.dispose](): void {
    this.sorter[Symbol.dispose]();
  }
}
