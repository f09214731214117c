import { ArchiveError } from "../base/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { DIGEST_SIZE_DEFAULT, PAGE_SIZE_DEFAULT, TimelineWriter } from "../temporal/index.ts";
import { type Arguments, type Command, parseCount } from "./command.ts";
import { accessOfNames, makeFolderFor } from "./output-access.ts";
import { formatCount, formatSize, say } from "./talk.ts";
import { type LoadedVisit, readVisits } from "./timeline-lines.ts";

/** Bytes of digests and pages are those of the timeline where there is one already. */
export const timelineLoad: Command = {
  name: "timeline load",
  purpose: "Take visits into a timeline from lines of text, CDX or CDXJ, in any order.",
  usage: "DIR FILE…",
  details: `Makes the timeline where there is none. FILE is - for standard input, and may be gzipped. A line is what dump
writes: key, time (milliseconds since 1970, or ISO 8601), digest in hex or the word gone, and value (text, or hex
behind 0x), with tabs between them; or a line of CDX or CDXJ, whose SURT is the key and whose place and status are the
value. Longer digests are cut to the timeline's size. A line that tells no visit is passed over and named, unless it
is the first. Each commit holds; loading the same again changes nothing.`,
  options: {
    "commit-every": { type: "string", value: "N", help: "visits a commit", default: "500000" },
    "page-size": {
      type: "string",
      value: "N",
      help: "bytes a page, of a new timeline",
      default: `${PAGE_SIZE_DEFAULT}`,
    },
    "digest-size": {
      type: "string",
      value: "N",
      help: "bytes a digest, of a new one",
      default: `${DIGEST_SIZE_DEFAULT}`,
    },
  },
  exits: "3 some lines told no visit · 20 no such file · 21 another writer is there · 24 no space",
  examples: ["holotype index samples | holotype timeline load /tmp/t - --json"],
  run,
};

async function run(args: Arguments): Promise<number> {
  const [folder, ...names] = args.positionals;
  if (folder === undefined || names.length === 0) {
    throw new ArchiveError("HT_USAGE", `a folder and files: holotype timeline load ${timelineLoad.usage}`);
  }
  const absent = names.find((name) => name !== "-" && nodeDisk.stat(name) === undefined);
  if (absent !== undefined) throw new ArchiveError("HT_NOT_FOUND", `${absent}: no such file`, { file: absent });
  const commitEvery = parseCount("commit-every", args.text("commit-every")!, 1, 1e9);
  const pageSize = parseCount("page-size", args.text("page-size")!, 256, 1 << 20);
  const digestSize = parseCount("digest-size", args.text("digest-size")!, 1, 64);
  makeFolderFor(folder, await accessOfNames(names));
  using writer = TimelineWriter.open(nodeDisk, folder, { pageSize, digestSize });
  const load = new Load(writer, commitEvery, args);
  for (const name of names) for (const visit of readVisits(name, load.skip)) load.take(visit);
  const { keys, entries, visits, live } = writer.commit();
  const told = { folder, taken: load.taken, skipped: load.skipped, keys, entries, visits, live };
  const counts = `${formatCount(keys, "key")}, ${formatCount(entries, "entry", "entries")}, ${formatCount(visits, "visit")}`;
  writeStandardOutput(
    args.flag("json")
      ? `${JSON.stringify(told)}\n`
      : `${folder}: ${formatCount(load.taken, "line")} taken; ${counts} in ${formatSize(live)}\n`,
  );
  if (load.skipped > 0) say(`${formatCount(load.skipped, "line")} passed over`);
  return load.skipped > 0 ? 3 : 0;
}

/** Lines that were passed over and are told one by one. */
const TOLD_MAX = 5;

class Load {
  taken = 0;
  skipped = 0;
  private readonly writer: TimelineWriter;
  private readonly digestSize: number;
  private readonly commitEvery: number;
  private readonly isWatched: boolean;

  constructor(writer: TimelineWriter, commitEvery: number, args: Arguments) {
    this.writer = writer;
    this.commitEvery = commitEvery;
    this.isWatched = process.stderr.isTTY && !args.flag("json");
    using snapshot = writer.snapshot();
    this.digestSize = snapshot.info.digestSize;
  }

  readonly skip = (why: string): void => {
    if (this.skipped++ < TOLD_MAX) say(why);
  };

  take({ key, time, digest, value }: LoadedVisit): void {
    if (digest === undefined) this.writer.end(key, time);
    else this.writer.insert(key, time, value, digest.subarray(0, this.digestSize));
    this.taken++;
    if (this.taken % this.commitEvery !== 0) return;
    this.writer.commit();
    if (this.isWatched) say(`${formatCount(this.taken, "line")} taken`);
  }
}
