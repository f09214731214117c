/**
 * What a socket reads into: one buffer that is used again and again, or two where the sink takes its time. While somebody
 * holds bytes, nothing is read; but over TLS what is decrypted already comes all the same, some 64 KB, and waits here.
 */

const READ_SIZE = 64 << 10;
/** No more is decrypted at once. */
const RECORD_SIZE = 16 << 10;

export class SocketReader {
  /** Takes what was read, valid during the call, or while it is held. False where nothing more is to be read for now. */
  receive: ((bytes: Buffer) => boolean) | undefined;
  private readonly main: Buffer = Buffer.allocUnsafeSlow(READ_SIZE);
  private spare: Buffer | undefined;
  /** What the socket reads into. */
  private current: Buffer = this.main;
  private isHeld = false;
  /** Read, and not looked at. */
  private readonly waiting: Buffer[] = [];
  /** Buffers with bytes that are held or wait. */
  private readonly inUse = new Set<Buffer>();

  /** For the socket. */
  readonly onread = {
    buffer: (): Uint8Array => {
      this.current = this.inUse.size === 0 ? this.main : this.freeBuffer();
      return this.current;
    },
    callback: (size: number): boolean => {
      const bytes = this.current.subarray(0, size);
      if (!this.isHeld && this.waiting.length === 0) return this.receive?.(bytes) ?? false;
      this.waiting.push(bytes);
      this.inUse.add(this.current);
      return false;
    },
  };

  private freeBuffer(): Buffer {
    const { main, inUse } = this;
    if (!inUse.has(main)) return main;
    this.spare ??= Buffer.allocUnsafeSlow(READ_SIZE);
    return inUse.has(this.spare) ? Buffer.allocUnsafeSlow(RECORD_SIZE) : this.spare;
  }

  /** Bytes came that nobody has seen yet. */
  get hasMore(): boolean {
    return this.waiting.length > 0;
  }

  /** The bytes that `receive` has or had last are in use until `release`. */
  hold(): void {
    this.isHeld = true;
    this.inUse.add(this.current);
  }

  release(): void {
    this.isHeld = false;
    if (this.waiting.length === 0) this.inUse.clear();
  }

  /** Hands out what waits. True where nothing does any more, so that the socket may go on. */
  drain(): boolean {
    while (!this.isHeld) {
      const bytes = this.waiting.shift();
      if (bytes === undefined) {
        this.inUse.clear();
        return true;
      }
      if (this.receive?.(bytes) !== true) return false;
    }
    return false;
  }
}
