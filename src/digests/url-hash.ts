/**
 * The hash of 64 bits by which records are found, in two halves. It tells texts apart that nobody has chosen to look alike;
 * whoever finds something by it compares the text itself. Part of docs/format/digest-index.md.
 */

/** Two halves of 32 bits, the upper one first. */
export type HashPair = Uint32Array;

export function createHashPair(): HashPair {
  return new Uint32Array(2);
}

export function hashBytes(bytes: Uint8Array, start: number, end: number, into: HashPair): void {
  const size = end - start;
  let one = 0x9e3779b1 ^ size;
  let two = 0x85ebca6b ^ size;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
    one = Math.imul(one ^ word, 0xcc9e2d51);
    one = (one << 13) | (one >>> 19);
    two = Math.imul((two + word) | 0, 0x1b873593);
    two ^= two >>> 15;
  }
  let word = 0;
  for (let shift = 0; at < end; at++, shift += 8) word |= bytes[at]! << shift;
  one = Math.imul(one ^ word, 0xcc9e2d51);
  two = Math.imul((two + word) | 0, 0x1b873593);
  into[0] = mix(one ^ (two >>> 16));
  into[1] = mix(two ^ Math.imul(one, 0x2545f491));
}

function mix(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x846ca68b);
  return mixed ^ (mixed >>> 16);
}

const SCRATCH_SIZE = 1 << 14;
const scratch = Buffer.alloc(SCRATCH_SIZE);

/** Of the text as UTF-8. */
export function hashText(text: string, into: HashPair): void {
  if (text.length * 3 > SCRATCH_SIZE) {
    const bytes = Buffer.from(text);
    hashBytes(bytes, 0, bytes.length, into);
  } else hashBytes(scratch, 0, scratch.write(text), into);
}
