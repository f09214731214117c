/**
 * The manifest of a job is made in groups of inputs, each a file of its own, so that a run that was stopped has to read
 * only its last group again. What was found wrong in a group is kept beside it.
 */
import { type ErrorCode, isDamage, type Warning } from "../base/index.ts";
import { createDurably, type Disk, DurableOutput } from "../disk/index.ts";
import type { Input, SkippedInput } from "./inputs.ts";
import type { JobFolder } from "./job-folder.ts";

/** An input that was left out, as text. */
export interface ToldSkip {
  readonly name: string;
  readonly code: ErrorCode;
  readonly message: string;
}

export interface GroupFindings {
  readonly skipped: readonly ToldSkip[];
  /** Places of damage. */
  readonly damage: number;
}

export function toldOf({ name, error: { code, message } }: SkippedInput): ToldSkip {
  return { name, code, message };
}

export function partName(i: number): string {
  return `manifest/${String(i + 1).padStart(6, "0")}.tsv`;
}

/** What was found wrong in a group that is done. */
export function readFindings(job: JobFolder, i: number): GroupFindings {
  const name = partName(i).replace(/tsv$/, "json");
  if (!job.has(name)) return { skipped: [], damage: 0 };
  const [line] = job.lines(name);
  return JSON.parse(line!) as GroupFindings;
}

/** Writes the manifests of groups one after another, each durable when the last input of its group is done. */
export class GroupParts implements Disposable {
  private readonly disk: Disk;
  private readonly job: JobFolder;
  private readonly groups: readonly { readonly group: readonly Input[]; readonly part: string }[];
  private at = 0;
  private inputsDone = 0;
  private skipped: SkippedInput[] = [];
  private damage = 0;
  private output: DurableOutput | undefined;

  constructor(disk: Disk, job: JobFolder, groups: readonly { group: readonly Input[]; part: string }[]) {
    this.disk = disk;
    this.job = job;
    this.groups = groups;
  }

  private current(): DurableOutput {
    this.output ??= DurableOutput.begin(this.disk, this.job.file(this.groups[this.at]!.part), { replace: true });
    return this.output;
  }

  write(text: string | Uint8Array): void {
    this.current().write(typeof text === "string" ? Buffer.from(text) : text);
  }

  skip(skipped: SkippedInput): void {
    this.skipped.push(skipped);
  }

  warn(warning: Warning): void {
    if (isDamage(warning)) this.damage++;
  }

  /** One more input has given all its lines. */
  done(): void {
    const { group, part } = this.groups[this.at]!;
    if (++this.inputsDone < group.length) return;
    const output = this.current();
    if (this.skipped.length > 0 || this.damage > 0) {
      const findings: GroupFindings = { skipped: this.skipped.map(toldOf), damage: this.damage };
      const path = this.job.file(part.replace(/tsv$/, "json"));
      createDurably(this.disk, path, (file) => file.write(Buffer.from(`${JSON.stringify(findings)}\n`)), {
        replace: true,
      });
    }
    output.commit();
    this.output = undefined;
    this.skipped = [];
    this.damage = 0;
    this.inputsDone = 0;
    this.at++;
  }

  [Symbol.dispose](): void {
    this.output?.abort();
  }
}
