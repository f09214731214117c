import { ArchiveError } from "../base/index.ts";
import { type Command, requireFiles } from "./command.ts";
import { MIN_SAVING_OPTION, ORIGINALS_OPTION, parseMinSaving, parseTarget, runDedup } from "./dedup.ts";

export const rewrite: Command = {
  name: "rewrite",
  purpose: "Replace the records that a plan calls copies by revisits.",
  usage: "--plan PLAN FILE… -o DIR | --in-place",
  details: `The last stage: everything but the copies is copied byte for byte, each output is read back and proven before it gets
its name, and the ledger for restore is kept in the job folder. Every original is read where the plan says it lies, and
compared with its copies. Lines of the plan about other files are skipped.`,
  options: {
    plan: { type: "string", value: "PLAN", help: "what plan printed" },
    output: { type: "string", short: "o", value: "DIR", help: "folder for the rewritten files" },
    "in-place": { type: "boolean", help: "replace each file by its rewritten form, once that is proven" },
    "dry-run": { type: "boolean", help: "print what would be saved, and touch nothing" },
    ...MIN_SAVING_OPTION,
    ...ORIGINALS_OPTION,
    job: { type: "string", value: "DIR", help: "job folder (default: holotype-job by the output or the files)" },
    threads: { type: "string", short: "j", value: "N", help: "worker threads (default: one a core, fewer for little)" },
  },
  exits: "3 inputs were skipped · 24 no space; run it again when there is some",
  examples: [
    "holotype manifest samples | holotype resolve | holotype plan > plan.tsv",
    "holotype rewrite --plan plan.tsv samples -o /tmp/deduplicated",
  ],
  async run(args) {
    const plan = args.text("plan");
    if (plan === undefined) throw new ArchiveError("HT_USAGE", "say which plan with --plan PLAN");
    return await runDedup(requireFiles(rewrite, args), args, {
      output: args.flag("dry-run") ? args.text("output") : parseTarget(args),
      policy: { minSaving: parseMinSaving(args) },
      plan,
    });
  },
};
