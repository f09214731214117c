import { ArchiveError } from "../base/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { VOLUME_STATES, writeVolumeSettings } from "../store/index.ts";
import { type Command, parseChoice } from "./command.ts";
import { lockFolder } from "./volume-option.ts";
import { isServerUrl, openServer, SERVER_OPTIONS } from "./volume-remote.ts";

export const volumeState: Command = {
  name: "volume state",
  purpose: "Make a volume read-only, or writable again.",
  usage: "DIR|URL writable|read-only",
  details: `A read-only volume takes no new contents; it still counts references, deletes and serves. A folder must not be served
meanwhile; of a volume that is, give the URL of its server.`,
  options: SERVER_OPTIONS,
  exits: "20 no volume · 21 the volume is open elsewhere · 25 the server does not answer",
  examples: ["holotype volume create /tmp/volume && holotype volume state /tmp/volume read-only"],
  async run(args) {
    const [target, word, ...more] = args.positionals;
    if (target === undefined || word === undefined || more.length > 0) {
      throw new ArchiveError("HT_USAGE", `a folder and a state: holotype volume state ${volumeState.usage}`);
    }
    const state = VOLUME_STATES.find((name) => name === word) ?? parseChoice("state", word, VOLUME_STATES);
    if (isServerUrl(target)) {
      await using volume = openServer(target, args);
      await volume.setState(state);
    } else {
      const { settings, lock } = lockFolder(target);
      using _ = lock;
      writeVolumeSettings(nodeDisk, target, { ...settings, state });
    }
    writeStandardOutput(args.flag("json") ? `${JSON.stringify({ volume: target, state })}\n` : `${target}: ${state}\n`);
    return 0;
  },
};
