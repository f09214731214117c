/**
 * One archive as it is served: under a name, and behind access rules. Every capture that leaves serve/ comes through here,
 * so that no route can forget a rule. What may not be seen changes no answer: lifespans are those of the other captures.
 */
import {
  type Archive,
  archiveKey,
  type Capture,
  type CaptureQuery,
  type Change,
  type Duplication,
  type Figures,
  type Lifespan,
  lookAlikes,
  type Moment,
  type NamedFigures,
  type OpenedCapture,
  type Scope,
  type SegmentFile,
  type SliceOptions,
  type StatsGroup,
} from "../archive/index.ts";
import { ArchiveError } from "../base/index.ts";
import type { AccessRules, AccessVerdict } from "./access/access-rules.ts";
import { allowedChanges } from "./access/allowed-changes.ts";
import { allowedFigures } from "./access/allowed-figures.ts";
import { allowedLifespans, allowedMoment, isVisit } from "./access/allowed-lifespans.ts";

/** A letter first, so that no name reads like a time; and none that a route has. */
const NAME = /^(?!(?:api|cdx|wayback|health|metrics|static|live)$)[A-Za-z_][\w-]{0,63}$/;
const BATCH_SIZE = 1000;
/** More keys than this are not looked at for URLs that look alike, nor more of these returned. */
const KEYS_LOOKED_MAX = 2000;
const ALIKE_MAX = 20;

export class Collection {
  readonly name: string;
  /** For what no rule can touch. Captures are asked for below. */
  readonly archive: Archive;
  private readonly rules: AccessRules | undefined;

  /** HT_USAGE for a name that a URL cannot have. */
  constructor(name: string, archive: Archive, rules?: AccessRules) {
    if (!NAME.test(name)) {
      const message = `not a name for a collection: ${name} (letters, digits, _ and -, and none that a route has)`;
      throw new ArchiveError("HT_USAGE", message);
    }
    this.name = name;
    this.archive = archive;
    this.rules = rules;
  }

  /** Whether some captures may be hidden: then there are no files to be had. */
  get hasRules(): boolean {
    return this.rules !== undefined;
  }

  /** Names the commit that it answers as of. */
  get commit(): string {
    return this.archive.commit;
  }

  /** Follows new commits. Whether there were any. */
  refresh(): Promise<boolean> {
    return this.archive.refresh();
  }

  verdict(capture: Capture): AccessVerdict {
    return this.rules?.judge(capture) ?? "allow";
  }

  /** Those that are allowed, in the order of the query; its limit counts only these. */
  captures(query: CaptureQuery): AsyncIterable<readonly Capture[]> {
    if (this.rules === undefined) return this.archive.captures(query);
    const { limit = Number.POSITIVE_INFINITY, ...rest } = query;
    return this.allowed(this.archive.captures(rest), limit);
  }

  /** Whether there are captures that a query finds, but that may not even be known of (`exclude`) or seen (`block`). */
  async hidden(query: CaptureQuery): Promise<AccessVerdict> {
    if (this.rules === undefined) return "allow";
    for await (const batch of this.archive.captures(query))
      if (batch.some((capture) => this.verdict(capture) === "block")) return "block";
    return "exclude";
  }

  /** Every allowed capture whose payload has this digest; or those behind the capture with a cursor. */
  same(sha256: string, after?: string): AsyncIterable<readonly Capture[]> {
    const all = this.archive.same(sha256, after);
    return this.rules === undefined ? all : this.allowed(all, Number.POSITIVE_INFINITY);
  }

  private async *allowed(
    batches: AsyncIterable<readonly Capture[]>,
    limit: number,
  ): AsyncGenerator<readonly Capture[]> {
    let left = limit;
    if (left <= 0) return;
    for await (const batch of batches) {
      const shown = batch.filter((capture) => this.verdict(capture) === "allow").slice(0, left);
      left -= shown.length;
      if (shown.length > 0) yield shown;
      if (left === 0) return;
    }
  }

  private touches(key: string): boolean {
    return this.rules?.touches(key) === true;
  }

  /** All allowed captures of a key. */
  private ofKey(key: string): AsyncIterable<readonly Capture[]> {
    return this.captures({ range: { from: `${key}\0`, to: `${key}\x01` } });
  }

  at(url: string, timeMs: number): Promise<Moment | undefined> {
    const key = archiveKey(url);
    return this.touches(key) ? allowedMoment(this.ofKey(key), timeMs) : this.archive.at(url, timeMs);
  }

  /** What the state or confirmation nearest in time found. */
  async nearest(url: string, timeMs: number): Promise<Moment | undefined> {
    const key = archiveKey(url);
    if (!this.touches(key)) return await this.archive.nearest(url, timeMs);
    for await (const batch of this.captures({ url, order: "closest", closestMs: timeMs })) {
      const capture = batch.find(isVisit);
      if (capture !== undefined) return await allowedMoment(this.ofKey(key), capture.timeMs!);
    }
    return undefined;
  }

  history(url: string, fromMs?: number, toMs?: number): AsyncIterable<readonly Lifespan[]> {
    const key = archiveKey(url);
    return this.touches(key) ? this.allowedHistory(key, fromMs, toMs) : this.archive.history(url, fromMs, toMs);
  }

  /** The lifespans that hold at some time of the span. */
  private async *allowedHistory(
    key: string,
    fromMs = Number.NEGATIVE_INFINITY,
    toMs = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<readonly Lifespan[]> {
    let batch: Lifespan[] = [];
    for await (const lifespan of allowedLifespans(this.ofKey(key))) {
      const { birth, end = Number.POSITIVE_INFINITY } = lifespan;
      // One that begins and ends at a moment holds at that moment.
      if (birth > toMs || (end <= fromMs && birth < fromMs)) continue;
      batch.push(lifespan);
      if (batch.length < BATCH_SIZE) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  slice(timeMs: number, scope?: Scope, options?: SliceOptions): AsyncIterable<readonly Lifespan[]> {
    if (this.rules === undefined) return this.archive.slice(timeMs, scope, options);
    // A media type is that of the lifespan that is shown, so it is looked at here.
    return this.judged(this.archive.slice(timeMs, keysOf(scope), options), scope, async (key) => {
      const moment = await allowedMoment(this.ofKey(key), timeMs);
      return moment === undefined ? [] : [moment.lifespan];
    });
  }

  /**
   * How many URLs of a range are alive then. Where some may not be seen, or only some media types count, that takes a
   * walk, which ends at `max`.
   */
  async countSlice(timeMs: number, scope: Scope, max: number): Promise<number> {
    if (!this.isCountedByWalk(scope.mime)) return await this.archive.countSlice(timeMs, scope);
    let count = 0;
    for await (const batch of this.slice(timeMs, scope, { withoutEnds: true })) {
      count += batch.length;
      if (count >= max) return max;
    }
    return count;
  }

  isCountedByWalk(mime: Scope["mime"]): boolean {
    return this.rules !== undefined || mime !== undefined;
  }

  span(fromMs: number, toMs: number, scope?: Scope, options?: SliceOptions): AsyncIterable<readonly Lifespan[]> {
    if (this.rules === undefined) return this.archive.span(fromMs, toMs, scope, options);
    return this.judged(this.archive.span(fromMs, toMs, keysOf(scope), options), scope, async (key) => {
      const found: Lifespan[] = [];
      for await (const batch of this.allowedHistory(key, fromMs, toMs)) found.push(...batch);
      return found;
    });
  }

  /** Lifespans in the order of keys; those of keys with rules are made again, once for each key. */
  private async *judged(
    batches: AsyncIterable<readonly Lifespan[]>,
    scope: Scope | undefined,
    again: (key: string) => Promise<readonly Lifespan[]>,
  ): AsyncGenerator<readonly Lifespan[]> {
    let last: string | undefined;
    for await (const batch of batches) {
      const shown: Lifespan[] = [];
      for (const lifespan of batch) {
        if (!this.touches(lifespan.key)) shown.push(lifespan);
        else if (lifespan.key !== last) shown.push(...(await again(lifespan.key)));
        last = lifespan.key;
      }
      const wanted = scope?.mime === undefined ? shown : shown.filter(({ mime }) => scope.mime!(mime));
      if (wanted.length > 0) yield wanted;
    }
  }

  changes(fromMs: number, toMs: number, scope?: Scope): AsyncIterable<readonly Change[]> {
    if (this.rules === undefined) return this.archive.changes(fromMs, toMs, scope);
    const alive = this.archive.span(fromMs + 1, toMs, keysOf(scope), { withoutEnds: true });
    return allowedChanges(alive, (key) => allowedLifespans(this.ofKey(key)), fromMs, toMs);
  }

  /** The counts that need no walk; with rules they do. */
  async counts(): Promise<{ readonly captures: number; readonly contents: number; readonly pending: number }> {
    if (this.rules === undefined) return await this.archive.counts();
    const { captures, contents, pending } = (await allowedFigures(this.captures({}))).total;
    return { captures, contents, pending };
  }

  stats(by: StatsGroup): AsyncIterable<readonly NamedFigures[]> {
    return this.rules === undefined ? this.archive.stats(by) : this.allowedStats(by);
  }

  private async *allowedStats(by: StatsGroup): AsyncGenerator<readonly NamedFigures[]> {
    const { groups } = await allowedFigures(this.captures({}), by);
    // Hosts and crawls are in the order of keys already; the others go by name, as without rules.
    yield by === "mime" || by === "year" ? groups.toSorted((one, other) => (one.name < other.name ? -1 : 1)) : groups;
  }

  /** How much there is as a whole; with rules, what may be told without those. Walks over all captures. */
  async totals(): Promise<Figures & { readonly pending: number }> {
    return this.rules === undefined ? await this.archive.totals() : (await allowedFigures(this.captures({}))).total;
  }

  /** What there is more than once, of what may be seen. Walks over all captures. */
  duplication(onProgress: (captures: number) => void): Promise<Duplication> {
    const allows = this.rules === undefined ? undefined : (capture: Capture) => this.verdict(capture) === "allow";
    return this.archive.duplication({ allows, onProgress });
  }

  /** The first allowed capture of each URL key, or of each host, in a range of keys, in their order. */
  firsts(range: Pick<Scope, "from" | "to">, of: "key" | "host"): AsyncIterable<readonly Capture[]> {
    const all = this.archive.firsts(range, of);
    return this.rules === undefined ? all : this.allowedFirsts(all, of);
  }

  private async *allowedFirsts(
    batches: AsyncIterable<readonly Capture[]>,
    of: "key" | "host",
  ): AsyncGenerator<readonly Capture[]> {
    for await (const batch of batches) {
      const shown: Capture[] = [];
      for (const first of batch) {
        const isShown = this.verdict(first) === "allow";
        const capture = isShown ? first : await this.firstOf(of === "key" ? first.key : hostPart(first.key), of);
        if (capture !== undefined) shown.push(capture);
      }
      if (shown.length > 0) yield shown;
    }
  }

  /** Captured URLs that differ from this one only by what scripts put into it against caches; a few of them. */
  async alike(url: string): Promise<string[]> {
    const { ranges, isAlike } = lookAlikes(url);
    const found: string[] = [];
    let looked = 0;
    for (const range of ranges) {
      for await (const batch of this.firsts(range, "key")) {
        found.push(...batch.filter(({ key }) => isAlike(key)).map((capture) => capture.url));
        looked += batch.length;
        if (looked > KEYS_LOOKED_MAX || found.length >= ALIKE_MAX) return found.slice(0, ALIKE_MAX);
      }
    }
    return found;
  }

  private async firstOf(part: string, of: "key" | "host"): Promise<Capture | undefined> {
    const range = of === "key" ? { from: `${part}\0`, to: `${part}\x01` } : { from: `${part})`, to: `${part}*` };
    for await (const [capture] of this.captures({ range, limit: 1 })) return capture;
    return undefined;
  }

  /** HT_BLOCKED or HT_NOT_FOUND for a capture that may not be seen. To be closed. */
  async open(capture: Capture): Promise<OpenedCapture> {
    this.require(capture);
    return await this.archive.open(capture);
  }

  /** The bytes of the record as they lie in its file. HT_BLOCKED where the collection has rules. */
  record(capture: Capture): AsyncGenerator<Uint8Array> {
    this.requireFiles();
    return this.archive.record(capture);
  }

  /** HT_BLOCKED where the collection has rules. */
  segment(name: string): Promise<SegmentFile | undefined> {
    this.requireFiles();
    return this.archive.segment(name);
  }

  /** Records and segments say more than the captures that may be seen. */
  requireFiles(): void {
    if (this.rules !== undefined)
      throw new ArchiveError("HT_BLOCKED", `${this.name} has access rules, so its files are not served`);
  }

  private require(capture: Capture): void {
    const verdict = this.verdict(capture);
    if (verdict === "allow") return;
    const isBlocked = verdict === "block";
    throw new ArchiveError(
      isBlocked ? "HT_BLOCKED" : "HT_NOT_FOUND",
      isBlocked ? "access to this capture is blocked" : "no such capture",
    );
  }
}

function keysOf(scope: Scope | undefined): Scope {
  return { from: scope?.from, to: scope?.to };
}

/** What stands before the parenthesis: the host, turned round, and its port. */
function hostPart(key: string): string {
  return key.slice(0, key.indexOf(")"));
}
