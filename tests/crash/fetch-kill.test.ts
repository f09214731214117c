/** The real command, killed with SIGKILL at random moments, and run again until it is done. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ChangingSite } from "../../src/testing/changing-site.ts";
import { createDice, newSeed } from "../../src/testing/dice.ts";
import { retrievalsOf, runHolotype } from "../cli/fetch-run.ts";
import { linesOf, put, startHolotype, temporaryFolder } from "../cli/holotype.ts";

const KILLS = Number(process.env["HOLOTYPE_KILLS"] ?? 8);
/** After so many kills of one job the next run may go to its end. */
const KILLS_OF_JOB_MAX = 4;
const HOSTS = ["a.test", "b.test", "c.test", "d.test"];
const DOCUMENTS = 100;
/** As long as the job takes, about. */
const SPAN_MS = 900;
const WATCH_MS = 2;

const work = temporaryFolder();

interface Trial {
  readonly args: readonly string[];
  readonly job: string;
  readonly archive: string | undefined;
}

function beginTrial(site: ChangingSite, number: number, isArchive: boolean): Trial {
  const job = join(work, `job-${number}`);
  const archive = isArchive ? join(work, `archive-${number}`) : undefined;
  const urls = HOSTS.flatMap((host) => Array.from({ length: DOCUMENTS }, (_, i) => site.url(`/many/${i}`, host)));
  const list = put(work, `urls-${number}.txt`, urls.join("\n"));
  const hosts = HOSTS.flatMap((host) => ["--resolve", `${host}:127.0.0.1`]);
  const network = [...hosts, "--allow-private", "127.0.0.0/8", "--delay", "0", "--max-file", "20k"];
  const target = archive === undefined ? [] : ["--archive", archive];
  return { job, archive, args: ["fetch", "-i", list, "-o", job, ...network, ...target, "--json"] };
}

/** Runs the command and kills it so long after its first request; the URLs that it said were done, and whether it was killed. */
async function runAndKill(
  args: readonly string[],
  site: ChangingSite,
  afterMs: number,
): Promise<{ told: string[]; isKilled: boolean }> {
  const asked = site.askedUrls.length;
  const child = startHolotype(args);
  let out = "";
  let err = "";
  child.stdout.on("data", (piece: Buffer) => {
    out += piece.toString();
  });
  child.stderr.on("data", (piece: Buffer) => {
    err += piece.toString();
  });
  let timer: NodeJS.Timeout | undefined;
  const watch = setInterval(() => {
    if (site.askedUrls.length > asked) timer ??= setTimeout(() => child.kill("SIGKILL"), afterMs);
  }, WATCH_MS);
  const { exit, signal } = await new Promise<{ exit: number | null; signal: string | null }>((resolve) =>
    child.on("close", (code, name) => resolve({ exit: code, signal: name })),
  );
  clearTimeout(timer);
  clearInterval(watch);
  if (signal === null) expect({ exit, err }).toEqual({ exit: 0, err: "" });
  // A line that was cut off told nothing.
  const whole = out.slice(0, out.lastIndexOf("\n") + 1);
  return { told: retrievalsOf(whole).map(({ url }) => url), isKilled: signal !== null };
}

function loggedUrls({ job }: Trial): string[] {
  const path = join(job, "crawl.log");
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  return linesOf(text.slice(0, text.lastIndexOf("\n") + 1)).map((line) => line.split(/ +/)[3]!);
}

async function checkResult(trial: Trial, site: ChangingSite, about: string): Promise<void> {
  const { job, archive } = trial;
  const all = HOSTS.flatMap((host) => Array.from({ length: DOCUMENTS }, (_, i) => site.url(`/many/${i}`, host)));
  expect(loggedUrls(trial).sort(), about).toEqual(all.sort());
  if (archive === undefined) {
    const checked = await runHolotype(["check", job]);
    expect(checked.exit, `${about}: ${checked.out}${checked.err}`).toBe(0);
    const verified = await runHolotype(["verify", job]);
    expect(verified.exit, `${about}: ${verified.out}${verified.err}`).toBe(0);
  } else {
    const examined = await runHolotype(["doctor", "--archive", archive]);
    expect(examined.exit, `${about}: ${examined.out}${examined.err}`).toBe(0);
    const stats = await runHolotype(["stats", "--archive", archive, "--json"]);
    const { captures, pending } = JSON.parse(linesOf(stats.out)[0]!) as { captures: number; pending: number };
    expect(captures, about).toBeGreaterThanOrEqual(all.length);
    expect(pending, about).toBe(0);
  }
}

describe("fetch that is killed", () => {
  it(`${KILLS} times loses nothing that it told, and does nothing twice`, { timeout: 900_000 }, async () => {
    const seed = newSeed();
    const dice = createDice(seed);
    await using site = await ChangingSite.start();
    site.delayMs = 4;
    let kills = 0;
    let inTheMiddle = 0;
    for (let number = 0; kills < KILLS; number++) {
      const trial = beginTrial(site, number, number % 2 === 1);
      const acknowledged = new Set<string>();
      site.askedUrls.length = 0;
      for (let killed = 0, isDone = false; !isDone; killed++) {
        const about = `trial ${number}, killed ${killed} times, seed ${seed}`;
        const asked = site.askedUrls.length;
        const afterMs = killed < KILLS_OF_JOB_MAX ? dice.below(SPAN_MS) : 1_000_000;
        const { told, isKilled } = await runAndKill(trial.args, site, afterMs);
        isDone = !isKilled;
        // What was told before is not asked for again.
        const again = site.askedUrls.slice(asked).filter((url) => acknowledged.has(url));
        expect(again, about).toEqual([]);
        for (const url of told) acknowledged.add(url);
        const logged = new Set(loggedUrls(trial));
        for (const url of told) expect(logged.has(url), `${about}: ${url}`).toBe(true);
        if (isKilled) kills++;
        if (isKilled && told.length > 0) inTheMiddle++;
      }
      await checkResult(trial, site, `trial ${number}, seed ${seed}`);
    }
    expect(inTheMiddle).toBeGreaterThan(0);
  });
});
