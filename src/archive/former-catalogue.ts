/**
 * The catalogue as it was before it had a format of its own: an LMDB file, of which only what a rebuild must not lose sight
 * of is read. Its small tables are as they are now.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import type * as Lmdb from "lmdb";
import { type Disk, refuseCutLmdb } from "../disk/index.ts";
import type { StoreView } from "./ordered-store.ts";

const FORMER_NAME = "catalogue.lmdb";

export function isFormer(disk: Disk, folder: string): boolean {
  return disk.stat(join(folder, FORMER_NAME)) !== undefined;
}

/** LMDB is loaded only here: most who have an archive never need it. Rejects where the file cannot be read. */
export async function readFormer<T>(disk: Disk, folder: string, use: (view: StoreView) => T): Promise<T> {
  const path = join(folder, FORMER_NAME);
  refuseCutLmdb(disk, path, { isSynced: true, advice: "`holotype rebuild` makes it again" });
  const { open } = createRequire(import.meta.url)("lmdb") as typeof Lmdb;
  const options = { noSubdir: true, readOnly: true, encoding: "binary", keyEncoding: "binary" } as const;
  const root = open<Buffer, Buffer>({ path, ...options });
  const bytes = (key: string) => Buffer.from(key, "latin1");
  const range: StoreView["range"] = (from, to) =>
    root.getRange({ start: bytes(from), end: bytes(to) }).map(({ key, value }) => ({
      key: key.toString("latin1"),
      value: Buffer.from(value),
    }));
  try {
    return use({ get: (key) => root.get(bytes(key)), range, first: (from, to) => [...range(from, to)][0] });
  } finally {
    await root.close();
  }
}
