/** The catalogue in LMDB: mapped into memory, readable by other processes while one writes. */
import { join } from "node:path";
import { open, type RootDatabase } from "lmdb";
import { ArchiveError } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import type { OrderedStore, Pair, StoreView } from "./ordered-store.ts";

const NAME = "catalogue.lmdb";
const BINARY = { encoding: "binary", keyEncoding: "binary" } as const;

class LmdbStore implements OrderedStore {
  private readonly root: RootDatabase<Buffer, Buffer>;

  constructor(folder: string, readOnly: boolean) {
    try {
      // Without overlapping syncs a transaction is durable when it has been committed, not some time after.
      const options = { noSubdir: true, readOnly, overlappingSync: false, ...BINARY };
      this.root = open<Buffer, Buffer>({ path: join(folder, NAME), ...options });
    } catch (cause) {
      const message = `${folder}: the catalogue cannot be opened; \`holotype rebuild\` makes it again`;
      throw new ArchiveError("HT_CORRUPT", message, { file: folder }, cause);
    }
  }

  view(): StoreView {
    const transaction = this.root.useReadTransaction();
    const { root } = this;
    return {
      get: (key) => {
        const value = root.get(key, { transaction });
        return value === undefined ? undefined : Buffer.from(value);
      },
      *range(from, to, backwards = false): Generator<Pair> {
        const limits = backwards ? { start: to, end: from, reverse: true } : { start: from, end: to };
        for (const { key, value } of root.getRange({ ...limits, transaction })) {
          // Backwards the ends change places: the first is left out here, the last is not by LMDB.
          if (backwards && (key.equals(to) || key.compare(from) < 0)) continue;
          yield { key, value };
        }
        if (!backwards || from.equals(to)) return;
        const first = root.get(from, { transaction });
        if (first !== undefined) yield { key: from, value: first };
      },
      first: (from, to, backwards = false) => {
        const limits = backwards ? { start: to, end: from, reverse: true } : { start: from, end: to };
        // Backwards the end itself may come first, and is none of them.
        for (const { key, value } of root.getRange({ ...limits, limit: 2, transaction })) {
          if (!backwards || !key.equals(to)) return { key, value };
        }
        const first = backwards && !from.equals(to) ? root.get(from, { transaction }) : undefined;
        return first === undefined ? undefined : { key: from, value: first };
      },
      close: () => transaction.done(),
    };
  }

  commit(changes: ReadonlyMap<string, Buffer | undefined>): void {
    const keys = [...changes.keys()].sort();
    this.root.transactionSync(() => {
      for (const text of keys) {
        const value = changes.get(text);
        const key = Buffer.from(text, "latin1");
        if (value === undefined) this.root.removeSync(key);
        else this.root.putSync(key, value);
      }
    });
  }

  async close(): Promise<void> {
    await this.root.close();
  }
}

/** Opens the catalogue in the folder, and makes it where there is none. */
export function openLmdb(disk: Disk, folder: string): OrderedStore {
  disk.makeFolder(folder);
  return new LmdbStore(folder, false);
}

/** HT_NOT_FOUND where there is none. */
export function openLmdbToRead(disk: Disk, folder: string): OrderedStore {
  if (disk.stat(join(folder, NAME)) === undefined) {
    throw new ArchiveError("HT_NOT_FOUND", `${folder}: no catalogue; \`holotype rebuild\` makes it`, { file: folder });
  }
  return new LmdbStore(folder, true);
}
