/** What `fetch` says while it works, and at its end. */
import type { Warning } from "../base/index.ts";
import { type FetchProgress, type FetchResult, fetchRows, type Retrieval, retrievalJson } from "../crawl/index.ts";
import { formatReportText } from "../digests/index.ts";
import { writeStandardError, writeStandardOutput } from "../disk/index.ts";
import { FAILURES, type FailureCode } from "../http/index.ts";
import { escapeControls, formatNumber, formatSize, say, WarningTeller } from "./talk.ts";

const REDRAW_MS = 200;
const CLEAR = "\r\x1b[K";

export class FetchTalk {
  private readonly json: boolean;
  private readonly warnings: WarningTeller;
  private drawnMs = 0;
  private shown = false;

  constructor(json: boolean) {
    this.json = json;
    this.warnings = new WarningTeller(json, "… and more");
  }

  readonly retrieval = (retrieval: Retrieval, progress: FetchProgress): void => {
    if (this.json) writeStandardOutput(`${JSON.stringify(retrievalJson(retrieval))}\n`);
    else if (retrieval.outcome === "failed") {
      this.clear();
      say(`failed ${retrieval.uri}: ${explainFailure(retrieval.failure)}`);
    }
    const now = performance.now();
    if (!process.stderr.isTTY || now - this.drawnMs < REDRAW_MS) return;
    this.drawnMs = now;
    this.shown = true;
    const line = `${formatNumber(progress.done)} of ${formatNumber(progress.total)}  ${retrieval.outcome}  ${retrieval.uri}`;
    writeStandardError(CLEAR + escapeControls(line).slice(0, (process.stderr.columns ?? 80) - 1));
  };

  readonly warn = (warning: Warning): void => {
    this.clear();
    this.warnings.tell(warning);
  };

  clear(): void {
    if (this.shown) writeStandardError(CLEAR);
    this.shown = false;
  }

  /** The figures of the whole job. They are talk, unless they were asked for as data. */
  report({ report }: FetchResult): void {
    if (this.json) {
      writeStandardOutput(`${JSON.stringify({ report })}\n`);
      return;
    }
    const { fetch } = report;
    const rows = fetchRows(fetch).map(([what, count, meaning]) => [what, formatNumber(count), meaning]);
    const width = Math.max(...rows.map(([, count]) => count!.length));
    const lines = rows.map(([what, count, meaning]) => `${what!.padEnd(14)}${count!.padStart(width)}  ${meaning}`);
    // A table of many hosts is for the page.
    const figures = report.totals.handled === 0 ? "" : `\n${formatReportText({ ...report, hosts: undefined })}`;
    const bytes = `${formatSize(fetch.received)} received, ${formatSize(fetch.spared)} of payloads spared`;
    writeStandardError(`${lines.join("\n")}\n${bytes}\n${figures}`);
  }
}

/** The option that helps, where there is one. */
const REMEDIES: Readonly<Partial<Record<string, string>>> = {
  "address-refused": "--allow-private",
  "dns-timeout": "--timeout",
  "connect-timeout": "--timeout",
  "answer-timeout": "--timeout",
  "tls-timeout": "--timeout",
  "tls-self-signed": "--insecure",
  "tls-expired": "--insecure",
  "tls-name": "--insecure",
  "tls-untrusted": "--insecure",
};

/** `the host name has no address (dns)`. */
function explainFailure(code = ""): string {
  const { meaning } = FAILURES[code as FailureCode] ?? {};
  if (meaning === undefined) return code;
  const remedy = REMEDIES[code] === undefined ? "" : `; see ${REMEDIES[code]}`;
  return `${meaning[0]!.toLowerCase()}${meaning.slice(1, -1)} (${code}${remedy})`;
}
