/**
 * Raw DEFLATE of one record after another with one compressor. As in `inflater.ts` the fast way drives the native object
 * inside Node's stream, is proven by a self-test, and gives way to documented code (`pako`) where the test fails.
 */
import { constants, DeflateRaw, inflateRawSync, type ZlibOptions } from "node:zlib";
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

/**
 * What is small goes through a compressor that is small: with zlib's usual tables, most of the time is spent on bringing
 * them into the processor's cache. The window is 4 KB, of which zlib keeps 262 bytes to look ahead, and there is room for
 * as many symbols, so nothing that is smaller loses a match or is cut into blocks by it.
 */
const SMALL_OPTIONS = { windowBits: 12, memLevel: 6 } as const;
const SMALL_SIZE_MAX = 4096 - 262;

export class NativeDeflater implements Deflater {
  private readonly owner: ZlibInside;
  private readonly small: ZlibInside;
  private readonly output = Buffer.allocUnsafeSlow(OUTPUT_SIZE);
  private failed = false;

  constructor(level: number) {
    this.owner = this.create({ level });
    this.small = this.create({ level, ...SMALL_OPTIONS });
  }

  private create(options: ZlibOptions): ZlibInside {
    const owner = new (DeflateRaw as unknown as new (options: ZlibOptions) => ZlibInside)(options);
    owner._handle.onerror = () => {
      this.failed = true;
    };
    return owner;
  }

  deflate(pieces: Iterable<Uint8Array>, emit: (bytes: Uint8Array) => void): void {
    // What is all there goes in with one call; of what comes in pieces nobody knows which is the last.
    if (Array.isArray(pieces) && pieces.length === 1) {
      const piece = pieces[0] as Uint8Array;
      const owner = piece.length <= SMALL_SIZE_MAX ? this.small : this.owner;
      owner._handle.reset();
      this.feed(owner, piece, constants.Z_FINISH, emit);
      return;
    }
    this.owner._handle.reset();
    for (const piece of pieces) this.feed(this.owner, piece, constants.Z_NO_FLUSH, emit);
    this.feed(this.owner, NOTHING, constants.Z_FINISH, emit);
  }

  private feed(owner: ZlibInside, input: Uint8Array, flush: number, emit: (bytes: Uint8Array) => void): void {
    const { output } = this;
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
      const half = text.length >> 1;
      return [[text], [text.subarray(0, half), text.subarray(half)]].every((pieces) => {
        const parts: Buffer[] = [];
        deflater.deflate(pieces, (bytes) => parts.push(Buffer.from(bytes)));
        return inflateRawSync(Buffer.concat(parts)).equals(text);
      });
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
