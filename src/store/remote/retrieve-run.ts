/**
 * Many blocks from a volume server in one stream. Addresses go out as they come, blocks come back in their order. Where
 * the stream breaks, the blocks that have not come are asked for again.
 */
import { type BlockAddress, formatAddress } from "../content-key.ts";
import { Signal } from "../signal.ts";
import { iterate, leaveOff, type Source } from "../source.ts";
import type { OpenBlock } from "../volume.ts";
import { notOurs } from "../wire/block-json.ts";
import { parseBlockHead, readRefusal } from "../wire/block-record.ts";
import { MediaType } from "../wire/protocol.ts";
import { RecordReader, type WireRecord } from "../wire/record-reader.ts";
import { Attempts } from "./attempts.ts";
import { Channel } from "./channel.ts";
import { timedOut } from "./deadlines.ts";
import { receivedPieces } from "./late-data.ts";
import type { Link } from "./link.ts";

/** Addresses that were sent and not answered. */
const ASKED_MAX = 1024;

export class RetrieveRun {
  private readonly link: Link;
  private readonly source: AsyncIterator<BlockAddress> | Iterator<BlockAddress>;
  private readonly attempts: Attempts;
  private asked: BlockAddress[] = [];
  private channel: Channel | undefined;
  private reader: RecordReader | undefined;
  /** Lines for the channel that were not sent yet. */
  private unsent = "";
  private isSendPlanned = false;
  private isFed = false;
  private isStopped = false;
  private failure: { readonly error: unknown } | undefined;
  private readonly changed = new Signal();

  constructor(link: Link, addresses: Source<BlockAddress>) {
    this.link = link;
    this.source = iterate(addresses);
    this.attempts = new Attempts(link);
  }

  async *blocks(): AsyncGenerator<OpenBlock | undefined> {
    const feeding = this.feed();
    try {
      for (;;) {
        if (this.asked.length > 0) {
          yield await this.take();
          await this.skip();
        } else if (this.isFed) break;
        else await this.changed.wait();
      }
      await feeding;
    } finally {
      this.isStopped = true;
      this.changed.fire();
      this.drop();
      if (!this.isFed) leaveOff(this.source);
    }
    if (this.failure !== undefined) throw this.failure.error;
  }

  private async feed(): Promise<void> {
    try {
      while (!this.isStopped) {
        const { done, value } = await this.source.next();
        if (done === true) break;
        this.asked.push(value);
        this.changed.fire();
        this.sendSoon(`${formatAddress(value)}\n`);
        while (!this.isStopped && this.asked.length >= ASKED_MAX) await this.changed.wait();
      }
    } catch (error) {
      this.failure = { error };
    }
    this.isFed = true;
    this.sendNow();
    this.channel?.end();
    this.changed.fire();
  }

  /** What comes in one turn of the event loop goes out together: each piece is dear for both sides, and a line is short. */
  private sendSoon(line: string): void {
    if (this.channel === undefined) return;
    this.unsent += line;
    if (this.isSendPlanned) return;
    this.isSendPlanned = true;
    setImmediate(() => {
      this.isSendPlanned = false;
      this.sendNow();
    });
  }

  private sendNow(): void {
    const text = this.unsent;
    this.unsent = "";
    // No more lines wait than may be asked for, so that there is no need to wait for room.
    if (text !== "") void this.channel?.write(text);
  }

  /** The block that was asked for first. */
  private async take(): Promise<OpenBlock | undefined> {
    const record = await this.nextRecord();
    this.attempts.progress();
    const address = this.asked.shift()!;
    this.changed.fire();
    const info = parseBlockHead(record.head);
    if (info !== "refusal") {
      if (formatAddress(info) !== formatAddress(address)) throw notOurs("another block than was asked for");
      return { ...info, data: record.data };
    }
    const told = readRefusal(record.data as Uint8Array);
    if ("broken" in told) throw told.broken;
    if (told.error.code === "HT_NOT_FOUND") return undefined;
    throw told.error;
  }

  private async nextRecord(): Promise<WireRecord> {
    for (;;) {
      try {
        const reader = this.reader ?? (await this.connect());
        for (;;) {
          const record = reader.take();
          if (record !== undefined) {
            checkUnbroken(record);
            return record;
          }
          if (!(await reader.fill())) throw this.link.unavailable(new Error("the blocks ended early"));
        }
      } catch (error) {
        this.drop();
        if (!(await this.attempts.mayTryAgain(error))) throw error;
      }
    }
  }

  private async connect(): Promise<RecordReader> {
    const channel = new Channel(this.link, "/retrieve", MediaType.text);
    this.channel = channel;
    this.unsent = "";
    void channel.write(this.asked.map((address) => `${formatAddress(address)}\n`).join(""));
    if (this.isFed) channel.end();
    const { answerTimeoutMs } = this.link.deadlines;
    const timer = setTimeout(() => channel.destroy(timedOut("no answer", answerTimeoutMs)), answerTimeoutMs);
    const response = await channel.reply.finally(() => clearTimeout(timer));
    this.reader = new RecordReader(receivedPieces(this.link, response));
    return this.reader;
  }

  /** What was not taken of the last block does not keep the next one back. */
  private async skip(): Promise<void> {
    if (this.reader?.isReading !== true) return;
    try {
      await this.reader.skip();
    } catch {
      this.drop();
    }
  }

  private drop(): void {
    this.channel?.destroy();
    this.channel = undefined;
    this.reader = undefined;
    this.unsent = "";
  }
}

/** The server's word that it does not go on stands in the place of an answer, but is none. */
function checkUnbroken(record: WireRecord): void {
  if (record.head.fields.get("warc-type") !== "metadata") return;
  if (!(record.data instanceof Uint8Array)) throw notOurs("a refusal that is too large");
  const told = readRefusal(record.data);
  if ("broken" in told) throw told.broken;
}
