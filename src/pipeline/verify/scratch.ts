/** Lines that one run of `verify` writes for itself and reads again. */
import type { Disk, DiskFile } from "../../disk/index.ts";
import type { Input } from "../inputs.ts";
import { readTextLines } from "../text-lines.ts";

const WRITE_SIZE = 1 << 18;

/** Writes a file that need not survive. */
export class ScratchWriter implements Disposable {
  /** Bytes taken so far. */
  size = 0;
  private readonly file: DiskFile;
  private pieces: Buffer[] = [];
  private held = 0;
  private written = 0;

  constructor(disk: Disk, path: string) {
    this.file = disk.open(path, "replace");
  }

  /** Keeps `text` until it is written: it must not change. */
  write(text: string | Uint8Array): void {
    const bytes = typeof text === "string" ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.length);
    this.pieces.push(bytes);
    this.held += bytes.length;
    this.size += bytes.length;
    if (this.held >= WRITE_SIZE) this.flush();
  }

  private flush(): void {
    this.file.write(Buffer.concat(this.pieces), this.written);
    this.written += this.held;
    this.pieces = [];
    this.held = 0;
  }

  [Symbol.dispose](): void {
    this.flush();
    this.file.close();
  }
}

const loaded = new Map<string, readonly Input[]>();

/** The inputs of a run, by their index. The list never changes, so each thread reads it once. */
export function loadInputs(disk: Disk, path: string): readonly Input[] {
  const there = loaded.get(path);
  if (there !== undefined) return there;
  const inputs = [...readTextLines(disk, path)].map((line) => JSON.parse(line) as Input);
  loaded.clear();
  loaded.set(path, inputs);
  return inputs;
}
