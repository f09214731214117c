import { writeStandardOutput } from "../disk/index.ts";
import type { Arguments, Command } from "./command.ts";
import { formatCount, formatSize } from "./talk.ts";
import { openFolder } from "./timeline-text.ts";

export const timelineInfo: Command = {
  name: "timeline info",
  purpose: "Tell what a timeline holds: keys, entries, visits, and the size of its pages.",
  usage: "DIR",
  options: {},
  exits: "20 no timeline · 22 of a newer Holotype · 23 damaged",
  examples: ["holotype index samples | holotype timeline load /tmp/t - > /dev/null && holotype timeline info /tmp/t"],
  run: (args) => Promise.resolve(run(args)),
};

function run(args: Arguments): number {
  const { folder, snapshot } = openFolder(timelineInfo, args);
  using _ = snapshot;
  const { keys, entries, visits, generation, pageSize, digestSize, live, fileSize } = snapshot.info;
  if (args.flag("json")) {
    const told = { folder, keys, entries, visits, generation, pageSize, digestSize, live, fileSize };
    writeStandardOutput(`${JSON.stringify(told)}\n`);
    return 0;
  }
  const perVisit = visits > 0 ? `, ${(live / visits).toFixed(1)} bytes a visit` : "";
  writeStandardOutput(
    `${folder}: ${formatCount(keys, "key")}, ${formatCount(entries, "entry", "entries")}, ${formatCount(visits, "visit")}
commit ${generation}, pages of up to ${formatSize(pageSize)}, digests of ${digestSize} bytes
${formatSize(fileSize)} on disk, of which ${formatSize(live)} are pages in use${perVisit}
`,
  );
  return 0;
}
