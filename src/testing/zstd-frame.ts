/**
 * Zstandard frames for tests: some compressed by the reference library, some put together by hand of raw and
 * run-length blocks, so that each part of a frame header can be there or not.
 */
import { compress, compressUsingDict, createCCtx } from "@bokuweb/zstd-wasm";
import { createXXHash64, type IHasher } from "hash-wasm";
import { loadZstd } from "../warc/index.ts";

let xxhash: IHasher | undefined;
let encoder: number | undefined;

/** Must have been awaited before frames are made. */
export async function loadFrames(): Promise<void> {
  if (encoder !== undefined) return;
  // The library would put another instance in the place of one that is there, and contexts of that would be lost.
  await loadZstd();
  xxhash = await createXXHash64();
  encoder = createCCtx();
}

/** Without checksum: the library leaves it out. */
export function compressedFrame(content: Uint8Array, dictionary?: Uint8Array, level = 3): Buffer {
  const copy = Buffer.from(content);
  if (dictionary === undefined) return Buffer.from(compress(copy, level));
  return Buffer.from(compressUsingDict(encoder!, copy, Buffer.from(dictionary), level));
}

export interface HandmadeFrame {
  readonly contentSize?: boolean;
  readonly checksum?: boolean;
  /** Bytes of content in a block. */
  readonly blockSize?: number;
}

/** Raw blocks, and a run-length block where all bytes of a block are the same. */
export function handmadeFrame(content: Uint8Array, options: HandmadeFrame = {}): Buffer {
  const { contentSize = true, checksum = true, blockSize = 1 << 16 } = options;
  const parts: Buffer[] = [frameHeader(contentSize ? content.length : undefined, checksum)];
  for (let at = 0; at === 0 || at < content.length; at += blockSize) {
    const block = content.subarray(at, at + blockSize);
    const last = at + blockSize >= content.length;
    if (block.length > 1 && block.every((byte) => byte === block[0]))
      parts.push(runBlock(block[0]!, block.length, last));
    else parts.push(blockHeader(0, block.length, last), Buffer.from(block));
  }
  if (checksum) parts.push(Buffer.from(xxhash!.init().update(content).digest("hex").slice(8), "hex").reverse());
  return Buffer.concat(parts);
}

/** A frame with a window of 128 KiB; its content size, where it is said, in eight bytes. */
export function frameHeader(contentSize: number | undefined, checksum: boolean): Buffer {
  const descriptor = (contentSize === undefined ? 0 : 0xc0) | (checksum ? 4 : 0);
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, descriptor, 7 << 3]);
  if (contentSize === undefined) return header;
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(contentSize));
  return Buffer.concat([header, size]);
}

function blockHeader(type: number, size: number, last: boolean): Buffer {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntLE((size << 3) | (type << 1) | (last ? 1 : 0), 0, 3);
  return bytes;
}

export function runBlock(byte: number, size: number, last: boolean): Buffer {
  return Buffer.concat([blockHeader(1, size, last), Buffer.from([byte])]);
}

export function skippableFrame(content: Uint8Array, magic = 0x184d2a50): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(magic, 0);
  header.writeUInt32LE(content.length, 4);
  return Buffer.concat([header, content]);
}

/** The frame that holds the dictionary of a `.warc.zst`; its content may be a frame itself. */
export function dictionaryFrame(content: Uint8Array): Buffer {
  return skippableFrame(content, 0x184d2a5d);
}
