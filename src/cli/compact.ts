import { ArchiveWriter } from "../archive/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { ARCHIVE_OPTION, archiveFolder, requireWords } from "./archive-option.ts";
import { type Command, parseCount } from "./command.ts";
import { formatCount, formatSize, say } from "./talk.ts";
import { progressTeller } from "./volume-option.ts";

export const compact: Command = {
  name: "compact",
  purpose: "Reclaim the disk space of removed captures.",
  usage: "[--dead PERCENT] [--all]",
  details: `Segments that hold something removed, or something twice, are written again without it; what stays keeps its bytes.
Where a removed capture held a content that others share, the earliest of these becomes the record, and revisits that
we wrote to the old one are written again. Only segments concerned are read. You can kill it at any moment and run it
again. What cannot be read and is not known to be removed is kept as it is, and its segment named. Adopted files stay
as they are.`,
  options: {
    ...ARCHIVE_OPTION,
    dead: { type: "string", value: "PERCENT", help: "leave segments of which less is dead, and say so", default: "0" },
    all: { type: "boolean", help: "read every segment, whatever the catalogue knows of it" },
  },
  exits: "4 segments are damaged · 20 no archive · 21 another writer is there · 24 no space",
  examples: [
    "holotype add samples --archive /tmp/cabinet",
    "holotype remove --prefix http://cabinet.example/press/ --reason 'asked for' --archive /tmp/cabinet",
    "holotype compact --archive /tmp/cabinet && holotype stats --archive /tmp/cabinet",
  ],
  async run(args) {
    requireWords(compact, args, 0);
    const json = args.flag("json");
    const deadShare = parseCount("dead", args.text("dead")!, 0, 100) / 100;
    const archive = archiveFolder(args);
    await using writer = ArchiveWriter.open(nodeDisk, archive);
    const report = writer.compact({ deadShare, all: args.flag("all"), onProgress: progressTeller(json, "compacting") });
    const { segments, bytesBefore, bytesAfter, bytesDead, damaged, stuck } = report;
    if (!json) {
      for (const name of damaged) say(`${name} is damaged; what cannot be read in it is kept (see holotype doctor)`);
      if (stuck > 0)
        say(
          `${formatCount(stuck, "content")} of removed captures cannot be read, and are kept for others that share them`,
        );
    }
    const sizes = `${formatSize(bytesBefore)} → ${formatSize(bytesAfter)}`;
    const told = `${formatCount(segments, "segment")} written again: ${sizes}, ${tellFreed(bytesBefore - bytesAfter)}`;
    const left = bytesDead === 0 ? "" : `; ${formatSize(bytesDead)} of what was removed stay, by --dead`;
    writeStandardOutput(`${json ? JSON.stringify({ archive, ...report }) : told + left}\n`);
    return damaged.length > 0 || stuck > 0 ? 4 : 0;
  },
};

function tellFreed(bytes: number): string {
  return `${formatSize(Math.max(0, bytes))} reclaimed`;
}
