/** `POST /retrieve`: addresses come in, one a line, and records go out in their order, both at the same time. */
import {
  type BlockAddress,
  type EncodedRecord,
  formatBlockHead,
  formatBreakRecord,
  formatRefusal,
  MediaType,
  notHere,
  type OpenBlock,
  RECORD_SEPARATOR,
  toWireError,
} from "../store/index.ts";
import { AddressLines } from "./address-lines.ts";
import type { NodeExchange } from "./node-exchange.ts";
import { RecordBatch } from "./record-batch.ts";
import type { VolumeService } from "./service.ts";
import { fillUnlessDrained } from "./store-stream.ts";

export class RetrieveStream {
  private readonly service: VolumeService;
  private readonly exchange: NodeExchange;
  private readonly lines: AddressLines;
  private readonly batch: RecordBatch;
  /** Asked for and not answered yet, in order. */
  private asked: BlockAddress[] = [];
  /** Why no more addresses can be read. */
  private broken: unknown;
  private isInsideRecord = false;

  constructor(service: VolumeService, exchange: NodeExchange) {
    this.service = service;
    this.exchange = exchange;
    this.lines = new AddressLines(exchange.chunks());
    this.batch = new RecordBatch(exchange, () => exchange.response.writeHead(200, { "Content-Type": MediaType.warc }));
  }

  async run(): Promise<void> {
    while (!(await this.answerAll()));
    if (this.broken === undefined) return await this.end();
    this.exchange.failure = this.broken;
    await this.batch.flush();
    if (!this.exchange.response.headersSent) return this.exchange.fail(this.broken);
    const told = toWireError(this.broken);
    await this.add(formatBreakRecord(this.service.stamp, told));
    await this.end();
    this.exchange.outcome = told.code;
    this.exchange.discard();
  }

  private async end(): Promise<void> {
    await this.batch.flush();
    const { exchange } = this;
    if (exchange.response.headersSent) exchange.response.end();
    else exchange.send(200, "done", { "Content-Type": MediaType.warc }, "");
    exchange.outcome = "done";
  }

  /** Answers until no more is asked for; false where a block could not be read, and the others are to be gone on with. */
  private async answerAll(): Promise<boolean> {
    try {
      for await (const block of this.service.volume.openAll(this.addresses())) {
        const address = this.asked.shift()!;
        if (block !== undefined) await this.send(block);
        else await this.add(formatRefusal(this.service.stamp, address, toWireError(notHere(address))));
        this.service.metrics.count("bulk-retrieve", block === undefined ? "HT_NOT_FOUND" : "found");
      }
      return true;
    } catch (error) {
      if (this.isInsideRecord || this.exchange.response.destroyed) throw error;
      if (this.broken !== undefined) return true;
      const address = this.asked.shift();
      if (address === undefined) throw error;
      const told = toWireError(error);
      if (told.code === "HT_UNEXPECTED") this.exchange.failure = error;
      this.service.metrics.count("bulk-retrieve", told.code);
      await this.add(formatRefusal(this.service.stamp, address, told));
      return false;
    }
  }

  private async *addresses(): AsyncGenerator<BlockAddress> {
    // Those that were asked for before a block could not be read. A copy, for answers take them away.
    yield* this.asked.slice();
    try {
      for (;;) {
        const address = this.lines.take();
        if (address !== undefined) {
          this.asked.push(address);
          this.exchange.isWithServer = true;
          yield address;
        } else {
          if (this.asked.length === 0) this.exchange.isWithServer = false;
          if (!(await fillUnlessDrained(this.service, this.exchange, this.lines))) return;
        }
      }
    } catch (error) {
      this.broken = error;
      throw error;
    }
  }

  private async add({ head, block }: EncodedRecord): Promise<void> {
    await this.batch.add(head, block);
  }

  private async send(block: OpenBlock): Promise<void> {
    const head = formatBlockHead(this.service.stamp, this.service.algorithm, block);
    if (block.data instanceof Uint8Array) {
      await this.batch.add(head, block.data);
      return;
    }
    this.isInsideRecord = true;
    await this.batch.addPiece(Buffer.from(head, "latin1"));
    for await (const piece of block.data) await this.batch.addPiece(piece);
    await this.batch.addPiece(RECORD_SEPARATOR);
    this.isInsideRecord = false;
  }
}
