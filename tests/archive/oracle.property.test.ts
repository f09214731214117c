/** What must hold of the oracle whatever the records are, and that chance makes records of every kind. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { newSeed } from "../../src/testing/dice.ts";
import { type OracleAnswers, oracle } from "./oracle.ts";
import {
  anyPlan,
  captureName,
  inOrder,
  type Plan,
  rawFiles,
  removedBy,
  type Schedule,
  shuffled,
  takeAway,
} from "./random-plan.ts";
import { TIMES } from "./random-records.ts";

const seed = newSeed();
const ask = (plan: Plan) => oracle(rawFiles(plan), removedBy(plan));

function filesOf({ steps }: Schedule): (readonly Buffer[])[] {
  return steps.flatMap((step) => ("files" in step ? step.files : []));
}

test(`answers follow from the set of records; seed ${seed}`, () => {
  const property = fc.property(anyPlan, fc.nat(), (plan, order) => {
    const { captures, lifespans } = ask(plan);
    for (const schedule of [inOrder(plan), shuffled(plan, order)]) {
      expect(oracle(filesOf(schedule), removedBy(plan))).toMatchObject({ captures, lifespans });
    }
  });
  fc.assert(property, { numRuns: 200, seed });
});

test(`lifespans follow one another, and slices one another by changes; seed ${seed}`, () => {
  const property = fc.property(anyPlan, (plan) => {
    const answers = ask(plan);
    for (const list of Object.values(answers.lifespans)) {
      list.forEach(({ birth, lastSeen, end }, i) => {
        expect(birth <= lastSeen && lastSeen <= (end ?? Number.POSITIVE_INFINITY)).toBe(true);
        expect(end).toBe(list[i + 1]?.birth ?? null);
      });
    }
    for (const [i, timeMs] of TIMES.entries()) expectSliceByChanges(answers, TIMES[i - 1] ?? timeMs - 1, timeMs);
  });
  fc.assert(property, { numRuns: 200, seed });
});

function expectSliceByChanges(answers: OracleAnswers, fromMs: number, toMs: number): void {
  const contentOf = ({ sha256, status, birth }: NonNullable<ReturnType<OracleAnswers["at"]>>) =>
    `${sha256} ${status} ${birth}`;
  const held = new Map(answers.slice(fromMs).map((lifespan) => [lifespan.key, contentOf(lifespan)]));
  for (const { key, timeMs } of answers.changes(fromMs, toMs)) held.set(key, contentOf(answers.at(key, timeMs)!));
  expect(Object.fromEntries(held)).toEqual(
    Object.fromEntries(answers.slice(toMs).map((lifespan) => [lifespan.key, contentOf(lifespan)])),
  );
}

test(`removals take away the same captures in every legal order; seed ${seed}`, () => {
  const property = fc.property(anyPlan, fc.nat(), (plan, order) => {
    const gone = new Set<string>();
    const files: (readonly Buffer[])[] = [];
    for (const step of shuffled(plan, order).steps) {
      if (step.kind === "remove") takeAway(step.removal, files, gone);
      else if (step.kind !== "compact") files.push(...step.files);
    }
    const isRemoved = removedBy(plan);
    const captures = Object.values(oracle(rawFiles(plan)).captures).flat();
    expect([...gone].sort()).toEqual(captures.filter(isRemoved).map(captureName).sort());
  });
  fc.assert(property, { numRuns: 200, seed });
});

test("chance makes every class, and revisits that lead somewhere and nowhere", () => {
  const counts = new Map<string, number>();
  for (const plan of fc.sample(anyPlan, { numRuns: 400, seed: 1 })) {
    for (const capture of Object.values(ask(plan).captures).flat()) {
      const fate = capture.pending ? "pending" : "known";
      for (const name of [capture.class, `${capture.type} ${fate}`, `${capture.class} ${fate}`]) {
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    }
  }
  const fates = ["response known", "resource known", "revisit known", "revisit pending"];
  const meanings = ["state known", "state pending", "confirmation known", "confirmation pending"];
  const others = ["failed", "redirect-to-self", "part", "truncated", "unread", "other-method", "undated"];
  const expected = [...fates, ...meanings, ...others];
  expect(expected.filter((name) => (counts.get(name) ?? 0) < 20)).toEqual([]);
});
