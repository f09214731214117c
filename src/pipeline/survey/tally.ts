/**
 * Gathers what a survey kept of the records of all files, and counts duplicates cluster by cluster: for every cluster
 * what the openings suggest, for those of the sample what was found. Any number of records in bounded memory.
 */
import {
  type Candidate,
  CaptureSet,
  type KeptReason,
  namesOf,
  OriginalChooser,
  UrlsBefore,
} from "../../dedup/index.ts";
import type { Disk } from "../../disk/index.ts";
import { LineSorter, type LineSorterOptions } from "../line-sorter.ts";
import { parseCapture, type SurveyedCapture } from "./capture.ts";
import { FigureSums } from "./estimate.ts";
import { CLUSTER_LENGTH, type PayloadSampler } from "./sampler.ts";

/** What is counted of duplicates: records, their bytes, what replacing them saves; by the URL they share with another. And
 * those in files in which nothing can be replaced, by the kind of these. */
export const FIGURES = [
  "records",
  "bytes",
  "saved",
  "sameUrlRecords",
  "sameUrlSaved",
  "otherUrlRecords",
  "otherUrlSaved",
  "arcRecords",
  "arcBytes",
  "waczRecords",
  "waczBytes",
] as const;
export type Figures = Record<(typeof FIGURES)[number], number>;

export interface TallyResult {
  readonly sums: Readonly<Record<keyof Figures, FigureSums>>;
  readonly clusters: number;
  readonly clustersRead: number;
  readonly recordsRead: number;
  /** How many records of the sample would be originals or duplicates, but must stay as they are, and why. */
  readonly kept: ReadonlyMap<KeptReason, number>;
}

/** Names that are told apart from all others, or nearly so: more are taken for some that they are not. */
const REFERRED_MAX = 4_000_000;
/** There are two sorters. */
const MEMORY_DEFAULT = 24 << 20;

export class SurveyTally implements Disposable {
  private readonly sketches: LineSorter;
  private readonly captures: LineSorter;
  private readonly referred = new CaptureSet(REFERRED_MAX, REFERRED_MAX);

  constructor(disk: Disk, options: LineSorterOptions = {}) {
    const sorting = { memoryBytes: MEMORY_DEFAULT, ...options };
    this.sketches = new LineSorter(disk, sorting);
    this.captures = new LineSorter(disk, sorting);
  }

  readonly addSketch = (line: string): void => this.sketches.add(line);

  readonly addCapture = (line: string): void => this.captures.add(line);

  readonly addReferred = (name: string): void => void this.referred.add(name);

  /** May be called once, when all has been added. */
  count(sampler: PayloadSampler): TallyResult {
    const sums = Object.fromEntries(FIGURES.map((figure) => [figure, new FigureSums()]));
    const sketches = new Cursor(this.sketches);
    const captures = new Cursor(this.captures);
    // What a sketch suggests may be too much.
    const suggesting = new DuplicateCounter(undefined);
    const finding = new DuplicateCounter(this.referred);
    let clusters = 0;
    let clustersRead = 0;
    for (let cluster = sketches.cluster; cluster !== undefined; cluster = sketches.cluster) {
      clusters++;
      if (sampler.takes(cluster)) {
        clustersRead++;
        const suggested = suggesting.count(sketches, cluster);
        const found = finding.count(captures, cluster);
        for (const figure of FIGURES) sums[figure]!.addRead(suggested[figure], found[figure]);
      } else if (sketches.isAlone) {
        // Nothing is suggested for one record, and many clusters have one.
        sketches.advance();
      } else {
        const suggested = suggesting.count(sketches, cluster);
        for (const figure of FIGURES) sums[figure]!.addUnread(suggested[figure]);
      }
    }
    const { records: recordsRead, kept } = finding;
    return { sums: sums as Record<keyof Figures, FigureSums>, clusters, clustersRead, recordsRead, kept };
  }

  [Symbol.dispose](): void {
    this.sketches[Symbol.dispose]();
    this.captures[Symbol.dispose]();
  }
}

/** Goes over sorted lines, cluster by cluster. */
class Cursor {
  private readonly lines: Iterator<string>;
  private line: string | undefined;
  private next: string | undefined;

  constructor(sorter: LineSorter) {
    this.lines = sorter.sortedLines();
    this.advance();
    this.advance();
  }

  advance(): void {
    const step = this.lines.next();
    this.line = this.next;
    this.next = step.done === true ? undefined : step.value;
  }

  /** The cluster it has come to; absent at the end. */
  get cluster(): string | undefined {
    return this.line?.slice(0, CLUSTER_LENGTH);
  }

  /** The next line is of another cluster. */
  get isAlone(): boolean {
    return this.next?.startsWith(this.cluster!) !== true;
  }

  get current(): SurveyedCapture | undefined {
    return this.line === undefined ? undefined : parseCapture(this.line);
  }
}

function noFigures(): Figures {
  return {
    records: 0,
    bytes: 0,
    saved: 0,
    sameUrlRecords: 0,
    sameUrlSaved: 0,
    otherUrlRecords: 0,
    otherUrlSaved: 0,
    arcRecords: 0,
    arcBytes: 0,
    waczRecords: 0,
    waczBytes: 0,
  };
}

/**
 * Decides over captures as deduplication would, as far as can be known. Of sketches it thinks that those alike are equal:
 * by that no duplicate is missed, because those that are equal are alike.
 */
class DuplicateCounter {
  records = 0;
  readonly kept = new Map<KeptReason, number>();
  private readonly chooser = new OriginalChooser<Candidate>({});
  private readonly urls = new UrlsBefore();
  private readonly referred: CaptureSet | undefined;

  /** Names of records that revisits refer to, which have to stay. */
  constructor(referred: CaptureSet | undefined) {
    this.referred = referred;
  }

  /** Counts the duplicates of a cluster, which the cursor has come to, and moves the cursor behind it. */
  count(cursor: Cursor, cluster: string): Figures {
    const figures = noFigures();
    let identity: string | undefined;
    for (let one = cursor.current; one?.cluster === cluster; one = cursor.current) {
      if (one.identity !== identity) {
        this.chooser.begin();
        this.urls.begin();
      }
      identity = one.identity;
      this.decide(one, figures);
      cursor.advance();
    }
    return figures;
  }

  private decide(capture: SurveyedCapture, figures: Figures): void {
    const { framing, date, uri, length, saving, damaged, fixed } = capture;
    this.records++;
    const isAgain = this.urls.take(uri);
    const referred = namesOf(capture).some((name) => this.referred?.has(name) === true);
    const facts = { uri, date, framing, length, damaged, fixed: fixed !== undefined, referred };
    const candidate = { ...facts, mime: undefined, payloadSize: undefined };
    const decision = this.chooser.decide(candidate);
    if (decision.kind === "kept") {
      this.kept.set(decision.reason, (this.kept.get(decision.reason) ?? 0) + 1);
      if (decision.reason === "fixed" && fixed !== undefined) {
        figures[`${fixed}Records`]++;
        figures[`${fixed}Bytes`] += length;
      }
      return;
    }
    if (decision.kind !== "duplicate") return;
    const url = isAgain ? "sameUrl" : "otherUrl";
    figures.records++;
    figures.bytes += length;
    figures.saved += saving;
    figures[`${url}Records`]++;
    figures[`${url}Saved`] += saving;
  }
}
