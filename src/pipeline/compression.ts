/** Which compression a file has, by its first bytes. */
import { type ByteSource, type Compression, isZstd } from "../warc/index.ts";

export function detectCompression(source: ByteSource): Compression {
  const magic = Buffer.alloc(4);
  const count = source.read(magic, 0);
  if (count >= 2 && magic[0] === 0x1f && magic[1] === 0x8b) return "gzip";
  return count === 4 && isZstd(magic, 0) ? "zstd" : "none";
}
