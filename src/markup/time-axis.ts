/** Where the lines of a time axis stand, and what they are called: round times, and few enough to be read. */
import { formatIso } from "../base/index.ts";

export interface AxisTick {
  readonly timeMs: number;
  readonly label: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TICKS_MAX = 8;

interface Step {
  readonly unit: "month" | "ms";
  readonly count: number;
  /** Roughly, in milliseconds. */
  readonly size: number;
  /** The part of an ISO time that names a tick. */
  readonly shown: readonly [from: number, to: number];
}

const months = (count: number, to: number): Step => ({
  unit: "month",
  count,
  size: count * 30.44 * DAY_MS,
  shown: [0, to],
});
const times = (size: number, from: number, to: number): Step => ({ unit: "ms", count: size, size, shown: [from, to] });

const STEPS: readonly Step[] = [
  ...[1000, 10_000].map((size) => times(size, 11, 19)),
  ...[60_000, 600_000].map((size) => times(size, 11, 16)),
  ...[HOUR_MS, 3 * HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS].map((size) => times(size, 5, 16)),
  ...[DAY_MS, 2 * DAY_MS, 7 * DAY_MS, 14 * DAY_MS].map((size) => times(size, 0, 10)),
  ...[1, 3, 6].map((count) => months(count, 7)),
  ...[1, 2, 5, 10, 20, 50, 100, 1000].map((years) => months(12 * years, 4)),
];

/** From `fromMs` to `toMs`, which is later. */
export function axisTicks(fromMs: number, toMs: number): AxisTick[] {
  const step = STEPS.find(({ size }) => (toMs - fromMs) / size <= TICKS_MAX) ?? STEPS.at(-1)!;
  const ticks: AxisTick[] = [];
  for (
    let i = 0, timeMs = tickAt(step, fromMs, 0);
    timeMs <= toMs && i <= 2 * TICKS_MAX;
    timeMs = tickAt(step, fromMs, ++i)
  ) {
    if (timeMs < fromMs) continue;
    const label = formatIso(timeMs)
      .slice(...step.shown)
      .replace("T", " ");
    ticks.push({ timeMs, label });
  }
  return ticks;
}

/** The i-th round time of a step from the one before `fromMs` on. */
function tickAt({ unit, count }: Step, fromMs: number, i: number): number {
  if (unit === "ms") return (Math.floor(fromMs / count) + i) * count;
  const start = new Date(fromMs);
  const month = Math.floor((12 * start.getUTCFullYear() + start.getUTCMonth()) / count) * count + i * count;
  // Not Date.UTC: it takes the years 0 to 99 for those of the last century.
  const date = new Date(0);
  date.setUTCFullYear(Math.floor(month / 12), month % 12, 1);
  return date.getTime();
}
