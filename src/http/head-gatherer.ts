/**
 * The bytes of an answer until its header is complete. What comes in one piece is not copied; the rest is gathered in a
 * buffer that grows. Each byte is looked at once, however the bytes are cut.
 */

const LF = 10;
const CR = 13;
const ROOM_MIN = 4096;
const EMPTY = Buffer.alloc(0);

export class HeadGatherer {
  private held: Buffer = EMPTY;
  private size = 0;
  private scanned = 0;
  /** Only carriage returns came since the last line end. */
  private isLineStart = false;

  /**
   * Adds a piece. Returns all bytes so far: the piece itself where it is the first, else a copy; both stay valid until the
   * next call.
   */
  add(piece: Uint8Array): Uint8Array {
    if (this.size === 0) return piece;
    this.append(piece);
    return this.held.subarray(0, this.size);
  }

  /** Copies what `add` returned, so that more can come. */
  hold(all: Uint8Array): void {
    if (this.size === 0) this.append(all);
  }

  private append(piece: Uint8Array): void {
    const size = this.size + piece.length;
    if (size > this.held.length) {
      const larger = Buffer.allocUnsafe(Math.max(ROOM_MIN, size * 2));
      larger.set(this.held.subarray(0, this.size));
      this.held = larger;
    }
    this.held.set(piece, this.size);
    this.size = size;
  }

  get bytes(): Uint8Array {
    return this.held.subarray(0, this.size);
  }

  /** Where the header ends, by the rule of warc/: after a line of nothing but carriage returns. Absent so far. */
  findEnd(all: Uint8Array): number | undefined {
    let at = this.scanned;
    while (at < all.length) {
      if (this.isLineStart) {
        while (all[at] === CR) at++;
        if (at === all.length) break;
        if (all[at] === LF) return at + 1;
        this.isLineStart = false;
      }
      const newline = all.indexOf(LF, at);
      if (newline < 0) at = all.length;
      else {
        at = newline + 1;
        this.isLineStart = true;
      }
    }
    this.scanned = all.length;
    return undefined;
  }

  /** Begins again with the next header. */
  reset(): void {
    this.held = EMPTY;
    this.size = 0;
    this.scanned = 0;
    this.isLineStart = false;
  }
}
