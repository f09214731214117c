import { DigestIndex } from "../digests/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import type { Arguments, Command } from "./command.ts";
import { describeSettings, requireOneIndex } from "./digests-option.ts";
import { formatCount, formatSize } from "./talk.ts";

export const digestsInfo: Command = {
  name: "digests info",
  purpose: "Show what a digest index holds: entries, runs, and how it can be searched.",
  usage: "INDEX",
  options: {},
  exits: "20 no index · 22 made by a newer Holotype · 23 damaged",
  examples: ["holotype digests build samples -o /tmp/d --equivalent --etag", "holotype digests info /tmp/d --json"],
  run,
};

async function run(args: Arguments): Promise<number> {
  const folder = requireOneIndex(digestsInfo, args);
  await using index = DigestIndex.open(nodeDisk, folder);
  const { settings, runs, learned } = index.info();
  const entries = runs.reduce((sum, each) => sum + each.entries, 0);
  const sizeBytes = runs.reduce((sum, each) => sum + each.sizeBytes, 0);
  if (args.flag("json")) {
    writeStandardOutput(`${JSON.stringify({ folder, entries, sizeBytes, learned, settings, runs })}\n`);
    return 0;
  }
  const each = entries === 0 ? "" : `, ${(sizeBytes / entries).toFixed(0)} bytes each`;
  const lines = [
    `${folder}: ${formatCount(entries, "entry", "entries")} in ${formatSize(sizeBytes)}${each}`,
    describeSettings(settings),
    ...runs.map((run) => `${run.name}: ${formatCount(run.entries, "entry", "entries")}, ${formatSize(run.sizeBytes)}`),
    ...(learned > 0 ? [`${formatCount(learned, "entry", "entries")} learned since the last run`] : []),
  ];
  writeStandardOutput(`${lines.join("\n")}\n`);
  return 0;
}
