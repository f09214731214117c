/** What a fetch job came to: the report of the DeDuplicator, and before it what was asked, answered and predicted. */
import { join } from "node:path";
import { type DigestReport, formatReportPage, reportSettings, shapeReport } from "../digests/index.ts";
import { createDurably, type Disk } from "../disk/index.ts";
import { dataTable, formatBytes, formatNumber, html, type Markup, type PageSection } from "../markup/index.ts";
import type { FetchSettings } from "./fetch-settings.ts";
import type { RetrievalCounts, RetrievalTally } from "./retrieval-tally.ts";

export interface FetchFigures extends RetrievalCounts {
  readonly scheme: string;
  readonly by: string;
  /** The share that was fetched in full, from 0 to 1. */
  readonly audit: number;
  /** URLs that are not done. */
  readonly left: number;
  /** Captures that an archive took in this run. */
  readonly added: number;
}

export interface FetchReport extends DigestReport {
  readonly fetch: FetchFigures;
}

export function fetchReport(
  tally: RetrievalTally,
  settings: FetchSettings,
  { left, added, against }: { readonly left: number; readonly added: number; readonly against: string },
): FetchReport {
  const captures = tally.counts.retrievals - tally.counts.outcomes.failed;
  const sources = { files: 0, captures, skipped: 0, brokenLines: 0 };
  const report = shapeReport(tally, reportSettings({ ...settings.matching }, against), sources);
  const { scheme, by, audit } = settings;
  return {
    ...report,
    // Without an audit nothing was tried.
    headers: report.headers.filter(({ analysed }) => analysed > 0),
    fetch: { ...tally.counts, scheme, by, audit, left, added },
  };
}

/** Leaves `report.json` and `report.html` in the folder of the job. */
export function writeFetchReport(disk: Disk, folder: string, report: FetchReport): void {
  const write = (name: string, text: string) =>
    createDurably(disk, join(folder, name), (output) => output.write(Buffer.from(text)), { replace: true });
  write("report.json", `${JSON.stringify(report, undefined, 2)}\n`);
  write("report.html", formatReportPage(report, [fetchSection(report.fetch)]));
}

/** What became of the URLs, as lines of a table. */
export function fetchRows(figures: FetchFigures): [what: string, count: number, meaning: string][] {
  const { outcomes, asked, revisits, audited, redirects, again, left, added } = figures;
  const rows: [string, number, string][] = [
    ["URLs", figures.retrievals, "done"],
    ["stored", outcomes.stored, "responses with contents that were not known, or may not be compared"],
    ["duplicates", outcomes.duplicate, "answers with a known content: revisits"],
    ["asked", asked.any, "requests on condition that the document has changed"],
    ["not modified", outcomes["not-modified"], "answered 304: revisits, and no body was sent"],
    ["unasked", outcomes.unasked, "answered 304 to a request without a condition; stored as they are"],
    ["predicted", outcomes.predicted, "unchanged by their headers, and not read: predictions, not captures"],
    ["audited", audited, "fetched in full whatever is known"],
    ["proven", revisits.proven, "revisits whose originals were read or written by this job"],
    ["held", revisits.held, "revisits whose originals an archive vouches for"],
    ["claimed", revisits.claimed, "revisits whose originals only an index tells of"],
    ["redirects", redirects, "followed"],
    ["again", again, "fetched again, since a crash came between capture and log"],
    ["failed", outcomes.failed, "no answer; run the same command again to retry them"],
    ["left", left, "not fetched yet"],
    ["added", added, "captures that the archive took"],
  ];
  return rows.filter(([what, count]) => count > 0 || what === "URLs" || what === "stored");
}

function fetchSection(figures: FetchFigures): PageSection {
  const { scheme, by, audit, received, spared } = figures;
  const how = by === "abort" ? "reading headers, and aborting" : "conditional requests";
  const intro = `By ${how}, scheme ${scheme}; ${formatShare(audit)} fetched in full. ${formatBytes(received)} received, ${formatBytes(spared)} of payloads spared.`;
  return { id: "fetch", title: "What became of the URLs", intro, body: fetchTables(figures) };
}

function fetchTables(figures: FetchFigures): Markup {
  const counted = (caption: string, counts: Readonly<Record<string, number>>) =>
    Object.keys(counts).length === 0
      ? undefined
      : dataTable({
          caption,
          kind: "plain",
          titles: ["what", "URLs"],
          rows: Object.entries(counts).map(([head, count]) => ({ head, cells: [formatNumber(count)] })),
        });
  const rows = fetchRows(figures).map(([what, count, meaning]) => ({
    head: html`${what}<span class="fine">${meaning}</span>`,
    cells: [formatNumber(count)],
  }));
  return html`${dataTable({ caption: "Outcomes", kind: "plain", titles: ["what", "URLs"], rows })}
${counted("Failures", figures.failures)}${counted("Answers that were cut off", figures.truncated)}${counted("Oddities of answers", figures.flaws)}`;
}

function formatShare(share: number): string {
  return `${Number((100 * share).toFixed(2))} %`;
}
