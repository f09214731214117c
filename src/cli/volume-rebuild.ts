import { ArchiveError } from "../base/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { rebuildPack } from "../store/index.ts";
import type { Command } from "./command.ts";
import { formatCount, formatSize, tellWarning } from "./talk.ts";
import { lockFolder, requireFolder } from "./volume-option.ts";

export const volumeRebuild: Command = {
  name: "volume rebuild",
  purpose: "Make the index of a pack volume anew from its segments.",
  usage: "DIR",
  details: `The segments hold all that the index holds: this is for a volume that comes without index, or with one that check finds
wrong. The old index stays until the new one is complete.`,
  options: {},
  exits: "4 the segments hold what is no whole record · 20 no volume · 21 the volume is open elsewhere",
  examples: ["holotype volume create /tmp/volume && holotype volume rebuild /tmp/volume --json"],
  async run(args) {
    const json = args.flag("json");
    const folder = requireFolder(volumeRebuild, args);
    const { settings, lock } = lockFolder(folder);
    using _ = lock;
    if (settings.layout !== "pack") {
      throw new ArchiveError("HT_UNSUPPORTED", `${folder}: a ${settings.layout} volume has no index`);
    }
    let warnings = 0;
    const totals = await rebuildPack(nodeDisk, folder, settings, {
      onWarning: (warning) => {
        warnings++;
        tellWarning(warning, json);
      },
    });
    const { blocks, references, storedBytes } = totals;
    writeStandardOutput(
      json
        ? `${JSON.stringify({ folder, ...totals, warnings })}\n`
        : `${folder}: ${formatCount(blocks, "block")} with ${formatCount(references, "reference")}, ${formatSize(storedBytes)}\n`,
    );
    return warnings === 0 ? 0 : 4;
  },
};
