/** A URL and a digest in the form in which records are searched for them. */
import { formatDigest, parseDigest } from "../base/index.ts";
import { prefixOf, URL_PREFIXES } from "./entry-bytes.ts";
import { createHashPair, hashBytes } from "./url-hash.ts";

const SIZE_FIRST = 4096;

/** One is used again and again: it holds the URL that it was set to last. */
export class UrlProbe {
  private bytes = Buffer.alloc(SIZE_FIRST);
  private start = 0;
  private end = 0;
  private prefix = 0;
  private readonly pair = createHashPair();

  set(uri: string): this {
    if (3 * uri.length > this.bytes.length) this.bytes = Buffer.alloc(3 * uri.length);
    this.end = this.bytes.write(uri);
    hashBytes(this.bytes, 0, this.end, this.pair);
    this.prefix = prefixOf(uri);
    this.start = URL_PREFIXES[this.prefix]!.length;
    return this;
  }

  get high(): number {
    return this.pair[0]!;
  }

  get low(): number {
    return this.pair[1]!;
  }

  /** Whether the URL of this prefix whose size stands there is the one. */
  isAt(page: Buffer, at: number, prefix: number): boolean {
    const size = this.end - this.start;
    if (prefix !== this.prefix || page.readUInt16BE(at) !== size) return false;
    return page.compare(this.bytes, this.start, this.end, at + 2, at + 2 + size) === 0;
  }
}

/** Where a digest is searched for: by its first 64 bits. */
export interface DigestProbe {
  readonly text: string;
  readonly high: number;
  readonly low: number;
}

/** Those that can be read. */
export function probesOf(digests: readonly string[]): DigestProbe[] {
  const probes: DigestProbe[] = [];
  for (const text of digests) {
    const probe = probeOf(text);
    if (probe !== undefined) probes.push(probe);
  }
  return probes;
}

function probeOf(text: string): DigestProbe | undefined {
  // What most are; only the first 13 characters are read of it, since what is found is compared as text.
  if (text.length === 37 && text.startsWith("sha1:")) {
    let high = 0;
    for (let at = 5; at < 11; at++) high = high * 32 + base32At(text, at);
    const seventh = base32At(text, 11);
    let low = seventh & 7;
    for (let at = 12; at < 17; at++) low = low * 32 + base32At(text, at);
    const last = base32At(text, 17);
    const probe = { text, high: high * 4 + (seventh >> 3), low: low * 16 + (last >> 1) };
    if (!Number.isNaN(high + low + seventh + last)) return probe;
  }
  const digest = parseDigest(text);
  if (digest === undefined) return undefined;
  const { hex } = digest;
  const [high, low] = [Number.parseInt(hex.slice(0, 8), 16), Number.parseInt(hex.slice(8, 16), 16)];
  return { text: formatDigest(digest), high, low };
}

/** Not a number where it is no character of base32 in capitals. */
function base32At(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 0x41 && code <= 0x5a) return code - 0x41;
  return code >= 0x32 && code <= 0x37 ? code - 0x32 + 26 : Number.NaN;
}
