/**
 * A part of an archive as files that stand by themselves: the records of some hosts, every revisit among them as the
 * full record that it stands for. Nothing in the output refers to a record that is not in it.
 */
import { resolve as absolute, basename, relative } from "node:path";
import { ArchiveError } from "../../base/index.ts";
import type { Disk } from "../../disk/index.ts";
import type { Input } from "../inputs.ts";
import { formatColumn } from "../manifest-line.ts";
import { createFilter, type SubsetFilter } from "./filter.ts";
import { type RestoreGround, type RestoreOutcome, type RestoreRunOptions, runRestore } from "./run.ts";
import type { SubsetFile, SubsetJob } from "./subset-job.ts";

export interface SubsetOptions extends RestoreRunOptions {
  readonly filter: SubsetFilter;
  readonly onFile?: ((file: SubsetFile) => void) | undefined;
}

export interface SubsetResult extends RestoreOutcome {
  /** Those that hold something of the subset. */
  readonly files: readonly SubsetFile[];
}

/** Takes the subset out of the files that the names stand for, a file of its own for each. */
export async function restoreSubset(
  disk: Disk,
  names: readonly string[],
  options: SubsetOptions,
): Promise<SubsetResult> {
  const files: SubsetFile[] = [];
  // A host that is none must be told before anything is read.
  createFilter(options.filter);
  const { skipped, failed } = await runRestore(
    disk,
    names,
    options,
    (ground) => jobsFor(ground, options.filter),
    (file) => {
      if (file.output === undefined) return;
      files.push(file);
      options.onFile?.(file);
    },
  );
  return { files, skipped, failed };
}

function jobsFor({ inputs, plan, root, output, scratch, access }: RestoreGround, filter: SubsetFilter): SubsetJob[] {
  const targets = new Map<string, string>();
  return inputs.map((input) => {
    const { name, size = 0 } = input;
    const target = `${output}/${outputName(input, root)}`;
    const twin = targets.get(target);
    if (twin !== undefined) {
      throw new ArchiveError("HT_EXISTS", `${name}: its output would have the same name as that of ${twin}`);
    }
    targets.set(target, name);
    const stretch = plan.stretches.get(formatColumn(name)) ?? { start: 0, end: 0 };
    return { kind: "subset", name, input, size, output: target, filter, plan: plan.path, stretch, scratch, access };
  });
}

/** The path as it was; an entry of a WACZ goes into a folder of its name. */
function outputName({ path, entries }: Input, root: string): string {
  const whole = relative(root, absolute(path));
  if (entries.length === 0) return whole;
  return `${whole.replace(/\.(?:wacz|zip)$/i, "")}/${entries.map((entry) => basename(entry)).join("-")}`;
}
