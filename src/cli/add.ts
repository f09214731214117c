import { join, resolve, sep } from "node:path";
import { type AddReport, type AdoptReport, ArchiveWriter } from "../archive/index.ts";
import { ArchiveError, type ErrorCode, isDamage, type Warning } from "../base/index.ts";
import type { Policy } from "../dedup/index.ts";
import { nodeDisk, readStandardInput, type ScratchFolder, scratchFolder, writeStandardOutput } from "../disk/index.ts";
import { accessOf, type Input, type SkippedInput, STANDARD_INPUT, usefulThreads } from "../pipeline/index.ts";
import { ARCHIVE_OPTION, archiveFolder } from "./archive-option.ts";
import { type Arguments, type Command, type OptionSpecs, parseCount, requireFiles } from "./command.ts";
import { POLICY_OPTIONS, parsePolicy } from "./dedup.ts";
import { Interruption } from "./interruption.ts";
import { tellWhoMayEnter } from "./output-access.ts";
import { takeInputs } from "./survey-run.ts";
import { formatCount, formatNumber, formatSize, ProgressLine, say, tellSkipped, WarningTeller } from "./talk.ts";

const THREADS_MAX = 256;

const ADD_POLICY_OPTIONS: OptionSpecs = {
  ...POLICY_OPTIONS,
  "equivalent-url": { type: "boolean", help: "an original must be a capture of the same URL or an equivalent one" },
  "same-site": { type: "boolean", help: "an original must be a capture of the same host" },
};

export const add: Command = {
  name: "add",
  purpose: "Take archive files into the archive, each distinct content once.",
  usage: "FILE… [--archive DIR]",
  details: `Makes the archive where there is none. A capture whose content is new is kept as it is, compressed bytes included;
one whose content the archive has, of whatever URL and time, becomes a revisit record. Requests and metadata stay
beside their captures. Files may come in any order. A record is skipped only if the archive has that very record and
it can be read, so adding a file again completes what an interruption left and repairs what has rotted. Before a
duplicate becomes a revisit, its original is read once and compared by its digest. - is standard input.

A crawl is a set of files with a name: the one that --crawl gives, else the isPartOf of the warcinfo that a file begins
with, else the name of the file up to a time or serial number in it. holotype stats --crawls compares crawls.

With --adopt nothing is copied: the files stay where they are and become part of the archive, which reads from them and
lets later captures refer to them. They must not be changed; holotype doctor tells if they were, or are gone. After
they were moved, adopt them in their new place: what has the same name, size and captures is recognised.`,
  options: {
    ...ARCHIVE_OPTION,
    ...ADD_POLICY_OPTIONS,
    crawl: { type: "string", value: "NAME", help: "the crawl that the files are part of (default: as they say)" },
    adopt: { type: "boolean", help: "leave the files where they are, and enter what is in them" },
    readmit: { type: "boolean", help: "take back captures that were removed from the archive" },
    "trust-originals": { type: "boolean", help: "do not read originals before duplicates become revisits (faster)" },
    threads: { type: "string", short: "j", value: "N", help: "worker threads (default: one a core, fewer for little)" },
  },
  exits: "3 something was skipped, guessed or lost · 20 no input found · 21 another process is writing · 24 no space",
  examples: [
    "holotype add samples --archive /tmp/cabinet",
    "holotype add samples --adopt --archive /tmp/adopted && holotype stats --archive /tmp/adopted",
  ],
  async run(args) {
    const files = requireFiles(add, args);
    const threads = args.text("threads");
    const policy = parseAddPolicy(args);
    const [json, adopt, trustOriginals] = [args.flag("json"), args.flag("adopt"), args.flag("trust-originals")];
    using talk = new AddTalk(json);
    using spool = new Spool();
    const folder = archiveFolder(args);
    const inputs = leaveOutArchive(folder, adopt ? takeInputs(files, talk.skip) : spool.take(files, talk.skip));
    using interruption = new Interruption("stopping; what was taken stays");
    const options = {
      crawl: args.text("crawl"),
      threads: threads === undefined ? usefulThreads(inputs) : parseCount("threads", threads, 1, THREADS_MAX),
      signal: interruption.signal,
      onSkip: talk.skip,
      onProgress: talk.progress,
    };
    const access = accessOf(
      nodeDisk,
      inputs.filter((input) => !spool.holds(input)),
    );
    await using writer = ArchiveWriter.open(nodeDisk, folder, { create: true, access, onWarning: talk.warn });
    tellWhoMayEnter(folder, access);
    const report = adopt
      ? await writer.adopt(inputs, options)
      : await writer.add(inputs, { ...options, policy, readmit: args.flag("readmit"), trustOriginals });
    talk.clear();
    const { skipped } = talk;
    writeStandardOutput(json ? `${JSON.stringify(toJson(folder, report, skipped))}\n` : format(report, skipped));
    return skipped > 0 || report.damaged > 0 || talk.damage > 0 ? 3 : 0;
  },
};

function parseAddPolicy(args: Arguments): Policy {
  return {
    ...parsePolicy(args),
    ...(args.flag("equivalent-url") ? { sameUrl: true, equivalentUrl: true } : {}),
    ...(args.flag("same-site") ? { sameSite: true } : {}),
  };
}

/** Something could not be read, or it was guessed where a record begins or ends. */
const LOST_OR_GUESSED = new Set<ErrorCode>([
  "HT_GARBAGE",
  "HT_GZIP_CHECKSUM",
  "HT_GZIP_DATA",
  "HT_GZIP_HEADER",
  "HT_GZIP_TRUNCATED",
  "HT_RECORD_HEADER_SIZE",
  "HT_RECORD_LENGTH",
  "HT_RECORD_TRUNCATED",
  "HT_WACZ_MISSING",
  "HT_ZIP_CHECKSUM",
  "HT_ZIP_DATA",
  "HT_ZSTD_CHECKSUM",
  "HT_ZSTD_DATA",
  "HT_ZSTD_DICTIONARY",
  "HT_ZSTD_TRUNCATED",
]);

/** Tells what happens while it happens. */
class AddTalk implements Disposable {
  skipped = 0;
  damage = 0;
  private readonly line = new ProgressLine();
  private readonly json: boolean;
  private readonly warnings: WarningTeller;

  constructor(json: boolean) {
    this.json = json;
    this.warnings = new WarningTeller(json);
  }

  readonly progress = this.line.update;

  readonly skip = (skipped: SkippedInput): void => {
    this.skipped++;
    this.line.clear();
    tellSkipped(skipped, this.json);
  };

  readonly warn = (warning: Warning): void => {
    // Of all notes this one says that something may not be as its maker left it.
    if (!isDamage(warning) && warning.code !== "HT_WACZ_HASH") return;
    if (LOST_OR_GUESSED.has(warning.code)) this.damage++;
    this.line.clear();
    this.warnings.tell(warning);
  };

  clear(): void {
    this.line.clear();
  }

  [Symbol.dispose](): void {
    this.line.clear();
  }
}

/** Who adds the folder in which the archive lies does not mean its own segments. */
function leaveOutArchive(folder: string, inputs: readonly Input[]): Input[] {
  const own = resolve(folder) + sep;
  const others = inputs.filter(({ path }) => !resolve(path).startsWith(own));
  if (others.length < inputs.length)
    say(`left out ${formatCount(inputs.length - others.length, "file")} of the archive itself`);
  return others;
}

/** Records are read twice, so what comes by standard input is put into a file first. */
class Spool implements Disposable {
  private scratch: ScratchFolder | undefined;

  take(names: readonly string[], onSkip: (skipped: SkippedInput) => void): Input[] {
    if (names.filter((name) => name === STANDARD_INPUT).length > 1) {
      throw new ArchiveError("HT_USAGE", "standard input can be read once");
    }
    if (!names.includes(STANDARD_INPUT)) return takeInputs(names, onSkip);
    return names.flatMap((name) => {
      if (name !== STANDARD_INPUT) return takeInputs([name], onSkip);
      const path = this.fill();
      return takeInputs([path], onSkip).map((input) => ({
        ...input,
        name: input.name.replace(path, "standard input"),
      }));
    });
  }

  /** Whether the input came by standard input: nobody knows who may read that. */
  holds({ path }: Input): boolean {
    return this.scratch !== undefined && resolve(path).startsWith(resolve(this.scratch.path) + sep);
  }

  private fill(): string {
    this.scratch = scratchFolder(nodeDisk);
    const path = join(this.scratch.path, "standard-input");
    using file = nodeDisk.open(path, "create");
    const buffer = Buffer.allocUnsafeSlow(1 << 20);
    let size = 0;
    for (let count = readStandardInput(buffer); count > 0; count = readStandardInput(buffer)) {
      file.write(buffer.subarray(0, count), size);
      size += count;
    }
    return path;
  }

  [Symbol.dispose](): void {
    this.scratch?.remove();
  }
}

function toJson(archive: string, report: AddReport | AdoptReport, skipped: number) {
  const { tally: _, ...told } = { tally: undefined, ...report };
  return { archive, ...told, skipped };
}

function format(report: AddReport | AdoptReport, skipped: number): string {
  const { captures, known, removed, damaged } = report;
  const healed = "healed" in report ? report.healed : 0;
  const passed = [
    ...(known > 0 ? [`${formatNumber(known)} known`] : []),
    ...(healed > 0 ? [`${formatNumber(healed)} healed`] : []),
    ...(removed > 0 ? [`${formatNumber(removed)} removed before`] : []),
  ];
  const rows: [string, string][] = [
    ["files", "tally" in report ? formatFiles(report) : formatAdopted(report)],
    ["captures", [`${formatNumber(captures)} new`, ...passed].join(", ")],
    ...("tally" in report ? formatTaken(report) : []),
  ];
  if (damaged > 0) rows.push(["damaged", `${formatCount(damaged, "record")}, not taken`]);
  if (skipped > 0) rows.push(["skipped", formatCount(skipped, "file")]);
  return rows.map(([name, value]) => `${name.padEnd(12)}${value}\n`).join("");
}

function formatFiles({ files, records }: AddReport): string {
  return `${formatCount(files, "file")}, ${formatCount(records, "record")}`;
}

function formatAdopted({ files, adoptedBefore, moved }: AdoptReport): string {
  const before = adoptedBefore > 0 ? `, ${formatNumber(adoptedBefore)} before` : "";
  return `${formatNumber(files)} adopted where they lie${before}${moved > 0 ? ` (${formatNumber(moved)} moved)` : ""}`;
}

function formatTaken(report: AddReport): [string, string][] {
  const { captures, contents, duplicates, acrossTime, acrossLocation, revisits, pending, bytesIn, bytesKept } = report;
  const share = bytesIn === 0 ? 0 : 1 - bytesKept / bytesIn;
  // What was there before is not saved.
  const saved = captures === 0 ? "" : ` (${(share * 100).toFixed(1)} % saved)`;
  const across = `${formatNumber(acrossTime)} across time, ${formatNumber(acrossLocation)} across location`;
  return [
    ["contents", `${formatNumber(contents)} new`],
    ["nothing new", formatRepeated(report)],
    ["duplicates", `${formatNumber(duplicates)}: ${across}`],
    ["revisits", `${formatNumber(revisits)} new; in the whole archive ${formatNumber(pending)} without an original`],
    ["size", `${formatSize(bytesIn)} in, ${formatSize(bytesKept)} kept${saved}`],
  ];
}

/** Captures whose contents the archive had, and what became of them. */
function formatRepeated({ repeated, replaced, kept, incomparable }: AddReport): string {
  const { saving = 0 } = kept;
  const others = repeated - replaced - saving;
  const fates = [
    `${formatNumber(replaced)} became revisits`,
    ...(saving > 0 ? [`${formatNumber(saving)} kept, as a revisit would save too little`] : []),
    ...(others > 0 ? [`${formatNumber(others)} kept for other reasons`] : []),
  ];
  const unknown = incomparable > 0 ? `; ${formatNumber(incomparable)} without a content to compare` : "";
  return `${formatNumber(repeated)}: ${fates.join(", ")}${unknown}`;
}
