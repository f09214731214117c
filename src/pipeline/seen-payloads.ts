/**
 * Payloads that may have been seen before, known to all threads: a Bloom filter in shared memory. Who finds out more about
 * a record only where its payload was seen does that little too often; and where two threads meet the same payload at the
 * same time, or one earlier than another whose record comes first, once too rarely. Whoever asks must be content with both.
 */
import { invariant } from "../base/index.ts";

const WORDS = 1 << 21;
const HASHES = 4;
const HEX_EACH = 8;

export class SeenPayloads {
  readonly memory: SharedArrayBuffer;
  private readonly words: Int32Array;

  constructor(memory = new SharedArrayBuffer(4 * WORDS)) {
    invariant(memory.byteLength === 4 * WORDS, "memory of another size");
    this.memory = memory;
    this.words = new Int32Array(memory);
  }

  /** Adds a payload by its digest in hex; whether it may have been there before. */
  add(hex: string): boolean {
    let wasThere = true;
    for (let i = 0; i < HASHES; i++) {
      const hash = Number.parseInt(hex.slice(i * HEX_EACH, (i + 1) * HEX_EACH), 16);
      const bit = 1 << (hash & 31);
      if ((Atomics.or(this.words, (hash >>> 5) % WORDS, bit) & bit) === 0) wasThere = false;
    }
    return wasThere;
  }

  /** From now on everything may have been there. */
  addAll(): void {
    this.words.fill(-1);
  }
}
