import { ArchiveError, isDamage, type Warning } from "../base/index.ts";
import {
  ANALYSIS_MODES,
  type AnalysisMode,
  type DeduplicatorSettings,
  HEADER_SCHEMES,
  LOG_LEVELS,
  type MimeFilter,
} from "../dedup/index.ts";
import { DigestIndex, formatReportCsv, formatReportPage, formatReportText, reportOn } from "../digests/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import type { SkippedInput } from "../pipeline/index.ts";
import { type Arguments, type Command, parseChoice, requireFiles } from "./command.ts";
import { endOnInterruption } from "./interruption.ts";
import { accessOfNames, writeReport } from "./output-access.ts";
import { say, tellSkipped, WarningTeller } from "./talk.ts";

const LINES_SHOWN_MAX = 20;

export const digestsReport: Command = {
  name: "digests report",
  purpose: "Report how much of a crawl was known, and how reliable its headers were.",
  usage: "FILE… --against INDEX",
  details: `Writes the DeDuplicator's report without crawling. FILE is a crawl.log, a WARC, ARC or WACZ file, or a folder of these;
- is a crawl.log on standard input. Headers are analysed in archive files only: a crawl.log does not have them.
To report as the paper does, add: --equivalent --mime-regex '^text/.*' --last-modified captured`,
  options: {
    against: { type: "string", value: "INDEX", help: "the digest index of what is known" },
    matching: { type: "string", value: "BY", help: "look up by url or digest", default: "url" },
    equivalent: { type: "boolean", help: "try equivalent URLs too (ignores www. and parameters)" },
    mirrors: { type: "boolean", help: "count content known from another URL as a duplicate" },
    mime: { type: "string", value: "PATTERN", multiple: true, help: "media types for --filter, such as text/*" },
    "mime-regex": { type: "string", value: "RE", help: "the same as a regular expression, such as '^text/.*'" },
    filter: { type: "string", value: "MODE", help: "blacklist or whitelist those types", default: "blacklist" },
    analysis: { type: "string", value: "MODE", help: "headers: timestamp, etag, both, all or none", default: "both" },
    scheme: { type: "string", value: "NAME", multiple: true, help: "only datestamp, etag, both or either" },
    "last-modified": { type: "string", value: "WITH", help: "compare with stored or captured", default: "stored" },
    errors: { type: "boolean", help: "handle answers with a status of 400 and more too" },
    "per-host": { type: "boolean", help: "count by host too" },
    html: { type: "string", value: "FILE", help: "write the report as a page too" },
    csv: { type: "string", value: "FILE", help: "write the report as a table too" },
    "log-level": { type: "string", value: "LEVEL", help: "off, warning, info or debug", default: "off" },
    json: { type: "boolean", help: "print one object; warnings and errors as JSON too" },
  },
  exits: "3 some files were skipped · 4 damage, or unreadable lines · 20 no index",
  examples: [
    "holotype digests build samples/cabinet-2013.warc.gz -o /tmp/d --equivalent --etag",
    "holotype digests report samples/cabinet-2018.warc.gz --against /tmp/d --equivalent --per-host",
  ],
  run,
};

async function run(args: Arguments): Promise<number> {
  const files = requireFiles(digestsReport, args);
  const against = args.text("against");
  if (against === undefined) throw new ArchiveError("HT_USAGE", "no index given: --against INDEX says what is known");
  const json = args.flag("json");
  const settings = parseSettings(args, json);
  const talk = new ReportTalk(json);
  using _ = endOnInterruption(() => {});
  await using index = DigestIndex.open(nodeDisk, against);
  const { onSkip, onWarning, onBrokenLine } = talk;
  const options = { against, onSkip, onWarning, onBrokenLine };
  const report = await reportOn(nodeDisk, files, { ...settings, index }, options);
  const [html, csv] = [args.text("html"), args.text("csv")];
  const access = await accessOfNames([...files, against]);
  if (html !== undefined) writeReport(html, formatReportPage(report), access);
  if (csv !== undefined) writeReport(csv, formatReportCsv(report), access);
  writeStandardOutput(json ? `${JSON.stringify(report)}\n` : formatReportText(report));
  return talk.exit;
}

function parseSettings(args: Arguments, json: boolean): Omit<DeduplicatorSettings, "index"> {
  const choice = <T extends string>(name: string, choices: readonly T[]): T =>
    parseChoice(name, args.text(name), choices);
  const schemes = args.list("scheme").map((name) => parseChoice("scheme", name, HEADER_SCHEMES));
  const mode = choice("analysis", Object.keys(ANALYSIS_MODES) as AnalysisMode[]);
  return {
    matching: choice("matching", ["url", "digest"] as const),
    tryEquivalent: args.flag("equivalent"),
    mirrors: args.flag("mirrors") ? "duplicates" : "counted",
    mimeFilter: parseFilter(args, choice("filter", ["blacklist", "whitelist"])),
    analysis: schemes.length > 0 ? [...new Set(schemes)] : mode,
    dateReference: choice("last-modified", ["stored", "captured"] as const),
    errors: args.flag("errors"),
    statsPerHost: args.flag("per-host"),
    logLevel: choice("log-level", LOG_LEVELS),
    onLog: (line) => say(json ? JSON.stringify({ log: line }) : `${line.level}: ${line.uri}: ${line.message}`),
  };
}

function parseFilter(args: Arguments, mode: MimeFilter["mode"]): MimeFilter | undefined {
  const [patterns, expression] = [args.list("mime"), args.text("mime-regex")];
  if (patterns.length === 0 && expression === undefined) return undefined;
  return { mode, expression, ...(patterns.length === 0 ? {} : { patterns }) };
}

/** Says what could not be read, and keeps the exit code that follows from it. */
class ReportTalk {
  exit = 0;
  private readonly json: boolean;
  private readonly warnings: WarningTeller;
  private lines = 0;

  constructor(json: boolean) {
    this.json = json;
    this.warnings = new WarningTeller(json);
  }

  readonly onSkip = (skipped: SkippedInput): void => {
    this.exit = Math.max(this.exit, 3);
    tellSkipped(skipped, this.json);
  };

  readonly onWarning = (warning: Warning): void => {
    if (!isDamage(warning)) return;
    this.exit = 4;
    this.warnings.tell(warning);
  };

  readonly onBrokenLine = (name: string, line: number): void => {
    this.exit = 4;
    this.lines++;
    if (this.json) say(JSON.stringify({ fault: { file: name, line, message: "not a line of a crawl.log" } }));
    else if (this.lines <= LINES_SHOWN_MAX) say(`${name}:${line}: not a line of a crawl.log`);
    else if (this.lines === LINES_SHOWN_MAX + 1) say("… and more; --json tells all");
  };
}
