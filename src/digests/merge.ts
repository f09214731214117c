/** Several indexes as one new one. What they tell of one content of a URL becomes one entry, as within one index. */
import { ArchiveError } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { DigestIndex } from "./digest-index.ts";
import { EntrySorter } from "./entry-sorter.ts";
import { IndexWriter } from "./index-writer.ts";
import type { WrittenRun } from "./run-writer.ts";
import type { IndexSettings } from "./settings.ts";

export interface MergeOptions {
  readonly memoryBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const BREATH_COUNT = 1 << 14;

/** What one of them can be asked by, all together can. */
function joinSettings(all: readonly IndexSettings[]): IndexSettings {
  const some = (name: keyof IndexSettings) => all.some((settings) => settings[name]);
  return { url: some("url"), digest: some("digest"), equivalent: some("equivalent"), validators: some("validators") };
}

/** The oldest first. The new index is there when all of it is durable. */
export async function mergeIndexes(
  disk: Disk,
  folders: readonly string[],
  folder: string,
  options: MergeOptions = {},
): Promise<WrittenRun> {
  const indexes: DigestIndex[] = [];
  try {
    for (const each of folders) indexes.push(DigestIndex.open(disk, each));
    return await mergeOpen(disk, indexes, folder, options);
  } finally {
    for (const index of indexes) await index.close();
  }
}

async function mergeOpen(
  disk: Disk,
  indexes: readonly DigestIndex[],
  folder: string,
  { memoryBytes, signal }: MergeOptions,
): Promise<WrittenRun> {
  const look = () => {
    if (signal?.aborted === true) throw new ArchiveError("HT_INTERRUPTED", `interrupted: ${folder} was not made`);
  };
  const settings = joinSettings(indexes.map((index) => index.settings));
  using writer = IndexWriter.open(disk, folder, { settings, isNew: true });
  using sorter = new EntrySorter(disk, { folder, memoryBytes });
  for (const index of indexes) {
    let count = 0;
    for (const entry of index.entries()) {
      sorter.add(entry);
      if (++count % BREATH_COUNT !== 0) continue;
      await new Promise((resolve) => setImmediate(resolve));
      look();
    }
  }
  return await writer.addRunLater((path) => sorter.writeRunLater(path, settings, look));
}
