/** `serve --digests`: digest indexes as memory for crawlers, in place of archives. */
import { ArchiveError } from "../base/index.ts";
import { DigestIndex } from "../digests/index.ts";
import { nodeDisk } from "../disk/index.ts";
import type { Arguments } from "./command.ts";

export const DIGESTS_OPTION = {
  type: "string",
  value: "INDEX",
  help: "serve a digest index as memory for crawlers, and no archive",
  multiple: true,
} as const;

/** Each index is added to `opened`, to be closed. None where the command is for archives. */
export function openIndexes(args: Arguments, opened: AsyncDisposable[]): DigestIndex[] {
  const folders = args.list("digests");
  if (folders.length === 0) return [];
  const other = ["archive", "rules", "serve-files"].find((name) => args.list(name).length > 0 || args.flag(name));
  if (other !== undefined) throw new ArchiveError("HT_USAGE", `--digests serves no archive, so it takes no --${other}`);
  return folders.map((folder) => {
    const index = DigestIndex.open(nodeDisk, folder);
    opened.push(index);
    return index;
  });
}
