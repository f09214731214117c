/** A report of the DeDuplicator as data: what `--json` prints, and what the text and the page are made of. */
import {
  type Deduplicator,
  type HeaderCounts,
  type HeaderScheme,
  headerFigures,
  newOnes,
  type Ratio,
  type TallyCounts,
} from "../../dedup/index.ts";
import { percentOf } from "./percent.ts";

/** The counts of Figure 3. Bytes are of payloads; those of whole answers stand beside them. */
export interface DuplicateFigures {
  readonly handled: number;
  readonly duplicates: number;
  readonly bytes: number;
  readonly duplicateBytes: number;
  readonly responseBytes: number;
  readonly duplicateResponseBytes: number;
  readonly new: number;
  readonly exact: number;
  readonly equivalent: number;
  readonly mirror: number;
}

/** Of one scheme. Shares are in percent with two decimals, rounded half up; null where there is nothing to share. */
export interface HeaderReport {
  readonly scheme: HeaderScheme;
  readonly counts: HeaderCounts;
  readonly analysed: number;
  readonly usefulness: number | null;
  readonly reliability: number | null;
  readonly reliabilityWithNew: number | null;
  readonly strictUsefulness: number | null;
  readonly strictReliability: number | null;
}

export interface GroupReport extends DuplicateFigures {
  readonly name: string;
  /** Of a host, by scheme. */
  readonly headers?: readonly HeaderReport[] | undefined;
}

export interface ReasonCount {
  readonly reason: string;
  readonly count: number;
}

export interface DigestReport {
  readonly report: "deduplicator";
  readonly version: 1;
  readonly settings: ReportSettings;
  readonly sources: ReportSources;
  readonly totals: DuplicateFigures;
  /** Shares of the totals in percent, as above. */
  readonly duplicatesPercent: number | null;
  readonly duplicateBytesPercent: number | null;
  readonly headers: readonly HeaderReport[];
  /** Documents whose own URL was not in the index. */
  readonly newUrls: number;
  readonly unanalysed: { readonly headersUnknown: number; readonly incomparable: number };
  /** Not handled, and kept though the content is known: the most frequent first. */
  readonly exempt: readonly ReasonCount[];
  readonly kept: readonly ReasonCount[];
  /** The largest first. Hosts only where they were asked for. */
  readonly hosts?: readonly GroupReport[] | undefined;
  readonly mimes: readonly GroupReport[];
}

export interface ReportSettings {
  readonly against: string;
  readonly matching: "url" | "digest";
  readonly equivalent: boolean;
  readonly mimeFilter: string | null;
  readonly dateReference: "stored" | "captured";
  readonly mirrors: "counted" | "duplicates";
}

export interface ReportSources {
  readonly files: number;
  readonly captures: number;
  /** Files that could not be read, and lines of logs that are none. */
  readonly skipped: number;
  readonly brokenLines: number;
}

/** What was counted: by a `Deduplicator`, or by whoever knows its verdicts. */
export interface Tallies extends Pick<Deduplicator, "duplicates" | "headers" | "unanalysed"> {
  readonly exempt: ReadonlyMap<string, number>;
  readonly kept: ReadonlyMap<string, number>;
}

export function shapeReport(tallies: Tallies, settings: ReportSettings, sources: ReportSources): DigestReport {
  const { duplicates, headers, exempt, kept, unanalysed } = tallies;
  const totals = figuresOf(duplicates.total);
  const { newUrls } = headers;
  const hosts = groupsOf(duplicates.byHost).map((group) => {
    const own = headers.byHost.get(group.name);
    return own === undefined ? group : { ...group, headers: headersOf(own, undefined) };
  });
  return {
    report: "deduplicator",
    version: 1,
    settings,
    sources,
    totals,
    duplicatesPercent: shareOf({ part: totals.duplicates, whole: totals.handled }),
    duplicateBytesPercent: shareOf({ part: totals.duplicateBytes, whole: totals.bytes }),
    headers: headersOf(headers.total, newUrls),
    newUrls,
    unanalysed: { ...unanalysed },
    exempt: reasonsOf(exempt),
    kept: reasonsOf(kept),
    ...(hosts.length === 0 ? {} : { hosts }),
    mimes: groupsOf(duplicates.byMime),
  };
}

function figuresOf(counts: TallyCounts): DuplicateFigures {
  const { elsewhere, ...rest } = counts;
  return { ...rest, new: newOnes(counts), mirror: elsewhere };
}

/** How many documents of a host are new is not counted, so that figure is only there for the whole. */
function headersOf(
  byScheme: ReadonlyMap<HeaderScheme, HeaderCounts>,
  newUrls: number | undefined,
): readonly HeaderReport[] {
  return [...byScheme].map(([scheme, counts]) => {
    const figures = headerFigures(counts, newUrls ?? 0);
    return {
      scheme,
      counts: { ...counts },
      analysed: figures.analysed,
      usefulness: shareOf(figures.usefulness),
      reliability: shareOf(figures.reliability),
      reliabilityWithNew: newUrls === undefined ? null : shareOf(figures.reliabilityWithNew),
      strictUsefulness: shareOf(figures.strictUsefulness),
      strictReliability: shareOf(figures.strictReliability),
    };
  });
}

function groupsOf(groups: ReadonlyMap<string, TallyCounts>): GroupReport[] {
  const rows = [...groups].map(([name, counts]) => ({ name, ...figuresOf(counts) }));
  return rows.sort((one, other) => other.handled - one.handled || (one.name < other.name ? -1 : 1));
}

function reasonsOf(counts: ReadonlyMap<string, number>): ReasonCount[] {
  const rows = [...counts].map(([reason, count]) => ({ reason, count }));
  return rows.sort((one, other) => other.count - one.count || (one.reason < other.reason ? -1 : 1));
}

function shareOf(ratio: Ratio | undefined): number | null {
  return (ratio && percentOf(ratio)) ?? null;
}
