/**
 * The 64-bit fingerprint after Rabin: the content, read as a polynomial over GF(2), modulo an irreducible polynomial of
 * degree 64. Polynomial, start value and bit order are those of Apache Avro's CRC-64-AVRO, which has published vectors.
 *
 * It finds duplicates; it proves nothing. Whoever knows the polynomial can make collisions at will.
 */
import type { Signer } from "./signature.ts";

/** The coefficients below t^64 with the lowest bit first, and also the fingerprint of no bytes. */
const POLYNOMIAL_HIGH = 0xc15d213a;
const POLYNOMIAL_LOW = 0xa4d7a795;
/** Bytes taken in one step. */
const STRIDE = 8;

/** `HIGH[256 * k + b]` and `LOW[…]`: the fingerprint of byte b followed by k zero bytes, without the start value. */
const [HIGH, LOW] = buildTables();

function buildTables(): [high: Uint32Array, low: Uint32Array] {
  const high = new Uint32Array(256 * STRIDE);
  const low = new Uint32Array(256 * STRIDE);
  for (let byte = 0; byte < 256; byte++) {
    let [h, l] = [0, byte];
    for (let bit = 0; bit < 8; bit++) {
      const odd = l & 1;
      l = ((l >>> 1) | (h << 31)) >>> 0;
      h >>>= 1;
      if (odd === 1) [h, l] = [(h ^ POLYNOMIAL_HIGH) >>> 0, (l ^ POLYNOMIAL_LOW) >>> 0];
    }
    [high[byte], low[byte]] = [h, l];
  }
  for (let at = 256; at < high.length; at++) {
    const [h, l] = [high[at - 256]!, low[at - 256]!];
    high[at] = (h >>> 8) ^ high[l & 255]!;
    low[at] = ((l >>> 8) | (h << 24)) ^ low[l & 255]!;
  }
  return [high, low];
}

export class Rabin64 implements Signer {
  private high = POLYNOMIAL_HIGH;
  private low = POLYNOMIAL_LOW;

  update(bytes: Uint8Array): void {
    let { high, low } = this;
    const whole = bytes.length - (bytes.length % STRIDE);
    let at = 0;
    for (; at < whole; at += STRIDE) {
      low ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      high ^= bytes[at + 4]! | (bytes[at + 5]! << 8) | (bytes[at + 6]! << 16) | (bytes[at + 7]! << 24);
      const a = 1792 + (low & 255);
      const b = 1536 + ((low >>> 8) & 255);
      const c = 1280 + ((low >>> 16) & 255);
      const d = 1024 + (low >>> 24);
      const e = 768 + (high & 255);
      const f = 512 + ((high >>> 8) & 255);
      const g = 256 + ((high >>> 16) & 255);
      const h = high >>> 24;
      low = LOW[a]! ^ LOW[b]! ^ LOW[c]! ^ LOW[d]! ^ LOW[e]! ^ LOW[f]! ^ LOW[g]! ^ LOW[h]!;
      high = HIGH[a]! ^ HIGH[b]! ^ HIGH[c]! ^ HIGH[d]! ^ HIGH[e]! ^ HIGH[f]! ^ HIGH[g]! ^ HIGH[h]!;
    }
    for (; at < bytes.length; at++) {
      const index = (low ^ bytes[at]!) & 255;
      low = ((low >>> 8) | (high << 24)) ^ LOW[index]!;
      high = (high >>> 8) ^ HIGH[index]!;
    }
    this.high = high;
    this.low = low;
  }

  finish(): string {
    const text = (half: number) => (half >>> 0).toString(16).padStart(8, "0");
    return (text(this.high) + text(this.low)).toUpperCase();
  }
}
