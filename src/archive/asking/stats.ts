/**
 * How much an archive has, as a whole and by crawl, host, media type or year. One pass over the captures; nothing is
 * held but the sums.
 *
 * A content is counted once: in the group of the capture whose record holds it for all others. So the groups add up to
 * the whole, and a group says what it brought, not what it would have by itself. Where that capture was removed, and the
 * record is kept for others, the content is in no group.
 */
import { hostOf } from "../../url/index.ts";
import type { RecordPlace } from "../catalogue/capture-row.ts";
import type { CatalogueView, FoundCapture } from "../catalogue/catalogue-view.ts";
import type { Archive, Lifespan } from "./archive.ts";

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
const FIRST_MS = -(2 ** 51);
const LAST_MS = 2 ** 51 - 1;

function noFigures(): Figures {
  return { captures: 0, contents: 0, bytesSeen: 0, bytesKept: 0 };
}

export function archiveTotals({ catalogue }: Archive): ArchiveTotals {
  const figures = noFigures();
  for (const found of catalogue.allCaptures()) count(catalogue, found, figures);
  figures.contents = countContents(catalogue);
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
function countContents(catalogue: CatalogueView): number {
  let contents = 0;
  let last: Buffer | undefined;
  // Of one payload there may be an original of each framing.
  for (const { digest } of catalogue.allOriginals()) {
    if (last?.equals(digest) !== true) contents++;
    last = digest;
  }
  return contents;
}

/** Crawls (the files that captures came with) in the order in which they came, hosts by key, the others by name. */
export function* archiveStats(archive: Archive, by: StatsGroup): Generator<NamedFigures> {
  if (by === "host") yield* byHost(archive);
  else if (by === "crawl") yield* byCrawl(archive);
  else if (by === "year") yield* byYear(archive);
  else yield* byMime(archive);
}

function* byCrawl({ catalogue }: Archive): Generator<NamedFigures> {
  const groups = new Map<number, Figures>();
  for (const found of catalogue.allCaptures()) count(catalogue, found, groupOf(groups, found.row.source));
  for (const [number, figures] of [...groups].sort(([one], [other]) => one - other)) {
    yield { name: catalogue.source(number)?.name ?? NONE, ...figures };
  }
}

function* byYear({ catalogue }: Archive): Generator<NamedFigures> {
  const groups = new Map<number, Figures>();
  for (const found of catalogue.allCaptures())
    count(catalogue, found, groupOf(groups, new Date(found.timeMs).getUTCFullYear()));
  for (const [year, figures] of [...groups].sort(([one], [other]) => one - other))
    yield { name: `${year}`, ...figures };
}

/** Keys of one host stand together, so that only one is held; those that have none are among all others. */
function* byHost(archive: Archive): Generator<NamedFigures> {
  let [name, figures] = [NONE, noFigures()];
  const none = noFigures();
  let total = 0;
  for (const { key, found } of capturesByKey(archive)) {
    const host = hostOf(key);
    total++;
    if (host !== undefined && host !== name) {
      if (figures.captures > 0) yield { name, ...figures };
      [name, figures] = [host, noFigures()];
    }
    count(archive.catalogue, found, host === undefined ? none : figures);
  }
  if (figures.captures > 0) yield { name, ...figures };
  if (none.captures > 0) yield { name: NONE, ...none };
  yield* pendingOnly(archive, total);
}

function* byMime(archive: Archive): Generator<NamedFigures> {
  const groups = new Map<string, Figures>();
  let total = 0;
  for (const { mime = NONE, found } of capturesByKey(archive)) {
    const name = groups.has(mime) || groups.size < MIMES_MAX ? mime : OTHER;
    total++;
    count(archive.catalogue, found, groupOf(groups, name));
  }
  for (const name of [...groups.keys()].sort()) yield { name, ...groups.get(name)! };
  yield* pendingOnly(archive, total);
}

/** Of URLs that have nothing but revisits without originals nothing is known but that they are there. */
function* pendingOnly({ catalogue }: Archive, counted: number): Generator<NamedFigures> {
  const captures = catalogue.state.captures - counted;
  if (captures > 0) yield { name: "pending", ...noFigures(), captures };
}

interface KeyedCapture {
  readonly key: string;
  readonly mime: string | undefined;
  readonly found: FoundCapture;
}

/** Every capture of every key that the timeline has, once, with the media type that it was found with. */
function* capturesByKey(archive: Archive): Generator<KeyedCapture> {
  let lifespans: Lifespan[] = [];
  for (const lifespan of archive.span(FIRST_MS, LAST_MS)) {
    if (lifespans.length > 0 && lifespans[0]!.key !== lifespan.key) {
      yield* capturesOf(archive, lifespans);
      lifespans = [];
    }
    lifespans.push(lifespan);
  }
  if (lifespans.length > 0) yield* capturesOf(archive, lifespans);
}

/** Of one key, whose lifespans these are. */
function* capturesOf(archive: Archive, lifespans: readonly Lifespan[]): Generator<KeyedCapture> {
  const { key } = lifespans[0]!;
  for (const found of archive.capturesOf(key)) {
    const digest = found.row.digest?.toString("hex");
    const lifespan = lifespans.findLast(
      ({ birth, sha256 }) => birth <= found.timeMs && digest !== undefined && sha256.startsWith(digest),
    );
    yield { key, mime: lifespan?.mime, found };
  }
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
  const original = row.digest === undefined ? undefined : catalogue.anyOriginal(row.digest);
  if (original === undefined) return;
  figures.bytesSeen += original.payloadSize;
  if (row.kind !== "response" && row.kind !== "resource") return;
  figures.bytesKept += original.payloadSize;
  if (isSamePlace(row.place, original.place)) figures.contents++;
}

function isSamePlace(one: RecordPlace, other: RecordPlace): boolean {
  return one.segment === other.segment && one.offset === other.offset && one.inner === other.inner;
}
