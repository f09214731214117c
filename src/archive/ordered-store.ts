/** Keys and values in the order of the keys: what the catalogue is kept in. One writes, any number read. */

export interface Pair {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** As of one moment: what is committed later is not seen. */
export interface StoreView {
  get(key: Buffer): Buffer | undefined;
  /** The pairs from the first key on and before the other, in order; or from the last of them back. */
  range(from: Buffer, to: Buffer, backwards?: boolean): Iterable<Pair>;
  /** The first pair that `range` would give. */
  first(from: Buffer, to: Buffer, backwards?: boolean): Pair | undefined;
  close(): void;
}

export interface OrderedStore {
  view(): StoreView;
  /**
   * The keys as Latin-1, absent values removed. All of it is durable when this returns, or nothing of it is there. It is
   * cheaper where all keys are behind those that are there, which the caller must know.
   */
  commit(changes: ReadonlyMap<string, Buffer | undefined>, areBehind?: boolean): void;
  /** Whether it takes much more room than what is in it, so that a copy would be worth it. */
  isLoose(): boolean;
  close(): Promise<void>;
}

/** The first key behind all that begin with these bytes. */
export function behind(prefix: Buffer): Buffer {
  const key = Buffer.from(prefix);
  for (let i = key.length - 1; i >= 0; i--) {
    if (key[i]! < 255) {
      key[i]!++;
      return key.subarray(0, i + 1);
    }
  }
  return Buffer.alloc(64, 255);
}
