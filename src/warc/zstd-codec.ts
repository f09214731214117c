/**
 * Zstandard, one frame at a time. Node has it from 22.15 on; before that, and wherever a dictionary is in play, the
 * WebAssembly build of the reference code does it. Frames too large to hold are decoded block by block by
 * `zstd-blocks.ts`.
 * The WebAssembly parts must be loaded once, with `loadZstd`, before zstd files are read or written.
 */
import * as zlib from "node:zlib";
import type * as ZstdWasm from "@bokuweb/zstd-wasm";
import type { IHasher } from "hash-wasm";
import { ArchiveError } from "../base/index.ts";
import { BLOCK_HEADER_SIZE, BlockDecoder } from "./zstd-blocks.ts";

/** As far as Node's zlib has it. */
interface NodeZstd {
  zstdDecompressSync?(bytes: Uint8Array, options: { maxOutputLength: number }): Buffer;
  zstdCompressSync?(bytes: Uint8Array, options: { params: Record<number, number> }): Buffer;
  readonly constants: Record<string, number>;
}
const node = zlib as unknown as NodeZstd;

const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
const CHECKSUM_FLAG = 4;
export const ZSTD_LEVEL_DEFAULT = 3;

interface ZstdParts {
  readonly wasm: typeof ZstdWasm;
  readonly decoder: number;
  readonly encoder: number;
  readonly xxhash: IHasher;
}

let parts: ZstdParts | undefined;
let loading: Promise<void> | undefined;

/** Loads the WebAssembly parts; may be awaited as often as one likes. */
export function loadZstd(): Promise<void> {
  loading ??= (async () => {
    const [wasm, hashes] = await Promise.all([import("@bokuweb/zstd-wasm"), import("hash-wasm")]);
    await wasm.init();
    const xxhash = await hashes.createXXHash64();
    parts = { wasm, decoder: wasm.createDCtx(), encoder: wasm.createCCtx(), xxhash };
  })();
  return loading;
}

export function zstdLoaded(): boolean {
  return parts !== undefined;
}

function loaded(): ZstdParts {
  if (parts === undefined) throw new ArchiveError("HT_USAGE", "loadZstd() must be awaited before zstd files are used");
  return parts;
}

export interface ZstdFrameHeader {
  readonly size: number;
  /** How far back the content may refer. */
  readonly windowSize: number;
  /** Absent where the frame does not say. */
  readonly contentSize: number | undefined;
  readonly hasChecksum: boolean;
  readonly dictionaryId: number;
}

/** The header of the frame at `pos`; 0 where more bytes are needed to tell, absent where there is no frame. */
export function parseFrameHeader(bytes: Buffer, pos: number, end: number): ZstdFrameHeader | 0 | undefined {
  if (end - pos < 5) return 0;
  if (bytes.readUInt32LE(pos) !== 0xfd2fb528) return undefined;
  const descriptor = bytes[pos + 4]!;
  if ((descriptor & 8) !== 0) return undefined;
  const single = (descriptor & 32) !== 0;
  const dictionarySize = [0, 1, 2, 4][descriptor & 3]!;
  const sizeFlag = descriptor >> 6;
  const sizeSize = sizeFlag === 0 ? (single ? 1 : 0) : 1 << sizeFlag;
  const dictionaryAt = pos + 5 + (single ? 0 : 1);
  const sizeAt = dictionaryAt + dictionarySize;
  if (sizeAt + sizeSize > end) return 0;
  const hasChecksum = (descriptor & CHECKSUM_FLAG) !== 0;
  const dictionaryId = dictionarySize === 0 ? 0 : bytes.readUIntLE(dictionaryAt, dictionarySize);
  const contentSize = readSize(bytes, sizeAt, sizeSize);
  const windowSize = single ? contentSize! : readWindowSize(bytes[pos + 5]!);
  return { size: sizeAt + sizeSize - pos, windowSize, contentSize, hasChecksum, dictionaryId };
}

function readWindowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

function readSize(bytes: Buffer, at: number, size: number): number | undefined {
  if (size === 0) return undefined;
  if (size === 8) return Math.min(Number(bytes.readBigUInt64LE(at)), Number.MAX_SAFE_INTEGER);
  return bytes.readUIntLE(at, size) + (size === 2 ? 256 : 0);
}

/** Decodes a frame whose header says that it holds `contentSize` bytes. Throws whatever the library throws. */
export function decodeFrame(frame: Uint8Array, contentSize: number, dictionary: Uint8Array | undefined): Uint8Array {
  // The library asks for as much memory as the header says, and takes the answer on trust: it must have been checked.
  if (dictionary !== undefined) {
    const { wasm, decoder } = loaded();
    return wasm.decompressUsingDict(decoder, Buffer.from(frame), dictionary);
  }
  if (node.zstdDecompressSync !== undefined) {
    return node.zstdDecompressSync(frame, { maxOutputLength: Math.max(contentSize, 1) });
  }
  return loaded().wasm.decompress(Buffer.from(frame));
}

/** One frame with content size and checksum, as the zstd rules for WARC ask. */
export function encodeFrame(bytes: Uint8Array, level: number, dictionary: Uint8Array | undefined): Uint8Array {
  if (dictionary === undefined && node.zstdCompressSync !== undefined) {
    const { ZSTD_c_compressionLevel: levelKey, ZSTD_c_checksumFlag: checksumKey } = node.constants;
    return node.zstdCompressSync(bytes, { params: { [levelKey!]: level, [checksumKey!]: 1 } });
  }
  const { wasm, encoder } = loaded();
  const plain =
    dictionary === undefined
      ? wasm.compress(Buffer.from(bytes), level)
      : wasm.compressUsingDict(encoder, Buffer.from(bytes), dictionary, level);
  return addChecksum(plain, bytes);
}

/** The library leaves the checksum out: it is a flag in the header and four bytes at the end. */
function addChecksum(frame: Uint8Array, content: Uint8Array): Uint8Array {
  const out = Buffer.allocUnsafe(frame.length + 4);
  out.set(frame);
  out[MAGIC.length] = out[MAGIC.length]! | CHECKSUM_FLAG;
  out.writeUInt32LE(startChecksum().update(content).finish(), frame.length);
  return out;
}

/** The checksum of zstd: the low four bytes of XXH64. */
export interface ZstdChecksum {
  update(bytes: Uint8Array): ZstdChecksum;
  finish(): number;
}

export function startChecksum(): ZstdChecksum {
  const hash = loaded().xxhash.init();
  let state: Uint8Array | undefined;
  const checksum: ZstdChecksum = {
    update(bytes) {
      // One WebAssembly instance serves all checksums in the making.
      state = (state === undefined ? hash.init() : hash.load(state)).update(bytes).save();
      return checksum;
    },
    finish: () => Number.parseInt((state === undefined ? hash.init() : hash.load(state)).digest("hex").slice(8), 16),
  };
  return checksum;
}

/** Decodes a frame that does not say how much it holds; throws where that is more than `sizeMax`, or on damage. */
export function decodeUnsized(frame: Buffer, header: ZstdFrameHeader, sizeMax: number): Uint8Array {
  const decoder = new BlockDecoder();
  decoder.begin(header.windowSize);
  const pieces: Buffer[] = [];
  let size = 0;
  for (let at = header.size, last = false; !last; ) {
    const block = frame.readUIntLE(at, BLOCK_HEADER_SIZE);
    const end = at + BLOCK_HEADER_SIZE + (((block >> 1) & 3) === 1 ? 1 : block >> 3);
    if (end > frame.length) throw new Error("cut off");
    const piece = Buffer.from(decoder.decode(frame.subarray(at, end)));
    pieces.push(piece);
    size += piece.length;
    if (size > sizeMax) throw new Error("too large");
    last = (block & 1) === 1;
    at = end;
  }
  return Buffer.concat(pieces);
}
