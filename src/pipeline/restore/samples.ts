/** Records of a file that are still as its writer left them: what its compression can be learnt from. */
import {
  type ByteSource,
  type Compression,
  gzipHeaderSize,
  isZstd,
  WarcReader,
  type WarcRecord,
} from "../../warc/index.ts";
import { storedMemberOf } from "./member-recipe.ts";
import type { MemberSample } from "./member-recipe-finder.ts";
import { parseReplaced } from "./record.ts";

const RECORDS_LOOKED_AT = 64;
const SAMPLES = 3;
const SAMPLE_SIZE_MAX = 1 << 16;

/** The largest of the first records, as far as these are small. */
export function sampleMembers(source: ByteSource, compression: Compression): MemberSample[] {
  if (compression === "none") return [];
  const samples: MemberSample[] = [];
  const reader = new WarcReader(source);
  try {
    for (let i = 0; i < RECORDS_LOOKED_AT; i++) {
      const record = reader.next();
      if (record === undefined) break;
      const sample = sampleOf(record, compression);
      if (sample === undefined) continue;
      samples.push(sample);
      samples.sort((one, other) => other.size - one.size);
      samples.length = Math.min(samples.length, SAMPLES);
    }
  } finally {
    reader.close();
  }
  return samples;
}

function sampleOf(record: WarcRecord, compression: Compression): MemberSample | undefined {
  const { block, raw, warnings, headers } = record;
  if (block === undefined || raw === undefined || record.length !== raw.length || warnings.length > 0) return undefined;
  const size = headers.text.length + block.length;
  // Our own revisits were compressed by us.
  if (size > SAMPLE_SIZE_MAX || record.arc !== undefined || parseReplaced(headers.text) !== undefined) return undefined;
  const headerSize = compression === "gzip" ? gzipHeaderSize(raw, 0, raw.length) : 0;
  const gzipHeader = headerSize > 0 ? Buffer.from(raw.subarray(0, headerSize)) : undefined;
  const content = { head: Buffer.from(headers.text, "latin1"), block: [Buffer.from(block)] };
  return { content, size, stored: storedMemberOf(raw, gzipHeader) };
}

const DICTIONARY_MAGIC = 0x184d2a5d;
const DICTIONARY_SIZE_MAX = 8 << 20;
const SKIPPABLE_HEADER_SIZE = 8;

/** The dictionary at the start of a zstd file; absent where there is none. */
export async function readDictionary(source: ByteSource): Promise<Uint8Array | undefined> {
  const header = Buffer.alloc(SKIPPABLE_HEADER_SIZE);
  if (source.read(header, 0) < SKIPPABLE_HEADER_SIZE || header.readUInt32LE(0) !== DICTIONARY_MAGIC) return undefined;
  const size = header.readUInt32LE(4);
  if (size < 4 || size > DICTIONARY_SIZE_MAX) return undefined;
  const content = Buffer.alloc(size);
  if (source.read(content, SKIPPABLE_HEADER_SIZE) < size) return undefined;
  if (!isZstd(content, 0) || content.readUInt32LE(0) === DICTIONARY_MAGIC) return content;
  const { decompress } = await import("@bokuweb/zstd-wasm");
  try {
    return decompress(content);
  } catch {
    // The reader said what is wrong with it; without it nothing is lost but the chance to compress as it was done.
    return undefined;
  }
}
