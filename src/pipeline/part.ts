/**
 * A stretch of one archive file as a unit of work. Large gzip files are cut into parts that are read at the same time;
 * where one begins is not known before it has been read, so each tells the offset of its first record and of the first
 * behind its end, and whoever joins the parts checks that these meet.
 */
import { crc32 } from "node:zlib";
import { ArchiveError, type Warning } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { type ByteSource, isZstd, loadZstd, WarcReader } from "../warc/index.ts";
import { type Input, openInput } from "./inputs.ts";
import type { RecordTask } from "./task.ts";

export interface Part {
  readonly input: Input;
  readonly start: number;
  /** Records that begin at or behind this offset belong to the next part. */
  readonly end: number;
  /** `start` is a guess: look for the first record behind it. */
  readonly search: boolean;
}

export interface PartEvents {
  /** Once, before any text: the offset of the first record, absent where there is none. */
  onFirst(offset: number | undefined): void;
  onText(text: string): void;
  onWarning(warning: Warning): void;
  /** Now and then: offset reached and records done. */
  onProgress(offset: number, records: number): void;
}

export interface PartResult {
  /** Offset of the first record behind the part; absent at the end of the file. */
  readonly next: number | undefined;
  readonly records: number;
  /** The file could not be read, or not to its end. */
  readonly error?: ArchiveError;
}

const PART_SIZE = 16 << 20;
const SPLIT_SIZE = 64 << 20;
const TEXT_SIZE = 1 << 16;
const PROGRESS_RECORDS = 256;

function looksLikeGzip(disk: Disk, input: Input): boolean {
  const source = openInput(disk, input);
  try {
    const magic = Buffer.alloc(2);
    return source.seekable && source.read(magic, 0) === 2 && magic[0] === 0x1f && magic[1] === 0x8b;
  } finally {
    source.close?.();
  }
}

/** Cuts an input into parts; one that is small, or not gzip, is one part. */
export function splitInput(disk: Disk, input: Input): Part[] {
  const size = input.size ?? 0;
  if (size < SPLIT_SIZE || !looksLikeGzip(disk, input)) return [wholePart(input)];
  const count = Math.ceil(size / PART_SIZE);
  return Array.from({ length: count }, (_, i) => ({
    input,
    start: i * PART_SIZE,
    end: i === count - 1 ? Number.POSITIVE_INFINITY : (i + 1) * PART_SIZE,
    search: i > 0,
  }));
}

export function wholePart(input: Input): Part {
  return { input, start: 0, end: Number.POSITIVE_INFINITY, search: false };
}

/** Runs a task over a part. Never throws for what is wrong with the input: that is part of the result. */
export async function runPart(disk: Disk, part: Part, task: RecordTask, events: PartEvents): Promise<PartResult> {
  const run = new PartRun(part, task, events);
  try {
    const { input, end } = part;
    const source = openInput(disk, input);
    const sum = task.checksInput === true && end === Number.POSITIVE_INFINITY ? inputSum(source, input) : undefined;
    try {
      await loadForZstd(disk, input);
      const next = run.read(sum?.source ?? source);
      if (sum?.isWrong() === true) {
        const message = "not what the ZIP directory says: the CRC-32 differs";
        events.onWarning({ code: "HT_ZIP_CHECKSUM", message, file: input.name, offset: 0 });
      }
      return { next, records: run.records };
    } finally {
      source.close?.();
    }
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return { next: undefined, records: run.records, error };
  } finally {
    // What was done before something went wrong counts.
    run.flush();
  }
}

interface InputSum {
  /** The same source, whose bytes are summed as they are read. */
  readonly source: ByteSource;
  /** To be asked once, after reading; reads what nobody has read. */
  isWrong(): boolean;
}

/** Compares an input with its CRC-32; absent where it has none. */
function inputSum(source: ByteSource, { size, crc: wanted }: Input): InputSum | undefined {
  if (wanted === undefined || size === undefined) return undefined;
  let [reached, crc] = [0, 0];
  const read = (into: Uint8Array, position: number): number => {
    const count = source.read(into, position);
    if (position <= reached && position + count > reached) {
      crc = crc32(into.subarray(reached - position, count), crc);
      reached = position + count;
    }
    return count;
  };
  const isWrong = () => {
    const rest = Buffer.allocUnsafe(reached < size ? TEXT_SIZE : 0);
    while (reached < size && read(rest, reached) > 0);
    return crc !== wanted;
  };
  return { source: { ...source, read }, isWrong };
}

class PartRun {
  records = 0;
  private readonly part: Part;
  private readonly task: RecordTask;
  private readonly events: PartEvents;
  private text = "";
  /** Whoever joins the parts must know where this one begins before it hears anything else of it. */
  private early: Warning[] | undefined = [];

  constructor(part: Part, task: RecordTask, events: PartEvents) {
    this.part = part;
    this.task = task;
    this.events = events;
  }

  private readonly warn = (warning: Warning): void => {
    if (this.early === undefined) this.events.onWarning(warning);
    else this.early.push(warning);
  };

  /** Does the records of the part; the offset of the first one behind it. */
  read(source: ByteSource): number | undefined {
    const { part, task, events, warn } = this;
    const accelerate = task.exact !== true;
    const reader = new WarcReader(source, { start: part.start, search: part.search, onWarning: warn, accelerate });
    try {
      task.beginFile?.(part.input.name);
      let record = reader.next();
      this.begin(record?.offset);
      while (record !== undefined && record.offset < part.end) {
        this.text += task.record(record, warn);
        if (this.text.length > TEXT_SIZE) this.flush();
        if (++this.records % PROGRESS_RECORDS === 0) events.onProgress(record.offset, this.records);
        record = reader.next();
      }
      return record?.offset;
    } finally {
      this.text += task.endFile?.() ?? "";
      reader.close();
    }
  }

  private begin(first: number | undefined): void {
    this.events.onFirst(first);
    const early = this.early ?? [];
    this.early = undefined;
    for (const warning of early) this.events.onWarning(warning);
  }

  flush(): void {
    if (this.early !== undefined) this.begin(undefined);
    const { text } = this;
    // Whoever takes it may fail, and must not get it twice.
    this.text = "";
    if (text !== "") this.events.onText(text);
  }
}

/** zstd comes as WebAssembly, which is loaded only for files that need it. */
export async function loadForZstd(disk: Disk, input: Input): Promise<void> {
  if (mayBeZstd(disk, input)) await loadZstd();
}

/** Of what cannot be opened, it is assumed: whoever reads it says what is wrong. */
export function mayHaveZstd(disk: Disk, inputs: readonly Input[]): boolean {
  return inputs.some((input) => {
    try {
      return mayBeZstd(disk, input);
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      return true;
    }
  });
}

/** Of an input of which nothing can be told before it is read, it is assumed. */
function mayBeZstd(disk: Disk, input: Input): boolean {
  if (input.size === undefined || /\.zst$/i.test(input.name)) return true;
  const source = openInput(disk, input);
  try {
    const magic = Buffer.alloc(4);
    return source.read(magic, 0) === 4 && isZstd(magic, 0);
  } finally {
    source.close?.();
  }
}
