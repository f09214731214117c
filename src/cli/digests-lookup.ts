import { ArchiveError, formatDigest, formatIso } from "../base/index.ts";
import { DigestIndex, type FoundCapture } from "../digests/index.ts";
import { nodeDisk } from "../disk/index.ts";
import { parseCdxDigest } from "../warc/index.ts";
import type { Arguments, Command } from "./command.ts";
import { requireIndex } from "./digests-option.ts";
import { printText, say } from "./talk.ts";

export const digestsLookup: Command = {
  name: "digests lookup",
  purpose: "Look up URLs and digests in a digest index.",
  usage: "INDEX URL|DIGEST…",
  details: `For a URL, lists every content it is known to have had, newest first. For a digest (base32 or hex, with or without
its label), one capture with that content. Each line has the time, status, media type, digest and URL of the capture,
then the date and URL of the record that holds the content, or - if no such record is known; then the origin, if any.`,
  options: {},
  exits: "20 no index, or nothing found · 23 the index is damaged",
  examples: [
    "holotype digests build samples -o /tmp/d --equivalent --etag",
    "holotype digests lookup /tmp/d http://cabinet.example/ http://cabinet.example/style.css",
  ],
  run,
};

async function run(args: Arguments): Promise<number> {
  const [folder, ...words] = requireIndex(digestsLookup, args);
  if (words.length === 0) throw new ArchiveError("HT_USAGE", `usage: holotype digests lookup ${digestsLookup.usage}`);
  await using index = DigestIndex.open(nodeDisk, folder);
  let known = 0;
  for (const word of words) {
    const found = lookUp(index, word);
    if (found.length > 0) known++;
    if (args.flag("json")) printText(`${JSON.stringify({ asked: word, found })}\n`);
    else if (found.length === 0) say(`${word}: not known`);
    else printText(found.map((capture) => `${format(capture)}\n`).join(""));
  }
  return known === 0 ? 20 : 0;
}

function lookUp(index: DigestIndex, word: string): readonly FoundCapture[] {
  const digest = /[/?]/.test(word) ? undefined : parseCdxDigest(word);
  if (digest === undefined) return index.statesOf(word);
  if (!index.answers.has("digest")) throw new ArchiveError("HT_USAGE", "this index cannot be searched by digest");
  return index.find([{ by: "digest", uri: "", digests: [formatDigest(digest)] }]).flatMap((found) => found ?? []);
}

function format({ timeMs, status, mime, digests, uri, original, origin }: FoundCapture): string {
  const fields = [formatIso(timeMs), status ?? "-", mime ?? "-", digests[0]!, uri];
  const reference = original === undefined ? ["-", "-"] : [original.date, original.uri];
  return [...fields, ...reference, ...(origin === undefined ? [] : [origin])].join("\t");
}
