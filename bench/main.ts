/** `npm run bench -- NAME [--json] [--quick]`: the one door to all benchmarks. */
import { printReport, type Row } from "./report.ts";

const BENCHES: Readonly<Record<string, () => Promise<{ run(quick: boolean): Promise<Row[]> }>>> = {
  warc: () => import("./warc.ts"),
  dedup: () => import("./dedup.ts"),
  lines: () => import("./lines.ts"),
  store: () => import("./store.ts"),
  temporal: () => import("./temporal.ts"),
  archive: () => import("./archive.ts"),
  crawl: () => import("./crawl.ts"),
  serve: () => import("./serve.ts"),
};

const args = process.argv.slice(2);
const [name] = args.filter((arg) => !arg.startsWith("--"));
const load = name === undefined ? undefined : BENCHES[name];
if (load === undefined) {
  console.error(`usage: npm run bench -- NAME [--json] [--quick]\nNAME is one of: ${Object.keys(BENCHES).join(", ")}`);
  process.exitCode = 2;
} else {
  const rows = await (await load()).run(args.includes("--quick"));
  printReport(name!, rows, args.includes("--json"));
  if (rows.some((row) => row.met === false)) process.exitCode = 1;
}
