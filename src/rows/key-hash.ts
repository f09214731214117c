/** What a filter needs to know of a key of a row. */

/** Two numbers that stand for a key. */
export interface KeyHash {
  readonly first: number;
  readonly second: number;
}

export function hashKey(key: string): KeyHash {
  let [first, second] = [0x811c9dc5, 0x9747b28c];
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i);
    first = Math.imul(first ^ code, 0x01000193);
    second = Math.imul(second + code, 0x5bd1e995) ^ (second >>> 15);
  }
  return { first: mix(first), second: mix(second) };
}

/** A filter looks at the upper bits of a hash, in which the last characters of a key are hardly felt before this. */
function mix(value: number): number {
  const mixed = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  return mixed ^ (mixed >>> 15);
}
