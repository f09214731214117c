/** Contents for tests of volumes: what to store, how to hand it over, and what comes back. */
import { createHash } from "node:crypto";
import { invariant } from "../base/index.ts";
import {
  type BlockAddress,
  type BlockData,
  Codecs,
  gather,
  type OpenBlock,
  type SignatureAlgorithm,
  type StoreMode,
  type StoreRequest,
  signatureOf,
  type Volume,
} from "../store/index.ts";
import { createDice } from "./dice.ts";

export const codecs = await Codecs.load();

export interface Content {
  readonly bytes: Buffer;
  readonly signature: string;
  readonly size: number;
}

export function contentOf(algorithm: SignatureAlgorithm, content: string | Uint8Array): Content {
  const bytes = Buffer.from(content);
  return { bytes, signature: signatureOf(algorithm, bytes), size: bytes.length };
}

/** Codecs of contents. */
export const COMPRESSIONS = ["none", "zlib", "gzip", "br", "zstd"] as const;

/** What comes again after this much is new to most codecs. */
const NOISE_SIZE = 1 << 16;

/** Bytes of which one half can be compressed. */
export function mixedBytes(size: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(size, "a specimen in a drawer ");
  const noise = Buffer.from(createDice(seed).bytes(Math.min(NOISE_SIZE, size)));
  for (let at = 0; at < size / 2; at += NOISE_SIZE) bytes.set(noise.subarray(0, Math.floor(size / 2) - at), at);
  return bytes;
}

/** Contents with the weak signature of another and its size, which differ in their last bytes. */
export function largeTwins({ bytes, signature, size }: Content, count: number): Content[] {
  const beginning = createHash("sha256").update(bytes.subarray(0, size - 4));
  const twins: Content[] = [];
  for (let i = 1; twins.length < count; i++) {
    const end = Buffer.alloc(4);
    end.writeUInt32BE(i);
    const found = beginning.copy().update(end).digest("hex").slice(0, 2).toUpperCase();
    if (signature.endsWith(found)) twins.push(contentOf("weak8", Buffer.concat([bytes.subarray(0, size - 4), end])));
  }
  return twins;
}

/** Different contents of one size that share their weak signature. */
export function collidingContents(count: number, size = 12): Content[] {
  const bySignature = new Map<string, Content[]>();
  for (let i = 0; i < 256 * count + 1; i++) {
    const content = contentOf("weak8", String(i).padEnd(size, "."));
    const found = [...(bySignature.get(content.signature) ?? []), content];
    if (found.length === count) return found;
    bySignature.set(content.signature, found);
  }
  invariant(false, "more pigeons than holes share a hole");
}

/** One that has the signature of another, and another size. */
export function collidingWith({ signature, size }: Content): Content {
  for (let i = 0; ; i++) {
    const content = contentOf("weak8", `${"+".repeat(size)}${i}`);
    if (content.signature === signature) return content;
  }
}

/** Piece by piece in one buffer, which holds other bytes as soon as the next piece is asked for. */
export async function* inPieces(bytes: Uint8Array, pieceSize = 40_000): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(pieceSize);
  for (let at = 0; at < bytes.length; at += pieceSize) {
    const piece = bytes.subarray(at, at + pieceSize);
    buffer.fill(0xee);
    buffer.set(piece);
    yield buffer.subarray(0, piece.length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  buffer.fill(0xee);
}

export interface Handing {
  readonly mode?: StoreMode;
  readonly compression?: string;
  readonly requestId?: string;
  readonly pieceSize?: number;
}

export function encoded(content: Content, compression: string): Uint8Array {
  const stored = codecs.encode(compression, content.bytes);
  invariant(stored instanceof Uint8Array, "what is all there comes back all there");
  return stored;
}

export function storing(content: Content, handing: Handing = {}): StoreRequest {
  const { mode = "regular", compression = "none", requestId, pieceSize } = handing;
  const stored = encoded(content, compression);
  const data: BlockData = pieceSize === undefined ? stored : inPieces(stored, pieceSize);
  const { signature, size } = content;
  return { signature, size, mode, compression, data, requestId };
}

/** Decompressed. */
export async function contentIn(block: OpenBlock): Promise<Buffer> {
  const stored = await gather(block.data, 1 << 30);
  return Buffer.from(codecs.decode(block.compression, stored, block.size));
}

/** The content of a block; absent where there is none. */
export async function retrieve(volume: Volume, address: BlockAddress): Promise<Buffer | undefined> {
  const block = await volume.open(address);
  return block === undefined ? undefined : contentIn(block);
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
