/** The real archives next to the project, where they are: files of others, read and never copied. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ArchiveError, digestOf } from "../../src/base/index.ts";
import {
  type ByteSource,
  bufferSource,
  isZip,
  openZipEntry,
  readZipEntries,
  WarcReader,
  type WarcRecord,
} from "../../src/warc/index.ts";

export const CORPUS = fileURLToPath(new URL("../../../shared/corpus", import.meta.url));
export const WALIB = fileURLToPath(new URL("../../../shared/tools/walib.py", import.meta.url));
export const present = existsSync(`${CORPUS}/INDEX.tsv`);
/** For the title of a test that cannot run. */
export const why = present ? "" : " (skipped: there is no ../shared/corpus)";

/** Every file of the corpus, as a path inside it. */
export function corpusFiles(): readonly string[] {
  if (!present) return [];
  const paths = readdirSync(CORPUS, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(CORPUS.length + 1));
  return paths.filter((path) => /\//.test(path)).sort();
}

export function readCorpus(path: string): Buffer {
  return readFileSync(`${CORPUS}/${path}`);
}

export interface ReadRecord {
  readonly offset: number;
  /** Position inside the decoded member. */
  readonly inner: number;
  /** Absent where the record shares its member. */
  readonly length: number | undefined;
  readonly size: number;
  /** Of the block. */
  readonly sha1: string;
}

export interface ReadFile {
  readonly records: readonly ReadRecord[];
  /** Codes of warnings, and of the error that ended reading. */
  readonly codes: readonly string[];
  /** The file with the bytes of its records as they lie in it, and of what stands between them. */
  readonly copy: Buffer;
}

/** Reads all records. Anything that is thrown and is no `ArchiveError` goes on to the test. */
export function readFile(source: ByteSource, bytes: Buffer): ReadFile {
  const records: ReadRecord[] = [];
  const codes: string[] = [];
  const parts: Uint8Array[] = [];
  let copied = 0;
  try {
    for (const record of new WarcReader(source, { onWarning: ({ code }) => void codes.push(code) })) {
      records.push(describe(record));
      const { raw, offset } = record;
      if (raw !== undefined && record.inner === undefined) {
        parts.push(bytes.subarray(copied, offset), Buffer.from(raw));
        copied = offset + raw.length;
      }
    }
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    codes.push(error.code);
  }
  return { records, codes, copy: Buffer.concat([...parts, bytes.subarray(copied)]) };
}

function describe(record: WarcRecord): ReadRecord {
  const block = Buffer.from(record.readAll(1 << 30));
  record.drain();
  const { offset, inner = 0, length } = record;
  return { offset, inner, length, size: block.length, sha1: digestOf("sha1", block).hex };
}

/** The archives in a file: itself, or the entries of a ZIP file, and of those inside it. */
export function* archivesIn(source: ByteSource, bytes: Buffer): Generator<readonly [ByteSource, Buffer]> {
  if (!isZip(bytes)) {
    yield [source, bytes];
    return;
  }
  for (const entry of readZipEntries(source)) {
    if (!/\.(?:w?arc(?:\.gz|\.zst)?|wacz|zip)$/i.test(entry.name)) continue;
    const content = readWhole(openZipEntry(source, entry, entry.name));
    yield* archivesIn(bufferSource(content, `${source.name}!${entry.name}`), content);
  }
}

export function readWhole(source: ByteSource): Buffer {
  const parts: Buffer[] = [];
  for (let position = 0; ; ) {
    const piece = Buffer.alloc(1 << 16);
    const count = source.read(piece, position);
    if (count === 0) return Buffer.concat(parts);
    parts.push(piece.subarray(0, count));
    position += count;
  }
}
