/** What appeared, changed or vanished on a site between two times: one page of it, and how much there is in all. */
import type { Change } from "../../../archive/index.ts";
import { ArchiveError } from "../../../base/index.ts";
import { formatPlaceCursor, parsePlaceCursor, type RowPlace, rowsBehind } from "../../api/cursor.ts";
import { changeRow } from "../../api/rows.ts";
import type { Collection } from "../../collection.ts";

const ROWS_MAX = 100;
/** So many are counted. */
const COUNT_MAX = 10_000;

export interface ChangesQuestion {
  readonly range: { readonly from: string; readonly to: string };
  readonly since: number;
  readonly timeMs: number;
  readonly cursor: string | undefined;
}

export type ChangeCounts = Record<Change["kind"], number>;

export interface SiteChanges {
  readonly since: number;
  readonly changes: readonly Change[];
  readonly next: string | undefined;
  /** From this page on. */
  readonly counts: Readonly<ChangeCounts>;
  readonly isMore: boolean;
  readonly isFirst: boolean;
  json(): object;
}

export async function listChanges(
  collection: Collection,
  { range, since, timeMs, cursor }: ChangesQuestion,
): Promise<SiteChanges> {
  const place = parsePlaceCursor(cursor);
  if (place !== undefined && (place.key < range.from || place.key >= range.to))
    throw new ArchiveError("HT_USAGE", "cursor is of another site");
  const scope = place === undefined ? range : { ...range, from: place.key };
  const counts: ChangeCounts = { appeared: 0, changed: 0, vanished: 0 };
  const changes: Change[] = [];
  let counted = 0;
  for await (const batch of rowsBehind(collection.changes(since, timeMs, scope), place, placeOf)) {
    for (const change of batch) {
      counts[change.kind]++;
      if (changes.length < ROWS_MAX) changes.push(change);
    }
    counted += batch.length;
    if (counted >= COUNT_MAX) break;
  }
  const last = changes.at(-1);
  const next = counted > changes.length && last !== undefined ? formatPlaceCursor(placeOf(last)) : undefined;
  const isMore = counted >= COUNT_MAX;
  const json = () => ({ since, counts, isMore, changes: changes.map(changeRow), next: next ?? null });
  return { since, changes, next, counts, isMore, isFirst: place === undefined, json };
}

function placeOf({ key, timeMs, lifespan }: Change): RowPlace {
  return { key, timeMs, identity: lifespan?.identity ?? "" };
}
