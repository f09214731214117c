/**
 * The crawls of an archive: sets of files with a name. Three walks, with pauses: one for the dates, which say the order of
 * crawls, one over the URLs, one over the contents. What is held is a number for each file, and the sums.
 */
import { ArchiveError } from "../../base/index.ts";
import { type CrawlFacts, CrawlStudy, type CrawlStudyResult, crawlOfFile } from "../../dedup/index.ts";
import { urlKeyOf } from "../catalogue/capture-key.ts";
import { Flag, has } from "../catalogue/capture-row.ts";
import type { CatalogueView, FoundCapture } from "../catalogue/catalogue-view.ts";
import { PAUSE, PAUSE_ROWS } from "./pause.ts";
import type { Snapshot } from "./snapshot.ts";

const CRAWLS_MAX = 10_000;
const NONE = "-";

type Steps<T = void> = Generator<typeof PAUSE, T>;
type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export function* studyCrawls({ catalogue }: Snapshot): Steps<CrawlStudyResult> {
  const { facts, numbers } = yield* findCrawls(catalogue);
  const study = new CrawlStudy(facts);
  yield* addUrls(catalogue, numbers, study);
  yield* addContents(catalogue, numbers, study);
  return study.result();
}

/** The crawls in the order of their first captures, and the number of the crawl of each source. */
function* findCrawls(catalogue: CatalogueView): Steps<{ facts: CrawlFacts[]; numbers: ReadonlyMap<number, number> }> {
  const byName = new Map<string, Mutable<CrawlFacts>>();
  const bySource = new Map<number, Mutable<CrawlFacts>>();
  for (const found of paced(catalogue)) {
    if (found === PAUSE) {
      yield PAUSE;
      continue;
    }
    const { row, timeMs } = found;
    let crawl = bySource.get(row.source);
    if (crawl === undefined) {
      crawl = crawlNamed(byName, nameOf(catalogue, row.source));
      crawl.files++;
      bySource.set(row.source, crawl);
    }
    crawl.captures++;
    if (has(row, Flag.undated)) continue;
    crawl.firstMs = Math.min(crawl.firstMs ?? timeMs, timeMs);
    crawl.lastMs = Math.max(crawl.lastMs ?? timeMs, timeMs);
  }
  const facts = [...byName.values()].sort(
    (one, other) => (one.firstMs ?? Infinity) - (other.firstMs ?? Infinity) || (one.name < other.name ? -1 : 1),
  );
  const order = new Map(facts.map((crawl, number) => [crawl, number]));
  return { facts, numbers: new Map([...bySource].map(([source, crawl]) => [source, order.get(crawl)!])) };
}

function crawlNamed(crawls: Map<string, Mutable<CrawlFacts>>, name: string): Mutable<CrawlFacts> {
  const there = crawls.get(name);
  if (there !== undefined) return there;
  if (crawls.size === CRAWLS_MAX) {
    const message = `more than ${CRAWLS_MAX} crawls; give several files one name with add --crawl`;
    throw new ArchiveError("HT_TOO_LARGE", message);
  }
  const crawl = { name, files: 0, firstMs: undefined, lastMs: undefined, captures: 0 };
  crawls.set(name, crawl);
  return crawl;
}

function nameOf(catalogue: CatalogueView, number: number): string {
  const source = catalogue.source(number);
  return source === undefined ? NONE : (source.crawl ?? crawlOfFile(source.name));
}

function* paced(catalogue: CatalogueView): Generator<FoundCapture | typeof PAUSE> {
  let rows = 0;
  for (const found of catalogue.allCaptures()) {
    if (++rows % PAUSE_ROWS === 0) yield PAUSE;
    yield found;
  }
}

/** Captures of one URL key stand together; there may be several URLs under one. */
function* addUrls(catalogue: CatalogueView, numbers: ReadonlyMap<number, number>, study: CrawlStudy): Steps {
  const urls = new Map<string, Map<number, string>>();
  let last: string | undefined;
  const end = () => {
    for (const crawls of urls.values()) study.addUrl(crawls);
    urls.clear();
  };
  for (const found of paced(catalogue)) {
    if (found === PAUSE) {
      yield PAUSE;
      continue;
    }
    const { key, row } = found;
    if (row.payload === undefined) continue;
    const urlKey = urlKeyOf(key);
    if (urlKey !== last) end();
    last = urlKey;
    let crawls = urls.get(row.url);
    if (crawls === undefined) urls.set(row.url, (crawls = new Map()));
    crawls.set(numbers.get(row.source)!, row.mime ?? NONE);
  }
  end();
}

function* addContents(catalogue: CatalogueView, numbers: ReadonlyMap<number, number>, study: CrawlStudy): Steps {
  let pages = new Map<number, Map<string, number>>();
  let size = 0;
  let last: string | undefined;
  let rows = 0;
  const end = () => {
    if (pages.size > 0) study.addContent(size, pages);
    pages = new Map();
  };
  for (const { content, key } of catalogue.allSeen()) {
    if (++rows % PAUSE_ROWS === 0) yield PAUSE;
    if (content !== last) end();
    last = content;
    const { row } = catalogue.found(key) ?? {};
    if (row?.payload === undefined || has(row, Flag.removed)) continue;
    size = row.payload.size;
    const crawl = numbers.get(row.source)!;
    let mimes = pages.get(crawl);
    if (mimes === undefined) pages.set(crawl, (mimes = new Map()));
    const mime = row.mime ?? NONE;
    mimes.set(mime, (mimes.get(mime) ?? 0) + 1);
  }
  end();
}
