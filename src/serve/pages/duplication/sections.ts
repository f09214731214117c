/** The parts of the page on duplication, in the order in which they are read. */
import type { Duplication, NamedFigures, RepeatedContent } from "../../../archive/index.ts";
import { formatTimestamp } from "../../../base/index.ts";
import {
  type BarPart,
  barHead,
  chartBar,
  columnChart,
  dataTable,
  foreign,
  formatAmount,
  formatBytes,
  formatDay,
  formatNumber,
  formatShare,
  html,
  legend,
  type Markup,
  type MarkupValue,
  size,
  type TableRow,
} from "../../../markup/index.ts";
import { fileName } from "../../api/rows.ts";
import type { PageLinks } from "../links.ts";
import { growthOf } from "./growth.ts";
import { acrossRows, bySaved, type DuplicationTable, savedOf } from "./tables.ts";

const ROWS_OPEN = 10;
const ROWS_SHOWN = 100;

const BYTES_LEGEND = legend([
  ["kept", "kept: stored once"],
  ["saved", "saved: seen again, not stored again"],
]);

export function headline({ total }: Duplication): Markup {
  const { captures, contents, bytesSeen, bytesKept } = total;
  const saved = bytesSeen - bytesKept;
  const title = saved > 0 ? `${formatShare(saved, bytesSeen)} saved` : "Nothing saved yet";
  const bar = (what: string, label: string, value: number, parts: readonly BarPart[]) =>
    html`<div class="pair"><span class="what">${what}</span><div class="bar">${chartBar(label, parts, bytesSeen)}</div><span class="value">${formatBytes(value)}</span></div>`;
  return html`<div class="head"><p class="eyebrow">Duplication</p><h1>${title}</h1>
<p class="lead">${formatAmount(captures, "capture")} saw ${formatBytes(bytesSeen)} of content. ${formatAmount(contents, "distinct content")} had to be stored: ${formatBytes(bytesKept)}.</p>
<figure>${bar("seen", `Seen: ${formatBytes(bytesSeen)}`, bytesSeen, [{ value: bytesSeen, fill: "kept" }])}
${bar("kept", `Kept: ${formatBytes(bytesKept)}, ${formatBytes(saved)} saved`, bytesKept, [
  { value: bytesKept, fill: "kept" },
  { value: saved, fill: "saved" },
])}${BYTES_LEGEND}</figure></div>
`;
}

function section(id: DuplicationTable, title: string, links: PageLinks, intro: string, body: MarkupValue): Markup {
  const csv = links.query("duplication", { format: "csv", table: id });
  return html`<section id="${id}" aria-labelledby="${id}-title">
<div class="titled"><h2 id="${id}-title">${title}</h2><a class="csv" href="${csv}">CSV<span class="unseen"> of ${title}</span></a></div>
<p>${intro}</p>
${body}</section>
`;
}

export function growthSection({ months, total }: Duplication, links: PageLinks): Markup | undefined {
  const steps = growthOf(months);
  const last = steps.at(-1);
  if (last === undefined) return undefined;
  const columns = steps.map(({ name, bytesSeen, bytesKept }) => ({
    label: name,
    parts: [
      { value: bytesKept, fill: "kept" as const },
      { value: bytesSeen - bytesKept, fill: "saved" as const },
    ],
  }));
  const label = `Bytes seen and kept by date of capture: ${formatBytes(last.bytesSeen)} seen and ${formatBytes(last.bytesKept)} kept by ${last.name}`;
  const table = dataTable({
    caption: "Bytes seen and kept up to each date",
    kind: "plain",
    titles: ["up to", "seen", "kept", "saved", "share"],
    rows: steps.map((step) => ({
      head: step.name,
      cells: [
        size(step.bytesSeen),
        size(step.bytesKept),
        size(savedOf(step)),
        formatShare(savedOf(step), step.bytesSeen),
      ],
    })),
  });
  const body = html`<figure>${columnChart({ label, columns, format: formatBytes })}${BYTES_LEGEND}</figure>
<details><summary>The same as a table</summary>${table}</details>`;
  const rest = total.bytesSeen - last.bytesSeen;
  const left =
    rest > 0
      ? html`<p class="note">Without ${formatBytes(rest)} of captures that have no date, or one before 1990 or in the future.</p>`
      : undefined;
  const intro = "All that was captured up to each date, and what of it is stored.";
  return section("growth", "Growth", links, intro, [body, left]);
}

export function acrossSection(figures: Duplication, links: PageLinks): Markup {
  const words: Readonly<Record<string, string>> = {
    "across time": "Captured before at the same URL.",
    "across location": "Captured before only at other URLs: copies, mirrors, moved pages.",
    "original unknown": "The capture that brought the content was removed.",
  };
  const fills = { "across time": "saved", "across location": "third", "original unknown": "kept" } as const;
  const shown = acrossRows(figures).filter(([name, { captures }]) => name !== "original unknown" || captures > 0);
  const whole = shown.reduce((sum, [, { savedBytes }]) => sum + savedBytes, 0);
  const told = shown.map(([name, { savedBytes }]) => `${name} ${formatBytes(savedBytes)}`).join(", ");
  const parts = shown.map(([name, { savedBytes: value }]) => ({ value, fill: fills[name as keyof typeof fills] }));
  const rows = shown.map(([name, { captures, bytes, savedBytes }]): TableRow => {
    const cells = [formatNumber(captures), size(bytes), size(savedBytes), formatShare(savedBytes, whole)];
    return { head: [name, html`<span class="fine">${words[name]}</span>`], cells };
  });
  const table = dataTable({
    caption: "Captures of contents that were known already",
    kind: "plain",
    titles: ["duplicates", "captures", "seen", "saved", "share"],
    rows,
  });
  const body = html`<figure><div class="stack">${chartBar(`Bytes saved: ${told}`, parts, whole)}</div>${legend(shown.map(([name]) => [fills[name as keyof typeof fills], name] as const))}</figure>${table}`;
  const intro = "A content comes back at the URL of its original, or turns up at another one.";
  return section("across", "Across time and across location", links, intro, body);
}

interface GroupTable {
  readonly id: DuplicationTable;
  readonly title: string;
  readonly intro: string;
  readonly column: string;
  readonly noun: string;
  readonly head?: ((group: NamedFigures) => MarkupValue) | undefined;
  /** In the order in which they come, not by what they saved. */
  readonly inOrder?: boolean | undefined;
}

export function groupSection(groups: readonly NamedFigures[], links: PageLinks, how: GroupTable): Markup | undefined {
  if (groups.length === 0) return undefined;
  const sorted = how.inOrder === true ? groups : bySaved(groups);
  const widest = groups.reduce((most, { bytesSeen }) => Math.max(most, bytesSeen), 0);
  const nameOf = how.head ?? (({ name }: NamedFigures) => (name === "-" ? foreign(undefined) : foreign(name)));
  const row = (group: NamedFigures): TableRow => {
    const { captures, contents, bytesSeen, bytesKept } = group;
    const parts: BarPart[] = [
      { value: bytesKept, fill: "kept" },
      { value: bytesSeen - bytesKept, fill: "saved" },
    ];
    const cells = [
      formatNumber(captures),
      formatNumber(contents),
      size(bytesSeen),
      size(bytesSeen - bytesKept),
      formatShare(bytesSeen - bytesKept, bytesSeen),
    ];
    return { head: barHead(nameOf(group), parts, widest), cells };
  };
  const table = (rows: readonly NamedFigures[], caption: string) =>
    dataTable({
      caption,
      kind: "bars",
      titles: [how.column, "captures", "contents", "seen", "saved", "share"],
      rows: rows.map(row),
    });
  const caption = `Bytes kept and saved by ${how.column}${how.inOrder === true ? "" : ", those that saved most first"}`;
  const open = how.inOrder === true ? ROWS_SHOWN : ROWS_OPEN;
  const further = sorted.slice(open, ROWS_SHOWN);
  const rest = sorted.length - Math.max(open, Math.min(sorted.length, ROWS_SHOWN));
  const more = [
    further.length === 0
      ? undefined
      : html`<details><summary>${formatNumber(further.length)} more ${how.noun}</summary>${table(further, `More ${how.noun}`)}</details>`,
    rest > 0 ? html`<p class="note">${formatNumber(rest)} more ${how.noun} are in the CSV.</p>` : undefined,
  ];
  return section(how.id, how.title, links, how.intro, [table(sorted.slice(0, open), caption), more]);
}

export function groupSections(figures: Duplication, links: PageLinks): (Markup | undefined)[] {
  const crawl = (group: NamedFigures) => foreign(group.name === "-" ? undefined : fileName(group.name));
  return [
    groupSection(figures.mimes, links, {
      id: "mime",
      title: "By media type",
      intro: "Bars are to one scale: grey is stored, hatched was seen again.",
      column: "media type",
      noun: "media types",
    }),
    groupSection(figures.crawls, links, {
      id: "crawl",
      title: "By crawl",
      intro: "Each file that was added, in order. A content counts for the file that brought it.",
      column: "file",
      noun: "files",
      head: crawl,
      inOrder: true,
    }),
    groupSection(figures.hosts, links, {
      id: "host",
      title: "By host",
      intro: "A content that several hosts share counts for the one that has it first.",
      column: "host",
      noun: "hosts",
      head: ({ name }) =>
        name === "-" || name === "other" ? name : html`<a href="${links.site(name)}">${foreign(name)}</a>`,
    }),
    groupSection(figures.years, links, {
      id: "year",
      title: "By year",
      intro: "Years of capture.",
      column: "year",
      noun: "years",
      inOrder: true,
    }),
  ];
}

export function repeatedSections({ mostSaved, mostSeen }: Duplication, links: PageLinks): (Markup | undefined)[] {
  return [
    repeatedSection("saved", "Contents that saved most", mostSaved, links),
    repeatedSection("seen", "Contents seen most often", mostSeen, links),
  ];
}

const REPEATED_OPEN = 10;

function repeatedSection(
  id: "saved" | "seen",
  title: string,
  contents: readonly RepeatedContent[],
  links: PageLinks,
): Markup | undefined {
  if (contents.length === 0) return undefined;
  const table = (rows: readonly RepeatedContent[], caption: string) =>
    dataTable({
      caption,
      kind: "largest",
      titles: ["content", "where it was seen", "captures", "URLs", "size", "saved"],
      texts: [1],
      rows: rows.map((content) => repeatedRow(content, links)),
    });
  const further = contents.slice(REPEATED_OPEN);
  const more =
    further.length === 0
      ? undefined
      : html`<details><summary>${formatNumber(further.length)} more contents</summary>${table(further, `More contents, ${id === "saved" ? "by bytes saved" : "by captures"}`)}</details>`;
  const caption = id === "saved" ? "Those that saved most bytes first" : "Those with most captures first";
  const intro =
    id === "saved" ? "Stored once, for so many captures." : "However small they are: spacers, scripts, error pages.";
  return section(id, title, links, intro, [table(contents.slice(0, REPEATED_OPEN), caption), more]);
}

function repeatedRow(content: RepeatedContent, links: PageLinks): TableRow {
  const { sha256, mime, captures, urls, firstMs, lastMs, seenAt, savedBytes } = content;
  const days =
    firstMs === undefined || lastMs === undefined
      ? undefined
      : html`<span class="fine">${formatDay(firstMs)} to ${formatDay(lastMs)}</span>`;
  const head = [
    html`<a href="${links.query(`duplication/${sha256}`, {})}"><code>${sha256.slice(0, 12)}\u2026</code></a>`,
    html`<span class="fine">${foreign(mime)}</span>`,
    days,
  ];
  const places = seenAt.map(({ url, timeMs }) => {
    const target = timeMs === undefined ? links.timeline(url) : links.replay(formatTimestamp(timeMs), url);
    return html`<li><a href="${target}">${foreign(url, 90)}</a></li>`;
  });
  const rest =
    urls > seenAt.length ? html`<li class="note">${formatNumber(urls - seenAt.length)} more</li>` : undefined;
  const where = html`<ul class="places">${places}${rest}</ul>`;
  return { head, cells: [where, formatNumber(captures), formatNumber(urls), size(content.size), size(savedBytes)] };
}
