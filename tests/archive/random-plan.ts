/**
 * What is done with an archive, by chance: files added and adopted, captures removed, segments compacted. A plan says
 * what; a schedule is one of the orders in which it can be done. All schedules of a plan must give the same answers.
 */
import fc from "fast-check";
import { digestOf } from "../../src/base/index.ts";
import { createDice, type Dice } from "../../src/testing/dice.ts";
import { urlKey } from "../../src/url/index.ts";
import { type OracleCapture, oracle } from "./oracle.ts";
import { readRecords } from "./oracle-records.ts";
import { type AnyRecord, anyRecord, PAYLOADS, rawRecords, TIMES, URLS } from "./random-records.ts";

/** Times from and up to, both included. */
export type Removal =
  | { readonly url: string; readonly fromMs: number; readonly toMs: number }
  | { readonly sha256: string };

export interface Plan {
  readonly files: readonly { readonly how: "add" | "adopt"; readonly records: readonly AnyRecord[] }[];
  /** In this order. */
  readonly removals: readonly Removal[];
  readonly compactions: number;
  /** Files, by number, that are added once more at the end: nothing that was removed comes back with them. */
  readonly again: readonly number[];
}

export type Step =
  | {
      readonly kind: "add" | "adopt";
      readonly files: readonly (readonly Buffer[])[];
      /** What is added comes back, though it was removed. */
      readonly readmit?: boolean;
    }
  | { readonly kind: "remove"; readonly removal: Removal }
  | { readonly kind: "compact" };

export interface Schedule {
  readonly steps: readonly Step[];
  readonly segmentSizeBytes: number;
}

const file = fc.record({
  how: fc.constantFrom("add" as const, "add" as const, "add" as const, "adopt" as const),
  records: fc.array(anyRecord, { minLength: 1, maxLength: 4 }),
});
const time = fc.nat(TIMES.length - 1);
const removal: fc.Arbitrary<Removal> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .record({ url: fc.constantFrom(...URLS), times: fc.tuple(time, time) })
      .map(({ url, times }) => ({ url, fromMs: TIMES[Math.min(...times)]!, toMs: TIMES[Math.max(...times)]! })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...PAYLOADS).map((payload) => ({ sha256: digestOf("sha256", payload).hex })),
  },
);

/** Some record is left in one of its files: without any there is no archive. */
export const anyPlan: fc.Arbitrary<Plan> = fc
  .record({
    files: fc.array(file, { minLength: 2, maxLength: 6 }),
    removals: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 3, arbitrary: fc.array(removal, { minLength: 1, maxLength: 2 }) },
    ),
    compactions: fc.nat(2),
    again: fc.array(fc.nat(5), { maxLength: 1 }),
  })
  .filter((plan) => rawFiles(plan).some((records) => records.length > 0));

/** The records of each file of the plan. A file of which no record is left has none. */
export function rawFiles(plan: Plan): Buffer[][] {
  const raw = rawRecords(plan.files.flatMap(({ records }) => records));
  let from = 0;
  return plan.files.map(({ records }) => {
    from += records.length;
    return raw.slice(from - records.length, from).filter((bytes) => bytes !== undefined);
  });
}

/** Which captures the removals of the plan take away, one removal after the other: for `oracle`. */
export function removedBy(plan: Plan): (capture: OracleCapture) => boolean {
  const files = rawFiles(plan);
  const gone = new Set<string>();
  for (const each of plan.removals) takeAway(each, files, gone);
  return (capture) => gone.has(captureName(capture));
}

/** Adds the names of those that a removal takes away from what these files hold and is not gone yet. */
export function takeAway(each: Removal, files: readonly (readonly Buffer[])[], gone: Set<string>): void {
  const { captures } = oracle(files, (capture) => gone.has(captureName(capture)));
  const taken = Object.values(captures).flat();
  for (const capture of taken) if (isTakenBy(each, capture)) gone.add(captureName(capture));
}

/** What a capture is known by. */
export function captureName({ key, timeMs, id, told }: OracleCapture): string {
  return JSON.stringify([key, timeMs, id, told]);
}

function isTakenBy(each: Removal, { key, timeMs, sha256 }: OracleCapture): boolean {
  if ("sha256" in each) return sha256 === each.sha256;
  return key === urlKey(each.url) && timeMs !== null && each.fromMs <= timeMs && timeMs <= each.toMs;
}

/** The plan as it stands: file by file, then the removals, then the compactions. */
export function inOrder(plan: Plan): Schedule {
  const files = rawFiles(plan);
  const steps: Step[] = [
    ...plan.files.map(({ how }, i) => ({ kind: how, files: [files[i]!] })),
    ...plan.removals.map((each) => ({ kind: "remove" as const, removal: each })),
    ...Array.from({ length: plan.compactions }, () => ({ kind: "compact" as const })),
  ];
  return { steps: withAgain(plan, steps), segmentSizeBytes: 1 << 20 };
}

/**
 * Another order of the same: other batches, half the time the records in other files, removals as early as all records
 * that they concern are there, and in the plan's order among themselves.
 */
export function shuffled(plan: Plan, seed: number): Schedule {
  const dice = createDice(seed);
  const own = rawFiles(plan).map((records, i) => ({ kind: plan.files[i]!.how, records }));
  const files = shuffle(
    dice.coin()
      ? own
      : regrouped(
          own.flatMap(({ records }) => records),
          dice,
        ),
    dice,
  );
  // Each place is that before the file of this number; the last one is behind all files.
  const places = Array.from({ length: files.length + 1 }, (): Step[] => []);
  let earliest = 0;
  for (const each of plan.removals) {
    const last = files.findLastIndex(({ records }) => records.some((bytes) => isConcerned(each, bytes)));
    earliest = Math.max(earliest, last + 1);
    earliest += dice.below(places.length - earliest);
    places[earliest]!.push({ kind: "remove", removal: each });
  }
  for (let i = 0; i < plan.compactions; i++) places[dice.below(places.length)]!.push({ kind: "compact" });
  const steps = places.flatMap((place, i): Step[] => {
    const next = files[i];
    return next === undefined ? place : [...place, { kind: next.kind, files: [next.records] }];
  });
  const segmentSizeBytes = [1, 2500, 1 << 20][dice.below(3)]!;
  return { steps: withAgain(plan, batched(steps, dice)), segmentSizeBytes };
}

function withAgain(plan: Plan, steps: readonly Step[]): Step[] {
  const files = rawFiles(plan);
  const again = plan.again.map((number) => ({ kind: "add" as const, files: [files[number % files.length]!] }));
  return [...steps, ...again]
    .map((step) => ("files" in step ? { ...step, files: step.files.filter((records) => records.length > 0) } : step))
    .filter((step) => !("files" in step) || step.files.length > 0);
}

/** Whether the answer to a removal may depend on the record. What has a payload may depend on every one. */
function isConcerned(each: Removal, bytes: Buffer): boolean {
  if ("sha256" in each) return true;
  const key = urlKey(each.url);
  const { captures, requests } = readRecords([[bytes]]);
  const isWithin = (timeMs: number | null) => timeMs !== null && each.fromMs <= timeMs && timeMs <= each.toMs;
  return (
    captures.some((capture) => capture.key === key && isWithin(capture.timeMs)) ||
    requests.some(({ url }) => urlKey(url) === key)
  );
}

function shuffle<T>(items: readonly T[], dice: Dice): T[] {
  const result = [...items];
  for (let i = result.length - 1; i > 0; i--) {
    const other = dice.below(i + 1);
    [result[i], result[other]] = [result[other]!, result[i]!];
  }
  return result;
}

/** The records in an order of their own, in files of one to four. */
function regrouped(records: readonly Buffer[], dice: Dice) {
  const left = shuffle(records, dice);
  const files: { kind: "add" | "adopt"; records: Buffer[] }[] = [];
  while (left.length > 0) {
    files.push({ kind: dice.below(4) === 0 ? "adopt" : "add", records: left.splice(0, 1 + dice.below(4)) });
  }
  return files;
}

/** Now and then, files that follow each other come in one call. */
function batched(steps: readonly Step[], dice: Dice): Step[] {
  const result: Step[] = [];
  for (const step of steps) {
    const last = result.at(-1);
    if (last !== undefined && "files" in last && "files" in step && last.kind === step.kind && dice.coin()) {
      result[result.length - 1] = { ...last, files: [...last.files, ...step.files] };
    } else result.push(step);
  }
  return result;
}
