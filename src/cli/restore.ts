import { availableParallelism } from "node:os";
import { ArchiveError, isDamage, parseTime, systemClock, type Warning } from "../base/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import {
  type RestoredFile,
  type RestoreProgress,
  type RestoreResult,
  restore as restoreFiles,
  restoreSubset,
  type SkippedInput,
  type SubsetFile,
  type SubsetFilter,
  type SubsetResult,
} from "../pipeline/index.ts";
import { type Arguments, type Command, parseCount, requireFiles } from "./command.ts";
import { endOnInterruption } from "./interruption.ts";
import { formatCount, formatNumber, formatSize, StageLine, say, tellSkipped, WarningTeller } from "./talk.ts";

const THREADS_MAX = 256;

export const restore: Command = {
  name: "restore",
  purpose: "Undo dedup: put every replaced record together again and prove it.",
  usage: "FILE… -o DIR",
  details: `Each record is put together from its revisit and its original and proven by the digest that dedup left, and by the
job's ledger where that is there. Where the compressor can be found that made a file, the file comes back byte for byte.
An output gets its name after it has been read back; one that is there from an earlier run is kept once it has proved
right. A file in which a record cannot be proven is not written.

With --host, --url, --from or --to only those records are written, in files that need no others: every revisit among
them, also those that dedup found there, becomes the full record that it stands for.`,
  options: {
    output: { type: "string", short: "o", value: "DIR", help: "folder for the restored files" },
    originals: { type: "string", multiple: true, value: "FILE", help: "more files or folders that may hold originals" },
    job: {
      type: "string",
      multiple: true,
      value: "DIR",
      help: "job folder of a dedup (default: those beside the files)",
    },
    host: { type: "string", multiple: true, value: "HOST", help: "only this host; *.HOST with all below it" },
    url: { type: "string", multiple: true, value: "PREFIX", help: "only URLs that begin like this" },
    from: { type: "string", value: "TIME", help: "only captures from this time on" },
    to: { type: "string", value: "TIME", help: "only captures up to this time" },
    threads: { type: "string", short: "j", value: "N", help: "worker threads (default: one a core)" },
  },
  exits: "3 inputs were skipped · 4 something could not be proven, as when an original is missing",
  examples: [
    "holotype dedup samples -o /tmp/deduplicated",
    "holotype restore /tmp/deduplicated -o /tmp/restored",
    "holotype restore /tmp/deduplicated -o /tmp/press --url http://cabinet.example/press/",
  ],
  async run(args) {
    const names = requireFiles(restore, args);
    const line = new StageLine();
    using _ = endOnInterruption(() => {
      line.clear();
      if (!args.flag("json")) say("stopped; what is finished stays. Run the same command again to go on");
    });
    try {
      const filter = parseFilter(args);
      return filter === undefined ? await runRestore(names, args, line) : await runSubset(names, args, filter, line);
    } finally {
      line.clear();
    }
  },
};

async function runRestore(names: readonly string[], args: Arguments, line: StageLine): Promise<number> {
  const json = args.flag("json");
  const talk = new RestoreTalk(line, json);
  const result = await restoreFiles(nodeDisk, names, {
    ...parseOptions(args, talk),
    jobs: args.list("job"),
    onFile: talk.file,
    onTell: talk.tell,
  });
  line.clear();
  writeStandardOutput(json ? `${JSON.stringify({ summary: summaryOf(result) })}\n` : formatResult(result));
  const changed = result.files.some(({ state }) => state === "changed");
  return exitOf(result, changed);
}

async function runSubset(
  names: readonly string[],
  args: Arguments,
  filter: SubsetFilter,
  line: StageLine,
): Promise<number> {
  if (args.list("job").length > 0) throw new ArchiveError("HT_USAGE", "--job is of no use for a subset");
  const json = args.flag("json");
  const talk = new RestoreTalk(line, json);
  const result = await restoreSubset(nodeDisk, names, { ...parseOptions(args, talk), filter, onFile: talk.file });
  line.clear();
  const sums = sumsOf(result);
  writeStandardOutput(json ? `${JSON.stringify({ summary: sums })}\n` : formatSubset(result));
  return exitOf(result, sums.orphans > 0 || sums.damaged > 0);
}

function exitOf(result: Pick<RestoreResult, "failed" | "skipped">, unproven: boolean): number {
  if (result.failed.length > 0 || unproven) return 4;
  return result.skipped.length > 0 ? 3 : 0;
}

function parseOptions(args: Arguments, talk: RestoreTalk) {
  const output = args.text("output");
  if (output === undefined) throw new ArchiveError("HT_USAGE", "say where to with -o DIR");
  const threads = args.text("threads");
  return {
    output,
    originals: args.list("originals"),
    threads: threads === undefined ? availableParallelism() : parseCount("threads", threads, 1, THREADS_MAX),
    onProgress: talk.progress,
    onWarning: talk.warn,
    onSkip: talk.skip,
    onFail: talk.fail,
  };
}

/** Absent where all is to be restored. */
function parseFilter(args: Arguments): SubsetFilter | undefined {
  const [hosts, prefixes] = [args.list("host"), args.list("url")];
  const [from, to] = [args.text("from"), args.text("to")];
  if (hosts.length === 0 && prefixes.length === 0 && from === undefined && to === undefined) return undefined;
  const now = systemClock.now();
  return {
    hosts,
    prefixes,
    fromMs: from === undefined ? undefined : parseTime(from, now, "start"),
    toMs: to === undefined ? undefined : parseTime(to, now, "end"),
  };
}

/** Tells what happens while it happens. */
class RestoreTalk {
  private readonly line: StageLine;
  private readonly json: boolean;
  private readonly warnings: WarningTeller;

  constructor(line: StageLine, json: boolean) {
    this.line = line;
    this.json = json;
    this.warnings = new WarningTeller(json);
  }

  readonly progress = ({ stage, done, total }: RestoreProgress): void =>
    this.line.update({ stage: stage === "reading" ? "reading" : "rewriting", done, total, saved: 0 });

  readonly warn = (warning: Warning): void => {
    if (!isDamage(warning) && warning.code !== "HT_CORRUPT" && warning.code !== "HT_REVISIT_ORPHAN") return;
    this.line.clear();
    this.warnings.tell(warning);
  };

  readonly skip = (skipped: SkippedInput): void => {
    this.line.clear();
    tellSkipped(skipped, this.json);
  };

  readonly fail = ({ name, error }: SkippedInput): void => {
    this.line.clear();
    const { code, message } = error;
    say(
      this.json ? JSON.stringify({ failed: { name, code, message } }) : `not restored: ${name}: ${message} (${code})`,
    );
  };

  readonly file = (file: RestoredFile | SubsetFile): void => {
    if (!this.json) return;
    this.line.clear();
    writeStandardOutput(`${JSON.stringify(file)}\n`);
  };

  readonly tell = (message: string): void => {
    this.line.clear();
    if (!this.json) say(message);
  };
}

const STATES: Readonly<Record<RestoredFile["state"], string>> = {
  identical: "byte-identical",
  equal: "equal record for record",
  copied: "copied; nothing to restore",
  changed: "restored, but other bytes have changed since dedup",
};

function summaryOf({ files, restored, skipped, failed }: RestoreResult) {
  const count = (state: RestoredFile["state"]) => files.filter((file) => file.state === state).length;
  return {
    files: files.length,
    restored,
    identical: count("identical"),
    equal: count("equal"),
    copied: count("copied"),
    changed: count("changed"),
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    skipped: skipped.length,
    failed: failed.length,
  };
}

function formatResult(result: RestoreResult): string {
  const { files } = result;
  const rows = files.map(({ output, restored, size, state, earlier, kept }) => {
    const more = earlier === 0 ? "" : `; ${formatCount(earlier, "revisit")} of an earlier dedup left`;
    return [output, formatNumber(restored), formatSize(size), `${STATES[state]}${kept ? ", was there" : ""}${more}`];
  });
  const sums = summaryOf(result);
  const total = `${formatCount(files.length, "file")}, ${formatCount(sums.restored, "record")} restored, ${formatSize(sums.bytes)}`;
  const counts: readonly [number, string][] = [
    [sums.identical, "byte-identical"],
    [sums.equal, "equal record for record"],
    [sums.copied, "copied"],
    [sums.changed, "changed since dedup"],
    [sums.failed, "not restored"],
  ];
  return `${formatTable(["file", "restored", "size", ""], rows)}${formatSums(total, counts)}\n`;
}

function sumsOf({ files, skipped, failed }: SubsetResult) {
  const sum = (name: "records" | "restored" | "expanded" | "orphans" | "damaged" | "size") =>
    files.reduce((total, file) => total + file[name], 0);
  return {
    files: files.length,
    records: sum("records"),
    restored: sum("restored"),
    expanded: sum("expanded"),
    orphans: sum("orphans"),
    damaged: sum("damaged"),
    bytes: sum("size"),
    skipped: skipped.length,
    failed: failed.length,
  };
}

function formatSubset(result: SubsetResult): string {
  const rows = result.files.map(({ output, records, restored, expanded, size, kept }) => [
    output ?? "",
    formatNumber(records),
    formatNumber(restored + expanded),
    formatSize(size),
    kept ? "was there" : "",
  ]);
  const sums = sumsOf(result);
  const total = `${formatCount(sums.files, "file")}, ${formatCount(sums.records, "record")}, ${formatSize(sums.bytes)}`;
  const counts: readonly [number, string][] = [
    [sums.restored, "restored from revisits of ours"],
    [sums.expanded, "made of revisits that were there"],
    [sums.orphans, "revisits left out for want of their originals"],
    [sums.damaged, "damaged records left out"],
    [sums.failed, "files not written"],
  ];
  return `${formatTable(["file", "records", "of revisits", "size", ""], rows)}${formatSums(total, counts)}\n`;
}

function formatSums(total: string, counts: readonly [number, string][]): string {
  const told = counts.filter(([count]) => count > 0).map(([count, name]) => `${formatNumber(count)} ${name}`);
  return [total, ...told].join("; ");
}

/** The first column to the left, the numbers to the right, the last one free. */
function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const lines = table.map((row) => {
    const last = row.length - 1;
    const cells = row.map((cell, column) => {
      if (column === last) return cell;
      return column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
    });
    return `${cells.join("  ").trimEnd()}\n`;
  });
  return lines.join("");
}
