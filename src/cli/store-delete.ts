import { ArchiveError } from "../base/index.ts";
import { type ContentKey, formatContentKey } from "../store/index.ts";
import type { Command } from "./command.ts";
import { Interruption } from "./interruption.ts";
import { INSTANCE_OPTION, openTarget, requireKeys } from "./store-option.ts";
import { report, tellSkipped } from "./talk.ts";

export const storeDelete: Command = {
  name: "store delete",
  purpose: "Take back a reference to each content; the last one takes the content.",
  usage: "KEY…",
  details: `Prints each key with the number of references that are left. A key that is given twice loses two references.`,
  options: INSTANCE_OPTION,
  exits: "3 some are not there, or out of reach · 20 none of them is there · 25 the volume does not answer",
  examples: [
    "holotype store put --instance /tmp/store samples/*.warc.gz | xargs holotype store delete --instance /tmp/store",
  ],
  async run(args) {
    const keys = requireKeys(storeDelete, args);
    const json = args.flag("json");
    await using instance = await openTarget(storeDelete, args);
    using interruption = new Interruption("stopped; the keys that were printed have lost a reference");
    const skipped: { readonly name: string; readonly error: ArchiveError }[] = [];
    for (const key of keys) {
      if (interruption.isStopped) return 130;
      const name = formatContentKey(key);
      try {
        const info = (await instance.delete(key)) ?? notThere(key);
        const { references } = info;
        report(json ? `${JSON.stringify({ key: name, references })}\n` : `${name}\t${references}\n`);
      } catch (error) {
        if (!(error instanceof ArchiveError)) throw error;
        skipped.push({ name, error });
      }
    }
    if (skipped.length === keys.length) throw skipped[0]!.error;
    for (const each of skipped) tellSkipped(each, json);
    return skipped.length > 0 ? 3 : 0;
  },
};

function notThere(key: ContentKey): never {
  throw new ArchiveError("HT_NOT_FOUND", `${formatContentKey(key)}: there is no such content`);
}
