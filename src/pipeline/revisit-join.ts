/**
 * Leads revisits to their originals, whatever the number of records: both are sorted by what they are found under, and
 * meet. A revisit is found under the URI and date that it refers to; where it tells none, under its digest.
 */
import { captureKey } from "../dedup/index.ts";
import type { Disk } from "../disk/index.ts";
import { LineSorter, type LineSorterOptions } from "./line-sorter.ts";
import { formatColumn, formatManifestLine, type ManifestLine, parseManifestLine } from "./manifest-line.ts";

export interface RevisitPair {
  readonly revisit: ManifestLine;
  /** Absent where there is none among the lines. */
  readonly original: ManifestLine | undefined;
  /** All that it may mean, `original` among them: captures of one URI in one second. */
  readonly candidates: readonly ManifestLine[];
  /** The revisit refers to another revisit, and to nothing else of that URI and second. */
  readonly chained: boolean;
}

/** What a key is sorted as: originals come before revisits that are referred to, and these before those that refer. */
const HOLDS = "0";
const CHAIN = "1";
const REFERS = "2";

export class RevisitJoin implements Disposable {
  private readonly sorter: LineSorter;
  revisits = 0;

  constructor(disk: Disk, options: LineSorterOptions = {}) {
    this.sorter = new LineSorter(disk, options);
  }

  add(line: ManifestLine): void {
    const isRevisit = line.flags.includes("revisit");
    const text = formatManifestLine(line);
    if (isRevisit) {
      this.revisits++;
      this.put(referenceOf(line), REFERS, text);
    } else this.put(line.digest, HOLDS, text);
    if (line.uri !== undefined && line.date !== undefined) {
      this.put(captureKey(line.uri, line.date), isRevisit ? CHAIN : HOLDS, text);
    }
  }

  private put(key: string | undefined, kind: string, text: string): void {
    this.sorter.add(`${formatColumn(key)}\t${kind}\t${text}`);
  }

  /** Every revisit with its original, in order of the keys. May be called once. */
  *pairs(): Generator<RevisitPair> {
    if (this.revisits === 0) return;
    let key: string | undefined;
    let originals: ManifestLine[] = [];
    let chains: string[] = [];
    for (const sorted of this.sorter.sortedLines()) {
      const first = sorted.indexOf("\t");
      const own = sorted.slice(0, first);
      const kind = sorted[first + 1];
      const text = sorted.slice(first + 3);
      if (own !== key) {
        key = own;
        originals = [];
        chains = [];
      }
      if (kind === HOLDS) {
        if (originals.length < HELD_MAX) originals.push(parseManifestLine(text, "(sorted)"));
      } else if (kind === CHAIN) {
        if (chains.length < HELD_MAX) chains.push(text);
      } else yield pairOf(parseManifestLine(text, "(sorted)"), originals, chains);
    }
  }

  [Symbol.dispose](): void {
    this.sorter[Symbol.dispose]();
  }
}

/** Captures of one URI in one second; more than a few are no use to choose from. */
const HELD_MAX = 64;

function referenceOf({ original, digest }: ManifestLine): string | undefined {
  if (original?.uri !== undefined && original.date !== undefined) return captureKey(original.uri, original.date);
  return digest;
}

/** Of several captures in one second, the one that the revisit names by its id or its digest. */
function pairOf(revisit: ManifestLine, originals: readonly ManifestLine[], chains: readonly string[]): RevisitPair {
  const id = revisit.original?.id;
  const original =
    originals.find((candidate) => id !== undefined && candidate.id === id) ??
    originals.find((candidate) => candidate.digest === revisit.digest) ??
    originals[0];
  return { revisit, original, candidates: originals, chained: original === undefined && chains.length > 0 };
}
