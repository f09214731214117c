import fc from "fast-check";
import { expect, it } from "vitest";
import { ArchiveError } from "../base/index.ts";
import { type Holder, type LockFiles, takeLock } from "./lock.ts";

/** What happens before a step of one contender. */
type Event = "nothing" | "another comes" | "it dies" | "the holder releases";

class Death extends Error {}

/**
 * Contenders in one thread: before each step of one, another may come and run to its end (and be interrupted in the
 * same way), the one may die, or the present holder may let go.
 */
class Contest {
  readonly #files = new Map<string, string>();
  readonly #dead = new Set<number>([0]);
  #events: Iterator<Event>;
  readonly #path = "lock";
  #count = 0;
  /** Those that were told that they hold the lock, and have neither released it nor died. */
  holders: Holder[] = [];
  refusals = 0;

  constructor(events: readonly Event[]) {
    this.#events = events[Symbol.iterator]();
    this.#files.set(this.#path, JSON.stringify(holder(0)));
  }

  run(): void {
    const me = holder(++this.#count);
    try {
      takeLock(this.#filesOf(me), this.#path, me, ({ pid }) => (this.#dead.has(pid) ? "dead" : "running"));
      this.holders.push(me);
      if (this.holders.length > 1) throw new Error("two hold the lock");
    } catch (error) {
      if (error instanceof ArchiveError) this.refusals++;
      else if (!(error instanceof Death)) throw error;
    }
  }

  /** After the contest whoever comes in peace must get the lock, once its holder has let go. */
  finish(): void {
    this.#events = [][Symbol.iterator]();
    this.#release();
    this.run();
  }

  #release(): void {
    const present = this.holders.pop();
    if (present !== undefined) this.#files.delete(this.#path);
  }

  #before(me: Holder): void {
    if (this.#dead.has(me.pid)) throw new Death();
    const event = this.#events.next().value as Event | undefined;
    if (event === "another comes" && this.#count < 6) this.run();
    if (event === "the holder releases") this.#release();
    if (event === "it dies") {
      this.#dead.add(me.pid);
      throw new Death();
    }
  }

  #filesOf(me: Holder): LockFiles {
    const step = <T>(effect: () => T): T => {
      this.#before(me);
      return effect();
    };
    return {
      create: (path, text) => step(() => !this.#files.has(path) && this.#files.set(path, text) !== undefined),
      read: (path) => step(() => this.#files.get(path)),
      replace: (path, text) => step(() => void this.#files.set(path, text)),
      remove: (path) => step(() => void this.#files.delete(path)),
    };
  }
}

function holder(pid: number): Holder {
  return { pid, started: "", boot: "", host: "", namespace: "", token: `token-${pid}` };
}

const events = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant<Event>("nothing") },
    { weight: 4, arbitrary: fc.constant<Event>("another comes") },
    { weight: 1, arbitrary: fc.constantFrom<Event>("it dies", "the holder releases") },
  ),
  { maxLength: 60 },
);

it("never gives a lock to two, whoever comes, goes and dies in between, and always to one at last", () => {
  fc.assert(
    fc.property(events, (series) => {
      const contest = new Contest(series);
      contest.run();
      contest.finish();
      expect(contest.holders).toHaveLength(1);
    }),
    { numRuns: 3000 },
  );
});

it("gives a dead holder's lock to one of those that come, if none of them dies", () => {
  const peaceful = events.map((series) => series.filter((event) => event === "nothing" || event === "another comes"));
  fc.assert(
    fc.property(peaceful, (series) => {
      const contest = new Contest(series);
      contest.run();
      expect(contest.holders).toHaveLength(1);
    }),
    { numRuns: 1000 },
  );
});
