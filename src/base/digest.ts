/**
 * Digests and their text. In the wild a digest is written as base32 or hex, upper or lower case, with or without
 * padding and label; two are equal when algorithm and bytes are. We write sha1 in base32, all others in hex.
 */
import { createHash, hash as hashOnce } from "node:crypto";
import type { IHasher } from "hash-wasm";
import { ArchiveError } from "./errors.ts";

export const DIGEST_ALGORITHMS = ["sha1", "sha256", "md5", "sha512", "blake3"] as const;
export type DigestAlgorithm = (typeof DIGEST_ALGORITHMS)[number];

export interface Digest {
  readonly algorithm: DigestAlgorithm;
  /** Lower-case hex, so that two digests compare as strings. */
  readonly hex: string;
}

const SIZES: Readonly<Record<DigestAlgorithm, number>> = { sha1: 20, sha256: 32, md5: 16, sha512: 64, blake3: 32 };

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

export function isDigestAlgorithm(name: string): name is DigestAlgorithm {
  return (DIGEST_ALGORITHMS as readonly string[]).includes(name);
}

export function formatBase32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(held >>> bits) & 31];
    }
    held &= (1 << bits) - 1;
  }
  if (bits > 0) text += BASE32[(held << (5 - bits)) & 31];
  return text;
}

/** What each character stands for, by its code. */
const BASE32_VALUES = new Int8Array(128).fill(-1);
for (let value = 0; value < 32; value++) {
  BASE32_VALUES[BASE32.charCodeAt(value)] = value;
  BASE32_VALUES[BASE32.toLowerCase().charCodeAt(value)] = value;
}

/** Absent when a character is not of the alphabet. Case and padding do not matter. */
export function parseBase32(text: string): Uint8Array | undefined {
  const trimmed = text.endsWith("=") ? text.replace(/=+$/, "") : text;
  const bytes = new Uint8Array(Math.floor((trimmed.length * 5) / 8));
  let at = 0;
  let bits = 0;
  let held = 0;
  for (let i = 0; i < trimmed.length; i++) {
    const value = BASE32_VALUES[trimmed.charCodeAt(i)] ?? -1;
    if (value < 0) return undefined;
    held = (held << 5) | value;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (held >>> bits) & 255;
    }
    held &= (1 << bits) - 1;
  }
  return bytes;
}

/** The text that we write: `sha1:` and base32 in capitals, every other algorithm in small hex. */
export function formatDigest(digest: Digest): string {
  return `${digest.algorithm}:${formatDigestValue(digest)}`;
}

/** The same without its label, as CDX files have it. */
export function formatDigestValue(digest: Digest): string {
  return digest.algorithm === "sha1" ? sha1Base32(digest.hex) : digest.hex;
}

const BASE32_PAIRS = Array.from({ length: 1024 }, (_, i) => BASE32[i >> 5]! + BASE32[i & 31]!);

const SHA1_BASE32 = /^[A-Z2-7]{32}$/;

/** What each digit of small hex stands for, by its code. */
const HEX_VALUES = new Uint8Array(128);
for (let value = 0; value < 16; value++) HEX_VALUES[value.toString(16).charCodeAt(0)] = value;

/** The 20 bytes of a sha1 are eight times 20 bits, four characters each: on the path of every record of a manifest. */
function sha1Base32(hex: string): string {
  let text = "";
  for (let at = 0; at < 40; at += 5) {
    let bits = 0;
    for (let i = at; i < at + 5; i++) bits = (bits << 4) | HEX_VALUES[hex.charCodeAt(i)]!;
    text += BASE32_PAIRS[bits >> 10]! + BASE32_PAIRS[bits & 1023]!;
  }
  return text;
}

const ALIASES: Readonly<Record<string, DigestAlgorithm>> = {
  "sha-1": "sha1",
  "sha-256": "sha256",
  "sha-512": "sha512",
};

/** The algorithm that a digest's label names; absent where there is no label or it is not known. */
export function parseAlgorithm(text: string): DigestAlgorithm | undefined {
  const label = text.slice(0, Math.max(text.indexOf(":"), 0));
  if (isDigestAlgorithm(label)) return label;
  const name = label.trim().toLowerCase();
  const named = ALIASES[name] ?? name;
  return isDigestAlgorithm(named) ? named : undefined;
}

/**
 * Reads a digest in any of the forms found in the wild. A text without a label is taken for the algorithm that
 * `unlabelled` names. Absent where the algorithm is not known or the value is of no form that fits it.
 */
export function parseDigest(text: string, unlabelled?: DigestAlgorithm): Digest | undefined {
  const colon = text.indexOf(":");
  const algorithm = colon < 0 ? unlabelled : parseAlgorithm(text);
  if (algorithm === undefined) return undefined;
  const hex = parseDigestValue(text.slice(colon + 1).trim(), SIZES[algorithm]);
  return hex === undefined ? undefined : { algorithm, hex };
}

function parseDigestValue(value: string, size: number): string | undefined {
  if (value.length === size * 2 && /^[0-9a-fA-F]+$/.test(value)) return value.toLowerCase();
  const bare = value.endsWith("=") ? value.replace(/=+$/, "") : value;
  if (bare.length === Math.ceil((size * 8) / 5)) {
    const bytes = parseBase32(bare);
    if (bytes?.length === size) return Buffer.from(bytes).toString("hex");
  }
  if (bare.length === Math.ceil((size * 8) / 6) && /^[0-9A-Za-z+/_-]+$/.test(bare)) {
    return Buffer.from(bare, "base64").toString("hex");
  }
  return undefined;
}

/**
 * A digest in the form that another one is written in: its label, base32 or hex, large or small letters, padding. A
 * form that is none of these becomes ours.
 */
export function formatDigestLike(sample: string, digest: Digest): string {
  const colon = sample.indexOf(":");
  const value = sample.slice(colon + 1);
  const label = sample.slice(0, colon + 1);
  const size = SIZES[digest.algorithm];
  // What most have.
  if (digest.algorithm === "sha1" && SHA1_BASE32.test(value)) return label + sha1Base32(digest.hex);
  if (/^[0-9a-f]+$/i.test(value) && value.length === size * 2) {
    return label + (/[A-F]/.test(value) ? digest.hex.toUpperCase() : digest.hex);
  }
  const bare = value.replace(/=+$/, "");
  if (/^[a-z2-7]+$/i.test(bare) && bare.length === Math.ceil((size * 8) / 5)) {
    const text = formatBase32(Buffer.from(digest.hex, "hex"));
    return label + (/[a-z]/.test(bare) ? text.toLowerCase() : text) + value.slice(bare.length);
  }
  return formatDigest(digest);
}

export function equalDigests(one: Digest, other: Digest): boolean {
  return one.algorithm === other.algorithm && one.hex === other.hex;
}

/** A digest in the making. `finish` may be called once. */
export interface Hasher {
  update(bytes: Uint8Array): void;
  finish(): Digest;
}

let blake3: IHasher | undefined;

/** BLAKE3 comes as WebAssembly and must be loaded once before it is used; the others are Node's and need nothing. */
export async function loadDigest(algorithm: DigestAlgorithm): Promise<void> {
  if (algorithm !== "blake3" || blake3 !== undefined) return;
  const { createBLAKE3 } = await import("hash-wasm");
  blake3 ??= await createBLAKE3();
}

function loadedBlake3(): IHasher {
  if (blake3 === undefined) throw new ArchiveError("HT_USAGE", "loadDigest('blake3') must be awaited before its use");
  return blake3;
}

/** Digests of one algorithm may be in the making at once, except for BLAKE3, of which each hasher is loaded apart. */
export function createHasher(algorithm: DigestAlgorithm): Hasher {
  if (algorithm === "blake3") return createBlake3Hasher();
  const hash = createHash(algorithm);
  return { update: (bytes) => void hash.update(bytes), finish: () => ({ algorithm, hex: hash.digest("hex") }) };
}

function createBlake3Hasher(): Hasher {
  const hasher = loadedBlake3();
  let state = hasher.init().save();
  return {
    // One WebAssembly instance serves all: the state is put in and taken out around each update.
    update: (bytes) => {
      state = hasher.load(state).update(bytes).save();
    },
    finish: () => ({ algorithm: "blake3", hex: hasher.load(state).digest("hex") }),
  };
}

/** The digest of bytes that are all there, as hex: half the cost of a hasher for small ones. */
export function hashHex(algorithm: DigestAlgorithm, bytes: Uint8Array): string {
  if (algorithm === "blake3") return loadedBlake3().init().update(bytes).digest("hex");
  return hashOnce(algorithm, bytes, "hex");
}

export function digestOf(algorithm: DigestAlgorithm, bytes: Uint8Array): Digest {
  return { algorithm, hex: hashHex(algorithm, bytes) };
}
