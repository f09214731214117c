/** The digests and places that belong to numbered contents, made when they are asked for: there may be millions. */

export const DIGEST_SIZE = 16;
export const PLACE_SIZE = 8;

/** Holds one content at a time; who wants to keep it copies. */
export class Content {
  /** The digest, and behind it the place: what a visit is about. */
  readonly bytes = Buffer.alloc(DIGEST_SIZE + PLACE_SIZE);
  readonly digest = this.bytes.subarray(0, DIGEST_SIZE);
  readonly place = this.bytes.subarray(DIGEST_SIZE);
  private readonly view = new DataView(this.bytes.buffer, this.bytes.byteOffset);

  set(content: number): this {
    const { view } = this;
    // Multipliers of well known hashes: bytes that look like those of a digest, and cost next to nothing.
    view.setUint32(0, Math.imul(content + 1, 0x9e3779b1));
    view.setUint32(4, Math.imul(content + 3, 0x85ebca6b));
    view.setUint32(8, Math.imul(content + 5, 0xc2b2ae35));
    view.setUint32(12, Math.imul(content + 7, 0x27d4eb2f));
    // Where the record is: its container, and the offset there.
    view.setUint16(16, content >>> 12);
    view.setUint16(18, 0);
    view.setUint32(20, content * 15_013);
    return this;
  }
}
