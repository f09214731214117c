/** Looks whether an index is what it was made as: all its pages, their order, and that everything leads to its record. */
import { ArchiveError } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { equivalentUrl } from "../url/index.ts";
import { DigestIndex, type OriginalProver } from "./digest-index.ts";
import type { DigestEntry } from "./entry.ts";
import { readIndexSlot } from "./index-writer.ts";
import { PageCache } from "./page-cache.ts";
import { probesOf, UrlProbe } from "./probe.ts";
import { hashEquivalent } from "./row-keys.ts";
import { type RowSection, Run, runName } from "./run.ts";
import type { IndexSettings } from "./settings.ts";
import { createHashPair } from "./url-hash.ts";

export interface IndexFinding {
  readonly file: string;
  readonly message: string;
}

/** What the originals of an index came to. */
export interface ProofCounts {
  /** Read, and found to have the content. */
  proven: number;
  /** Out of reach. */
  claimed: number;
  /** What lies there is something else. */
  contradicted: number;
  /** Nothing is known that could be referred to. */
  unreferable: number;
}

/** Damage that it finds; HT_NOT_FOUND where there is no index. */
export function* checkIndex(disk: Disk, folder: string): Generator<IndexFinding> {
  const { runs, settings } = readIndexSlot(disk, folder);
  for (const number of runs) {
    const file = runName(number);
    try {
      using run = new Run(disk, folder, number, new PageCache());
      for (const message of new RunCheck(run, settings).check()) yield { file, message };
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      yield { file, message: error.message };
    }
  }
}

class RunCheck {
  private readonly run: Run;
  private readonly settings: IndexSettings;
  private readonly probe = new UrlProbe();
  private readonly pair = createHashPair();
  private digests = 0;

  constructor(run: Run, settings: IndexSettings) {
    this.run = run;
    this.settings = settings;
  }

  *check(): Generator<string> {
    yield* this.checkRecords();
    if (this.settings.digest) yield* this.checkRows("digests", (entry) => this.digestKeys(entry));
    if (this.settings.equivalent) yield* this.checkRows("equivalents", (entry) => this.equivalentKeys(entry));
  }

  private *checkRecords(): Generator<string> {
    let [high, low, count] = [0, 0, 0];
    for (let number = 0; number < this.run.sections.records.pages; number++) {
      for (const [slot, entry] of this.run.entriesOf(number).entries()) {
        const probe = this.probe.set(entry.uri);
        if (probe.high < high || (probe.high === high && probe.low < low))
          yield `record ${number}.${slot} is out of order`;
        [high, low] = [probe.high, probe.low];
        if (this.settings.url && !this.run.statesOf(probe).some((state) => state.timeMs === entry.timeMs)) {
          yield `record ${number}.${slot} is not found by its URL`;
        }
        this.digests += entry.digests.length;
        count++;
      }
    }
    if (count !== this.run.entryCount) yield `${count} records, and ${this.run.entryCount} were written`;
  }

  /** Each row leads to a record that has its key, and there are as many as all records have digests. */
  private *checkRows(section: RowSection, keysOf: (entry: DigestEntry) => readonly (readonly [number, number])[]) {
    let [high, upper, count] = [0, 0, 0];
    for (let number = 0; number < this.run.sections[section].pages; number++) {
      for (const row of this.run.rowsOf(section, number)) {
        if (row.high < high || (row.high === high && row.upper < upper)) yield `a row of ${section} is out of order`;
        [high, upper] = [row.high, row.upper];
        const key = keysOf(this.run.entryAt(row)).find(([one, two]) => one === row.high && two >>> 16 === row.upper);
        if (key === undefined) yield `a row of ${section} leads to another record`;
        else if (!this.run.mayHave(section, key[0], key[1])) yield `the filter denies a row of ${section}`;
        count++;
      }
    }
    if (count !== this.digests) yield `${count} rows of ${section}, and the records have ${this.digests} digests`;
  }

  private digestKeys({ digests }: DigestEntry): [number, number][] {
    return probesOf(digests).map(({ high, low }) => [high, low]);
  }

  private equivalentKeys({ uri, digests }: DigestEntry): [number, number][] {
    const equivalent = equivalentUrl(uri);
    return digests.map((digest) => {
      hashEquivalent(equivalent, digest, this.pair);
      return [this.pair[0]!, this.pair[1]!];
    });
  }
}

/** Reads the originals of all entries, as far as they are in reach. `onContradiction` is told of each that is not so. */
export async function proveIndex(
  disk: Disk,
  folder: string,
  originals: OriginalProver,
  onContradiction: (entry: DigestEntry) => void,
): Promise<ProofCounts> {
  const counts: ProofCounts = { proven: 0, claimed: 0, contradicted: 0, unreferable: 0 };
  await using index = DigestIndex.open(disk, folder);
  for (const entry of index.entries()) {
    if (entry.original === undefined) {
      counts.unreferable++;
      continue;
    }
    let proof = await originals.prove(entry);
    // Who tells no framing is not contradicted by one, though nothing may refer to it.
    if (proof === undefined && entry.framing === undefined) {
      proof = await originals.prove({ ...entry, framing: "chunked" });
    }
    if (proof === "proven") counts.proven++;
    else if (proof !== undefined) counts.claimed++;
    else {
      counts.contradicted++;
      onContradiction(entry);
    }
  }
  return counts;
}
