/**
 * When something began or ended in a page, roughly: time in up to 32 parts of equal length, and which of them have a
 * change. Parts are powers of two long and begin at multiples of their length, so that maps of several pages unite, and
 * become coarser, without telling of changes where there is none but in the same part.
 */

export interface ChangeMap {
  /** A part is two to the power of this long. */
  readonly scale: number;
  /** Which part is the first. */
  readonly first: number;
  /** The lowest bit for the first part. None for a page in which nothing changed. */
  readonly bits: number;
}

const PARTS = 32;
/** How long parts are, by their scale: to raise two to a power takes longer than all else here. */
const LENGTHS = Float64Array.from({ length: 64 }, (_, scale) => 2 ** scale);

export const NO_CHANGES: ChangeMap = { scale: 0, first: 0, bits: 0 };

/** The map with one more change. */
export function withChange(map: ChangeMap, time: number): ChangeMap {
  const at = Math.floor(time / LENGTHS[map.scale]!) - map.first;
  if (map.bits === 0 || at < 0 || at >= PARTS) return unite(map, { scale: 0, first: time, bits: 1 });
  const bits = (map.bits | (1 << at)) >>> 0;
  return bits === map.bits ? map : { scale: map.scale, first: map.first, bits };
}

export function unite(one: ChangeMap, other: ChangeMap): ChangeMap {
  if (one.bits === 0) return other;
  if (other.bits === 0) return one;
  for (let scale = Math.max(one.scale, other.scale); ; scale++) {
    const first = Math.min(partAt(one, 0, scale), partAt(other, 0, scale));
    const last = Math.max(partAt(one, highest(one), scale), partAt(other, highest(other), scale));
    if (last - first >= PARTS) continue;
    const bits = (bitsAt(one, scale, first) | bitsAt(other, scale, first)) >>> 0;
    return bits === one.bits && scale === one.scale && first === one.first ? one : { scale, first, bits };
  }
}

/** Whether there may be a change in (from, to]. */
export function mayChange({ scale, first, bits }: ChangeMap, from: number, to: number): boolean {
  if (bits === 0 || from >= to) return false;
  const part = LENGTHS[scale]!;
  // The first moment that counts is the one behind `from`.
  const low = Math.max(0, Math.floor((from + 1) / part) - first);
  const high = Math.min(PARTS - 1, Math.floor(to / part) - first);
  return low <= high && (((bits >>> low) << low) >>> 0) << (PARTS - 1 - high) !== 0;
}

/** The highest bit that is set. */
function highest({ bits }: ChangeMap): number {
  return PARTS - 1 - Math.clz32(bits);
}

/** In which part of a scale that is no finer the part of a bit lies. */
function partAt({ scale, first }: ChangeMap, bit: number, coarser: number): number {
  return Math.floor((first + bit) / LENGTHS[coarser - scale]!);
}

/** The bits of a map for parts of a scale that is no finer, of which `first` is the first. */
function bitsAt(map: ChangeMap, scale: number, first: number): number {
  if (scale === map.scale) return map.bits << (map.first - first);
  let bits = 0;
  for (let rest = map.bits; rest !== 0; rest &= rest - 1) {
    bits |= 1 << (partAt(map, PARTS - 1 - Math.clz32(rest & -rest), scale) - first);
  }
  return bits;
}
