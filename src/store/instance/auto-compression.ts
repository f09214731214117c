/**
 * Which compression a content gets when its client leaves that to us: `zstd` where it is worth it, `none` where the
 * content is compressed already. Its media type decides where it is clear; else the beginning is compressed, to see.
 */
import type { Codecs } from "../codec.ts";

/** The name by which a client leaves the choice to us. */
export const AUTO = "auto";
export const SAMPLE_SIZE = 64 << 10;

const COMPRESSION = "zstd";
/** Text of some length always gets smaller, so it is not tried. */
const TEXT_SIZE_MIN = 1024;
/** What is saved must be worth the time that decompressing takes, every time. */
const SAVING_MIN = 0.1;
const SAVED_BYTES_MIN = 32;

const TEXT =
  /^(?:text\/|application\/(?:(?:[\w.-]+\+)?(?:json|xml)|(?:x-)?javascript|ecmascript|ld\+json)\b|image\/svg)/;
const COMPRESSED =
  /^(?:image\/(?:jpeg|png|gif|webp|avif|heic|jxl)|video\/|audio\/(?!(?:x-)?(?:wav|aiff|midi|basic))|font\/woff|application\/(?:x-)?(?:gzip|zip|bzip2?|xz|zstd|brotli|7z-compressed|rar-compressed|font-woff)\b)/;

/** `beginning` is the content, or at least its first `SAMPLE_SIZE` bytes. */
export function chooseCompression(codecs: Codecs, beginning: Uint8Array, contentType?: string): string {
  const type = contentType?.trim().toLowerCase() ?? "";
  if (COMPRESSED.test(type)) return "none";
  if (TEXT.test(type) && beginning.length >= TEXT_SIZE_MIN) return COMPRESSION;
  const sample = beginning.subarray(0, SAMPLE_SIZE);
  const saved = sample.length - (codecs.encode(COMPRESSION, sample) as Uint8Array).length;
  return saved >= SAVED_BYTES_MIN && saved >= sample.length * SAVING_MIN ? COMPRESSION : "none";
}
