/**
 * Revisits that came when the payload that they mean had been removed, and nothing had it any more. As long as no
 * compaction has come by, its record still lies in a segment. When everything is made anew, that leads those to their
 * payload that had it before the removal; it must not bring it back for who came later.
 */
import { timeOf } from "./capture-key.ts";
import { DIGEST_HALF } from "./capture-row.ts";
import type { Catalogue } from "./catalogue.ts";
import { ADOPTED_SOURCES, type FoundCapture } from "./catalogue-view.ts";
import type { JournalEntry } from "./journal.ts";

/** When a payload was removed last. */
interface LastRemoval {
  readonly entry: number;
  readonly lastSource: number;
}

/** Those that have one of the payloads, of which records were removed. Everything must have been committed. */
export function lateRevisits(
  catalogue: Catalogue,
  removed: Iterable<Buffer>,
  journal: Iterable<JournalEntry>,
): FoundCapture[] {
  const late = new Map<string, FoundCapture[]>();
  for (const digest of removed) {
    const revisits = onlyRevisits(catalogue, digest);
    if (revisits.length > 0) late.set(digest.toString("hex"), revisits);
  }
  if (late.size === 0) return [];
  const { removals, adoptions } = readOrder(journal, late);
  const cameBefore = ({ entry, lastSource }: LastRemoval, { row: { source } }: FoundCapture) =>
    source < ADOPTED_SOURCES ? source <= lastSource : (adoptions.get(source - ADOPTED_SOURCES) ?? 0) < entry;
  return [...late].flatMap(([payload, revisits]) => {
    const removal = removals.get(payload);
    return removal === undefined || revisits.some((found) => cameBefore(removal, found)) ? [] : revisits;
  });
}

/**
 * By numbers, not by times: a clock that went wrong must not take from a revisit what it has. Where the journal does not
 * tell what had come, all had.
 */
function readOrder(journal: Iterable<JournalEntry>, payloads: ReadonlyMap<string, unknown>) {
  const removals = new Map<string, LastRemoval>();
  /** The entry of each segment's adoption; where a file was moved there is another one later. */
  const adoptions = new Map<number, number>();
  let number = 0;
  for (const entry of journal) {
    number++;
    if (entry.kind === "adopt" && !adoptions.has(entry.segment)) adoptions.set(entry.segment, number);
    if (entry.kind !== "remove") continue;
    const { lastSource = Number.POSITIVE_INFINITY } = entry;
    const removal = { entry: entry.lastSource === undefined ? Number.POSITIVE_INFINITY : number, lastSource };
    for (const { sha256 } of entry.captures) {
      const payload = sha256?.slice(0, 2 * DIGEST_HALF);
      if (payload !== undefined && payloads.has(payload)) removals.set(payload, removal);
    }
  }
  return { removals, adoptions };
}

/** The captures with this payload, unless one of them has or had it with it. */
function onlyRevisits(catalogue: Catalogue, digest: Buffer): FoundCapture[] {
  const revisits: FoundCapture[] = [];
  for (const key of catalogue.seen(digest)) {
    const row = catalogue.capture(key)!;
    if (row.kind !== "revisit") return [];
    revisits.push({ key, timeMs: timeOf(key), row });
  }
  return revisits;
}
