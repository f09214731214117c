/** The table that every benchmark prints: what was measured, against what, and whether the goal is met. */
import { availableParallelism } from "node:os";

export interface Row {
  readonly metric: string;
  readonly ours: string;
  readonly reference: string;
  /** Larger is better, and 1 is a draw. Absent where nothing could be compared. */
  readonly ratio: number | undefined;
  readonly goal: string;
  readonly met: boolean | undefined;
}

/** A ratio that must reach a goal. */
export function ratioRow(
  metric: string,
  ours: string,
  reference: string,
  ratio: number | undefined,
  goal: number,
): Row {
  const met = ratio === undefined ? undefined : ratio >= goal;
  return { metric, ours, reference, ratio, goal: `>= ${goal}`, met };
}

/** A value that must stay under a limit. */
export function limitRow(metric: string, value: number | undefined, unit: string, limit: number): Row {
  const ours = value === undefined ? "not measured" : `${value.toFixed(0)} ${unit}`;
  const met = value === undefined ? undefined : value < limit;
  return { metric, ours, reference: "", ratio: undefined, goal: `< ${limit} ${unit}`, met };
}

export function printReport(name: string, rows: readonly Row[], json: boolean): void {
  if (json) {
    for (const row of rows) console.log(JSON.stringify({ bench: name, cores: availableParallelism(), ...row }));
    return;
  }
  const table = [
    ["metric", "ours", "reference", "ratio", "goal", "met"],
    ...rows.map((row) => [
      row.metric,
      row.ours,
      row.reference,
      row.ratio === undefined ? "" : row.ratio.toFixed(2),
      row.goal,
      row.met === undefined ? "not measured" : row.met ? "yes" : "NO",
    ]),
  ];
  const widths = table[0]!.map((_, i) => Math.max(...table.map((line) => line[i]!.length)));
  const cells = (line: readonly string[]) => `| ${line.map((cell, i) => cell.padEnd(widths[i]!)).join(" | ")} |`;
  console.log(`\n${name}, on ${availableParallelism()} cores, Node ${process.versions.node}\n`);
  console.log(cells(table[0]!));
  console.log(cells(widths.map((width) => "-".repeat(width))));
  for (const line of table.slice(1)) console.log(cells(line));
}
