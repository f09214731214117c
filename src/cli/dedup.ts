import { ArchiveError, DIGEST_ALGORITHMS, ERROR_TABLE, type Warning } from "../base/index.ts";
import type { Policy } from "../dedup/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import {
  type DedupOptions,
  type DedupResult,
  dedup as dedupFiles,
  type FixedDuplicates,
  type FixedKind,
} from "../pipeline/index.ts";
import { type Arguments, type Command, type OptionSpecs, parseChoice, parseCount, requireFiles } from "./command.ts";
import { endOnInterruption } from "./interruption.ts";
import { formatCount, formatNumber, formatSize, nameSome, StageLine, say, tellSkipped, WarningTeller } from "./talk.ts";
import { VERSION } from "./version.ts";

const THREADS_MAX = 256;

export const MIN_SAVING_OPTION: OptionSpecs = {
  "min-saving": {
    type: "string",
    value: "BYTES",
    help: "replace only what saves this much; none: replace every duplicate",
    default: "1",
  },
};

export function parseMinSaving(args: Arguments): number | "none" {
  const text = args.text("min-saving") ?? "1";
  return text === "none" ? text : parseCount("min-saving", text, 0, Number.MAX_SAFE_INTEGER);
}

export const POLICY_OPTIONS: OptionSpecs = {
  ...MIN_SAVING_OPTION,
  mime: { type: "string", value: "LIST", help: "replace only these media types: image/*,text/css" },
  "not-mime": { type: "string", value: "LIST", help: "never replace these" },
  "same-url": { type: "boolean", help: "an original must be a capture of the same URL" },
  "max-age": { type: "string", value: "DAYS", help: "an original may be at most so many days older" },
};

export function parsePolicy(args: Arguments): Policy {
  const list = (name: string) =>
    args
      .text(name)
      ?.split(",")
      .map((pattern) => pattern.trim());
  const maxAge = args.text("max-age");
  return {
    minSaving: parseMinSaving(args),
    ...(list("mime") === undefined ? {} : { mime: list("mime") }),
    ...(list("not-mime") === undefined ? {} : { notMime: list("not-mime") }),
    ...(args.flag("same-url") ? { sameUrl: true } : {}),
    ...(maxAge === undefined ? {} : { maxAgeDays: parseCount("max-age", maxAge, 0, 1_000_000) }),
  };
}

/** Where the output goes: exactly one of `-o DIR` and `--in-place`. */
export function parseTarget(args: Arguments): string | undefined {
  const output = args.text("output");
  if ((output !== undefined) === args.flag("in-place")) {
    const advice =
      output === undefined ? "say where the output goes: -o DIR or --in-place" : "-o or --in-place, not both";
    throw new ArchiveError("HT_USAGE", advice);
  }
  return output?.replace(/(?<=.)\/+$/, "");
}

export const ORIGINALS_OPTION: OptionSpecs = {
  originals: {
    type: "string",
    multiple: true,
    value: "DIR",
    help: "folder or URL where originals lie that are in none of the files",
  },
};

export const dedup: Command = {
  name: "dedup",
  purpose: "Replace duplicate records in archive files by revisits; undo it with restore.",
  usage: "FILE… -o DIR | --in-place",
  details: `Payloads with one digest are compared byte for byte. The earliest capture of a payload stays; the others become
revisit records that refer to it and keep their HTTP headers. All else is copied byte for byte. An output gets
its name after it has been read back and proven. Originals that --known tells of are read and compared too, if
--originals says where they lie. In place that is a must; with -o, one that cannot be found is believed in, and counted
as a claim. The job's state, its ledger and its report are kept in the job
folder; after a kill, a power cut or a full disk the same command goes on where it stopped.`,
  options: {
    output: { type: "string", short: "o", value: "DIR", help: "folder for the rewritten files" },
    "in-place": { type: "boolean", help: "replace each file by its rewritten form, once that is proven" },
    "dry-run": { type: "boolean", help: "print what would be saved, and touch nothing" },
    ...POLICY_OPTIONS,
    known: {
      type: "string",
      multiple: true,
      value: "FILE",
      help: "manifest, CDX or CDXJ of earlier holdings to refer to, gzipped or not",
    },
    ...ORIGINALS_OPTION,
    "with-sidecars": { type: "boolean", help: "copy other files of the input folders, too (needs -o)" },
    digest: { type: "string", value: "ALGORITHM", help: DIGEST_ALGORITHMS.join(", "), default: "sha256" },
    job: { type: "string", value: "DIR", help: "job folder (default: holotype-job by the output or the files)" },
    keep: { type: "boolean", help: "keep manifests and plan in the job folder" },
    "no-compare": { type: "boolean", help: "trust digests without comparing bytes (not recommended)" },
    threads: { type: "string", short: "j", value: "N", help: "worker threads (default: one a core, fewer for little)" },
  },
  exits: "3 inputs were skipped, or records are damaged or unread · 24 no space; run it again when there is some",
  examples: [
    "holotype dedup samples --dry-run",
    "holotype dedup samples -o /tmp/deduplicated",
    "holotype verify /tmp/deduplicated --against samples",
  ],
  async run(args) {
    const digest = parseChoice("digest", args.text("digest"), DIGEST_ALGORITHMS);
    if (args.flag("with-sidecars") && args.text("output") === undefined) {
      throw new ArchiveError("HT_USAGE", "--with-sidecars needs -o");
    }
    return await runDedup(requireFiles(dedup, args), args, {
      output: args.flag("dry-run") ? args.text("output") : parseTarget(args),
      digest,
      policy: parsePolicy(args),
      compare: !args.flag("no-compare"),
      keep: args.flag("keep"),
      withSidecars: args.flag("with-sidecars"),
      known: args.list("known"),
    });
  },
};

/** What `dedup` and `rewrite` share: progress, warnings, interruption, the summary, the exit code. */
export async function runDedup(files: readonly string[], args: Arguments, options: DedupOptions): Promise<number> {
  const json = args.flag("json");
  const dryRun = args.flag("dry-run");
  const threads = args.text("threads");
  const line = new StageLine();
  const warnings = new WarningTeller(json);
  /** Records that could not be compared: not there any more, or not as they were. */
  let unread = 0;
  const onWarning = (warning: Warning) => {
    const { kind } = ERROR_TABLE[warning.code];
    if (kind === "note" && warning.code !== "HT_REVISIT_ORPHAN") return;
    if (kind === "error") unread++;
    line.clear();
    warnings.tell(warning);
  };
  using _ = endOnInterruption(() => {
    line.clear();
    if (!json) say(dryRun ? "stopped" : "stopped; what is finished stays. Run the same command again to go on");
  });
  try {
    const result = await dedupFiles(nodeDisk, files, {
      ...options,
      dryRun,
      threads: threads === undefined ? undefined : parseCount("threads", threads, 1, THREADS_MAX),
      job: args.text("job"),
      originals: args.list("originals"),
      software: VERSION,
      onProgress: line.update,
      onWarning,
      onSkip: (skipped) => {
        line.clear();
        tellSkipped(skipped, json);
      },
      onTell: (message) => {
        line.clear();
        if (!json) say(message);
      },
    });
    line.clear();
    writeStandardOutput(json ? `${JSON.stringify(toJson(result))}\n` : formatResult(result, dryRun));
    return result.skipped.length > 0 || result.damage > 0 || result.orphans > 0 || unread > 0 ? 3 : 0;
  } finally {
    line.clear();
  }
}

/** What has to be done so that duplicates can be replaced in files of this kind. */
const WAYS: Readonly<Record<FixedKind, { readonly one: string; readonly many: string; readonly way: string }>> = {
  arc: { one: "ARC file", many: "ARC files", way: "holotype convert rewrites them as WARC, for dedup" },
  wacz: { one: "WARC file of a WACZ", many: "WARC files of WACZ", way: "unpack those for dedup" },
  server: { one: "file on a server", many: "files on servers", way: "run dedup where they lie" },
};

function describeFixed({ kind, files, records, bytes }: FixedDuplicates): string {
  const { one, many, way } = WAYS[kind];
  return `${formatNumber(records)} left, ${formatSize(bytes)}, in ${formatCount(files, one, many)}; ${way}`;
}

function toJson(result: DedupResult) {
  const skipped = result.skipped.map(({ name, error }) => ({ name, code: error.code, message: error.message }));
  return { ...result, savedBytes: result.bytesBefore - result.bytesAfter, skipped };
}

function formatResult(result: DedupResult, dryRun: boolean): string {
  const saved = result.bytesBefore - result.bytesAfter;
  const share = result.bytesBefore === 0 ? 0 : saved / result.bytesBefore;
  const left = Object.entries(result.left).filter(([reason]) => reason !== "fixed" || result.fixed.length === 0);
  const rows: [string, string][] = [
    ["files", `${formatCount(result.files, "file")}, ${formatNumber(result.filesChanged)} with duplicates`],
    ["records", `${formatCount(result.records, "record")} with a payload`],
    [
      "duplicates",
      `${formatNumber(result.duplicates)} found, ${formatNumber(result.replaced)} ${dryRun ? "would be replaced" : "replaced"}`,
    ],
    ...(result.claims === 0
      ? []
      : [
          ["", `${formatNumber(result.claims)} of these for originals that were not read (claims)`] as [string, string],
        ]),
    ...left.map(([reason, count]): [string, string] => ["", `${formatNumber(count)} left (${reason})`]),
    ...result.fixed.map((fixed): [string, string] => ["", describeFixed(fixed)]),
    ["size", `${formatSize(result.bytesBefore)} → ${formatSize(result.bytesAfter)}`],
    ["saved", `${formatSize(saved)} (${(share * 100).toFixed(1)} %), ${formatNumber(saved)} bytes`],
  ];
  if (result.collisions > 0) rows.push(["collisions", `${result.collisions}: one digest, other bytes; told apart`]);
  if (result.orphans > 0) rows.push(["orphans", `${result.orphans} revisits of the input lead to no original`]);
  if (result.damage > 0) rows.push(["damage", `${formatCount(result.damage, "place")}; copied as it is`]);
  if (result.skipped.length > 0) rows.push(["skipped", formatCount(result.skipped.length, "file")]);
  const { copied, absent, sidecars } = result;
  if (copied.length > 0) rows.push(["copied as is", nameSome(copied)]);
  if (absent.length > 0) rows.push(["NOT copied", nameSome(absent)]);
  if (sidecars.names.length > 0) {
    const fate = sidecars.copied ? "copied" : "not copied (--with-sidecars copies them)";
    rows.push(["other files", `${fate}: ${nameSome(sidecars.names)}`]);
  }
  if (result.report !== undefined) rows.push(["report", result.report.html]);
  if (dryRun) rows.push(["", "nothing was changed"]);
  return rows.map(([name, value]) => `${name.padEnd(11)} ${value}\n`).join("");
}
