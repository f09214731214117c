/** What a reader says of an archive, as plain values that can be compared. */
import { ArchiveError, createHasher, type Warning } from "../base/index.ts";
import {
  type AnyByteSource,
  type AsyncByteSource,
  bufferSource,
  type ReaderOptions,
  WarcReader,
  type WarcRecord,
} from "../warc/index.ts";

export interface SeenRecord {
  readonly offset: number;
  readonly length: number | undefined;
  readonly inner: number | undefined;
  readonly type: string;
  readonly uri: string | undefined;
  readonly digest: string;
  readonly size: number;
  /** Codes of its warnings. */
  readonly warnings: readonly string[];
}

export interface SeenArchive {
  readonly records: readonly SeenRecord[];
  readonly warnings: readonly Warning[];
  /** The code that reading ended with; anything but an `ArchiveError` is thrown on. */
  readonly error: string | undefined;
}

function describe(record: WarcRecord, digest: string, size: number): SeenRecord {
  const { offset, length, inner, type, uri } = record;
  return { offset, length, inner, type, uri, digest, size, warnings: record.warnings.map(({ code }) => code) };
}

function codeOf(error: unknown): string {
  if (error instanceof ArchiveError) return error.code;
  throw error;
}

export function readArchive(input: Uint8Array | AnyByteSource, options: ReaderOptions = {}): SeenArchive {
  const source = input instanceof Uint8Array ? bufferSource(input) : input;
  const records: SeenRecord[] = [];
  const warnings: Warning[] = [];
  const reader = new WarcReader(source, { ...options, onWarning: (warning) => void warnings.push(warning) });
  try {
    for (const record of reader) {
      const hasher = createHasher("sha1");
      let size = 0;
      for (const chunk of record.chunks()) {
        hasher.update(chunk);
        size += chunk.length;
      }
      records.push(describe(record, hasher.finish().hex, size));
    }
  } catch (error) {
    return { records, warnings, error: codeOf(error) };
  } finally {
    reader.close();
  }
  return { records, warnings, error: undefined };
}

export async function readArchiveLater(source: AnyByteSource, options: ReaderOptions = {}): Promise<SeenArchive> {
  const records: SeenRecord[] = [];
  const warnings: Warning[] = [];
  const reader = new WarcReader(source, { ...options, onWarning: (warning) => void warnings.push(warning) });
  try {
    for await (const record of reader) {
      const hasher = createHasher("sha1");
      let size = 0;
      for await (const chunk of record) {
        hasher.update(chunk);
        size += chunk.length;
      }
      records.push(describe(record, hasher.finish().hex, size));
    }
  } catch (error) {
    return { records, warnings, error: codeOf(error) };
  } finally {
    reader.close();
  }
  return { records, warnings, error: undefined };
}

/** A source that answers later, and with few bytes at a time: 1, 2, … `most`, 1, … */
export function drippingSource(bytes: Uint8Array, most: number): AsyncByteSource {
  let turn = 0;
  return {
    name: "(memory)",
    seekable: true,
    size: bytes.length,
    readLater(into, position) {
      turn = (turn % most) + 1;
      const count = Math.max(0, Math.min(turn, into.length, bytes.length - position));
      into.set(bytes.subarray(position, position + count));
      return Promise.resolve(count);
    },
  };
}
