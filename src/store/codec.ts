/**
 * Codecs: how contents are compressed. The client compresses, the bytes travel and lie compressed, and the name of the
 * codec lies beside them. Every codec gives back exactly the bytes that went in, or throws.
 */
import { pipeline, Readable } from "node:stream";
import * as zlib from "node:zlib";
import { ArchiveError } from "../base/index.ts";
import { loadZstd } from "../warc/index.ts";
import type { ContentThreads } from "./content-threads.ts";
import type { BlockData } from "./volume.ts";
import { decodeZstd, decodeZstdStream, encodeZstd, encodeZstdStream } from "./zstd-content.ts";

export interface Codec {
  /** At most 16 characters of `a-z 0-9 -`. */
  readonly name: string;
  encode(content: Uint8Array): Uint8Array;
  /** Gives at most `sizeMax` bytes; more is an error, so that a small lie does not fill the memory. */
  decode(stored: Uint8Array, sizeMax: number): Uint8Array;
  /** For contents too large to hold; a codec without them takes contents up to `HELD_SIZE_MAX`. */
  readonly encodeStream?: (content: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  readonly decodeStream?: (stored: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
}

/** Contents up to this size may be held in memory. */
export const HELD_SIZE_MAX = 64 << 20;

/** What is done with contents up to this size is done at once: handing it to a thread would take as long. */
export const INLINE_SIZE_MAX = 256 << 10;

/** Not for contents. */
export const TALLY_CODEC = "tally";

const NAME = /^[a-z0-9-]{1,16}$/;

function streamed(create: () => zlib.Gzip | zlib.BrotliCompress) {
  return (source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> => {
    const stream = create();
    // The error reaches the reader of `stream`.
    pipeline(Readable.from(copied(source), { objectMode: false }), stream, () => {});
    return stream;
  };
}

/** Streams take pieces ahead, when those before may be valid no longer. */
async function* copied(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of source) yield Buffer.from(piece);
}

const none: Codec = {
  name: "none",
  encode: (content) => content,
  decode: (stored, sizeMax) => {
    if (stored.length > sizeMax) throw new RangeError("larger than it was said to be");
    return stored;
  },
  encodeStream: (content) => content,
  decodeStream: (stored) => stored,
};

/** As `none`; by its name an instance with replicas knows the blocks that count their references. */
const tally: Codec = { ...none, name: TALLY_CODEC };

const zlibCodec: Codec = {
  name: "zlib",
  encode: (content) => zlib.deflateSync(content),
  decode: (stored, sizeMax) => zlib.inflateSync(stored, { maxOutputLength: Math.max(1, sizeMax) }),
  encodeStream: streamed(() => zlib.createDeflate()),
  decodeStream: streamed(() => zlib.createInflate() as unknown as zlib.Gzip),
};

const gzip: Codec = {
  name: "gzip",
  encode: (content) => zlib.gzipSync(content),
  decode: (stored, sizeMax) => zlib.gunzipSync(stored, { maxOutputLength: Math.max(1, sizeMax) }),
  encodeStream: streamed(() => zlib.createGzip()),
  decodeStream: streamed(() => zlib.createGunzip() as unknown as zlib.Gzip),
};

const BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } };

const br: Codec = {
  name: "br",
  encode: (content) => zlib.brotliCompressSync(content, BROTLI),
  decode: (stored, sizeMax) => zlib.brotliDecompressSync(stored, { maxOutputLength: Math.max(1, sizeMax) }),
  encodeStream: streamed(() => zlib.createBrotliCompress(BROTLI)),
  decodeStream: streamed(() => zlib.createBrotliDecompress() as unknown as zlib.Gzip),
};

const zstd: Codec = {
  name: "zstd",
  encode: encodeZstd,
  decode: decodeZstd,
  encodeStream: encodeZstdStream,
  decodeStream: decodeZstdStream,
};

/** The codecs that a client or a volume knows. */
export class Codecs {
  private readonly byName = new Map<string, Codec>(
    [none, zlibCodec, gzip, br, zstd, tally].map((codec) => [codec.name, codec]),
  );

  /** Resolves when all built-in codecs can be used. */
  static async load(): Promise<Codecs> {
    await loadZstd();
    return new Codecs();
  }

  private threads: { readonly threads: ContentThreads; readonly names: ReadonlySet<string> } | undefined;

  private constructor() {}

  get names(): string[] {
    return [...this.byName.keys()];
  }

  /** Has large contents verified and compared in threads, as far as these know their codecs. */
  useThreads(threads: ContentThreads, names: readonly string[] = this.names): void {
    this.threads = { threads, names: new Set(names) };
  }

  /** The threads, where there are any, the content is large, and they know its codecs. */
  threadsFor(size: number, ...names: readonly string[]): ContentThreads | undefined {
    if (size <= INLINE_SIZE_MAX || !names.every((name) => this.threads?.names.has(name))) return undefined;
    return this.threads?.threads;
  }

  /** Throws HT_USAGE where the name is taken or is none. */
  register(codec: Codec): void {
    if (!NAME.test(codec.name) || codec.name === "auto") {
      throw new ArchiveError("HT_USAGE", `not a name for a codec: ${codec.name}`);
    }
    if (this.byName.has(codec.name)) throw new ArchiveError("HT_USAGE", `the codec ${codec.name} is there already`);
    this.byName.set(codec.name, codec);
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** Throws HT_CODEC. */
  get(name: string): Codec {
    const codec = this.byName.get(name);
    if (codec !== undefined) return codec;
    throw new ArchiveError("HT_CODEC", `no codec has the name ${name}; there are ${this.names.join(", ")}`);
  }

  /** Throws HT_CORRUPT where the bytes are not what the codec makes, or more than `size`. */
  decode(name: string, stored: Uint8Array, size: number): Uint8Array {
    const codec = this.get(name);
    try {
      return codec.decode(stored, size);
    } catch (cause) {
      throw undecodable(name, cause);
    }
  }

  /** The content piece by piece; throws HT_CORRUPT as `decode` does. Pieces are valid until the next one. */
  async *decodeAll(name: string, stored: BlockData, size: number): AsyncGenerator<Uint8Array> {
    const codec = this.get(name);
    if (stored instanceof Uint8Array) {
      yield this.decode(name, stored, size);
      return;
    }
    if (codec.decodeStream === undefined) {
      yield this.decode(name, await gather(stored, HELD_SIZE_MAX), size);
      return;
    }
    let given = 0;
    // What goes wrong with the source says nothing about the bytes, and comes through as it is.
    let broken: { readonly error: unknown } | undefined;
    const source = watch(stored, (error) => {
      broken = { error };
    });
    try {
      for await (const piece of codec.decodeStream(source)) {
        given += piece.length;
        if (given > size) throw new RangeError("larger than it was said to be");
        yield piece;
      }
    } catch (cause) {
      if (broken !== undefined) throw broken.error;
      throw cause instanceof ArchiveError ? cause : undecodable(name, cause);
    }
  }

  /** The content compressed. What is all there comes back all there. */
  encode(name: string, content: BlockData): BlockData {
    const codec = this.get(name);
    if (content instanceof Uint8Array) return codec.encode(content);
    if (codec.encodeStream !== undefined) return codec.encodeStream(content);
    return (async function* () {
      yield codec.encode(await gather(content, HELD_SIZE_MAX));
    })();
  }
}

/** Tells of what the source throws, and of nothing that is thrown at it when its reader gives up. */
async function* watch(
  source: AsyncIterable<Uint8Array>,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  const pieces = source[Symbol.asyncIterator]();
  const next = () =>
    pieces.next().catch((error: unknown) => {
      onError(error);
      throw error;
    });
  try {
    for (let piece = await next(); piece.done !== true; piece = await next()) yield piece.value;
  } finally {
    await pieces.return?.();
  }
}

function undecodable(name: string, cause: unknown): ArchiveError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ArchiveError("HT_CORRUPT", `not the output of the codec ${name}: ${reason}`, {}, cause);
}

/** All pieces as one; HT_TOO_LARGE beyond `sizeMax`. */
export async function gather(data: BlockData, sizeMax: number): Promise<Uint8Array> {
  if (data instanceof Uint8Array) return data;
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of data) {
    size += piece.length;
    if (size > sizeMax)
      throw new ArchiveError("HT_TOO_LARGE", `more than ${sizeMax} bytes, which have to be held in memory`);
    pieces.push(Buffer.from(piece));
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}
