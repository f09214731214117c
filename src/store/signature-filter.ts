/**
 * Which signatures may be in a volume: a Bloom filter, small enough to be sent to every client. It never denies a
 * signature that was added; of others it lets about one in a hundred through. Obeys docs/format/signature-filter.md.
 */
import { ArchiveError, invariant } from "../base/index.ts";

const MAGIC = "HTSF";
const VERSION = 1;
const HEADER_SIZE = 16;
/** Ten bits a signature and seven of them set let 0.8 % through. */
const BITS_EACH = 10;
const PROBES = 7;
const BYTES_LEAST = 64;
export const FILTER_SIZE_MAX = 1 << 30;

export class SignatureFilter {
  private readonly bits: Uint8Array;
  /** How many were added. */
  count: number;

  private constructor(bits: Uint8Array, count: number) {
    this.bits = bits;
    this.count = count;
  }

  /** For about so many signatures; more only let more through. */
  static for(count: number): SignatureFilter {
    const bytes = 2 ** Math.ceil(Math.log2(Math.max(BYTES_LEAST, (count * BITS_EACH) / 8)));
    return new SignatureFilter(new Uint8Array(Math.min(bytes, FILTER_SIZE_MAX)), 0);
  }

  /** Lets everything through: for who cannot tell. */
  static open(): SignatureFilter {
    return new SignatureFilter(new Uint8Array(BYTES_LEAST).fill(255), 0);
  }

  /** How many it was made for. */
  get capacity(): number {
    return Math.floor((this.bits.length * 8) / BITS_EACH);
  }

  add(signature: string): void {
    this.probe(signature, (byte, bit) => {
      this.bits[byte]! |= bit;
      return true;
    });
    this.count++;
  }

  mayHave(signature: string): boolean {
    return this.probe(signature, (byte, bit) => (this.bits[byte]! & bit) !== 0);
  }

  /** Signatures are as good as random, but for weak ones, so their own bits are mixed only a little. */
  private probe(signature: string, visit: (byte: number, bit: number) => boolean): boolean {
    const mask = this.bits.length * 8 - 1;
    let hash = mix(Number.parseInt(signature.slice(0, 8), 16) ^ 0x9e3779b9);
    const step = mix(Number.parseInt(signature.slice(-8), 16) ^ hash) | 1;
    for (let i = 0; i < PROBES; i++) {
      const at = (hash >>> 0) % (mask + 1);
      if (!visit(at >>> 3, 1 << (at & 7))) return false;
      hash = (hash + step) | 0;
    }
    return true;
  }

  encode(): Uint8Array {
    const bytes = Buffer.alloc(HEADER_SIZE + this.bits.length);
    bytes.write(MAGIC, 0, "latin1");
    bytes.writeUInt32BE(VERSION, 4);
    bytes.writeUInt32BE(this.bits.length, 8);
    bytes.writeUInt32BE(this.count, 12);
    bytes.set(this.bits, HEADER_SIZE);
    return bytes;
  }

  static decode(bytes: Uint8Array): SignatureFilter {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const size = buffer.length - HEADER_SIZE;
    if (size < BYTES_LEAST || (size & (size - 1)) !== 0 || buffer.toString("latin1", 0, 4) !== MAGIC) {
      throw new ArchiveError("HT_CORRUPT", "not a filter of signatures");
    }
    if (buffer.readUInt32BE(4) > VERSION) throw new ArchiveError("HT_FORMAT_TOO_NEW", "a filter of a newer Holotype");
    if (buffer.readUInt32BE(8) !== size) throw new ArchiveError("HT_CORRUPT", "a filter of signatures that was cut");
    invariant(size <= FILTER_SIZE_MAX, "a filter beyond its limit");
    return new SignatureFilter(new Uint8Array(buffer.subarray(HEADER_SIZE)), buffer.readUInt32BE(12));
  }
}

/** The finalizer of MurmurHash3. */
function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
