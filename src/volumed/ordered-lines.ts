/**
 * The answers of a bulk store: each is a line, sent when it and all before it are there. Lines that become ready in one
 * turn of the event loop go out together.
 */
import { formatAnswer, type StoreReceipt, toWireError } from "../store/index.ts";
import { cutOff } from "./exchange.ts";
import { BULK_HELD_SIZE_MAX, BULK_UNDER_WAY_MAX } from "./limits.ts";
import type { NodeExchange } from "./node-exchange.ts";

interface Slot {
  line: string | undefined;
  readonly heldBytes: number;
}

export interface LineSink {
  /** Before the first line. */
  begin(): void;
  onAnswer(receipt: StoreReceipt | undefined, outcome: string): void;
}

export class OrderedLines {
  private readonly exchange: NodeExchange;
  private readonly sink: LineSink;
  private slots: Slot[] = [];
  /** Slots before this one are sent. */
  private first = 0;
  private heldBytes = 0;
  private text = "";
  private isFlushPlanned = false;
  private isBlocked = false;
  private waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;

  constructor(exchange: NodeExchange, sink: LineSink) {
    this.exchange = exchange;
    this.sink = sink;
    exchange.response.on("drain", () => this.unblock());
    exchange.response.on("close", () => this.waiting?.reject(cutOff(undefined)));
  }

  get underWay(): number {
    return this.slots.length - this.first;
  }

  /** Whether the next request has to wait, see `room`. */
  get isFull(): boolean {
    return this.isBlocked || this.underWay >= BULK_UNDER_WAY_MAX || this.heldBytes > BULK_HELD_SIZE_MAX;
  }

  add(answer: Promise<StoreReceipt>, heldBytes: number): void {
    const slot: Slot = { line: undefined, heldBytes };
    this.slots.push(slot);
    this.heldBytes += heldBytes;
    this.exchange.isWithServer = true;
    answer.then(
      (receipt) => {
        this.sink.onAnswer(receipt, receipt.outcome);
        this.fill(slot, formatAnswer({ receipt }));
      },
      (error: unknown) => {
        const told = toWireError(error);
        if (told.code === "HT_UNEXPECTED") this.exchange.failure ??= error;
        this.sink.onAnswer(undefined, told.code);
        this.fill(slot, JSON.stringify({ error: told }));
      },
    );
  }

  private fill(slot: Slot, line: string): void {
    slot.line = line;
    let { first } = this;
    for (; first < this.slots.length && this.slots[first]!.line !== undefined; first++) {
      const sent = this.slots[first]!;
      this.text += `${sent.line}\n`;
      this.heldBytes -= sent.heldBytes;
    }
    this.first = first;
    if (first === this.slots.length || first > BULK_UNDER_WAY_MAX) {
      this.slots = this.slots.slice(first);
      this.first = 0;
    }
    if (this.text !== "" && !this.isFlushPlanned) {
      this.isFlushPlanned = true;
      setImmediate(() => this.flush());
    }
  }

  private flush(): void {
    this.isFlushPlanned = false;
    if (this.underWay === 0) this.exchange.isWithServer = false;
    if (this.exchange.response.destroyed) return;
    if (!this.exchange.response.headersSent) this.sink.begin();
    this.exchange.bytesOut += this.text.length;
    const isTaken = this.exchange.response.write(this.text);
    this.text = "";
    if (!isTaken) {
      // Now it is the client that is waited for.
      this.isBlocked = true;
      this.exchange.isWithServer = false;
    }
    this.wake();
  }

  private unblock(): void {
    this.isBlocked = false;
    this.exchange.isWithServer = this.underWay > 0;
    this.wake();
  }

  private wake(): void {
    this.waiting?.resolve();
    this.waiting = undefined;
  }

  /** Resolves when there is room again. */
  async room(): Promise<void> {
    while (this.isFull) await this.change();
  }

  /** Resolves when all is answered. */
  async finish(): Promise<void> {
    while (this.underWay > 0 || this.text !== "" || this.isFlushPlanned) await this.change();
  }

  private change(): Promise<void> {
    if (this.exchange.response.destroyed) return Promise.reject(cutOff(undefined));
    return new Promise((resolve, reject) => {
      this.waiting = { resolve, reject };
    });
  }
}
