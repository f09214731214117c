/** What is included in a digest index and what it can be asked by: the choices that the paper's DigestIndexer has. */
import type { KnownQuestion } from "../dedup/index.ts";

export interface IndexSettings {
  /** It can be asked by URL. */
  readonly url: boolean;
  /** It can be asked by digest. */
  readonly digest: boolean;
  /** It can be asked by equivalent URL and digest. */
  readonly equivalent: boolean;
  /** ETag and Last-Modified are included where the source tells them. */
  readonly validators: boolean;
}

export const SETTINGS_DEFAULT: IndexSettings = { url: true, digest: true, equivalent: false, validators: false };

const BITS = { url: 1, digest: 2, equivalent: 4, validators: 8 } as const;

export function encodeSettings(settings: IndexSettings): number {
  return Object.entries(BITS).reduce(
    (sum, [name, bit]) => (settings[name as keyof IndexSettings] ? sum | bit : sum),
    0,
  );
}

export function decodeSettings(bits: number): IndexSettings {
  const has = (bit: number) => (bits & bit) !== 0;
  return {
    url: has(BITS.url),
    digest: has(BITS.digest),
    equivalent: has(BITS.equivalent),
    validators: has(BITS.validators),
  };
}

export function answersOf({ url, digest, equivalent }: IndexSettings): ReadonlySet<KnownQuestion["by"]> {
  const answers = new Set<KnownQuestion["by"]>();
  if (url) answers.add("url");
  if (digest) answers.add("digest");
  if (equivalent) answers.add("equivalent");
  return answers;
}
