/**
 * Gathers what a survey kept of the records of all files, and counts duplicates cluster by cluster: for every cluster
 * what the openings suggest, for those of the sample what was found. Any number of records in bounded memory.
 */
import { type Candidate, type KeptReason, OriginalChooser } from "../dedup/index.ts";
import type { Disk } from "../disk/index.ts";
import { LineSorter, type LineSorterOptions } from "./line-sorter.ts";
import { type CaptureSketch, parseCapture, parseSketch, type SampledCapture } from "./survey-capture.ts";
import { FigureSums } from "./survey-estimate.ts";
import type { PayloadSampler } from "./survey-sampler.ts";

/** What is counted of duplicates: records, their bytes, what replacing them saves; by the URL they share with another. */
export const FIGURES = [
  "records",
  "bytes",
  "saved",
  "sameUrlRecords",
  "sameUrlSaved",
  "otherUrlRecords",
  "otherUrlSaved",
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

/** There are two sorters. */
const MEMORY_DEFAULT = 24 << 20;

export class SurveyTally implements Disposable {
  private readonly sketches: LineSorter;
  private readonly captures: LineSorter;

  constructor(disk: Disk, options: LineSorterOptions = {}) {
    const sorting = { memoryBytes: MEMORY_DEFAULT, ...options };
    this.sketches = new LineSorter(disk, sorting);
    this.captures = new LineSorter(disk, sorting);
  }

  readonly addSketch = (line: string): void => this.sketches.add(line);

  readonly addCapture = (line: string): void => this.captures.add(line);

  /** May be called once, when all has been added. */
  count(sampler: PayloadSampler): TallyResult {
    const sums = Object.fromEntries(FIGURES.map((figure) => [figure, new FigureSums()]));
    const sketches = new Cursor(this.sketches, parseSketch);
    const captures = new Cursor(this.captures, parseCapture);
    const counter = new CaptureCounter();
    let clusters = 0;
    let clustersRead = 0;
    for (let sketch = sketches.current; sketch !== undefined; sketch = sketches.current) {
      const { cluster } = sketch;
      clusters++;
      const suggested = countSketches(sketches, cluster);
      if (sampler.takes(cluster)) {
        clustersRead++;
        const found = counter.count(captures, cluster);
        for (const figure of FIGURES) sums[figure]!.addRead(suggested[figure], found[figure]);
      } else for (const figure of FIGURES) sums[figure]!.addUnread(suggested[figure]);
    }
    const { recordsRead, kept } = counter;
    return { sums: sums as Record<keyof Figures, FigureSums>, clusters, clustersRead, recordsRead, kept };
  }

  [Symbol.dispose](): void {
    this.sketches[Symbol.dispose]();
    this.captures[Symbol.dispose]();
  }
}

/** Goes over sorted lines. */
class Cursor<T> {
  current: T | undefined;
  private readonly lines: Iterator<string>;
  private readonly parse: (line: string) => T;

  constructor(sorter: LineSorter, parse: (line: string) => T) {
    this.lines = linesOf(sorter);
    this.parse = parse;
    this.advance();
  }

  advance(): void {
    const step = this.lines.next();
    this.current = step.done === true ? undefined : this.parse(step.value);
  }
}

function* linesOf(sorter: LineSorter): Generator<string> {
  for (const chunk of sorter.sorted()) {
    const lines = chunk.toString("utf8").split("\n");
    lines.pop();
    yield* lines;
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
  };
}

/**
 * What the sketches of a cluster suggest: that those alike are equal. No duplicate is missed by that, because equal
 * payloads are alike; so what is suggested is never too little.
 */
function countSketches(cursor: Cursor<CaptureSketch>, cluster: string): Figures {
  const figures = noFigures();
  for (let first = cursor.current; first?.cluster === cluster; first = cursor.current) {
    const { likeness } = first;
    let records = 0;
    let bytes = 0;
    let saved = 0;
    let leastBytes = Number.POSITIVE_INFINITY;
    let leastSaved = Number.POSITIVE_INFINITY;
    let isFixedThere = false;
    let uris = 0;
    let uri = "";
    for (let one = cursor.current; one?.cluster === cluster && one.likeness === likeness; one = cursor.current) {
      if (one.uriHash !== uri) uris++;
      uri = one.uriHash;
      if (one.fixed) isFixedThere = true;
      else {
        records++;
        bytes += one.length;
        saved += one.saving;
        leastBytes = Math.min(leastBytes, one.length);
        leastSaved = Math.min(leastSaved, one.saving);
      }
      cursor.advance();
    }
    if (records === 0) continue;
    // One is the original. It is not known which, so it is the one that costs least.
    if (!isFixedThere) {
      records--;
      bytes -= leastBytes;
      saved -= leastSaved;
    }
    const otherUrl = Math.min(records, uris - 1);
    const otherUrlSaved = records === 0 ? 0 : (saved * otherUrl) / records;
    figures.records += records;
    figures.bytes += bytes;
    figures.saved += saved;
    figures.otherUrlRecords += otherUrl;
    figures.otherUrlSaved += otherUrlSaved;
    figures.sameUrlRecords += records - otherUrl;
    figures.sameUrlSaved += saved - otherUrlSaved;
  }
  return figures;
}

/** URIs of one payload that are remembered; those beyond count as seen for the first time. */
const URIS_MAX = 1 << 16;

/** Decides over the captures of the sample as deduplication would, as far as can be known from the sample. */
class CaptureCounter {
  recordsRead = 0;
  readonly kept = new Map<KeptReason, number>();
  private readonly chooser = new OriginalChooser<Candidate>({});
  private readonly uris = new Set<string>();

  count(cursor: Cursor<SampledCapture>, cluster: string): Figures {
    const figures = noFigures();
    for (let first = cursor.current; first?.cluster === cluster; first = cursor.current) {
      const { digest, payloadSize } = first;
      this.chooser.begin();
      this.uris.clear();
      for (let one = cursor.current; one?.digest === digest && one.payloadSize === payloadSize; one = cursor.current) {
        this.decide(one, figures);
        cursor.advance();
      }
    }
    return figures;
  }

  private decide(capture: SampledCapture, figures: Figures): void {
    this.recordsRead++;
    const decision = this.chooser.decide({ ...capture, mime: undefined });
    if (decision.kind === "kept") {
      this.kept.set(decision.reason, (this.kept.get(decision.reason) ?? 0) + 1);
      return;
    }
    const { length, saving } = capture;
    const uri = `${capture.framing} ${capture.uri}`;
    if (decision.kind === "duplicate") {
      const url = this.uris.has(uri) ? "sameUrl" : "otherUrl";
      figures.records++;
      figures.bytes += length;
      figures.saved += saving;
      figures[`${url}Records`]++;
      figures[`${url}Saved`] += saving;
    }
    if (this.uris.size < URIS_MAX) this.uris.add(uri);
  }
}
