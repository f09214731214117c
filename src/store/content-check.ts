/** Whether compressed bytes hold what they are said to hold, and whether two contents are equal. */
import { ArchiveError } from "../base/index.ts";
import { type Codecs, INLINE_SIZE_MAX } from "./codec.ts";
import { formatAddress } from "./content-key.ts";
import { createSigner, type SignatureAlgorithm, signatureOf } from "./signature.ts";
import type { BlockData } from "./volume.ts";

export interface ContentClaim {
  readonly signature: string;
  readonly size: number;
  readonly compression: string;
}

/** Throws HT_SIGNATURE where signature or size are not those of the content, or where it cannot be decompressed. */
export function verifyContent(
  codecs: Codecs,
  algorithm: SignatureAlgorithm,
  claim: ContentClaim,
  data: Uint8Array,
): void {
  const { compression, size } = claim;
  let content: Uint8Array;
  try {
    content = codecs.decode(compression, data, size);
  } catch (error) {
    if (error instanceof ArchiveError && error.code === "HT_CORRUPT") throw lie(claim, error.message);
    throw error;
  }
  compareClaim(claim, content.length, () => signatureOf(algorithm, content));
}

/**
 * The same, but what is larger than is good to be done at once is done piece by piece, and in a thread where there are
 * some. Absent where it is done already.
 */
export function verifyHeld(
  codecs: Codecs,
  algorithm: SignatureAlgorithm,
  claim: ContentClaim,
  data: Uint8Array,
): Promise<void> | undefined {
  if (claim.size > INLINE_SIZE_MAX) return verifyContentStream(codecs, algorithm, claim, once(data));
  verifyContent(codecs, algorithm, claim, data);
  return undefined;
}

/** The same for stored bytes, held or in pieces. */
export function verifyStored(
  codecs: Codecs,
  algorithm: SignatureAlgorithm,
  claim: ContentClaim,
  data: BlockData,
): Promise<void> | undefined {
  return data instanceof Uint8Array
    ? verifyHeld(codecs, algorithm, claim, data)
    : verifyContentStream(codecs, algorithm, claim, data);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

/** The same for what is too large to hold. */
export async function verifyContentStream(
  codecs: Codecs,
  algorithm: SignatureAlgorithm,
  claim: ContentClaim,
  data: AsyncIterable<Uint8Array>,
): Promise<void> {
  const threads = codecs.threadsFor(claim.size, claim.compression);
  if (threads !== undefined) return threads.verify(algorithm, claim, data);
  const signer = createSigner(algorithm);
  let size = 0;
  try {
    for await (const piece of codecs.decodeAll(claim.compression, data, claim.size)) {
      signer.update(piece);
      size += piece.length;
    }
  } catch (error) {
    if (error instanceof ArchiveError && error.code === "HT_CORRUPT") throw lie(claim, error.message);
    throw error;
  }
  compareClaim(claim, size, () => signer.finish());
}

function compareClaim(claim: ContentClaim, size: number, signature: () => string): void {
  if (size !== claim.size) throw lie(claim, `the content has ${size} bytes, not ${claim.size}`);
  const found = signature();
  if (found !== claim.signature) throw lie(claim, `the content has the signature ${found}`);
}

function lie(claim: ContentClaim, message: string): ArchiveError {
  return new ArchiveError("HT_SIGNATURE", `${formatAddress({ ...claim, overflow: 0 })}: ${message}`);
}

export interface Compressed {
  readonly compression: string;
  readonly size: number;
  readonly data: BlockData;
}

/** Compares two contents of one size byte for byte, piece by piece. */
export async function equalContents(codecs: Codecs, one: Compressed, other: Compressed): Promise<boolean> {
  if (one.size !== other.size) return false;
  const threads = codecs.threadsFor(one.size, one.compression, other.compression);
  if (threads !== undefined) return threads.equal(one, other);
  if (one.data instanceof Uint8Array && other.data instanceof Uint8Array) {
    if (one.compression === other.compression && Buffer.compare(one.data, other.data) === 0) return true;
    const [a, b] = [one, other].map(({ compression, data, size }) =>
      codecs.decode(compression, data as Uint8Array, size),
    );
    return Buffer.compare(a!, b!) === 0;
  }
  const left = codecs.decodeAll(one.compression, one.data, one.size);
  const right = codecs.decodeAll(other.compression, other.data, other.size);
  try {
    return await equalPieces(left, right);
  } finally {
    await Promise.all([left.return(undefined), right.return(undefined)]);
  }
}

async function equalPieces(left: AsyncIterator<Uint8Array>, right: AsyncIterator<Uint8Array>): Promise<boolean> {
  let [a, b]: [Uint8Array, Uint8Array] = [new Uint8Array(0), new Uint8Array(0)];
  for (;;) {
    if (a.length === 0) {
      const next = await nextPiece(left);
      // Both have the size that they are said to have, or decoding throws: only the end can be missing.
      if (next === undefined) return b.length === 0 && (await nextPiece(right)) === undefined;
      a = next;
    }
    if (b.length === 0) {
      const next = await nextPiece(right);
      if (next === undefined) return false;
      b = next;
    }
    const count = Math.min(a.length, b.length);
    if (Buffer.compare(a.subarray(0, count), b.subarray(0, count)) !== 0) return false;
    a = a.subarray(count);
    b = b.subarray(count);
  }
}

async function nextPiece(pieces: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
  for (;;) {
    const { done, value } = await pieces.next();
    if (done === true) return undefined;
    if (value.length > 0) return value;
  }
}
