/** All that is known of one URL over time, gathered for its timeline: its lifespans, named, and its visits. */
import type { Capture, Lifespan } from "../../archive/index.ts";
import { formatTimestamp } from "../../base/index.ts";
import type { MonthCount } from "../../markup/index.ts";
import type { Collection } from "../collection.ts";
import { longStamp } from "../memento/stamp.ts";
import { nothingSeen } from "../replay/memento-answer.ts";

/** A lifespan with its place in the history. */
export interface NamedLifespan {
  /** Counted from 1, over the whole history. */
  readonly number: number;
  /** Of its content: `A` is the one that was seen first. */
  readonly letter: string;
  /** The content had been there before, and something else in between. */
  readonly isReturn: boolean;
  readonly lifespan: Lifespan;
}

export interface UrlHistory {
  readonly url: string;
  /** Up to a few other forms of the URL that share its key. */
  readonly otherUrls: readonly string[];
  /** Those of the whole history, in order. */
  readonly all: readonly NamedLifespan[];
  /** Those that hold in the span that is asked for. */
  readonly shown: readonly NamedLifespan[];
  readonly versionCount: number;
  /** Times of visits in the span: by the number of the lifespan that they found, and of the others. */
  readonly ticks: ReadonlyMap<number, readonly number[]>;
  readonly failedMs: readonly number[];
  readonly otherMs: readonly number[];
  /** Visits in the span of all classes. */
  readonly captureCount: number;
  /** More captures than these were not looked at; the latest were. */
  readonly isCut: boolean;
  /** Changes and captures by month, see `calendarTable`. */
  readonly months: ReadonlyMap<number, MonthCount>;
  /** Bytes of the payloads of the captures, and of the distinct ones among them. */
  readonly bytesSeen: number;
  readonly bytesDistinct: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** How the first capture of a lifespan is addressed. */
  stampOf(row: NamedLifespan): string;
}

export interface Span {
  readonly fromMs: number | undefined;
  readonly toMs: number | undefined;
}

/** A walk over more would keep others waiting. */
const CAPTURES_MAX = 50_000;
const OTHER_URLS_MAX = 4;

/** HT_NOT_FOUND or HT_BLOCKED where no capture of it may be seen in the span. */
export async function urlHistory(collection: Collection, url: string, span: Span): Promise<UrlHistory> {
  const lifespans: Lifespan[] = [];
  for await (const batch of collection.history(url)) for (const lifespan of batch) lifespans.push(lifespan);
  const { all, versionCount } = nameLifespans(lifespans);
  const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = span;
  const shown = all.filter(
    ({ lifespan: { birth, end } }) => birth <= toMs && (end === undefined || end > fromMs || birth >= fromMs),
  );
  const visits = new Visits(shown);
  const query = { url, ...span, order: "backwards", limit: CAPTURES_MAX + 1 } as const;
  for await (const batch of collection.captures(query)) for (const capture of batch) visits.take(capture);
  if (visits.count === 0) throw await nothingSeen(collection, url, "nearest");
  const months = visits.months;
  let bytesDistinct = 0;
  const contents = new Set<string>();
  for (const { lifespan } of shown) {
    if (lifespan.birth >= fromMs) monthOf(months, lifespan.birth).count++;
    if (!contents.has(lifespan.sha256)) bytesDistinct += lifespan.payloadSize;
    contents.add(lifespan.sha256);
  }
  const { sharedSeconds } = visits;
  return {
    ...visits.gathered(url),
    all,
    shown,
    versionCount,
    isCut: visits.count > CAPTURES_MAX,
    bytesDistinct,
    stampOf: ({ lifespan: { birth } }) =>
      sharedSeconds.has(Math.floor(birth / 1000)) ? longStamp(birth) : formatTimestamp(birth),
  };
}

function nameLifespans(lifespans: readonly Lifespan[]): { all: NamedLifespan[]; versionCount: number } {
  const letters = new Map<string, string>();
  const all = lifespans.map((lifespan, i): NamedLifespan => {
    const known = letters.get(lifespan.identity);
    const letter = known ?? letterOf(letters.size);
    if (known === undefined) letters.set(lifespan.identity, letter);
    return { number: i + 1, letter, isReturn: known !== undefined, lifespan };
  });
  return { all, versionCount: letters.size };
}

/** `A` to `Z`, `AA` and so on. */
function letterOf(index: number): string {
  let text = "";
  for (let rest = index + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    text = String.fromCharCode(65 + ((rest - 1) % 26)) + text;
  }
  return text;
}

/** The captures of a URL, the latest first. Only what is drawn of them is kept: there may be very many. */
class Visits {
  count = 0;
  readonly months = new Map<number, { count: number; looks: number }>();
  /** Seconds in which there are captures of several milliseconds: 14 digits would not tell them apart. */
  readonly sharedSeconds = new Set<number>();
  private readonly lifespans: readonly NamedLifespan[];
  /** The lifespan that begins last among those no later than the capture at hand. */
  private at: number;
  private readonly ticks = new Map<number, number[]>();
  private readonly failedMs: number[] = [];
  private readonly otherMs: number[] = [];
  private readonly urls = new Set<string>();
  private bytesSeen = 0;
  private firstMs: number | undefined;
  private lastMs: number | undefined;

  constructor(lifespans: readonly NamedLifespan[]) {
    this.lifespans = lifespans;
    this.at = lifespans.length - 1;
  }

  take(capture: Capture): void {
    const { timeMs, size, class: kind } = capture;
    this.count++;
    if (this.urls.size <= OTHER_URLS_MAX) this.urls.add(capture.url);
    this.bytesSeen += size ?? 0;
    if (timeMs === undefined) return;
    this.takeTime(timeMs);
    // Without a size its payload is not known. (Asking for the digest of each would take half of the time.)
    if (size !== undefined && (kind === "state" || kind === "confirmation")) this.tick(capture, timeMs);
    else (kind === "failed" ? this.failedMs : this.otherMs).push(timeMs);
  }

  private takeTime(timeMs: number): void {
    const second = Math.floor(timeMs / 1000);
    const laterMs = this.firstMs;
    if (laterMs !== undefined && laterMs !== timeMs && Math.floor(laterMs / 1000) === second) {
      this.sharedSeconds.add(second);
    }
    this.lastMs ??= timeMs;
    this.firstMs = timeMs;
    monthOf(this.months, timeMs).looks++;
  }

  private tick(capture: Capture, timeMs: number): void {
    while (this.at > 0 && this.lifespans[this.at]!.lifespan.birth > timeMs) this.at--;
    const number = this.found(capture)?.number ?? 0;
    const there = this.ticks.get(number);
    if (there === undefined) this.ticks.set(number, [timeMs]);
    else there.push(timeMs);
  }

  /** Of several lifespans that begin at one moment, the one with the content of the capture. */
  private found(capture: Capture): NamedLifespan | undefined {
    const { lifespans, at } = this;
    const last = lifespans[at];
    if (last === undefined || lifespans[at - 1]?.lifespan.birth !== last.lifespan.birth) return last;
    const { sha256 } = capture;
    for (let i = at; i >= 0 && lifespans[i]!.lifespan.birth === last.lifespan.birth; i--) {
      if (lifespans[i]!.lifespan.sha256 === sha256) return lifespans[i];
    }
    return last;
  }

  gathered(asked: string) {
    const { months, bytesSeen, count: captureCount, firstMs = 0, lastMs = 0 } = this;
    const [last] = this.urls;
    // As it was captured: the form that was asked for, or the last one.
    const url = this.urls.has(asked) ? asked : last!;
    const otherUrls = [...this.urls].filter((other) => other !== url);
    const { ticks, failedMs, otherMs } = this;
    for (const times of [...ticks.values(), failedMs, otherMs]) times.reverse();
    return { url, otherUrls, ticks, failedMs, otherMs, captureCount, months, bytesSeen, firstMs, lastMs };
  }
}

function monthOf(
  months: Map<number, { count: number; looks: number }>,
  timeMs: number,
): { count: number; looks: number } {
  const date = new Date(timeMs);
  const month = 12 * date.getUTCFullYear() + date.getUTCMonth();
  let there = months.get(month);
  if (there === undefined) months.set(month, (there = { count: 0, looks: 0 }));
  return there;
}
