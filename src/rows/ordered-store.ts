/**
 * Keys and values in the order of the keys: what the catalogue is kept in. One writes, any number read. A key is a string
 * in which each character is one byte, so that the order of strings is that of bytes.
 */

export interface Pair {
  readonly key: string;
  readonly value: Buffer;
}

/** As of one moment: what is committed later is not seen. Values must not be changed. */
export interface StoreView {
  get(key: string): Buffer | undefined;
  /** The pairs from the first key on and before the other, in order; or from the last of them back. */
  range(from: string, to: string, backwards?: boolean): Iterable<Pair>;
  /** The first pair that `range` would give. */
  first(from: string, to: string, backwards?: boolean): Pair | undefined;
}

export interface OrderedStore extends Disposable {
  /** Another one after each commit. */
  readonly generation: number;
  view(): StoreView;
  /** Absent values are removed. All of it is durable when this returns, or nothing of it is there. */
  commit(changes: ReadonlyMap<string, Buffer | undefined>): void;
  /** Whether it takes much more room than what is in it, so that a copy would be worth it. */
  isLoose(): boolean;
  /** Makes a store in another folder that holds the same, in as little room as it takes. It is durable, its name is not. */
  copyTo(folder: string): void;
}

/** The first key behind all that begin with this. */
export function behind(prefix: string): string {
  for (let i = prefix.length - 1; i >= 0; i--) {
    const code = prefix.charCodeAt(i);
    if (code < 255) return prefix.slice(0, i) + String.fromCharCode(code + 1);
  }
  return "\xff".repeat(64);
}
