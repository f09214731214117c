/**
 * After a crash: what the journal says was decided is done, again or for the first time. Entries have absolute counters,
 * so that doing them twice is doing them once.
 */
import { formatAddress } from "../content-key.ts";
import type { BlockFiles, TreeBlock } from "./block-files.ts";
import type { FormerKeys } from "./former-keys.ts";
import type { JournalEntry } from "./journal-line.ts";

/** Files synced at once. */
const AT_ONCE = 16;

/** Gives the entries of blocks that were to be made and never appeared; their requests were never answered. */
export async function redo(
  entries: readonly JournalEntry[],
  files: BlockFiles,
  former: FormerKeys,
): Promise<JournalEntry[]> {
  const last = new Map<string, JournalEntry>();
  /** Blocks that were made: their names may still be on their way to the disk. */
  const made = new Set<string>();
  for (const entry of entries) {
    const name = formatAddress(entry);
    if (entry.deed === "new") made.add(name);
    // Behind all others: what happened last is done last.
    last.delete(name);
    last.set(name, entry);
  }
  const all = [...last];
  const forgotten = new Set<JournalEntry>();
  for (let at = 0; at < all.length; at += AT_ONCE) {
    await Promise.all(
      all.slice(at, at + AT_ONCE).map(async ([name, entry]) => {
        if (!(await redoBlock(entry, files, made.has(name)))) forgotten.add(entry);
      }),
    );
  }
  // A key may have been led from one block to another, so these are done one after the other, as they were.
  for (const entry of entries) {
    const fresh = entry.deed === "new" || entry.references === 0;
    former.redo(entry, forgotten.has(entry) ? [] : entry.formerKeys, fresh);
  }
  return [...forgotten];
}

/** False where the block was to be made and never appeared. */
async function redoBlock(entry: JournalEntry, files: BlockFiles, made: boolean): Promise<boolean> {
  if (entry.references === 0) {
    files.drop(entry);
    return true;
  }
  const block: TreeBlock = { ...entry, leaving: entry.deed === "leave" };
  // A block that was there and is gone was taken by no crash of ours; the totals will tell.
  if (!(await files.restore(block))) return entry.deed !== "new";
  if (made) files.syncNames(entry);
  return true;
}
