/**
 * Leads revisits to their originals, whatever the number of records: both are sorted by what they are found under, and
 * meet. A revisit is found under the URI and date that it refers to; where it tells none, under the id; and where it
 * tells none, or there is no such record, under its digest.
 */
import { captureKey } from "../dedup/index.ts";
import type { Disk } from "../disk/index.ts";
import { LineSorter, type LineSorterOptions, mergeSorted } from "./line-sorter.ts";
import {
  algorithmOf,
  formatColumn,
  formatManifestLine,
  type ManifestLine,
  parseManifestLine,
} from "./manifest-line.ts";

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

/** Before all other keys: what is not found under these is looked for once more. */
const ID_MARK = "\x01";

export class RevisitJoin implements Disposable {
  private readonly sorter: LineSorter;
  /** Revisits whose ids lead nowhere. */
  private readonly left: LineSorter;
  revisits = 0;

  constructor(disk: Disk, options: LineSorterOptions = {}) {
    this.sorter = new LineSorter(disk, options);
    this.left = new LineSorter(disk, options);
  }

  add(line: ManifestLine): void {
    const isRevisit = line.flags.includes("revisit");
    const text = formatManifestLine(line);
    if (isRevisit) {
      this.revisits++;
      put(this.sorter, referenceOf(line), REFERS, text);
    } else {
      put(this.sorter, line.digest, HOLDS, text);
      if (line.id !== undefined) put(this.sorter, ID_MARK + line.id, HOLDS, text);
    }
    if (line.uri !== undefined && line.date !== undefined) {
      put(this.sorter, captureKey(line.uri, line.date), isRevisit ? CHAIN : HOLDS, text);
    }
  }

  /** Every revisit with its original, in no order that means anything. May be called once. */
  *pairs(): Generator<RevisitPair> {
    if (this.revisits === 0) return;
    const lines = this.sorter.sortedLines()[Symbol.iterator]();
    const others = new Rest(lines);
    for (const pair of join(others.until((line) => !line.startsWith(ID_MARK)))) {
      const { revisit } = pair;
      if (revisit.digest === undefined || pair.candidates.some((candidate) => mayHold(candidate, revisit))) yield pair;
      else put(this.left, revisit.digest, REFERS, formatManifestLine(revisit));
    }
    yield* join(mergeSorted([others.rest(), this.left.sortedLines()[Symbol.iterator]()]));
  }

  [Symbol.dispose](): void {
    this.sorter[Symbol.dispose]();
    this.left[Symbol.dispose]();
  }
}

/** Whether the record has the payload that the revisit tells of, as far as their digests can be compared. */
function mayHold(record: ManifestLine, revisit: ManifestLine): boolean {
  return record.digest === revisit.digest || algorithmOf(record) !== algorithmOf(revisit);
}

function put(sorter: LineSorter, key: string | undefined, kind: string, text: string): void {
  sorter.add(`${formatColumn(key)}\t${kind}\t${text}`);
}

/** Lines of which the first are taken before the others. */
class Rest {
  private readonly lines: Iterator<string>;
  private next: string | undefined;

  constructor(lines: Iterator<string>) {
    this.lines = lines;
  }

  *until(isBehind: (line: string) => boolean): Generator<string> {
    for (let step = this.lines.next(); step.done !== true; step = this.lines.next()) {
      if (isBehind(step.value)) {
        this.next = step.value;
        return;
      }
      yield step.value;
    }
  }

  *rest(): Generator<string> {
    if (this.next !== undefined) yield this.next;
    for (let step = this.lines.next(); step.done !== true; step = this.lines.next()) yield step.value;
  }
}

function* join(lines: Iterable<string>): Generator<RevisitPair> {
  let key: string | undefined;
  let originals: ManifestLine[] = [];
  let chains: string[] = [];
  for (const sorted of lines) {
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

/** Captures of one URI in one second; more than a few are no use to choose from. */
const HELD_MAX = 64;

function referenceOf({ original, digest }: ManifestLine): string | undefined {
  if (original?.uri !== undefined && original.date !== undefined) return captureKey(original.uri, original.date);
  return original?.id === undefined ? digest : ID_MARK + original.id;
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
