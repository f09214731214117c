/** A site as a table for spreadsheets: every URL as of a day, or every change between two days. Streams, whatever its size. */
import type { Change, Lifespan } from "../../../archive/index.ts";
import { formatIso } from "../../../base/index.ts";
import { csvLine } from "../../../markup/index.ts";
import type { Collection } from "../../collection.ts";
import type { SiteQuestion } from "./site-question.ts";

const CONTENT = ["url", "status", "mime", "size", "sha256", "since", "captured last", "captures"] as const;

function contentCells(lifespan: Lifespan): (string | number | undefined)[] {
  const { url, status, mime, payloadSize, sha256, birth, lastSeen, captures } = lifespan;
  return [url, status, mime, payloadSize, sha256, formatIso(birth), formatIso(lastSeen), captures];
}

/** All that is below the folder that is asked for. */
export async function* treeCsv(
  collection: Collection,
  { timeMs, mime }: SiteQuestion,
  range: { readonly from: string; readonly to: string },
): AsyncGenerator<string> {
  yield csvLine(CONTENT);
  for await (const batch of collection.slice(timeMs, { ...range, mime }))
    yield batch.map((lifespan) => csvLine(contentCells(lifespan))).join("");
}

export async function* changesCsv(
  collection: Collection,
  { timeMs, range }: SiteQuestion,
  since: number,
): AsyncGenerator<string> {
  yield csvLine(["change", "time", "key", ...CONTENT]);
  const cells = ({ kind, timeMs: changedMs, key, lifespan }: Change) => [
    kind,
    formatIso(changedMs),
    key,
    ...(lifespan === undefined ? [] : contentCells(lifespan)),
  ];
  for await (const batch of collection.changes(since, timeMs, range))
    yield batch.map((change) => csvLine(cells(change))).join("");
}
