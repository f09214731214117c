/** Contents as they come in: small ones held, large ones in a file on its way, so that memory stays bounded. */

import type { Codecs } from "../codec.ts";
import type { Compressed } from "../content-check.ts";
import { type ContentClaim, verifyContent, verifyContentStream } from "../content-check.ts";
import type { SignatureAlgorithm } from "../signature.ts";
import type { BlockData } from "../volume.ts";
import { SMALL_SIZE_MAX } from "./block-files.ts";
import { HEADER_SIZE } from "./block-header.ts";
import type { IncomingFile, IncomingFiles } from "./incoming.ts";

/** A content that is larger than this when it is decompressed is decompressed piece by piece. */
const DECODED_SIZE_MAX = 8 << 20;

export class Received implements Disposable {
  readonly size: number;
  readonly compression: string;
  private readonly held: Uint8Array | IncomingFile;
  private readonly incoming: IncomingFiles;

  constructor(claim: Omit<ContentClaim, "signature">, held: Uint8Array | IncomingFile, incoming: IncomingFiles) {
    this.size = claim.size;
    this.compression = claim.compression;
    this.held = held;
    this.incoming = incoming;
  }

  get storedSize(): number {
    return this.held instanceof Uint8Array ? this.held.length : this.held.size - HEADER_SIZE;
  }

  /** For comparing; as often as one likes. */
  get compressed(): Compressed {
    const { size, compression, held } = this;
    const data = held instanceof Uint8Array ? inMeasure(held, size) : held.read(HEADER_SIZE);
    return { size, compression, data };
  }

  /** A file of header and data, not synced yet. Whoever asked for it disposes of it, once. */
  file(header: Uint8Array): IncomingFile {
    if (!(this.held instanceof Uint8Array)) {
      this.held.writeHead(header);
      return this.held;
    }
    const file = this.incoming.begin();
    try {
      // Most contents are small, and one write is cheaper than a copy.
      if (this.held.length <= SMALL_SIZE_MAX) file.append(Buffer.concat([header, this.held]));
      else for (const piece of [header, this.held]) file.append(piece);
    } catch (error) {
      file[Symbol.dispose]();
      throw error;
    }
    return file;
  }

  [Symbol.dispose](): void {
    if (!(this.held instanceof Uint8Array)) this.held[Symbol.dispose]();
  }
}

/** Bytes of a content that is too large when decompressed come as a stream, so that they are decompressed piece by piece. */
export function inMeasure(bytes: BlockData, size: number): BlockData {
  return bytes instanceof Uint8Array && size > DECODED_SIZE_MAX ? once(bytes) : bytes;
}

export interface Reception {
  readonly incoming: IncomingFiles;
  readonly codecs: Codecs;
  readonly algorithm: SignatureAlgorithm;
}

/** Takes all bytes, and with a signature verifies them (HT_SIGNATURE); what is not right leaves nothing behind. */
export async function receive(
  { incoming, codecs, algorithm }: Reception,
  claim: Omit<ContentClaim, "signature"> & { readonly signature?: string },
  data: BlockData,
): Promise<Received> {
  const { signature } = claim;
  const whole = data instanceof Uint8Array ? { small: data } : await takeSmall(data);
  if (whole.small !== undefined) {
    const bytes = inMeasure(whole.small, claim.size);
    if (signature !== undefined) {
      const full = { ...claim, signature };
      if (bytes instanceof Uint8Array) verifyContent(codecs, algorithm, full, bytes);
      else await verifyContentStream(codecs, algorithm, full, bytes);
    }
    return new Received(claim, whole.small, incoming);
  }
  const file = incoming.begin();
  try {
    file.append(Buffer.alloc(HEADER_SIZE));
    const written = writeThrough(whole.all, file);
    if (signature !== undefined) await verifyContentStream(codecs, algorithm, { ...claim, signature }, written);
    else for await (const _ of written);
    return new Received(claim, file, incoming);
  } catch (error) {
    file[Symbol.dispose]();
    throw error;
  }
}

async function* writeThrough(data: AsyncIterable<Uint8Array>, file: IncomingFile): AsyncGenerator<Uint8Array> {
  for await (const piece of data) {
    file.append(piece);
    yield piece;
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

type Taken = { readonly small: Uint8Array } | { readonly small?: undefined; readonly all: AsyncIterable<Uint8Array> };

/** All of it where it is small; else what was taken already and what is still to come. */
async function takeSmall(data: AsyncIterable<Uint8Array>): Promise<Taken> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const iterator = data[Symbol.asyncIterator]();
  while (size <= SMALL_SIZE_MAX) {
    const { done, value } = await iterator.next();
    if (done === true) return { small: Buffer.concat(pieces) };
    pieces.push(Buffer.from(value));
    size += value.length;
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) yield piece;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { all: all() };
}
