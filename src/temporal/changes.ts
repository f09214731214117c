/** What is new about keys, as the pages get it that are not at the end of time: visits, and what was carried there. */
import type { SortedVisits } from "./batch.ts";
import { FOREVER } from "./node.ts";
import type { Carry, Visit } from "./run.ts";

/** What is new about a key: visits in order, those that are to be forgotten, and perhaps what it held before. */
export interface KeyChange {
  readonly key: string;
  readonly visits: readonly Visit[];
  readonly forgotten?: readonly Moment[] | undefined;
  /** Given where what is carried into the page has changed. */
  readonly carry?: { readonly run: Carry } | undefined;
}

/** What of a visit tells it from others of its key. */
export type Moment = Pick<Visit, "time" | "digest">;

/** The earliest visit that comes or goes. */
export function firstTime({ visits, forgotten }: KeyChange): number {
  return Math.min(visits[0]?.time ?? FOREVER, forgotten?.[0]?.time ?? FOREVER);
}

/** The changes that visits [from, to) of a batch are. */
export function changesOf(visits: SortedVisits, from: number, to: number): KeyChange[] {
  const changes: KeyChange[] = [];
  for (let at = from; at < to; ) {
    const end = visits.keyEnd(at);
    const own: Visit[] = [];
    const key = visits.keys[at]!;
    for (; at < end; at++) own.push(visits.visit(at));
    changes.push({ key, visits: own });
  }
  return changes;
}

/** Whether all that is new lies behind this moment: then no page before it changes. */
export function isAllBehind(changes: readonly KeyChange[], moment: number): boolean {
  return changes.every((change) => change.carry === undefined && firstTime(change) >= moment);
}

/** The changes in [start, end); those without any are left out, but for what is carried into the first stretch. */
export function clipChanges(
  changes: readonly KeyChange[],
  start: number,
  end: number,
  isFirst: boolean,
): readonly KeyChange[] {
  const clipped: KeyChange[] = [];
  for (const change of changes) {
    const { key, carry } = change;
    const isOwn = ({ time }: Moment) => time >= start && time < end;
    const visits = change.visits.filter(isOwn);
    const forgotten = change.forgotten?.filter(isOwn);
    if (isFirst && carry !== undefined) clipped.push({ key, visits, forgotten, carry });
    else if (visits.length > 0 || (forgotten ?? []).length > 0) clipped.push({ key, visits, forgotten });
  }
  return clipped;
}

/** Changes of a stretch, and what is carried into it. */
export function mergeChanges(changes: readonly KeyChange[], carried: readonly KeyChange[]): readonly KeyChange[] {
  if (carried.length === 0) return changes;
  const merged: KeyChange[] = [];
  let at = 0;
  for (const change of carried) {
    while (at < changes.length && changes[at]!.key < change.key) merged.push(changes[at++]!);
    const same = changes[at]?.key === change.key ? changes[at++]! : undefined;
    merged.push({ key: change.key, visits: same?.visits ?? [], forgotten: same?.forgotten, carry: change.carry });
  }
  while (at < changes.length) merged.push(changes[at++]!);
  return merged;
}
