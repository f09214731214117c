import { formatPlace } from "../base/index.ts";
import { writeStandardOutput } from "../disk/index.ts";
import type { Command } from "./command.ts";
import { formatCount, formatSize } from "./talk.ts";
import { CODEC_OPTION, openFolder, progressTeller, requireFolder } from "./volume-option.ts";

export const volumeCheck: Command = {
  name: "volume check",
  purpose: "Look for damage in a volume: files, index, counters, and with --scrub all bytes.",
  usage: "DIR",
  details: `Nothing is changed, but for what opening the volume clears up behind a crash. The volume must not be served meanwhile.
Where the folder cannot be written, it is read without a lock.`,
  options: { scrub: { type: "boolean", help: "read all bytes and verify every signature" }, ...CODEC_OPTION },
  exits: "4 damage was found · 21 the volume is open elsewhere · 20 no volume",
  examples: ["holotype volume create /tmp/volume && holotype volume check /tmp/volume --scrub"],
  async run(args) {
    const json = args.flag("json");
    const folder = requireFolder(volumeCheck, args);
    await using volume = await openFolder(folder, args, { reading: true });
    let findings = 0;
    const options = { scrub: args.flag("scrub"), onProgress: progressTeller(json, "checking") };
    for await (const finding of volume.check(options)) {
      findings++;
      const line = json ? JSON.stringify(finding) : `${formatPlace(finding)}: ${finding.code} ${finding.message}`;
      writeStandardOutput(`${line}\n`);
    }
    const { blocks, references, contentBytes, storedBytes } = await volume.describe();
    const summary = { folder, blocks, references, contentBytes, storedBytes, findings, sound: findings === 0 };
    const state = findings === 0 ? "all sound" : formatCount(findings, "finding");
    const sizes = `${formatSize(contentBytes)} in ${formatSize(storedBytes)}`;
    writeStandardOutput(
      json
        ? `${JSON.stringify({ summary })}\n`
        : `${folder}: ${formatCount(blocks, "block")} with ${formatCount(references, "reference")}, ${sizes}: ${state}\n`,
    );
    return findings === 0 ? 0 : 4;
  },
};
