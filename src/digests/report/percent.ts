/** Shares and sizes as the paper prints them, but rounded. */
import type { Ratio } from "../../dedup/index.ts";

/** In percent with two decimals, rounded half up, whatever the size of the numbers; absent for a share of nothing. */
export function percentOf({ part, whole }: Ratio): number | undefined {
  if (whole <= 0) return undefined;
  const [times, by] = [BigInt(part) * 20_000n, BigInt(whole)];
  return Number((times + by) / (2n * by)) / 100;
}

/** `60.66%`; a share of nothing is a dash. */
export function formatPercent(percent: number | null | undefined): string {
  return percent === null || percent === undefined ? "-" : `${percent.toFixed(2)}%`;
}

const UNITS = ["B", "KiB", "MiB", "GiB"] as const;

/** In units of 1,024, cut off at the point as the paper's report has it: `876 GiB`. */
export function formatCut(bytes: number): string {
  let power = 0;
  while (power < UNITS.length - 1 && bytes >= 1024 ** (power + 1)) power++;
  return `${Math.floor(bytes / 1024 ** power)} ${UNITS[power]}`;
}
