/** Numbers of 32 bits, as many as come. */
const LENGTH_FIRST = 256;

export class GrowingWords {
  private words = new Uint32Array(LENGTH_FIRST);
  length = 0;

  push(word: number): void {
    if (this.length === this.words.length) {
      const larger = new Uint32Array(2 * this.length);
      larger.set(this.words);
      this.words = larger;
    }
    this.words[this.length++] = word;
  }

  /** The highest byte of each first. */
  bytes(): Buffer {
    const bytes = Buffer.allocUnsafe(4 * this.length);
    for (let i = 0; i < this.length; i++) bytes.writeUInt32BE(this.words[i]!, 4 * i);
    return bytes;
  }
}
