/**
 * Lifespans as they are where some captures may not be seen: made of the others alone, as if the archive had no more.
 * Obeys docs/lifespans.md.
 */
import type { Capture, Lifespan, Moment } from "../../archive/index.ts";

/** Whether it says what its URL held, and that is known. */
export function isVisit(capture: Capture): boolean {
  return (capture.class === "state" || capture.class === "confirmation") && capture.sha256 !== undefined;
}

/** Captures of one key, in the order of their times. */
export async function* allowedLifespans(batches: AsyncIterable<readonly Capture[]>): AsyncGenerator<Lifespan> {
  let run: Run | undefined;
  for await (const batch of batches) {
    for (const capture of batch) {
      if (!isVisit(capture)) continue;
      if (run?.take(capture) === true) continue;
      if (run !== undefined) yield run.lifespan(capture.timeMs);
      run = new Run(capture);
    }
  }
  if (run !== undefined) yield run.lifespan(undefined);
}

/** So many are listed of what came in between, as the archive does it. */
const LISTED_MAX = 100;

/** What the captures of one key say about a moment; absent where none of them is a state from before. */
export async function allowedMoment(
  batches: AsyncIterable<readonly Capture[]>,
  timeMs: number,
): Promise<Moment | undefined> {
  const finder = new MomentFinder(timeMs);
  for await (const batch of batches) if (!batch.every((capture) => finder.take(capture))) break;
  return finder.moment();
}

class MomentFinder {
  private readonly timeMs: number;
  private run: Run | undefined;
  /** The last visit up to the moment. */
  private shown: Capture | undefined;
  private others: Capture[] = [];
  private after: Capture | undefined;
  private doubts: Capture[] = [];
  private since: Capture[] = [];
  /** It was found again after the moment. */
  private isAgain = false;
  private end: number | undefined;

  constructor(timeMs: number) {
    this.timeMs = timeMs;
  }

  /** The next capture in the order of times. False when no more are needed. */
  take(capture: Capture): boolean {
    const { timeMs } = capture;
    if (timeMs === undefined) return true;
    if (!isVisit(capture)) this.takeOther(capture);
    else if (timeMs <= this.timeMs) this.takeBefore(capture);
    else return this.takeAfter(capture);
    return true;
  }

  private takeOther(capture: Capture): void {
    if (this.shown?.timeMs === capture.timeMs) list(this.others, capture);
    const isDoubt = capture.class === "failed" || capture.flags.includes("pending");
    if (isDoubt && !this.isAgain) list(this.doubts, capture);
    list(this.since, capture);
  }

  private takeBefore(capture: Capture): void {
    if (this.shown !== undefined && this.shown.timeMs === capture.timeMs) list(this.others, this.shown);
    else this.others = [];
    if (this.run?.take(capture) !== true) this.run = new Run(capture);
    this.shown = capture;
    [this.doubts, this.since] = [[], []];
  }

  private takeAfter(capture: Capture): boolean {
    this.after ??= capture;
    if (this.run?.take(capture) !== true) {
      this.end = capture.timeMs;
      return false;
    }
    this.isAgain = true;
    this.since = [];
    return true;
  }

  moment(): Moment | undefined {
    const { run, shown, others, after, since } = this;
    if (run === undefined || shown === undefined) return undefined;
    const isSeen = shown.timeMs === this.timeMs;
    const doubts = isSeen ? [] : this.doubts;
    const isObserved = isSeen || (this.isAgain && doubts.length === 0);
    const certainty = isObserved ? "observed" : "presumed";
    return { lifespan: run.lifespan(this.end), certainty, capture: shown, others, before: shown, after, doubts, since };
  }
}

function list(into: Capture[], capture: Capture): void {
  if (into.length < LISTED_MAX) into.push(capture);
}

/** Captures in a row that found the same. */
class Run {
  private readonly first: Capture;
  private readonly identity: string;
  private lastSeen: number;
  private captures = 1;

  constructor(first: Capture) {
    this.first = first;
    this.identity = identityOf(first);
    this.lastSeen = first.timeMs!;
  }

  /** False where it found something else. */
  take(capture: Capture): boolean {
    if (identityOf(capture) !== this.identity) return false;
    if (capture.timeMs! > this.lastSeen) this.captures++;
    this.lastSeen = capture.timeMs!;
    return true;
  }

  lifespan(end: number | undefined): Lifespan {
    const { first, lastSeen, captures } = this;
    const { key, url, mime, sha256, size } = first;
    const content = { url, mime, status: statusOf(first), sha256: sha256!, payloadSize: size! };
    return { ...content, key, identity: this.identity, birth: first.timeMs!, end, lastSeen, captures, isWhole: true };
  }
}

/** A 206 is a state only if it is the whole, and then it counts as 200. */
function statusOf({ status }: Capture): number | undefined {
  return status === 206 ? 200 : status;
}

function identityOf(capture: Capture): string {
  return `${statusOf(capture) ?? ""} ${capture.sha256} ${capture.location ?? ""}`;
}
