import { writeStandardOutput } from "../disk/index.ts";
import { parseContentKey } from "../store/index.ts";
import type { Command } from "./command.ts";
import { INSTANCE_OPTION, openTarget } from "./store-option.ts";
import { formatInfo } from "./store-stat.ts";

export const storeList: Command = {
  name: "store list",
  purpose: "List all contents of a store, one line each.",
  usage: "--instance PATH",
  details: `Key, size, size as stored, compression, references and volume, separated by tabs. Volumes that do not answer are
passed over with a warning; replicas are not listed.`,
  options: {
    ...INSTANCE_OPTION,
    volume: { type: "string", value: "N", help: "only those of this volume, by number or name" },
    after: { type: "string", value: "KEY", help: "only those behind this one, in the order of the list" },
  },
  exits: "3 a volume did not answer · 20 no such volume",
  examples: [
    "holotype store put --instance /tmp/store samples/*.warc.gz > /tmp/keys && holotype store list --instance /tmp/store",
  ],
  async run(args) {
    let unanswered = 0;
    await using instance = await openTarget(storeList, args, {
      reading: true,
      onWarning: ({ code }) => {
        if (code !== "HT_READ_ONLY") unanswered++;
      },
    });
    const named = args.text("volume");
    const after = args.text("after");
    const options = {
      volume: named === undefined ? undefined : instance.numberOf(named),
      after: after === undefined ? undefined : parseContentKey(after),
    };
    for await (const info of instance.list(options)) writeStandardOutput(formatInfo(info, args.flag("json")));
    return unanswered > 0 ? 3 : 0;
  },
};
