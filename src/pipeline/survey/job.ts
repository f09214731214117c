/** Surveying one input, as a piece of work for any thread. */
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import { type Input, openInput } from "../inputs.ts";
import { loadForZstd } from "../part.ts";
import { emptyCounts, type SurveyCounts } from "./counts.ts";
import { type InputSurveyEvents, surveySource } from "./input.ts";
import { PayloadSampler } from "./sampler.ts";

/** Plain data, so that it can be sent to a worker thread. */
export interface SurveyJob {
  readonly input: Input;
  /** Its place among the inputs. */
  readonly order: number;
  readonly sample: number;
  readonly seed: number;
}

export interface SurveyJobResult {
  readonly counts: SurveyCounts;
  /** The input could not be read, or not to its end. What was found before that counts. */
  readonly error?: ArchiveError | undefined;
}

/** Never throws for what is wrong with the input: that is part of the result. */
export async function doSurveyJob(disk: Disk, job: SurveyJob, events: InputSurveyEvents): Promise<SurveyJobResult> {
  const { input, order, sample, seed } = job;
  const counts = emptyCounts();
  try {
    await loadForZstd(disk, input);
    const source = openInput(disk, input);
    try {
      const options = { sampler: new PayloadSampler(sample, seed), order, fixed: input.entries.length > 0 };
      surveySource(source, options, events, counts);
    } finally {
      source.close?.();
    }
    return { counts };
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return { counts, error };
  }
}
