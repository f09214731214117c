/**
 * Keeps the timeline in step with the rows of captures. Before a moment of a URL changes, what it found is noted; when
 * all changes of a commit are made, the timeline forgets that and gets what it found now.
 */
import type { TimelineWriter } from "../../temporal/index.ts";
import { type CaptureKey, momentOf, timeOf, urlKeyOf } from "../catalogue/capture-key.ts";
import type { CaptureRow } from "../catalogue/capture-row.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import { contentIdentity, encodeContent } from "../catalogue/content.ts";
import { contentStatus, isVisit } from "../catalogue/visit-class.ts";

/** What was found at one moment, by what the timeline knows it as; each character one byte. */
type Found = ReadonlyMap<string, Buffer>;

const NOTHING: Found = new Map();

interface Moment {
  readonly urlKey: string;
  readonly timeMs: number;
  readonly before: Found;
  /** The only capture of a moment that had none before, and what it found. */
  only: { readonly key: CaptureKey; readonly visit: Visit | undefined } | undefined;
}

/** What a capture found: what the timeline knows it as, and shows of it. */
interface Visit {
  readonly identity: string;
  readonly value: Buffer;
}

/** What the timeline has to forget of a URL, and what to hear, by moments. */
interface Told {
  readonly before: Map<number, Found>;
  readonly found: Map<number, Found>;
}

function visitsIn(moments: ReadonlyMap<number, Found>) {
  return [...moments].flatMap(([time, found]) => [...found].map(([digest, value]) => ({ time, digest, value })));
}

export class VisitChanges {
  private readonly catalogue: Catalogue;
  private moments = new Map<string, Moment>();

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue;
  }

  /**
   * To be called before a capture becomes what `row` says, or goes; `isFirst` says that its moment has no capture yet.
   */
  touch(key: CaptureKey, row: CaptureRow | undefined, isFirst: boolean): void {
    const moment = momentOf(key);
    const known = this.moments.get(moment);
    const urlKey = known?.urlKey ?? urlKeyOf(key);
    const isOnly = row !== undefined && (known === undefined ? isFirst : known.only?.key === key);
    const only = isOnly ? { key, visit: visitOf(urlKey, row) } : undefined;
    if (known !== undefined) {
      known.only = only;
      return;
    }
    const timeMs = timeOf(key);
    this.moments.set(moment, { urlKey, timeMs, before: isFirst ? NOTHING : this.foundAt(urlKey, timeMs), only });
  }

  /** The first and the last moment of each URL that has changed. */
  spans(): Map<string, { firstMs: number; lastMs: number }> {
    const spans = new Map<string, { firstMs: number; lastMs: number }>();
    for (const { urlKey, timeMs } of this.moments.values()) {
      const span = spans.get(urlKey);
      if (span === undefined) spans.set(urlKey, { firstMs: timeMs, lastMs: timeMs });
      else {
        span.firstMs = Math.min(span.firstMs, timeMs);
        span.lastMs = Math.max(span.lastMs, timeMs);
      }
    }
    return spans;
  }

  private foundAt(urlKey: string, timeMs: number): Found {
    const found = new Map<string, Buffer>();
    for (const { row } of this.catalogue.at(urlKey, timeMs)) {
      const visit = visitOf(urlKey, row);
      // Of several that found the same, the first tells how.
      if (visit !== undefined && !found.has(visit.identity)) found.set(visit.identity, visit.value);
    }
    return found;
  }

  /** Tells the timeline; from then on nothing has changed. */
  apply(timeline: TimelineWriter): void {
    const told = new Map<string, Told>();
    // One that found nothing to tell, and is new, changes nothing.
    const isPlain = ({ urlKey, timeMs, only }: Moment) =>
      only !== undefined && (only.visit === undefined || this.nextToTell(urlKey, timeMs, true) === undefined);
    const others = new Set<string>();
    for (const moment of this.moments.values()) if (!isPlain(moment)) others.add(moment.urlKey);
    for (const { urlKey, timeMs, before, only } of this.moments.values()) {
      // Nothing that is known changes by what is all new and comes last.
      if (!others.has(urlKey)) {
        const { visit } = only!;
        if (visit !== undefined) timeline.insert(urlKey, timeMs, visit.value, Buffer.from(visit.identity, "latin1"));
        continue;
      }
      if (only !== undefined && only.visit === undefined) continue;
      const next = this.nextToTell(urlKey, timeMs, false);
      const found = this.foundAt(urlKey, timeMs);
      if (isSame(before, found)) continue;
      const changed = told.get(urlKey) ?? { before: new Map(), found: new Map() };
      told.set(urlKey, changed);
      changed.before.set(timeMs, before);
      changed.found.set(timeMs, found);
      if (next === undefined || changed.found.has(next.timeMs)) continue;
      changed.before.set(next.timeMs, next.found);
      changed.found.set(next.timeMs, next.found);
    }
    this.moments = new Map();
    const changes = [];
    for (const [key, { before, found }] of told) {
      const forgotten = visitsIn(before);
      const visits = visitsIn(found);
      if (forgotten.length > 0) changes.push({ key, forgotten, visits });
      else
        for (const { time, digest, value } of visits) timeline.insert(key, time, value, Buffer.from(digest, "latin1"));
    }
    if (changes.length > 0) timeline.change(changes);
  }

  /**
   * The moment after one that has changed: a lifespan may begin there now that began before, and shows what the capture
   * there found. With `isKnown`, only if the timeline knows it already.
   */
  private nextToTell(
    urlKey: string,
    timeMs: number,
    isKnown: boolean,
  ): { readonly timeMs: number; readonly found: Found } | undefined {
    for (let afterMs = timeMs; ; ) {
      const key = this.catalogue.nextOf(urlKey, afterMs);
      if (key === undefined) return undefined;
      const moment = this.moments.get(momentOf(key));
      if (isKnown && moment?.only?.visit !== undefined) return undefined;
      afterMs = timeOf(key);
      const found = this.foundAt(urlKey, afterMs);
      if (found.size > 0) return { timeMs: afterMs, found };
    }
  }
}

function visitOf(urlKey: string, row: CaptureRow): Visit | undefined {
  if (!isVisit(row)) return undefined;
  const { url, mime, location } = row;
  const status = contentStatus(row);
  const sha256 = row.payload!.sha256.toString("hex");
  const content = { url, status, mime, sha256, payloadSize: row.payload!.size };
  return { identity: visitIdentity(row)!, value: encodeContent(urlKey, content, location) };
}

/** What the timeline knows the content as that a capture found, each character one byte; absent where it says nothing. */
export function visitIdentity(row: CaptureRow): string | undefined {
  if (!isVisit(row)) return undefined;
  const sha256 = row.payload!.sha256.toString("hex");
  return contentIdentity(contentStatus(row), row.location, sha256).toString("latin1");
}

function isSame(one: Found, other: Found): boolean {
  if (one.size !== other.size) return false;
  for (const [identity, value] of one) if (other.get(identity)?.equals(value) !== true) return false;
  return true;
}
