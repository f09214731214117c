/** Changes as they are where some captures may not be seen. Obeys docs/lifespans.md. */
import type { Change, Lifespan } from "../../archive/index.ts";

/**
 * What happened after one time and up to another. `alive` are the lifespans in between, of all captures, in the order of
 * keys; `history` gives those of a key that follow from what may be seen.
 */
export async function* allowedChanges(
  alive: AsyncIterable<readonly Lifespan[]>,
  history: (key: string) => AsyncIterable<Lifespan>,
  fromMs: number,
  toMs: number,
): AsyncGenerator<readonly Change[]> {
  let last: string | undefined;
  for await (const batch of alive) {
    const shown: Change[] = [];
    for (const { key } of batch) {
      if (key === last) continue;
      last = key;
      let before: Lifespan | undefined;
      for await (const lifespan of history(key)) {
        const { birth } = lifespan;
        if (birth > fromMs && birth <= toMs) shown.push(changeTo(lifespan, before));
        before = lifespan;
      }
    }
    if (shown.length > 0) yield shown;
  }
}

function changeTo(lifespan: Lifespan, before: Lifespan | undefined): Change {
  const [wasThere, isThere] = [before !== undefined && !isError(before), !isError(lifespan)];
  const kind = wasThere === isThere && before !== undefined ? "changed" : wasThere ? "vanished" : "appeared";
  return { kind, key: lifespan.key, timeMs: lifespan.birth, lifespan };
}

function isError({ status }: Lifespan): boolean {
  return status !== undefined && status >= 400;
}
