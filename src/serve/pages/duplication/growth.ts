/** How the bytes seen and kept add up over the dates of captures, in as many steps as can be drawn. */
import type { MonthFigures } from "../../../archive/index.ts";

export interface GrowthStep {
  /** `2014`, `2014-03`, `2010–2014`. */
  readonly name: string;
  /** Of all captures up to its end. */
  readonly bytesSeen: number;
  readonly bytesKept: number;
}

const STEPS_MAX = 60;
const [MONTH, YEAR] = [1, 12];

/** Months, years or several years, so that there are few enough; those without captures are there, too. */
export function growthOf(months: readonly MonthFigures[]): readonly GrowthStep[] {
  const [first, last] = [months[0]?.month, months.at(-1)?.month];
  if (first === undefined || last === undefined) return [];
  const width = widthOf(first, last);
  const steps: GrowthStep[] = [];
  let [bytesSeen, bytesKept, at] = [0, 0, 0];
  for (let start = first - (first % width); start <= last; start += width) {
    for (; at < months.length && months[at]!.month < start + width; at++) {
      bytesSeen += months[at]!.bytesSeen;
      bytesKept += months[at]!.bytesKept;
    }
    steps.push({ name: nameOf(start, width), bytesSeen, bytesKept });
  }
  return steps;
}

function widthOf(first: number, last: number): number {
  const count = (width: number) => Math.floor(last / width) - Math.floor(first / width) + 1;
  if (count(MONTH) <= STEPS_MAX / 2) return MONTH;
  let years = 1;
  while (count(years * YEAR) > STEPS_MAX) years *= 2;
  return years * YEAR;
}

function nameOf(start: number, width: number): string {
  const year = Math.floor(start / YEAR);
  if (width === MONTH) return `${year}-${String((start % YEAR) + 1).padStart(2, "0")}`;
  return width === YEAR ? `${year}` : `${year}\u2013${year + width / YEAR - 1}`;
}
