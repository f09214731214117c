/**
 * The WARC files of one crawl: `PREFIX-YYYYMMDDHHMMSSmmm-NNNNN.warc.gz`, with `.open` behind the name of the one that is
 * written to. A file that is large enough is synced, renamed and never touched again; no file is ever replaced. Each begins
 * with a warcinfo record. It obeys docs/format/crawl-folder.md.
 *
 * 1. What was appended counts only after `syncLater`, or once its file was sealed.
 * 2. Records of one group lie in one file, one after the other: all of them, or none if writing one failed.
 * 3. A record may refer to every record that was appended before it: what a crash leaves of a file is a beginning of it,
 *    and a file begins only after the one before it was sealed.
 */
import { join } from "node:path";
import { ArchiveError, type Clock, formatIso, invariant, type Random } from "../base/index.ts";
import { type Disk, GrowingFile } from "../disk/index.ts";
import { type RecordPlace, WarcWriter } from "../warc/index.ts";

export interface SeriesOptions {
  readonly disk: Disk;
  readonly folder: string;
  readonly prefix: string;
  readonly clock: Clock;
  readonly random: Random;
  /** A file that has reached this size is followed by another. */
  readonly sizeMaxBytes?: number | undefined;
  /** What the warcinfo records say, beside software and format. */
  readonly info?: readonly (readonly [name: string, value: string])[] | undefined;
  /** A file is complete and durable, under its last name. */
  readonly onSealed?: ((name: string) => void) | undefined;
}

/** Where a record lies; the file is called by the name that it has once it is sealed. */
export interface SeriesPlace extends RecordPlace {
  readonly file: string;
}

/** What writes the records of a group; each call appends one. */
export interface GroupWriter {
  /** The id of the warcinfo record of the file, with brackets. */
  readonly warcinfoId: string;
  write(head: Uint8Array, block: Iterable<Uint8Array>): SeriesPlace;
}

export const SERIES_FILE_SIZE_DEFAULT = 1_000_000_000;
export const OPEN_ENDING = ".open";
const NAME = /^(.+)-(\d{17})-(\d{5,})\.warc\.gz(?:\.open)?$/;

interface OpenFile {
  readonly name: string;
  readonly file: GrowingFile;
  readonly writer: WarcWriter;
  readonly warcinfoId: string;
}

export class WarcSeries implements Disposable {
  /** Names of all its files, also of those that others have removed since. */
  readonly files: Set<string>;
  private readonly options: SeriesOptions;
  private readonly sizeMax: number;
  private serial: number;
  private current: OpenFile | undefined;
  /** After a sync that failed none is tried again: the system may have dropped what was written, and call the next a success. */
  private failure: { readonly error: unknown } | undefined;

  /** Files that an earlier process left open have to be recovered before: see `recoverSeries`. */
  constructor(options: SeriesOptions) {
    this.options = options;
    this.sizeMax = options.sizeMaxBytes ?? SERIES_FILE_SIZE_DEFAULT;
    this.files = new Set(listSeries(options.disk, options.folder).map(({ name }) => name));
    this.serial = 1 + Math.max(0, ...[...this.files].map(serialOf));
  }

  /** The size of the file that is written to; 0 where there is none. */
  get openSize(): number {
    return this.current?.file.end ?? 0;
  }

  /** Appends what `write` writes, as a group. Where it throws, the file is as it was before. */
  append<T>(write: (group: GroupWriter) => T): T {
    if (this.openSize >= this.sizeMax) this.seal();
    const { name, file, writer, warcinfoId } = (this.current ??= this.begin());
    const start = file.end;
    try {
      return write({
        warcinfoId,
        write: (head, block) => ({ file: name, ...writer.writeStream(head, block) }),
      });
    } catch (error) {
      file.cut(start);
      writer.offset = start;
      throw error;
    }
  }

  private begin(): OpenFile {
    const { disk, folder, prefix, clock, random, info = [] } = this.options;
    const digits = new Date(clock.now()).toISOString().replace(/\D/g, "");
    const name = `${prefix}-${digits}-${String(this.serial).padStart(5, "0")}.warc.gz`;
    invariant(disk.stat(join(folder, name)) === undefined, `${name} is there already`);
    const file = new GrowingFile(disk, join(folder, `${name}${OPEN_ENDING}`));
    const writer = new WarcWriter(file);
    const warcinfoId = `<urn:uuid:${random.uuid()}>`;
    const lines = [["software", "holotype"], ["format", "WARC File Format 1.1"], ...info];
    writer.write({
      fields: [
        ["WARC-Type", "warcinfo"],
        ["WARC-Record-ID", warcinfoId],
        ["WARC-Date", formatIso(clock.now())],
        ["WARC-Filename", name],
        ["Content-Type", "application/warc-fields"],
      ],
      block: Buffer.from(lines.map(([field, value]) => `${field}: ${value}\r\n`).join("")),
      blockDigest: true,
    });
    this.serial++;
    this.files.add(name);
    return { name, file, writer, warcinfoId };
  }

  /** Makes everything durable that was appended before the call. */
  async syncLater(): Promise<void> {
    this.throwFailure();
    try {
      await this.current?.file.syncLater();
    } catch (error) {
      throw this.fail(error);
    }
    this.throwFailure();
  }

  private fail(error: unknown): unknown {
    this.failure ??= { error };
    return error;
  }

  private throwFailure(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }

  /** Ends the file that is written to, durably; the next record begins another. */
  seal(): void {
    const { current } = this;
    if (current === undefined) return;
    this.throwFailure();
    try {
      current.file.sync();
    } catch (error) {
      throw this.fail(error);
    }
    current.file[Symbol.dispose]();
    this.current = undefined;
    sealFile(this.options.disk, this.options.folder, current.name);
    this.options.onSealed?.(current.name);
  }

  /** Closes without sealing: the next run recovers what is left. */
  [Symbol.dispose](): void {
    this.current?.file[Symbol.dispose]();
    this.current = undefined;
  }
}

/**
 * Gives a file that is complete and durable its last name. In one step: a rename that refuses is two, and a power cut could
 * leave the file without any name.
 */
export function sealFile(disk: Disk, folder: string, name: string): void {
  const path = join(folder, name);
  if (disk.stat(path) !== undefined) throw new ArchiveError("HT_EXISTS", `${path}: there already`, { file: path });
  disk.rename(`${path}${OPEN_ENDING}`, path);
  disk.syncFolder(folder);
}

/** The WARC files of any series in the folder, in the order of their numbers. */
export function listSeries(disk: Disk, folder: string): { readonly name: string; readonly isOpen: boolean }[] {
  return disk
    .list(folder)
    .filter(({ name, kind }) => kind === "file" && NAME.test(name))
    .map(({ name }) => {
      const isOpen = name.endsWith(OPEN_ENDING);
      return { name: isOpen ? name.slice(0, -OPEN_ENDING.length) : name, isOpen };
    })
    .sort((one, other) => serialOf(one.name) - serialOf(other.name));
}

function serialOf(name: string): number {
  return Number(NAME.exec(name)![3]);
}
