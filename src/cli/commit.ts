import { ArchiveError } from "../base/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { type CommitResult, commitJob } from "../pipeline/index.ts";
import type { Command } from "./command.ts";
import { endOnInterruption } from "./interruption.ts";
import { formatCount, formatNumber, formatSize, StageLine, say } from "./talk.ts";

export const commit: Command = {
  name: "commit",
  purpose: "Carry a finished dedup job over to a second copy of its files.",
  usage: "JOB --to COPY",
  details: `First reads every file of the copy and compares it with what the job's input was, byte for byte and by the digests in
the ledger. If one is missing or differs, nothing is changed. Then each file is replaced by the job's output, which is
read back before it gets its name. Whenever it is stopped, every file of the copy is as it was or as it should be; the
same command goes on. The job's ledger undoes it in the copy, too: restore COPY --job JOB -o DIR.`,
  options: {
    to: { type: "string", value: "COPY", help: "folder with the second copy of the job's input files" },
  },
  exits: "20 a file is not there · 21 another process works on the job · 23 the copy is not what the job's inputs were",
  examples: [
    "holotype dedup samples -o /tmp/deduplicated",
    "holotype restore /tmp/deduplicated -o /tmp/second",
    "holotype commit /tmp/deduplicated/holotype-job --to /tmp/second",
  ],
  async run(args) {
    const [job, ...more] = args.positionals;
    const to = args.text("to");
    if (job === undefined || more.length > 0) throw new ArchiveError("HT_USAGE", "name one job folder");
    if (to === undefined) throw new ArchiveError("HT_USAGE", "say where the second copy is with --to COPY");
    const json = args.flag("json");
    const line = new StageLine();
    using _ = endOnInterruption(() => {
      line.clear();
      if (!json) say("stopped; what is finished stays. Run the same command again to go on");
    });
    try {
      const result = await commitJob(nodeDisk, trimmed(job), trimmed(to), {
        onProgress: (progress) => line.update({ ...progress, saved: 0 }),
        onTell: (message) => {
          line.clear();
          if (!json) say(message);
        },
      });
      line.clear();
      writeStandardOutput(json ? `${JSON.stringify(result)}\n` : formatResult(result));
      return 0;
    } finally {
      line.clear();
    }
  },
};

function trimmed(path: string): string {
  return path.replace(/(?<=.)\/+$/, "");
}

function formatResult(result: CommitResult): string {
  const { written, writtenBefore, equal, bytesBefore, bytesAfter } = result;
  const before = writtenBefore === 0 ? "" : `, ${formatNumber(writtenBefore)} by an earlier run`;
  const rows = [
    ["files", `${formatCount(result.files, "file")} compared, ${formatNumber(equal)} stay as they are`],
    ["written", `${formatCount(written, "file")}, read back${before}`],
    ["revisits", `${formatCount(result.replaced, "record")} of the copy replaced by revisits`],
    ["size", `${formatSize(bytesBefore)} → ${formatSize(bytesAfter)}`],
  ];
  return rows.map(([name, value]) => `${name!.padEnd(11)} ${value}\n`).join("");
}
