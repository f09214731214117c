/** What a job came to: counted over its plan and its ledgers, as figures and as a page. */
import { formatIso, parseDigest, systemClock } from "../base/index.ts";
import { type Disk, scratchFolder } from "../disk/index.ts";
import { type CaptureLine, digestText, type RevisitLine } from "./capture-line.ts";
import type { DedupOptions, DedupResult, FixedDuplicates, FixedKind } from "./dedup.ts";
import { isUrl } from "./http-source.ts";
import type { JobFile } from "./job-files.ts";
import type { JobFolder } from "./job-folder.ts";
import type { Ledger } from "./ledger.ts";
import { flagValue, type ManifestLine, parseManifestLine } from "./manifest-line.ts";
import { describeReference } from "./orphans.ts";
import { isOrphan, ReferenceJoin } from "./reference-join.ts";
import { DedupStatistics } from "./report/dedup-statistics.ts";
import { formatReportHtml } from "./report/html.ts";
import { formatReportJson, type ReportMetadata } from "./report/shape.ts";
import type { RewriteResult } from "./rewrite-job.ts";

type Counts = Omit<DedupResult, "damage" | "job" | "report" | "resumed" | "skipped" | "copied" | "absent" | "sidecars">;

export interface JobReport {
  readonly json: string;
  readonly html: string;
  readonly counts: Counts;
}

/** What a plan says and what became of it, counted line by line. */
export class PlanFigures {
  readonly statistics = new DedupStatistics();
  readonly recordsOf = new Map<string, number>();
  /** ARC files: they cannot be rewritten. */
  readonly fixedFiles = new Set<string>();
  private readonly fixedDuplicates = new Map<FixedKind, { files: Set<string>; records: number; bytes: number }>();
  collisions = 0;
  records = 0;
  duplicates = 0;
  revisits = 0;

  static of(plan: Iterable<string>): PlanFigures {
    const figures = new PlanFigures();
    for (const text of plan) figures.add(parseManifestLine(text, "plan.tsv"));
    return figures;
  }

  /** Counts what became of the copies of one file: they come in order of their places, as the entries of its ledger do. */
  addRewritten(copies: Iterable<string>, ledger: Ledger | undefined): void {
    const fates = ledger?.fates[Symbol.iterator]();
    let fate = take(fates);
    for (const text of copies) {
      const line = parseManifestLine(text, "copies.tsv");
      if (fate?.inputOffset !== line.offset) {
        this.statistics.addLeft(line, "file-left");
        continue;
      }
      if ("reason" in fate) this.statistics.addLeft(line, fate.reason);
      else this.statistics.addRewritten(line, fate.inputLength, fate.outputLength);
      fate = take(fates);
    }
  }

  add(line: ManifestLine): void {
    if (line.flags.includes("revisit")) {
      this.revisits++;
      return;
    }
    this.records++;
    if (line.flags.includes("arc")) this.fixedFiles.add(line.file);
    this.recordsOf.set(line.file, (this.recordsOf.get(line.file) ?? 0) + 1);
    if ((line.extension ?? 0) > 0 && line.copy === 1) this.collisions++;
    if ((line.copy ?? 0) > 1) this.duplicates++;
    if (flagValue(line, "kept") === "fixed") this.addFixed(line);
    this.statistics.addRecord(line, decisionOf(line));
  }

  private addFixed(line: ManifestLine): void {
    this.duplicates++;
    const kind = fixedKindOf(line);
    const there = this.fixedDuplicates.get(kind) ?? { files: new Set(), records: 0, bytes: 0 };
    this.fixedDuplicates.set(kind, there);
    there.files.add(line.file);
    there.records++;
    there.bytes += line.length ?? 0;
  }

  get fixed(): FixedDuplicates[] {
    return [...this.fixedDuplicates].map(([kind, { files, records, bytes }]) => ({
      kind,
      files: files.size,
      records,
      bytes,
    }));
  }
}

/** Where a duplicate lies that would be replaced anywhere else. */
function fixedKindOf({ file, flags }: ManifestLine): FixedKind {
  if (flags.includes("arc")) return "arc";
  return isUrl(file) ? "server" : "wacz";
}

export function reportJob(
  disk: Disk,
  job: JobFolder,
  figures: PlanFigures,
  files: readonly JobFile[],
  results: ReadonlyMap<string, RewriteResult>,
  options: DedupOptions,
): JobReport {
  const { statistics, recordsOf, collisions, records, duplicates, revisits, fixed } = figures;
  const left: Record<string, number> = {};
  if (fixed.length > 0) left["fixed"] = fixed.reduce((sum, each) => sum + each.records, 0);
  let [filesChanged, replaced, claims, bytesBefore, bytesAfter] = [0, 0, 0, 0, 0];
  for (const file of files) {
    const result = results.get(file.name);
    if (result === undefined) continue;
    bytesBefore += result.bytesBefore;
    bytesAfter += result.bytesAfter;
    replaced += result.replaced;
    claims += result.claims;
    if (result.replaced > 0) filesChanged++;
    for (const [reason, count] of Object.entries(result.left)) left[reason] = (left[reason] ?? 0) + count;
    statistics.addFile({
      input: file.path,
      output: file.output,
      bytesBefore: result.bytesBefore,
      bytesAfter: result.bytesAfter,
      records: recordsOf.get(file.name) ?? 0,
      replaced: result.replaced,
    });
  }
  const orphans = revisits === 0 ? 0 : tellOrphans(disk, job, options);
  const report = statistics.finish(metadataOf(job, claims, options));
  const counts: Counts = {
    files: files.length,
    filesChanged,
    records,
    duplicates,
    replaced,
    claims,
    left,
    fixed,
    bytesBefore,
    bytesAfter,
    collisions,
    orphans,
  };
  return { json: formatReportJson(report), html: formatReportHtml(report), counts };
}

/** Names the revisits of the input whose originals are nowhere in it, and counts them. */
function tellOrphans(disk: Disk, job: JobFolder, options: DedupOptions): number {
  using scratch = scratchFolder(disk, { parent: job.path });
  using join = new ReferenceJoin(disk, { scratchParent: scratch.path });
  const files = new Map<string, number>();
  join.fill(() => capturesOf(job.lines("plan.tsv"), files));
  const names = [...files.keys()];
  let orphans = 0;
  for (const joined of join.joined()) {
    if (!isOrphan(joined)) continue;
    orphans++;
    options.onWarning?.({
      code: "HT_REVISIT_ORPHAN",
      message: `its original, ${describeReference(joined)}, is not among the files`,
      file: names[joined.revisit.file]!,
      offset: joined.revisit.offset,
    });
  }
  return orphans;
}

/** The lines of a plan as captures. Files get their numbers as they come. */
function* capturesOf(plan: Iterable<string>, files: Map<string, number>): Generator<[file: number, text: string]> {
  for (const text of plan) {
    const line = parseManifestLine(text, "plan.tsv");
    if (!files.has(line.file)) files.set(line.file, files.size);
    yield [files.get(line.file)!, JSON.stringify(captureOf(line))];
  }
}

function captureOf(line: ManifestLine): CaptureLine {
  const { offset, uri, date, id, status, flags } = line;
  const inner = flagValue(line, "inner");
  const shared = { offset, uri, date, id, status, ...(inner === undefined ? {} : { inner: Number(inner) }) };
  const digest = line.digest === undefined ? undefined : parseDigest(line.digest);
  const claim = digest === undefined ? undefined : digestText(digest);
  if (!flags.includes("revisit")) {
    return { kind: "held", ...shared, size: line.payloadSize ?? 0, digests: claim === undefined ? [] : [claim] };
  }
  const profile = flags.includes("unread")
    ? "unknown"
    : flags.includes("not-modified")
      ? "server-not-modified"
      : undefined;
  return { kind: "revisit", ...shared, profile, claim, refersTo: line.original as RevisitLine["refersTo"] };
}

function decisionOf(line: ManifestLine) {
  const { copy } = line;
  if (copy === undefined) return { kind: "kept", reason: flagValue(line, "kept") ?? "unknown" } as const;
  return copy === 1 ? ({ kind: "original" } as const) : ({ kind: "duplicate", copy } as const);
}

function metadataOf(job: JobFolder, claims: number, options: DedupOptions): ReportMetadata {
  const { settings, startedMs } = job.state;
  const { policy } = settings;
  const clock = options.clock ?? systemClock;
  const told = { digest: settings.digest, compare: settings.compare, output: settings.output ?? "in place" };
  const asked = Object.entries(policy).filter(([, value]) => value !== undefined);
  return {
    versions: { holotype: options.software ?? "library" },
    startedAt: formatIso(startedMs),
    finishedAt: formatIso(clock.now()),
    settings: { ...told, ...Object.fromEntries(asked) },
    proofs: [
      settings.compare
        ? "Payloads with one digest were compared byte for byte before any was called a duplicate."
        : "Payloads were taken for equal by their digests alone: they were not compared.",
      ...(claims === 0
        ? []
        : [`${claims} records refer to originals that were not read: an index or a plan claims that they are equal.`]),
      "Every record that was replaced can be put together again; its digest is in the ledger.",
      options.prove === false
        ? "The files were not read back: this was a run for measuring."
        : "Every file was read back and compared with its input before it got its name.",
    ],
  };
}

function take<T>(iterator: Iterator<T> | undefined): T | undefined {
  const step = iterator?.next();
  return step === undefined || step.done === true ? undefined : step.value;
}
