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

/** What all entries of one block come to. */
interface Outcome {
  readonly last: JournalEntry;
  /** Former keys from before these entries lead there no more. */
  readonly fresh: boolean;
  readonly formerKeys: readonly string[];
}

/** Gives the entries of blocks that were to be made and never appeared; their requests were never answered. */
export async function redo(
  entries: readonly JournalEntry[],
  files: BlockFiles,
  former: FormerKeys,
): Promise<JournalEntry[]> {
  const outcomes = new Map<string, Outcome>();
  for (const last of entries) {
    const name = formatAddress(last);
    const before = outcomes.get(name);
    const anew = last.deed === "new" || last.references === 0;
    const formerKeys = [...(anew ? [] : (before?.formerKeys ?? [])), ...last.formerKeys];
    // Behind all others: what happened last is done last.
    outcomes.delete(name);
    outcomes.set(name, { last, fresh: anew || before?.fresh === true, formerKeys });
  }
  const all = [...outcomes.values()];
  const forgotten: JournalEntry[] = [];
  for (let at = 0; at < all.length; at += AT_ONCE) {
    const done = await Promise.all(all.slice(at, at + AT_ONCE).map((outcome) => redoOne(outcome, files, former)));
    for (const [i, isDone] of done.entries()) if (!isDone) forgotten.push(all[at + i]!.last);
  }
  return forgotten;
}

/** False where the block was to be made and never appeared. */
async function redoOne({ last, fresh, formerKeys }: Outcome, files: BlockFiles, former: FormerKeys): Promise<boolean> {
  if (last.references === 0) {
    files.drop(last);
    former.redo(last, [], true);
    return true;
  }
  const block: TreeBlock = { ...last, leaving: last.deed === "leave" };
  if (!(await files.restore(block))) {
    former.redo(last, [], fresh);
    // A block that was there and is gone was taken by no crash of ours; the totals will tell.
    return last.deed !== "new";
  }
  // The name may still be on its way to the disk.
  if (fresh) files.syncNames(last);
  former.redo(last, formerKeys, fresh);
  return true;
}
