import type { Archive, FoundCapture, Lifespan } from "../archive/index.ts";
import { ArchiveError } from "../base/index.ts";
import { ARCHIVE_OPTION, openToAsk, parseAsOf, parseSince, requireWords } from "./archive-option.ts";
import type { Command } from "./command.ts";
import { formatCapture, formatLifespan, hasPayload, lifespanJson, tellCapture } from "./lifespan-text.ts";
import { LineOutput } from "./manifest-text.ts";

export const history: Command = {
  name: "history",
  purpose: "List what a URL held: its lifespans, or all captures of it.",
  usage: "URL [--all]",
  details: `Columns: birth, end, last capture that found it, captures, status, size, digest, media type, URL. With --all: time,
kind (a replaced one is a duplicate that became a revisit here), size, digest, place of the record, status.`,
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
    const lifespans = archive.history(url, ...span);
    const lines = args.flag("all")
      ? captureLines(archive, lifespans, archive.captures(url, ...span), args.flag("json"))
      : lifespans.map((lifespan) =>
          args.flag("json") ? JSON.stringify(lifespanJson(lifespan)) : formatLifespan(lifespan),
        );
    const output = new LineOutput(false);
    let count = 0;
    for (const line of lines) {
      count++;
      output.write(line);
    }
    output.flush();
    if (count === 0) {
      const isKnown = archive.history(url).length > 0;
      const message = isKnown ? "nothing of it is in that span" : "the archive has no capture of it";
      throw new ArchiveError("HT_NOT_FOUND", `${url}: ${message}`);
    }
    return 0;
  },
};

function* captureLines(
  archive: Archive,
  lifespans: readonly Lifespan[],
  captures: Iterable<FoundCapture>,
  json: boolean,
): Generator<string> {
  for (const found of captures) {
    const told = tellCapture(archive, found);
    const status = lifespans.find((lifespan) => isOf(found, lifespan))?.status;
    yield json ? JSON.stringify({ ...told, status: status ?? null }) : `${formatCapture(told)} ${status ?? "-"}`;
  }
}

function isOf(found: FoundCapture, { birth, lastSeen, sha256 }: Lifespan): boolean {
  return found.timeMs >= birth && found.timeMs <= lastSeen && hasPayload(found, sha256);
}
