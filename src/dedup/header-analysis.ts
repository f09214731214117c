/** Compares what headers said of a document with what its digest says, and counts how often they were right. */
import { type Candidate, type KeptReason, whyNotDuplicate } from "./candidate.ts";
import {
  type DateReference,
  type HeaderScheme,
  type HeaderValues,
  predictionOf,
  readSigns,
} from "./header-predictor.ts";
import { HeaderTally } from "./header-tally.ts";
import { type KnownCapture, shareDigest } from "./known-contents.ts";

/** A capture as the analysis sees it. */
export interface AnalysedCapture extends Candidate {
  readonly digests: readonly string[];
  readonly status: number | undefined;
  readonly headers?: HeaderValues | undefined;
}

/** What is not the whole document has another digest, whether it changed or not. */
const PARTIAL: ReadonlySet<KeptReason | undefined> = new Set(["damaged", "truncated", "segmented"]);

export class HeaderAnalysis {
  readonly tally: HeaderTally;
  /** Their headers are not known, or their digests are of different kinds. */
  readonly unanalysed = { headersUnknown: 0, incomparable: 0 };
  private readonly schemes: readonly HeaderScheme[];
  private readonly reference: DateReference;

  constructor(schemes: readonly HeaderScheme[], reference: DateReference, hosts: boolean) {
    this.schemes = schemes;
    this.reference = reference;
    this.tally = new HeaderTally(schemes, { hosts });
  }

  get isWanted(): boolean {
    return this.schemes.length > 0;
  }

  /**
   * `state` is the newest capture of exactly this URL. Its digest decides whether the document changed, not whether the
   * capture was called a duplicate. Gives the schemes that would have missed a change.
   */
  take(capture: AnalysedCapture, state: KnownCapture | undefined, host: string | undefined): readonly HeaderScheme[] {
    // A redirect or an error is no version of the document.
    if (!this.isWanted || capture.status !== 200 || PARTIAL.has(whyNotDuplicate(capture))) return NONE;
    if (state === undefined || (state.status ?? 200) !== 200) {
      this.tally.newUrls++;
      return NONE;
    }
    if (capture.headers === undefined) {
      this.unanalysed.headersUnknown++;
      return NONE;
    }
    const isSame = shareDigest(state.digests, capture.digests);
    if (!isSame && !haveOneAlgorithm(state.digests, capture.digests)) {
      this.unanalysed.incomparable++;
      return NONE;
    }
    const signs = readSigns(capture.headers, state, this.reference);
    const wrong: HeaderScheme[] = [];
    for (const scheme of this.schemes) {
      const prediction = predictionOf(scheme, signs);
      this.tally.add({ host, scheme, prediction, changed: !isSame });
      if (prediction === "non-change" && !isSame) wrong.push(scheme);
    }
    return wrong;
  }
}

const NONE: readonly HeaderScheme[] = [];

function haveOneAlgorithm(one: readonly string[], other: readonly string[]): boolean {
  const algorithm = (digest: string) => digest.slice(0, digest.indexOf(":"));
  return one.some((digest) => other.some((each) => algorithm(each) === algorithm(digest)));
}
