import { formatPlace } from "../base/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { type SampledRecord, type VerifyProblem, type VerifyResult, verify as verifyFiles } from "../pipeline/index.ts";
import { type Command, parseCount, requireFiles } from "./command.ts";
import {
  escapeControls,
  formatCount,
  formatNumber,
  formatSize,
  formatWarning,
  nameSome,
  StageLine,
  tellSkipped,
} from "./talk.ts";

const THREADS_MAX = 256;
const PROBLEMS_SHOWN_MAX = 100;
const SAMPLE_MAX = 10_000;

export const verify: Command = {
  name: "verify",
  purpose: "Prove that a deduplicated set is whole: revisits, digests, and nothing lost.",
  usage: "FILE… [--against FILE]…",
  details: `Reads everything and believes no header. Every revisit must lead in one step to an original with the payload that
it claims; every revisit that Holotype wrote must give back the record whose place it took, byte for byte; every digest
must hold. With --against, every record of the originals must be there, as itself or as a revisit that stands for it, in
its order, and nothing else. What was wrong in the originals already is told as such and is no failure.`,
  options: {
    against: { type: "string", multiple: true, value: "FILE", help: "files or folders that the set was made from" },
    originals: { type: "string", multiple: true, value: "FILE", help: "more files or folders that may hold originals" },
    sample: { type: "string", value: "N", help: "show N of the records that dedup replaced, drawn at random" },
    seed: { type: "string", value: "N", help: "draw another sample", default: "1" },
    all: { type: "boolean", help: `list all problems, not only the first ${PROBLEMS_SHOWN_MAX}` },
    notes: { type: "boolean", help: "list tolerated oddities too" },
    threads: { type: "string", short: "j", value: "N", help: "worker threads (default: one a core, fewer for little)" },
  },
  exits: "3 inputs were skipped, or something was wrong in the originals already · 4 something failed",
  examples: ["holotype dedup samples -o /tmp/deduplicated", "holotype verify /tmp/deduplicated --against samples"],
  async run(args) {
    const names = requireFiles(verify, args);
    const json = args.flag("json");
    const threads = args.text("threads");
    const sample = args.text("sample");
    const seed = parseCount("seed", args.text("seed") ?? "1", 0, Number.MAX_SAFE_INTEGER);
    const line = new StageLine();
    const listing = new Listing(json, json || args.flag("all") ? Number.POSITIVE_INFINITY : PROBLEMS_SHOWN_MAX);
    const against = args.list("against");
    try {
      const result = await verifyFiles(nodeDisk, names, {
        ...(against.length === 0 ? {} : { against }),
        originals: args.list("originals"),
        sample: sample === undefined ? undefined : { count: parseCount("sample", sample, 1, SAMPLE_MAX), seed },
        threads: threads === undefined ? undefined : parseCount("threads", threads, 1, THREADS_MAX),
        notes: args.flag("notes"),
        problemsMax: 0,
        onProgress: ({ stage, done, total }) => line.update({ stage, done, total, saved: 0 }),
        onProblem: (problem) => {
          line.clear();
          listing.add(problem);
        },
        onSkip: (skipped) => {
          line.clear();
          tellSkipped(skipped, json);
        },
      });
      line.clear();
      listing.finish(result);
      if (!result.holds) return 4;
      return result.before > 0 || result.skipped.length > 0 ? 3 : 0;
    } finally {
      line.clear();
    }
  },
};

/** Prints problems as they come; with `--json` as a list inside the one object. */
class Listing {
  private readonly json: boolean;
  private readonly shownMax: number;
  private shown = 0;
  private hidden = 0;

  constructor(json: boolean, shownMax: number) {
    this.json = json;
    this.shownMax = shownMax;
  }

  add(problem: VerifyProblem): void {
    if (this.shown >= this.shownMax) {
      this.hidden++;
      return;
    }
    const separator = this.shown++ === 0 ? '{"problems":[' : ",";
    if (this.json) writeStandardOutput(`${separator}${JSON.stringify(problem)}`);
    else writeStandardOutput(`${formatWarning(problem)}${problem.before ? " (so in the originals)" : ""}\n`);
  }

  finish(result: VerifyResult): void {
    if (!this.json) {
      if (this.hidden > 0) writeStandardOutput(`… and ${formatNumber(this.hidden)} more; --all lists them\n`);
      for (const drawn of result.sample ?? []) writeStandardOutput(formatSampled(drawn));
      writeStandardOutput(formatResult(result));
      return;
    }
    const { problems: _, skipped, ...counts } = result;
    const told = skipped.map(({ name, error }) => ({ name, code: error.code, message: error.message }));
    const rest = JSON.stringify({ ...counts, against: counts.against ?? null, skipped: told }).slice(1);
    writeStandardOutput(`${this.shown === 0 ? '{"problems":[' : ""}],${rest}\n`);
  }
}

/** A record of the sample: what it was, where its payload lies now, and that payload by its digest. */
function formatSampled({ file, offset, uri, date, original, payload, proven, problem }: SampledRecord): string {
  const content = payload === undefined ? "unread" : `${formatNumber(payload.size)} bytes, ${payload.digest}`;
  const lines = [
    `${formatPlace({ file, offset })}: ${uri ?? "no URL"} ${date ?? ""}`.trimEnd(),
    `  payload at ${formatPlace(original)}: ${content}`,
    `  ${proven ? "the record comes back byte for byte" : `NOT proven: ${problem ?? "it does not come back"}`}`,
  ];
  return lines.map((line) => `${escapeControls(line)}\n`).join("");
}

function formatResult(result: VerifyResult): string {
  const { against, written } = result;
  const rows: [string, string][] = [
    ["files", `${formatCount(result.files, "file")}, ${formatSize(result.bytes)}`],
    ["records", formatNumber(result.records)],
    ["originals", `${formatCount(result.originals, "record")} with a payload`],
    ["revisits", `${formatNumber(result.revisits)}, of these ${formatNumber(written)} made by dedup`],
  ];
  if (written > 0) rows.push(["restorable", `${formatNumber(result.restorable)} of ${formatNumber(written)} proven`]);
  if (against !== undefined) {
    const equal = `${formatNumber(against.equal)} equal but for what was replaced`;
    rows.push(["against", `${formatCount(against.files, "file")} compared, ${equal}`]);
    rows.push(["", `${formatCount(against.standing, "record")} of theirs replaced by revisits`]);
  }
  const problems = Object.entries(result.problemCounts).sort(([one], [other]) => (one < other ? -1 : 1));
  for (const [i, [code, count]] of problems.entries())
    rows.push([i === 0 ? "problems" : "", `${formatNumber(count)} ${code}`]);
  if (result.before > 0) rows.push(["", `${formatNumber(result.before)} of these were so in the originals`]);
  const notes = Object.values(result.noteCounts).reduce((sum, count) => sum + count, 0);
  if (notes > 0) rows.push(["notes", `${formatNumber(notes)}; --notes lists them`]);
  if (result.skipped.length > 0) rows.push(["skipped", formatCount(result.skipped.length, "input")]);
  rows.push(["verdict", verdictOf(result)]);
  return rows.map(([name, value]) => `${name.padEnd(12)}${value}\n`).join("");
}

function verdictOf(result: VerifyResult): string {
  const { missing = [], uncompared = [] } = result.against ?? {};
  if (missing.length > 0) return `something failed; missing: ${nameSome(missing)}`;
  if (!result.holds) return "something failed";
  if (uncompared.length > 0) return `all holds that could be compared; NOT compared: ${nameSome(uncompared)}`;
  const lost = result.against === undefined ? "" : "; nothing is lost, nothing is added";
  return result.before > 0 ? `all holds that held in the originals${lost}` : `all holds${lost}`;
}
