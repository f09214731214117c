/** A WACZ in the making: WARC files, index, list of pages and the package that names them all. Obeys docs/format/export.md. */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { ArchiveError, formatIso } from "../../base/index.ts";
import type { ByteSink, DurableOutput } from "../../disk/index.ts";
import {
  type ByteSource,
  fileSource,
  openZipEntry,
  rangeSource,
  readZipEntries,
  type WrittenEntry,
  ZipWriter,
} from "../../warc/index.ts";

const WACZ_VERSION = "1.1.1";
const READ_SIZE = 1 << 20;

export interface WaczDescription {
  readonly title: string;
  readonly description: string;
  readonly software: string;
  readonly createdMs: number;
}

interface Resource {
  readonly name: string;
  readonly path: string;
  readonly hash: string;
  readonly bytes: number;
}

export class WaczOutput {
  private readonly output: DurableOutput;
  private readonly zip: ZipWriter;
  private readonly entries = new Map<string, WrittenEntry>();
  private readonly resources: Resource[] = [];
  private hash = createHash("sha256");
  private path = "";

  constructor(output: DurableOutput, timeMs: number) {
    this.output = output;
    this.zip = new ZipWriter(output, { timeMs });
  }

  begin(path: string): ByteSink {
    this.path = path;
    this.hash = createHash("sha256");
    this.zip.begin(path);
    return {
      write: (bytes) => {
        this.hash.update(bytes);
        this.zip.write(bytes);
      },
    };
  }

  end(): void {
    const entry = this.zip.end();
    this.entries.set(this.path, entry);
    const name = this.path.replace(/^.*\//, "");
    this.resources.push({ name, path: this.path, hash: `sha256:${this.hash.digest("hex")}`, bytes: entry.size });
  }

  add(path: string, pieces: Iterable<Uint8Array>): void {
    const sink = this.begin(path);
    for (const piece of pieces) sink.write(piece);
    this.end();
  }

  /** An entry that is complete, to be read back. Whoever opens it closes it. */
  open(path: string): ByteSource {
    const { dataOffset, size } = this.entries.get(path)!;
    const file = this.output.openForReading();
    const name = path.replace(/^.*\//, "");
    return { ...rangeSource(fileSource(file, name), dataOffset, size, name), close: () => file.close() };
  }

  /** Writes the package and the directory. */
  finish({ title, description, software, createdMs }: WaczDescription): void {
    const created = formatIso(createdMs);
    const meta = { profile: "data-package", wacz_version: WACZ_VERSION, title, description, software, created };
    const text = Buffer.from(`${JSON.stringify({ ...meta, resources: this.resources }, undefined, 2)}\n`);
    const hash = `sha256:${createHash("sha256").update(text).digest("hex")}`;
    this.zip.add("datapackage.json", text);
    this.zip.add("datapackage-digest.json", Buffer.from(`${JSON.stringify({ path: "datapackage.json", hash })}\n`));
    this.zip.finish();
  }
}

/** Reads a WACZ to its end: all entries are where its directory says, with the bytes that were meant. */
export async function checkZip(source: ByteSource, pause: (bytes: number) => Promise<void>): Promise<void> {
  const buffer = Buffer.allocUnsafe(READ_SIZE);
  for (const entry of readZipEntries(source)) {
    const data = openZipEntry(source, entry, entry.name);
    let crc = 0;
    let at = 0;
    for (let count = data.read(buffer, 0); count > 0; count = data.read(buffer, at)) {
      crc = crc32(buffer.subarray(0, count), crc);
      at += count;
      await pause(count);
    }
    if (crc === entry.crc && at === entry.size) continue;
    const place = { file: source.name, offset: entry.headerOffset };
    throw new ArchiveError(
      "HT_VERIFY",
      `${entry.name}: other bytes than were written; the export was thrown away`,
      place,
    );
  }
}
