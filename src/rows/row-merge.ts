/** Rows of several runs as one sequence, in which the newest run that says something of a key is right. */
import type { Row } from "./row-block.ts";
import type { Run } from "./row-run.ts";

/** `runs` have the oldest first. Rows that say that a key was removed are among what is given. */
export function* mergeRows(runs: readonly Run[], from: string, to: string, backwards = false): Generator<Row> {
  const streams = runs.map((run) => (backwards ? run.rowsBack(from, to) : run.rows(from, to))).reverse();
  if (streams.length === 1) {
    yield* streams[0]!;
    return;
  }
  const heads = streams.map((stream) => stream.next().value as Row | undefined);
  for (;;) {
    let best: Row | undefined;
    for (const head of heads) {
      if (head !== undefined && (best === undefined || (backwards ? head.key > best.key : head.key < best.key)))
        best = head;
    }
    if (best === undefined) return;
    yield best;
    for (let i = 0; i < heads.length; i++) {
      if (heads[i]?.key === best.key) heads[i] = streams[i]!.next().value as Row | undefined;
    }
  }
}
