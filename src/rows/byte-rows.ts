/** Small numbers and texts as bytes, for the rows of the catalogue and the values of the timeline. */

export class RowWriter {
  private bytes = Buffer.allocUnsafe(256);
  private size = 0;

  /** Begins a row: one writer may make any number of them, one after the other. */
  begin(): this {
    this.size = 0;
    return this;
  }

  private room(count: number): void {
    if (this.size + count <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.size + count));
    this.bytes.copy(larger, 0, 0, this.size);
    this.bytes = larger;
  }

  byte(value: number): this {
    this.room(1);
    this.bytes[this.size++] = value;
    return this;
  }

  /** Seven bits a byte, the lowest first; any whole number up to 2^53. */
  count(value: number): this {
    this.room(8);
    let rest = value;
    while (rest >= 128) {
      this.bytes[this.size++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.bytes[this.size++] = rest;
    return this;
  }

  raw(bytes: Uint8Array): this {
    this.room(bytes.length);
    this.bytes.set(bytes, this.size);
    this.size += bytes.length;
    return this;
  }

  /** Its length, then its bytes in UTF-8. */
  text(value: string): this {
    const bytes = Buffer.from(value);
    return this.count(bytes.length).raw(bytes);
  }

  finish(): Buffer {
    return Buffer.from(this.bytes.subarray(0, this.size));
  }
}

export class RowReader {
  private readonly bytes: Buffer;
  private at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = at;
  }

  byte(): number {
    return this.bytes[this.at++]!;
  }

  count(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++]!;
      value += (byte % 128) * scale;
      if (!(byte >= 128)) return value;
    }
  }

  /** Bytes that were not read yet. */
  get left(): number {
    return Math.max(0, this.bytes.length - this.at);
  }

  raw(size: number): Buffer {
    const part = this.bytes.subarray(this.at, this.at + size);
    this.at += size;
    return part;
  }

  text(): string {
    return this.raw(this.count()).toString();
  }
}
