/**
 * Which payloads a survey takes into its sample. The answer is a function of the payload alone, of its first bytes: so
 * all copies of a payload are in the sample or none is, whatever file they lie in and however their records are packed.
 */
import { hashHex } from "../../base/index.ts";
import { Dechunker, type Framing, parseHttpHead, saysChunked } from "../../warc/index.ts";

/** So many bytes of a payload decide. Measured on real crawls: twice as many hardly tell more payloads apart. */
export const PREFIX_SIZE = 1024;

const SALT_SIZE = 8;
/** Hexadecimal digits of a cluster's name. */
export const CLUSTER_LENGTH = 12;
/** Sorts behind every name. */
const EVERY_NAME = "g";

/** Tells which cluster a payload belongs to: that of all which begin with the same bytes; and which ones are taken. */
export class PayloadSampler {
  readonly rate: number;
  private readonly salted = Buffer.alloc(SALT_SIZE + PREFIX_SIZE);
  private readonly limit: string;

  /** `rate` is the share of clusters that are taken, above 0 and up to 1; another `seed` takes others. */
  constructor(rate: number, seed: number) {
    const bits = 4 * CLUSTER_LENGTH;
    this.rate = rate;
    this.limit =
      rate < 1
        ? Math.ceil(rate * 2 ** bits)
            .toString(16)
            .padStart(CLUSTER_LENGTH, "0")
        : EVERY_NAME;
    this.salted.writeBigUInt64LE(BigInt(seed));
  }

  /** The name of the cluster of payloads that begin with `prefix`, or are no longer than it. */
  clusterOf(prefix: Uint8Array): string {
    const { salted } = this;
    salted.set(prefix, SALT_SIZE);
    return hashHex("sha1", salted.subarray(0, SALT_SIZE + prefix.length)).slice(0, CLUSTER_LENGTH);
  }

  takes(cluster: string): boolean {
    return cluster < this.limit;
  }
}

/** The beginning of a payload, and what it tells. */
export interface PayloadStart {
  /** The first `PREFIX_SIZE` bytes, transfer-decoded, or all where there are fewer; valid as long as the block. */
  readonly prefix: Uint8Array;
  readonly framing: Framing;
  /** Bytes of the block before the body. */
  readonly httpSize: number;
}

/** Gathers the first bytes of what it is given. */
export class PrefixCollector {
  private readonly bytes = Buffer.allocUnsafe(PREFIX_SIZE);
  private size = 0;

  readonly push = (bytes: Uint8Array): void => {
    if (this.size === PREFIX_SIZE) return;
    const part = bytes.subarray(0, PREFIX_SIZE - this.size);
    this.bytes.set(part, this.size);
    this.size += part.length;
  };

  get full(): boolean {
    return this.size === PREFIX_SIZE;
  }

  get prefix(): Uint8Array {
    return this.bytes.subarray(0, this.size);
  }
}

/** A chunked body is undone in portions, so that no more of it is than needed. */
const PORTION_SIZE = 4096;

/**
 * The beginning of the payload of a record whose block begins with `block`; `whole` says that this is all of it. Absent
 * where these bytes do not tell. Gives what `scanRecord` would give of the whole block.
 */
export function payloadStartOf(block: Uint8Array, whole: boolean, isHttp: boolean): PayloadStart | undefined {
  const http = isHttp ? parseHttpHead(block, 0, block.length, whole) : undefined;
  // Perhaps the header only goes on behind these bytes.
  if (http === undefined && isHttp && !whole) return undefined;
  const httpSize = http?.text.length ?? 0;
  const body = block.subarray(httpSize);
  if (http !== undefined && saysChunked(http)) return chunkedStart(body, whole, httpSize);
  if (!whole && body.length < PREFIX_SIZE) return undefined;
  return { prefix: body.subarray(0, PREFIX_SIZE), framing: "plain", httpSize };
}

function chunkedStart(body: Uint8Array, whole: boolean, httpSize: number): PayloadStart | undefined {
  const collector = new PrefixCollector();
  const dechunker = new Dechunker(collector.push);
  for (let at = 0; at < body.length && !collector.full; at += PORTION_SIZE) {
    dechunker.push(body.subarray(at, at + PORTION_SIZE));
  }
  if (!collector.full && whole) dechunker.finish();
  const { verdict } = dechunker;
  const known = collector.full || whole || verdict === "complete" || verdict === "broken";
  return known ? { prefix: collector.prefix, framing: verdict === "plain" ? "plain" : "chunked", httpSize } : undefined;
}
