/** zstd comes as WebAssembly, which is loaded only for files that need it. */
import type { Disk } from "../../disk/index.ts";
import { type Input, mayHaveZstd } from "../../pipeline/index.ts";
import { loadZstd } from "../../warc/index.ts";
import type { CatalogueView } from "../catalogue/catalogue-view.ts";

export async function loadForInputs(disk: Disk, inputs: readonly Input[]): Promise<void> {
  if (mayHaveZstd(disk, inputs)) await loadZstd();
}

/** An adopted file keeps the compression that it has, whatever it is called; those called `.gz` are not looked at. */
export async function loadForSegments(catalogue: CatalogueView): Promise<void> {
  for (const { row } of catalogue.segments()) {
    if (row.adopted !== undefined && !/\.gz$/i.test(row.adopted.path)) return await loadZstd();
  }
}
