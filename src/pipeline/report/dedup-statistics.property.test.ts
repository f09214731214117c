/** The statistics against a model that keeps everything. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { hostOf, urlKey } from "../../url/index.ts";
import type { ManifestLine } from "../manifest-line.ts";
import { DedupStatistics, type RecordDecision, type StatisticsLimits } from "./dedup-statistics.ts";
import type { DedupReport, FileFigures, Share, ShareTable } from "./shape.ts";

interface Step {
  readonly line: ManifestLine;
  readonly decision: RecordDecision;
  /** Of a duplicate: bytes of the revisit, or why it was left. */
  readonly outcome: number | string;
}

const METADATA = { versions: {}, startedAt: "", finishedAt: "", settings: {} };
const HOSTS = ["a.example", "www.b.example", "b.example:8080", "1.2.3.4", "xn--mnchen-3ya.example"] as const;
const URI = fc.oneof(
  fc.tuple(fc.constantFrom(...HOSTS), fc.nat(2)).map(([host, page]) => `http://${host}/p${page}?q=/`),
  fc.webUrl({ validSchemes: ["http", "https", "ftp"], withQueryParameters: true }),
  fc.constantFrom("http://A.Example/", "https://a..example/", "http://0x7f.1/", "http://a.example./", "http://-a/"),
  fc.constantFrom("dns:a.example", "http:////a.example/x", "http://http://a.example/", "HTTP://Me@A.example", "\ud800"),
);
const DATE = fc.constantFrom("2009-05-14T09:30:00Z", "2013-09-03T14:05:50.123Z", "20180321081600", "yesterday");
const MIME = fc.constantFrom("text/html", "image/png", "text/css", "application/pdf");
const REASON = fc.constantFrom("referred", "damaged", "empty", "truncated", "segmented", "mime");
const SIZE = fc.nat(100_000);

const STEP = fc
  .record({
    uri: fc.option(URI, { nil: undefined }),
    date: fc.option(DATE, { nil: undefined }),
    mime: fc.option(MIME, { nil: undefined }),
    length: fc.option(SIZE, { nil: undefined }),
    offset: SIZE,
    file: fc.constantFrom("one.warc.gz", "two.warc.gz"),
    original: fc.option(fc.option(URI, { nil: undefined }), { nil: null }),
    kind: fc.constantFrom("original" as const, "duplicate" as const, "kept" as const),
    reason: REASON,
    outcome: fc.oneof(SIZE, fc.constantFrom("saving", "unreadable")),
  })
  .map(({ kind, reason, outcome, original, ...of }): Step => {
    const place = { uri: original ?? undefined, date: of.date, id: "urn:x", file: undefined, offset: undefined };
    const line = { ...of, original: original === null ? undefined : place };
    const decision: RecordDecision =
      kind === "kept" ? { kind, reason } : kind === "duplicate" ? { kind, copy: 2 } : { kind };
    const rest = { digest: undefined, payloadSize: undefined, extension: undefined, copy: undefined };
    return { line: { status: 200, framing: "plain", id: "x", flags: [], ...rest, ...line }, decision, outcome };
  });

/** Payloads one behind the other; of one digest there may be several, in order of their extensions. */
const STEPS = fc
  .array(
    fc.record({
      size: fc.option(SIZE, { nil: undefined }),
      steps: fc.array(STEP, { minLength: 1, maxLength: 14 }),
      isCollision: fc.boolean(),
    }),
    { maxLength: 8 },
  )
  .map((payloads) => {
    let digest = 0;
    let extension: number | undefined;
    return payloads.flatMap(({ size, steps, isCollision }) => {
      if (isCollision && digest > 0) extension = (extension ?? 0) + 1;
      else {
        digest++;
        extension = digest % 3 === 0 ? undefined : 0;
      }
      const facts = { digest: `sha1:${digest}`, extension, payloadSize: size };
      return steps.map((step): Step => ({ ...step, line: { ...step.line, ...facts } }));
    });
  });

const FILES = fc.array(
  fc.record({ input: fc.string(), bytesBefore: SIZE, bytesAfter: SIZE, records: SIZE, replaced: SIZE }),
  { maxLength: 12 },
);

function run(steps: readonly Step[], files: readonly FileFigures[], limits?: StatisticsLimits): DedupReport {
  const statistics = new DedupStatistics(limits);
  for (const { line, decision } of steps) statistics.addRecord(line, decision);
  for (const { line, decision, outcome } of steps) {
    if (decision.kind !== "duplicate") continue;
    if (typeof outcome === "string") statistics.addLeft(line, outcome);
    else statistics.addRewritten(line, line.length ?? 0, outcome);
  }
  for (const file of files) statistics.addFile(file);
  return statistics.finish(METADATA);
}

const sum = <T>(items: readonly T[], of: (item: T) => number) => items.reduce((all, item) => all + of(item), 0);
const lengthOf = ({ line }: Step) => line.length ?? 0;
const sizeOf = ({ line }: Step) => line.payloadSize ?? 0;
const isDuplicate = ({ decision }: Step) => decision.kind === "duplicate";
const isReplaced = (step: Step) => isDuplicate(step) && typeof step.outcome === "number";
const savedBy = (step: Step) => lengthOf(step) - (step.outcome as number);

function shareOf(steps: readonly Step[]): Share {
  const duplicates = steps.filter(isDuplicate);
  const replaced = steps.filter(isReplaced);
  return {
    records: steps.length,
    recordBytes: sum(steps, lengthOf),
    payloadBytes: sum(steps, sizeOf),
    duplicates: duplicates.length,
    duplicateBytes: sum(duplicates, lengthOf),
    replaced: replaced.length,
    savedBytes: sum(replaced, savedBy),
  };
}

function sharesBy(steps: readonly Step[], nameOf: (line: ManifestLine) => string): Map<string, Share> {
  const groups = groupBy(steps, ({ line }) => nameOf(line));
  return new Map([...groups].map(([name, members]) => [name, shareOf(members)]));
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

const hostName = (line: ManifestLine) =>
  line.uri === undefined ? "-" : (hostOf(urlKey(line.uri, { stripWww: false })) ?? "-");
const mimeName = (line: ManifestLine) => line.mime ?? "-";
const yearName = (line: ManifestLine) =>
  line.date === undefined || line.date === "yesterday" ? "-" : line.date.slice(0, 4);

function rowsOf({ rows }: ShareTable): Map<string, Share> {
  return new Map(rows.map(({ name, atLeast: _, ...share }) => [name, share]));
}

test("the totals are those of the model", () => {
  fc.assert(
    fc.property(STEPS, FILES, (steps, files) => {
      const { totals } = run(steps, files);
      const replaced = steps.filter(isReplaced);
      const { savedBytes: _, ...share } = shareOf(steps);
      const isWhole = ({ decision }: Step) =>
        decision.kind !== "kept" || !["damaged", "empty", "truncated", "segmented"].includes(decision.reason);
      const payloads = groupBy(steps.filter(isWhole), ({ line }) => `${line.digest} ${line.extension ?? 0}`);
      expect(totals).toEqual({
        ...share,
        files: files.length,
        fileRecords: sum(files, ({ records }) => records),
        bytesBefore: sum(files, ({ bytesBefore }) => bytesBefore),
        bytesAfter: sum(files, ({ bytesAfter }) => bytesAfter),
        savedBytes: sum(files, ({ bytesBefore, bytesAfter }) => bytesBefore - bytesAfter),
        payloads: payloads.size,
        originals: steps.filter(({ decision }) => decision.kind === "original").length,
        kept: steps.filter(({ decision }) => decision.kind === "kept").length,
        replacedBytesBefore: sum(replaced, lengthOf),
        replacedBytesAfter: sum(replaced, ({ outcome }) => outcome as number),
        left: share.duplicates - share.replaced,
      });
    }),
  );
});

test("the tables are those of the model, as long as they have room", () => {
  fc.assert(
    fc.property(STEPS, (steps) => {
      const report = run(steps, []);
      expect(rowsOf(report.byHost)).toEqual(sharesBy(steps, hostName));
      expect(rowsOf(report.byMime)).toEqual(sharesBy(steps, mimeName));
      expect(rowsOf(report.byYear)).toEqual(sharesBy(steps, yearName));
      const years = report.byYear.rows.map(({ name }) => name);
      expect(years).toEqual([...years].sort());
      for (const table of [report.byHost, report.byMime, report.byYear]) {
        expect(table.others).toBe(undefined);
        expect(table.rows.every(({ atLeast }) => !atLeast)).toBe(true);
      }
    }),
  );
});

test("without room rows are exact or say so, and nothing is lost from the sum", () => {
  fc.assert(
    fc.property(STEPS, FILES, fc.integer({ min: 1, max: 3 }), (steps, files, max) => {
      const report = run(steps, files, { namesMax: max, rowsMax: max });
      for (const [table, nameOf] of [[report.byHost, hostName] as const, [report.byMime, mimeName] as const]) {
        const exact = sharesBy(steps, nameOf);
        expect(table.rows.length).toBeLessThanOrEqual(max);
        for (const { name, atLeast, ...share } of table.rows) {
          if (!atLeast) expect(share).toEqual(exact.get(name));
          else expect(share.records).toBeLessThanOrEqual(exact.get(name)!.records);
        }
        const parts: readonly Share[] = [...table.rows, ...(table.others === undefined ? [] : [table.others])];
        const all = shareOf(steps);
        for (const key of Object.keys(all) as (keyof Share)[]) expect(sum(parts, (part) => part[key])).toBe(all[key]);
      }
      const saved = (file: FileFigures) => file.bytesBefore - file.bytesAfter;
      const best = files.map(saved).sort((one, other) => other - one);
      expect(report.byFile.rows.map(({ savedBytes }) => savedBytes)).toEqual(best.slice(0, max));
      expect(report.byFile.others?.files ?? 0).toBe(Math.max(0, files.length - max));
      expect(report.byFile.others?.savedBytes ?? 0).toBe(sum(best.slice(max), (bytes) => bytes));
    }),
  );
});

test("time, location, copies, collisions, reasons and the largest are those of the model", () => {
  fc.assert(
    fc.property(STEPS, (steps) => {
      const report = run(steps, [], { largestMax: 5 });
      const across = (isOf: (line: ManifestLine) => boolean) => {
        const { duplicates, duplicateBytes, replaced, savedBytes } = shareOf(
          steps.filter((step) => isDuplicate(step) && isOf(step.line)),
        );
        return { duplicates, duplicateBytes, replaced, savedBytes };
      };
      const originalUri = (line: ManifestLine) => line.original?.uri;
      expect(report.acrossUnknown).toEqual(across((line) => originalUri(line) === undefined));
      expect(report.acrossTime).toEqual(
        across((line) => originalUri(line) !== undefined && line.uri === originalUri(line)),
      );
      expect(report.acrossLocation).toEqual(
        across((line) => originalUri(line) !== undefined && line.uri !== originalUri(line)),
      );

      const flaws: readonly string[] = ["damaged", "empty", "truncated", "segmented"];
      const whole = steps.filter(({ decision }) => decision.kind !== "kept" || !flaws.includes(decision.reason));
      const payloads = [...groupBy(whole, ({ line }) => `${line.digest} ${line.extension ?? 0}`).values()];
      expect(report.copies.map(({ from, to }) => [from, to])).toEqual([
        [1, 1],
        [2, 2],
        [3, 5],
        [6, 10],
        [11, 100],
        [101, undefined],
      ]);
      for (const { from, to, ...figures } of report.copies) {
        const members = payloads.filter(({ length }) => length >= from && length <= (to ?? length));
        expect(figures).toEqual({
          payloads: members.length,
          records: sum(members, ({ length }) => length),
          payloadBytes: sum(members.flat(), sizeOf),
          repeatedBytes: sum(members, ([first, ...rest]) => (first === undefined ? 0 : sum(rest, sizeOf))),
        });
      }
      const extensions = [...groupBy(payloads, ([first]) => first!.line.digest).values()];
      const collided = extensions.filter(({ length }) => length > 1);
      expect(report.collisions).toEqual({
        digests: collided.length,
        payloads: sum(collided, ({ length }) => length),
        resolvedRecords: whole.filter(({ line }) => line.extension !== undefined).length,
      });

      const kept = groupBy(steps, ({ decision }) => (decision.kind === "kept" ? decision.reason : undefined));
      kept.delete(undefined);
      expect(new Map(report.kept.map(({ reason, records }) => [reason, records]))).toEqual(
        new Map([...kept].map(([reason, members]) => [reason, members.length])),
      );
      const best = steps.filter(isReplaced).map(savedBy);
      best.sort((one, other) => other - one);
      expect(report.largest.map(({ savedBytes }) => savedBytes)).toEqual(best.slice(0, 5));
    }),
  );
});
