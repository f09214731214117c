/** Lines of captures that are gone through more than once: in memory while they are few, else in a file. */
import { type Disk, type DiskFile, type ScratchFolder, scratchFolder } from "../disk/index.ts";
import { readTextLines } from "./text-lines.ts";

const HELD_MAX = 1 << 20;

export class CaptureSpool implements Disposable {
  private readonly disk: Disk;
  private readonly parent: string | undefined;
  private folder: ScratchFolder | undefined;
  private file: DiskFile | undefined;
  private size = 0;
  private held: string[] = [];
  private heldSize = 0;

  /** The file lies in `parent`, or in the system's place for temporary files. */
  constructor(disk: Disk, parent?: string) {
    this.disk = disk;
    this.parent = parent;
  }

  /** Adds the line of a record, without its line end, under the index of its file. */
  add(file: number, text: string): void {
    const line = `${file}\t${text}`;
    this.held.push(line);
    this.heldSize += line.length;
    if (this.heldSize > HELD_MAX) this.flush();
  }

  private flush(): void {
    this.folder ??= scratchFolder(this.disk, this.parent === undefined ? {} : { parent: this.parent });
    this.file ??= this.disk.open(this.path, "create");
    const bytes = Buffer.from(`${this.held.join("\n")}\n`);
    this.file.write(bytes, this.size);
    this.size += bytes.length;
    this.held = [];
    this.heldSize = 0;
  }

  private get path(): string {
    return `${this.folder!.path}/captures`;
  }

  /** All lines, in order. */
  *lines(): Generator<[file: number, text: string]> {
    if (this.file !== undefined) for (const line of readTextLines(this.disk, this.path)) yield splitLine(line);
    for (const line of this.held) yield splitLine(line);
  }

  [Symbol.dispose](): void {
    this.file?.close();
    this.folder?.remove();
  }
}

function splitLine(line: string): [file: number, text: string] {
  const tab = line.indexOf("\t");
  return [Number(line.slice(0, tab)), line.slice(tab + 1)];
}
