/**
 * Revisits that came when the payload that they mean had been removed, and nothing had it any more. As long as no
 * compaction has come by, its record still lies in a segment. When everything is made anew, that leads those to their
 * payload that had it before the removal; it must not bring it back for who came later.
 */
import { timeOf } from "../catalogue/capture-key.ts";
import { DIGEST_HALF } from "../catalogue/capture-row.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";
import type { JournalEntry } from "../journal/journal.ts";
import { JournalOrder, type Removal } from "../journal/journal-order.ts";

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
  const last = new Map<string, Removal>();
  const order = new JournalOrder(journal, ({ sha256 }, removal) => {
    const payload = sha256?.slice(0, 2 * DIGEST_HALF);
    if (payload !== undefined && late.has(payload)) last.set(payload, removal);
  });
  return [...late].flatMap(([payload, revisits]) => {
    const removal = last.get(payload);
    const isKept = removal === undefined || revisits.some(({ row }) => order.isBefore(row.source, removal));
    return isKept ? [] : revisits;
  });
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
