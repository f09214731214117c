/** The body of an answer that is too large to hold, as it comes: the connection waits until each piece is taken. */
import type { Socket } from "node:net";

export class LargeBody implements AsyncIterable<Uint8Array> {
  private readonly socket: Socket;
  private left: number;
  private pieces: Buffer[] = [];
  private failure: Error | undefined;
  private wake: () => void = () => {};

  constructor(size: number, socket: Socket) {
    this.left = size;
    this.socket = socket;
  }

  /** Takes bytes for its own. False: no more are to be read for now. */
  take(bytes: Buffer): boolean {
    this.left -= bytes.length;
    if (this.left < 0) this.destroy(new Error("more bytes than were announced"));
    this.pieces.push(bytes);
    this.wake();
    return false;
  }

  /** What has not come will not come. */
  fail(error: Error): void {
    this.failure ??= error;
    this.wake();
  }

  /** Leaves off: the connection is of no use for anything else. */
  destroy(error?: Error): void {
    this.failure ??= error;
    this.socket.destroy();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = this.pieces.shift();
      if (piece !== undefined) yield piece;
      else if (this.left === 0) return;
      else if (this.failure !== undefined) throw this.failure;
      else {
        const more = new Promise<void>((resolve) => {
          this.wake = resolve;
        });
        this.socket.resume();
        await more;
      }
    }
  }
}
