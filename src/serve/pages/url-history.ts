/** All that is known of one URL over time, gathered for its timeline: its lifespans, named, and its visits. */
import type { Capture, Lifespan } from "../../archive/index.ts";
import { formatTimestamp } from "../../base/index.ts";
import type { MonthCount } from "../../markup/index.ts";
import { isVisit } from "../access/allowed-lifespans.ts";
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
  /** How its first capture is addressed. */
  readonly stamp: string;
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
  const visits = new Visits();
  const query = { url, ...span, order: "backwards", limit: CAPTURES_MAX + 1 } as const;
  for await (const batch of collection.captures(query)) for (const capture of batch) visits.take(capture);
  if (visits.captures.length === 0) throw await nothingSeen(collection, url, "nearest");
  const isCut = visits.captures.length > CAPTURES_MAX;
  const lifespans: Lifespan[] = [];
  for await (const batch of collection.history(url)) lifespans.push(...batch);
  const { all, versionCount } = nameLifespans(lifespans, visits.sharedSeconds);
  const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = span;
  const shown = all.filter(
    ({ lifespan: { birth, end } }) => birth <= toMs && (end === undefined || end > fromMs || birth >= fromMs),
  );
  return { ...visits.gather(shown, fromMs), url: visits.url(url), all, shown, versionCount, isCut };
}

function nameLifespans(lifespans: readonly Lifespan[], sharedSeconds: ReadonlySet<number>) {
  const letters = new Map<string, string>();
  const all = lifespans.map((lifespan, i): NamedLifespan => {
    const { identity, birth } = lifespan;
    const known = letters.get(identity);
    const letter = known ?? letterOf(letters.size);
    letters.set(identity, letter);
    const isShared = sharedSeconds.has(Math.floor(birth / 1000));
    const stamp = isShared ? longStamp(birth) : formatTimestamp(birth);
    return { number: i + 1, letter, isReturn: known !== undefined, lifespan, stamp };
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

/** The captures of a URL, the latest first. */
class Visits {
  readonly captures: Capture[] = [];
  /** Seconds in which there are captures of several milliseconds: 14 digits would not tell them apart. */
  readonly sharedSeconds = new Set<number>();
  private readonly urls = new Set<string>();
  private laterMs: number | undefined;

  take(capture: Capture): void {
    const { timeMs } = capture;
    this.captures.push(capture);
    if (this.urls.size <= OTHER_URLS_MAX) this.urls.add(capture.url);
    if (timeMs === undefined) return;
    const second = Math.floor(timeMs / 1000);
    if (this.laterMs !== undefined && this.laterMs !== timeMs && Math.floor(this.laterMs / 1000) === second) {
      this.sharedSeconds.add(second);
    }
    this.laterMs = timeMs;
  }

  /** As it was captured: the form that was asked for, or the last one. */
  url(asked: string): string {
    return this.urls.has(asked) ? asked : this.captures[0]!.url;
  }

  gather(lifespans: readonly NamedLifespan[], fromMs: number) {
    const ticks = new Map<number, number[]>();
    const failedMs: number[] = [];
    const otherMs: number[] = [];
    const months = new Map<number, { count: number; looks: number }>();
    const contents = new Set<string>();
    let [bytesSeen, bytesDistinct, at] = [0, 0, 0];
    for (const { lifespan } of lifespans) if (lifespan.birth >= fromMs) monthOf(months, lifespan.birth).count++;
    const dated = this.captures.filter(({ timeMs }) => timeMs !== undefined).reverse();
    for (const capture of dated) {
      const { timeMs, sha256, size = 0 } = capture as Capture & { timeMs: number };
      monthOf(months, timeMs).looks++;
      bytesSeen += size;
      if (sha256 !== undefined && !contents.has(sha256)) {
        contents.add(sha256);
        bytesDistinct += size;
      }
      if (!isVisit(capture)) {
        (capture.class === "failed" ? failedMs : otherMs).push(timeMs);
        continue;
      }
      while (at + 1 < lifespans.length && lifespans[at + 1]!.lifespan.birth <= timeMs) at++;
      const number = found(lifespans, at, capture)?.number ?? 0;
      const there = ticks.get(number);
      if (there === undefined) ticks.set(number, [timeMs]);
      else there.push(timeMs);
    }
    const [first, last] = [dated[0]?.timeMs ?? 0, dated.at(-1)?.timeMs ?? 0];
    const otherUrls = [...this.urls].filter((url) => url !== this.captures[0]!.url);
    const captureCount = this.captures.length;
    return {
      ticks,
      failedMs,
      otherMs,
      months,
      bytesSeen,
      bytesDistinct,
      firstMs: first,
      lastMs: last,
      otherUrls,
      captureCount,
    };
  }
}

/** Of several lifespans that begin at one moment, the one with the content of the capture. */
function found(lifespans: readonly NamedLifespan[], at: number, { sha256 }: Capture): NamedLifespan | undefined {
  const last = lifespans[at];
  for (let i = at; i >= 0 && lifespans[i]!.lifespan.birth === last?.lifespan.birth; i--) {
    if (lifespans[i]!.lifespan.sha256 === sha256) return lifespans[i];
  }
  return last;
}

function monthOf(
  months: Map<number, { count: number; looks: number }>,
  timeMs: number,
): { count: number; looks: number } {
  const date = new Date(timeMs);
  const month = 12 * date.getUTCFullYear() + date.getUTCMonth();
  const there = months.get(month) ?? { count: 0, looks: 0 };
  months.set(month, there);
  return there;
}
