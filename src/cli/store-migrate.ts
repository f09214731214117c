import { ArchiveError } from "../base/index.ts";
import { writeStandardOutput } from "../disk/index.ts";
import { formatAddress, type MigrateResult } from "../store/index.ts";
import type { Command } from "./command.ts";
import { Interruption } from "./interruption.ts";
import { INSTANCE_OPTION, openTarget } from "./store-option.ts";
import { formatCount, formatSize, say } from "./talk.ts";
import { progressTeller } from "./volume-option.ts";

export const storeMigrate: Command = {
  name: "store migrate",
  purpose: "Move all blocks of one volume of a store to another, while both are in use.",
  usage: "FROM TO",
  details: `Volumes are told by number or name. FROM becomes read-only. Keys that were given out keep working. Whatever stops it,
the same command goes on where it stopped. Afterwards write moved-to="TO" into the line of FROM in the connector.`,
  options: INSTANCE_OPTION,
  exits: "2 TO is not writable · 4 damaged blocks were left · 20 no such volume · 25 a volume does not answer",
  examples: [
    `echo '<instance name="x"><volume name="a" path="a"/><volume name="b" path="b"/></instance>' > /tmp/x.xml`,
    "holotype store put --instance /tmp/x.xml --volume a samples/*.warc.gz > /tmp/keys",
    "holotype store migrate a b --instance /tmp/x.xml > /tmp/told && holotype store volumes --instance /tmp/x.xml --json",
  ],
  async run(args) {
    const [from, to, ...more] = args.positionals;
    if (from === undefined || to === undefined || more.length > 0) {
      throw new ArchiveError("HT_USAGE", `two volumes: holotype ${storeMigrate.name} ${storeMigrate.usage}`);
    }
    const json = args.flag("json");
    await using instance = await openTarget(storeMigrate, args, { create: true });
    using interruption = new Interruption("stopping; what has moved stays. Run the same command again to go on");
    const tellProgress = progressTeller(json, `moving ${from} to ${to}`);
    const result = await instance.migrate(instance.numberOf(from), instance.numberOf(to), {
      signal: interruption.signal,
      onProgress: ({ blocks, blocksTotal }) => tellProgress(blocks, blocksTotal),
      onFailure: (address, { code, message }) => {
        const name = formatAddress(address);
        say(
          json
            ? JSON.stringify({ failed: { block: name, code, message } })
            : `not moved: ${name}: ${message} (${code})`,
        );
      },
    });
    writeStandardOutput(json ? `${JSON.stringify(result)}\n` : formatResult(result, from, to));
    if (result.failed > 0) return 4;
    return result.isDone ? 0 : 130;
  },
};

function formatResult({ blocks, bytes, failed, isDone }: MigrateResult, from: string, to: string): string {
  const moved = `${formatCount(blocks, "block")} moved, ${formatSize(bytes)}`;
  const left = failed === 0 ? "" : `; ${formatCount(failed, "damaged block")} left`;
  const next = isDone ? `; now write moved-to="${to}" into the line of ${from} in the connector` : "";
  return `${moved}${left}${next}\n`;
}
