/** How often headers were right about documents that are known: the analysis of the paper's Figure 3 and Table 1. */
import type { HeaderScheme, Prediction } from "./header-predictor.ts";
import { groupOf } from "./tally.ts";

export interface HeaderCounts {
  changeCorrectly: number;
  changeFalsely: number;
  nonChangeCorrect: number;
  /** The worst: a change that would have been missed. */
  nonChangeFalsely: number;
  missing: number;
  unreadable: number;
  /** Of those missing or unreadable: what had changed, and what had not, as far as that is known. */
  silentChanged: number;
  silentUnchanged: number;
}

function noHeaderCounts(): HeaderCounts {
  return {
    changeCorrectly: 0,
    changeFalsely: 0,
    nonChangeCorrect: 0,
    nonChangeFalsely: 0,
    missing: 0,
    unreadable: 0,
    silentChanged: 0,
    silentUnchanged: 0,
  };
}

/** What headers said of a document, and whether its digest is another one. */
export type TalliedPrediction = {
  readonly host: string | undefined;
  readonly scheme: HeaderScheme;
  /** How many documents it stands for; 1 unless it says so. */
  readonly times?: number | undefined;
} & (
  | { readonly prediction: Prediction; readonly changed: boolean }
  /** Where headers are silent, nobody may have looked. */
  | { readonly prediction: "missing" | "unreadable"; readonly changed: undefined }
);

type SchemeCounts = Map<HeaderScheme, HeaderCounts>;

export class HeaderTally {
  readonly schemes: readonly HeaderScheme[];
  readonly total: ReadonlyMap<HeaderScheme, HeaderCounts>;
  readonly byHost = new Map<string, ReadonlyMap<HeaderScheme, HeaderCounts>>();
  /** Documents whose very URL is not in the index. */
  newUrls = 0;
  private readonly hosts: boolean;

  constructor(schemes: readonly HeaderScheme[], options: { readonly hosts?: boolean | undefined } = {}) {
    this.schemes = schemes;
    this.total = this.noCounts();
    this.hosts = options.hosts ?? true;
  }

  add(found: TalliedPrediction): void {
    count(this.total.get(found.scheme), found);
    if (this.hosts) count(groupOf(this.byHost, found.host, () => this.noCounts()).get(found.scheme), found);
  }

  private noCounts(): SchemeCounts {
    return new Map(this.schemes.map((scheme) => [scheme, noHeaderCounts()]));
  }
}

function count(counts: HeaderCounts | undefined, { prediction, changed, times = 1 }: TalliedPrediction): void {
  if (counts === undefined) return;
  if (prediction === "change") counts[changed === true ? "changeCorrectly" : "changeFalsely"] += times;
  else if (prediction === "non-change") counts[changed === true ? "nonChangeFalsely" : "nonChangeCorrect"] += times;
  else {
    counts[prediction] += times;
    if (changed === true) counts.silentChanged += times;
    if (changed === false) counts.silentUnchanged += times;
  }
}

/** A share that keeps its parts, so that it can be rounded as its reader wants it. */
export interface Ratio {
  readonly part: number;
  readonly whole: number;
}

export interface HeaderFigures {
  /** Documents whose very URL is in the index. */
  readonly analysed: number;
  /** Of the unchanged ones: how many need not be downloaded. Silent headers are left out, as the paper does. */
  readonly usefulness: Ratio;
  /** Of the changed ones: how many are downloaded. Silent headers are left out. */
  readonly reliability: Ratio;
  /** The same with every new document counted as changed. */
  readonly reliabilityWithNew: Ratio;
  /** Of all unchanged ones, silent headers among them; absent where it is not known which of these had changed. */
  readonly strictUsefulness: Ratio | undefined;
  readonly strictReliability: Ratio | undefined;
}

/** `newUrls` is how many documents there were whose URL was not in the index. */
export function headerFigures(counts: HeaderCounts, newUrls: number): HeaderFigures {
  const { changeCorrectly, changeFalsely, nonChangeCorrect, nonChangeFalsely, silentChanged, silentUnchanged } = counts;
  const silent = counts.missing + counts.unreadable;
  const changed = changeCorrectly + nonChangeFalsely;
  const unchanged = nonChangeCorrect + changeFalsely;
  const isSplit = silentChanged + silentUnchanged === silent;
  return {
    analysed: changed + unchanged + silent,
    usefulness: { part: nonChangeCorrect, whole: unchanged },
    reliability: { part: changeCorrectly, whole: changed },
    reliabilityWithNew: { part: changeCorrectly + newUrls, whole: changed + newUrls },
    strictUsefulness: isSplit ? { part: nonChangeCorrect, whole: unchanged + silentUnchanged } : undefined,
    // What says nothing is downloaded.
    strictReliability: isSplit ? { part: changeCorrectly + silentChanged, whole: changed + silentChanged } : undefined,
  };
}
