import { type Change, lifespanJson } from "../archive/index.ts";
import { ArchiveError, formatIso } from "../base/index.ts";
import { ARCHIVE_OPTION, openToAsk, parseAsOf, parseScope, requireWords, SCOPE_OPTIONS } from "./archive-option.ts";
import { type Command, parseCount } from "./command.ts";
import { LineOutput } from "./manifest-text.ts";

export const changes: Command = {
  name: "changes",
  purpose: "List what appeared, changed or vanished between two times.",
  usage: "FROM TO [--site HOST | --prefix URL]",
  details: `Behind FROM and up to TO, in the order of keys and times: what leads from slice FROM to slice TO. A time that is
short of digits means its end. Columns: what happened, when it was found, status, size, media type, URL. Vanished is
what answers with an error (400 and above) and did not before; appeared, what is new, or answers again.`,
  options: {
    ...ARCHIVE_OPTION,
    ...SCOPE_OPTIONS,
    limit: { type: "string", value: "N", help: "no more than this" },
    count: { type: "boolean", help: "only how many of each" },
  },
  exits: "20 no archive",
  examples: [
    "holotype add samples --archive /tmp/cabinet",
    "holotype changes 2009 2013 --prefix http://cabinet.example/collection/ --archive /tmp/cabinet",
  ],
  async run(args) {
    const [from, to] = requireWords(changes, args, 2).map(parseAsOf) as [number, number];
    if (to < from) throw new ArchiveError("HT_USAGE", "TO is before FROM (see holotype changes --help)");
    const limit = args.text("limit");
    const max = limit === undefined ? Number.POSITIVE_INFINITY : parseCount("limit", limit, 1, 1e15);
    const [json, onlyCount] = [args.flag("json"), args.flag("count")];
    const scope = parseScope(args);
    await using archive = await openToAsk(args);
    const output = new LineOutput();
    const counts = { appeared: 0, changed: 0, vanished: 0 };
    let count = 0;
    for await (const batch of archive.changes(from, to, scope)) {
      for (const change of batch.slice(0, max - count)) {
        counts[change.kind]++;
        if (!onlyCount) output.write(json ? JSON.stringify(toJson(change)) : format(change));
      }
      count += batch.length;
      if (count >= max) break;
    }
    if (onlyCount)
      output.write(
        json
          ? JSON.stringify(counts)
          : Object.entries(counts)
              .map(([kind, n]) => `${n} ${kind}`)
              .join(", "),
      );
    output.flush();
    return 0;
  },
};

function toJson({ kind, timeMs, key, lifespan }: Change) {
  const content = lifespan === undefined ? {} : lifespanJson(lifespan);
  return { change: kind, time: formatIso(timeMs), key, ...content };
}

function format({ kind, timeMs, key, lifespan }: Change): string {
  const { status, payloadSize, mime, url } = lifespan ?? {};
  return [
    kind.padEnd(8),
    formatIso(timeMs),
    `${status ?? "-"}`.padStart(3),
    `${payloadSize ?? "-"}`.padStart(9),
    (mime ?? "-").padEnd(24),
    url ?? key,
  ].join(" ");
}
