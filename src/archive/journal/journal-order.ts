/**
 * What had come when something was removed. By numbers, not by times: a clock that went wrong must not take from a revisit
 * what it has. Where the journal does not tell, as earlier versions did not, all had come.
 */
import { ADOPTED_SOURCES } from "../catalogue/catalogue-view.ts";
import type { JournalEntry, RemovedCapture } from "./journal.ts";

/** The entry of a removal, by its number, and the last file that had been added by then. */
export interface Removal {
  readonly entry: number;
  readonly lastSource: number;
}

export class JournalOrder {
  /** The entry of each segment's adoption; where a file was moved there is another one later. */
  private readonly adoptions = new Map<number, number>();

  constructor(journal: Iterable<JournalEntry>, onRemoved: (capture: RemovedCapture, removal: Removal) => void) {
    let number = 0;
    for (const entry of journal) {
      number++;
      if (entry.kind === "adopt" && !this.adoptions.has(entry.segment)) this.adoptions.set(entry.segment, number);
      if (entry.kind !== "remove") continue;
      const { lastSource } = entry;
      const all = { entry: Number.POSITIVE_INFINITY, lastSource: Number.POSITIVE_INFINITY };
      const removal = lastSource === undefined ? all : { entry: number, lastSource };
      for (const capture of entry.captures) onRemoved(capture, removal);
    }
  }

  /** Whether the file with this number was there before. */
  isBefore(source: number, { entry, lastSource }: Removal): boolean {
    if (source < ADOPTED_SOURCES) return source <= lastSource;
    return (this.adoptions.get(source - ADOPTED_SOURCES) ?? 0) < entry;
  }
}
