/** Whether a payload has the content coding that its header claims: many tools store it decoded and keep the header. */
import { brotliDecompressSync, constants, inflateRawSync, inflateSync } from "node:zlib";
import { type ContentCoding, parseContentCodings } from "../../warc/index.ts";

const TRIED_SIZE = 1 << 12;
const OUTPUT_SIZE = 1 << 16;

/** The codings that the beginning of a payload shows; none where it shows none, or one is not known. */
export function codingsOf(value: string | undefined, start: Uint8Array): ContentCoding[] {
  if (value === undefined || start.length === 0) return [];
  let codings: ContentCoding[];
  try {
    codings = parseContentCodings(value);
  } catch {
    return [];
  }
  const last = codings.at(-1);
  return last !== undefined && isCoded(start.subarray(0, TRIED_SIZE), last) ? codings : [];
}

function isCoded(start: Uint8Array, coding: ContentCoding): boolean {
  switch (coding) {
    case "gzip":
      return beginsWith(start, [0x1f, 0x8b]);
    case "zstd":
      return beginsWith(start, [0x28, 0xb5, 0x2f, 0xfd]);
    case "br":
      return decodes(() => brotliDecompressSync(start, { finishFlush: constants.BROTLI_OPERATION_FLUSH, ...LIMIT }));
    case "deflate": {
      const options = { finishFlush: constants.Z_SYNC_FLUSH, ...LIMIT };
      return decodes(() => inflateSync(start, options)) || decodes(() => inflateRawSync(start, options));
    }
  }
}

function beginsWith(start: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, i) => start[i] === byte);
}

const LIMIT = { maxOutputLength: OUTPUT_SIZE };

function decodes(decode: () => Buffer): boolean {
  try {
    decode();
    return true;
  } catch (error) {
    // It decodes to more than was wanted.
    return (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
  }
}
