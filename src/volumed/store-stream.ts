/**
 * `POST /store`: records come in, a line goes out for each as it becomes durable, both at the same time. Where the stream
 * breaks, what was taken before is still answered, and the last line says why there are no more.
 */
import { ArchiveError } from "../base/index.ts";
import {
  carryOut,
  formatBreak,
  MediaType,
  parseStoreHead,
  RecordReader,
  type StoreReceipt,
  toWireError,
  type WireHead,
  type WireRecord,
} from "../store/index.ts";
import { piecemeal } from "./block-routes.ts";
import type { NodeExchange } from "./node-exchange.ts";
import { OrderedLines } from "./ordered-lines.ts";
import type { VolumeService } from "./service.ts";

export class StoreStream {
  private readonly service: VolumeService;
  private readonly exchange: NodeExchange;
  private readonly reader: RecordReader;
  private readonly lines: OrderedLines;
  private records = 0;

  constructor(service: VolumeService, exchange: NodeExchange) {
    this.service = service;
    this.exchange = exchange;
    this.reader = new RecordReader(exchange.chunks());
    this.lines = new OrderedLines(exchange, {
      begin: () => exchange.response.writeHead(200, { "Content-Type": MediaType.lines }),
      onAnswer: (receipt, outcome) => this.count(receipt, outcome),
    });
  }

  private count(receipt: StoreReceipt | undefined, outcome: string): void {
    if (receipt !== undefined) this.service.noteReceipt(receipt);
    this.service.metrics.count("bulk-store", outcome);
  }

  async run(): Promise<void> {
    let broken: unknown;
    try {
      await this.takeAll();
    } catch (error) {
      broken = error;
    }
    await this.lines.finish();
    this.end(broken);
  }

  private async takeAll(): Promise<void> {
    const { lines, reader } = this;
    do {
      for (let record = reader.take(); record !== undefined; record = reader.take()) {
        this.admit();
        const isTaken = this.take(record);
        if (isTaken !== undefined) await isTaken;
        if (lines.isFull) await lines.room();
      }
    } while (await fillUnlessDrained(this.service, this.exchange, reader));
  }

  private admit(): void {
    if (this.service.isDraining) throw goingDown();
    this.records++;
    const { bulkRecordCountMax } = this.service.limits;
    if (this.records > bulkRecordCountMax) {
      throw new ArchiveError("HT_TOO_LARGE", `at most ${bulkRecordCountMax} records in one stream`);
    }
  }

  /** A small record is under way when this returns; a large one is waited for, as its pieces come. */
  private take(record: WireRecord): Promise<void> | undefined {
    let request: ReturnType<typeof parseStoreHead>;
    try {
      request = this.parse(record.head);
    } catch (error) {
      this.lines.add(Promise.reject(error as Error), 0);
      return this.reader.isReading ? this.reader.skip() : undefined;
    }
    const { mode, signature, size, requestId } = request;
    if (mode === "reference") {
      this.lines.add(this.service.track(carryOut(this.service.volume, { signature, size, requestId })), 0);
      return undefined;
    }
    const data = piecemeal(record.data, size);
    const { compression } = request;
    const answer = this.service.track(
      this.service.volume.store({ signature, size, mode, compression, data, requestId }),
    );
    this.lines.add(answer, data instanceof Uint8Array ? data.length : 0);
    return data instanceof Uint8Array ? undefined : this.finishPieces(answer);
  }

  private async finishPieces(answer: Promise<StoreReceipt>): Promise<void> {
    // What became of it is told in its line.
    await answer.catch(() => {});
    if (this.reader.isReading) await this.reader.skip();
  }

  private parse(head: WireHead) {
    const request = parseStoreHead(head);
    const { algorithm, limits } = this.service;
    if (request.algorithm !== algorithm) {
      throw new ArchiveError("HT_USAGE", `signatures are ${algorithm} here, not ${request.algorithm}`);
    }
    if (Math.max(request.size, head.length) > limits.contentSizeMaxBytes) {
      throw new ArchiveError("HT_TOO_LARGE", `contents have at most ${limits.contentSizeMaxBytes} bytes here`);
    }
    return request;
  }

  private end(broken: unknown): void {
    const { exchange } = this;
    const { response } = exchange;
    if (broken === undefined) {
      exchange.outcome = "done";
      if (response.headersSent) response.end();
      else exchange.send(200, "done", { "Content-Type": MediaType.lines }, "");
      return;
    }
    exchange.failure = broken;
    if (!response.headersSent) return exchange.fail(broken);
    exchange.outcome = toWireError(broken).code;
    response.end(`${formatBreak(broken)}\n`);
    exchange.discard();
  }
}

/** Waits for more of a stream, or for the server to go down (HT_BUSY). */
export function fillUnlessDrained(
  service: VolumeService,
  exchange: NodeExchange,
  source: { fill(): Promise<boolean> },
): Promise<boolean> {
  if (service.isDraining) return Promise.reject(goingDown());
  return new Promise((resolve, reject) => {
    exchange.onDrain = () => reject(goingDown());
    source.fill().then(resolve, reject);
  });
}

function goingDown(): ArchiveError {
  return new ArchiveError("HT_BUSY", "the server is going down");
}
