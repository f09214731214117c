/**
 * Percent escapes over byte strings: strings in which every character is one byte (U+0000 to U+00FF).
 * Nothing here knows what a URL is.
 */

const PERCENT = 0x25;

/** The value of a hexadecimal digit, by character code; 255 for every other byte. */
const HEX_VALUE = new Uint8Array(256).fill(255);
for (let value = 0; value < 16; value++) {
  HEX_VALUE[value.toString(16).charCodeAt(0)] = value;
  HEX_VALUE[value.toString(16).toUpperCase().charCodeAt(0)] = value;
}

/** Everything but printable ASCII, and in it `#` and `%`. */
const UNSAFE = /[^!"$&-~]/;
const UNSAFE_ALL = /[^!"$&-~]/g;

/** The bytes of `text` in UTF-8, as a byte string. A lone surrogate becomes the bytes of U+FFFD. */
export function toByteString(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/**
 * Undoes percent escapes until none is left, so `%252541` gives `A`.
 *
 * Two escapes never overlap, so the order in which they are undone does not matter, and one pass that looks back after
 * each byte gives what repeated passes would, in linear time: a hundred thousand nested `%25` are no trap.
 */
export function unescapeFully(bytes: string): string {
  const first = bytes.indexOf("%");
  if (first < 0 || first > bytes.length - 3) return bytes;
  const out = Buffer.allocUnsafe(bytes.length - first);
  let size = 0;
  for (let index = first; index < bytes.length; index++) {
    out[size++] = bytes.charCodeAt(index);
    while (size >= 3 && out[size - 3] === PERCENT) {
      const high = HEX_VALUE[out[size - 2]!]!;
      const low = HEX_VALUE[out[size - 1]!]!;
      if (high === 255 || low === 255) break;
      size -= 2;
      out[size - 1] = high * 16 + low;
    }
  }
  return bytes.slice(0, first) + out.toString("latin1", 0, size);
}

/** Escapes once, in lower-case hexadecimal, all that is not printable ASCII, and `#` and `%`. */
export function escapeOnce(bytes: string): string {
  return UNSAFE.test(bytes) ? bytes.replace(UNSAFE_ALL, escapeByte) : bytes;
}

/** The escape of one byte, given as a character. */
export function escapeByte(byte: string): string {
  const code = byte.charCodeAt(0);
  return code < 16 ? `%0${code.toString(16)}` : `%${code.toString(16)}`;
}
