import { ArchiveError, isDamage, type Warning } from "../base/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { type Estimate, type SkippedInput, type SurveyReport, surveyInputs } from "../pipeline/index.ts";
import { type Command, parseCount, requireFiles } from "./command.ts";
import { THREADS_OPTION, takeInputs } from "./survey-run.ts";
import { formatCount, formatNumber, formatSize, ProgressLine, tellSkipped, WarningTeller } from "./talk.ts";

const THREADS_MAX = 256;
const SEED_MAX = 2 ** 48;
/** With fewer contents the interval says more about the sample than about the files. */
const CLUSTERS_FEW = 30;

export const survey: Command = {
  name: "survey",
  purpose: "Estimate how much deduplication would save, without decoding everything.",
  usage: "FILE… [--sample 10%]",
  details: `Opens every record, and reads those in full whose content is in the sample. The content itself decides about that,
so all copies of it are in the sample or none, in whatever files they lie. Each figure comes with a 95 % interval. With
--sample all everything is read, and the figures are exact.`,
  options: {
    sample: { type: "string", value: "SHARE", help: "contents to read in full: 10%, 0.1 or all", default: "10%" },
    seed: { type: "string", value: "N", help: "take another sample", default: "1" },
    json: { type: "boolean", help: "print one object; warnings and errors as JSON too" },
    ...THREADS_OPTION,
  },
  exits: "3 some inputs were skipped · 4 damage was met",
  examples: ["holotype survey samples", "holotype survey --sample all --json samples"],
  async run(args) {
    const json = args.flag("json");
    const sample = parseShare("sample", args.text("sample") ?? "");
    const seed = parseCount("seed", args.text("seed") ?? "", 0, SEED_MAX);
    const threads = parseCount("threads", args.text("threads") ?? "", 1, THREADS_MAX);
    const files = requireFiles(survey, args);
    const progress = new ProgressLine();
    let skipped = 0;
    let damage = 0;
    const warnings = new WarningTeller(json);
    const onSkip = (input: SkippedInput) => {
      skipped++;
      progress.clear();
      tellSkipped(input, json);
    };
    const onWarning = (warning: Warning) => {
      if (!isDamage(warning)) return;
      damage++;
      progress.clear();
      warnings.tell(warning);
    };
    const inputs = takeInputs(files, onSkip);
    const options = { sample, seed, threads, onWarning, onSkip, onProgress: progress.update };
    const report = await surveyInputs(nodeDisk, inputs, options);
    progress.clear();
    writeStandardOutput(json ? `${JSON.stringify(report, roundFigure)}\n` : formatReport(report));
    return damage > 0 ? 4 : skipped > 0 ? 3 : 0;
  },
};

function parseShare(name: string, value: string): number {
  const [, number, percent] = /^(\d+(?:\.\d*)?|\.\d+) ?(%?)$/.exec(value) ?? [];
  const share = value === "all" ? 1 : number === undefined ? Number.NaN : Number(number) / (percent === "%" ? 100 : 1);
  if (share > 0 && share <= 1) return share;
  throw new ArchiveError("HT_USAGE", `--${name} takes a share such as 10%, 0.1 or all, not ${value}`);
}

/** Fractions of a byte or a record are nobody's; those of a share are. */
function roundFigure(_key: string, value: unknown): unknown {
  if (typeof value !== "number") return value;
  return Math.abs(value) <= 1 ? Number(value.toFixed(6)) : Math.round(value);
}

type Row = readonly [label: string, value: string, interval: string, share: string];

function formatReport(report: SurveyReport): string {
  const { sample, duplicates, sameUrl, otherUrl, saved } = report;
  const responses = formatCount(report.responses, "response");
  const decoded = formatPercent(report.contentBytes === 0 ? 0 : report.decodedBytes / report.contentBytes);
  const took = sample.rate === 1 ? "all contents" : `${formatPercent(sample.rate)} of the contents`;
  const rows: Row[] = [
    ["", "estimate", "95 % interval", ""],
    countRow("duplicates", duplicates.records, `${formatShare(duplicates.recordsRate)} of the responses`),
    countRow("  across time: the same URL", sameUrl.records, ""),
    countRow("  across location: another URL", otherUrl.records, ""),
    sizeRow("bytes of duplicates", duplicates.bytes, `${formatShare(duplicates.bytesRate)} of all bytes`),
    sizeRow("bytes saved", saved, `${formatShare(report.savedRate)} of all bytes`),
    sizeRow("  across time", sameUrl.saved, ""),
    sizeRow("  across location", otherUrl.saved, ""),
    sizeRow("bytes after it", report.after, `of ${formatSize(report.bytes)}`),
  ];
  const lines = [
    `${formatCount(report.files, "file")}, ${formatCount(report.records, "record")}, ${responses}`,
    `${formatSize(report.bytesRead)} read of ${formatSize(report.bytes)}; ${decoded} of the content decoded`,
    `sample: ${took}, ${formatCount(sample.clustersRead, "group")} of ${formatNumber(sample.clusters)}, ` +
      `${formatCount(sample.recordsRead, "record")} read in full`,
    "",
    ...formatTable(rows),
    ...formatFixed(report),
    ...formatRemarks(report).map((remark) => `\n${remark}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** What cannot be replaced where it lies, and what to do about it. */
function formatFixed({ fixed, arcFiles, waczFiles }: SurveyReport): string[] {
  const tell = ({ records, bytes }: SurveyReport["fixed"]["arc"], files: string, way: string) => {
    if (Math.round(records.high) === 0) return [];
    const range = records.low === records.high ? "" : ` (${roundedRange(records)})`;
    const count = formatCount(Math.round(records.value), "duplicate");
    return [`\n${count}${range} more, ${formatSize(Math.round(bytes.value))}, in ${files}; ${way}`];
  };
  return [
    ...tell(fixed.arc, formatCount(arcFiles, "ARC file"), "holotype convert rewrites them as WARC, for dedup"),
    ...tell(fixed.wacz, formatCount(waczFiles, "WARC file of a WACZ", "WARC files of WACZ"), "unpack those for dedup"),
  ];
}

function roundedRange({ low, high }: Estimate): string {
  return `${formatNumber(Math.round(low))} – ${formatNumber(Math.round(high))}`;
}

function countRow(label: string, estimate: Estimate, share: string): Row {
  return [label, formatNumber(Math.round(estimate.value)), roundedRange(estimate), share];
}

function sizeRow(label: string, { value, low, high }: Estimate, share: string): Row {
  const size = (figure: number) => formatSize(Math.round(figure));
  return [label, size(value), `${size(low)} – ${size(high)}`, share];
}

function formatTable(rows: readonly Row[]): string[] {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]!.length));
  const [labels, values, intervals] = [width(0), width(1), width(2)];
  return rows.map(([label, value, interval, share]) =>
    `${label.padEnd(labels)}  ${value.padStart(values)}  ${interval.padStart(intervals)}  ${share}`.trimEnd(),
  );
}

function formatPercent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function formatShare({ value, low, high }: Estimate): string {
  const range = `${(low * 100).toFixed(1)} – ${formatPercent(high)}`;
  return low === high ? formatPercent(value) : `${formatPercent(value)} (${range})`;
}

function formatRemarks(report: SurveyReport): string[] {
  const { sample, kept } = report;
  const remarks: string[] = [];
  const reasons = Object.entries(kept).map(([reason, count]) => `${formatNumber(count)} ${reason}`);
  if (reasons.length > 0) remarks.push(`kept as they are, about: ${reasons.join(", ")}`);
  if (sample.rate < 1 && sample.clusters > 0 && sample.clustersRead < CLUSTERS_FEW)
    remarks.push("The sample is small, so the intervals are wide; --sample all reads everything.");
  return remarks;
}
