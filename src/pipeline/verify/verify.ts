/**
 * The proof that a deduplicated set holds what it stands for, by reading all of it: every revisit leads in one step to an
 * original with the payload it claims, every revisit of ours can be turned back into the record whose place it took, every
 * digest in a header holds, and beside the originals nothing is lost and nothing added.
 */
import { ArchiveError, type ErrorCode } from "../../base/index.ts";
import { type Disk, scratchFolder } from "../../disk/index.ts";
import { type SkippedInput, STANDARD_INPUT } from "../inputs.ts";
import { usefulThreads } from "../thread-count.ts";
import { nameInputs, type UnreadFile } from "./pairing.ts";
import type { VerifyProblem } from "./problems.ts";
import { VerifyRun } from "./run.ts";
import type { SampledRecord } from "./sample.ts";

export type { VerifyProblem } from "./problems.ts";
export type { SampledRecord } from "./sample.ts";

export interface VerifyOptions {
  /** Files or folders that the set was made from: nothing of them may be missing, nothing else may be there. */
  readonly against?: readonly string[] | undefined;
  /** More files that may hold originals, as the earlier holdings of `dedup --known`; not compared with anything. */
  readonly originals?: readonly string[] | undefined;
  /** Show so many of the records that dedup replaced, drawn at random; another seed draws others. */
  readonly sample?: { readonly count: number; readonly seed: number } | undefined;
  readonly threads?: number | undefined;
  /** Tell notes through `onProblem`, too. */
  readonly notes?: boolean | undefined;
  /** How many problems the result lists; all of them go through `onProblem`. */
  readonly problemsMax?: number | undefined;
  /** Where scratch files go; default the system's temporary folder. */
  readonly scratchParent?: string | undefined;
  /** Bytes of text that a sort holds; for tests. */
  readonly sortMemoryBytes?: number | undefined;
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined;
  /** In order of the files, those of the originals last; called when all has been read. */
  readonly onProblem?: ((problem: VerifyProblem) => void) | undefined;
  readonly onSkip?: ((skipped: SkippedInput) => void) | undefined;
}

export type VerifyStage = "reading" | "comparing" | "sorting" | "proving";

export interface VerifyProgress {
  readonly stage: VerifyStage;
  readonly done: number;
  readonly total: number;
}

export interface VerifyResult {
  /** Nothing is wrong that was not so in the originals. Inputs that were skipped do not count. */
  readonly holds: boolean;
  readonly files: number;
  readonly bytes: number;
  readonly records: number;
  /** Records that hold a payload. */
  readonly originals: number;
  readonly revisits: number;
  /** Revisits that Holotype wrote, and how many of them gave the record back whose place they took. */
  readonly written: number;
  readonly restorable: number;
  /** Absent where nothing was compared. */
  readonly against:
    | {
        readonly files: number;
        /** Files whose bytes are all those of the original, but for what was replaced. */
        readonly equal: number;
        /** Records of the originals that stand as revisits. */
        readonly standing: number;
        /** Originals of which no file is there. */
        readonly missing: readonly string[];
        /** Originals that could not be compared. */
        readonly uncompared: readonly string[];
      }
    | undefined;
  /** How often what was found, those included that were so in the originals. */
  readonly problemCounts: Readonly<Partial<Record<ErrorCode, number>>>;
  /** How many of the problems were so in the originals. */
  readonly before: number;
  readonly noteCounts: Readonly<Partial<Record<ErrorCode, number>>>;
  /** The first problems, by file and offset. */
  readonly problems: readonly VerifyProblem[];
  /** The records that were drawn, in order of their places; absent where no sample was asked for. */
  readonly sample: readonly SampledRecord[] | undefined;
  readonly skipped: readonly SkippedInput[];
}

/** Verifies the archive files that the names stand for. Throws where there is none; what is wrong is in the result. */
export async function verify(disk: Disk, names: readonly string[], options: VerifyOptions = {}): Promise<VerifyResult> {
  if ([names, options.against ?? [], options.originals ?? []].flat().includes(STANDARD_INPUT)) {
    throw new ArchiveError("HT_USAGE", "standard input cannot be verified: records are looked at more than once");
  }
  const skipped: SkippedInput[] = [];
  const take = (taken: readonly string[], unread: UnreadFile[] = []) =>
    nameInputs(
      disk,
      taken,
      (input) => void skipped.push(input),
      (file) => void unread.push(file),
    );
  const [unreadFiles, unreadOriginals]: UnreadFile[][] = [[], []];
  /** Where there is nothing at all, the reason is thrown. */
  const need = (taken: readonly string[], unread: UnreadFile[]) => {
    const inputs = take(taken, unread);
    if (inputs.length > 0) return inputs;
    throw skipped.at(-1)?.error ?? new ArchiveError("HT_NOT_FOUND", "no archive file was named");
  };
  const files = need(names, unreadFiles!);
  const against = options.against === undefined ? undefined : need(options.against, unreadOriginals!);
  const more = take(options.originals ?? []);
  for (const input of skipped) options.onSkip?.(input);
  const onSkip = (input: SkippedInput) => {
    skipped.push(input);
    options.onSkip?.(input);
  };
  using scratch = scratchFolder(disk, options.scratchParent === undefined ? {} : { parent: options.scratchParent });
  const threads = options.threads ?? usefulThreads([...files, ...more, ...(against ?? [])].map(({ input }) => input));
  const settings = { ...options, threads, onSkip };
  const run = new VerifyRun(
    disk,
    { files, more, against, unread: { files: unreadFiles!, originals: unreadOriginals! } },
    scratch.path,
    settings,
  );
  return { ...(await run.run()), skipped };
}
