/** The files that captures came from. */
import { ADOPTED_SOURCES } from "../catalogue/catalogue-view.ts";
import type { Snapshot } from "./snapshot.ts";

export interface ArchiveSource {
  /** Of `Capture.sourceNumber`. */
  readonly number: number;
  /** As it was given. */
  readonly name: string;
  readonly addedMs: number;
  /** Of one that stays where it is; absent for one whose records were copied. */
  readonly adoptedBytes: number | undefined;
}

export function* sourcesIn({ catalogue }: Snapshot): Generator<ArchiveSource> {
  for (const { number, row } of catalogue.sources()) {
    const segment = number >= ADOPTED_SOURCES ? catalogue.segment(number - ADOPTED_SOURCES) : undefined;
    yield { number, name: row.name, addedMs: row.addedMs, adoptedBytes: segment?.adopted?.size };
  }
}
