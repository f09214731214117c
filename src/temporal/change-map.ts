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
  let [left, right] = [one, other];
  while (left.scale < right.scale) left = coarser(left);
  while (right.scale < left.scale) right = coarser(right);
  for (;;) {
    const first = Math.min(left.first, right.first);
    if (Math.max(lastPart(left), lastPart(right)) - first < PARTS) {
      const bits = (left.bits << (left.first - first)) | (right.bits << (right.first - first));
      return { scale: left.scale, first, bits: bits >>> 0 };
    }
    left = coarser(left);
    right = coarser(right);
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

function lastPart({ first, bits }: ChangeMap): number {
  return first + PARTS - 1 - Math.clz32(bits);
}

function coarser({ scale, first, bits }: ChangeMap): ChangeMap {
  const half = Math.floor(first / 2);
  let halved = 0;
  for (let at = 0; at < PARTS; at++) {
    if (((bits >>> at) & 1) !== 0) halved |= 1 << (Math.floor((first + at) / 2) - half);
  }
  return { scale: scale + 1, first: half, bits: halved >>> 0 };
}
