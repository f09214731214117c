/**
 * Crawls with the counts of the paper's tables 5 and 6, page for page and duplicate for duplicate; what the tables do not
 * tell (which URLs change, and what they are called) comes from a small generator with a fixed seed.
 */

/** A crawl: its visits in no order, as columns, since there are millions. */
export interface Crawl {
  readonly time: number;
  readonly keys: readonly string[];
  readonly times: Float64Array;
  /** Each number names a content. */
  readonly contents: Uint32Array;
}

interface Counts {
  readonly day: number;
  readonly pages: number;
  readonly duplicates: number;
}

const day = (year: number, month: number, date: number) => Date.UTC(year, month - 1, date) / 1000;

/** Table 6. */
const GOVERNORS: readonly Counts[] = [
  [9, 8, 5245, 0],
  [9, 9, 5261, 4482],
  [9, 11, 5273, 4600],
  [9, 12, 5275, 4600],
  [9, 13, 5281, 4596],
  [9, 14, 5298, 4603],
  [9, 15, 5313, 4080],
  [9, 16, 5322, 4577],
  [9, 17, 5339, 4611],
  [9, 18, 5065, 4364],
  [9, 19, 5357, 4644],
  [9, 20, 5356, 4531],
  [9, 21, 5401, 4565],
  [9, 22, 5385, 4596],
  [9, 23, 2148, 1398],
  [9, 24, 5449, 4604],
  [9, 25, 5453, 4664],
  [9, 26, 2194, 1419],
  [9, 27, 5481, 4575],
  [9, 28, 5492, 4126],
  [9, 29, 22421, 4621],
  [9, 30, 22427, 20157],
  [10, 2, 22265, 19824],
  [10, 3, 22270, 21094],
  [10, 4, 22289, 20188],
  [10, 5, 21727, 19068],
  [10, 6, 22342, 20784],
  [10, 7, 20588, 18516],
].map(([month, date, pages, duplicates]) => ({
  day: day(2005, month!, date!),
  pages: pages!,
  duplicates: duplicates!,
}));

/** Table 5. */
const NEWS: readonly Counts[] = [
  [10, 25, 247718, 0],
  [10, 26, 258283, 58303],
  [10, 27, 273658, 63466],
  [10, 28, 309177, 71481],
  [10, 30, 310234, 74543],
  [10, 31, 299193, 70296],
  [11, 1, 322836, 75442],
  [11, 2, 314501, 64135],
].map(([month, date, pages, duplicates]) => ({
  day: day(2006, month!, date!),
  pages: pages!,
  duplicates: duplicates!,
}));

export const STEADY_CRAWLS = 100;

const HOSTS = [
  "al,governor",
  "com,governorbarbour",
  "us,nd,state,governor",
  "us,nm,state,governor",
  "us,ok,state,governor",
];
const SECTIONS = [
  "news/releases",
  "press/2005",
  "about",
  "office/staff",
  "photos/gallery",
  "docs/executive-orders",
  "links",
];

class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  below(limit: number): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.state / 0x1_0000_0000) * limit);
  }
}

function makeKey(number: number, dice: Dice): string {
  const host = HOSTS[number % HOSTS.length]!;
  const section = SECTIONS[dice.below(SECTIONS.length)]!;
  const key = `${host},www)/${section}/${(number * 7919) % 100_003}-${dice.below(1000)}/page_${number}.html`;
  // In one piece, as a key is that was read from somewhere.
  return Buffer.from(key, "latin1").toString("latin1");
}

/** A crawl of these URLs in this order. */
function makeCrawl(time: number, urls: Uint32Array, keys: readonly string[], contents: Uint32Array): Crawl {
  return {
    time,
    keys: Array.from(urls, (url) => keys[url]!),
    times: Float64Array.from(urls, (_, second) => time + Math.floor((second * 80_000) / urls.length)),
    contents: Uint32Array.from(urls, (url) => contents[url]!),
  };
}

/** How many of each crawl's pages are new URLs: in one crawl a given number, in the others in proportion to what is new. */
function newUrls(counts: readonly Counts[], urls: number, burst?: { at: number; urls: number }): number[] {
  const fresh = counts.map(({ pages, duplicates }) => pages - duplicates);
  const isSpread = (i: number) => i > 0 && i !== burst?.at;
  const rest = urls - fresh[0]! - (burst?.urls ?? 0);
  const weight = fresh.reduce((sum, count, i) => sum + (isSpread(i) ? count : 0), 0);
  let given = 0;
  let weighed = 0;
  return fresh.map((count, i) => {
    if (i === 0) return count;
    if (i === burst?.at) return burst.urls;
    weighed += count;
    const share = Math.round((rest * weighed) / weight) - given;
    given += share;
    return share;
  });
}

function* makeCrawls(counts: readonly Counts[], fresh: readonly number[], seed: number): Generator<Crawl> {
  const dice = new Dice(seed);
  const keys: string[] = [];
  const contents = new Uint32Array(fresh.reduce((sum, count) => sum + count, 0));
  let contentCount = 0;
  for (const [i, { day: time, pages, duplicates }] of counts.entries()) {
    const known = keys.length;
    const revisited = pages - fresh[i]!;
    const order = shuffle(
      Uint32Array.from({ length: known }, (_, url) => url),
      revisited,
      dice,
    );
    // Some URLs change nearly always: those with the lowest numbers in each group of eight.
    const chosen = order.slice(0, revisited).sort((one, other) => (one % 8) - (other % 8));
    for (const url of chosen.subarray(0, revisited - duplicates)) contents[url] = contentCount++;
    const urls = new Uint32Array(pages);
    urls.set(chosen);
    for (let n = 0; n < fresh[i]!; n++) {
      urls[revisited + n] = keys.length;
      contents[keys.length] = contentCount++;
      keys.push(makeKey(keys.length, dice));
    }
    yield makeCrawl(time, shuffle(urls, pages, dice), keys, contents);
  }
}

/** Brings the first ones into no order: each is exchanged with one behind it. */
function shuffle(urls: Uint32Array, count: number, dice: Dice): Uint32Array {
  for (let at = 0; at < count; at++) {
    const other = at + dice.below(urls.length - at);
    [urls[at], urls[other]] = [urls[other]!, urls[at]!];
  }
  return urls;
}

/** The same URLs crawled a hundred times, of which one in eight has changed each time. */
export function* steady(visits: number): Generator<Crawl> {
  const dice = new Dice(3);
  const count = Math.floor(visits / STEADY_CRAWLS);
  const keys = Array.from({ length: count }, (_, number) => makeKey(number, dice));
  const contents = Uint32Array.from({ length: count }, (_, url) => url);
  let contentCount = count;
  for (let crawl = 0; crawl < STEADY_CRAWLS; crawl++) {
    if (crawl > 0) for (let url = 0; url < count; url++) if (dice.below(8) === 0) contents[url] = contentCount++;
    const urls = shuffle(
      Uint32Array.from({ length: count }, (_, url) => url),
      count,
      dice,
    );
    yield makeCrawl(day(2010, 1, 1) + crawl * 86_400, urls, keys, contents);
  }
}

export function governors(): Generator<Crawl> {
  return makeCrawls(GOVERNORS, newUrls(GOVERNORS, 27_643, { at: 20, urls: 16_920 }), 1);
}

export function news(): Generator<Crawl> {
  const fresh = NEWS.reduce((sum, { pages, duplicates }) => sum + pages - duplicates, 0);
  return makeCrawls(NEWS, newUrls(NEWS, Math.round(247_718 + 0.4 * (fresh - 247_718))), 2);
}
