import { isDamage, type Warning } from "../base/index.ts";
import { nodeDisk } from "../disk/index.ts";
import { checkZips, type Orphan, OrphanFinder, type RecordCheck } from "../pipeline/index.ts";
import { type Command, requireFiles } from "./command.ts";
import { type SurveyResult, survey, THREADS_OPTION } from "./survey-run.ts";
import { formatCount, formatWarning, printText } from "./talk.ts";

/** What is told of each file. */
interface FileReport {
  readonly file: string;
  records: number;
  readonly types: Record<string, number>;
  readonly payloadDigests: Record<string, number>;
  readonly blockDigests: Record<string, number>;
  damage: number;
  notes: number;
}

export const check: Command = {
  name: "check",
  purpose: "Check archive files: structure, compression, required fields, digests.",
  usage: "FILE…",
  details: `Verifies each block digest and each payload digest; the latter may have been taken of the body as transferred
(chunks joined, as the standard has it) or as stored (as many tools have it), and it is said which held. A revisit whose
original is not in the set is told, but is no damage. The payload digest of a segmented record covers several records
and is not verified; that is told, too. Of a WACZ, each entry is compared with its CRC-32, and all of them
with datapackage.json: a file that is not there is damage, another hash a note.`,
  options: { ...THREADS_OPTION, notes: { type: "boolean", help: "tell tolerated oddities too" } },
  exits: "3 some inputs were skipped · 4 damage was found",
  examples: ["holotype check samples", "holotype check --json samples/cabinet-2024.warc.gz"],
  async run(args) {
    const json = args.flag("json");
    using finder = new OrphanFinder(nodeDisk);
    const gathering = new CheckGathering(finder, json, args.flag("notes"));
    const result = await survey(requireFiles(check, args), { kind: "check", options: {} }, args, {
      onText: (text) => gathering.take(text),
      onWarning: (warning) => gathering.tell(warning),
      skipEmpty: true,
      inspect: (inputs, warn) => checkZips(nodeDisk, inputs, warn),
    });
    gathering.finish();
    let orphans = 0;
    for (const orphan of finder.orphans()) {
      orphans++;
      const warning = toWarning(orphan);
      printText(`${json ? JSON.stringify(warning) : formatWarning(warning)}\n`);
    }
    const { files, records } = result.summary;
    const verdict = {
      files,
      records,
      damage: result.damage,
      orphans,
      skipped: result.skipped.length,
      sound: result.exit === 0,
    };
    if (json) printText(`${JSON.stringify({ summary: verdict })}\n`);
    else {
      const missing = orphans > 0 ? `, ${formatCount(orphans, "revisit")} without original here` : "";
      const what = `${formatCount(files, "file")}, ${formatCount(records, "record")}`;
      printText(`${what}: ${stateOf(result, records)}${missing}\n`);
    }
    return result.exit;
  },
};

function stateOf({ damage, skipped }: SurveyResult, records: number): string {
  const left = skipped.length === 0 ? "" : `, ${skipped.length} skipped`;
  if (damage > 0) return formatDamage(damage) + left;
  if (records === 0) return `nothing checked${left}`;
  return left === "" ? "all sound" : `sound as far as it was read${left}`;
}

function formatDamage(count: number): string {
  return formatCount(count, "finding of damage", "findings of damage");
}

function toWarning({ file, offset, refersTo }: Orphan): Warning {
  return { code: "HT_REVISIT_ORPHAN", message: `the original is not in this set: ${refersTo}`, file, offset };
}

class CheckGathering {
  private readonly finder: OrphanFinder;
  private readonly json: boolean;
  private readonly notes: boolean;
  private report: FileReport | undefined;

  constructor(finder: OrphanFinder, json: boolean, notes: boolean) {
    this.finder = finder;
    this.json = json;
    this.notes = notes;
  }

  take(text: string | Uint8Array): void {
    const lines = (typeof text === "string" ? text : Buffer.from(text).toString()).split("\n");
    for (const line of lines) if (line !== "") this.takeRecord(this.finder.take(line));
  }

  private takeRecord(record: RecordCheck): void {
    const report = this.reportOf(record.file);
    report.records++;
    count(report.types, record.type);
    count(report.payloadDigests, record.payloadDigest);
    count(report.blockDigests, record.blockDigest);
  }

  private reportOf(file: string): FileReport {
    if (this.report?.file === file) return this.report;
    this.finish();
    this.report = { file, records: 0, types: {}, payloadDigests: {}, blockDigests: {}, damage: 0, notes: 0 };
    return this.report;
  }

  tell(warning: Warning): void {
    const report = this.reportOf(warning.file);
    const isBad = isDamage(warning);
    if (isBad) report.damage++;
    else report.notes++;
    if (this.json) printText(`${JSON.stringify(warning)}\n`);
    else if (isBad || this.notes) printText(`${formatWarning(warning)}\n`);
  }

  /** Tells what there is to tell about the file at hand. */
  finish(): void {
    const { report } = this;
    this.report = undefined;
    if (report === undefined) return;
    if (this.json) {
      printText(`${JSON.stringify(report)}\n`);
      return;
    }
    const digests = Object.entries(report.payloadDigests).filter(([verdict]) => verdict !== "absent");
    const held = digests.map(([verdict, n]) => `${n} ${VERDICTS[verdict] ?? verdict}`).join(", ");
    const state = report.damage > 0 ? formatDamage(report.damage) : "sound";
    const payloads = held === "" ? "" : `; payload digests: ${held}`;
    printText(`${report.file}: ${formatCount(report.records, "record")}, ${state}${payloads}\n`);
  }
}

const VERDICTS: Readonly<Record<string, string>> = {
  transferred: "held as transferred",
  stored: "held as stored",
  mismatch: "wrong",
  unknown: "of unknown form",
  segmented: "of segmented records, not verified",
};

function count(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1;
}
