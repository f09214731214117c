import { type Archive, captureJson, lifespanJson } from "../archive/index.ts";
import { ArchiveError } from "../base/index.ts";
import { ARCHIVE_OPTION, openToAsk, parseAsOf, parseSince, requireWords } from "./archive-option.ts";
import type { Command } from "./command.ts";
import { formatCapture, formatLifespan } from "./lifespan-text.ts";
import { LineOutput } from "./manifest-text.ts";

export const history: Command = {
  name: "history",
  purpose: "List what a URL held: its lifespans, or all captures of it.",
  usage: "URL [--all]",
  details: `Columns: birth, end, last capture that found it, captures, status, size, digest, media type, URL. With --all: time,
class (state, confirmation, failed, redirect-to-self, part, truncated, unread, other-method, undated), type, status,
size, digest, place of the record, flags.`,
  options: {
    ...ARCHIVE_OPTION,
    all: { type: "boolean", help: "every capture" },
    from: { type: "string", value: "TIME", help: "only what was alive, or captured, from this time on" },
    to: { type: "string", value: "TIME", help: "and up to this" },
  },
  exits: "20 no archive, or nothing is known of that URL and time",
  examples: [
    "holotype add samples --archive /tmp/cabinet",
    "holotype history http://cabinet.example/ --archive /tmp/cabinet",
    "holotype history http://cabinet.example/images/orchard-beetle.png --all --archive /tmp/cabinet",
  ],
  async run(args) {
    const [url] = requireWords(history, args, 1) as [string];
    const [from, to] = [args.text("from"), args.text("to")];
    const span = [
      from === undefined ? undefined : parseSince(from),
      to === undefined ? undefined : parseAsOf(to),
    ] as const;
    if (span[0] !== undefined && span[1] !== undefined && span[0] > span[1])
      throw new ArchiveError("HT_USAGE", "--from is later than --to");
    await using archive = await openToAsk(args);
    const json = args.flag("json");
    const output = new LineOutput();
    let count = 0;
    const write = (line: string) => {
      count++;
      output.write(line);
    };
    if (args.flag("all")) {
      for await (const captures of archive.captures({ url, fromMs: span[0], toMs: span[1] }))
        for (const each of captures) write(json ? JSON.stringify(captureJson(each)) : formatCapture(each));
    } else {
      for await (const lifespans of archive.history(url, ...span))
        for (const each of lifespans) write(json ? JSON.stringify(lifespanJson(each)) : formatLifespan(each));
    }
    output.flush();
    if (count === 0) throw await nothing(archive, url, args.flag("all"));
    return 0;
  },
};

async function nothing(archive: Archive, url: string, isAll: boolean): Promise<ArchiveError> {
  for await (const [_] of archive.captures({ url, limit: 1 })) {
    const message = isAll
      ? "nothing of it is in that span"
      : "the archive has no state of it then; --all shows its captures";
    return new ArchiveError("HT_NOT_FOUND", `${url}: ${message}`);
  }
  return new ArchiveError("HT_NOT_FOUND", `${url}: the archive has no capture of it`);
}
