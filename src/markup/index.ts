/** What reports and pages are drawn with: markup that cannot be forged, numbers and foreign texts, bars, the style. */

export { type Calendar, calendarTable, type MonthCount } from "./calendar.ts";
export { type BarPart, chartBar, legend, PATTERNS } from "./charts.ts";
export { type Column, columnChart } from "./columns.ts";
export { csvField, csvLine } from "./csv.ts";
export {
  formatAmount,
  formatBytes,
  formatForeign,
  formatNumber,
  formatShare,
  formatSpan,
  shorten,
} from "./format.ts";
export { type Lane, type LaneBar, lanesChart, lanesLegend } from "./lanes.ts";
export { escapeHtml, foreign, html, Markup, type MarkupValue } from "./markup.ts";
export { formatPage, type PageSection } from "./page.ts";
export { PAGES_STYLE } from "./pages-style.ts";
export { REPLAY_STYLE } from "./replay-style.ts";
export { barHead, dataTable, furtherRows, size, type TableRow } from "./tables.ts";
export { formatDay, formatDuration, formatSecond, timeOf } from "./times.ts";
export { VIEWS_STYLE } from "./views-style.ts";
