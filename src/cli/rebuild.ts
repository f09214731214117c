import { availableParallelism } from "node:os";
import { ArchiveWriter, type RebuildOptions } from "../archive/index.ts";
import { ArchiveError } from "../base/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { ARCHIVE_OPTION, archiveFolder, requireWords } from "./archive-option.ts";
import { type Command, parseCount } from "./command.ts";
import { Interruption } from "./interruption.ts";
import { formatCount, ProgressLine, tellDamage, tellSkipped } from "./talk.ts";

const THREADS_MAX = 256;

export const rebuild: Command = {
  name: "rebuild",
  purpose: "Rebuild an archive's indexes from its segments and journal.",
  usage: "[--archive DIR]",
  details: `For when they are lost or damaged; the answers are the same as before. The old indexes answer until the new ones
are complete. If it is interrupted, or captures that the old indexes know are missing from the segments, everything
stays as it was. Records that have rotted, and adopted files that changed, are named.`,
  options: {
    ...ARCHIVE_OPTION,
    "accept-loss": { type: "boolean", help: "go on without captures that are not in the segments any more" },
    threads: { type: "string", short: "j", value: "N", help: "worker threads (default: one a core)" },
  },
  exits: "3 files unreadable · 4 damage · 20 no archive · 21 another process is writing · 23 captures would be lost",
  examples: [
    "holotype add samples --archive /tmp/cabinet",
    "holotype rebuild --archive /tmp/cabinet && holotype stats --archive /tmp/cabinet",
  ],
  async run(args) {
    requireWords(rebuild, args, 0);
    const [json, folder, threads] = [args.flag("json"), archiveFolder(args), args.text("threads")];
    const line = new ProgressLine();
    using interruption = new Interruption("stopping; everything stays as it was");
    let [skipped, damaged] = [0, 0];
    const options: RebuildOptions = {
      threads: threads === undefined ? availableParallelism() : parseCount("threads", threads, 1, THREADS_MAX),
      signal: interruption.signal,
      acceptLoss: args.flag("accept-loss"),
      onProgress: line.update,
      onSkip: (input) => {
        skipped++;
        line.clear();
        tellSkipped(input, json);
      },
      onDamage: (error) => {
        damaged++;
        line.clear();
        tellDamage(error, json);
      },
    };
    try {
      const { captures, contents } = await ArchiveWriter.rebuild(nodeDisk, folder, options);
      line.clear();
      const told = { archive: folder, captures, contents, skipped, damaged };
      const counts = `${formatCount(captures, "capture")} of ${formatCount(contents, "content")}`;
      writeStandardOutput(json ? `${JSON.stringify(told)}\n` : `${folder}: rebuilt, ${counts}\n`);
    } catch (error) {
      line.clear();
      // What is wrong was named: the verdict is that of a check.
      if (damaged === 0 || !(error instanceof ArchiveError) || error.code !== "HT_CORRUPT") throw error;
      tellDamage(error, json);
    }
    return damaged > 0 ? 4 : skipped > 0 ? 3 : 0;
  },
};
