/** What has happened in an archive, and what the journal has to say of it with the next commit. */
import type { HealEntry, ReadmitEntry, RemovedCapture, RemovedNote, RemoveEntry } from "./journal.ts";

interface Told {
  readonly captures: RemovedCapture[];
  readonly notes: RemovedNote[];
}

export class Untold {
  /** They were removed, and have come back. */
  readonly readmitted: Told = { captures: [], notes: [] };
  /** They could not be read any more where they lay, and lie elsewhere now. */
  readonly healed: Told = { captures: [], notes: [] };
  /** They belong to captures that were removed before they came, and lie in files that were adopted. */
  readonly refused: RemovedNote[] = [];

  get isEmpty(): boolean {
    const { readmitted, healed, refused } = this;
    return [readmitted.captures, readmitted.notes, healed.captures, healed.notes, refused].every(
      ({ length }) => length === 0,
    );
  }

  /** Until the journal says so, a rebuild would not know of it. Nothing is left to tell afterwards. */
  take(time: string): (RemoveEntry | ReadmitEntry | HealEntry)[] {
    const entries: (RemoveEntry | ReadmitEntry | HealEntry)[] = [];
    for (const [kind, { captures, notes }] of [
      ["readmit", this.readmitted],
      ["heal", this.healed],
    ] as const) {
      if (captures.length + notes.length === 0) continue;
      const told = { kind, time, captures: captures.splice(0) };
      entries.push(notes.length === 0 ? told : { ...told, notes: notes.splice(0) });
    }
    const refused = this.refused.splice(0);
    const told = { kind: "remove", time, reason: "belongs to what was removed", selection: "adopted files" } as const;
    if (refused.length > 0) entries.push({ ...told, captures: [], notes: refused });
    return entries;
  }
}
