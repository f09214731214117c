/**
 * Turns ARC into WARC and one compression into another. Each output gets its name only after it has been read back and
 * every record in it was found equal to that of the input. A damaged input is not converted: what is damaged would be
 * lost or would look sound.
 */
import { ArchiveError, createHasher, formatDigest, formatPlace } from "../base/index.ts";
import { type Disk, DurableOutput } from "../disk/index.ts";
import {
  type ByteSource,
  type Compression,
  encodeHead,
  fileSource,
  loadZstd,
  parseArcVersion,
  scanRecord,
  WarcReader,
  type WarcRecord,
  WarcWriter,
  type WriterOptions,
} from "../warc/index.ts";
import {
  type ArcContext,
  arcLineOf,
  convertedFields,
  derivedId,
  warcinfoBlock,
  warcinfoFields,
} from "./arc-conversion.ts";
import { Proof, proveInput, proveOutput, refuseDamage } from "./conversion-proof.ts";
import { accessOf } from "./input-access.ts";
import { type Input, openInput } from "./inputs.ts";

export interface ConvertOptions {
  readonly folder: string;
  readonly compression: Compression;
  readonly level?: number | undefined;
  readonly dictionary?: Uint8Array | undefined;
  readonly replace?: boolean | undefined;
  /** Name and version of the program, for the warcinfo record. */
  readonly software: string;
  readonly onProgress?: (offset: number, records: number) => void;
}

export interface Converted {
  readonly output: string;
  readonly records: number;
  readonly sizeBefore: number | undefined;
  readonly sizeAfter: number;
  /** The output was there from an earlier run, and proved equal. */
  readonly kept: boolean;
}

const EXTENSIONS: Readonly<Record<Compression, string>> = { none: ".warc", gzip: ".warc.gz", zstd: ".warc.zst" };
const EPOCH_OF_ARC_MS = Date.UTC(1996, 0, 1);

export function convertedName(input: Input, compression: Compression): string {
  const base = input.path === "-" ? "stdin" : (input.entries.at(-1) ?? input.path).replace(/^.*\//, "");
  return base.replace(/(?:\.w?arc)?(?:\.gz|\.zst)?$/i, "") + EXTENSIONS[compression];
}

/**
 * Converts one input into the folder. Throws where the input is damaged, or where something else has the output's name.
 */
export async function convertInput(disk: Disk, input: Input, options: ConvertOptions): Promise<Converted> {
  await loadZstd();
  const name = convertedName(input, options.compression);
  const path = `${options.folder.replace(/\/+$/, "")}/${name}`;
  refuseOwnInput(disk, input, path);
  const source = openInput(disk, input);
  try {
    if (options.replace !== true && disk.stat(path) !== undefined) return keepOutput(disk, source, input, path);
    using output = DurableOutput.begin(disk, path, {
      replace: options.replace ?? false,
      access: accessOf(disk, [input]),
    });
    const proof = new Proof();
    const conversion = new Conversion(source, output, name, options, proof);
    const records = conversion.run();
    output.flush();
    using written = output.openForReading();
    const [found, wanted] = [proveOutput(fileSource(written, path), conversion.fromArc), proof.finish()];
    if (found !== wanted) {
      const message = `${path}: the output is not equal to the input (${found} instead of ${wanted}); it was thrown away`;
      throw new ArchiveError("HT_VERIFY", message, { file: path });
    }
    output.commit();
    return { output: path, records, sizeBefore: input.size, sizeAfter: output.size, kept: false };
  } finally {
    source.close?.();
  }
}

/** Not even who wants outputs replaced wants to lose the input. */
function refuseOwnInput(disk: Disk, input: Input, path: string): void {
  const there = disk.stat(path);
  if (there === undefined || there.identity !== disk.stat(input.path)?.identity) return;
  throw new ArchiveError("HT_EXISTS", `${path}: the output would replace its own input`, { file: path });
}

/** What an earlier run left is kept if it proves to be the conversion of this input; anything else is not ours. */
function keepOutput(disk: Disk, source: ByteSource, input: Input, path: string): Converted {
  const { fromArc, ...wanted } = proveInput(source);
  using file = disk.open(path, "read");
  const proof = proveOutput(fileSource(file, path), fromArc);
  if (proof !== wanted.proof) {
    const message = `${path}: there already, and not a conversion of ${input.name}`;
    throw new ArchiveError("HT_EXISTS", message, { file: path });
  }
  return { output: path, records: wanted.records, sizeBefore: input.size, sizeAfter: file.size(), kept: true };
}

class Conversion {
  private readonly source: ByteSource;
  private readonly writer: WarcWriter;
  private readonly name: string;
  private readonly options: ConvertOptions;
  private readonly proof: Proof;
  private context: ArcContext | undefined;

  constructor(source: ByteSource, output: DurableOutput, name: string, options: ConvertOptions, proof: Proof) {
    this.source = source;
    this.name = name;
    this.options = options;
    this.proof = proof;
    const { compression, level, dictionary } = options;
    this.writer = new WarcWriter(output, { compression, level, dictionary } satisfies WriterOptions);
  }

  get fromArc(): boolean {
    return this.context !== undefined;
  }

  run(): number {
    const reader = new WarcReader(this.source, { onWarning: refuseDamage });
    for (let record = reader.next(); record !== undefined; record = reader.next()) {
      if (record.arc === undefined) this.copyWarc(record);
      else this.convertArc(record);
      if (reader.recordCount % 256 === 0) this.options.onProgress?.(record.offset, reader.recordCount);
    }
    return reader.recordCount;
  }

  private copyWarc(record: WarcRecord): void {
    const hasher = createHasher("sha256");
    this.writer.writeStream(Buffer.from(record.headers.text, "latin1"), tee(record.chunks(), hasher));
    this.proof.add(record.headers.text, formatDigest(hasher.finish()));
  }

  private convertArc(record: WarcRecord): void {
    const context = this.contextFor(record);
    // The header tells the digests, so the block has to be read before it is written: from the window, or twice.
    const whole = record.block !== undefined;
    const scan = scanRecord(record, { block: ["sha1", "sha256"], payload: ["sha1"] });
    const isHttp = scan.http !== undefined && record.type === "response";
    const [blockSha1, blockSha256] = scan.blockDigests;
    const fields = convertedFields(record, context, {
      isHttp,
      blockSize: scan.blockSize,
      blockDigest: blockSha1!,
      payloadDigest: scan.payloadDigests[0]!,
    });
    this.writer.writeStream(encodeHead("WARC/1.1", fields), whole ? [record.block!] : this.readAgain(record));
    this.proof.add(arcLineOf(record), formatDigest(blockSha256!));
  }

  private *readAgain(record: WarcRecord): Generator<Uint8Array> {
    if (!this.source.seekable) {
      const message = "a record too large for the memory cannot be converted from a stream; give a file";
      throw new ArchiveError("HT_UNSUPPORTED", `${formatPlace(record)}: ${message}`, record);
    }
    const reader = new WarcReader(this.source, { start: record.offset });
    for (let again = reader.next(); again !== undefined; again = reader.next()) {
      if (again.inner !== record.inner) continue;
      yield* again.chunks();
      return;
    }
  }

  /** The first record tells about the file; it should be its filedesc, but some files have none. */
  private contextFor(record: WarcRecord): ArcContext {
    if (this.context !== undefined) return this.context;
    const name = this.source.name.replace(/^.*[/!]/, "");
    this.context = {
      name,
      outputName: this.name,
      madeMs: record.timeMs ?? EPOCH_OF_ARC_MS,
      warcinfoId: derivedId(name, "warcinfo"),
      software: this.options.software,
    };
    this.writer.write({ fields: warcinfoFields(this.context), block: warcinfoBlock(this.context, versionOf(record)) });
    return this.context;
  }
}

/** The version that a filedesc tells counts for what follows it, so its own record does not have it yet. */
function versionOf(record: WarcRecord): string {
  const told = record.type === "warcinfo" ? parseArcVersion(record.block?.toString("latin1", 0, 64) ?? "") : undefined;
  return told === undefined ? record.version : `ARC/${told}`;
}

function* tee(chunks: Iterable<Uint8Array>, hasher: { update(bytes: Uint8Array): void }): Generator<Uint8Array> {
  for (const chunk of chunks) {
    hasher.update(chunk);
    yield chunk;
  }
}
