/**
 * A report as one page of HTML: no script, no link to elsewhere, nothing loaded, and a policy in it that forbids all
 * three. Texts out of archives are shown as text only.
 */
import { createHash } from "node:crypto";
import { PATTERNS } from "./charts.ts";
import { html, Markup } from "./markup.ts";
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
import { REPORT_STYLE } from "./style.ts";
import { fileTable, shareTable } from "./tables.ts";

interface Section {
  readonly id: string;
  readonly title: string;
  readonly intro?: string | undefined;
  readonly body: Markup;
}

/** The text of `report.html`. */
export function formatReportHtml(report: DedupReport): string {
  const { title, lead } = headlineOf(report.totals);
  const sections = sectionsOf(report);
  // Only this very style sheet is allowed, so that no text that got past the escapes could bring one of its own.
  const styleHash = createHash("sha256").update(REPORT_STYLE).digest("base64");
  const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title} \u2013 deduplication report</title>
<style>${new Markup(REPORT_STYLE)}</style>
</head>
<body>
${PATTERNS}
<header class="page">
<p class="eyebrow">Holotype deduplication report</p>
<h1>${title}</h1>
<p class="lead">${lead}</p>
${beforeAfter(report.totals)}
<nav aria-label="Sections"><ul>${sections.map(({ id, title: name }) => html`<li><a href="#${id}">${name}</a></li>`)}</ul></nav>
</header>
<main>
${sections.map(formatSection)}
</main>
<footer class="page"><p>The same figures are in report.json, for programs. Sizes are in thousands: 1 kB is 1,000 bytes.</p></footer>
</body>
</html>
`;
  return page.text;
}

function formatSection({ id, title, intro, body }: Section): Markup {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${intro === undefined ? undefined : html`<p>${intro}</p>`}
${body}
</section>
`;
}

function sectionsOf(report: DedupReport): Section[] {
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
