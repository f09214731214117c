/** Finds for each file the ledger that deduplication left of it, also where the files have been moved since. */
import { basename, dirname, relative, resolve } from "node:path";
import { ArchiveError, type Warning } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { JobState } from "../job-folder.ts";
import { type LedgerHead, readLedger } from "../ledger.ts";
import { readTextLines } from "../text-lines.ts";

interface Shelved {
  readonly path: string;
  readonly head: LedgerHead;
  /** Where its file should be: where it was written, and the same place beside the job folder as that is now. */
  readonly places: readonly string[];
}

export class LedgerShelf {
  private readonly byName = new Map<string, Shelved[]>();
  private readonly disk: Disk;
  private readonly onWarning: (warning: Warning) => void;

  /** `folders` are job folders; one that is not there holds nothing. A ledger that cannot be read is told and left out. */
  constructor(disk: Disk, folders: readonly string[], onWarning: (warning: Warning) => void) {
    this.disk = disk;
    this.onWarning = onWarning;
    for (const folder of new Set(folders)) {
      const ledgers = `${folder}/ledger`;
      if (disk.stat(ledgers)?.kind !== "folder") continue;
      const output = this.outputOf(folder);
      for (const { name } of disk.list(ledgers)) {
        if (name.endsWith(".tsv")) this.take(`${ledgers}/${name}`, dirname(folder), output);
      }
    }
  }

  /** The folder that the job wrote into, as it was named then; absent where it worked in place. */
  private outputOf(folder: string): string | undefined {
    const path = `${folder}/job.json`;
    if (this.disk.stat(path) === undefined) return undefined;
    const [line = ""] = readTextLines(this.disk, path);
    try {
      const { output } = (JSON.parse(line) as JobState).settings;
      return typeof output === "string" ? output : undefined;
    } catch (cause) {
      this.onWarning({
        code: "HT_CORRUPT",
        message: `not the state of a job: ${String(cause)}`,
        file: path,
        offset: 0,
      });
      return undefined;
    }
  }

  private take(path: string, beside: string, output: string | undefined): void {
    try {
      const head = readLedger(this.disk, path)!.head;
      const places = [resolve(head.output.path)];
      if (output !== undefined) places.push(resolve(beside, relative(output, head.output.path)));
      const name = basename(head.output.path);
      const there = this.byName.get(name);
      if (there === undefined) this.byName.set(name, [{ path, head, places }]);
      else there.push({ path, head, places });
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.code !== "HT_CORRUPT") throw error;
      this.onWarning({ code: error.code, message: error.message, file: path, offset: 0 });
    }
  }

  /** The ledger of the file at `path`; absent where there is none, or no telling which. */
  find(path: string, size: number): string | undefined {
    const shelved = this.byName.get(basename(path)) ?? [];
    const whole = resolve(path);
    const here = shelved.filter(({ places }) => places.includes(whole));
    const sized = (here.length > 0 ? here : shelved).filter(({ head }) => head.output.size === size);
    if (sized.length === 0) return here.length === 1 ? here[0]!.path : undefined;
    const shared = sized.map(({ head }) => sharedNames(whole, resolve(head.output.path)));
    const most = Math.max(...shared);
    const best = sized.filter((_, i) => shared[i] === most);
    return best.length === 1 ? best[0]!.path : undefined;
  }
}

/**
 * What is wrong with a ledger; absent where it holds. Input and output differ by what was replaced, so one that lost a
 * line does not add up.
 */
export function checkLedger(disk: Disk, path: string): string | undefined {
  try {
    const { head, entries } = readLedger(disk, path)!;
    let size = head.output.size;
    for (const { inputLength, outputLength } of entries) size += inputLength - outputLength;
    return size === head.input.size ? undefined : "its entries do not add up to the size of the input";
  } catch (error) {
    if (error instanceof ArchiveError && error.code === "HT_CORRUPT") return error.message;
    throw error;
  }
}

/** How many names two paths share, counted from their ends. */
function sharedNames(one: string, other: string): number {
  const [left, right] = [one.split("/").reverse(), other.split("/").reverse()];
  let count = 0;
  while (count < left.length && count < right.length && left[count] === right[count]) count++;
  return count;
}
