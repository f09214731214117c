/**
 * Records on their way to the client, gathered into few writes. What is not sent when the event loop has nothing else to
 * do is sent then, so that a client that waits for an answer gets it.
 */
import { encodeRecord, RECORD_SEPARATOR } from "../store/index.ts";
import type { NodeExchange } from "./node-exchange.ts";

const BATCH_SIZE = 256 << 10;

export class RecordBatch {
  private readonly exchange: NodeExchange;
  private readonly begin: () => void;
  private readonly buffer = Buffer.allocUnsafeSlow(BATCH_SIZE);
  private size = 0;
  private flushing: Promise<void> | undefined;
  private isFlushPlanned = false;

  /** `begin` is called before the first write. */
  constructor(exchange: NodeExchange, begin: () => void) {
    this.exchange = exchange;
    this.begin = begin;
  }

  /** Takes a record, and its bytes at once; waits only where there is no room. */
  add(head: string, block: Uint8Array): Promise<void> | undefined {
    const size = head.length + block.length + RECORD_SEPARATOR.length;
    if (this.flushing !== undefined || this.size + size > BATCH_SIZE) return this.addLater(head, block, size);
    this.put(head, block);
    return undefined;
  }

  private async addLater(head: string, block: Uint8Array, size: number): Promise<void> {
    await this.flush();
    if (size <= BATCH_SIZE) this.put(head, block);
    else await this.write(encodeRecord(head, block));
  }

  /** Bytes of a record that is sent in pieces, behind all that was added. */
  async addPiece(piece: Uint8Array): Promise<void> {
    await this.flush();
    await this.write(piece);
  }

  private put(head: string, block: Uint8Array): void {
    const { buffer } = this;
    buffer.write(head, this.size, "latin1");
    buffer.set(block, this.size + head.length);
    this.size += head.length + block.length;
    buffer.set(RECORD_SEPARATOR, this.size);
    this.size += RECORD_SEPARATOR.length;
    if (this.isFlushPlanned) return;
    this.isFlushPlanned = true;
    setImmediate(() => {
      this.isFlushPlanned = false;
      // Whoever adds next learns that the connection is gone.
      this.flush().catch(() => {});
    });
  }

  flush(): Promise<void> {
    this.flushing ??= this.run();
    return this.flushing;
  }

  private async run(): Promise<void> {
    try {
      if (this.size > 0) await this.write(this.buffer.subarray(0, this.size));
      this.size = 0;
    } finally {
      this.flushing = undefined;
    }
  }

  private write(bytes: Uint8Array): Promise<void> {
    if (!this.exchange.response.headersSent) this.begin();
    return this.exchange.write(bytes);
  }
}
