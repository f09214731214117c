import { writeStandardOutput } from "../disk/index.ts";
import { formatContentKey, type RepairResult } from "../store/index.ts";
import type { Command } from "./command.ts";
import { Interruption } from "./interruption.ts";
import { INSTANCE_OPTION, openTarget } from "./store-option.ts";
import { formatCount, say } from "./talk.ts";
import { progressTeller } from "./volume-option.ts";

export const storeRepair: Command = {
  name: "store repair",
  purpose: "Bring every content of a store to its number of replicas, after a volume was lost or away.",
  usage: "--instance PATH",
  details: `Walks all volumes: makes replicas that are missing, gives back contents to a volume that lost them, and sets the
counters of replicas right. Nothing is taken away but replicas that are too many. It can be stopped at any time and run
again, while the store is in use.`,
  options: INSTANCE_OPTION,
  exits: "3 a volume did not answer · 4 some contents could not be seen to · 20 no such connector or folder",
  examples: [
    `echo '<instance name="x" replicas="2"><volume name="a" path="a"/><volume name="b" path="b"/></instance>' > /tmp/x.xml`,
    "holotype store put --instance /tmp/x.xml samples/*.warc.gz > /tmp/keys && rm -r /tmp/b",
    "holotype store repair --instance /tmp/x.xml --json",
  ],
  async run(args) {
    const json = args.flag("json");
    await using instance = await openTarget(storeRepair, args, { create: true });
    using interruption = new Interruption("stopping; what was repaired stays. Run the same command again to go on");
    const tellProgress = progressTeller(json, "looking through the volumes");
    const result = await instance.repair({
      signal: interruption.signal,
      onProgress: ({ blocks, blocksTotal }) => tellProgress(blocks, blocksTotal),
      onFailure: (key, { code, message }) => {
        const name = formatContentKey(key);
        say(
          json
            ? JSON.stringify({ failed: { key: name, code, message } })
            : `not repaired: ${name}: ${message} (${code})`,
        );
      },
    });
    writeStandardOutput(json ? `${JSON.stringify(result)}\n` : formatResult(result));
    if (!result.isDone) return 130;
    return result.failed > 0 ? 4 : result.unreachable.length > 0 ? 3 : 0;
  },
};

function formatResult(result: RepairResult): string {
  const parts = [
    `${formatCount(result.contents, "content")} looked at`,
    `${formatCount(result.replicasMade, "replica")} made`,
    `${formatCount(result.contentsRestored, "content")} restored`,
    `${formatCount(result.countersSet, "counter")} set right`,
    `${formatCount(result.replicasDropped, "replica")} too many dropped`,
    `${result.failed} not repaired`,
  ];
  const away = result.unreachable.length === 0 ? "" : `; not within reach: ${result.unreachable.join(", ")}`;
  return `${parts.join(", ")}${away}\n`;
}
