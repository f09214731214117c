/** Many questions under way at once, each asked as it comes, with their answers in order. */
import { othersTurn } from "./promised.ts";
import { Signal } from "./signal.ts";
import { iterate, leaveOff, type Source } from "./source.ts";

export interface UnderWayLimits<Q> {
  /** At once, in number and in bytes held. */
  readonly countMax: number;
  readonly bytesMax: number;
  /** Bytes that a question holds. Absent where it must be answered before the next one is taken. */
  readonly sizeOf: (question: Q) => number | undefined;
}

/** Questions asked before others get their turn: among them are those who send them, and who bring answers. */
const SLICE_COUNT = 32;

/**
 * Each answer is given as soon as it and all before it are there: who waits for an answer before giving the next question
 * gets it. Whatever `ask` rejects with must have become an answer. What the questions themselves throw is thrown behind
 * the answers to those before. Who leaves off early leaves what is under way to itself.
 */
export async function* answersInOrder<Q, A>(
  questions: Source<Q>,
  ask: (question: Q) => Promise<A>,
  limits: UnderWayLimits<Q>,
): AsyncGenerator<A> {
  const run = new OrderedRun(questions, ask, limits);
  // It never rejects, and nobody waits for questions that may never come.
  void run.read();
  try {
    yield* run.answers();
  } finally {
    run.stop();
  }
  if (run.failure !== undefined) throw run.failure;
}

class OrderedRun<Q, A> {
  /** What the questions themselves threw. */
  failure: Error | undefined;
  private readonly source: AsyncIterator<Q> | Iterator<Q>;
  private readonly ask: (question: Q) => Promise<A>;
  private readonly limits: UnderWayLimits<Q>;
  private readonly underWay: { readonly answer: Promise<A>; readonly size: number }[] = [];
  private held = 0;
  private isRead = false;
  private isStopped = false;
  private readonly changed = new Signal();

  constructor(questions: Source<Q>, ask: (question: Q) => Promise<A>, limits: UnderWayLimits<Q>) {
    this.source = iterate(questions);
    this.ask = ask;
    this.limits = limits;
  }

  stop(): void {
    this.isStopped = true;
    if (!this.isRead) leaveOff(this.source);
    this.changed.fire();
  }

  async read(): Promise<void> {
    const { countMax, bytesMax, sizeOf } = this.limits;
    try {
      for (let count = 1; !this.isStopped; count++) {
        const step = this.source.next();
        const { done, value } = step instanceof Promise ? await step : (step as IteratorResult<Q>);
        if (done === true || this.isStopped) break;
        const size = sizeOf(value);
        const answer = this.ask(value);
        this.underWay.push({ answer, size: size ?? 0 });
        this.held += size ?? 0;
        this.changed.fire();
        if (size === undefined) await answer;
        while (!this.isStopped && (this.underWay.length >= countMax || this.held > bytesMax)) await this.changed.wait();
        if (count % SLICE_COUNT === 0) await othersTurn();
      }
    } catch (error) {
      this.failure = error instanceof Error ? error : new Error(String(error));
    }
    this.isRead = true;
    this.changed.fire();
  }

  async *answers(): AsyncGenerator<A> {
    for (;;) {
      const first = this.underWay[0];
      if (first === undefined) {
        if (this.isRead) return;
        await this.changed.wait();
        continue;
      }
      const answer = await first.answer;
      this.underWay.shift();
      this.held -= first.size;
      this.changed.fire();
      yield answer;
    }
  }
}
