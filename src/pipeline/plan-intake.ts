/**
 * Takes a plan that was made elsewhere into a job. Its files may have changed since: a copy stays a copy only where its
 * original still lies in the place that the plan tells, with that payload. Nothing of the job is rewritten by then, so
 * the places are those of the plan.
 */
import { basename } from "node:path";
import { ArchiveError, DIGEST_ALGORITHMS, equalDigests, loadDigest, parseDigest } from "../base/index.ts";
import type { Disk } from "../disk/index.ts";
import { type ByteSource, loadZstd, scanRecord, WarcReader } from "../warc/index.ts";
import { type Input, openInput } from "./inputs.ts";
import { formatColumn, formatManifestLine, type ManifestLine, parseManifestLine } from "./manifest-line.ts";
import { mayHaveZstd } from "./part.ts";
import { Spool } from "./spool.ts";
import { readGivenLines } from "./text-lines.ts";

/**
 * The lines of a plan that are about these files. It may name them by their base names. What it says of originals in other
 * files is believed; without `look`, in these too. What a look needs must have been loaded, see `loadSight`.
 */
export function* takePlan(
  disk: Disk,
  path: string,
  inputs: readonly Input[],
  look: boolean,
): Generator<{ readonly line: ManifestLine; readonly text: string }> {
  const names = new PlanNames(inputs);
  using sight = look ? new OriginalSight(disk) : undefined;
  let number = 0;
  for (const text of readGivenLines(disk, path)) {
    const line = parseManifestLine(text, `${path}:${++number}`);
    const named = names.find(line.file);
    if (named === undefined) continue;
    const { column: file } = named;
    const taken = take(file === line.file ? line : { ...line, file }, names, sight);
    yield { line: taken, text: taken === line ? text : formatManifestLine(taken) };
  }
}

/** Loads whatever records of these files may be read with. */
export async function loadSight(disk: Disk, inputs: readonly Input[]): Promise<void> {
  for (const algorithm of DIGEST_ALGORITHMS) await loadDigest(algorithm);
  if (mayHaveZstd(disk, inputs)) await loadZstd();
}

function take(line: ManifestLine, names: PlanNames, sight: OriginalSight | undefined): ManifestLine {
  const { original } = line;
  const named = original?.file === undefined ? undefined : names.find(original.file);
  if (original === undefined || named === undefined) return line;
  const { input, column: file } = named;
  const taken = file === original.file ? line : { ...line, original: { ...original, file } };
  if ((line.copy ?? 0) < 2 || sight === undefined || sight.holds(taken, input)) return taken;
  return { ...line, copy: undefined, original: undefined, flags: [...line.flags, "kept:original-missing"] };
}

interface NamedInput {
  readonly input: Input;
  /** Its name as a column. */
  readonly column: string;
}

/** The inputs by the names that manifests have, and by their base names where these are theirs alone. */
class PlanNames {
  private readonly inputs = new Map<string, NamedInput | undefined>();

  constructor(inputs: readonly Input[]) {
    const named = inputs.map((input): NamedInput => ({ input, column: formatColumn(input.name) }));
    for (const input of named) {
      const base = basename(input.column);
      this.inputs.set(base, this.inputs.has(base) ? undefined : input);
    }
    for (const input of named) this.inputs.set(input.column, input);
  }

  find(name: string): NamedInput | undefined {
    return this.inputs.get(name) ?? this.inputs.get(basename(name));
  }
}

/** Looks at originals where a plan says they are. */
class OriginalSight implements Disposable {
  private readonly disk: Disk;
  /** Plans have their originals in any order, and some inputs can only be read forward. */
  private readonly spool: Spool;
  private open: { readonly input: Input; readonly source: ByteSource } | undefined;
  /** The last answer: the copies of one original mostly stand together. */
  private last: { readonly key: string; readonly holds: boolean } | undefined;

  constructor(disk: Disk) {
    this.disk = disk;
    this.spool = new Spool(disk);
  }

  holds(copy: ManifestLine, input: Input): boolean {
    const { file, offset, id } = copy.original!;
    const key = [file, offset, id, copy.digest, copy.payloadSize].join("\t");
    if (this.last?.key !== key) this.last = { key, holds: this.look(copy, input) };
    return this.last.holds;
  }

  private look({ original, digest: claim, payloadSize }: ManifestLine, input: Input): boolean {
    const digest = parseDigest(claim ?? "");
    const { offset, id } = original!;
    if (offset === undefined || digest === undefined) return false;
    try {
      const reader = new WarcReader(this.sourceOf(input), { start: offset });
      try {
        const record = reader.next();
        if (record?.offset !== offset || record.type === "revisit" || record.id !== id) return false;
        const { payloadDigests, payloadSize: size } = scanRecord(record, { payload: [digest.algorithm] });
        return size === payloadSize && payloadDigests.some((own) => equalDigests(own, digest));
      } finally {
        reader.close();
      }
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error;
      return false;
    }
  }

  private sourceOf(input: Input): ByteSource {
    if (this.open?.input !== input) {
      this.close();
      this.open = { input, source: openInput(this.disk, this.spool.take(input)) };
    }
    return this.open.source;
  }

  private close(): void {
    this.open?.source.close?.();
    this.open = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
    this.spool[Symbol.dispose]();
  }
}
