/**
 * A survey: how much deduplication would save, before anybody decides on it. Every record is counted, but of most only
 * the beginning is decoded; which ones are read in full is up to their content, so that copies in different files are
 * never torn apart. docs/operating/survey.md says how it is estimated.
 */
import type { Warning } from "../../base/index.ts";
import type { KeptReason } from "../../dedup/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { Input, SkippedInput } from "../inputs.ts";
import type { LineSorterOptions } from "../line-sorter.ts";
import type { RunProgress } from "../run.ts";
import type { SurveyFixedKind } from "./capture.ts";
import { addCounts, emptyCounts, type SurveyCounts } from "./counts.ts";
import { complement, type Estimate, scaleEstimate } from "./estimate.ts";
import { runSurveyJobs } from "./pool.ts";
import { PayloadSampler } from "./sampler.ts";
import { type Figures, SurveyTally, type TallyResult } from "./tally.ts";

export type { Estimate } from "./estimate.ts";

export interface SurveyOptions {
  /** The share of contents that is read in full, above 0 and up to 1. */
  readonly sample: number;
  /** Another one takes another sample. */
  readonly seed: number;
  readonly threads: number;
  readonly sorting?: LineSorterOptions | undefined;
  /** Damage, as far as it was met. */
  readonly onWarning?: ((warning: Warning) => void) | undefined;
  readonly onSkip?: ((skipped: SkippedInput) => void) | undefined;
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}

export interface SurveyReport extends SurveyCounts {
  readonly files: number;
  readonly skipped: number;
  readonly sample: {
    readonly rate: number;
    readonly seed: number;
    /** Groups of contents that begin with the same bytes, and how many of them were taken. */
    readonly clusters: number;
    readonly clustersRead: number;
    /** Records that were read in full because they are in the sample. */
    readonly recordsRead: number;
  };
  /** Records that could be replaced, the bytes they take, and the share of the responses and of all bytes that this is. */
  readonly duplicates: {
    readonly records: Estimate;
    readonly recordsRate: Estimate;
    readonly bytes: Estimate;
    readonly bytesRate: Estimate;
  };
  /** Those among them with an earlier copy under the same URL, and with copies under other URLs only. */
  readonly sameUrl: { readonly records: Estimate; readonly saved: Estimate };
  readonly otherUrl: { readonly records: Estimate; readonly saved: Estimate };
  /** Duplicates in files in which nothing can be replaced; not among those above. */
  readonly fixed: Readonly<Record<SurveyFixedKind, { readonly records: Estimate; readonly bytes: Estimate }>>;
  /** Bytes less, and bytes that remain. */
  readonly saved: Estimate;
  readonly savedRate: Estimate;
  readonly after: Estimate;
  /** How many records could not be replaced, or referred to, though their content would do; about, and why. */
  readonly kept: Readonly<Partial<Record<KeptReason, number>>>;
}

export async function surveyInputs(
  disk: Disk,
  inputs: readonly Input[],
  options: SurveyOptions,
): Promise<SurveyReport> {
  const { sample, seed, threads } = options;
  using tally = new SurveyTally(disk, options.sorting);
  const counts = emptyCounts();
  let skipped = 0;
  const jobs = inputs.map((input, order) => ({ input, order, sample, seed }));
  await runSurveyJobs(disk, jobs, threads, {
    onSketch: tally.addSketch,
    onCapture: tally.addCapture,
    onReferred: tally.addReferred,
    onWarning: (warning) => options.onWarning?.(warning),
    onProgress: (progress) => options.onProgress?.(progress),
    onDone: (input, { counts: part, error }) => {
      addCounts(counts, part);
      if (error === undefined) return;
      skipped++;
      options.onSkip?.({ name: input.name, error });
    },
  });
  const result = tally.count(new PayloadSampler(sample, seed));
  return { files: inputs.length, skipped, ...counts, ...estimates(counts, result, sample, seed) };
}

function estimates(counts: SurveyCounts, result: TallyResult, rate: number, seed: number) {
  const { sums, clusters, clustersRead, recordsRead } = result;
  const of = (figure: keyof Figures, most = sums[figure].most) => sums[figure].estimate(rate, sums[figure].least, most);
  const records = of("records");
  const bytes = of("bytes");
  const saved = of("saved");
  const ofResponses = counts.responses === 0 ? 0 : 1 / counts.responses;
  const ofBytes = counts.bytes === 0 ? 0 : 1 / counts.bytes;
  return {
    sample: { rate, seed, clusters, clustersRead, recordsRead },
    duplicates: {
      records,
      recordsRate: scaleEstimate(records, ofResponses),
      bytes,
      bytesRate: scaleEstimate(bytes, ofBytes),
    },
    // What is suggested for a URL may be too little, but not what is suggested for all.
    sameUrl: { records: of("sameUrlRecords", sums.records.most), saved: of("sameUrlSaved", sums.saved.most) },
    otherUrl: { records: of("otherUrlRecords", sums.records.most), saved: of("otherUrlSaved", sums.saved.most) },
    fixed: {
      arc: { records: of("arcRecords"), bytes: of("arcBytes") },
      wacz: { records: of("waczRecords"), bytes: of("waczBytes") },
    },
    saved,
    savedRate: scaleEstimate(saved, ofBytes),
    after: complement(counts.bytes, saved),
    kept: Object.fromEntries([...result.kept].map(([reason, count]) => [reason, Math.round(count / rate)])),
  };
}
