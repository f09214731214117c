/** The entries of the index as bytes: see docs/format/pack-volume.md. */
import { crc32 } from "node:zlib";
import { ArchiveError } from "../../base/index.ts";
import { type BlockEntry, INDEX_ADVICE } from "./pack-index.ts";

const VERSION = 2;
/** Before the entries: the version, and the CRC-32 of all that follows. */
const HEAD_SIZE = 5;
const LEAVING = 1;
/** All of an entry but its texts. */
const FIXED_SIZE = 50;

export function encodeEntries(entries: readonly BlockEntry[]): Buffer {
  const formers = entries.map(({ formerKeys }) => formerKeys.join(" "));
  let size = HEAD_SIZE;
  for (const [i, { compression }] of entries.entries()) size += FIXED_SIZE + compression.length + formers[i]!.length;
  const bytes = Buffer.allocUnsafe(size);
  bytes[0] = VERSION;
  let at = HEAD_SIZE;
  for (const [i, entry] of entries.entries()) at = encodeEntry(bytes, at, entry, formers[i]!);
  bytes.writeUInt32BE(crc32(bytes.subarray(HEAD_SIZE)), 1);
  return bytes;
}

function encodeEntry(bytes: Buffer, at: number, entry: BlockEntry, former: string): number {
  bytes.writeUInt32BE(entry.overflow, at);
  bytes.writeUIntBE(entry.size, at + 4, 6);
  bytes.writeUIntBE(entry.storedSize, at + 10, 6);
  bytes.writeUInt32BE(entry.references, at + 16);
  bytes.writeUInt32BE(entry.segment, at + 20);
  bytes.writeUIntBE(entry.offset, at + 24, 6);
  bytes.writeUInt32BE(entry.headSize, at + 30);
  bytes.writeUInt32BE(entry.counterSegment, at + 34);
  bytes.writeUIntBE(entry.sequence, at + 38, 6);
  bytes[at + 44] = entry.leaving ? LEAVING : 0;
  bytes[at + 45] = entry.compression.length;
  bytes.writeUInt32BE(former.length, at + 46);
  const textAt = at + FIXED_SIZE;
  const formerAt = textAt + bytes.write(entry.compression, textAt, "latin1");
  return formerAt + bytes.write(former, formerAt, "latin1");
}

/** Throws HT_CORRUPT. */
export function decodeEntries(bytes: Buffer): BlockEntry[] {
  const isSound = bytes.length >= HEAD_SIZE && bytes.readUInt32BE(1) === crc32(bytes.subarray(HEAD_SIZE));
  if (!isSound || bytes[0] !== VERSION) {
    throw new ArchiveError("HT_CORRUPT", `an entry of the index is damaged; ${INDEX_ADVICE}`);
  }
  const entries: BlockEntry[] = [];
  for (let at = HEAD_SIZE; at < bytes.length; ) {
    const compressionSize = bytes[at + 45]!;
    const formerSize = bytes.readUInt32BE(at + 46);
    const textAt = at + FIXED_SIZE;
    const former = bytes.toString("utf8", textAt + compressionSize, textAt + compressionSize + formerSize);
    entries.push({
      overflow: bytes.readUInt32BE(at),
      size: bytes.readUIntBE(at + 4, 6),
      storedSize: bytes.readUIntBE(at + 10, 6),
      compression: bytes.toString("utf8", textAt, textAt + compressionSize),
      references: bytes.readUInt32BE(at + 16),
      segment: bytes.readUInt32BE(at + 20),
      offset: bytes.readUIntBE(at + 24, 6),
      headSize: bytes.readUInt32BE(at + 30),
      counterSegment: bytes.readUInt32BE(at + 34),
      sequence: bytes.readUIntBE(at + 38, 6),
      leaving: (bytes[at + 44]! & LEAVING) !== 0,
      formerKeys: formerSize === 0 ? [] : former.split(" "),
    });
    at = textAt + compressionSize + formerSize;
  }
  return entries;
}
