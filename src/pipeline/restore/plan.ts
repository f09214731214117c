/**
 * What has to be known before files can be restored one apart from the other: for every revisit, the records that may be
 * its original. Files are read once; revisits and originals meet by sorting on disk, so that their number does not
 * matter.
 */
import type { Warning } from "../../base/index.ts";
import { createDurably, type Disk } from "../../disk/index.ts";
import type { CaptureLine } from "../capture-line.ts";
import { CaptureSpool } from "../capture-spool.ts";
import type { Input, SkippedInput } from "../inputs.ts";
import { LineSorter } from "../line-sorter.ts";
import { flagValue, formatColumn, formatManifestLine, type ManifestLine, parseManifestLine } from "../manifest-line.ts";
import { candidatesOf, type FoundOriginal, type JoinedRevisit, type Placed, ReferenceJoin } from "../reference-join.ts";
import { type RunProgress, runTask } from "../run.ts";
import { readTextLines, wholeLines } from "../text-lines.ts";

/** A revisit and where its payload may be, the likeliest first. */
export interface RevisitPlan {
  readonly revisit: ManifestLine;
  readonly originals: readonly ManifestLine[];
}

/** Bytes of the plan's file. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

export interface RestorePlan {
  /** A file of all revisits in order of their places. */
  readonly path: string;
  /** Which bytes of it are whose, by the names that manifests have. */
  readonly stretches: ReadonlyMap<string, Stretch>;
}

export interface PlanOptions {
  readonly threads: number;
  /** A folder for what is sorted, and for the plan. */
  readonly scratch: string;
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
  readonly onWarning?: ((warning: Warning) => void) | undefined;
  readonly onSkip: (skipped: SkippedInput) => void;
}

const NUMBER_DIGITS = 16;
/** More records than these are no use to choose from. */
const ORIGINALS_MAX = 8;

export async function planRestore(disk: Disk, inputs: readonly Input[], options: PlanOptions): Promise<RestorePlan> {
  using captures = new CaptureSpool(disk, `${options.scratch}/captures`);
  const { onWarning, onProgress } = options;
  let file = 0;
  await runTask(
    disk,
    inputs,
    { kind: "captures" },
    {
      threads: options.threads,
      onText: (text) => {
        for (const line of wholeLines(text)) captures.add(file, line);
      },
      onInputDone: () => {
        file++;
      },
      onSkip: options.onSkip,
      ...(onWarning === undefined ? {} : { onWarning }),
      ...(onProgress === undefined ? {} : { onProgress }),
    },
  );
  using join = new ReferenceJoin(disk, { scratchParent: options.scratch });
  join.fill(() => captures.lines());
  using byPlace = new LineSorter(disk, { scratchParent: `${options.scratch}/by-place` });
  const names = inputs.map(({ name }) => name);
  for (const joined of join.joined()) byPlace.add(formatJoined(joined, names));
  return writePlan(disk, byPlace, `${options.scratch}/plan`);
}

function formatJoined(joined: JoinedRevisit, names: readonly string[]): string {
  const { revisit, original } = joined;
  // A record of ours proves what it is when it is put together; others have to be believed.
  const isCandidate = ({ content }: FoundOriginal) => revisit.ours === true || content === original?.content;
  const originals = candidatesOf(joined).filter(isCandidate).slice(0, ORIGINALS_MAX);
  const lines = [lineOfRevisit(joined, names), ...originals.map((held) => lineOfHeld(held, names))];
  // JSON keeps tabs out of the key; the name may hold anything.
  const numbers = [revisit.offset, revisit.inner ?? 0].map((number) => String(number).padStart(NUMBER_DIGITS, "0"));
  return `${JSON.stringify(lines[0]!.file)}\t${numbers.join("\t")}\t${JSON.stringify(lines.map(formatManifestLine))}`;
}

function lineOf({ file, offset, length, inner, id, uri, date }: Placed<CaptureLine>, names: readonly string[]) {
  const flags = inner === undefined ? [] : [`inner:${inner}`];
  const unknown = { status: undefined, mime: undefined, framing: undefined, extension: undefined, copy: undefined };
  return { file: formatColumn(names[file]), offset, length, id, uri, date, flags, ...unknown };
}

function lineOfHeld(held: FoundOriginal, names: readonly string[]): ManifestLine {
  return { ...lineOf(held, names), digest: held.digests[0], payloadSize: held.size, original: undefined };
}

/** With a flag where it is of a kind that needs no original, and without a digest that proves nothing. */
function lineOfRevisit({ revisit, reference }: JoinedRevisit, names: readonly string[]): ManifestLine {
  const line = lineOf(revisit, names);
  const { uri, date, id } = revisit.refersTo ?? {};
  return {
    ...line,
    digest: reference.kind === "named" ? reference.digest : undefined,
    payloadSize: undefined,
    flags: ["revisit", ...line.flags, ...(reference.kind === "named" ? [] : [reference.kind])],
    original: revisit.refersTo === undefined ? undefined : { uri, date, id, file: undefined, offset: undefined },
  };
}

/** Where in its member a record begins; most begin with it. */
function innerOf(line: ManifestLine): number {
  return Number(flagValue(line, "inner") ?? 0);
}

function writePlan(disk: Disk, sorter: LineSorter, path: string): RestorePlan {
  const stretches = new Map<string, { start: number; end: number }>();
  let position = 0;
  createDurably(disk, path, (output) => {
    for (const chunk of sorter.sorted()) {
      output.write(chunk);
      const lines = chunk.toString("utf8").split("\n");
      lines.pop();
      for (const line of lines) {
        const start = position;
        position += Buffer.byteLength(line) + 1;
        const file = JSON.parse(line.slice(0, line.indexOf("\t"))) as string;
        const there = stretches.get(file);
        if (there === undefined) stretches.set(file, { start, end: position });
        else there.end = position;
      }
    }
  });
  return { path, stretches };
}

/** The revisits of one file, in order of their places. */
export function* readPlan(disk: Disk, path: string, { start, end }: Stretch): Generator<RevisitPlan> {
  if (start === end) return;
  for (const line of readTextLines(disk, path, start, end)) {
    const texts = JSON.parse(line.slice(line.lastIndexOf("\t") + 1)) as string[];
    const [revisit, ...originals] = texts.map((text) => parseManifestLine(text, path));
    yield { revisit: revisit!, originals };
  }
}

/** The revisits of one file, as they are met on a way through it. */
export class PlanCursor implements Disposable {
  private readonly plans: Generator<RevisitPlan>;
  private next: RevisitPlan | undefined;

  constructor(disk: Disk, path: string, stretch: Stretch) {
    this.plans = readPlan(disk, path, stretch);
    this.advance();
  }

  private advance(): void {
    this.next = this.plans.next().value as RevisitPlan | undefined;
  }

  /** The plan for a revisit; absent where there is none. Revisits must come in order. */
  take({
    offset,
    inner = 0,
  }: {
    readonly offset: number;
    readonly inner: number | undefined;
  }): RevisitPlan | undefined {
    while (this.next !== undefined) {
      const { revisit } = this.next;
      if (revisit.offset > offset || (revisit.offset === offset && innerOf(revisit) > inner)) return undefined;
      const found = revisit.offset === offset && innerOf(revisit) === inner ? this.next : undefined;
      this.advance();
      if (found !== undefined) return found;
    }
    return undefined;
  }

  [Symbol.dispose](): void {
    this.plans.return(undefined);
  }
}
