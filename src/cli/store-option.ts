/** What the commands on the content store have in common: which instance, and which keys. */
import { ArchiveError } from "../base/index.ts";
import { nodeDisk } from "../disk/index.ts";
import {
  Codecs,
  type ContentKey,
  type Instance,
  type InstanceWarning,
  type OpenInstanceOptions,
  openInstance,
  parseContentKey,
} from "../store/index.ts";
import type { Arguments, Command, OptionSpecs } from "./command.ts";
import { say } from "./talk.ts";

const VARIABLE = "HOLOTYPE_INSTANCE";

export const INSTANCE_OPTION: OptionSpecs = {
  instance: { type: "string", value: "PATH", help: `connector file, or folder of one volume (default: $${VARIABLE})` },
};

/** Where the instance is: as told, or as the surroundings have it. */
export function instancePath(command: Command, args: Arguments): string {
  const path = args.text("instance") ?? process.env[VARIABLE];
  if (path !== undefined && path !== "") return path;
  throw new ArchiveError("HT_USAGE", `no instance given: holotype ${command.name} --instance PATH, or $${VARIABLE}`);
}

export function isConnector(path: string): boolean {
  return /\.(?:xml|json)$/i.test(path);
}

function tellInstanceWarning(warning: InstanceWarning, json: boolean): void {
  say(json ? JSON.stringify({ warning }) : `${warning.message} (${warning.code})`);
}

/** Opens the instance; what the work goes on behind is told. */
export async function openTarget(
  command: Command,
  args: Arguments,
  options: Pick<OpenInstanceOptions, "create" | "reading" | "onWarning"> = {},
): Promise<Instance> {
  const json = args.flag("json");
  const path = instancePath(command, args);
  // A folder is made where there is none; a connector is not.
  if (isConnector(path) && nodeDisk.stat(path) === undefined)
    throw new ArchiveError("HT_NOT_FOUND", `${path}: no such connector`, { file: path });
  const codecs = await Codecs.load();
  const onWarning = (warning: InstanceWarning) => {
    tellInstanceWarning(warning, json);
    options.onWarning?.(warning);
  };
  return await openInstance(nodeDisk, path, { ...options, codecs, onWarning });
}

/** The keys that a command was given; none is a mistake, and so is one that is no key. */
export function requireKeys(command: Command, args: Arguments): ContentKey[] {
  if (args.positionals.length > 0) return args.positionals.map(parseContentKey);
  throw new ArchiveError("HT_USAGE", `no key given: holotype ${command.name} ${command.usage}`);
}
