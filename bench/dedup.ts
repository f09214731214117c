/**
 * Deduplication after the crawl: the rewriting by itself against `cp` and sync of the same bytes and against
 * `jwarc dedupe`; the whole job, proven, against one pass of the C yardstick; and how the cost grows with the input.
 */
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { compileLimit, prepareCorpus, root, work } from "./corpus.ts";
import { type Contender, interleave } from "./measure.ts";
import { limitRow, type Row, ratioRow } from "./report.ts";

const ROUNDS = 3;

export async function run(quick: boolean): Promise<Row[]> {
  const files = prepareCorpus(quick ? { files: 2, megabytesEach: 32 } : { files: 4, megabytesEach: 256 });
  const main = join(root, "dist/bin/holotype.js");
  const out = (name: string) => join(work, `out-${name}`);
  const clear = (name: string) => () => {
    rmSync(out(name), { recursive: true, force: true });
    mkdirSync(out(name));
  };
  const dedup = (name: string, part: readonly string[]): Contender => ({
    name,
    command: process.execPath,
    args: [main, "dedup", ...part, "-o", out(name)],
    before: clear(name),
  });
  const plan = join(work, "plan.tsv");
  const stages = `"$0" "$1" manifest --threads 2 "\${@:3}" | "$0" "$1" resolve | "$0" "$1" plan --copies-only > "$2"`;
  await interleave(
    [{ name: "plan", command: "bash", args: ["-c", stages, process.execPath, main, plan, ...files] }],
    1,
  );
  const contenders: Contender[] = [
    {
      name: "rewrite",
      command: process.execPath,
      args: [join(root, "build/bench/rewrite-run.js"), plan, out("rewrite"), ...files],
      before: clear("rewrite"),
    },
    {
      name: "cp and sync",
      command: "sh",
      args: ["-c", 'to=$1; shift; cp "$@" "$to"/ && sync "$to"/*', "sh", out("cp"), ...files],
      before: clear("cp"),
    },
    dedup("dedup", files),
    dedup("half", files.slice(0, files.length >> 1)),
    dedup("quarter", files.slice(0, files.length >> 2 || 1)),
  ];
  const limit = compileLimit();
  if (limit !== undefined) contenders.push({ name: "C sha1", command: limit, args: ["sha1", ...files] });
  const jar = process.env["JWARC_JAR"] ?? join(work, "jwarc.jar");
  if (existsSync(jar)) {
    // It writes beside its input, so it gets a copy. One thread, as it was measured when the goal was set.
    const copies = files.map((file) => join(out("jwarc"), basename(file)));
    contenders.push({
      name: "jwarc dedupe",
      command: "java",
      args: ["-jar", jar, "dedupe", "-q", "-j", "1", "--cache-size", "1000000", ...copies],
      rounds: 1,
      before: () => {
        clear("jwarc")();
        for (const [i, file] of files.entries()) copyFileSync(file, copies[i]!);
      },
    });
  }
  const best = await interleave(contenders, ROUNDS);

  const wall = (name: string) => best.get(name)?.wallSeconds;
  const text = (name: string) => (wall(name) === undefined ? "not there" : `${wall(name)!.toFixed(2)} s`);
  const ratio = (reference: string, ours: string) =>
    wall(reference) === undefined ? undefined : wall(reference)! / wall(ours)!;
  const resident = (name: string) => best.get(name)?.residentMb;
  const megabytes = files.reduce((sum, file) => sum + statSync(file).size, 0) / 1e6;
  const rate = (name: string, share: number) => `${((megabytes * share) / wall(name)!).toFixed(0)} MB/s`;
  const passes = ratio("C sha1", "dedup");
  const curve = ["quarter", "half", "dedup"].map((name, i) => `${2 ** i} x: ${rate(name, 2 ** i / 4)}`).join(", ");
  return [
    ratioRow(
      "rewrite, not verified, wall",
      text("rewrite"),
      `cp and sync ${text("cp and sync")}`,
      ratio("cp and sync", "rewrite"),
      0.35,
    ),
    ratioRow(
      "rewrite, not verified, wall",
      text("rewrite"),
      `jwarc dedupe ${text("jwarc dedupe")}`,
      ratio("jwarc dedupe", "rewrite"),
      8,
    ),
    ratioRow(
      "dedup, compared and verified, wall",
      text("dedup"),
      `C sha1, one pass ${text("C sha1")}`,
      passes,
      1 / 1.8,
    ),
    limitRow("memory, dedup", resident("dedup"), "MB", 300),
    ratioRow(
      `cost a byte grows linearly (${curve})`,
      rate("dedup", 1),
      rate("quarter", 1 / 4),
      ratioOfRates(wall("quarter"), wall("dedup")),
      0.8,
    ),
  ];
}

/** How the speed over all holds against that over a quarter; start-up favours the larger. */
function ratioOfRates(quarter: number | undefined, whole: number | undefined): number | undefined {
  return quarter === undefined || whole === undefined ? undefined : (4 * quarter) / whole;
}
