import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newSeed } from "../testing/dice.ts";
import { type Candidate, whyNotDuplicate, whyNotOriginal } from "./candidate.ts";
import { type Decision, OriginalChooser } from "./chooser.ts";
import type { Policy } from "./policy.ts";
import { captureKey } from "./rules.ts";

const PLAIN: Candidate = {
  uri: "http://a.example/",
  date: "2020-01-01T00:00:00Z",
  mime: "text/plain",
  framing: "plain",
  payloadSize: 5000,
  length: 5000,
};

function day(number: number, more: Partial<Candidate> = {}): Candidate {
  return { ...PLAIN, uri: `http://a.example/${number}`, date: `2020-01-0${number}T00:00:00Z`, ...more };
}

/** Decisions in words: for a copy the day of its original. */
function decide(candidates: readonly Candidate[], policy: Policy = {}): string[] {
  const chooser = new OriginalChooser<Candidate>(policy);
  chooser.begin();
  return candidates.map((candidate) => inWords(chooser.decide(candidate)));
}

function inWords(decision: Decision<Candidate>): string {
  if (decision.kind === "original") return "original";
  if (decision.kind === "kept") return decision.reason;
  return `${decision.copy} of ${decision.original.date?.slice(9, 10)}`;
}

test("the first is the original, the others are its copies and counted", () => {
  expect(decide([day(1), day(2), day(3)])).toEqual(["original", "2 of 1", "3 of 1"]);
});

test.each(["truncated", "segmented", "damaged", "empty", "shared"] as const)("one that is %s takes no part", (flaw) => {
  const flawed = { [flaw]: true };
  expect(decide([day(1, flawed), day(2), day(3, flawed), day(4)])).toEqual([flaw, "original", flaw, "2 of 2"]);
});

test("one without a URI or a date takes no part", () => {
  const odd = [day(1, { uri: undefined }), day(2, { date: undefined }), day(3, { date: "when it rained" }), day(4)];
  expect(decide([...odd, day(5)])).toEqual(["no-uri", "no-date", "no-date", "original", "2 of 4"]);
});

test.each(["fixed", "irreversible", "referred", "known"] as const)(
  "one that is %s stays, but may be referred to",
  (why) => {
    expect(decide([day(1, { [why]: true }), day(2), day(3, { [why]: true })])).toEqual(["original", "2 of 1", why]);
  },
);

test("an ambiguous one is nothing to refer to, but may be replaced", () => {
  const ambiguous = { ambiguous: true };
  expect(decide([day(1, ambiguous), day(2), day(3, ambiguous)])).toEqual(["ambiguous", "original", "2 of 2"]);
});

test("framings and sizes are apart", () => {
  const chunked = { framing: "chunked" };
  const long = { payloadSize: 6000 };
  expect(decide([day(1), day(2, chunked), day(3, long), day(4), day(5, chunked), day(6, long)])).toEqual([
    "original",
    "original",
    "original",
    "2 of 1",
    "2 of 2",
    "2 of 3",
  ]);
});

test("an index that tells no size is believed, after what is known exactly", () => {
  const unsized = { payloadSize: undefined, length: undefined, known: true };
  expect(decide([day(1, unsized), day(2), day(3)])).toEqual(["original", "2 of 1", "3 of 1"]);
  expect(decide([day(1), day(2, unsized), day(3)])).toEqual(["original", "original", "2 of 1"]);
});

test("what begins anew is a new payload", () => {
  const chooser = new OriginalChooser<Candidate>({});
  const kinds = [day(1), day(2)].map((candidate) => {
    chooser.begin();
    return chooser.decide(candidate).kind;
  });
  expect(kinds).toEqual(["original", "original"]);
});

test("a small record cannot shrink", () => {
  const small = { length: 200 };
  expect(decide([day(1, small), day(2, small), day(3, { length: 201 })])).toEqual(["original", "saving", "2 of 1"]);
  expect(decide([day(1), day(2, { length: 1199 }), day(3, { length: 1200 })], { minSaving: 1000 })).toEqual([
    "original",
    "saving",
    "2 of 1",
  ]);
});

test("captures are the same that have one URI and one second", () => {
  expect(captureKey("http://a/", "2020-01-01T00:00:00Z")).toBe(captureKey("http://a/", "2020-01-01T00:00:00.123456Z"));
  expect(captureKey("http://a/", "2020-01-01T00:00:00Z")).not.toBe(captureKey("http://a/", "2020-01-01T00:00:01Z"));
  expect(captureKey("http://a/", "2020-01-01T00:00:00Z")).not.toBe(captureKey("http://b/", "2020-01-01T00:00:00Z"));
});

describe("invariants", () => {
  const SEED = newSeed();
  const flags = ["truncated", "segmented", "damaged", "empty", "shared", "irreversible"] as const;
  const roles = ["known", "fixed", "referred", "ambiguous"] as const;
  const sometimes = fc.option(fc.constant(true), { freq: 5, nil: undefined });
  const candidate = fc.record({
    uri: fc.option(fc.constantFrom("http://a/", "http://b/", "http://c/"), { freq: 9, nil: undefined }),
    date: fc.option(
      fc.integer({ min: 0, max: 20 * 86_400 }).map((s) => new Date(1_577_836_800_000 + s * 1000).toISOString()),
      { freq: 9, nil: undefined },
    ),
    mime: fc.constantFrom("image/png", "text/html", undefined),
    framing: fc.constantFrom("plain", "chunked"),
    payloadSize: fc.constantFrom(5000, undefined),
    length: fc.constantFrom(100, 1000, 5000, undefined),
    ...Object.fromEntries([...flags, ...roles].map((name) => [name, sometimes])),
  }) as fc.Arbitrary<Candidate>;
  const policy = fc.record(
    {
      minSaving: fc.constantFrom(0, 1, 900),
      mime: fc.constantFrom(["image/*"], ["text/html", "-"]),
      notMime: fc.constant(["image/png"]),
      sameUrl: fc.boolean(),
      maxAgeDays: fc.integer({ min: 0, max: 20 }),
    },
    { requiredKeys: [] },
  );

  test(`of any captures and policy; seed ${SEED}`, () => {
    fc.assert(
      fc.property(fc.array(candidate, { maxLength: 30 }), policy, (captures, rules) => {
        const sorted = captures.toSorted((one, other) => ((one.date ?? "") < (other.date ?? "") ? -1 : 1));
        const chooser = new OriginalChooser<Candidate>(rules);
        chooser.begin();
        const fates = new Map(sorted.map((capture) => [capture, chooser.decide(capture)]));
        for (const [copy, fate] of fates) {
          if (fate.kind === "original") expect(whyNotOriginal(copy)).toBeUndefined();
          if (fate.kind !== "duplicate") continue;
          const { original } = fate;
          // In one step, and never to what is itself replaced.
          expect(fates.get(original)?.kind).toBe("original");
          expect(whyNotDuplicate(copy)).toBeUndefined();
          expect(original.framing).toBe(copy.framing);
          if (original.payloadSize !== undefined) expect(original.payloadSize).toBe(copy.payloadSize);
          expect(original.date! <= copy.date!).toBe(true);
          expect(captureKey(original.uri!, original.date!)).not.toBe(captureKey(copy.uri!, copy.date!));
          if (rules.sameUrl === true) expect(original.uri).toBe(copy.uri);
          const age = Date.parse(copy.date!) - Date.parse(original.date!);
          if (rules.maxAgeDays !== undefined) expect(age).toBeLessThanOrEqual(rules.maxAgeDays * 86_400_000);
        }
      }),
      { seed: SEED, numRuns: 500 },
    );
  });
});
