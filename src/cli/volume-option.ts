/** What the commands on volumes have in common. */
import { join } from "node:path";
import { ArchiveError } from "../base/index.ts";
import { type Lock, nodeDisk } from "../disk/index.ts";
import {
  type CodecModule,
  Codecs,
  type ContentThreads,
  type LocalVolume,
  loadCodec,
  openVolume,
  readVolumeSettings,
} from "../store/index.ts";
import type { Arguments, Command, OptionSpecs } from "./command.ts";
import { say, tellWarning } from "./talk.ts";

export const CODEC_OPTION: OptionSpecs = {
  codec: {
    type: "string",
    multiple: true,
    value: "CODEC",
    help: "NAME=MODULE: one beside the built-in ones, from a module that exports it as codec",
  },
};

/** The one folder that a command was given. */
export function requireFolder(command: Command, args: Arguments): string {
  const [folder, ...more] = args.positionals;
  if (folder !== undefined && more.length === 0) return folder;
  const what = folder === undefined ? "no folder given" : `one folder at a time, not ${args.positionals.join(", ")}`;
  throw new ArchiveError("HT_USAGE", `${what}: holotype ${command.name} ${command.usage}`);
}

export function codecModules(args: Arguments): CodecModule[] {
  return args.list("codec").map((text) => {
    const [, name, module] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    if (name !== undefined && module !== undefined) return { name, module };
    throw new ArchiveError("HT_USAGE", `--codec takes NAME=MODULE, not ${text}`);
  });
}

interface FolderOptions {
  /** Large contents are verified and compared there. */
  readonly threads?: ContentThreads | undefined;
  readonly reading?: boolean;
}

/** Opens the volume; what is tolerated is told. */
export async function openFolder(folder: string, args: Arguments, options: FolderOptions = {}): Promise<LocalVolume> {
  const { threads, reading = false } = options;
  const codecs = await Codecs.load();
  for (const { name, module } of codecModules(args)) codecs.register(await loadCodec(name, module));
  if (threads !== undefined) codecs.useThreads(threads);
  const json = args.flag("json");
  return await openVolume(nodeDisk, folder, { codecs, reading, onWarning: (warning) => tellWarning(warning, json) });
}

/** Holds a volume without opening it, and says what it is. */
export function lockFolder(folder: string): { readonly settings: ReturnType<typeof readVolumeSettings>; lock: Lock } {
  const settings = readVolumeSettings(nodeDisk, folder);
  return { settings, lock: nodeDisk.lock(join(folder, "lock"), "beacon") };
}

const UNITS: Readonly<Record<string, number>> = { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };

/** `500`, `64k`, `4G`: units are of thousands, as everywhere in what we print. */
export function parseSizeOption(name: string, text: string): number {
  const [, digits, unit] = /^(\d{1,15})([kMGT]?)B?$/.exec(text) ?? [];
  const size = Number(digits ?? Number.NaN) * (UNITS[unit ?? ""] ?? 1);
  if (Number.isSafeInteger(size) && size > 0) return size;
  throw new ArchiveError("HT_USAGE", `--${name} takes a size such as 64k, 500M or 4G, not ${text}`);
}

/** Lines of progress where somebody watches. */
export function progressTeller(json: boolean, what: string): (done: number, total: number) => void {
  let told = performance.now();
  return (done, total) => {
    const now = performance.now();
    if (json || !process.stderr.isTTY || now - told < 1000) return;
    told = now;
    say(`${what}: ${total > 0 ? Math.floor((100 * done) / total) : 100} %`);
  };
}
