import { writeStandardOutput } from "../disk/index.ts";
import type { VolumeReport } from "../store/index.ts";
import type { Command } from "./command.ts";
import { INSTANCE_OPTION, openTarget } from "./store-option.ts";
import { formatCount, formatSize } from "./talk.ts";

export const storeVolumes: Command = {
  name: "store volumes",
  purpose: "Tell what volumes a store has, what is in them, and which do not answer.",
  usage: "--instance PATH",
  options: INSTANCE_OPTION,
  exits: "3 a volume did not answer · 20 no such connector or folder",
  examples: [
    "holotype store put --instance /tmp/store samples/*.warc.gz > /tmp/keys && holotype store volumes --instance /tmp/store",
  ],
  async run(args) {
    await using instance = await openTarget(storeVolumes, args, { reading: true });
    const reports = await instance.volumes();
    if (args.flag("json")) for (const report of reports) writeStandardOutput(formatJson(report));
    else writeStandardOutput(formatTable(reports));
    return reports.some(({ error }) => error !== undefined) ? 3 : 0;
  },
};

function formatJson({ description, error, ...report }: VolumeReport): string {
  const { id, layout, blocks, contentBytes, storedBytes, references } = description ?? {};
  const told = error && { code: error.code, message: error.message };
  return `${JSON.stringify({ ...report, id, layout, blocks, references, contentBytes, storedBytes, error: told })}\n`;
}

function formatTable(reports: readonly VolumeReport[]): string {
  const rows = reports.map(({ number, name, state, movedTo, description }) => [
    `${number}`,
    name,
    movedTo === undefined ? state : `moved to ${movedTo}`,
    ...(description === undefined
      ? [movedTo === undefined ? "does not answer" : "-", "", "", ""]
      : [
          description.layout,
          formatCount(description.blocks, "block"),
          formatCount(description.references, "reference"),
          `${formatSize(description.contentBytes)} in ${formatSize(description.storedBytes)}`,
        ]),
  ]);
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join("  ")
      .trimEnd();
  return rows.map((row) => `${line(row)}\n`).join("");
}
