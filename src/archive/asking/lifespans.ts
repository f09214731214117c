/** Lifespans and changes, as they are read from the timeline. Obeys docs/lifespans.md. */
import type { TimelineEntry, TimelineEvent, TimelineSnapshot } from "../../temporal/index.ts";
import { type Content, decodeContent } from "../catalogue/content.ts";
import { PAUSE, PAUSE_ROWS } from "./pause.ts";
import type { Snapshot } from "./snapshot.ts";

/** A stretch of time in which a URL held one content. Times are in milliseconds. */
export interface Lifespan extends Content {
  readonly key: string;
  /** What the timeline tells contents of this key apart by: status and, of a redirect, where it leads count too. */
  readonly identity: string;
  readonly birth: number;
  /** When another content was found; absent as long as none was. */
  readonly end: number | undefined;
  /** The last capture that found it. */
  readonly lastSeen: number;
  /** How many captures found it. */
  readonly captures: number;
  /** False where end, last capture and their number are only as far as a slice without ends knows them. */
  readonly isWhole: boolean;
}

/** Which keys a question is about, and which media types. */
export interface Scope {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly mime?: ((mime: string | undefined) => boolean) | undefined;
}

export interface SliceOptions {
  /** Without ends, last captures and their numbers where these would have to be looked up: faster. See `isWhole`. */
  readonly withoutEnds?: boolean | undefined;
}

export interface Change {
  readonly kind: "appeared" | "changed" | "vanished";
  readonly key: string;
  readonly timeMs: number;
  /** What was there from then on; absent where nothing was. */
  readonly lifespan: Lifespan | undefined;
}

export function lifespanOf(entry: TimelineEntry): Lifespan {
  const { key, birth, end, lastSeen, visits, isWhole, digest: identity } = entry;
  return {
    key,
    identity,
    birth,
    end,
    lastSeen,
    captures: visits,
    isWhole,
    ...decodeContent(key, entry.value, identity),
  };
}

/** The entries of a slice or a span, with their true ends unless these are not wanted; with pauses between other types. */
export function* lifespansIn(
  { timeline }: Snapshot,
  entries: Iterable<TimelineEntry>,
  { mime }: Scope = {},
  { withoutEnds = false }: SliceOptions = {},
): Generator<Lifespan | typeof PAUSE> {
  let skipped = 0;
  for (const entry of entries) {
    const lifespan = lifespanOf(entry);
    if (mime !== undefined && !mime(lifespan.mime)) {
      if (++skipped % PAUSE_ROWS === 0) yield PAUSE;
      continue;
    }
    yield withoutEnds || lifespan.isWhole ? lifespan : wholeOf(timeline, lifespan, entry.digest);
  }
}

/** Of several at one moment the timeline answers with the last. */
function wholeOf(timeline: TimelineSnapshot, lifespan: Lifespan, digest: string): Lifespan {
  const entries = timeline.history(lifespan.key, lifespan.birth, lifespan.birth);
  const whole = entries.find((entry) => entry.birth === lifespan.birth && entry.digest === digest);
  return whole === undefined ? lifespan : lifespanOf(whole);
}

export function* changesIn(
  timeline: TimelineSnapshot,
  fromMs: number,
  toMs: number,
  scope: Scope = {},
): Generator<Change> {
  for (const event of timeline.events(fromMs, toMs, scope)) yield changeOf(timeline, event);
}

/** A URL that answers with an error has vanished for readers, and one that answers again has appeared. */
function changeOf(timeline: TimelineSnapshot, event: TimelineEvent): Change {
  const { key, birth: timeMs, isGone, replaced } = event;
  if (isGone) return { kind: "vanished", key, timeMs, lifespan: undefined };
  const lifespan = lifespanOf(event);
  const before = replaced ? contentBefore(timeline, event) : undefined;
  const [wasThere, isThere] = [before !== undefined && !isError(lifespanOf(before)), !isError(lifespan)];
  const kind = wasThere === isThere && replaced ? "changed" : wasThere ? "vanished" : "appeared";
  return { kind, key, timeMs, lifespan };
}

/** What the key held right before: of several contents of one moment, the one that stands before it. */
function contentBefore(timeline: TimelineSnapshot, { key, birth, digest }: TimelineEvent): TimelineEntry | undefined {
  const there = timeline.history(key, birth, birth);
  const at = there.findIndex((entry) => entry.birth === birth && entry.digest === digest);
  return at > 0 ? there[at - 1] : timeline.at(key, birth - 1);
}

function isError({ status }: Lifespan): boolean {
  return status !== undefined && status >= 400;
}
