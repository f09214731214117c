import { type Command, requireFiles } from "./command.ts";
import { survey, THREADS_OPTION } from "./survey-run.ts";
import { printText } from "./talk.ts";

export const ls: Command = {
  name: "ls",
  purpose: "List the records of archive files, one line a record.",
  usage: "FILE…",
  details: `Columns: offset (and +N inside a member that several records share), length, type, HTTP status, payload size,
date, media type, URI. A line that begins with "!" has a warning. With --json each line is an object with file, offset,
length, type, id, date, uri, status, mime, payloadSize, payloadDigest (computed) and warnings. FILE is a .warc, .arc
(plain, .gz or .zst), a .wacz, a folder, or - for standard input.`,
  options: THREADS_OPTION,
  exits: "3 some inputs were skipped · 4 damage was found",
  examples: ["holotype ls samples/cabinet-2009.warc.gz", "holotype ls --json samples | head -n 3"],
  async run(args) {
    const request = { kind: "listing", options: { json: args.flag("json") } } as const;
    const { exit } = await survey(requireFiles(ls, args), request, args, { onText: printText });
    return exit;
  },
};
