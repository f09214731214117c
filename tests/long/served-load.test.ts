/**
 * A minute of load: 100 connections ask a served archive for captures, CDX, TimeMaps and the API while another process adds
 * to it and commits. No answer fails, new captures appear, and the server's memory stays within bounds. Runs with
 * `npm run test:long` only.
 */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { captureBytes, noise, packRecords } from "../../src/testing/capture-text.ts";
import { ended, put, SAMPLES, startHolotype, temporaryFolder } from "../cli/holotype.ts";

const { HOLOTYPE_LONG_RUNS: long } = process.env;
const why = long === undefined ? " (skipped: only in test:long)" : "";
const SECONDS = 60;
const CONNECTIONS = 100;
const URL_COUNT = 500;
const MEMORY_MAX_MB = 400;
/** Beyond the second in which a commit shows: this machine has other things to do as well. */
const PATIENCE_MS = 5000;

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
const folder = temporaryFolder();
const archive = `${folder}/load`;
const page = (n: number) => `http://load.example/page/${n}`;

interface Got {
  readonly status: number;
  readonly text: string;
}

function get(url: string): Promise<Got> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent }, (response) => {
      let text = "";
      response.setEncoding("latin1");
      response.on("data", (piece: string) => void (text += piece));
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode!, text }));
    });
    asked.on("error", reject);
    asked.end();
  });
}

/** A WARC file with a new state of every page, of 15 KB each. */
function crawl(round: number): string {
  const date = new Date(Date.UTC(2020, 0, 1 + round)).toISOString().replace(".000Z", "Z");
  const records = Array.from({ length: URL_COUNT }, (_, n) =>
    captureBytes({ uri: page(n), date, payload: noise(`${round} ${n}`, 7500).toString("hex") }),
  );
  return put(folder, `${round}.warc.gz`, packRecords(records));
}

async function add(...paths: readonly string[]): Promise<void> {
  const { exit, err } = await ended(startHolotype(["add", ...paths, "--archive", archive, "--json"]));
  if (exit !== 0) throw new Error(`add ended with ${exit}: ${err}`);
}

function memoryOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const megabytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0) / 1024;
  return { now: megabytes("VmRSS"), peak: megabytes("VmHWM") };
}

function target(base: string, n: number): string {
  const url = page(n % URL_COUNT);
  switch (n % 10) {
    case 0:
      return `${base}/load/cdx?url=${encodeURIComponent(url)}`;
    case 1:
      return `${base}/load/timemap/link/${url}`;
    case 2:
      return `${base}/cdx/search/cdx?url=load.example&matchType=domain&limit=200`;
    case 3:
      return `${base}/api/history?url=${encodeURIComponent(url)}`;
    default:
      return `${base}/load/2030id_/${url}`;
  }
}

describe.skipIf(why !== "")(`load${why}`, () => {
  it(`${CONNECTIONS} connections for ${SECONDS} seconds beside a writer`, { timeout: 600_000 }, async () => {
    await add(SAMPLES, crawl(0));
    const child = startHolotype(["serve", "--archive", archive, "--port", "0"]);
    let log = "";
    child.stderr.on("data", (text: Buffer) => void (log += text.toString()));
    const closed = new Promise<number | null>((resolve) => child.on("close", resolve));
    const { value: base } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
    const end = performance.now() + 1000 * SECONDS;
    const wrong: string[] = [];
    let [count, rounds, slowest] = [0, 0, 0];
    const memory: number[] = [];

    const ask = async (seed: number) => {
      for (let n = seed; performance.now() < end; n += CONNECTIONS) {
        const url = target(base!, n);
        const start = performance.now();
        try {
          const { status, text } = await get(url);
          if (status !== 200 || text === "") wrong.push(`${status} ${url}`);
        } catch (error) {
          wrong.push(`${String(error)} ${url}`);
        }
        slowest = Math.max(slowest, performance.now() - start);
        count++;
      }
    };
    const write = async () => {
      while (performance.now() < end) {
        const path = crawl(++rounds);
        await add(path);
        const stamp = new Date(Date.UTC(2020, 0, 1 + rounds)).toISOString().replaceAll(/[-T:]|\..*/g, "");
        const deadline = performance.now() + PATIENCE_MS;
        const isThere = async () =>
          (await get(`${base}/load/cdx?url=${page(rounds)}&from=${stamp}`)).text.includes(stamp);
        while (!(await isThere())) {
          if (performance.now() > deadline) throw new Error(`round ${rounds} does not appear`);
          await sleep(50);
        }
        memory.push(memoryOf(child.pid!).now);
      }
    };
    await Promise.all([write(), ...Array.from({ length: CONNECTIONS }, (_, seed) => ask(seed))]);
    const { peak } = memoryOf(child.pid!);
    agent.destroy();
    child.kill("SIGTERM");
    expect(await closed).toBe(0);
    const shown = memory.map((each) => Math.round(each)).join(" ");
    const told = `${count} answers, the slowest ${Math.round(slowest)} ms; ${rounds} commits of ${URL_COUNT} captures`;
    process.stdout.write(`${told}; MB: ${shown}, peak ${Math.round(peak)}\n`);
    expect(wrong).toEqual([]);
    expect(log).not.toContain('"level":"error"');
    expect(rounds).toBeGreaterThan(3);
    expect(peak).toBeLessThan(MEMORY_MAX_MB);
  });
});
