/** gzip members made by hand, with every optional part of their header. Their deflate data is Node's. */
import { crc32, deflateRawSync } from "node:zlib";

export interface GzipHeader {
  readonly extra?: Uint8Array;
  readonly name?: string;
  readonly comment?: string;
  readonly headerChecksum?: boolean;
  readonly mtime?: number;
}

export function gzipHeader(header: GzipHeader = {}): Buffer {
  const { extra, name, comment, headerChecksum = false, mtime = 0 } = header;
  const flags =
    (headerChecksum ? 2 : 0) |
    (extra === undefined ? 0 : 4) |
    (name === undefined ? 0 : 8) |
    (comment === undefined ? 0 : 16);
  const fixed = Buffer.from([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3]);
  fixed.writeUInt32LE(mtime, 4);
  const parts: Buffer[] = [fixed];
  if (extra !== undefined) parts.push(Buffer.from([extra.length & 255, extra.length >> 8]), Buffer.from(extra));
  for (const text of [name, comment]) if (text !== undefined) parts.push(Buffer.from(`${text}\0`, "latin1"));
  const bytes = Buffer.concat(parts);
  if (!headerChecksum) return bytes;
  const checksum = crc32(bytes) & 0xffff;
  return Buffer.concat([bytes, Buffer.from([checksum & 255, checksum >> 8])]);
}

export function gzipTrailer(content: Uint8Array): Buffer {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(content), 0);
  trailer.writeUInt32LE(content.length % 0x1_0000_0000, 4);
  return trailer;
}

export function gzipMember(content: Uint8Array, header: GzipHeader = {}, level = 6): Buffer {
  return Buffer.concat([gzipHeader(header), deflateRawSync(content, { level }), gzipTrailer(content)]);
}
