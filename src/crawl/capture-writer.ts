/**
 * The one place where captures become records. What becomes of a capture is decided at the moment at which it is appended,
 * one after the other, so that of equal bodies in flight the first is stored and the others refer to it.
 *
 * The order, for each group of captures that share their syncs: records appended, records durable, learned by the index
 * (durable), lines of the crawl.log durable, told to the caller. A crash at any moment leaves a beginning of that.
 */
import type { Clock, Random } from "../base/index.ts";
import type { DigestEntry } from "../digests/index.ts";
import { type RevisitPlan, type WireCapture, type WrittenCapture, writeCapture } from "./capture-records.ts";
import type { CrawlLog } from "./crawl-log.ts";
import type { OwnCaptures } from "./own-captures.ts";
import type { Retrieval } from "./retrieval.ts";
import { formatRetrieval } from "./retrieval-line.ts";
import type { WarcSeries } from "./warc-series.ts";

/** What becomes of a capture. */
export interface Ruling {
  /** In place of the response. */
  readonly revisit?: RevisitPlan | undefined;
  /** What the index learns, once the record is durable; absent where that is nothing. */
  learns(written: WrittenCapture): DigestEntry | undefined;
  retrieval(written: WrittenCapture): Retrieval;
}

export interface CaptureWriterParts {
  readonly series: WarcSeries;
  /** Learns what was stored; absent where nobody does. */
  readonly own: OwnCaptures | undefined;
  readonly log: CrawlLog;
  readonly clock: Clock;
  readonly random: Random;
  /** Everything that the retrieval tells is durable. */
  readonly onPublished: (retrieval: Retrieval) => void;
  /** A group was published; nothing is waited for. */
  readonly onGroup?: (() => void) | undefined;
}

interface Appended {
  readonly retrieval: Retrieval;
  readonly entry: DigestEntry | undefined;
}

/** So many that are not durable yet make whoever appends wait. */
const UNPUBLISHED_MAX = 1000;
/** So long a group is waited for: what shares its syncs costs less, and nobody waits for them but who is told. */
const GATHER_MS = 100;

export class CaptureWriter {
  private readonly parts: CaptureWriterParts;
  /** Settles when the last capture that came was appended. */
  private lane: Promise<unknown> = Promise.resolve();
  private unpublished: Appended[] = [];
  private publishing: Promise<void> | undefined;
  private failure: { readonly error: unknown } | undefined;
  /** Ends the wait for a group. */
  private hurry: (() => void) | undefined;
  private isFinishing = false;

  constructor(parts: CaptureWriterParts) {
    this.parts = parts;
  }

  /**
   * Appends a capture as `rule` says, which is asked when its turn has come. Resolves when it was appended, which is not yet
   * durable. After a failure everything rejects with it.
   */
  append(capture: WireCapture, rule: () => Ruling | Promise<Ruling>): Promise<void> {
    const turn = this.lane.then(async () => {
      this.throwFailure();
      const ruling = await rule();
      const { series, own, random } = this.parts;
      const written = series.append((group) => writeCapture(group, capture, ruling.revisit, random));
      const entry = own === undefined ? undefined : ruling.learns(written);
      if (entry !== undefined) own?.note(entry);
      this.enqueue({ retrieval: ruling.retrieval(written), entry });
    });
    this.lane = turn.catch((error: unknown) => this.fail(error));
    return turn.then(() => (this.unpublished.length > UNPUBLISHED_MAX ? this.publishing : undefined));
  }

  /** A retrieval that has no record; what the index learns of it, if anything. */
  note(retrieval: Retrieval, entry?: DigestEntry): Promise<void> {
    const turn = this.lane.then(() => {
      this.throwFailure();
      this.enqueue({ retrieval, entry });
    });
    this.lane = turn.catch((error: unknown) => this.fail(error));
    return turn;
  }

  private enqueue(appended: Appended): void {
    this.unpublished.push(appended);
    this.publishing ??= this.publish().finally(() => {
      this.publishing = undefined;
    });
  }

  private async publish(): Promise<void> {
    const { series, own, log, clock, onPublished, onGroup } = this.parts;
    try {
      while (this.unpublished.length > 0) {
        if (!this.isFinishing) await this.gather();
        const group = this.unpublished;
        this.unpublished = [];
        await series.syncLater();
        await own?.learn(group.flatMap(({ entry }) => entry ?? []));
        const nowMs = clock.now();
        await log.append(group.map(({ retrieval }) => formatRetrieval(retrieval, nowMs)).join(""));
        for (const { retrieval } of group) onPublished(retrieval);
        onGroup?.();
      }
    } catch (error) {
      this.fail(error);
    }
  }

  private gather(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      this.hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private fail(error: unknown): void {
    this.failure ??= { error };
  }

  private throwFailure(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }

  /** Resolves when all that was appended is published; rejects where that failed. */
  async finish(): Promise<void> {
    await this.lane;
    this.isFinishing = true;
    this.hurry?.();
    while (this.publishing !== undefined) await this.publishing;
    this.throwFailure();
  }
}
