import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AnswerPages } from "./answer-pages.ts";
import type { Answer } from "./pack-index.ts";

/** Pages as an index holds them. */
class Index {
  readonly pages = new Map<number, string>();
  answers: AnswerPages;
  private readonly keptMin: number;

  constructor(keptMin: number) {
    this.keptMin = keptMin;
    this.answers = new AnswerPages(keptMin);
  }

  commit(answers: ReadonlyMap<string, Answer>): void {
    const { put, removed } = this.answers.add(answers);
    for (const { page, text } of put) this.pages.set(page, text);
    for (const page of removed) expect(this.pages.delete(page)).toBe(true);
  }

  reopen(): void {
    this.answers = new AnswerPages(this.keptMin);
    for (const [page, text] of this.pages) this.answers.load(page, text);
  }

  find(id: string): Answer | undefined {
    return this.answers.find(id, (page) => this.pages.get(page));
  }
}

const answers = fc.record<Answer>({
  signature: fc.stringMatching(/^[0-9A-F]{16}$/),
  overflow: fc.nat(3),
  size: fc.maxSafeNat(),
  storedSize: fc.maxSafeNat(),
  compression: fc.constantFrom("none", "zstd"),
  references: fc.nat(),
  outcome: fc.constantFrom("new", "duplicate", "removed"),
  isAdopted: fc.boolean(),
});
const answer: Answer = {
  signature: "00000000000000AD",
  overflow: 0,
  size: 1,
  storedSize: 1,
  compression: "none",
  references: 1,
  outcome: "new",
  isAdopted: false,
};
const named = (from: number, count: number) =>
  new Map(Array.from({ length: count }, (_, i) => [`request-${from + i}`, { ...answer, size: from + i }]));

describe("the answers in an index", () => {
  it("are found by the ids of their requests, also when it is opened again", () => {
    const commits = fc.array(fc.dictionary(fc.stringMatching(/^[!-~]{1,20}$/), answers, { noNullPrototype: true }));
    fc.assert(
      fc.property(commits, (steps) => {
        const index = new Index(1000);
        const told = new Map<string, Answer>();
        for (const step of steps) {
          const fresh = new Map(Object.entries(step).filter(([id]) => !told.has(id)));
          for (const [id, each] of fresh) told.set(id, each);
          index.commit(fresh);
        }
        for (const _ of ["open", "opened again"]) {
          for (const [id, each] of told) expect(index.find(id)).toEqual(each);
          expect(index.find("never heard")).toBeUndefined();
          index.reopen();
        }
      }),
    );
  });

  it("go when there are too many, the oldest first", () => {
    const index = new Index(10_000);
    for (let from = 0; from < 60_000; from += 3000) {
      index.commit(named(from, 3000));
      if (from === 30_000) index.reopen();
    }
    for (let i = 50_000; i < 60_000; i++) expect(index.find(`request-${i}`)?.size).toBe(i);
    for (let i = 0; i < 49_000; i++) expect(index.find(`request-${i}`)).toBeUndefined();
    expect(index.pages.size).toBeLessThan(60);
  });

  it("take no look at the index for an id that was never heard", () => {
    const index = new Index(10_000);
    index.commit(named(0, 5000));
    let looks = 0;
    for (let i = 0; i < 5000; i++) {
      const found = index.answers.find(`other-${i}`, () => {
        looks++;
        return undefined;
      });
      expect(found).toBeUndefined();
    }
    // By chance two of 2^32 hashes are the same.
    expect(looks).toBeLessThan(3);
  });
});
