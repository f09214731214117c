/** Which two versions of a URL are compared: those at two times, or the last and the one before it. */
import type { Capture, Lifespan, Moment } from "../../../archive/index.ts";
import { ArchiveError } from "../../../base/index.ts";
import { archivedUrl } from "../../archived-url.ts";
import { nothingSeen } from "../../replay/memento-answer.ts";
import type { Asked } from "../../route.ts";
import { exactStamp, type PageQuery } from "../query.ts";

export interface ComparedVersion {
  readonly lifespan: Lifespan;
  /** Shows it. */
  readonly capture: Capture;
}

export interface ComparedVersions {
  readonly url: string;
  readonly before: ComparedVersion;
  readonly after: ComparedVersion;
  /** Lifespans to choose from, in order: of very many, those around the two. */
  readonly choices: readonly Lifespan[];
  /** Lifespans in all. */
  readonly count: number;
}

const CHOICES_MAX = 200;

/** HT_NOT_FOUND or HT_BLOCKED where one of them is not to be seen; HT_USAGE without a URL. */
export async function askedVersions({ collection }: Asked, query: PageQuery): Promise<ComparedVersions> {
  const url = archivedUrl(query.required("url"));
  if (url === undefined) throw new ArchiveError("HT_USAGE", "url is not a URL");
  const lifespans: Lifespan[] = [];
  for await (const batch of collection.history(url)) lifespans.push(...batch);
  const [a, b] = [query.time("a"), query.time("b")];
  const lastMs = b ?? lifespans.at(-1)?.birth;
  if (lastMs === undefined) throw await nothingSeen(collection, url, "valid");
  const at = async (timeMs: number): Promise<Moment> => {
    const moment = await collection.at(url, timeMs);
    if (moment === undefined) throw await nothingSeen(collection, url, "valid");
    return moment;
  };
  const after = await at(lastMs);
  const earlier = lifespans.filter(({ birth }) => birth < after.lifespan.birth).at(-1);
  const before = a === undefined && earlier === undefined ? after : await at(a ?? earlier!.birth);
  return { url, before, after, choices: chosenFrom(lifespans, before, after), count: lifespans.length };
}

/** Of the moment that it was found first, with milliseconds. */
export function stampOf({ birth }: Lifespan): string {
  return exactStamp(birth);
}

function chosenFrom(all: readonly Lifespan[], before: Moment, after: Moment): readonly Lifespan[] {
  if (all.length <= CHOICES_MAX) return all;
  const isOne = ({ birth }: Lifespan) => birth === before.lifespan.birth || birth === after.lifespan.birth;
  const middle = all.findIndex(isOne);
  const start = Math.max(0, Math.min(all.length - CHOICES_MAX, middle - CHOICES_MAX / 2));
  return all.filter((lifespan, i) => (i >= start && i < start + CHOICES_MAX) || isOne(lifespan));
}
