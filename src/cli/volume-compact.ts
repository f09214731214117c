import { ArchiveError } from "../base/index.ts";
import { writeStandardOutput } from "../disk/index.ts";
import { type CompactResult, PackVolume } from "../store/index.ts";
import type { Arguments, Command } from "./command.ts";
import { formatCount, formatSize } from "./talk.ts";
import { CODEC_OPTION, openFolder, progressTeller, requireFolder } from "./volume-option.ts";
import { isServerUrl, openServer, SERVER_OPTIONS } from "./volume-remote.ts";

export const volumeCompact: Command = {
  name: "volume compact",
  purpose: "Give back the space of deleted blocks in a pack volume.",
  usage: "DIR|URL",
  details: `Segments with much dead space are written anew without it. Killed at any moment it loses nothing; run again, it goes on.
Of a volume that is served, give the URL of its server, which goes on serving meanwhile.`,
  options: { ...CODEC_OPTION, ...SERVER_OPTIONS },
  exits: "20 no volume · 21 the volume is open elsewhere · 23 damaged segments were left alone · 24 no space",
  examples: ["holotype volume create /tmp/volume && holotype volume compact /tmp/volume --json"],
  async run(args) {
    const json = args.flag("json");
    const target = requireFolder(volumeCompact, args);
    const result = await compact(target, args);
    const { segments, blocksMoved, bytesBefore, bytesAfter, damaged } = result;
    const saved = formatSize(bytesBefore - bytesAfter);
    writeStandardOutput(
      json
        ? `${JSON.stringify({ volume: target, ...result })}\n`
        : `${target}: ${formatCount(segments, "segment")} written anew, ${formatCount(blocksMoved, "block")} moved, ${saved} given back\n`,
    );
    if (damaged.length === 0) return 0;
    throw new ArchiveError("HT_CORRUPT", `left alone because damaged: ${damaged.join(", ")}`, { file: damaged[0] });
  },
};

async function compact(target: string, args: Arguments): Promise<CompactResult> {
  const onProgress = progressTeller(args.flag("json"), "compacting");
  if (isServerUrl(target)) {
    await using server = openServer(target, args);
    return await server.compact(onProgress);
  }
  await using volume = await openFolder(target, args);
  if (volume instanceof PackVolume) return await volume.compact({ onProgress });
  throw new ArchiveError("HT_UNSUPPORTED", `${target}: a tree volume leaves nothing behind that could be given back`);
}
