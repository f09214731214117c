/** The report of a deduplication as one page of HTML. */
import { formatPage, type PageSection } from "../../markup/index.ts";
import {
  acrossSection,
  beforeAfter,
  copiesSection,
  doneSection,
  headlineOf,
  keptSection,
  largestSection,
  totalsTables,
} from "./sections.ts";
import type { DedupReport, OtherFiles, Share } from "./shape.ts";
import { fileTable, shareTable } from "./tables.ts";

/** The text of `report.html`. */
export function formatReportHtml(report: DedupReport): string {
  return formatPage({
    kind: "deduplication report",
    ...headlineOf(report.totals),
    figure: beforeAfter(report.totals),
    sections: sectionsOf(report),
    footer: "The same figures are in report.json, for programs. Sizes are in thousands: 1 kB is 1,000 bytes.",
  });
}

function sectionsOf(report: DedupReport): PageSection[] {
  const { totals } = report;
  const savedBytes = totals.replacedBytesBefore - totals.replacedBytesAfter;
  const { records, recordBytes, payloadBytes, duplicates, duplicateBytes, replaced } = totals;
  const share: Share = { records, recordBytes, payloadBytes, duplicates, duplicateBytes, replaced, savedBytes };
  const files: OtherFiles = { ...totals, records: totals.fileRecords };
  return [
    { id: "totals", title: "In figures", body: totalsTables(totals) },
    {
      id: "files",
      title: "By file",
      body: fileTable(report.byFile, files),
    },
    {
      id: "mimes",
      title: "By media type",
      body: shareTable(report.byMime, share, {
        caption: "Bytes saved by media type, the largest first",
        title: "media type",
        none: "none told",
        noun: ["media type", "media types"],
        kind: "bars",
      }),
    },
    {
      id: "hosts",
      title: "By host",
      body: shareTable(report.byHost, share, {
        caption: "Bytes saved by host, the largest first",
        title: "host",
        none: "no host",
        noun: ["host", "hosts"],
        kind: "bars",
      }),
    },
    {
      id: "years",
      title: "By year of capture",
      body: shareTable(report.byYear, share, {
        caption: "Bytes saved by year of capture",
        title: "year",
        none: "no date",
        noun: ["year", "years"],
        kind: "bars short",
        rowsOpen: 100,
      }),
    },
    {
      id: "across",
      title: "Across time and across location",
      intro: "A payload comes back at the same URL, or turns up at another.",
      body: acrossSection(report),
    },
    {
      id: "copies",
      title: "How often payloads occur",
      body: copiesSection(report.copies),
    },
    { id: "largest", title: "The largest duplicates", body: largestSection(report.largest) },
    {
      id: "kept",
      title: "What was kept, and why",
      intro: "Not every record can be replaced, or be one that others refer to.",
      body: keptSection(report),
    },
    { id: "done", title: "What was done", body: doneSection(report) },
  ];
}
