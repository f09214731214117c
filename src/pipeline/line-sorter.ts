/**
 * Sorts any number of lines by their bytes in bounded memory: what does not fit is sorted in runs on disk, which are
 * then merged. The order is that of `LC_ALL=C sort`.
 */
import { type Disk, type DiskFile, type ScratchFolder, scratchFolder } from "../disk/index.ts";
import { encodeText } from "../warc/index.ts";
import { wholeLines } from "./text-lines.ts";

export interface LineSorterOptions {
  /** Bytes of text held before a run is written. */
  readonly memoryBytes?: number | undefined;
  /** Where the runs go; default the system's temporary folder. */
  readonly scratchParent?: string | undefined;
}

/** V8 lets garbage grow to several times of what is alive before it looks, so a little here is much in all. */
const MEMORY_DEFAULT = 8 << 20;
/** Each line held costs about this much beside its text. */
const LINE_COST = 64;
const MERGE_WIDTH = 64;
/** Of each run that is merged, a text of this size is held. */
const READ_SIZE = 1 << 16;
const WRITE_SIZE = 1 << 20;

export class LineSorter implements Disposable {
  private readonly disk: Disk;
  private readonly memoryMax: number;
  private readonly scratchParent: string | undefined;
  private scratch: ScratchFolder | undefined;
  /** Each character stands for one byte, so that comparing strings compares bytes. */
  private lines: string[] = [];
  private held = 0;
  private runs: string[] = [];
  private runCount = 0;

  constructor(disk: Disk, options: LineSorterOptions = {}) {
    this.disk = disk;
    this.memoryMax = options.memoryBytes ?? MEMORY_DEFAULT;
    this.scratchParent = options.scratchParent;
  }

  /** Adds a line, without its line end. */
  add(line: string): void {
    const bytes = encodeText(line);
    this.lines.push(bytes);
    this.held += bytes.length + LINE_COST;
    if (this.held > this.memoryMax) this.spill();
  }

  /** Adds whole lines, each with its line end. */
  addText(text: string | Uint8Array): void {
    // A slice would keep the whole text in memory.
    for (const line of wholeLines(text)) this.add(Buffer.from(line).toString());
  }

  private spill(): void {
    this.scratch ??= scratchFolder(this.disk, this.scratchParent === undefined ? {} : { parent: this.scratchParent });
    this.lines.sort(byBytes);
    this.runs.push(this.writeRun(this.lines));
    this.lines = [];
    this.held = 0;
  }

  private writeRun(lines: Iterable<string>): string {
    const path = `${this.scratch!.path}/run-${this.runCount++}`;
    using file = this.disk.open(path, "create");
    let position = 0;
    for (const chunk of inChunks(lines)) {
      file.write(chunk, position);
      position += chunk.length;
    }
    return path;
  }

  /**
   * All lines in order, in chunks of whole lines. May be called once. `shape` says what comes out in the place of each,
   * its bytes as Latin-1; nothing where it gives nothing.
   */
  *sorted(shape?: (line: string) => string | undefined): Generator<Buffer> {
    if (this.runs.length === 0) {
      this.lines.sort(byBytes);
      yield* inChunks(this.lines, shape);
      return;
    }
    if (this.lines.length > 0) this.spill();
    while (this.runs.length > MERGE_WIDTH) {
      const merged = this.runs.splice(0, MERGE_WIDTH);
      this.runs.push(this.writeRun(this.merge(merged)));
      for (const path of merged) this.disk.remove(path);
    }
    yield* inChunks(this.merge(this.runs), shape);
  }

  /** The same, line by line, without their ends. */
  *sortedLines(): Generator<string> {
    for (const chunk of this.sorted()) {
      const lines = chunk.toString("utf8").split("\n");
      lines.pop();
      yield* lines;
    }
  }

  private *merge(paths: readonly string[]): Generator<string> {
    const files = paths.map((path) => this.disk.open(path, "read"));
    try {
      yield* mergeSorted(files.map(readLines));
    } finally {
      for (const file of files) file.close();
    }
  }

  [Symbol.dispose](): void {
    this.scratch?.remove();
  }
}

function byBytes(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function* inChunks(lines: Iterable<string>, shape?: (line: string) => string | undefined): Generator<Buffer> {
  let text = "";
  for (const line of lines) {
    const shaped = shape === undefined ? line : shape(line);
    if (shaped === undefined) continue;
    text += `${shaped}\n`;
    if (text.length > WRITE_SIZE) {
      yield Buffer.from(text, "latin1");
      text = "";
    }
  }
  if (text !== "") yield Buffer.from(text, "latin1");
}

function* readLines(file: DiskFile): Generator<string> {
  const buffer = Buffer.allocUnsafe(READ_SIZE);
  let position = 0;
  let rest = "";
  for (let count = file.read(buffer, 0); count > 0; count = file.read(buffer, position)) {
    position += count;
    const text = rest + buffer.toString("latin1", 0, count);
    let at = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", at)) {
      yield text.slice(at, end);
      at = end + 1;
    }
    rest = text.slice(at);
  }
}

/** Merges sorted sequences; of equal lines, that of the earlier sequence comes first. */
export function* mergeSorted(sources: readonly Iterator<string>[]): Generator<string> {
  interface Head {
    line: string;
    readonly rank: number;
    readonly source: Iterator<string>;
  }
  const before = (one: Head, other: Head) =>
    one.line < other.line || (one.line === other.line && one.rank < other.rank);
  const heap: Head[] = [];
  const sink = (from: number) => {
    for (let at = from; ; ) {
      const left = 2 * at + 1;
      let least = at;
      if (left < heap.length && before(heap[left]!, heap[least]!)) least = left;
      if (left + 1 < heap.length && before(heap[left + 1]!, heap[least]!)) least = left + 1;
      if (least === at) return;
      [heap[at], heap[least]] = [heap[least]!, heap[at]!];
      at = least;
    }
  };
  for (const [rank, source] of sources.entries()) {
    const step = source.next();
    if (step.done !== true) heap.push({ line: step.value, rank, source });
  }
  for (let at = (heap.length >> 1) - 1; at >= 0; at--) sink(at);
  while (heap.length > 0) {
    const top = heap[0]!;
    yield top.line;
    const step = top.source.next();
    if (step.done === true) {
      const last = heap.pop()!;
      if (heap.length > 0) heap[0] = last;
    } else top.line = step.value;
    sink(0);
  }
}
