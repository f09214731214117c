import { ArchiveError } from "../base/index.ts";
import { isDigestIndex, mergeIndexes } from "../digests/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import type { Arguments, Command } from "./command.ts";
import { Interruption } from "./interruption.ts";
import { accessOfNames, makeFolderFor } from "./output-access.ts";
import { formatCount, formatSize } from "./talk.ts";

export const digestsMerge: Command = {
  name: "digests merge",
  purpose: "Merge several digest indexes into one.",
  usage: "INDEX… -o INDEX",
  details: `Give the oldest index first. Entries for the same content of a URL become one: the newest visit, with the earliest
original. The new index can be searched in every way that one of them can.`,
  options: { output: { type: "string", short: "o", value: "INDEX", help: "the folder of the new index" } },
  exits: "20 no index · 23 damaged · 24 no space",
  examples: [
    "holotype digests build samples -o /tmp/d --equivalent --etag",
    "holotype digests merge /tmp/d /tmp/d -o /tmp/merged",
  ],
  run,
};

async function run(args: Arguments): Promise<number> {
  const folder = args.text("output");
  if (folder === undefined || args.positionals.length === 0) {
    throw new ArchiveError("HT_USAGE", `usage: holotype digests merge ${digestsMerge.usage}`);
  }
  using interruption = new Interruption("stopping; nothing was made");
  // What is no index is told before anything is made.
  if (args.positionals.every((name) => isDigestIndex(nodeDisk, name)))
    makeFolderFor(folder, await accessOfNames(args.positionals));
  const { entries, sizeBytes } = await mergeIndexes(nodeDisk, args.positionals, folder, interruption);
  const text = `${folder}: ${formatCount(entries, "entry", "entries")} in ${formatSize(sizeBytes)}`;
  writeStandardOutput(`${args.flag("json") ? JSON.stringify({ folder, entries, sizeBytes }) : text}\n`);
  return 0;
}
