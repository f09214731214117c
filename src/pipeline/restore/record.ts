/**
 * Puts a record together again from the revisit that took its place and the payload of its original: header, HTTP header
 * and body as they were, byte for byte. Whether they are is proven by the digest that the revisit carries.
 */
import { createHasher, type Digest, formatDigest, type Hasher, parseAlgorithm, parseDigest } from "../../base/index.ts";
import {
  CHUNKS_FIELD,
  cutIntoChunks,
  FieldBlock,
  REPLACED_FIELD,
  type ReplacedRecord,
  replacedHead,
  SEPARATOR,
} from "../../warc/index.ts";
import { RECORD_DIGEST } from "../reversal.ts";

/** A revisit of ours as it was read: all that is needed of it. */
export interface OwnRevisit {
  /** The header as Latin-1, blank line included. */
  readonly text: string;
  /** Its block: the HTTP header of the record that it stands for. */
  readonly http: Buffer;
  readonly replaced: ReplacedRecord & { readonly type: string };
}

/**
 * What the header of a revisit of ours says of the record that it took the place of; absent in every other. Only the
 * lines that we appended count: the record's own header may have had fields of the same names.
 */
export function parseReplaced(text: string): OwnRevisit["replaced"] | undefined {
  const at = text.lastIndexOf(`\n${REPLACED_FIELD}: `) + 1;
  if (at === 0) return undefined;
  const appended = new FieldBlock(text, at);
  const field = /^(\S+) (\S+)$/.exec(appended.get(REPLACED_FIELD.toLowerCase()) ?? "");
  const digest = field === null ? undefined : parseDigest(field[2]!);
  if (digest?.algorithm !== RECORD_DIGEST) return undefined;
  return { type: field![1]!, digest, chunks: appended.get(CHUNKS_FIELD.toLowerCase()) };
}

/** The block as it was, from the payload of the original. Pieces are valid until the next one is asked for. */
export function* restoredBlock({ http, replaced }: OwnRevisit, payload: Iterable<Uint8Array>): Generator<Uint8Array> {
  if (http.length > 0) yield http;
  if (replaced.chunks === undefined) yield* payload;
  else yield* cutIntoChunks(payload, replaced.chunks);
}

/** The header as it was, from one pass over the block. */
export function restoredHead(revisit: OwnRevisit, block: Iterable<Uint8Array>): { head: Buffer; blockSize: number } {
  const hashers = new Map<string, Hasher>();
  for (const claim of new FieldBlock(revisit.text).all("warc-block-digest")) {
    const algorithm = parseAlgorithm(claim);
    if (algorithm !== undefined) hashers.set(algorithm, createHasher(algorithm));
  }
  let blockSize = 0;
  for (const piece of block) {
    blockSize += piece.length;
    for (const hasher of hashers.values()) hasher.update(piece);
  }
  const digests = new Map<string, Digest>([...hashers].map(([name, hasher]) => [name, hasher.finish()]));
  const digestFor = (claim: string) => digests.get(parseAlgorithm(claim) ?? "");
  const text = replacedHead(revisit.text, revisit.replaced.type, blockSize, digestFor);
  return { head: Buffer.from(text, "latin1"), blockSize };
}

/** The digest of a whole record: what it is proven by. */
export class RecordHasher {
  private readonly hasher = createHasher(RECORD_DIGEST);

  constructor(head: Uint8Array) {
    this.hasher.update(head);
  }

  update(piece: Uint8Array): void {
    this.hasher.update(piece);
  }

  *pass(block: Iterable<Uint8Array>): Generator<Uint8Array> {
    for (const piece of block) {
      this.hasher.update(piece);
      yield piece;
    }
  }

  /** As text; with the separator behind the block. */
  finish(): string {
    this.hasher.update(SEPARATOR);
    return formatDigest(this.hasher.finish());
  }
}
