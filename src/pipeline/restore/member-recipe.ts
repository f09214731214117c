/**
 * How a record's compressed bytes came about: by which compressor, at which level. The same content in the same recipe
 * gives the same bytes, so a file that was taken apart can come back as it was. Node's zlib is Chromium's, whose output
 * is its own; `pako` is a port of the stock zlib, whose output is that of Java, Python, Perl and C.
 */
import { createHash } from "node:crypto";
import { constants, crc32, deflateRawSync } from "node:zlib";
import { Deflate as Pako } from "pako";
import { type Compression, SEPARATOR, WarcWriter } from "../../warc/index.ts";

export type MemberRecipe =
  | { readonly codec: "none" }
  | { readonly codec: "node"; readonly level: number; readonly memLevel: 8 | 9 }
  /** `flushed`: with an empty block in front of the end, as Python's GzipFile writes where it is flushed. */
  | { readonly codec: "pako"; readonly level: number; readonly memLevel: 8 | 9; readonly flushed: boolean }
  | { readonly codec: "zstd"; readonly level: number; readonly dictionary: boolean; readonly checksum: boolean };

/** A record without its separator. The block may be asked for more than once only where the caller says so. */
export interface MemberContent {
  readonly head: Uint8Array;
  readonly block: Iterable<Uint8Array>;
}

/** Where no other is known: ten bytes, no name, no time, by an unknown system. */
export const GZIP_HEADER_DEFAULT = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** The levels that writers use most come first. */
const GZIP_LEVELS = [6, 9, 1, 5, 4, 3, 2, 7, 8] as const;
const ZSTD_LEVELS = [3, 1, 10, 9, 19, 6, 2, 4, 5, 7, 8, 11, 12, 13, 14, 15, 16, 17, 18] as const;

/** All recipes for a file, the likely ones first; `pako` comes late because it is slow. */
export function recipesFor(compression: Compression, hasDictionary: boolean): MemberRecipe[] {
  if (compression === "none") return [{ codec: "none" }];
  if (compression === "zstd") {
    return ZSTD_LEVELS.flatMap((level) =>
      (hasDictionary ? [true, false] : [false]).flatMap((dictionary) =>
        [true, false].map((checksum) => ({ codec: "zstd", level, dictionary, checksum }) as const),
      ),
    );
  }
  const node = (memLevel: 8 | 9) => GZIP_LEVELS.map((level) => ({ codec: "node", level, memLevel }) as const);
  const stock = (memLevel: 8 | 9, levels: readonly number[], flushed = false) =>
    levels.map((level) => ({ codec: "pako", level, memLevel, flushed }) as const);
  return [...node(8), ...stock(8, GZIP_LEVELS), ...stock(8, [9, 6], true), ...node(9), ...stock(9, GZIP_LEVELS)];
}

const NOTHING = new Uint8Array(0);
const OUTPUT_SIZE = 1 << 16;
const GZIP_TRAILER_SIZE = 8;
const ZSTD_FLAGS_AT = 4;
const ZSTD_CHECKSUM_FLAG = 4;
const ZSTD_CHECKSUM_SIZE = 4;

/** Compresses records by recipes. Compressors are kept: making one costs more than a small record does. */
export class MemberEncoder {
  private readonly dictionary: Uint8Array | undefined;
  private readonly writers = new Map<string, WarcWriter>();
  private emit: (bytes: Uint8Array) => void = () => {};
  private skipping = 0;

  constructor(dictionary?: Uint8Array) {
    this.dictionary = dictionary;
  }

  /** Gives the member piece by piece; views are valid during the call. */
  encode(recipe: MemberRecipe, content: MemberContent, header: Uint8Array, emit: (bytes: Uint8Array) => void): void {
    switch (recipe.codec) {
      case "none":
        for (const piece of piecesOf(content)) emit(piece);
        return;
      case "zstd":
        // Each piece is a frame.
        return this.write(recipe, content, 0, recipe.checksum ? emit : (frame) => emit(withoutChecksum(frame)));
      case "node":
        if (recipe.memLevel === 9) return encodeAtOnce(recipe.level, content, header, emit);
        emit(header);
        // The writer has a header of its own, which comes as its first piece.
        return this.write(recipe, content, 1, emit);
      case "pako":
        return encodeSlowly(recipe, content, header, emit);
    }
  }

  private write(recipe: MemberRecipe, content: MemberContent, skip: number, emit: (bytes: Uint8Array) => void): void {
    this.emit = emit;
    this.skipping = skip;
    this.writerFor(recipe).writeStream(content.head, withoutEmpty(content.block));
    this.emit = () => {};
  }

  private writerFor(recipe: MemberRecipe): WarcWriter {
    const key = JSON.stringify(recipe);
    const there = this.writers.get(key);
    if (there !== undefined) return there;
    const sink = {
      write: (bytes: Uint8Array) => {
        if (this.skipping > 0) this.skipping--;
        else this.emit(bytes);
      },
    };
    const isZstd = recipe.codec === "zstd";
    const writer = new WarcWriter(sink, {
      compression: isZstd ? "zstd" : "gzip",
      level: recipe.codec === "none" ? undefined : recipe.level,
      dictionary: isZstd && recipe.dictionary ? this.dictionary : undefined,
      // The dictionary stands at the start of the file already.
      offset: 1,
    });
    this.writers.set(key, writer);
    return writer;
  }
}

function* piecesOf({ head, block }: MemberContent): Generator<Uint8Array> {
  yield head;
  yield* withoutEmpty(block);
  yield SEPARATOR;
}

/** Node's CRC-32 of an array without bytes is 0, whatever came before it, where that array has no memory of its own. */
function* withoutEmpty(block: Iterable<Uint8Array>): Generator<Uint8Array> {
  for (const piece of block) if (piece.length > 0) yield piece;
}

function trailerOf(crc: number, size: number): Buffer {
  const trailer = Buffer.alloc(GZIP_TRAILER_SIZE);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(size % 0x1_0000_0000, 4);
  return trailer;
}

/** Node's compressor with other settings than our writer's; only its documented, one-shot form is used. */
function encodeAtOnce(
  level: number,
  content: MemberContent,
  header: Uint8Array,
  emit: (bytes: Uint8Array) => void,
): void {
  const bytes = Buffer.concat([...piecesOf(content)].map((piece) => Buffer.from(piece)));
  emit(header);
  emit(deflateRawSync(bytes, { level, memLevel: 9 }));
  emit(trailerOf(crc32(bytes), bytes.length));
}

function encodeSlowly(
  { level, memLevel, flushed }: MemberRecipe & { readonly codec: "pako" },
  content: MemberContent,
  header: Uint8Array,
  emit: (bytes: Uint8Array) => void,
): void {
  const stream = new Pako({ raw: true, level: level as 6, memLevel, chunkSize: OUTPUT_SIZE });
  stream.onData = (bytes) => emit(bytes as Uint8Array);
  stream.onEnd = (status) => {
    stream.err = status;
  };
  let crc = 0;
  let size = 0;
  emit(header);
  for (const piece of piecesOf(content)) {
    crc = crc32(piece, crc);
    size += piece.length;
    stream.push(piece, false);
  }
  if (flushed) stream.push(NOTHING, constants.Z_SYNC_FLUSH);
  stream.push(NOTHING, true);
  if (stream.err !== 0) throw new Error(`pako refused to compress: ${stream.msg}`);
  emit(trailerOf(crc, size));
}

/** The frame as a writer makes it that leaves the checksum out. */
function withoutChecksum(frame: Uint8Array): Uint8Array {
  const bare = frame.slice(0, frame.length - ZSTD_CHECKSUM_SIZE);
  bare[ZSTD_FLAGS_AT] = bare[ZSTD_FLAGS_AT]! & ~ZSTD_CHECKSUM_FLAG;
  return bare;
}

/** What is known of a member that is to come back: its size and digest, and for gzip its header. */
export interface StoredMember {
  readonly length: number;
  /** `sha256:…` */
  readonly digest: string;
  readonly gzipHeader: Uint8Array | undefined;
}

export function storedMemberOf(bytes: Uint8Array, gzipHeader: Uint8Array | undefined): StoredMember {
  return { length: bytes.length, digest: digestText(bytes), gzipHeader };
}

export function digestText(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}
