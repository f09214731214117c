/** Chance that can be repeated: the same seed gives the same throws. */
import { type Random, systemRandom } from "../base/index.ts";

export interface Dice extends Random {
  /** A whole number from 0 up to, but without, `limit`. */
  below(limit: number): number;
  coin(): boolean;
}

export function newSeed(): number {
  return Buffer.from(systemRandom.bytes(4)).readUInt32LE();
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
