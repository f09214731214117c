/** The studies of crawls as one page of HTML, in the look of the report that `dedup` writes. */
import type { CrawlStudyResult, StudiedCrawl } from "../dedup/index.ts";
import {
  barHead,
  dataTable,
  foreign,
  formatAmount,
  formatBytes,
  formatDay,
  formatNumber,
  formatPage,
  formatShare,
  html,
  type Markup,
  type PageSection,
  size,
} from "../markup/index.ts";

/** Crawls with a table of their own; --json and --csv have all. */
const CRAWLS_SHOWN = 20;
const MIMES_SHOWN = 20;

export function formatCrawlsPage(study: CrawlStudyResult): string {
  const { crawls, contents, newBytes } = study;
  const pages = sum(crawls, "pages");
  const bytes = sum(crawls, "bytes");
  const repeated = formatShare(sum(crawls, "repeatedBytes"), bytes);
  return formatPage({
    kind: "report on crawls",
    title: `${repeated} of the bytes were there before`,
    lead: `${formatAmount(crawls.length, "crawl")} with ${formatAmount(pages, "page")} of ${formatBytes(bytes)} hold ${formatAmount(contents, "distinct content")} of ${formatBytes(newBytes)}.`,
    sections: sectionsOf(study),
    footer:
      "A page is a capture with a content. Sizes are of payloads, in thousands: 1 kB is 1,000 bytes. --json and --csv have the same figures, of every crawl.",
  });
}

function sum(crawls: readonly StudiedCrawl[], figure: "pages" | "bytes" | "repeatedBytes"): number {
  return crawls.reduce((total, crawl) => total + crawl[figure], 0);
}

function sectionsOf(study: CrawlStudyResult): PageSection[] {
  const { crawls, sameSizeChance } = study;
  const shown = crawls.slice(-CRAWLS_SHOWN);
  const sections: PageSection[] = [
    { id: "crawls", title: "Crawls", body: crawlsTable(crawls) },
    { id: "duplicates", title: "Duplicates and persistence", body: sharesTable(crawls) },
    {
      id: "earlier",
      title: "What each earlier crawl had",
      intro: "Pages of a crawl whose content an earlier crawl had.",
      body: html`${shown.filter(({ inEarlier }) => inEarlier.length > 0).map(earlierTable)}`,
    },
    { id: "mimes", title: "Media types", body: html`${shown.map(mimesTable)}` },
  ];
  if (sameSizeChance !== undefined)
    sections.push({
      id: "sizes",
      title: "Sizes",
      intro: "How well a size tells two contents apart that have one signature.",
      body: html`<p>Two different contents have the same size with a chance of ${sameSizeChance.toPrecision(3)}.</p>`,
    });
  return sections;
}

function crawlsTable(crawls: readonly StudiedCrawl[]): Markup {
  const largest = Math.max(0, ...crawls.map(({ bytes }) => bytes));
  return dataTable({
    caption: "Crawls in the order of their first captures; bars are bytes, new and there before",
    kind: "bars",
    titles: ["crawl", "first capture", "last capture", "files", "URLs", "pages", "bytes", "new contents", "new bytes"],
    texts: [1, 2],
    rows: crawls.map((crawl) => {
      const { name, firstMs, lastMs, files, urls, pages, bytes, newContents, newBytes, repeatedBytes } = crawl;
      const parts = [
        { value: newBytes, fill: "kept" },
        { value: repeatedBytes, fill: "saved" },
      ] as const;
      return {
        head: barHead(foreign(name), parts, largest),
        cells: [
          ...[firstMs, lastMs].map((timeMs) => (timeMs === undefined ? "\u2013" : formatDay(timeMs))),
          ...[files, urls, pages].map(formatNumber),
          size(bytes),
          formatNumber(newContents),
          size(newBytes),
        ],
      };
    }),
  });
}

function sharesTable(crawls: readonly StudiedCrawl[]): Markup {
  const share = (part: number | undefined, whole: number) => (part === undefined ? "\u2013" : formatShare(part, whole));
  return dataTable({
    caption: "Shares of pages, URLs and bytes",
    kind: "plain",
    titles: [
      "crawl",
      "pages that are duplicates within the crawl",
      "pages whose content the crawl before had",
      "URLs that the crawl before had",
      "pages without a new content",
      "bytes saved",
    ],
    rows: crawls.map((crawl) => ({
      head: foreign(crawl.name),
      cells: [
        share(crawl.duplicatesWithin, crawl.pages),
        share(crawl.inPrevious, crawl.pages),
        share(crawl.urlsInPrevious, crawl.urls),
        share(crawl.repeatedPages, crawl.pages),
        share(crawl.repeatedBytes, crawl.bytes),
      ],
    })),
  });
}

function earlierTable({ name, pages, inEarlier }: StudiedCrawl): Markup {
  return html`<h3>${foreign(name)}</h3>${dataTable({
    caption: "Pages whose content an earlier crawl had",
    kind: "bars",
    titles: ["earlier crawl", "pages", "share"],
    rows: inEarlier.map((each) => ({
      head: barHead(foreign(each.crawl), [{ value: each.pages, fill: "saved" }], pages),
      cells: [formatNumber(each.pages), formatShare(each.pages, pages)],
    })),
  })}`;
}

function mimesTable({ name, mimes, urls, bytes }: StudiedCrawl): Markup {
  return html`<h3>${foreign(name)}</h3>${dataTable({
    caption: "Media types by pages, the most frequent first; bars are bytes",
    kind: "bars",
    titles: ["media type", "URLs", "share of URLs", "pages", "bytes", "share of bytes"],
    rows: mimes.slice(0, MIMES_SHOWN).map((each) => ({
      head: barHead(foreign(each.mime), [{ value: each.bytes, fill: "kept" }], bytes),
      cells: [
        formatNumber(each.urls),
        formatShare(each.urls, urls),
        formatNumber(each.pages),
        size(each.bytes),
        formatShare(each.bytes, bytes),
      ],
    })),
  })}`;
}
