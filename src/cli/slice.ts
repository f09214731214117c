import { type Archive, archiveKey, type Lifespan, lifespanJson, type Scope } from "../archive/index.ts";
import { ArchiveError } from "../base/index.ts";
import { mimeMatcher } from "../dedup/index.ts";
import {
  ARCHIVE_OPTION,
  openToAsk,
  parseAsOf,
  parseScope,
  parseSince,
  requireWords,
  SCOPE_OPTIONS,
} from "./archive-option.ts";
import { type Arguments, type Command, parseCount } from "./command.ts";
import { formatLifespan } from "./lifespan-text.ts";
import { LineOutput } from "./manifest-text.ts";

const NEAR_DEFAULT = "10";

export const slice: Command = {
  name: "slice",
  purpose: "List everything that was alive at a time, or during a span of time.",
  usage: "TIME [--to TIME] [--site HOST | --prefix URL]",
  details: `In the order of keys (SURT). Columns: birth, end, last capture that found it, captures, status, size, digest, media
type, URL. With --fast, "later" as an end, and + after the captures, mean that more is known: holotype at shows it.`,
  options: {
    ...ARCHIVE_OPTION,
    to: { type: "string", value: "TIME", help: "alive at some time from TIME up to this" },
    ...SCOPE_OPTIONS,
    mime: { type: "string", value: "LIST", help: "only these media types: image/*,text/css" },
    near: { type: "string", value: "URL", help: "only URLs next to this one, --limit on each side (default: 10)" },
    after: { type: "string", value: "KEY", help: "only behind this key or URL: goes on where a list was left" },
    limit: { type: "string", value: "N", help: "no more than this" },
    fast: { type: "boolean", help: "do not look up ends and last captures that lie later" },
    count: { type: "boolean", help: "only how many" },
  },
  exits: "20 no archive",
  examples: [
    "holotype add samples --archive /tmp/cabinet",
    "holotype slice 2014 --prefix http://cabinet.example/collection/ --archive /tmp/cabinet",
    "holotype slice 2009 --to 2014 --mime 'image/*' --archive /tmp/cabinet",
  ],
  async run(args) {
    const asked = parseQuestion(args);
    await using archive = await openToAsk(args);
    const { limit } = asked;
    const [json, onlyCount] = [args.flag("json"), args.flag("count")];
    const output = new LineOutput();
    let count = 0;
    const answers =
      asked.near === undefined
        ? alive(archive, asked, onlyCount || args.flag("fast"))
        : near(archive, asked, asked.near);
    for await (const lifespans of answers) {
      for (const lifespan of lifespans) {
        if (count === limit) break;
        count++;
        if (!onlyCount) output.write(json ? JSON.stringify(lifespanJson(lifespan)) : formatLifespan(lifespan));
      }
      if (count === limit) break;
    }
    if (onlyCount) output.write(json ? JSON.stringify({ count }) : `${count}`);
    output.flush();
    return 0;
  },
};

interface Question {
  /** Absent where it is about one moment. */
  readonly fromMs: number | undefined;
  readonly toMs: number;
  readonly scope: Scope;
  readonly near: { readonly url: string; readonly count: number } | undefined;
  readonly limit: number;
}

function parseQuestion(args: Arguments): Question {
  const [time] = requireWords(slice, args, 1) as [string];
  const [to, mime, url, after, limit] = ["to", "mime", "near", "after", "limit"].map((name) => args.text(name));
  const fromMs = to === undefined ? undefined : parseSince(time);
  const toMs = parseAsOf(to ?? time);
  const wrong = (reason: string) => new ArchiveError("HT_USAGE", `${reason} (see holotype slice --help)`);
  if (fromMs !== undefined && toMs < fromMs) throw wrong("--to is before TIME");
  const range = parseScope(args);
  if (url !== undefined && (range.from !== undefined || after !== undefined || mime !== undefined))
    throw wrong("--near goes with neither --site, --prefix, --mime nor --after");
  const count = parseCount("limit", limit ?? NEAR_DEFAULT, 1, 1e15);
  const behind = after === undefined ? "" : `${after.includes("://") ? archiveKey(after) : after}\0`;
  return {
    fromMs,
    toMs,
    scope: {
      ...range,
      ...(behind > (range.from ?? "") ? { from: behind } : {}),
      ...(mime === undefined ? {} : { mime: mimeMatcher(mime.split(",").map((pattern) => pattern.trim())) }),
    },
    near: url === undefined ? undefined : { url, count: Math.min(count, 1e6) },
    limit: limit === undefined || url !== undefined ? Number.POSITIVE_INFINITY : count,
  };
}

function alive(
  archive: Archive,
  { fromMs, toMs, scope }: Question,
  withoutEnds: boolean,
): AsyncIterable<readonly Lifespan[]> {
  const options = { withoutEnds };
  return fromMs === undefined ? archive.slice(toMs, scope, options) : archive.span(fromMs, toMs, scope, options);
}

async function* near(
  archive: Archive,
  { fromMs, toMs }: Question,
  { url, count }: NonNullable<Question["near"]>,
): AsyncGenerator<readonly Lifespan[]> {
  const { before, after } = await archive.near(url, fromMs ?? toMs, toMs, count);
  yield [...before.reverse(), ...after];
}
