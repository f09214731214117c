import { ArchiveError, formatIso } from "../base/index.ts";
import {
  type KeyRange,
  prefixRange,
  rangeBehind,
  type TimelineEntry,
  type TimelineEvent,
  type TimelineSnapshot,
} from "../temporal/index.ts";
import { type Arguments, type Command, parseCount } from "./command.ts";
import { LineOutput } from "./manifest-text.ts";
import {
  digestHex,
  entryJson,
  escapeBytes,
  formatEntry,
  formatValue,
  openFolder,
  parseAskedTime,
  unescapeBytes,
} from "./timeline-text.ts";

export const timelineQuery: Command = {
  name: "timeline query",
  purpose: "Ask a timeline what was valid when: of one key, of all, or of a range of keys.",
  usage: "DIR [--key KEY] [--at TIME | --from TIME --to TIME] …",
  details: `With --key: what the key held at a time (--at), in a span (--from, --to), or ever; with --nearest N the N keys before
and behind it that were valid then. Without: all keys, or those of --prefix, at a time or in a span; --changes tells
what began and ended behind --from up to --to. Columns: key, birth, end, last seen, visits, digest, value. A time is 4
to 17 digits, ISO 8601, now, or @N for milliseconds since 1970. "later" as an end, and + behind the visits, say that
more is known: ask for that key with --at.`,
  options: {
    key: { type: "string", value: "KEY", help: "one key, as load was given it" },
    prefix: { type: "string", value: "KEY", help: "keys that begin so" },
    after: { type: "string", value: "KEY", help: "only keys behind this one: goes on where a list was left" },
    at: { type: "string", value: "TIME", help: "valid at this time" },
    from: { type: "string", value: "TIME", help: "valid at some time from this on" },
    to: { type: "string", value: "TIME", help: "and up to this" },
    changes: { type: "boolean", help: "what began, was replaced or ended behind --from up to --to" },
    nearest: { type: "string", value: "N", help: "so many keys on each side of --key" },
    count: { type: "boolean", help: "only how many" },
    limit: { type: "string", value: "N", help: "no more than this" },
  },
  exits: "20 no timeline · 22 of a newer Holotype · 23 damaged",
  examples: [
    "holotype index samples | holotype timeline load /tmp/t - > /dev/null && holotype timeline query /tmp/t --at now",
  ],
  run: (args) => Promise.resolve(run(args)),
};

function run(args: Arguments): number {
  const asked = parseQuestion(args);
  const { snapshot } = openFolder(timelineQuery, args);
  using _ = snapshot;
  const output = new LineOutput();
  const limit =
    args.text("limit") === undefined ? Number.POSITIVE_INFINITY : parseCount("limit", args.text("limit")!, 1, 1e15);
  let count = 0;
  const isSlice = asked.key === undefined && asked.at !== undefined;
  // Those need not be listed to be counted.
  if (args.flag("count") && isSlice) count = Math.min(limit, snapshot.countSlice(asked.at, asked.range));
  else {
    for (const answer of answers(snapshot, asked, args)) {
      if (count === limit) break;
      count++;
      if (!args.flag("count")) output.write(args.flag("json") ? JSON.stringify(toJson(answer)) : format(answer));
    }
  }
  if (args.flag("count")) output.write(args.flag("json") ? JSON.stringify({ count }) : `${count}`);
  output.flush();
  return 0;
}

interface Question {
  readonly key: string | undefined;
  readonly range: KeyRange;
  readonly at: number | undefined;
  readonly from: number;
  readonly to: number;
}

function parseQuestion(args: Arguments): Question {
  const bytes = (name: string) => {
    const text = args.text(name);
    return text === undefined ? undefined : unescapeBytes(text, `--${name}`).toString("latin1");
  };
  const time = (name: string, padding: "start" | "end") => {
    const text = args.text(name);
    return text === undefined ? undefined : parseAskedTime(text, padding);
  };
  const [key, prefix, after] = [bytes("key"), bytes("prefix"), bytes("after")];
  const [at, from, to] = [time("at", "end"), time("from", "start"), time("to", "end")];
  const wrong = (reason: string) => new ArchiveError("HT_USAGE", `${reason} (see holotype timeline query --help)`);
  if (at !== undefined && (from !== undefined || to !== undefined)) throw wrong("--at or a span, not both");
  if (key !== undefined && prefix !== undefined) throw wrong("--key or --prefix, not both");
  if (args.flag("changes") && (from === undefined || key !== undefined))
    throw wrong("--changes wants --from, and no --key");
  if (args.text("nearest") !== undefined && key === undefined) throw wrong("--nearest wants --key");
  if (key === undefined && at === undefined && from === undefined && to === undefined) throw wrong("nothing was asked");
  if (from !== undefined && to !== undefined && to < from) throw wrong("--to is before --from");
  const range = prefixRange(prefix ?? "");
  return {
    key,
    range: after === undefined ? range : rangeBehind(after > (range.from ?? "") ? after : range.from!, range),
    at,
    from: from ?? at ?? Number.MIN_SAFE_INTEGER / 4,
    to: to ?? at ?? Number.MAX_SAFE_INTEGER / 4,
  };
}

function* answers(
  snapshot: TimelineSnapshot,
  asked: Question,
  args: Arguments,
): Generator<TimelineEntry | TimelineEvent> {
  const { key, range, at, from, to } = asked;
  const nearest = args.text("nearest");
  if (key !== undefined && nearest !== undefined) {
    const found = snapshot.nearest(key, from, to, parseCount("nearest", nearest, 1, 1e6));
    yield* [...found.before].reverse();
    yield* found.after;
  } else if (key !== undefined) {
    if (at === undefined) yield* snapshot.history(key, from, to);
    else yield* [snapshot.at(key, at)].filter((entry) => entry !== undefined);
  } else if (args.flag("changes")) yield* snapshot.events(from, to, range);
  else if (at !== undefined) yield* snapshot.slice(at, range);
  else yield* snapshot.span(from, to, range);
}

function kindOf({ isGone, replaced }: TimelineEvent): "born" | "ended" | "replaced" {
  return isGone ? "ended" : replaced ? "replaced" : "born";
}

function format(answer: TimelineEntry | TimelineEvent): string {
  if (!("isGone" in answer)) return formatEntry(answer);
  const { key, birth, digest, value } = answer;
  return [kindOf(answer), escapeBytes(key), formatIso(birth), digestHex(digest), formatValue(value)].join("\t");
}

function toJson(answer: TimelineEntry | TimelineEvent): Readonly<Record<string, unknown>> {
  if (!("isGone" in answer)) return entryJson(answer);
  const { key, birth, digest, value, isGone } = answer;
  const content = isGone ? {} : { digest: digestHex(digest), value: formatValue(value) };
  return { change: kindOf(answer), key: escapeBytes(key), time: formatIso(birth), ...content };
}
