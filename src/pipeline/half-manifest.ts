/**
 * A manifest that a stopped run left behind. Its last input may be there in part, so the lines of that one are taken off
 * and made again; what stands before them stays.
 */
import { ArchiveError } from "../base/index.ts";
import type { Disk, DiskFile } from "../disk/index.ts";
import type { Input } from "./inputs.ts";
import { formatColumn, MANIFEST_WIDTH } from "./manifest-line.ts";

const READ_SIZE = 1 << 20;
const LF = 10;

export class HalfManifest implements Disposable {
  private readonly file: DiskFile;
  private readonly path: string;
  private position = 0;

  constructor(disk: Disk, path: string) {
    this.path = path;
    this.file = disk.open(path, disk.stat(path) === undefined ? "create" : "update");
  }

  /** Takes the last input's lines off; the inputs whose lines are missing. */
  readonly restart = (inputs: readonly Input[]): readonly Input[] => {
    const names = inputs.map(({ name }) => formatColumn(name));
    let start = 0;
    // One file may be named twice, and some have no lines: the next of that name is meant.
    let index = -1;
    for (const stretch of this.stretches()) {
      index = names.indexOf(stretch.name, index + 1);
      if (index < 0) {
        const message = `${this.path}: has lines of ${stretch.name}, which is not among the files there`;
        throw new ArchiveError("HT_USAGE", message, { file: this.path, offset: stretch.start });
      }
      start = stretch.start;
    }
    this.file.truncate(start);
    this.position = start;
    return inputs.slice(Math.max(0, index));
  };

  readonly write = (text: string | Uint8Array): void => {
    const bytes = typeof text === "string" ? Buffer.from(text) : text;
    this.file.write(bytes, this.position);
    this.position += bytes.length;
  };

  finish(): void {
    this.file.sync();
  }

  /** Complete lines of one file that stand together: its name, and where they begin. */
  private *stretches(): Generator<{ readonly name: string; readonly start: number }> {
    const buffer = Buffer.allocUnsafe(READ_SIZE);
    let name: string | undefined;
    let rest = Buffer.alloc(0);
    let base = 0;
    for (let at = 0, count = this.file.read(buffer, 0); count > 0; count = this.file.read(buffer, at)) {
      at += count;
      const bytes = Buffer.concat([rest, buffer.subarray(0, count)]);
      let from = 0;
      for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, from)) {
        const columns = bytes.toString("utf8", from, end).split("\t");
        if (columns.length < MANIFEST_WIDTH) {
          throw new ArchiveError("HT_USAGE", `${this.path}: not a manifest`, { file: this.path, offset: base + from });
        }
        if (columns[0] !== name) yield { name: columns[0]!, start: base + from };
        name = columns[0];
        from = end + 1;
      }
      rest = Buffer.from(bytes.subarray(from));
      base += from;
    }
  }

  [Symbol.dispose](): void {
    this.file.close();
  }
}
