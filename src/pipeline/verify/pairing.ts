/** Which file is which: deduplicated files and their originals are matched by their paths. */
import type { Disk } from "../../disk/index.ts";
import { findInputs, type Input, type SkippedInput } from "../inputs.ts";

/** An input, and its path from the folder that was named. */
export interface NamedInput {
  readonly input: Input;
  readonly relative: string;
}

/** A file that cannot be taken for an archive, so that it can only be compared by its bytes. */
export type UnreadFile = NamedInput;

/**
 * The inputs that the names stand for, each once. Files with the name of an archive that cannot be opened as one go to
 * `onUnread`, beside being skipped.
 */
export function nameInputs(
  disk: Disk,
  names: readonly string[],
  onSkip: (skipped: SkippedInput) => void,
  onUnread: (file: UnreadFile) => void = () => {},
): NamedInput[] {
  const seen = new Set<string>();
  const isNew = (input: Input) => {
    const key = [disk.stat(input.path)?.identity ?? input.path, ...input.entries].join("!");
    return seen.size < seen.add(key).size;
  };
  return names.flatMap((name) => {
    const folder = name.endsWith("/") ? name : `${name}/`;
    const toNamed = (input: Input): NamedInput => {
      const isInside = input.name.startsWith(folder);
      return { input, relative: isInside ? input.name.slice(folder.length) : (partsOf(input)[0] ?? "") };
    };
    const onSkipped = (skipped: SkippedInput) => {
      onSkip(skipped);
      const { name: path } = skipped;
      const stat = disk.stat(path);
      if (stat?.kind === "file") onUnread(toNamed({ name: path, path, entries: [], size: stat.sizeBytes }));
    };
    return findInputs(disk, [name], onSkipped).filter(isNew).map(toNamed);
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

/** The parts of a name from the last on; an entry of a WACZ has its own behind those of the file. */
function partsOf({ path, entries }: Input): string[] {
  return [path, ...entries]
    .flatMap((name) => name.split("/"))
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
  const depth = Math.max(0, ...files.map(({ input }) => partsOf(input).length));
  for (let count = depth; count > 0; count--) {
    match(({ input }) => {
      const parts = partsOf(input);
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
