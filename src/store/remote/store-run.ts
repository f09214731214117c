/**
 * A bulk store at a volume server. Requests go out as they come, answers come back in their order. Where the stream
 * breaks, what was not answered is sent again, under the same ids, in a new one.
 */
import type { IncomingMessage } from "node:http";
import { Signal } from "../signal.ts";
import type { SignatureAlgorithm } from "../signature.ts";
import { iterate, leaveOff, type Source } from "../source.ts";
import type { BulkRequest, StoreAnswer, StoreReceipt, StoreRequest } from "../volume.ts";
import { notOurs, readAnswer } from "../wire/block-json.ts";
import { formatReferenceHead, formatStoreHead, RECORD_SEPARATOR, type RecordStamp } from "../wire/block-record.ts";
import { MediaType } from "../wire/protocol.ts";
import { Attempts } from "./attempts.ts";
import { Channel } from "./channel.ts";
import { timedOut } from "./deadlines.ts";
import type { Link } from "./link.ts";
import { checkBulk } from "./request-check.ts";

/** Requests that are not answered yet, in number and in bytes held. */
const UNDER_WAY_MAX = 512;
const HELD_SIZE_MAX = 16 << 20;

interface Entry {
  /** The header of its record; absent for what goes its own way. */
  readonly head: string | undefined;
  readonly data: Uint8Array;
  answer: StoreAnswer | undefined;
}

const NOTHING = new Uint8Array(0);
/** Records are sent in pieces of about this size, or of one record. */
const PIECE_SIZE = 128 << 10;

function sizeOf({ head, data }: Entry): number {
  return head!.length + data.length + RECORD_SEPARATOR.length;
}

/** Writes their records one behind the other, and gives the end. */
function encodeEntries(entries: readonly Entry[], into: Buffer): number {
  let at = 0;
  for (const { head, data } of entries) {
    at += into.write(head!, at, "latin1");
    into.set(data, at);
    into.set(RECORD_SEPARATOR, at + data.length);
    at += data.length + RECORD_SEPARATOR.length;
  }
  return at;
}

export interface StoreRunParts {
  readonly link: Link;
  readonly stamp: RecordStamp;
  readonly algorithm: SignatureAlgorithm;
  /** For data in pieces, whose length nobody knows: a request of its own. */
  readonly storeOne: (request: StoreRequest) => Promise<StoreReceipt>;
}

export class StoreRun {
  private readonly parts: StoreRunParts;
  private readonly source: AsyncIterator<BulkRequest> | Iterator<BulkRequest>;
  private readonly attempts: Attempts;
  /** In their order: all that was not handed out yet; what was not sent yet; what was sent and not answered. */
  private entries: Entry[] = [];
  private unsent: Entry[] = [];
  private sent: Entry[] = [];
  private heldBytes = 0;
  private channel: Channel | undefined;
  /** Buffers that were sent, for the next ones: new ones would be most of what is thrown away here. */
  private readonly buffers: Buffer[] = [];
  private isPumpPlanned = false;
  private isDraining = false;
  private isFed = false;
  private isStopped = false;
  private failure: { readonly error: unknown } | undefined;
  private heardMs = 0;
  private readonly changed = new Signal();

  constructor(parts: StoreRunParts, requests: Source<BulkRequest>) {
    this.parts = parts;
    this.source = iterate(requests);
    this.attempts = new Attempts(parts.link);
  }

  async *answers(): AsyncGenerator<StoreAnswer> {
    const { answerTimeoutMs } = this.parts.link.deadlines;
    const watch = setInterval(() => this.judgeSilence(answerTimeoutMs), answerTimeoutMs / 4);
    const work = Promise.all([this.feed(), this.transmit()]);
    try {
      for (;;) {
        while (this.entries[0]?.answer !== undefined) yield this.handOut();
        if (this.isFed && this.entries.length === 0) break;
        await this.changed.wait();
      }
      await work;
    } finally {
      clearInterval(watch);
      this.isStopped = true;
      this.changed.fire();
      this.channel?.destroy();
      if (!this.isFed) leaveOff(this.source);
    }
    if (this.failure !== undefined) throw this.failure.error;
  }

  private handOut(): StoreAnswer {
    const { answer, data } = this.entries.shift()!;
    this.heldBytes -= data.length;
    this.changed.fire();
    return answer!;
  }

  private async feed(): Promise<void> {
    try {
      while (!this.isStopped) {
        const { done, value } = await this.source.next();
        if (done === true) break;
        await this.take(value);
        while (!this.isStopped && (this.entries.length >= UNDER_WAY_MAX || this.heldBytes > HELD_SIZE_MAX)) {
          await this.changed.wait();
        }
      }
    } catch (error) {
      this.failure = { error };
    }
    this.isFed = true;
    this.pump();
    this.changed.fire();
  }

  private take(request: BulkRequest): Promise<void> | undefined {
    const entry = this.prepare(request);
    this.entries.push(entry);
    if (entry.answer === undefined && entry.head === undefined) return this.storeAlone(entry, request as StoreRequest);
    if (entry.head !== undefined) {
      this.heldBytes += entry.data.length;
      this.unsent.push(entry);
      this.pumpSoon();
    }
    this.changed.fire();
    return undefined;
  }

  private prepare(request: BulkRequest): Entry {
    const { link, stamp, algorithm } = this.parts;
    try {
      const signature = checkBulk(request, algorithm);
      const { size, data, requestId = link.newRequestId() } = request;
      const named = { algorithm, signature, size, requestId };
      if (data === undefined) return { head: formatReferenceHead(stamp, named), data: NOTHING, answer: undefined };
      if (!(data instanceof Uint8Array)) return { head: undefined, data: NOTHING, answer: undefined };
      const { mode, compression } = request;
      return { head: formatStoreHead(stamp, { ...named, mode, compression }, data.length), data, answer: undefined };
    } catch (error) {
      return { head: undefined, data: NOTHING, answer: { error: error as Error } };
    }
  }

  private async storeAlone(entry: Entry, request: StoreRequest): Promise<void> {
    try {
      entry.answer = { receipt: await this.parts.storeOne(request) };
    } catch (error) {
      entry.answer = { error: error instanceof Error ? error : new Error(String(error)) };
    }
    this.changed.fire();
  }

  /** Opens a stream whenever there is something to send and none is open. */
  private async transmit(): Promise<void> {
    while (!this.isStopped) {
      if (this.unsent.length === 0) {
        if (this.isFed) return;
        await this.changed.wait();
        continue;
      }
      const channel = new Channel(this.parts.link, "/store", MediaType.warc);
      this.channel = channel;
      this.heardMs = performance.now();
      this.isDraining = false;
      this.pump();
      const error = await this.receive(channel).catch((cause: unknown) => this.parts.link.unavailable(cause));
      this.channel = undefined;
      channel.destroy();
      this.unsent = [...this.sent, ...this.unsent];
      this.sent = [];
      if (this.unsent.length > 0 && !this.isStopped && !(await this.attempts.mayTryAgain(error))) this.giveUp(error);
    }
  }

  /** What comes in one turn of the event loop goes out together: for both sides many small pieces are dear. */
  private pumpSoon(): void {
    if (this.isPumpPlanned) return;
    this.isPumpPlanned = true;
    setImmediate(() => {
      this.isPumpPlanned = false;
      this.pump();
    });
  }

  /** Sends what can be sent now. */
  private pump(): void {
    const { channel } = this;
    if (channel === undefined || this.isDraining) return;
    while (this.unsent.length > 0) {
      if (this.sent.length === 0) this.heardMs = performance.now();
      const drained = this.sendSome(channel);
      if (drained === undefined) continue;
      this.isDraining = true;
      void drained.then(() => this.goOn(channel));
      return;
    }
    if (this.isFed) channel.end();
  }

  /** As many as go out in one piece. They count as sent. */
  private sendSome(channel: Channel): Promise<void> | undefined {
    let size = sizeOf(this.unsent[0]!);
    let count = 1;
    while (count < this.unsent.length) {
      const more = size + sizeOf(this.unsent[count]!);
      if (more > PIECE_SIZE) break;
      size = more;
      count++;
    }
    const taken = this.unsent.splice(0, count);
    this.sent.push(...taken);
    const isLarge = size > PIECE_SIZE;
    const buffer = isLarge ? Buffer.allocUnsafe(size) : (this.buffers.pop() ?? Buffer.allocUnsafeSlow(PIECE_SIZE));
    const bytes = buffer.subarray(0, encodeEntries(taken, buffer));
    return channel.write(bytes, isLarge ? undefined : () => void this.buffers.push(buffer));
  }

  private goOn(channel: Channel): void {
    if (channel !== this.channel) return;
    this.isDraining = false;
    this.pump();
  }

  /** Takes answers until there are no more; gives the reason why. */
  private async receive(channel: Channel): Promise<Error> {
    const response: IncomingMessage = await channel.reply;
    response.setEncoding("utf8");
    let text = "";
    for await (const piece of response as AsyncIterable<string>) {
      text += piece;
      let at = 0;
      for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", at)) {
        const answer = readAnswer(text.slice(at, end));
        at = end + 1;
        if ("broken" in answer) return answer.broken;
        const entry = this.sent.shift();
        if (entry === undefined) return notOurs("more answers than requests");
        entry.answer = answer;
        this.attempts.progress();
      }
      text = text.slice(at);
      this.heardMs = performance.now();
      this.changed.fire();
    }
    return this.parts.link.unavailable(new Error("the answers ended early"));
  }

  private giveUp(error: Error): void {
    for (const entry of this.unsent) entry.answer = { error };
    this.unsent = [];
    this.changed.fire();
  }

  /** Where nothing is waited for, nothing has to come. */
  private judgeSilence(answerTimeoutMs: number): void {
    if (this.sent.length === 0 && !this.isFed) return;
    if (performance.now() - this.heardMs > answerTimeoutMs) {
      this.channel?.destroy(timedOut("no answer", answerTimeoutMs));
    }
  }
}
