/** What replay shows for a URL and a time, as the bar tells it: the capture, which version that is, and its neighbours. */
import type { Capture, Lifespan } from "../../archive/index.ts";
import { formatTimestamp } from "../../base/index.ts";
import { versionsOf } from "../api/versions.ts";
import type { AskedTime } from "../asked-time.ts";
import { exactStamp } from "../memento/timegate.ts";
import { type AskedMemento, pickMemento } from "../replay/memento-answer.ts";
import { shownMemento } from "../replay/worker.ts";
import type { Asked } from "../route.ts";

/** A version of the URL before or after the one that is shown. */
export interface OtherVersion {
  readonly stamp: string;
  readonly timeMs: number;
}

export interface Shown {
  /** As it was asked for. */
  readonly url: string;
  readonly time: AskedTime;
  readonly isPinned: boolean;
  readonly capture: Capture;
  /** Of the capture, as addresses have it; empty where it has no date. */
  readonly stamp: string;
  /** The time that the frame asks for with every part of the page: that of the capture, or the moment it is pinned to. */
  readonly frameTime: string;
  /** Where a captured redirect leads, to be gone to instead. */
  readonly target: string | undefined;
  /** The first is 1; absent where the capture is none of them, such as a failed visit. */
  readonly version: number | undefined;
  readonly versions: number;
  readonly earlier: OtherVersion | undefined;
  readonly later: OtherVersion | undefined;
  /** Nothing is known from the moment that was asked for, or before it. */
  readonly isAfter: boolean;
}

/** HT_NOT_FOUND or HT_BLOCKED where there is nothing to be seen. */
export async function findShown(asked: Pick<Asked, "collection">, memento: AskedMemento): Promise<Shown> {
  const { collection } = asked;
  const isPinned = memento.sense !== "nearest";
  // A page is meant by its exact second; only what it is pinned to has none.
  const { capture, target } = await pickMemento(collection, isPinned ? shownMemento(memento) : memento);
  const { url, time } = memento;
  const stamp = await exactStamp(collection, capture);
  const around = await versionsAround(asked, url, capture);
  const askedMs = time.exact?.toMs ?? time.ms;
  return {
    url,
    time,
    isPinned,
    capture,
    stamp,
    frameTime: isPinned ? time.text : stamp,
    target,
    ...around,
    isAfter: isPinned && capture.timeMs !== undefined && capture.timeMs > askedMs,
  };
}

async function versionsAround({ collection }: Pick<Asked, "collection">, url: string, { timeMs }: Capture) {
  const spans: Lifespan[] = [];
  async function* noted() {
    for await (const batch of collection.history(url)) {
      spans.push(...batch);
      yield batch;
    }
  }
  const versions = await versionsOf(noted());
  const at =
    timeMs === undefined ? -1 : spans.findLastIndex(({ birth, lastSeen }) => birth <= timeMs && timeMs <= lastSeen);
  const other = (span: Lifespan | undefined): OtherVersion | undefined =>
    span && { stamp: formatTimestamp(span.birth), timeMs: span.birth };
  const identity = spans[at]?.identity;
  const place = versions.findIndex((version) => version.identity === identity);
  return {
    version: at < 0 || place < 0 ? undefined : place + 1,
    versions: versions.length,
    earlier:
      at < 0 ? other(spans.findLast(({ birth }) => timeMs !== undefined && birth < timeMs)) : other(spans[at - 1]),
    later: at < 0 ? other(spans.find(({ birth }) => timeMs !== undefined && birth > timeMs)) : other(spans[at + 1]),
  };
}
