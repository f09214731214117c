/**
 * Reads single records by file and offset, as a manifest names them. Files stay open as long as they are in use; where a
 * file lies is told by a locator.
 */
import { ArchiveError, formatPlace, isDamage, type Warning } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { type ByteSource, isZstd, rangeSource, WarcReader, type WarcRecord, WholeRecords } from "../warc/index.ts";
import { openInput } from "./inputs.ts";
import type { Locator } from "./locator.ts";
import type { ManifestLine } from "./manifest-line.ts";
import { Spool } from "./spool.ts";

interface OpenFile {
  readonly source: ByteSource;
  readonly isZstd: boolean;
}

const OPEN_MAX = 64;
/** What is larger, in the file or decoded, is the reader's. */
const WHOLE_SIZE_MAX = 1 << 20;

export class RecordFetcher implements Disposable {
  private readonly disk: Disk;
  private readonly locator: Locator;
  /** In order of their last use, once there are many. */
  private readonly open = new Map<string, OpenFile>();
  /** Records are asked for in any order, and some inputs can only be read forward. */
  private readonly spool: Spool;
  private readonly raw = Buffer.allocUnsafeSlow(WHOLE_SIZE_MAX);
  private readonly records = new WholeRecords(WHOLE_SIZE_MAX);
  private inUse = false;

  constructor(disk: Disk, locator: Locator) {
    this.disk = disk;
    this.locator = locator;
    this.spool = new Spool(disk);
  }

  /**
   * Hands the record that the line stands for to `use`. Throws where it cannot be read, is damaged, or is not the one
   * that the line tells of. `odd` says that something about it is not as the standard has it.
   */
  fetch<T>(line: ManifestLine, use: (record: WarcRecord) => T): { readonly result: T; readonly odd: boolean } {
    const { length } = line;
    if (length === undefined) throw changed(line, "it shares its member with other records");
    const file = this.openFile(line.file);
    // Another record may be fetched while one is in use, and must not take its place.
    const mayBeWhole = !this.inUse && !file.isZstd && length <= WHOLE_SIZE_MAX;
    const whole = mayBeWhole ? this.openWhole(file.source, line, length) : undefined;
    if (whole !== undefined && whole.id === line.id) {
      this.inUse = true;
      try {
        return { result: use(whole), odd: false };
      } finally {
        this.inUse = false;
      }
    }
    let damage: Warning | undefined;
    let odd = false;
    const onWarning = (warning: Warning) => {
      odd = true;
      if (isDamage(warning)) damage ??= warning;
    };
    // A zstd file may begin with a dictionary, so its frames cannot be read by themselves.
    const reader = file.isZstd
      ? new WarcReader(rangeSource(file.source, 0, line.offset + length), { start: line.offset, onWarning })
      : new WarcReader(rangeSource(file.source, line.offset, length), { onWarning });
    try {
      const record = reader.next();
      if (record === undefined || record.id !== line.id) throw changed(line, "another record than expected");
      const result = use(record);
      if (reader.next() !== undefined) throw changed(line, "another record follows it in its place");
      if (damage !== undefined) throw changed(line, damage.message);
      return { result, odd };
    } finally {
      reader.close();
    }
  }

  private openWhole(source: ByteSource, { file, offset }: ManifestLine, length: number): WarcRecord | undefined {
    const raw = this.raw.subarray(0, length);
    for (let filled = 0; filled < length; ) {
      const count = source.read(raw.subarray(filled), offset + filled);
      if (count === 0) return undefined;
      filled += count;
    }
    return this.records.open(raw, { file, offset });
  }

  private openFile(name: string): OpenFile {
    const there = this.open.get(name);
    if (there !== undefined) {
      if (this.open.size < OPEN_MAX) return there;
      this.open.delete(name);
      this.open.set(name, there);
      return there;
    }
    const source = openInput(this.disk, this.spool.take(this.locator.locate(name)));
    const magic = Buffer.alloc(4);
    const file = { source, isZstd: source.read(magic, 0) === 4 && isZstd(magic, 0) };
    this.open.set(name, file);
    if (this.open.size > OPEN_MAX) {
      const [oldest] = this.open.keys();
      this.open.get(oldest!)!.source.close?.();
      this.open.delete(oldest!);
    }
    return file;
  }

  [Symbol.dispose](): void {
    for (const { source } of this.open.values()) source.close?.();
    this.open.clear();
    this.spool[Symbol.dispose]();
  }
}

function changed(line: ManifestLine, message: string): ArchiveError {
  const place = { file: line.file, offset: line.offset };
  return new ArchiveError("HT_VERIFY", `${formatPlace(place)}: ${message}`, place);
}
