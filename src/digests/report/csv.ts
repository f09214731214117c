/** The report as a table for spreadsheets: one row for all, and one for each host and media type. */
import { HEADER_SCHEMES, type HeaderCounts } from "../../dedup/index.ts";
import { csvField } from "../../markup/index.ts";
import type { DigestReport, DuplicateFigures, GroupReport, HeaderReport } from "./shape.ts";

const FIGURES = [
  "handled",
  "duplicates",
  "bytes",
  "duplicateBytes",
  "responseBytes",
  "duplicateResponseBytes",
  "new",
  "exact",
  "equivalent",
  "mirror",
] as const satisfies readonly (keyof DuplicateFigures)[];
const COUNTS = [
  "changeCorrectly",
  "changeFalsely",
  "nonChangeCorrect",
  "nonChangeFalsely",
  "missing",
  "unreadable",
] as const satisfies readonly (keyof HeaderCounts)[];

/** Lines end as RFC 4180 has it. */
export function formatReportCsv(report: DigestReport): string {
  const schemes = HEADER_SCHEMES.filter((scheme) => report.headers.some((each) => each.scheme === scheme));
  const titles = schemes.flatMap((scheme) => COUNTS.map((count) => `${scheme} ${count}`));
  const cells = (figures: DuplicateFigures, headers: readonly HeaderReport[] = []) => [
    ...FIGURES.map((figure) => String(figures[figure])),
    ...schemes.flatMap((scheme) => {
      const counts = headers.find((each) => each.scheme === scheme)?.counts;
      return COUNTS.map((count) => (counts === undefined ? "" : String(counts[count])));
    }),
  ];
  const group = (kind: string) => (each: GroupReport) => [kind, csvField(each.name), ...cells(each, each.headers)];
  const rows = [
    ["group", "name", ...FIGURES, ...titles],
    ["all", "", ...cells(report.totals, report.headers)],
    ...(report.hosts ?? []).map(group("host")),
    ...report.mimes.map(group("media type")),
  ];
  return rows.map((row) => `${row.join(",")}\r\n`).join("");
}
