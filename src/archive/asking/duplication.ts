/**
 * What an archive holds more than once: what that saved, by crawl, media type, host and year; across time and across
 * location; which contents come back most. One walk over the captures in the order of their contents, with pauses. What
 * is held is the sums of the groups, which are bounded, and the captures of one content, up to a limit.
 */
import { hostOf } from "../../url/index.ts";
import { timeOf, urlKeyOf } from "../catalogue/capture-key.ts";
import { Flag, has, isHolder, isSamePlace } from "../catalogue/capture-row.ts";
import type { CatalogueView, FoundCapture } from "../catalogue/catalogue-view.ts";
import { Capture, type CaptureNames } from "./capture.ts";
import { PAUSE, PAUSE_ROWS } from "./pause.ts";
import { type RepeatedContent, RepeatedContents } from "./repeated-contents.ts";
import type { Figures, NamedFigures } from "./stats.ts";

/** Captures of a content that is known from another one: how many, the bytes of their payloads, and those not stored. */
export interface DuplicateTally {
  captures: number;
  bytes: number;
  savedBytes: number;
}

/** A file that captures came from. */
export interface CrawlFigures extends NamedFigures {
  readonly number: number;
  readonly addedMs: number | undefined;
  /** Of its captures. */
  firstMs: number | undefined;
  lastMs: number | undefined;
}

/** What was captured in one month. */
export interface MonthFigures {
  /** Since the beginning of year 0. */
  readonly month: number;
  bytesSeen: number;
  bytesKept: number;
}

export interface Duplication {
  /** Of captures whose content is known. */
  readonly total: Figures;
  /** Captured before at this URL, only at others, or not known where: what held the content was removed. */
  readonly acrossTime: DuplicateTally;
  readonly acrossLocation: DuplicateTally;
  readonly acrossUnknown: DuplicateTally;
  /** In the order in which they came. */
  readonly crawls: readonly CrawlFigures[];
  /** By name. */
  readonly mimes: readonly NamedFigures[];
  readonly hosts: readonly NamedFigures[];
  readonly years: readonly NamedFigures[];
  /** In order; without captures that have no date, or one before 1990 or in the future. */
  readonly months: readonly MonthFigures[];
  /** Contents with several captures: those that saved most, and those with most captures. */
  readonly mostSaved: readonly RepeatedContent[];
  readonly mostSeen: readonly RepeatedContent[];
}

export interface DuplicationOptions {
  /** Counts as if the archive had only these captures: then each content is kept once, by the first of them. */
  readonly allows?: ((capture: Capture) => boolean) | undefined;
  readonly onProgress?: ((captures: number) => void) | undefined;
}

/** Groups of one kind; what comes later is counted under `other`. */
const GROUPS_MAX = 100_000;
const NONE = "-";
const OTHER = "other";
/** Of a content with more captures, they are read twice. */
const HELD_MAX = 1000;
const NO_CRAWL = -1;

export function* countDuplication(
  catalogue: CatalogueView,
  names: CaptureNames,
  options: DuplicationOptions = {},
): Generator<typeof PAUSE, Duplication> {
  const counter = new DuplicationCounter(catalogue, names, options);
  let half: string | undefined;
  let held: FoundCapture[] = [];
  let isHeld = true;
  let rows = 0;
  for (const { content, key } of catalogue.allSeen()) {
    if (++rows % PAUSE_ROWS === 0) {
      options.onProgress?.(rows);
      yield PAUSE;
    }
    if (content !== half) {
      if (half !== undefined) yield* isHeld ? counter.take(half, held) : counter.takeMany(half);
      [half, held, isHeld] = [content, [], true];
    }
    if (held.length < HELD_MAX) {
      const found = counter.shown(key);
      if (found !== undefined) held.push(found);
    } else isHeld = false;
  }
  if (half !== undefined) yield* isHeld ? counter.take(half, held) : counter.takeMany(half);
  return counter.result();
}

class DuplicationCounter {
  private readonly catalogue: CatalogueView;
  private readonly names: CaptureNames;
  private readonly allows: DuplicationOptions["allows"];
  private readonly total = noFigures();
  private readonly acrossTime = noTally();
  private readonly acrossLocation = noTally();
  private readonly acrossUnknown = noTally();
  private readonly crawls = new Map<number, CrawlFigures>();
  private readonly groups = { mime: new Groups(), host: new Groups(), year: new Groups() };
  private readonly months = new Map<number, MonthFigures>();
  private readonly repeated = new RepeatedContents();

  constructor(catalogue: CatalogueView, names: CaptureNames, { allows }: DuplicationOptions) {
    this.catalogue = catalogue;
    this.names = names;
    this.allows = allows;
  }

  /** Absent where it was removed, or may not be counted. */
  shown(key: string): FoundCapture | undefined {
    const found = this.catalogue.found(key);
    if (found === undefined || has(found.row, Flag.removed)) return undefined;
    return this.allows === undefined || this.allows(new Capture(found, this.names)) ? found : undefined;
  }

  /** The captures of a content that has too many to be held. */
  *takeMany(half: string): Generator<typeof PAUSE> {
    const original = yield* this.originalAmong(half, this.read(half));
    yield* this.count(original, this.read(half));
  }

  *take(half: string, captures: readonly FoundCapture[]): Generator<typeof PAUSE> {
    if (captures.length === 0) return;
    const original = yield* this.originalAmong(half, captures);
    yield* this.count(original, captures);
  }

  private *read(half: string): Generator<FoundCapture | typeof PAUSE> {
    let rows = 0;
    for (const key of this.catalogue.seen(Buffer.from(half, "latin1"))) {
      if (++rows % PAUSE_ROWS === 0) yield PAUSE;
      const found = this.shown(key);
      if (found !== undefined) yield found;
    }
  }

  /** The capture whose record holds the content; of those that may be counted, the first in time. */
  private *originalAmong(
    half: string,
    captures: Iterable<FoundCapture | typeof PAUSE>,
  ): Generator<typeof PAUSE, FoundCapture | undefined> {
    const isWhole = this.allows === undefined;
    const place = isWhole ? this.catalogue.anyOriginal(Buffer.from(half, "latin1"))?.place : undefined;
    let first: FoundCapture | undefined;
    for (const found of captures) {
      if (found === PAUSE) yield PAUSE;
      else if (!isWhole) first = first === undefined || found.timeMs < first.timeMs ? found : first;
      else if (isHolder(found.row) && isSamePlace(found.row.place, place)) return found;
    }
    return first;
  }

  private *count(
    original: FoundCapture | undefined,
    captures: Iterable<FoundCapture | typeof PAUSE>,
  ): Generator<typeof PAUSE> {
    const one = this.repeated.begin(original);
    const before = new UrlsBefore();
    for (const found of captures) {
      if (found === PAUSE) {
        yield PAUSE;
        continue;
      }
      const { row } = found;
      const isOriginal = found.key === original?.key;
      const isKept = this.allows === undefined ? isHolder(row) && row.kind !== "replaced" : isOriginal;
      const bytes = row.payload!.size;
      const keptBytes = isKept ? bytes : 0;
      for (const figures of this.figuresOf(found)) {
        figures.captures++;
        figures.bytesSeen += bytes;
        figures.bytesKept += keptBytes;
        if (isOriginal) figures.contents++;
      }
      this.countMonth(found, bytes, keptBytes);
      one.add(found, bytes - keptBytes);
      const isAgain = before.take(found);
      if (isOriginal) continue;
      const tally = this.tallyOf(found, original, isAgain);
      tally.captures++;
      tally.bytes += bytes;
      tally.savedBytes += bytes - keptBytes;
    }
    // A record whose own capture was removed is kept for others.
    if (this.allows === undefined && original === undefined) this.total.contents++;
    this.repeated.end(one);
  }

  /** URLs are compared as they are written, as for the report of a deduplication. */
  private tallyOf({ row }: FoundCapture, original: FoundCapture | undefined, isAgain: boolean): DuplicateTally {
    if (isAgain || original?.row.url === row.url) return this.acrossTime;
    return original === undefined ? this.acrossUnknown : this.acrossLocation;
  }

  private figuresOf(found: FoundCapture): Figures[] {
    const { row, key } = found;
    const { groups } = this;
    const year = has(row, Flag.undated) ? NONE : `${new Date(timeOf(key)).getUTCFullYear()}`;
    return [
      this.total,
      this.crawlOf(found),
      groups.mime.get(row.mime ?? NONE),
      groups.host.get(hostOf(urlKeyOf(key)) ?? NONE),
      groups.year.get(year),
    ];
  }

  private crawlOf({ row, timeMs }: FoundCapture): CrawlFigures {
    const number = this.crawls.has(row.source) || this.crawls.size < GROUPS_MAX ? row.source : NO_CRAWL;
    let crawl = this.crawls.get(number);
    if (crawl === undefined) {
      const source = this.catalogue.source(number);
      const name = source?.name ?? (number === NO_CRAWL ? OTHER : NONE);
      crawl = { number, name, addedMs: source?.addedMs, firstMs: undefined, lastMs: undefined, ...noFigures() };
      this.crawls.set(number, crawl);
    }
    if (!has(row, Flag.undated)) {
      crawl.firstMs = Math.min(crawl.firstMs ?? timeMs, timeMs);
      crawl.lastMs = Math.max(crawl.lastMs ?? timeMs, timeMs);
    }
    return crawl;
  }

  private countMonth({ row, timeMs }: FoundCapture, bytes: number, keptBytes: number): void {
    if (has(row, Flag.undated | Flag.oddDate)) return;
    const date = new Date(timeMs);
    const month = 12 * date.getUTCFullYear() + date.getUTCMonth();
    let figures = this.months.get(month);
    if (figures === undefined) this.months.set(month, (figures = { month, bytesSeen: 0, bytesKept: 0 }));
    figures.bytesSeen += bytes;
    figures.bytesKept += keptBytes;
  }

  result(): Duplication {
    const { total, acrossTime, acrossLocation, acrossUnknown, groups } = this;
    const crawls = [...this.crawls.values()].sort((one, other) => one.number - other.number);
    return {
      total,
      acrossTime,
      acrossLocation,
      acrossUnknown,
      crawls,
      mimes: groups.mime.sorted(),
      hosts: groups.host.sorted(),
      years: groups.year.sorted(),
      months: [...this.months.values()].sort((one, other) => one.month - other.month),
      ...this.repeated.result(),
    };
  }
}

/** The URLs of one content, whose captures come in the order of keys and times: only those of one key are held. */
class UrlsBefore {
  private key: string | undefined;
  private readonly urls = new Set<string>();

  /** Whether the content was captured before at this very URL. */
  take({ key, row: { url } }: FoundCapture): boolean {
    const urlKey = urlKeyOf(key);
    if (urlKey !== this.key) this.urls.clear();
    this.key = urlKey;
    const isAgain = this.urls.has(url);
    this.urls.add(url);
    return isAgain;
  }
}

/** Figures by name. */
class Groups {
  private readonly byName = new Map<string, Figures>();

  get(name: string): Figures {
    const there = this.byName.get(name);
    if (there !== undefined) return there;
    if (this.byName.size >= GROUPS_MAX && name !== OTHER) return this.get(OTHER);
    const figures = noFigures();
    this.byName.set(name, figures);
    return figures;
  }

  sorted(): NamedFigures[] {
    return [...this.byName.keys()].sort().map((name) => ({ name, ...this.byName.get(name)! }));
  }
}

function noFigures(): Figures {
  return { captures: 0, contents: 0, bytesSeen: 0, bytesKept: 0 };
}

function noTally(): DuplicateTally {
  return { captures: 0, bytes: 0, savedBytes: 0 };
}
