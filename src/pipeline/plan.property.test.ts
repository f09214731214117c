/** The plan over arbitrary lines: the order in which they come does not matter, and what must hold always does. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { captureKey, type Policy } from "../dedup/index.ts";
import { newSeed } from "../testing/dice.ts";
import { ForgetfulDisk } from "../testing/forgetful-disk.ts";
import {
  BY_DIGEST,
  flagValue,
  formatManifestLine,
  fromSortable,
  type ManifestLine,
  parseManifestLine,
  splitLine,
  toSortable,
} from "./manifest-line.ts";
import { Planner } from "./plan.ts";

const SEED = newSeed();

const FLAGS = ["truncated", "segmented", "damaged", "empty", "irreversible", "arc", "resource"] as const;
const URIS = Array.from("abcdefghij\u4e2d", (letter) => `http://${letter}.example/`);
const date = fc
  .integer({ min: 0, max: 30 })
  .map((hour) => new Date(1_577_836_800_000 + hour * 21_600_000).toISOString());
const flags = fc.oneof(
  { weight: 4, arbitrary: fc.constant([] as string[]) },
  { weight: 1, arbitrary: fc.subarray([...FLAGS], { minLength: 1, maxLength: 2 }).map((list): string[] => list) },
);

/** Offsets are given out behind this, so that no two lines stand for one record. */
const line: fc.Arbitrary<Omit<ManifestLine, "offset">> = fc.record({
  file: fc.constantFrom("a.warc.gz", "b.warc.gz", "\u00e9.warc.gz", "c.wacz!archive/d.warc.gz"),
  length: fc.option(fc.constantFrom(150, 900, 5000), { freq: 9, nil: undefined }),
  uri: fc.option(fc.constantFrom(...URIS), { freq: 15, nil: undefined }),
  date: fc.option(date, { freq: 15, nil: undefined }),
  digest: fc.constantFrom("sha256:1", "sha256:1", "sha256:2"),
  payloadSize: fc.constantFrom(4000, 4000, 4000, 4001),
  status: fc.constant(200),
  mime: fc.constantFrom("text/html", "image/png", undefined),
  framing: fc.constantFrom("plain", "plain", "plain", "chunked"),
  id: fc.option(fc.constantFrom("urn:1", "urn:2", "urn:3"), { freq: 3, nil: undefined }),
  flags,
  extension: fc.constantFrom(undefined, 0, 0, 0, 1, 10),
  copy: fc.constant(undefined),
  original: fc.constant(undefined),
});
const revisit: fc.Arbitrary<Omit<ManifestLine, "offset">> = fc
  .tuple(line, fc.constantFrom(...URIS), date, fc.constantFrom("urn:1", undefined), fc.integer({ min: 0, max: 3 }))
  .map(([base, uri, day, id, told]) => ({
    ...base,
    flags: ["revisit"],
    payloadSize: undefined,
    framing: undefined,
    extension: undefined,
    original:
      told === 0
        ? undefined
        : { uri: told > 1 ? uri : undefined, date: told > 1 ? day : undefined, id, file: undefined, offset: undefined },
  }));
const lines = fc
  .array(fc.oneof({ weight: 40, arbitrary: line }, { weight: 1, arbitrary: revisit }), { maxLength: 40, size: "max" })
  .map((all) => all.map((each, offset): ManifestLine => ({ ...each, offset })));
const policy: fc.Arbitrary<Policy> = fc.record(
  {
    minSaving: fc.constantFrom(0, 1, 800),
    notMime: fc.constant(["image/*"]),
    sameUrl: fc.boolean(),
    maxAgeDays: fc.integer({ min: 0, max: 8 }),
  },
  { requiredKeys: [] },
);

function plan(all: readonly ManifestLine[], rules: Policy, known: readonly ManifestLine[] = []): string[] {
  using planner = new Planner(new ForgetfulDisk(), rules, { lines: all.length + known.length, memoryBytes: 2000 });
  for (const each of all) planner.add(formatManifestLine(each), "(test)");
  for (const each of known) planner.addKnown(each);
  return [...planner.planned()].map(({ line: planned, text }) => {
    expect(text).toBe(formatManifestLine(planned));
    return text;
  });
}

/** The same, decided over stretch by stretch; all lines are looked at before, when nothing has been compared yet. */
function planStretches(
  all: readonly ManifestLine[],
  rules: Policy,
  cuts: readonly number[],
  inOrder: boolean,
): string[] {
  using planner = new Planner(new ForgetfulDisk(), rules, { lines: all.length, memoryBytes: 2000 });
  const columnsOf = (each: ManifestLine) => splitLine(formatManifestLine(each), "(test)");
  for (const each of all) planner.look(columnsOf({ ...each, extension: undefined }), "(test)");
  const digests = [...new Set(all.map(({ digest }) => digest ?? ""))].sort();
  const order = { ...BY_DIGEST, joinsUncompared: true };
  const sortables = all.map((each) => toSortable(formatManifestLine(each), columnsOf(each), order));
  const texts = (inOrder ? sortables.sort() : sortables).map((sortable) => fromSortable(sortable, order));
  const bounds = cuts.map((cut) => cut % (digests.length + 1)).sort((one, other) => one - other);
  return [0, ...bounds].flatMap((from, i) => {
    const own = new Set(digests.slice(from, bounds[i] ?? digests.length));
    const stretch = texts.filter((text) => own.has(parseManifestLine(text, "(test)").digest ?? ""));
    const isOrdered = inOrder && all.every(({ extension }) => (extension ?? 0) === 0);
    return [...planner.plannedStretch(stretch, isOrdered)].map(({ text }) => text);
  });
}

describe(`any lines, seed ${SEED}`, () => {
  test("in stretches, in order or not, give the plan of all of them", () => {
    fc.assert(
      fc.property(
        lines,
        policy,
        fc.array(fc.nat(), { maxLength: 3 }),
        fc.boolean(),
        fc.boolean(),
        (given, rules, cuts, inOrder, collide) => {
          const all = collide ? given : given.map((each) => ({ ...each, extension: each.extension && 0 }));
          expect(planStretches(all, rules, cuts, inOrder)).toEqual(plan(all, rules));
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });

  test("that were planned before are planned as if they had not been", () => {
    fc.assert(
      fc.property(lines, policy, policy, (all, before, rules) => {
        const planned = plan(all, before).map((text) => parseManifestLine(text, "(test)"));
        expect(plan(planned, rules)).toEqual(plan(all, rules));
      }),
      { seed: SEED },
    );
  });

  test("in any order give the same plan", () => {
    fc.assert(
      fc.property(lines, policy, fc.infiniteStream(fc.nat()), (all, rules, dice) => {
        const shuffled = all
          .map((each) => ({ each, rank: dice.next().value as number }))
          .sort((one, other) => one.rank - other.rank)
          .map(({ each }) => each);
        expect(plan(shuffled, rules)).toEqual(plan(all, rules));
      }),
      { seed: SEED, numRuns: 150 },
    );
  });

  test("come out each once, as they were but for what the plan adds", () => {
    fc.assert(
      fc.property(lines, policy, (all, rules) => {
        const bare = ({ copy: _, original, flags: told, ...rest }: ManifestLine) => ({
          ...rest,
          flags: told.filter((flag) => flag !== "again" && !flag.startsWith("kept:")),
          original: told.includes("revisit") ? original : undefined,
        });
        const found = plan(all, rules).map((text) => bare(parseManifestLine(text, "(plan)")));
        const byOffset = found.toSorted((one, other) => one.offset - other.offset);
        expect(byOffset).toEqual(all.map((each) => bare(parseManifestLine(formatManifestLine(each), "(input)"))));
      }),
      { seed: SEED, numRuns: 150 },
    );
  });

  test("never lead to what is replaced, to themselves, to what somebody else could be taken for", () => {
    let copies = 0;
    fc.assert(
      fc.property(lines, policy, (all, rules) => {
        const found = plan(all, rules).map((text) => parseManifestLine(text, "(plan)"));
        const place = (at: { file: string | undefined; offset: number | undefined }) => `${at.file} ${at.offset}`;
        const byPlace = new Map(found.map((each) => [place(each), each]));
        for (const each of found) {
          if ((each.copy ?? 1) === 1) continue;
          copies++;
          const original = byPlace.get(place(each.original!))!;
          expect(original.copy).toBe(1);
          expect(original).toMatchObject({ digest: each.digest, payloadSize: each.payloadSize, framing: each.framing });
          expect(original.extension ?? 0).toBe(each.extension ?? 0);
          expect(captureKey(original.uri!, original.date!)).not.toBe(captureKey(each.uri!, each.date!));
          for (const flaw of FLAGS.slice(0, 4)) expect([...each.flags, ...original.flags]).not.toContain(flaw);
          expect(each.flags).not.toContain("irreversible");
          expect(each.flags).not.toContain("arc");
          expect(each.file).not.toContain("!");
          const twins = found.filter(({ uri, date: day, flags: told }) => {
            return (
              !told.includes("revisit") && uri === original.uri && day?.slice(0, 19) === original.date!.slice(0, 19)
            );
          });
          const contents = twins.map((twin) => [twin.digest, twin.extension ?? 0, twin.framing].join(" "));
          expect(new Set(contents)).toHaveLength(1);
        }
        checkReferred(found);
      }),
      { seed: SEED, numRuns: 300 },
    );
    expect(copies).toBeGreaterThan(6);
  });

  test("of earlier holdings are referred to, do not come out, and take nothing away", () => {
    fc.assert(
      fc.property(lines, lines, policy, (all, holdings, rules) => {
        const known = holdings.map((each) => ({ ...each, file: `old/${each.offset}.warc.gz` }));
        const without = plan(all, rules);
        const found = plan(all, rules, known).map((text) => parseManifestLine(text, "(plan)"));
        expect(found.map(({ file, offset }) => `${file} ${offset}`).sort()).toEqual(
          without.map((text) => text.split("\t").slice(0, 2).join(" ")).sort(),
        );
        expect(found.some(({ flags: told }) => told.includes("known"))).toBe(false);
        for (const each of found) {
          if ((each.copy ?? 1) === 1 || !each.original!.file!.startsWith("old/")) continue;
          const candidates = known.filter(({ uri, date: day, digest, file }) => {
            const { original } = each;
            return file === original!.file && uri === original!.uri && day === original!.date && digest === each.digest;
          });
          expect(candidates.length).toBeGreaterThan(0);
          // Whoever keeps it may know ours in turn.
          expect(each.original!.date! < each.date!).toBe(true);
        }
      }),
      { seed: SEED, numRuns: 100 },
    );
  });
});

/** What a revisit of the input refers to is no copy. */
function checkReferred(found: readonly ManifestLine[]): void {
  const replaced = found.filter(({ copy }) => (copy ?? 1) > 1);
  for (const { flags: told, original, uri } of found) {
    if (!told.includes("revisit")) continue;
    for (const each of replaced) {
      if (original?.id !== undefined) expect(each.id).not.toBe(original.id);
      const told = original?.uri !== undefined && original.date !== undefined;
      if (!told) expect(each.uri).not.toBe(original?.uri ?? uri ?? "");
      else expect(captureKey(each.uri!, each.date!)).not.toBe(captureKey(original.uri!, original.date!));
    }
  }
}

test("a kept line says why, once", () => {
  const kept = plan([{ ...BASE, flags: ["header-digest:none", "truncated"] }], {});
  expect(flagValue(parseManifestLine(kept[0]!, ""), "kept")).toBe("truncated");
  expect(kept[0]!.match(/kept:/g)).toHaveLength(1);
});

const BASE: ManifestLine = {
  file: "a.warc.gz",
  offset: 0,
  length: 5000,
  uri: "http://a.example/",
  date: "2020-01-01T00:00:00Z",
  digest: "sha256:1",
  payloadSize: 4000,
  status: 200,
  mime: "text/html",
  framing: "plain",
  id: undefined,
  flags: [],
  extension: undefined,
  copy: undefined,
  original: undefined,
};
