/** What `ls`, `check`, `index` and `manifest` share: inputs, threads, progress, warnings, and the exit code of it all. */
import { ArchiveError, isDamage, type Warning } from "../base/index.ts";
import { nodeDisk } from "../disk/index.ts";
import {
  findInputs,
  type Input,
  type RunSummary,
  runTask,
  type SkippedInput,
  type TaskRequest,
} from "../pipeline/index.ts";
import { type Arguments, type OptionSpecs, parseCount } from "./command.ts";
import { ProgressLine, tellSkipped, WarningTeller } from "./talk.ts";

const THREADS_MAX = 256;

export const THREADS_OPTION: OptionSpecs = {
  threads: { type: "string", short: "j", value: "N", help: "worker threads", default: "1" },
};

/** The inputs that were named; those that cannot be taken go to `onSkip`. Where not one of them is there, throws. */
export function takeInputs(files: readonly string[], onSkip: (skipped: SkippedInput) => void): Input[] {
  const skipped: SkippedInput[] = [];
  const inputs = findInputs(nodeDisk, files, (input) => void skipped.push(input));
  const isAbsent = ({ error }: SkippedInput) => error.code === "HT_NOT_FOUND";
  if (inputs.length === 0 && skipped.length > 0 && skipped.every(isAbsent)) throw skipped[0]!.error;
  for (const input of skipped) onSkip(input);
  return inputs;
}

export interface SurveyRun {
  readonly onText: (text: string | Uint8Array) => void;
  /** Where the command tells warnings itself. */
  readonly onWarning?: (warning: Warning) => void;
  /** An input in which there is no record is one that was skipped. */
  readonly skipEmpty?: boolean;
  /** Looks at the inputs before they are read. */
  readonly inspect?: (inputs: readonly Input[], warn: (warning: Warning) => void) => void;
  /** Which of the inputs are still to be done; default all. */
  readonly from?: (inputs: readonly Input[]) => readonly Input[];
}

export interface SurveyResult {
  readonly summary: RunSummary;
  readonly damage: number;
  readonly skipped: readonly SkippedInput[];
  /** 0, 3 where inputs were skipped, 4 where damage was found. */
  readonly exit: number;
}

export async function survey(
  files: readonly string[],
  request: TaskRequest,
  args: Arguments,
  run: SurveyRun,
): Promise<SurveyResult> {
  const skipped: SkippedInput[] = [];
  const progress = new ProgressLine();
  const json = args.flag("json");
  let damage = 0;
  const warnings = new WarningTeller(json);
  const onSkip = (input: SkippedInput) => {
    skipped.push(input);
    progress.clear();
    tellSkipped(input, json);
  };
  const onWarning = (warning: Warning) => {
    const isBad = isDamage(warning);
    if (isBad) damage++;
    progress.clear();
    if (run.onWarning !== undefined) run.onWarning(warning);
    else if (isBad) warnings.tell(warning);
  };
  const threads = parseCount("threads", args.text("threads") ?? "1", 1, THREADS_MAX);
  const all = takeInputs(files, onSkip);
  const inputs = run.from === undefined ? all : run.from(all);
  run.inspect?.(inputs, onWarning);
  const onInputDone = ({ name }: Input, records: number) => {
    if (run.skipEmpty !== true || records > 0 || skipped.some((other) => other.name === name)) return;
    onSkip({ name, error: new ArchiveError("HT_FORMAT_UNKNOWN", `${name}: there is no record in it`, { file: name }) });
  };
  const options = { threads, onText: run.onText, onWarning, onSkip, onInputDone, onProgress: progress.update };
  const summary = await runTask(nodeDisk, inputs, request, options);
  progress.clear();
  return { summary, damage, skipped, exit: damage > 0 ? 4 : skipped.length > 0 ? 3 : 0 };
}
