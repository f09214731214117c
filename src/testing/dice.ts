/** Chance that can be repeated: the same seed gives the same throws. */
import { type Random, systemRandom } from "../base/index.ts";

export interface Dice extends Random {
  /** A whole number from 0 up to, but without, `limit`. */
  below(limit: number): number;
  coin(): boolean;
}

const FIXED_SEED = 20_261_118;

/**
 * The seed of a property: always the same in the suite, so that it passes every time; by chance in `npm run test:long`.
 * HOLOTYPE_SEED repeats one of those.
 */
export function newSeed(): number {
  const { HOLOTYPE_LONG_RUNS: long, HOLOTYPE_SEED: seed } = process.env;
  if (seed !== undefined) return Number(seed);
  return long === undefined ? FIXED_SEED : Buffer.from(systemRandom.bytes(4)).readUInt32LE() >>> 1;
}

/** How many cases a property tries: those of the suite, or as many as `npm run test:long` asks for. */
export function runsOf(inSuite: number): number {
  const { HOLOTYPE_LONG_RUNS: long } = process.env;
  return long === undefined ? inSuite : Math.max(inSuite, Number(long));
}

/** A xorshift generator of 32 bits: good enough to choose faults with, and nothing else. */
export function createDice(seed: number): Dice {
  // Zero is the one state that xorshift never leaves; the multiplication spreads neighbouring seeds apart.
  let state = Math.imul(seed ^ 0x5bf03635, 0x9e3779b1) | 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  const below = (limit: number) => Math.floor((next() / 2 ** 32) * limit);
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => below(256));
  return {
    below,
    coin: () => below(2) === 1,
    bytes,
    uuid: () =>
      Buffer.from(bytes(16))
        .toString("hex")
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
  };
}
