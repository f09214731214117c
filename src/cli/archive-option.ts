/** What the commands on an archive have in common: which archive, which URLs of it, and which times. */
import { Archive } from "../archive/index.ts";
import { ArchiveError, parseTime, systemClock } from "../base/index.ts";
import { nodeDisk } from "../disk/index.ts";
import { type KeyRange, keyRange } from "../url/index.ts";
import type { Arguments, Command, OptionSpecs } from "./command.ts";

const VARIABLE = "HOLOTYPE_ARCHIVE";
const FOLDER = "archive";

export const ARCHIVE_OPTION: OptionSpecs = {
  archive: { type: "string", short: "a", value: "DIR", help: `the archive (default: $${VARIABLE}, or ./${FOLDER})` },
};

export const SCOPE_OPTIONS: OptionSpecs = {
  site: { type: "string", value: "HOST", help: "only this host and all below it" },
  prefix: { type: "string", value: "URL", help: "only URLs that begin like this" },
};

/** Where the archive is: as told, as the surroundings have it, or here. */
export function archiveFolder(args: Arguments): string {
  const folder = args.text("archive") ?? process.env[VARIABLE];
  return folder === undefined || folder === "" ? FOLDER : folder.replace(/(?<=.)\/+$/, "");
}

/** Opens the archive as of its last commit. HT_NOT_FOUND where there is none. */
export async function openToAsk(args: Arguments): Promise<Archive> {
  return await Archive.open(nodeDisk, archiveFolder(args));
}

/** The words that a command was given, as many as its usage names. */
export function requireWords(command: Command, args: Arguments, count: number): readonly string[] {
  if (args.positionals.length === count) return args.positionals;
  throw new ArchiveError("HT_USAGE", `usage: holotype ${command.name} ${command.usage}`);
}

/** The host that `--site` names; as a pattern for all below it too, which it means anyway. */
export function siteOf(args: Arguments): string | undefined {
  return args.text("site")?.replace(/^\*\./, "");
}

/** The keys that `--site` or `--prefix` stands for; all of them where neither is given. */
export function parseScope(args: Arguments): Partial<KeyRange> {
  const [site, prefix] = [siteOf(args), args.text("prefix")];
  if (site !== undefined && prefix !== undefined) throw new ArchiveError("HT_USAGE", "--site or --prefix, not both");
  if (prefix !== undefined) return keyRange(prefix, "prefix");
  if (site === undefined) return {};
  const range = keyRange(site, "domain");
  if (range.from === range.to) throw new ArchiveError("HT_USAGE", `--site takes a host, not ${site}`);
  return range;
}

/** The moment that a time means where it says as of when: the last that it can be. */
export function parseAsOf(text: string): number {
  return parseTime(text, systemClock.now(), "end");
}

/** The same of where a span begins: the first that it can be. */
export function parseSince(text: string): number {
  return parseTime(text, systemClock.now(), "start");
}
