/**
 * What has to be known before files can be restored one apart from the other: for every revisit, the records that may be
 * its original. Files are read once; revisits and originals meet by sorting on disk, so that their number does not
 * matter.
 */
import type { Warning } from "../../base/index.ts";
import { createDurably, type Disk } from "../../disk/index.ts";
import type { Input, SkippedInput } from "../inputs.ts";
import { LineSorter } from "../line-sorter.ts";
import { flagValue, formatManifestLine, type ManifestLine, parseManifestLine } from "../manifest-line.ts";
import { RevisitJoin, type RevisitPair } from "../revisit-join.ts";
import { type RunProgress, runTask } from "../run.ts";
import { readTextLines } from "../text-lines.ts";

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
/** More captures of one URI in one second are no use to choose from. */
const ORIGINALS_MAX = 8;
/** A digest in a header is enough to find an original by: what was found is proven by its bytes. */
const MANIFEST = { digest: "sha1", revisits: true, trustHeaders: true } as const;

export async function planRestore(disk: Disk, inputs: readonly Input[], options: PlanOptions): Promise<RestorePlan> {
  const scratchParent = options.scratch;
  using join = new RevisitJoin(disk, { scratchParent });
  const { onWarning, onProgress } = options;
  await runTask(
    disk,
    inputs,
    { kind: "manifest", options: MANIFEST },
    {
      threads: options.threads,
      onText: (text) => {
        const lines = (typeof text === "string" ? text : Buffer.from(text).toString()).split("\n");
        for (const line of lines) if (line !== "") join.add(parseManifestLine(line, "(manifest)"));
      },
      onSkip: options.onSkip,
      ...(onWarning === undefined ? {} : { onWarning }),
      ...(onProgress === undefined ? {} : { onProgress }),
    },
  );
  using byPlace = new LineSorter(disk, { scratchParent });
  for (const pair of join.pairs()) byPlace.add(formatPair(pair));
  return writePlan(disk, byPlace, `${options.scratch}/plan`);
}

function formatPair({ revisit, original, candidates }: RevisitPair): string {
  const others = candidates.filter((candidate) => candidate !== original);
  const originals = (original === undefined ? [] : [original, ...others]).slice(0, ORIGINALS_MAX);
  const lines = [revisit, ...originals].map(formatManifestLine);
  // JSON keeps tabs out of the key; the name may hold anything.
  const numbers = [revisit.offset, innerOf(revisit)].map((number) => String(number).padStart(NUMBER_DIGITS, "0"));
  return `${JSON.stringify(revisit.file)}\t${numbers.join("\t")}\t${JSON.stringify(lines)}`;
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
