/**
 * Raw DEFLATE of one record after another with one compressor. As in `inflater.ts` the fast way drives the native object
 * inside Node's stream, is proven by a self-test, and gives way to documented code (`pako`) where the test fails.
 */
import { constants, DeflateRaw, inflateRawSync } from "node:zlib";
import { loadPako } from "./load-pako.ts";

export const GZIP_LEVEL_DEFAULT = 6;

export interface Deflater {
  /** Compresses all pieces as one stream; `emit` gets views that are valid during the call. */
  deflate(pieces: Iterable<Uint8Array>, emit: (bytes: Uint8Array) => void): void;
}

interface ZlibInside {
  readonly _handle: {
    reset(): void;
    writeSync(
      flush: number,
      input: Uint8Array,
      from: number,
      size: number,
      out: Uint8Array,
      at: number,
      room: number,
    ): void;
    onerror: () => void;
  };
  readonly _writeState: Uint32Array;
}

const OUTPUT_SIZE = 1 << 16;
const NOTHING = new Uint8Array(0);

export class NativeDeflater implements Deflater {
  private readonly owner: ZlibInside;
  private readonly output = Buffer.allocUnsafeSlow(OUTPUT_SIZE);
  private failed = false;

  constructor(level: number) {
    this.owner = new (DeflateRaw as unknown as new (options: { level: number }) => ZlibInside)({ level });
    this.owner._handle.onerror = () => {
      this.failed = true;
    };
  }

  deflate(pieces: Iterable<Uint8Array>, emit: (bytes: Uint8Array) => void): void {
    this.owner._handle.reset();
    // What is all there goes in with one call; of what comes in pieces nobody knows which is the last.
    if (Array.isArray(pieces) && pieces.length === 1) {
      this.feed(pieces[0] as Uint8Array, constants.Z_FINISH, emit);
      return;
    }
    for (const piece of pieces) this.feed(piece, constants.Z_NO_FLUSH, emit);
    this.feed(NOTHING, constants.Z_FINISH, emit);
  }

  private feed(input: Uint8Array, flush: number, emit: (bytes: Uint8Array) => void): void {
    const { output, owner } = this;
    let from = 0;
    for (;;) {
      owner._handle.writeSync(flush, input, from, input.length - from, output, 0, OUTPUT_SIZE);
      if (this.failed) throw new Error("zlib refused to compress");
      const given = OUTPUT_SIZE - owner._writeState[0]!;
      from = input.length - owner._writeState[1]!;
      if (given > 0) emit(output.subarray(0, given));
      // Room left over means that nothing waits inside.
      if (given < OUTPUT_SIZE && from === input.length) return;
    }
  }
}

export class PakoDeflater implements Deflater {
  private readonly level: number;

  constructor(level: number) {
    this.level = level;
  }

  deflate(pieces: Iterable<Uint8Array>, emit: (bytes: Uint8Array) => void): void {
    const { Deflate } = loadPako();
    const stream = new Deflate({ raw: true, level: this.level as 6, chunkSize: OUTPUT_SIZE });
    stream.onData = (bytes) => emit(bytes as Uint8Array);
    stream.onEnd = (status) => {
      stream.err = status;
    };
    for (const piece of pieces) stream.push(piece, false);
    stream.push(NOTHING, true);
    if (stream.err !== 0) throw new Error(`pako refused to compress: ${stream.msg}`);
  }
}

/** Two streams from one object, one of them larger than its output buffer, and Node's own word that they are right. */
export function provesItself(create: (level: number) => Deflater): boolean {
  try {
    const large = Buffer.alloc(3 * OUTPUT_SIZE);
    for (let i = 0, x = 1; i < large.length; i++, x = (x * 48271) % 2147483647) large[i] = x;
    const deflater = create(GZIP_LEVEL_DEFAULT);
    return [large, Buffer.from("holotype"), NOTHING].every((text) => {
      const parts: Buffer[] = [];
      const half = text.length >> 1;
      deflater.deflate([text.subarray(0, half), text.subarray(half)], (bytes) => parts.push(Buffer.from(bytes)));
      return inflateRawSync(Buffer.concat(parts)).equals(text);
    });
  } catch {
    return false;
  }
}

let nativeHolds: boolean | undefined;

export function createDeflater(level: number): Deflater {
  nativeHolds ??= provesItself((l) => new NativeDeflater(l));
  return nativeHolds ? new NativeDeflater(level) : new PakoDeflater(level);
}
