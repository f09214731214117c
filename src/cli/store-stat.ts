import { ArchiveError } from "../base/index.ts";
import { writeStandardOutput } from "../disk/index.ts";
import { type ContentInfo, formatContentKey } from "../store/index.ts";
import type { Command } from "./command.ts";
import { INSTANCE_OPTION, openTarget, requireKeys } from "./store-option.ts";

export const storeStat: Command = {
  name: "store stat",
  purpose: "Tell size, compression, references and volume of contents.",
  usage: "KEY…",
  options: INSTANCE_OPTION,
  exits: "20 no such content or volume · 25 the volume does not answer",
  examples: [
    "holotype store put --instance /tmp/store samples/*.warc.gz | xargs holotype store stat --instance /tmp/store",
  ],
  async run(args) {
    const keys = requireKeys(storeStat, args);
    await using instance = await openTarget(storeStat, args, { reading: true });
    for (const key of keys) {
      const info = await instance.stat(key);
      if (info === undefined) {
        throw new ArchiveError("HT_NOT_FOUND", `${formatContentKey(key)}: there is no such content`);
      }
      writeStandardOutput(formatInfo(info, args.flag("json")));
    }
    return 0;
  },
};

/** One line: for people with columns, for programs as an object. */
export function formatInfo(info: ContentInfo, json: boolean): string {
  const { size, storedSize, compression, references, volume, volumeName } = info;
  const key = formatContentKey(info.key);
  if (json) {
    return `${JSON.stringify({ key, size, storedSize, compression, references, volume, volumeName })}\n`;
  }
  return `${[key, size, storedSize, compression, references, volumeName].join("\t")}\n`;
}
