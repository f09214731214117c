import { captureJson } from "../archive/index.ts";
import { ArchiveError, formatIso } from "../base/index.ts";
import { ARCHIVE_OPTION, openToAsk, parseAsOf, requireWords } from "./archive-option.ts";
import type { Command } from "./command.ts";
import { formatCapture } from "./lifespan-text.ts";
import { LineOutput } from "./manifest-text.ts";

export const same: Command = {
  name: "same",
  purpose: "List everywhere and every time that a content was seen.",
  usage: "URL TIME",
  details: `The content is the payload that the URL held then. Captures come in the order of URL keys and times. Columns: time,
class, type, status, size, digest, place of the record, flags, URL.`,
  options: { ...ARCHIVE_OPTION },
  exits: "20 no archive, or nothing is known of that URL and time · 23 a record is damaged",
  examples: [
    "holotype add samples --archive /tmp/cabinet",
    "holotype same http://cabinet.example/images/orchard-beetle.png 2014 --archive /tmp/cabinet",
  ],
  async run(args) {
    const [url, time] = requireWords(same, args, 2) as [string, string];
    const timeMs = parseAsOf(time);
    await using archive = await openToAsk(args);
    const moment = await archive.at(url, timeMs);
    if (moment === undefined) {
      throw new ArchiveError("HT_NOT_FOUND", `${url}: nothing is known of it at ${formatIso(timeMs)}`);
    }
    const output = new LineOutput();
    for await (const captures of archive.same(moment.lifespan.sha256)) {
      for (const capture of captures)
        output.write(
          args.flag("json") ? JSON.stringify(captureJson(capture)) : `${formatCapture(capture)} ${capture.url}`,
        );
    }
    output.flush();
    return 0;
  },
};
