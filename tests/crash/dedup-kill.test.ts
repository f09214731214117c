/** The real command, killed with SIGKILL at random moments, and run again until it is done. */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createDice, newSeed } from "../../src/testing/dice.ts";
import { response, warcFile } from "../cli/archives.ts";
import { holotypeAlone, put, ROOT, startHolotype, temporaryFolder } from "../cli/holotype.ts";

const FILES = 8;
const RECORDS = 80;
const BODY_SIZE = 6000;
const KILLED = 50;
/** After so many kills of one job the next run may go to its end. */
const KILLS_MAX = 3;
/** Before this the process has hardly begun. */
const START_MS = 100;
/** Files are rewritten in less than this, of which few moments that were taken at random would be. */
const REWRITING_MS = 40;
const WATCH_MS = 2;
const MODES = ["-o", "--in-place"] as const;
type Mode = (typeof MODES)[number];

/** Half of the captures have a payload that was captured before, in this file or another. */
function makeInputs(folder: string): void {
  const dice = createDice(11);
  const bodies: Buffer[] = [];
  for (let file = 0; file < FILES; file++) {
    const records = Array.from({ length: RECORDS }, (_, i) => {
      const body =
        bodies.length > 0 && dice.coin() ? bodies[dice.below(bodies.length)]! : Buffer.from(dice.bytes(BODY_SIZE));
      bodies.push(body);
      const date = new Date(Date.UTC(2000 + file, 0, 1, 0, 0, i)).toISOString().replace(".000", "");
      return response(`http://site${dice.below(5)}.example/${file}/${i}`, body, { date });
    });
    const below = file < FILES / 2 ? folder : join(folder, "later");
    mkdirSync(below, { recursive: true });
    put(below, `${file}.warc.gz`, warcFile(records, { compression: "gzip" }));
  }
}

const work = temporaryFolder();
const inputs = join(work, "inputs");
makeInputs(inputs);

interface Trial {
  readonly args: readonly string[];
  /** Where the rewritten files come to lie. */
  readonly result: string;
  readonly folder: string;
}

function beginTrial(mode: Mode, name: string): Trial {
  const folder = join(work, name);
  mkdirSync(folder);
  const result = join(folder, mode === "-o" ? "out" : "in");
  if (mode === "-o") return { folder, result, args: ["dedup", inputs, "-o", result, "--threads", "2"] };
  cpSync(inputs, result, { recursive: true, preserveTimestamps: true });
  return { folder, result, args: ["dedup", result, "--in-place", "--threads", "2"] };
}

function namesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
}

function digestsOf({ result }: Pick<Trial, "result">): Record<string, string> {
  const archives = namesBelow(result).filter((name) => name.endsWith(".warc.gz"));
  const digest = (name: string) =>
    createHash("sha256")
      .update(readFileSync(join(result, name)))
      .digest("hex");
  return Object.fromEntries(archives.map((name) => [name, digest(name)]));
}

/** What the ledgers say; their paths and times are those of the trial. */
function ledgersOf({ result }: Trial): string[] {
  const folder = join(result, "holotype-job", "ledger");
  return namesBelow(folder).map((name) => readFileSync(join(folder, name), "utf8").replace(/^.*\n/, ""));
}

/** Runs the command and kills it so long after a moment, or after its start; false where it was done before. */
async function isKilled(args: readonly string[], afterMs: number, moment?: () => boolean): Promise<boolean> {
  const child = startHolotype(args);
  const ended = new Promise<{ exit: number | null; signal: string | null }>((resolve) =>
    child.on("close", (exit, signal) => resolve({ exit, signal })),
  );
  child.stdout.resume();
  let told = "";
  child.stderr.on("data", (bytes: Buffer) => {
    told += bytes.toString();
  });
  const kill = () => child.kill("SIGKILL");
  let timer = moment === undefined ? setTimeout(kill, afterMs) : undefined;
  const watch = setInterval(() => {
    if (timer === undefined && moment!()) timer = setTimeout(kill, afterMs);
  }, WATCH_MS);
  const { exit, signal } = await ended;
  clearTimeout(timer);
  clearInterval(watch);
  if (signal === null) expect(exit, told).toBe(0);
  return signal !== null;
}

/** Some files were rewritten, and some not yet. */
function isRewriting({ result }: Trial): boolean {
  const ledger = join(result, "holotype-job", "ledger");
  return (
    existsSync(ledger) && namesBelow(ledger).length > 0 && !existsSync(join(result, "holotype-job", "report.json"))
  );
}

/** In place, each file is wholly the old one or wholly the new one. */
function checkEachWhole(trial: Trial, after: Record<string, string>, about: string): void {
  for (const [name, digest] of Object.entries(digestsOf(trial)))
    expect([BEFORE[name], after[name]], about).toContain(digest);
}

const BEFORE = digestsOf({ result: inputs });

interface Undisturbed {
  readonly digests: Record<string, string>;
  readonly ledgers: string[];
  readonly durationMs: number;
}

function runUndisturbed(mode: Mode): Undisturbed {
  const trial = beginTrial(mode, `undisturbed${mode}`);
  const start = performance.now();
  const { exit, err } = holotypeAlone(trial.args);
  const durationMs = performance.now() - start;
  expect(exit, err).toBe(0);
  return { digests: digestsOf(trial), ledgers: ledgersOf(trial), durationMs };
}

const canVerify = existsSync(join(ROOT, "dist", "cli", "verify.js"));
if (!canVerify) process.stderr.write("holotype verify is not built: results are compared by their bytes alone\n");

describe("dedup that is killed", () => {
  it(`${KILLED} times comes to the result of an undisturbed run`, { timeout: 400_000 }, async () => {
    const seed = newSeed();
    const dice = createDice(seed);
    const undisturbed = { "-o": runUndisturbed("-o"), "--in-place": runUndisturbed("--in-place") };
    expect(undisturbed["-o"].digests).toEqual(undisturbed["--in-place"].digests);
    let kills = 0;
    let inTheMiddle = 0;
    for (let number = 0; kills < KILLED; number++) {
      const mode = MODES[number % MODES.length]!;
      const { digests, ledgers, durationMs } = undisturbed[mode];
      const trial = beginTrial(mode, `trial-${number}`);
      let killed = 0;
      let isDone = false;
      while (killed < KILLS_MAX && !isDone) {
        // A run that goes on has less to do.
        const span = (durationMs - START_MS) / (killed + 1);
        isDone =
          number % 5 === 4
            ? !(await isKilled(trial.args, dice.below(REWRITING_MS), () => isRewriting(trial)))
            : !(await isKilled(trial.args, START_MS + dice.below(span)));
        if (isDone) break;
        killed++;
        if (isRewriting(trial)) inTheMiddle++;
        if (mode === "--in-place") checkEachWhole(trial, digests, `trial ${number}, seed ${seed}`);
      }
      kills += killed;
      const about = `trial ${number} (${mode}), killed ${killed} times, seed ${seed}`;
      if (!isDone) {
        const { exit, err } = holotypeAlone(trial.args);
        expect(exit, `${about}: ${err}`).toBe(0);
      }
      expect(digestsOf(trial), about).toEqual(digests);
      expect(ledgersOf(trial), about).toEqual(ledgers);
      const leftovers = namesBelow(trial.result).filter((name) => /\.(?:partial|draft)$/.test(name));
      expect(leftovers, about).toEqual([]);
      if (canVerify && number < 4) {
        const verified = holotypeAlone(["verify", trial.result, "--against", inputs]);
        expect(verified.exit, `${about}: ${verified.out}${verified.err}`).toBe(0);
      }
      rmSync(trial.folder, { recursive: true });
    }
    expect(inTheMiddle).toBeGreaterThan(0);
  });
});
