/**
 * The crawl.log of a job, which is also its list of what is done. A line is written only when what it tells is durable, so
 * nothing in it has to be looked at again. A torn line at its end is cut off.
 */
import { type Disk, GrowingFile } from "../disk/index.ts";
import type { Retrieval } from "./retrieval.ts";
import { parseRetrieval } from "./retrieval-line.ts";

const READ_SIZE = 1 << 18;
/** Longer lines are none of ours: a URL may have 64 KB. */
const LINE_SIZE_MAX = 1 << 20;
const LF = 10;

export class CrawlLog implements Disposable {
  private readonly file: GrowingFile;

  /** Hands each retrieval that is in the log to `onRetrieval`; lines that cannot be read are reported by their numbers. */
  static open(
    disk: Disk,
    path: string,
    onRetrieval: (retrieval: Retrieval) => void,
    onBadLine: (number: number) => void = () => {},
  ): CrawlLog {
    const file = new GrowingFile(disk, path);
    const end = readRetrievals(disk, path, onRetrieval, onBadLine);
    if (end < file.end) file.cut(end);
    return new CrawlLog(file);
  }

  private constructor(file: GrowingFile) {
    this.file = file;
  }

  /** Makes lines durable, with their line ends. Where that fails, the log is as it was before. */
  async append(lines: string): Promise<void> {
    const start = this.file.end;
    try {
      this.file.write(Buffer.from(lines));
      await this.file.syncLater();
    } catch (error) {
      this.file.cut(start);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.file[Symbol.dispose]();
  }
}

/** Returns where the last line ends that can be read. What stands behind it was being written when the process ended. */
function readRetrievals(
  disk: Disk,
  path: string,
  onRetrieval: (retrieval: Retrieval) => void,
  onBadLine: (number: number) => void,
): number {
  using file = disk.open(path, "read");
  const buffer = Buffer.allocUnsafe(READ_SIZE);
  let rest = Buffer.alloc(0);
  let position = 0;
  let number = 0;
  let end = 0;
  let bad: number[] = [];
  for (let count = file.read(buffer, 0); count > 0; count = file.read(buffer, position + rest.length)) {
    const bytes = Buffer.concat([rest, buffer.subarray(0, count)]);
    let at = 0;
    for (let newline = bytes.indexOf(LF); newline >= 0; newline = bytes.indexOf(LF, at)) {
      number++;
      const retrieval = parseRetrieval(bytes.toString("utf8", at, newline));
      at = newline + 1;
      if (retrieval === undefined) bad.push(number);
      else {
        for (const each of bad) onBadLine(each);
        bad = [];
        end = position + at;
        onRetrieval(retrieval);
      }
    }
    position += at;
    rest = bytes.subarray(at);
    // Whatever this is, it is not a line.
    if (rest.length > LINE_SIZE_MAX) {
      position += rest.length;
      rest = Buffer.alloc(0);
    }
  }
  return end;
}
