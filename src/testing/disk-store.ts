/** Keys and values as one file, written anew at each commit: for disks on which LMDB cannot be. */
import type { OrderedStore, Pair, StoreView } from "../archive/index.ts";
import { createDurably, type Disk } from "../disk/index.ts";

export class DiskStore implements OrderedStore {
  private readonly disk: Disk;
  private readonly path: string;
  private pairs: ReadonlyMap<string, Buffer>;

  constructor(disk: Disk, folder: string) {
    disk.makeFolder(folder);
    this.disk = disk;
    this.path = `${folder}/store.json`;
    this.pairs = new Map();
    const size = disk.stat(this.path)?.sizeBytes;
    if (size === undefined) return;
    using file = disk.open(this.path, "read");
    const bytes = Buffer.alloc(size);
    file.read(bytes, 0);
    const saved = JSON.parse(bytes.toString()) as [string, string][];
    this.pairs = new Map(saved.map(([key, value]) => [key, Buffer.from(value, "latin1")]));
  }

  view(): StoreView {
    const { pairs } = this;
    const keys = [...pairs.keys()].sort();
    function* range(from: Buffer, to: Buffer, backwards = false): Generator<Pair> {
      const [first, last] = [from.toString("latin1"), to.toString("latin1")];
      const found = keys.filter((key) => key >= first && key < last);
      for (const key of backwards ? found.reverse() : found) {
        yield { key: Buffer.from(key, "latin1"), value: pairs.get(key)! };
      }
    }
    return {
      get: (key) => pairs.get(key.toString("latin1")),
      range,
      first: (...asked) => range(...asked).next().value as Pair | undefined,
      close: () => {},
    };
  }

  commit(changes: ReadonlyMap<string, Buffer | undefined>): void {
    const next = new Map(this.pairs);
    for (const [key, value] of changes) {
      if (value === undefined) next.delete(key);
      else next.set(key, value);
    }
    const text = JSON.stringify([...next].map(([key, value]) => [key, value.toString("latin1")]));
    createDurably(this.disk, this.path, (output) => output.write(Buffer.from(text)), { replace: true });
    this.pairs = next;
  }

  /** So that it is copied wherever that is done. */
  isLoose(): boolean {
    return this.pairs.size > 0;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
