/** The contents that come back most, by the bytes that they save and by their captures: the first few of each order. */
import { urlKeyOf } from "../catalogue/capture-key.ts";
import { Flag, has } from "../catalogue/capture-row.ts";
import type { FoundCapture } from "../catalogue/catalogue-view.ts";

export interface RepeatedContent {
  readonly sha256: string;
  readonly size: number;
  readonly mime: string | undefined;
  readonly captures: number;
  /** URL keys that it was seen under. */
  readonly urls: number;
  readonly savedBytes: number;
  readonly firstMs: number | undefined;
  readonly lastMs: number | undefined;
  /** Where it was seen: the URL of the original, and those of others, in the order of keys. */
  readonly seenAt: readonly { readonly url: string; readonly timeMs: number | undefined }[];
}

const LISTED_MAX = 100;
const PLACES_MAX = 5;

export class RepeatedContents {
  private readonly saved = new Ranking(({ savedBytes }) => savedBytes);
  private readonly seen = new Ranking(({ captures }) => captures);

  begin(original: FoundCapture | undefined): ContentTally {
    return new ContentTally(original);
  }

  end(tally: ContentTally): void {
    if (tally.captures < 2) return;
    if (tally.savedBytes > 0) this.saved.offer(tally);
    if (tally.size > 0) this.seen.offer(tally);
  }

  result(): { readonly mostSaved: readonly RepeatedContent[]; readonly mostSeen: readonly RepeatedContent[] } {
    return { mostSaved: this.saved.result(), mostSeen: this.seen.result() };
  }
}

/** One content, whose captures come in the order of keys and times. */
class ContentTally {
  captures = 0;
  savedBytes = 0;
  private urls = 0;
  private readonly original: FoundCapture | undefined;
  private sample: FoundCapture | undefined;
  private lastKey: string | undefined;
  private readonly places: FoundCapture[] = [];
  private firstMs: number | undefined;
  private lastMs: number | undefined;

  constructor(original: FoundCapture | undefined) {
    this.original = original;
  }

  get size(): number {
    return this.sample?.row.payload?.size ?? 0;
  }

  add(found: FoundCapture, savedBytes: number): void {
    const { key, row, timeMs } = found;
    this.sample ??= this.original ?? found;
    this.captures++;
    this.savedBytes += savedBytes;
    const urlKey = urlKeyOf(key);
    if (urlKey !== this.lastKey) {
      this.urls++;
      if (this.places.length <= PLACES_MAX) this.places.push(found);
    }
    this.lastKey = urlKey;
    if (has(row, Flag.undated)) return;
    this.firstMs = Math.min(this.firstMs ?? timeMs, timeMs);
    this.lastMs = Math.max(this.lastMs ?? timeMs, timeMs);
  }

  content(): RepeatedContent {
    const { captures, urls, savedBytes, size, firstMs, lastMs, original, places } = this;
    const { payload, mime } = this.sample!.row;
    const originalKey = original && urlKeyOf(original.key);
    const others = places.filter(({ key }) => urlKeyOf(key) !== originalKey);
    const shown = (original === undefined ? others : [original, ...others]).slice(0, PLACES_MAX);
    return {
      sha256: payload!.sha256.toString("hex"),
      size,
      mime,
      captures,
      urls,
      savedBytes,
      firstMs,
      lastMs,
      seenAt: shown.map(({ row, timeMs }) => ({
        url: row.url,
        timeMs: has(row, Flag.undated) ? undefined : timeMs,
      })),
    };
  }
}

/** The largest of all that were offered. */
class Ranking {
  private readonly weightOf: (tally: ContentTally) => number;
  private listed: { readonly weight: number; readonly content: RepeatedContent }[] = [];

  constructor(weightOf: (tally: ContentTally) => number) {
    this.weightOf = weightOf;
  }

  offer(tally: ContentTally): void {
    const weight = this.weightOf(tally);
    const { listed } = this;
    if (listed.length === LISTED_MAX && weight <= listed.at(-1)!.weight) return;
    const at = listed.findIndex((each) => each.weight < weight);
    listed.splice(at < 0 ? listed.length : at, 0, { weight, content: tally.content() });
    if (listed.length > LISTED_MAX) listed.pop();
  }

  result(): readonly RepeatedContent[] {
    return this.listed.map(({ content }) => content);
  }
}
