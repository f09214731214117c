/**
 * A content on its way into the store: signed at once, compressed when it has to be sent, and not before, because most
 * duplicates never are.
 */
import { ArchiveError } from "../../base/index.ts";
import { type Codecs, gather, TALLY_CODEC } from "../codec.ts";
import { createSigner, type SignatureAlgorithm, signatureOf } from "../signature.ts";
import type { BlockData } from "../volume.ts";
import { AUTO, chooseCompression, SAMPLE_SIZE } from "./auto-compression.ts";

/**
 * A content as a client gives it: its bytes, or what can be read from the start as often as needed: once for the
 * signature, and once for every time that it is sent.
 */
export type Content = Uint8Array | AsyncIterable<Uint8Array>;

/** A stream that can be read only once is held in memory up to this size. */
const ONCE_SIZE_MAX = 1 << 20;

export interface ParcelOptions {
  /** The name of a codec, or `auto`, the default. */
  readonly compression?: string | undefined;
  /** For `auto`: the media type of the content. */
  readonly contentType?: string | undefined;
}

export interface CompressedContent {
  readonly compression: string;
  readonly data: BlockData;
}

export class Parcel {
  readonly signature: string;
  readonly size: number;
  readonly content: Content;
  private readonly codecs: Codecs;
  private readonly options: ParcelOptions;
  private compression: string | undefined;
  private held: CompressedContent | undefined;

  private constructor(codecs: Codecs, content: Content, signed: Signed, options: ParcelOptions) {
    this.codecs = codecs;
    this.content = content;
    this.signature = signed.signature;
    this.size = signed.size;
    this.options = options;
  }

  /** Throws HT_CODEC for a compression that nobody knows, and HT_TOO_LARGE for a large stream that can be read only once. */
  static async sign(
    codecs: Codecs,
    algorithm: SignatureAlgorithm,
    given: Content,
    options: ParcelOptions,
  ): Promise<Parcel> {
    const { compression = AUTO } = options;
    if (compression === TALLY_CODEC) throw new ArchiveError("HT_CODEC", `${TALLY_CODEC} is not for contents`);
    if (compression !== AUTO) codecs.get(compression);
    const content = given instanceof Uint8Array || !isOneShot(given) ? given : await gather(given, ONCE_SIZE_MAX);
    const signed =
      content instanceof Uint8Array
        ? { signature: signatureOf(algorithm, content), size: content.length }
        : await signStream(algorithm, content);
    return new Parcel(codecs, content, signed, options);
  }

  /** The content compressed. What is not held is read, and compressed, anew with every call. */
  async compressed(): Promise<CompressedContent> {
    if (this.held !== undefined) return this.held;
    this.compression ??= await this.choose();
    const result = { compression: this.compression, data: this.codecs.encode(this.compression, this.content) };
    if (result.data instanceof Uint8Array) this.held = result;
    return result;
  }

  private async choose(): Promise<string> {
    const { compression = AUTO, contentType } = this.options;
    if (compression !== AUTO) return compression;
    return chooseCompression(this.codecs, await beginning(this.content), contentType);
  }
}

interface Signed {
  readonly signature: string;
  readonly size: number;
}

/** Generators and streams of Node or the web have nothing to give the second time. */
function isOneShot(content: AsyncIterable<Uint8Array>): boolean {
  const given = content as unknown as Readonly<Record<string, unknown>>;
  return ["next", "pipe", "getReader"].some((name) => typeof given[name] === "function");
}

async function signStream(algorithm: SignatureAlgorithm, content: AsyncIterable<Uint8Array>): Promise<Signed> {
  const signer = createSigner(algorithm);
  let size = 0;
  for await (const piece of content) {
    signer.update(piece);
    size += piece.length;
  }
  return { signature: signer.finish(), size };
}

async function beginning(content: Content): Promise<Uint8Array> {
  if (content instanceof Uint8Array) return content.subarray(0, SAMPLE_SIZE);
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content) {
    pieces.push(Buffer.from(piece));
    size += piece.length;
    if (size >= SAMPLE_SIZE) break;
  }
  return Buffer.concat(pieces).subarray(0, SAMPLE_SIZE);
}
