/** Which file is which: deduplicated files and their originals are matched by their paths. */
import type { Disk } from "../../disk/index.ts";
import { findInputs, type Input, type SkippedInput } from "../inputs.ts";

/** An input, and its path from the folder that was named. */
export interface NamedInput {
  readonly input: Input;
  readonly relative: string;
}

/** The inputs that the names stand for, each once. */
export function nameInputs(
  disk: Disk,
  names: readonly string[],
  onSkip: (skipped: SkippedInput) => void,
): NamedInput[] {
  const seen = new Set<string>();
  const isNew = (input: Input) => {
    const key = [disk.stat(input.path)?.identity ?? input.path, ...input.entries].join("!");
    return seen.size < seen.add(key).size;
  };
  return names.flatMap((name) => {
    const folder = name.endsWith("/") ? name : `${name}/`;
    return findInputs(disk, [name], onSkip)
      .filter(isNew)
      .map((input) => {
        const isInside = input.name.startsWith(folder);
        return { input, relative: isInside ? input.name.slice(folder.length) : (partsOf(input.name)[0] ?? "") };
      });
  });
}

export interface FilePairs {
  /** Index of the original for the index of a file. */
  readonly originalOf: ReadonlyMap<number, number>;
  /** Originals that no file is left for. */
  readonly lost: readonly number[];
  /** Files that have no original. */
  readonly added: readonly number[];
}

/** The parts of a name from the last on; an entry of a WACZ is a part. */
function partsOf(name: string): string[] {
  return name
    .split(/[/!]/)
    .filter((part) => part !== "" && part !== ".")
    .reverse();
}

/**
 * Files belong together whose paths from the named folders are the same, and are so but once; of the others those that
 * have most parts in common from the end, down to the base name.
 */
export function pairFiles(files: readonly NamedInput[], originals: readonly NamedInput[]): FilePairs {
  const originalOf = new Map<number, number>();
  const taken = new Set<number>();
  const match = (keyOf: (named: NamedInput) => string | undefined) => {
    const wanted = uniqueBy(originals, keyOf, taken);
    for (const [key, file] of uniqueBy(files, keyOf, new Set(originalOf.keys()))) {
      const original = wanted.get(key);
      if (original === undefined || original === null || file === null) continue;
      originalOf.set(file, original);
      taken.add(original);
    }
  };
  match(({ relative }) => relative);
  const depth = Math.max(0, ...files.map(({ input }) => partsOf(input.name).length));
  for (let count = depth; count > 0; count--) {
    match(({ input }) => {
      const parts = partsOf(input.name);
      return parts.length < count ? undefined : parts.slice(0, count).join("/");
    });
  }
  return {
    originalOf,
    lost: [...originals.keys()].filter((i) => !taken.has(i)),
    added: [...files.keys()].filter((i) => !originalOf.has(i)),
  };
}

/** Indexes by key, but for those taken; null where several have one key. */
function uniqueBy(
  inputs: readonly NamedInput[],
  keyOf: (named: NamedInput) => string | undefined,
  taken: ReadonlySet<number>,
): Map<string, number | null> {
  const map = new Map<string, number | null>();
  for (const [i, named] of inputs.entries()) {
    const key = taken.has(i) ? undefined : keyOf(named);
    if (key !== undefined) map.set(key, map.has(key) ? null : i);
  }
  return map;
}
