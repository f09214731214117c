/** The catalogue in LMDB: mapped into memory, readable by other processes while one writes. */
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type * as Lmdb from "lmdb";
import type { RootDatabase } from "lmdb";
import { ArchiveError, invariant } from "../base/index.ts";
import { type Disk, refuseCutLmdb } from "../disk/index.ts";
import type { OrderedStore, Pair, StoreView } from "./ordered-store.ts";

// Required and not imported: that takes its build in one file, and saves a fifth of the time until it answers.
const { open } = createRequire(import.meta.url)("lmdb") as typeof Lmdb;

const NAME = "catalogue.lmdb";
/** Smaller ones are left as they are. */
const LOOSE_LEAST_BYTES = 1 << 20;
/** Each commit writes the pages that it changes to other places, and most commits change most pages. */
const LOOSE_RATIO = 1.5;
const BINARY = { encoding: "binary", keyEncoding: "binary" } as const;

const ADVICE = "`holotype rebuild` makes it again";
const NO_SPACE = 28;
/** LMDB's own numbers: a page that is not there, or is no page of its kind; and what it gives up over. */
const DAMAGED: ReadonlySet<unknown> = new Set([-30797, -30796, -30795, -30793]);

function attempt<T>(action: () => T): T {
  try {
    return action();
  } catch (cause) {
    throw translate(cause);
  }
}

/** What LMDB or the system refuses becomes an error of ours. */
function translate(cause: unknown): unknown {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: string };
  if (typeof code !== "number") return cause;
  if (DAMAGED.has(code)) {
    return new ArchiveError("HT_CORRUPT", `the catalogue is damaged (${message}); ${ADVICE}`, {}, cause);
  }
  return new ArchiveError(code === NO_SPACE ? "HT_NO_SPACE" : "HT_IO", `the catalogue: ${message}`, {}, cause);
}

/**
 * How often this process has a catalogue open, and whether it may write to it: LMDB opens a file once for a process, and
 * as the first one wants it.
 */
const openHere = new Map<string, { count: number; readonly isReadOnly: boolean }>();

class LmdbStore implements OrderedStore {
  private readonly root: RootDatabase<Buffer, Buffer>;
  private readonly path: string;

  constructor(disk: Disk, folder: string, readOnly: boolean) {
    this.path = resolve(folder);
    refuseCutLmdb(disk, join(folder, NAME), { isSynced: true, advice: ADVICE });
    const there = openHere.get(this.path);
    if (there?.isReadOnly === true && !readOnly) {
      const message = `${folder}: this process has it open for reading; close that, or open the writer before any reader`;
      throw new ArchiveError("HT_LOCKED", message, { file: folder });
    }
    try {
      // Without overlapping syncs a transaction is durable when it has been committed, not some time after.
      const options = { noSubdir: true, readOnly, overlappingSync: false, ...BINARY };
      this.root = open<Buffer, Buffer>({ path: join(folder, NAME), ...options });
      if (there === undefined) openHere.set(this.path, { count: 1, isReadOnly: readOnly });
      else there.count++;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `${folder}: the catalogue cannot be opened (${reason}); ${ADVICE}`;
      throw new ArchiveError("HT_CORRUPT", message, { file: folder }, cause);
    }
  }

  view(): StoreView {
    const transaction = attempt(() => this.root.useReadTransaction());
    const { root } = this;
    const pairs = (from: Buffer, to: Buffer, backwards: boolean, limit?: number) => {
      const limits = backwards ? { start: to, end: from, reverse: true } : { start: from, end: to };
      return root.getRange({ ...limits, ...(limit === undefined ? {} : { limit }), transaction });
    };
    return {
      get: (key) => {
        try {
          const value = root.get(key, { transaction });
          return value === undefined ? undefined : Buffer.from(value);
        } catch (cause) {
          throw translate(cause);
        }
      },
      *range(from, to, backwards = false): Generator<Pair> {
        try {
          for (const { key, value } of pairs(from, to, backwards)) {
            // Backwards the ends change places: the first is left out here, the last is not by LMDB.
            if (backwards && (key.equals(to) || key.compare(from) < 0)) continue;
            yield { key, value };
          }
          if (!backwards || from.equals(to)) return;
          const first = root.get(from, { transaction });
          if (first !== undefined) yield { key: from, value: first };
        } catch (cause) {
          throw translate(cause);
        }
      },
      first: (from, to, backwards = false) =>
        attempt(() => {
          // Backwards the end itself may come first, and is none of them.
          for (const { key, value } of pairs(from, to, backwards, 2)) {
            if (!backwards || !key.equals(to)) return { key, value };
          }
          const first = backwards && !from.equals(to) ? root.get(from, { transaction }) : undefined;
          return first === undefined ? undefined : { key: from, value: first };
        }),
      close: () => transaction.done(),
    };
  }

  commit(changes: ReadonlyMap<string, Buffer | undefined>, areBehind = false): void {
    const keys = [...changes.keys()].sort();
    // What is appended fills its pages; anything else leaves them two thirds full.
    const options = { append: areBehind };
    attempt(() =>
      this.root.transactionSync(() => {
        for (const text of keys) {
          const value = changes.get(text);
          const key = Buffer.from(text, "latin1");
          if (value === undefined) this.root.removeSync(key);
          else invariant(this.root.putSync(key, value, options) as unknown as boolean, "LMDB refused a pair");
        }
      }),
    );
  }

  isLoose(): boolean {
    const { treeLeafPageCount, treeBranchPageCount, overflowPages, lastPageNumber, pageSize } =
      this.root.getStats() as Record<string, number>;
    const used = treeLeafPageCount! + treeBranchPageCount! + overflowPages!;
    return lastPageNumber! * pageSize! > LOOSE_LEAST_BYTES && lastPageNumber! > LOOSE_RATIO * used;
  }

  async close(): Promise<void> {
    await this.root.close();
    const there = openHere.get(this.path)!;
    if (--there.count === 0) openHere.delete(this.path);
  }
}

/** Opens the catalogue in the folder, and makes it where there is none. */
export function openLmdb(disk: Disk, folder: string): OrderedStore {
  disk.makeFolder(folder);
  return new LmdbStore(disk, folder, false);
}

/** HT_CORRUPT where there is none. */
export function openLmdbToRead(disk: Disk, folder: string): OrderedStore {
  return new LmdbStore(disk, folder, true);
}
