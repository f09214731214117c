/**
 * The records of a bulk stream, one by one. Those that are there already are taken without a promise; only for more
 * bytes is there something to wait for.
 */
import type { BlockData } from "../volume.ts";
import { RecordParser, type RecordParserOptions, type WireHead } from "./record-parser.ts";

export interface WireRecord {
  readonly head: WireHead;
  /** All there, or in pieces where it is large; then it must be read or skipped before the next record is taken. */
  readonly data: BlockData;
}

export class RecordReader {
  private readonly parser: RecordParser;
  private readonly chunks: AsyncIterator<Uint8Array>;
  private isInPieces = false;

  /** Takes as many chunks as it needs; neither closes them nor reads ahead. */
  constructor(chunks: AsyncIterator<Uint8Array>, options: RecordParserOptions = {}) {
    this.chunks = chunks;
    this.parser = new RecordParser(options);
  }

  /** Absent where bytes are missing, see `fill`. Throws as `RecordParser.next` does. */
  take(): WireRecord | undefined {
    const event = this.parser.next();
    if (event === undefined) return undefined;
    if (event.kind === "record") return { head: event.head, data: event.block };
    if (event.kind !== "begin") throw new Error("the record before was not read to its end");
    this.isInPieces = true;
    return { head: event.head, data: this.pieces() };
  }

  /** Waits for more bytes. False at the end of the stream; HT_CUT_OFF where that is in the middle of a record. */
  async fill(): Promise<boolean> {
    const { done, value } = await this.chunks.next();
    if (done === true) {
      this.parser.finish();
      return false;
    }
    this.parser.push(value);
    return true;
  }

  /** Whether a record is taken that has not been read to its end. */
  get isReading(): boolean {
    return this.isInPieces;
  }

  /** Reads what is left of the record that was taken last. */
  async skip(): Promise<void> {
    for await (const _ of this.pieces());
  }

  private async *pieces(): AsyncGenerator<Uint8Array> {
    while (this.isInPieces) {
      const event = this.parser.next();
      if (event === undefined) await this.fill();
      else if (event.kind === "piece") yield event.bytes;
      else this.isInPieces = false;
    }
  }
}
