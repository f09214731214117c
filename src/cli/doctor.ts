import { availableParallelism } from "node:os";
import { type ArchiveTotals, examineArchive } from "../archive/index.ts";
import { nodeDisk, writeStandardOutput } from "../disk/index.ts";
import { ARCHIVE_OPTION, archiveFolder, requireWords } from "./archive-option.ts";
import { type Command, parseCount } from "./command.ts";
import { formatCount, formatSize, StageLine } from "./talk.ts";

const THREADS_MAX = 256;

export const doctor: Command = {
  name: "doctor",
  purpose: "Look for damage in an archive: segments, catalogue, timeline, adopted files.",
  usage: "[--scrub]",
  details: `Everything that the archive knows is compared with everything else: segments are there and long enough, adopted files
are as they were, every capture lies in a segment and leads to a payload, and the timeline tells of the captures that
the catalogue has. With --scrub every record is read, and every digest computed again. Nothing is changed.`,
  options: {
    ...ARCHIVE_OPTION,
    scrub: { type: "boolean", help: "read all records and verify every payload" },
    threads: { type: "string", short: "j", value: "N", help: "worker threads of --scrub (default: one a core)" },
  },
  exits: "4 damage was found · 20 no archive",
  examples: ["holotype add samples --archive /tmp/cabinet", "holotype doctor --scrub --archive /tmp/cabinet"],
  async run(args) {
    requireWords(doctor, args, 0);
    const [json, folder, threads] = [args.flag("json"), archiveFolder(args), args.text("threads")];
    const line = new StageLine();
    let totals: ArchiveTotals | undefined;
    const options = {
      onTotals: (found: ArchiveTotals | undefined) => {
        totals = found;
      },
      scrub: args.flag("scrub"),
      threads: threads === undefined ? availableParallelism() : parseCount("threads", threads, 1, THREADS_MAX),
      onProgress: (stage: string, done: number, total: number) => line.update({ stage, done, total, saved: 0 }),
    };
    let findings = 0;
    for await (const finding of examineArchive(nodeDisk, folder, options)) {
      findings++;
      line.clear();
      writeStandardOutput(`${json ? JSON.stringify(finding) : `${finding.code} ${finding.message}`}\n`);
    }
    line.clear();
    const verdict = findings === 0 ? "all sound" : formatCount(findings, "finding");
    const summary = { archive: folder, ...totals, findings };
    writeStandardOutput(json ? `${JSON.stringify({ summary })}\n` : `${folder}: ${describe(totals)}${verdict}\n`);
    return findings === 0 ? 0 : 4;
  },
};

function describe(totals: ArchiveTotals | undefined): string {
  if (totals === undefined) return "";
  const { captures, contents, segments, segmentBytes, adopted } = totals;
  const counts = `${formatCount(captures, "capture")} of ${formatCount(contents, "content")}`;
  const files = `${formatSize(segmentBytes)} in ${formatCount(segments, "segment")}`;
  const more = adopted > 0 ? ` and ${formatCount(adopted, "adopted file")}` : "";
  return `${counts}, ${files}${more}: `;
}
