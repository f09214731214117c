/**
 * Signatures: what a store finds duplicates by. One algorithm a store, chosen when it is made. A signature is written in
 * capital hex digits, as the directories of a tree volume have it.
 */
import { hash as hashOnce } from "node:crypto";
import { ArchiveError, createHasher } from "../base/index.ts";
import { Rabin64 } from "./rabin64.ts";

export const SIGNATURE_ALGORITHMS = ["sha256", "sha1", "rabin64", "weak8"] as const;
export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

/** Bytes of a signature. `weak8` is for tests: it keeps eight bits of a sha256, so that collisions come by themselves. */
export const SIGNATURE_SIZES: Readonly<Record<SignatureAlgorithm, number>> = {
  sha256: 32,
  sha1: 20,
  rabin64: 8,
  weak8: 8,
};

/** Takes a content piece by piece; `finish` may be called once. */
export interface Signer {
  update(bytes: Uint8Array): void;
  finish(): string;
}

export function isSignatureAlgorithm(name: string): name is SignatureAlgorithm {
  return (SIGNATURE_ALGORITHMS as readonly string[]).includes(name);
}

export function createSigner(algorithm: SignatureAlgorithm): Signer {
  if (algorithm === "rabin64") return new Rabin64();
  const hasher = createHasher(algorithm === "weak8" ? "sha256" : algorithm);
  return {
    update: (bytes) => {
      hasher.update(bytes);
    },
    finish: () => shorten(algorithm, hasher.finish().hex.toUpperCase()),
  };
}

export function signatureOf(algorithm: SignatureAlgorithm, content: Uint8Array): string {
  if (algorithm === "sha256" || algorithm === "sha1") return hashOnce(algorithm, content, "hex").toUpperCase();
  const signer = createSigner(algorithm);
  signer.update(content);
  return signer.finish();
}

function shorten(algorithm: SignatureAlgorithm, hex: string): string {
  return algorithm === "weak8" ? hex.slice(0, 2).padStart(16, "0") : hex;
}

/** Throws HT_USAGE for what is not a signature of this algorithm; small letters become capitals. */
export function parseSignature(text: string, algorithm: SignatureAlgorithm): string {
  if (text.length === 2 * SIGNATURE_SIZES[algorithm] && /^[0-9a-f]+$/i.test(text)) return text.toUpperCase();
  throw new ArchiveError("HT_USAGE", `not a signature of ${algorithm}: ${text}`);
}

/**
 * Whether equal signatures mean equal contents, as far as anybody knows. Of the others, bytes are compared where a mistake
 * would not show.
 */
export function isStrong(algorithm: SignatureAlgorithm): boolean {
  return algorithm === "sha256" || algorithm === "sha1";
}

/** The remainder of the signature, read as one number, by `divisor`. */
export function signatureModulo(signature: string, divisor: number): number {
  let rest = 0;
  for (let at = 0; at < signature.length; at += 4) {
    rest = (rest * 0x10000 + Number.parseInt(signature.slice(at, at + 4), 16)) % divisor;
  }
  return rest;
}
