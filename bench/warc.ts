/**
 * Reading: every record inflated, its HTTP header split off, its payload hashed, a manifest line written. Against the
 * plain C loop over zlib and OpenSSL, and against npm `warcio`. The whole process is measured, start-up included.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { loadAccelerator } from "holotype/warc";
import { compileLimit, prepareCorpus, root } from "./corpus.ts";
import { type Contender, type Cost, interleave } from "./measure.ts";
import { limitRow, type Row, ratioRow } from "./report.ts";

const ROUNDS = 5;
/** What WARCsum, in C, was measured to reach of the same reference. */
const WARCSUM_RATIO = 0.84;

export async function run(quick: boolean): Promise<Row[]> {
  const files = prepareCorpus(quick ? { files: 2, megabytesEach: 32 } : { files: 4, megabytesEach: 256 });
  const limit = compileLimit();
  const accelerated = loadAccelerator() !== undefined;
  const switchOff = pathToFileURL(join(root, "build/bench/without-accelerator.js")).href;
  /** What is measured is what everybody has, unless `libdeflate` is asked for. */
  const command = (libdeflate: boolean, ...args: readonly string[]) => ({
    command: process.execPath,
    args: [...(accelerated && !libdeflate ? ["--import", switchOff] : []), join(root, "dist/bin/holotype.js"), ...args],
  });
  const manifest = (digest: string, threads: number): Contender => ({
    name: `holotype ${digest} x${threads}`,
    ...command(false, "manifest", "--digest", digest, "--threads", String(threads), ...files),
  });
  const contenders: Contender[] = [manifest("sha1", 1), manifest("sha256", 1), manifest("sha1", 2)];
  for (const digest of limit === undefined ? [] : ["sha1", "sha256"]) {
    contenders.push({ name: `C ${digest}`, command: limit!, args: [digest, ...files] });
  }
  if (limit !== undefined) {
    // Two of them side by side: what two cores that share their memory can do at all.
    const half = files.length >> 1;
    const script = `L=$1; shift; "$L" sha1 ${files.slice(0, half).join(" ")} & "$L" sha1 ${files.slice(half).join(" ")}; wait`;
    contenders.push({ name: "C sha1, two processes", command: "sh", args: ["-c", script, "sh", limit] });
  }
  // The peer is slow: two rounds are enough.
  const peerScript = join(root, "build/bench/peer-warcio.js");
  contenders.push({ name: "warcio", command: process.execPath, args: [peerScript, "sha1", ...files], rounds: 2 });
  if (accelerated) {
    contenders.push({ name: "libdeflate sha1 x1", ...command(true, "manifest", "--digest", "sha1", ...files) });
  }
  const best = await interleave(contenders, ROUNDS);

  const cpu = (name: string) => best.get(name)?.cpuSeconds;
  const wall = (name: string) => best.get(name)?.wallSeconds;
  const text = (seconds: number | undefined) => (seconds === undefined ? "not there" : `${seconds.toFixed(2)} s`);
  const compare = (
    metric: string,
    ours: string,
    reference: string,
    by: (name: string) => number | undefined,
    goal: number,
  ) => {
    const [a, b] = [by(ours), by(reference)];
    return ratioRow(
      metric,
      text(a),
      `${reference} ${text(b)}`,
      a === undefined || b === undefined ? undefined : b / a,
      goal,
    );
  };
  const one = compare("sha1, one thread, cpu", "holotype sha1 x1", "C sha1", cpu, 0.95);
  const warcsum = one.ratio === undefined ? undefined : one.ratio / WARCSUM_RATIO;
  const threads = compare("sha1, two threads, wall", "holotype sha1 x2", "C sha1", wall, 1.7);
  return [
    one,
    compare("sha256, one thread, cpu", "holotype sha256 x1", "C sha256", cpu, 0.95),
    compare("sha1, two threads against two C processes, wall", "holotype sha1 x2", "C sha1, two processes", wall, 0.85),
    availableParallelism() < 2 ? { ...threads, met: undefined } : threads,
    ratioRow(
      "sha1, one thread, cpu, against WARCsum",
      one.ours,
      `WARCsum at ${WARCSUM_RATIO} of C, measured before`,
      warcsum,
      1,
    ),
    compare("sha1, one thread, cpu, against npm warcio", "holotype sha1 x1", "warcio", cpu, 5),
    compare("sha1, one thread, cpu, with libdeflate", "libdeflate sha1 x1", "holotype sha1 x1", cpu, 1.3),
    compare("sha1, one thread, cpu, with libdeflate, against npm warcio", "libdeflate sha1 x1", "warcio", cpu, 5),
    limitRow("memory, one thread", resident(best, "holotype sha1 x1"), "MB", 150),
    limitRow("memory, two threads", resident(best, "holotype sha1 x2"), "MB", 250),
  ];
}

function resident(best: ReadonlyMap<string, Cost>, name: string): number | undefined {
  return best.get(name)?.residentMb;
}
