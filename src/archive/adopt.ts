/** Files that become segments of an archive where they lie: nothing is copied, everything is entered. */
import { resolve, sep } from "node:path";
import { ArchiveError, formatIso } from "../base/index.ts";
import { type Input, isUrl, STANDARD_INPUT } from "../pipeline/index.ts";
import type { ArchiveCore } from "./archive-core.ts";
import type { EntryCounts, SegmentEntry } from "./segment-entry.ts";
import { type TakeOptions, takeFacts } from "./take-facts.ts";

export interface AdoptReport extends EntryCounts {
  readonly files: number;
  /** Files that were adopted before. */
  readonly adoptedBefore: number;
  readonly skipped: number;
}

export async function adoptInputs(
  core: ArchiveCore,
  inputs: readonly Input[],
  options: TakeOptions,
): Promise<AdoptReport> {
  const { catalogue, clock } = core;
  const known = new Map<string, { readonly size: number }>();
  for (const { row } of catalogue.segments()) if (row.adopted !== undefined) known.set(row.adopted.path, row.adopted);
  const news = inputs.filter((input) => isNew(core, input, known));
  const total = { captures: 0, known: 0, removed: 0, damaged: 0 };
  let entry: SegmentEntry | undefined;
  let adopted:
    | { readonly number: number; readonly file: { path: string; size: number; modifiedMs: number } }
    | undefined;
  const skipped = await takeFacts(core, news, options, {
    begin: (input) => {
      const file = fileOf(core, input);
      const number = core.nextSegment();
      core.journal({ kind: "adopt", time: formatIso(clock.now()), segment: number, ...file });
      entry = core.adoptedEntry(number, file.path);
      adopted = { number, file };
      // Its number is taken from here on.
      core.commit();
    },
    take: (facts) => entry!.take(facts),
    end: () => {
      entry!.end();
      catalogue.putSegment(adopted!.number, { adopted: adopted!.file, end: adopted!.file.size });
      for (const name of Object.keys(total) as (keyof EntryCounts)[]) total[name] += entry!.counts[name];
    },
  });
  core.commit();
  return { ...total, files: news.length - skipped, adoptedBefore: inputs.length - news.length, skipped };
}

function fileOf({ disk }: ArchiveCore, input: Input): { path: string; size: number; modifiedMs: number } {
  const path = [resolve(input.path), ...input.entries].join("!");
  const stat = disk.stat(input.path)!;
  return { path, size: stat.sizeBytes, modifiedMs: stat.modifiedMs };
}

/** Throws where a file cannot be adopted, or is not what it was when it was. */
function isNew(core: ArchiveCore, input: Input, known: ReadonlyMap<string, { readonly size: number }>): boolean {
  if (input.path === STANDARD_INPUT || isUrl(input.path)) {
    throw new ArchiveError("HT_UNSUPPORTED", `${input.name}: only files can be adopted`, { file: input.name });
  }
  const { path, size } = fileOf(core, input);
  if (path.startsWith(resolve(core.paths.folder) + sep)) {
    throw new ArchiveError("HT_USAGE", `${path}: is part of the archive`, { file: path });
  }
  const before = known.get(path);
  if (before === undefined) return true;
  if (before.size === size) return false;
  throw new ArchiveError("HT_CHANGED", `${path}: changed since it was adopted (see holotype doctor)`, { file: path });
}
