/**
 * How much an archive has, as a whole and by crawl, host, media type or year. One pass over the captures; nothing is
 * held but the sums.
 *
 * A content is counted once: in the group of the capture whose record holds it for all others. So the groups add up to
 * the whole, and a group says what it brought, not what it would have by itself. Where that capture was removed, and the
 * record is kept for others, the content is in no group.
 */
import { hostOf } from "../../url/index.ts";
import { urlKeyOf } from "../catalogue/capture-key.ts";
import { DIGEST_HALF, isHolder, isSamePlace } from "../catalogue/capture-row.ts";
import type { CatalogueView, FoundCapture } from "../catalogue/catalogue-view.ts";
import { PAUSE, PAUSE_ROWS } from "./pause.ts";
import type { Snapshot } from "./snapshot.ts";

export interface Figures {
  captures: number;
  /** Distinct payloads. */
  contents: number;
  /** Of the payloads of all captures. */
  bytesSeen: number;
  /** Of the payloads in records that hold theirs, and are no revisits. */
  bytesKept: number;
}

export const STATS_GROUPS = ["crawl", "host", "mime", "year"] as const;
export type StatsGroup = (typeof STATS_GROUPS)[number];

export interface NamedFigures extends Figures {
  readonly name: string;
}

export interface ArchiveTotals extends Figures {
  /** Revisits whose originals are not there. They are captures without a content. */
  readonly pending: number;
  readonly segments: number;
  /** Of our own segments: records as they lie on disk, of all kinds. */
  readonly segmentBytes: number;
  /** Files that stay where they are. */
  readonly adopted: number;
  readonly adoptedBytes: number;
}

/** So many media types are told apart; what comes later is counted under `other`. */
const MIMES_MAX = 10_000;
const NONE = "-";
const OTHER = "other";

function noFigures(): Figures {
  return { captures: 0, contents: 0, bytesSeen: 0, bytesKept: 0 };
}

/** All captures, with pauses. */
function* walk(catalogue: CatalogueView): Generator<FoundCapture | typeof PAUSE> {
  let rows = 0;
  for (const found of catalogue.allCaptures()) {
    if (++rows % PAUSE_ROWS === 0) yield PAUSE;
    yield found;
  }
}

export function* archiveTotals({ catalogue }: Snapshot): Generator<typeof PAUSE, ArchiveTotals> {
  const figures = noFigures();
  for (const found of walk(catalogue)) {
    if (found === PAUSE) yield PAUSE;
    else count(catalogue, found, figures);
  }
  figures.contents = yield* countContents(catalogue);
  let [segments, segmentBytes, adopted, adoptedBytes] = [0, 0, 0, 0];
  for (const { row } of catalogue.segments()) {
    if (row.adopted === undefined) {
      segments++;
      segmentBytes += row.end;
    } else {
      adopted++;
      adoptedBytes += row.adopted.size;
    }
  }
  return { ...figures, pending: catalogue.state.pending, segments, segmentBytes, adopted, adoptedBytes };
}

/** Those too whose own captures were removed, and that are kept for others. */
function* countContents(catalogue: CatalogueView): Generator<typeof PAUSE, number> {
  let [contents, rows] = [0, 0];
  let last: Buffer | undefined;
  // Of one payload there may be an original of each framing.
  for (const { digest } of catalogue.allOriginals()) {
    if (++rows % PAUSE_ROWS === 0) yield PAUSE;
    if (last?.equals(digest) !== true) contents++;
    last = digest;
  }
  return contents;
}

/** Crawls (the files that captures came with) in the order in which they came, hosts by key, the others by name. */
export function* archiveStats({ catalogue }: Snapshot, by: StatsGroup): Answers {
  if (by === "host") yield* byHost(catalogue);
  else if (by === "crawl")
    yield* byNumber(
      catalogue,
      ({ row }) => row.source,
      (number) => catalogue.source(number)?.name,
    );
  else if (by === "year") yield* byNumber(catalogue, yearOf, (year) => `${year}`);
  else yield* byMime(catalogue);
}

type Answers = Generator<NamedFigures | typeof PAUSE>;

function yearOf({ timeMs }: FoundCapture): number {
  return new Date(timeMs).getUTCFullYear();
}

function* byNumber(
  catalogue: CatalogueView,
  numberOf: (found: FoundCapture) => number,
  nameOf: (number: number) => string | undefined,
): Answers {
  const groups = new Map<number, Figures>();
  for (const found of walk(catalogue)) {
    if (found === PAUSE) yield PAUSE;
    else count(catalogue, found, groupOf(groups, numberOf(found)));
  }
  for (const [number, figures] of [...groups].sort(([one], [other]) => one - other))
    yield { name: nameOf(number) ?? NONE, ...figures };
}

/** Keys of one host stand together, so that only one is held; those that have none are among all others. */
function* byHost(catalogue: CatalogueView): Answers {
  let [name, figures] = [NONE, noFigures()];
  const none = noFigures();
  for (const found of walk(catalogue)) {
    if (found === PAUSE) {
      yield PAUSE;
      continue;
    }
    const host = hostOf(urlKeyOf(found.key));
    if (host !== undefined && host !== name) {
      if (figures.captures > 0) yield { name, ...figures };
      [name, figures] = [host, noFigures()];
    }
    count(catalogue, found, host === undefined ? none : figures);
  }
  if (figures.captures > 0) yield { name, ...figures };
  if (none.captures > 0) yield { name: NONE, ...none };
}

function* byMime(catalogue: CatalogueView): Answers {
  const groups = new Map<string, Figures>();
  for (const found of walk(catalogue)) {
    if (found === PAUSE) {
      yield PAUSE;
      continue;
    }
    const { mime = NONE } = found.row;
    count(catalogue, found, groupOf(groups, groups.has(mime) || groups.size < MIMES_MAX ? mime : OTHER));
  }
  for (const name of [...groups.keys()].sort()) yield { name, ...groups.get(name)! };
}

function groupOf<K>(groups: Map<K, Figures>, name: K): Figures {
  const there = groups.get(name);
  if (there !== undefined) return there;
  const figures = noFigures();
  groups.set(name, figures);
  return figures;
}

function count(catalogue: CatalogueView, { row }: FoundCapture, figures: Figures): void {
  figures.captures++;
  const { payload } = row;
  if (payload === undefined) return;
  figures.bytesSeen += payload.size;
  if (!isHolder(row) || row.kind === "replaced") return;
  figures.bytesKept += payload.size;
  const half = payload.sha256.subarray(0, DIGEST_HALF);
  if (isSamePlace(row.place, catalogue.anyOriginal(half)?.place)) figures.contents++;
}
