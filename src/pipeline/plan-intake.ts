/**
 * Takes a plan that was made elsewhere into a job. It is only a list of claims: whether an original lies where the plan
 * says, with that payload, is found out when its copies are rewritten. Here records are turned down that the plan would
 * replace and refer to at the same time.
 */
import { basename } from "node:path";
import { CaptureSet } from "../dedup/index.ts";
import type { Disk } from "../disk/index.ts";
import type { Input } from "./inputs.ts";
import { formatColumn, formatManifestLine, type ManifestLine, parseManifestLine } from "./manifest-line.ts";
import { readGivenLines } from "./text-lines.ts";

/** The lines of a plan that are about these files. It may name them by their base names. */
export function* takePlan(
  disk: Disk,
  path: string,
  inputs: readonly Input[],
): Generator<{ readonly line: ManifestLine; readonly text: string }> {
  const names = new PlanNames(inputs);
  const copies = new CaptureSet();
  for (const { line } of readPlan(disk, path)) {
    if ((line.copy ?? 0) > 1) copies.add(placeOf(names.columnOf(line.file), line.offset));
  }
  for (const { line, text } of readPlan(disk, path)) {
    if (!names.has(line.file)) continue;
    const taken = keepReferred(names.rename(line), copies);
    yield { line: taken, text: taken === line ? text : formatManifestLine(taken) };
  }
}

function* readPlan(disk: Disk, path: string): Generator<{ readonly line: ManifestLine; readonly text: string }> {
  let number = 0;
  for (const text of readGivenLines(disk, path)) yield { line: parseManifestLine(text, `${path}:${++number}`), text };
}

function placeOf(file: string, offset: number): string {
  return `${file}\t${offset}`;
}

/** A copy stays where its original is called a copy itself: of two that refer to each other none would be left. */
function keepReferred(line: ManifestLine, copies: CaptureSet): ManifestLine {
  const { original } = line;
  if ((line.copy ?? 0) < 2 || original?.file === undefined || original.offset === undefined) return line;
  if (!copies.has(placeOf(original.file, original.offset))) return line;
  return { ...line, copy: undefined, original: undefined, flags: [...line.flags, "kept:original-replaced"] };
}

/** The inputs by the names that manifests have, and by their base names where these are theirs alone. */
class PlanNames {
  private readonly columns = new Map<string, string | undefined>();

  constructor(inputs: readonly Input[]) {
    const columns = inputs.map(({ name }) => formatColumn(name));
    for (const column of columns) {
      const base = basename(column);
      this.columns.set(base, this.columns.has(base) ? undefined : column);
    }
    for (const column of columns) this.columns.set(column, column);
  }

  private find(name: string): string | undefined {
    return this.columns.get(name) ?? this.columns.get(basename(name));
  }

  has(name: string): boolean {
    return this.find(name) !== undefined;
  }

  /** The name of an input; one of another file stays as it is. */
  columnOf(name: string): string {
    return this.find(name) ?? name;
  }

  /** The same line where it names files as the job does. */
  rename(line: ManifestLine): ManifestLine {
    const { original } = line;
    const file = this.columnOf(line.file);
    const originalFile = original?.file === undefined ? undefined : this.columnOf(original.file);
    if (file === line.file && originalFile === original?.file) return line;
    return { ...line, file, original: original && { ...original, file: originalFile } };
  }
}
