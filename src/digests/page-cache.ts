/** Pages of runs that were read of late, each proven once. A page has one place in which it may be; the last to come stays. */
import type { DiskFile } from "../disk/index.ts";
import { PAGE_SIZE, readPage } from "./run-pages.ts";

/** 16 MB. */
const PLACES = 1 << 12;

interface Held {
  file: DiskFile;
  number: number;
  readonly page: Buffer;
}

export class PageCache {
  private readonly held: (Held | undefined)[] = new Array<Held | undefined>(PLACES).fill(undefined);

  /** Valid until the next call. */
  read(file: DiskFile, number: number): Buffer {
    const place = number & (PLACES - 1);
    const held = this.held[place];
    if (held !== undefined && held.file === file && held.number === number) return held.page;
    const page = held?.page ?? Buffer.allocUnsafeSlow(PAGE_SIZE);
    // What cannot be read must not stand there under any number.
    this.held[place] = undefined;
    readPage(file, number, page);
    if (held === undefined) this.held[place] = { file, number, page };
    else {
      held.file = file;
      held.number = number;
      this.held[place] = held;
    }
    return page;
  }
}
