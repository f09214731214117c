/**
 * The studies of duplication over the crawls of a collection: how much a crawl holds twice, how much of it the crawl before
 * and each earlier one had, how many of its URLs persist, what was new. Fed by URL and by content, in any order; what is
 * held is the sums.
 *
 * A page is a capture with a content. A page is a duplicate within its crawl unless it is the one that stands for its
 * content there, so that these are pages less contents.
 */
import { groupOf } from "./tally.ts";

/** What is known of a crawl before it is studied. */
export interface CrawlFacts {
  readonly name: string;
  readonly files: number;
  /** Of its captures; absent where none has a date. */
  readonly firstMs: number | undefined;
  readonly lastMs: number | undefined;
  /** With those that have no content. */
  readonly captures: number;
}

export interface CrawlMime {
  readonly mime: string;
  /** Of which the last page in the crawl has this media type. */
  urls: number;
  pages: number;
  bytes: number;
}

export interface StudiedCrawl extends CrawlFacts {
  /** As they are written. */
  readonly urls: number;
  readonly pages: number;
  /** Of the payloads of its pages. */
  readonly bytes: number;
  /** Distinct ones. */
  readonly contents: number;
  readonly duplicatesWithin: number;
  /** Pages whose content the crawl before it had, and URLs that it had; absent for the first crawl. */
  readonly inPrevious: number | undefined;
  readonly urlsInPrevious: number | undefined;
  /** The same of each earlier crawl, in order: pages of this crawl whose content that one had. */
  readonly inEarlier: readonly { readonly crawl: string; readonly pages: number }[];
  /** Contents that no earlier crawl had, and their bytes. */
  readonly newContents: number;
  readonly newBytes: number;
  /** Pages that brought no new content, and what keeping each content once saves. */
  readonly repeatedPages: number;
  readonly repeatedBytes: number;
  readonly mimes: readonly CrawlMime[];
}

export interface CrawlStudyResult {
  readonly crawls: readonly StudiedCrawl[];
  /** Of all crawls. */
  readonly contents: number;
  readonly newBytes: number;
  /** The chance that two different contents have the same size; absent where there are not two. */
  readonly sameSizeChance: number | undefined;
}

/** Sizes that are told apart; a content of another size beyond these counts as the only one of its size. */
const SIZES_MAX = 1 << 20;

interface Sums {
  urls: number;
  urlsInPrevious: number;
  pages: number;
  bytes: number;
  contents: number;
  newContents: number;
  newBytes: number;
  /** By the number of the earlier crawl. */
  readonly inEarlier: Map<number, number>;
  readonly mimes: Map<string, CrawlMime>;
}

/** Crawls have the numbers of their places in the list, which is in the order of time. */
export class CrawlStudy {
  private readonly facts: readonly CrawlFacts[];
  private readonly sums: readonly Sums[];
  private readonly sizes = new Map<number, number>();
  private contents = 0;

  constructor(facts: readonly CrawlFacts[]) {
    this.facts = facts;
    this.sums = facts.map(() => {
      const counts = { urls: 0, urlsInPrevious: 0, pages: 0, bytes: 0, contents: 0, newContents: 0, newBytes: 0 };
      return { ...counts, inEarlier: new Map(), mimes: new Map() };
    });
  }

  /** A URL: the crawls that captured it, with the media type that it had last in each. */
  addUrl(crawls: ReadonlyMap<number, string>): void {
    for (const [crawl, mime] of crawls) {
      const sums = this.sums[crawl]!;
      sums.urls++;
      if (crawls.has(crawl - 1)) sums.urlsInPrevious++;
      mimeOf(sums, mime).urls++;
    }
  }

  /** A content: how many pages of each crawl and media type have it. */
  addContent(size: number, pages: ReadonlyMap<number, ReadonlyMap<string, number>>): void {
    this.contents++;
    if (this.sizes.has(size) || this.sizes.size < SIZES_MAX) this.sizes.set(size, (this.sizes.get(size) ?? 0) + 1);
    const earlier: number[] = [];
    for (const crawl of [...pages.keys()].sort((one, other) => one - other)) {
      const sums = this.sums[crawl]!;
      let count = 0;
      for (const [mime, number] of pages.get(crawl)!) {
        const group = mimeOf(sums, mime);
        group.pages += number;
        group.bytes += number * size;
        count += number;
      }
      sums.pages += count;
      sums.bytes += count * size;
      sums.contents++;
      if (earlier.length === 0) {
        sums.newContents++;
        sums.newBytes += size;
      }
      for (const before of earlier) sums.inEarlier.set(before, (sums.inEarlier.get(before) ?? 0) + count);
      earlier.push(crawl);
    }
  }

  result(): CrawlStudyResult {
    const crawls = this.facts.map((facts, number) => this.studied(facts, number));
    const newBytes = crawls.reduce((sum, crawl) => sum + crawl.newBytes, 0);
    return { crawls, contents: this.contents, newBytes, sameSizeChance: this.sameSizeChance() };
  }

  private studied(facts: CrawlFacts, number: number): StudiedCrawl {
    const { urls, urlsInPrevious, pages, bytes, contents, newContents, newBytes, inEarlier, mimes } =
      this.sums[number]!;
    const isFirst = number === 0;
    return {
      ...facts,
      urls,
      pages,
      bytes,
      contents,
      duplicatesWithin: pages - contents,
      inPrevious: isFirst ? undefined : (inEarlier.get(number - 1) ?? 0),
      urlsInPrevious: isFirst ? undefined : urlsInPrevious,
      inEarlier: this.facts
        .slice(0, number)
        .map(({ name }, earlier) => ({ crawl: name, pages: inEarlier.get(earlier) ?? 0 })),
      newContents,
      newBytes,
      repeatedPages: pages - newContents,
      repeatedBytes: bytes - newBytes,
      mimes: [...mimes.values()].sort(
        (one, other) => other.pages - one.pages || other.urls - one.urls || (one.mime < other.mime ? -1 : 1),
      ),
    };
  }

  private sameSizeChance(): number | undefined {
    if (this.contents < 2) return undefined;
    let pairs = 0;
    for (const count of this.sizes.values()) pairs += count * (count - 1);
    return pairs / (this.contents * (this.contents - 1));
  }
}

function mimeOf({ mimes }: Sums, mime: string): CrawlMime {
  return groupOf(mimes, mime, (name) => ({ mime: name, urls: 0, pages: 0, bytes: 0 }));
}

/** Numbers of files of one crawl: a time of 14 or 17 digits, or a serial number of five or more, and all behind it. */
const SERIAL = /[-_.](?:\d{14}|\d{17}|\d{5,})(?=[-_.]|$).*$/;
const ENDINGS = /(?:\.(?:warc|arc|wacz|cdx|gz|zst|open))+$/i;

/** The crawl of a file that names none: what its name has in common with the names of the others of its series. */
export function crawlOfFile(path: string): string {
  const name = path
    .replace(/(?<=\.(?:wacz|zip))!.*$/i, "")
    .replace(/^.*\//, "")
    .replace(ENDINGS, "");
  return name.replace(SERIAL, "") || name || path;
}
