/**
 * What `verify` found, whatever its number: gathered in any order, told in order of the files. Here is decided which of
 * it was so in the originals already: what lies in a file that proved equal to its original, at a place where nothing was
 * replaced.
 */
import { ERROR_TABLE, type ErrorCode, type Warning } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { LineSorter, type LineSorterOptions } from "../line-sorter.ts";

export interface VerifyProblem extends Warning {
  /** It was so in the originals already, and is no loss of this set. */
  readonly before: boolean;
}

/** A finding on its way: plain data, a line of JSON between threads. */
export interface FoundProblem {
  readonly code: ErrorCode;
  readonly message: string;
  /** Index of the file; those of the originals come behind the others. */
  readonly file: number;
  readonly offset: number;
  /** What it comes from was not so in the originals, whatever stands at this place. */
  readonly fresh?: boolean | undefined;
}

/** How a file compares with its original. */
export interface FileStanding {
  /** Its bytes outside of what was replaced are those of the original. */
  readonly equal: boolean;
}

/** A revisit without original is no damage to whoever looks at one file; here it is a promise that does not hold. */
export function isProblem(code: ErrorCode): boolean {
  return ERROR_TABLE[code].kind !== "note" || code === "HT_REVISIT_ORPHAN";
}

const DIGITS = 16;

/** A touched place sorts before a finding at the same offset. */
const TOUCHED = "0";
const FOUND = "1";

export class ProblemList implements Disposable {
  private readonly sorter: LineSorter;

  constructor(disk: Disk, options: LineSorterOptions) {
    this.sorter = new LineSorter(disk, options);
  }

  add(problem: FoundProblem): void {
    this.sorter.add(`${placeKey(problem.file, problem.offset)}\t${FOUND}\t${JSON.stringify(problem)}`);
  }

  /** The record at this place is not in the original as it is here. */
  touch(file: number, offset: number, length: number): void {
    this.sorter.add(`${placeKey(file, offset)}\t${TOUCHED}\t${length}`);
  }

  /** In order of files and offsets. May be called once. */
  *sorted(names: readonly string[], standings: ReadonlyMap<number, FileStanding>): Generator<VerifyProblem> {
    let touched = { file: -1, end: 0 };
    for (const line of this.sorter.sortedLines()) {
      const [file, offset, kind] = line.split("\t", 3);
      const value = line.slice(file!.length + offset!.length + 4);
      if (kind === TOUCHED) {
        touched = { file: Number(file), end: Number(offset) + Math.max(1, Number(value)) };
        continue;
      }
      const problem = JSON.parse(value) as FoundProblem;
      const isTouched = touched.file === problem.file && problem.offset < touched.end;
      const before = problem.fresh !== true && wasBefore(problem, isTouched, standings.get(problem.file));
      const { code, message } = problem;
      yield { code, message, file: names[problem.file]!, offset: problem.offset, before };
    }
  }

  [Symbol.dispose](): void {
    this.sorter[Symbol.dispose]();
  }
}

function placeKey(file: number, offset: number): string {
  return `${String(file).padStart(DIGITS, "0")}\t${String(offset).padStart(DIGITS, "0")}`;
}

const COMPARISON: ReadonlySet<ErrorCode> = new Set(["HT_LOST", "HT_ADDED", "HT_ORDER", "HT_RECOMPRESSED"]);

/** A revisit of ours has these from the record whose place it took; what is ours in its header has codes of its own. */
const INHERITED: ReadonlySet<ErrorCode> = new Set(["HT_FIELD_MISSING", "HT_FIELD_INVALID"]);

/** A revisit stands where it stood unless its place was touched; of damage that is known only where all bytes are equal. */
function wasBefore({ code }: FoundProblem, isTouched: boolean, standing: FileStanding | undefined): boolean {
  if (standing === undefined || COMPARISON.has(code)) return false;
  if (isTouched) return standing.equal && INHERITED.has(code);
  return standing.equal || code.startsWith("HT_REVISIT_");
}
