/** The payload of a capture as the body of an answer: small ones in one piece, large ones as a stream. */
import { type ByteRange, OpenedCapture } from "../../archive/index.ts";
import { ArchiveError } from "../../base/index.ts";

const START_SIZE = 1 << 12;

/** Takes over the capture, and closes it when the body has been given, or nobody waits for it any more. */
export class FoundPayload {
  /** Of the payload; absent where that is not known, or what is left of it is less. */
  readonly size: number | undefined;
  /** What is wrong with it, in words. */
  readonly damage: string | undefined;
  private readonly opened: OpenedCapture;
  private readonly signal: AbortSignal;
  /** All of it, of a small one. */
  private readonly bytes: Uint8Array | undefined;

  /** HT_NOT_FOUND for a revisit whose original is not there. */
  static async of(opened: OpenedCapture, signal: AbortSignal): Promise<FoundPayload> {
    const { size } = opened;
    if (size === undefined || size > OpenedCapture.provenFirstMax)
      return new FoundPayload(opened, signal, size, undefined, undefined);
    try {
      return new FoundPayload(opened, signal, size, await gathered(opened.passing()), undefined);
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.code === "HT_NOT_FOUND") throw error;
      const damage = "damaged in the archive; this is what can be read of it";
      return new FoundPayload(opened, signal, undefined, await gathered(opened.remains()), damage);
    }
  }

  private constructor(
    opened: OpenedCapture,
    signal: AbortSignal,
    size: number | undefined,
    bytes: Uint8Array | undefined,
    damage: string | undefined,
  ) {
    this.opened = opened;
    this.signal = signal;
    this.size = size;
    this.bytes = bytes;
    this.damage = damage;
  }

  /** Its first bytes, a few thousand of them. */
  async start(): Promise<Uint8Array> {
    if (this.bytes !== undefined) return this.bytes;
    for await (const chunk of this.opened.passing({ from: 0, to: START_SIZE })) return Buffer.from(chunk);
    return new Uint8Array(0);
  }

  /** All of it or a part. The capture is closed with the end of the stream. */
  body(range?: ByteRange): Promise<Uint8Array | AsyncGenerator<Uint8Array>> {
    return this.opening(range, (part) => this.opened.payload(part));
  }

  /** The same for a server that writes each chunk before it asks for the next: a chunk is valid only until then. */
  passingBody(range?: ByteRange): Promise<Uint8Array | AsyncGenerator<Uint8Array>> {
    return this.opening(range, (part) => this.opened.passing(part));
  }

  private async opening(
    range: ByteRange | undefined,
    open: (range: ByteRange | undefined) => AsyncGenerator<Uint8Array>,
  ): Promise<Uint8Array | AsyncGenerator<Uint8Array>> {
    if (this.bytes !== undefined) {
      await this.close();
      return range === undefined ? this.bytes : this.bytes.subarray(range.from, range.to);
    }
    const chunks = open(range);
    // Begun, so that it can be ended: a stream that nobody ever asks would keep the capture open.
    const first = await chunks.next();
    this.signal.addEventListener("abort", () => void this.end(chunks), { once: true });
    return this.stream(first, chunks);
  }

  private async *stream(first: IteratorResult<Uint8Array>, chunks: AsyncGenerator<Uint8Array>) {
    try {
      for (let step = first; step.done !== true; step = await chunks.next()) yield step.value;
    } finally {
      await this.end(chunks);
    }
  }

  private async end(chunks: AsyncGenerator<Uint8Array>): Promise<void> {
    await chunks.return(undefined);
    await this.close();
  }

  private isClosed = false;

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.opened[Symbol.asyncDispose]();
  }
}

async function gathered(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}
