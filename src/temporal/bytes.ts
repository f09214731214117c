/** Numbers of any size as few bytes: seven bits a byte, the low ones first. Times may be negative and are zigzagged. */

/** More bytes than this are copied by a call. */
const WORDS_MOST = 160;

/** How many bytes a number takes. */
export function numberSize(value: number): number {
  if (value < 128) return 1;
  if (value < 16_384) return 2;
  if (value < 2_097_152) return 3;
  let size = 4;
  for (let rest = Math.floor(value / 2_097_152); rest > 127; rest = Math.floor(rest / 128)) size++;
  return size;
}

/** Gathers bytes; grows as it must. */
export class ByteWriter {
  bytes: Buffer;
  /** The same bytes. */
  view: DataView;
  length = 0;

  constructor(size = 1 << 14) {
    this.bytes = Buffer.allocUnsafeSlow(size);
    this.view = new DataView(this.bytes.buffer);
  }

  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(2 * this.bytes.length, this.length + more));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
    this.view = new DataView(grown.buffer);
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  /** A whole number from 0 up to 2^53 - 1. */
  number(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest > 0x7fff_ffff) {
      this.bytes[this.length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    while (rest > 127) {
      this.bytes[this.length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.bytes[this.length++] = rest;
  }

  /** Writes a number over one that takes as many bytes, somewhere in what was gathered. */
  numberAt(value: number, at: number): void {
    let to = at;
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.bytes[to++] = (rest % 128) | 128;
    this.bytes[to] = rest;
  }

  /** A whole number of either sign. */
  signed(value: number): void {
    this.number(value < 0 ? -2 * value - 1 : 2 * value);
  }

  raw(bytes: Uint8Array, start = 0, end = bytes.length): void {
    this.reserve(end - start);
    // Copying a few bytes by hand beats the call; to store four at a time, one by one.
    if (end - start < 96) {
      const { view } = this;
      let [at, to] = [start, this.length];
      for (; at + 4 <= end; at += 4, to += 4) {
        view.setInt32(to, bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24), true);
      }
      for (; at < end; at++) view.setUint8(to++, bytes[at]!);
      this.length = to;
    } else {
      if (Buffer.isBuffer(bytes)) bytes.copy(this.bytes, this.length, start, end);
      else this.bytes.set(bytes.subarray(start, end), this.length);
      this.length += end - start;
    }
  }

  /** The same as `raw`: four bytes at a time, which for a few dozen takes half as long as one at a time, or the call. */
  words(from: DataView, start: number, end: number): void {
    this.reserve(end - start);
    const { view } = this;
    let [at, to] = [start, this.length];
    this.length += end - start;
    if (end - start > WORDS_MOST) {
      this.bytes.set(new Uint8Array(from.buffer, from.byteOffset + start, end - start), to);
      return;
    }
    for (; at + 4 <= end; at += 4, to += 4) view.setInt32(to, from.getInt32(at, true), true);
    for (; at < end; at++) view.setUint8(to++, from.getUint8(at));
  }

  /** A string of which each character stands for one byte. */
  text(text: string, start = 0): void {
    const size = text.length - start;
    this.reserve(size);
    if (size < 24) for (let at = start; at < text.length; at++) this.bytes[this.length++] = text.charCodeAt(at);
    else this.length += this.bytes.write(start === 0 ? text : text.slice(start), this.length, "latin1");
  }

  /** A copy of what was gathered. */
  finish(): Buffer {
    return Buffer.from(this.bytes.subarray(0, this.length));
  }
}

/** Reads what `ByteWriter` wrote. Past the end it gives numbers that are none, and whoever asks finds that out. */
export class ByteReader {
  bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  number(): number {
    const { bytes } = this;
    let byte = bytes[this.at++]!;
    if (byte < 128) return byte;
    let value = byte & 127;
    let scale = 128;
    do {
      byte = bytes[this.at++]!;
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }

  signed(): number {
    const value = this.number();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  skip(size: number): void {
    this.at += size;
  }

  text(size: number): string {
    const start = this.at;
    this.at += size;
    return this.bytes.toString("latin1", start, this.at);
  }

  raw(size: number): Buffer {
    const start = this.at;
    this.at += size;
    return this.bytes.subarray(start, this.at);
  }
}
