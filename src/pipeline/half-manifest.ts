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
    const last = this.findLast();
    this.file.truncate(last?.start ?? 0);
    this.position = last?.start ?? 0;
    if (last === undefined) return inputs;
    const index = inputs.findIndex((input) => formatColumn(input.name) === last.name);
    if (index >= 0) return inputs.slice(index);
    const message = `${this.path}: ends with lines of ${last.name}, which is not among the files`;
    throw new ArchiveError("HT_USAGE", message, { file: this.path });
  };

  readonly write = (text: string | Uint8Array): void => {
    const bytes = typeof text === "string" ? Buffer.from(text) : text;
    this.file.write(bytes, this.position);
    this.position += bytes.length;
  };

  finish(): void {
    this.file.sync();
  }

  /** The file of the last complete line, and where its lines begin. */
  private findLast(): { name: string; start: number } | undefined {
    const buffer = Buffer.allocUnsafe(READ_SIZE);
    let found: { name: string; start: number } | undefined;
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
        if (columns[0] !== found?.name) found = { name: columns[0]!, start: base + from };
        from = end + 1;
      }
      rest = Buffer.from(bytes.subarray(from));
      base += from;
    }
    return found;
  }

  [Symbol.dispose](): void {
    this.file.close();
  }
}
