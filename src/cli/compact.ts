import { ArchiveWriter } from "../archive/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { ARCHIVE_OPTION, archiveFolder, requireWords } from "./archive-option.ts";
import { type Command, parseCount } from "./command.ts";
import { formatCount, formatSize, say } from "./talk.ts";
import { progressTeller } from "./volume-option.ts";

export const compact: Command = {
  name: "compact",
  purpose: "Give back the space of what was removed from the archive.",
  usage: "[--dead PERCENT] [--all]",
  details: `Segments that hold something of no use any more are written anew without it; records that stay keep their bytes.
Only segments are read from which something was removed, or in which a crash left something twice. It may be killed at
any moment, and may be run again. A damaged segment is left as it is. Adopted files are not touched.`,
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
    const { segments, bytesBefore, bytesAfter, bytesDead, damaged } = report;
    for (const name of damaged) {
      const message = `${name} is damaged, and was left as it is, with what was removed from it (see holotype doctor)`;
      if (!json) say(message);
    }
    const sizes = `${formatSize(bytesBefore)} → ${formatSize(bytesAfter)}`;
    const told = `${formatCount(segments, "segment")} written anew: ${sizes}, ${tellFreed(bytesBefore - bytesAfter)}`;
    const left = bytesDead === 0 ? "" : `; ${formatSize(bytesDead)} of what was removed stay, by --dead`;
    writeStandardOutput(`${json ? JSON.stringify({ archive, ...report }) : told + left}\n`);
    return damaged.length > 0 ? 4 : 0;
  },
};

function tellFreed(bytes: number): string {
  return `${formatSize(Math.max(0, bytes))} given back`;
}
