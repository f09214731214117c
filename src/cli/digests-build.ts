import { ArchiveError } from "../base/index.ts";
import { type BuildResult, buildIndex, type Fault, type IntakeProgress, isDigestIndex } from "../digests/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import type { SkippedInput } from "../pipeline/index.ts";
import { type Arguments, type Command, requireFiles } from "./command.ts";
import { settingsOf, sourcesOf } from "./digests-option.ts";
import { Interruption } from "./interruption.ts";
import { accessOfNames, makeFolderFor } from "./output-access.ts";
import { formatCount, formatSize, ProgressLine, say, tellSkipped } from "./talk.ts";

const FLAWS_SHOWN_MAX = 20;

export const digestsBuild: Command = {
  name: "digests build",
  purpose: "Build a digest index of earlier crawls, or add to one.",
  usage: "INPUT… -o INDEX",
  details: `INPUT is a crawl.log of Heritrix, warcprox or holotype fetch, a CDX, CDXJ, WARC, ARC or WACZ file, a folder of archive
files, an archive made by holotype add, or - for standard input. The format is detected; logs and CDX may be gzipped.
Lines that cannot be read are reported with their numbers, and the rest is read. A duplicate of a duplicate leads to the
first original, through any number of crawls. The index changes only when everything is on disk: after an interruption,
run the same command again.`,
  options: {
    output: { type: "string", short: "o", value: "INDEX", help: "the folder of the index" },
    add: { type: "boolean", help: "add to an existing index; without one, make it" },
    index: { type: "string", value: "BY", help: "search it by url, digest or both (default: both)" },
    equivalent: { type: "boolean", help: "search it by equivalent URL too (ignores www. and parameters)" },
    etag: { type: "boolean", help: "include ETag and Last-Modified; logs and CDX do not have them" },
    origin: { type: "string", value: "TEXT", help: "where these captures are kept, in your words; stored with each" },
    mime: { type: "string", value: "PATTERN", multiple: true, help: "only these media types, such as image/*" },
    "not-mime": { type: "string", value: "PATTERN", multiple: true, help: "skip these media types" },
    "mime-regex": { type: "string", value: "RE", multiple: true, help: "only media types that RE matches as a whole" },
    "not-mime-regex": {
      type: "string",
      value: "RE",
      multiple: true,
      help: "skip those that RE matches, such as '^text/.*'",
    },
  },
  exits: "3 some lines or inputs could not be read · 21 another process is writing · 24 no space",
  examples: ["holotype digests build samples -o /tmp/d --equivalent --etag"],
  run,
};

async function run(args: Arguments): Promise<number> {
  const names = requireFiles(digestsBuild, args);
  const folder = args.text("output");
  if (folder === undefined)
    throw new ArchiveError("HT_USAGE", "-o INDEX is missing (see holotype digests build --help)");
  const json = args.flag("json");
  // Told before the long work.
  if (!args.flag("add") && isDigestIndex(nodeDisk, folder)) {
    throw new ArchiveError("HT_EXISTS", `${folder}: exists already; --add adds to it`, { file: folder });
  }
  let skippedInputs = 0;
  const line = new ProgressLine();
  const onSkip = (skipped: SkippedInput) => {
    line.clear();
    skippedInputs++;
    tellSkipped(skipped, json);
  };
  const sources = [...sourcesOf(names, onSkip)];
  const bytesTotal = sources.reduce((sum, { size }) => sum + (size ?? 0), 0);
  const faults = new FaultTeller(json, line);
  using interruption = new Interruption("stopping; the index stays as it was");
  if (sources.length === 0) return 3;
  makeFolderFor(folder, await accessOfNames(names));
  const result = await buildIndex(nodeDisk, folder, sources, {
    settings: settingsOf(args),
    isNew: !args.flag("add"),
    origin: args.text("origin"),
    mime: args.list("mime"),
    notMime: args.list("not-mime"),
    mimeRegex: args.list("mime-regex"),
    notMimeRegex: args.list("not-mime-regex"),
    onSkip,
    onFault: (fault) => faults.tell(fault),
    onProgress: ({ file, bytesDone, read }: IntakeProgress) =>
      line.update({ file, bytesDone, bytesTotal, records: read }),
    signal: interruption.signal,
  });
  line.clear();
  if (json || result.runs > 0) tell(folder, result, json);
  else say("nothing could be read; no index was made");
  return skippedInputs > 0 || result.skipped.unreadable > 0 ? 3 : 0;
}

/** Tells faults: for people the first ones, for programs all. */
class FaultTeller {
  private readonly json: boolean;
  private readonly line: ProgressLine;
  private shown = 0;

  constructor(json: boolean, line: ProgressLine) {
    this.json = json;
    this.line = line;
  }

  tell(fault: Fault): void {
    this.shown++;
    if (!this.json && this.shown > FLAWS_SHOWN_MAX + 1) return;
    this.line.clear();
    if (this.json) say(JSON.stringify({ fault }));
    else if (this.shown > FLAWS_SHOWN_MAX) say("… and more; --json lists all");
    else say(`${fault.file}${fault.line === undefined ? "" : `:${fault.line}`}: ${fault.message}`);
  }
}

function tell(folder: string, result: BuildResult, json: boolean): void {
  if (json) {
    writeStandardOutput(`${JSON.stringify({ folder, ...result })}\n`);
    return;
  }
  const { read, captures, entries, sizeBytes, skipped, runs } = result;
  const left = Object.entries(skipped).filter(([, count]) => count > 0);
  const reasons = left.map(([reason, count]) => `${reason} ${count.toLocaleString("en-US")}`).join(", ");
  const lines = [
    `${folder}: ${formatCount(entries, "entry", "entries")} of ${formatCount(captures, "capture")} in ${formatSize(sizeBytes)}`,
    `${formatCount(read, "line or record", "lines and records")} read${reasons === "" ? "" : `; skipped: ${reasons}`}`,
    ...(runs > 1 ? [`the index has ${runs} runs now`] : []),
  ];
  writeStandardOutput(`${lines.join("\n")}\n`);
}
