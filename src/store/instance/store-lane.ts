/**
 * The way of many contents to one volume: one stream of requests that goes on for as long as there are some, and answers
 * in their order. Where the stream fails, so do all that wait in it; the next request begins another.
 */
import { Signal } from "../signal.ts";
import type { BulkRequest, StoreReceipt } from "../volume.ts";
import { isUnavailable, type Member } from "./member.ts";

/** All is answered by then; a server that does not end its stream is left. */
const PARTING_MS = 1000;

interface Waiting {
  readonly sentMs: number;
  readonly resolve: (receipt: StoreReceipt) => void;
  readonly reject: (error: unknown) => void;
}

export class StoreLane {
  private readonly member: Member;
  private readonly changed = new Signal();
  /** Not handed to the volume yet. */
  private queue: BulkRequest[] = [];
  /** Of all that are not answered, those in the queue too. */
  private waiting: Waiting[] = [];
  private running: Promise<void> | undefined;
  private isEnded = false;

  constructor(member: Member) {
    this.member = member;
  }

  /** The data, where there is some, is held, and must not change before the answer. */
  send(request: BulkRequest): Promise<StoreReceipt> {
    return new Promise((resolve, reject) => {
      this.queue.push(request);
      this.waiting.push({ sentMs: this.member.nowMs, resolve, reject });
      this.changed.fire();
      this.running ??= this.run();
    });
  }

  /** No more requests come; those that came are carried out. Resolves when the stream has ended, or did not for a while. */
  async end(): Promise<void> {
    this.isEnded = true;
    this.changed.fire();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PARTING_MS);
    });
    await Promise.race([this.running, late]);
    clearTimeout(timer);
  }

  private async *requests(): AsyncGenerator<BulkRequest> {
    for (;;) {
      const next = this.queue.shift();
      if (next !== undefined) yield next;
      else if (this.isEnded) return;
      else await this.changed.wait();
    }
  }

  private async run(): Promise<void> {
    try {
      // What came when the stream had ended already begins another.
      do await this.carryOut();
      while (this.queue.length > 0);
    } catch (error) {
      const { waiting } = this;
      this.queue = [];
      this.waiting = [];
      for (const { reject } of waiting) reject(error);
    }
    this.running = undefined;
  }

  private async carryOut(): Promise<void> {
    for await (const answer of this.member.askAll((volume) => volume.storeAll(this.requests()))) {
      const { sentMs, resolve, reject } = this.waiting.shift()!;
      if ("receipt" in answer) resolve(answer.receipt);
      else reject(isUnavailable(answer.error) ? this.member.noteDown(answer.error, sentMs) : answer.error);
    }
    if (this.waiting.length > this.queue.length) throw new Error("a volume gave fewer answers than it was asked for");
  }
}
