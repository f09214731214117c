/** What the commands on digest indexes have in common: which index, what is chosen for one, and where captures come from. */
import { archiveExists } from "../archive/index.ts";
import { ArchiveError } from "../base/index.ts";
import { type CaptureSource, type IndexSettings, InputSource, isDigestIndex } from "../digests/index.ts";
import { nodeDisk } from "../disk/index.ts";
import { findInputs, type SkippedInput } from "../pipeline/index.ts";
import { ArchiveSource } from "./archive-source.ts";
import { type Arguments, type Command, parseChoice } from "./command.ts";

/** The index that a command is about, and the words behind it. */
export function requireIndex(command: Command, args: Arguments): [folder: string, ...rest: string[]] {
  const [folder, ...rest] = args.positionals;
  if (folder === undefined) throw new ArchiveError("HT_USAGE", `usage: holotype ${command.name} ${command.usage}`);
  return [folder, ...rest];
}

/** Absent where nothing was chosen: then those of the index that is there, or the usual ones. */
export function settingsOf(args: Arguments): IndexSettings | undefined {
  const [index, equivalent, validators] = [args.text("index"), args.flag("equivalent"), args.flag("etag")];
  if (index === undefined && !equivalent && !validators) return undefined;
  const by = parseChoice("index", index ?? "both", ["url", "digest", "both"] as const);
  return { url: by !== "digest", digest: by !== "url", equivalent, validators };
}

export function describeSettings({ url, digest, equivalent, validators }: IndexSettings): string {
  const by = [url && "URL", digest && "digest", equivalent && "equivalent URL and digest"].filter(Boolean).join(", ");
  return `asked by ${by}${validators ? "; with ETag and Last-Modified" : ""}`;
}

/** The one index that a command is about. */
export function requireOneIndex(command: Command, args: Arguments): string {
  const [folder, extra] = requireIndex(command, args);
  if (extra === undefined) return folder;
  const message = `unexpected argument ${extra} (usage: holotype ${command.name} ${command.usage})`;
  throw new ArchiveError("HT_USAGE", message);
}

/** What the arguments stand for: archives of ours, and files of any kind. */
export function* sourcesOf(
  names: readonly string[],
  onSkip: (skipped: SkippedInput) => void,
): Generator<CaptureSource & { readonly size?: number | undefined }> {
  for (const name of names) {
    if (name !== "-" && isDigestIndex(nodeDisk, name)) {
      const message = `${name}: a digest index; holotype digests merge puts indexes together`;
      throw new ArchiveError("HT_USAGE", message, { file: name });
    }
    if (name !== "-" && archiveExists(nodeDisk, name)) yield new ArchiveSource(name);
    else for (const input of findInputs(nodeDisk, [name], onSkip)) yield new SizedSource(input);
  }
}

class SizedSource extends InputSource {
  readonly size: number | undefined;

  constructor(input: ConstructorParameters<typeof InputSource>[1]) {
    super(nodeDisk, input);
    this.size = input.size;
  }
}
