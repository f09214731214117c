/** Entries on their way into a run: encoded as they come, and sorted by the hash of their URL. */
import type { Disk } from "../disk/index.ts";
import { ByteWriter } from "./byte-fields.ts";
import type { DigestEntry } from "./entry.ts";
import { encodeEntry } from "./entry-bytes.ts";
import { HashSorter, type HashSorterOptions } from "./hash-sorter.ts";
import { RECORD_MAX, RunWriter, type WrittenRun } from "./run-writer.ts";
import type { IndexSettings } from "./settings.ts";
import { createHashPair, hashText } from "./url-hash.ts";
import { WordTable } from "./word-table.ts";

export class EntrySorter implements Disposable {
  readonly words = new WordTable();
  readonly sorter: HashSorter;
  private readonly disk: Disk;
  private readonly options: HashSorterOptions;
  private readonly pair = createHashPair();
  private readonly writer = new ByteWriter(Buffer.alloc(0));
  /** Entries that have no room in a page, or cannot be. */
  refused = 0;

  constructor(disk: Disk, options: HashSorterOptions) {
    this.disk = disk;
    this.options = options;
    this.sorter = new HashSorter(disk, options);
  }

  add(entry: DigestEntry): void {
    const { writer, sorter } = this;
    const start = sorter.reserve(RECORD_MAX);
    writer.buffer = sorter.buffer;
    writer.at = start;
    writer.limit = start + RECORD_MAX;
    writer.isFull = false;
    if (!encodeEntry(entry, this.words, writer)) this.refused++;
    else {
      hashText(entry.uri, this.pair);
      sorter.add(this.pair[0]!, this.pair[1]!, writer.at - start);
    }
  }

  get count(): number {
    return this.sorter.count;
  }

  /** Makes a run of all entries, durable under its name. */
  writeRun(path: string, settings: IndexSettings): WrittenRun {
    using writer = this.runWriter(path, settings);
    return writer.write(this.sorter.sorted());
  }

  /** The same step by step; between steps others have their turn, and `look` may throw to end it. */
  async writeRunLater(path: string, settings: IndexSettings, look: (done: number) => void): Promise<WrittenRun> {
    using writer = this.runWriter(path, settings);
    const steps = writer.writeInSteps(this.sorter.sorted());
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await new Promise((resolve) => setImmediate(resolve));
      look(step.value);
    }
  }

  private runWriter(path: string, settings: IndexSettings): RunWriter {
    const { folder, memoryBytes } = this.options;
    const { words, count } = this;
    return new RunWriter(this.disk, path, { settings, words, count, folder, memoryBytes });
  }

  [Symbol.dispose](): void {
    this.sorter[Symbol.dispose]();
  }
}
