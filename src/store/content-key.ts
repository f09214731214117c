/**
 * Content keys: volume, signature and, for a block that shares its signature with another, an overflow suffix. As text
 * `0-ADEE2232AF3A4355` and `0-ADEE2232AF3A4355-1`; it is all a client needs to get or delete a content.
 */
import { ArchiveError } from "../base/index.ts";

/** Where a block is in its volume. */
export interface BlockAddress {
  /** Capital hex digits. */
  readonly signature: string;
  /** 0 for the first block with its signature. */
  readonly overflow: number;
}

export interface ContentKey extends BlockAddress {
  readonly volume: number;
}

const OVERFLOW_MAX = 0xffff_ffff;
export const VOLUME_COUNT_MAX = 4096;

/** `ADEE2232AF3A4355` or `ADEE2232AF3A4355-1`. */
export function formatAddress({ signature, overflow }: BlockAddress): string {
  return overflow === 0 ? signature : `${signature}-${overflow}`;
}

/** Absent for what is not an address. */
export function parseAddress(text: string): BlockAddress | undefined {
  const match = /^((?:[0-9a-f]{2}){1,64})(?:-([1-9][0-9]{0,9}))?$/i.exec(text);
  if (match === null) return undefined;
  const overflow = Number(match[2] ?? 0);
  return overflow > OVERFLOW_MAX ? undefined : { signature: match[1]!.toUpperCase(), overflow };
}

export function formatContentKey(key: ContentKey): string {
  return `${key.volume}-${formatAddress(key)}`;
}

/** Throws HT_USAGE for what is not a key. */
export function parseContentKey(text: string): ContentKey {
  const [, volume, rest] = /^(0|[1-9][0-9]{0,3})-(.+)$/.exec(text) ?? [];
  const address = parseAddress(rest ?? "");
  if (address === undefined || Number(volume) >= VOLUME_COUNT_MAX) {
    throw new ArchiveError("HT_USAGE", `not a content key: ${text.slice(0, 200)}`);
  }
  return { volume: Number(volume), ...address };
}

export function sameAddress(one: BlockAddress, other: BlockAddress): boolean {
  return one.signature === other.signature && one.overflow === other.overflow;
}
