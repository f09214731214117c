/**
 * The archive on the wire against pywb on the same files, both with two processes: processor time of the servers for
 * raw captures, CDX and TimeMaps, in turns. Then CDX of a domain, a record of 5 GB, and the time from start to answer.
 * `PYWB` names the folder with the programs pywb, wb-manager and uwsgi, where they are not in the path.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatIso } from "holotype/base";
import { WarcWriter } from "holotype/warc";
import { root, work } from "./corpus.ts";
import { limitRow, type Row, ratioRow } from "./report.ts";
import { run as runCdx } from "./serve-cdx.ts";
import { largeRecord } from "./serve-large.ts";
import { askAll, type Load, ServerProcess } from "./serve-load.ts";
import { startTime } from "./serve-start.ts";

const PAGES = 2000;
const PAGE_SIZE = 15_000;
const VISITS = 1000;
const CONNECTIONS = 50;
const ROUNDS = 5;
const OFTEN = "http://often.example/";
const MAIN = join(root, "dist/bin/holotype.js");

export async function run(quick: boolean): Promise<Row[]> {
  const folder = join(work, "out-serve");
  const file = join(folder, "pages.warc.gz");
  if (!existsSync(file)) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    makePages(file);
    must(process.execPath, [MAIN, "add", file, "--archive", join(folder, "bench")], folder);
  }
  return [
    ...(await againstPywb(folder, file, quick ? 1 : ROUNDS)),
    ...(await runCdx(quick)),
    ...(await largeRecord(quick ? 200 : 5000)),
    await startTime(quick ? 20_000 : 1_000_000),
  ];
}

interface Job {
  readonly name: string;
  readonly goal: number;
  readonly targets: readonly string[];
  /** pywb's share of the targets: it takes long. */
  readonly share: number;
}

const every = (count: number, target: (i: number) => string) => Array.from({ length: count }, (_, i) => target(i));
const pageUrl = (i: number) => `http://site-${i % 97}.example/page/${i}`;

function jobs(): readonly Job[] {
  return [
    {
      name: "id_ of 15 KB, 50 connections",
      goal: 5,
      targets: every(4000, (i) => `/bench/20200101000000id_/${pageUrl((i * 7) % PAGES)}`),
      share: 0.25,
    },
    {
      name: "CDX of one URL",
      goal: 5,
      targets: every(4000, (i) => `/bench/cdx?url=${encodeURIComponent(pageUrl((i * 11) % PAGES))}`),
      share: 0.25,
    },
    {
      name: "TimeMap of 1,000 captures",
      goal: 5,
      targets: every(200, () => `/bench/timemap/link/${OFTEN}`),
      share: 0.1,
    },
  ];
}

async function againstPywb(folder: string, file: string, rounds: number): Promise<Row[]> {
  const target = `/bench/20200101000000id_/${pageUrl(0)}`;
  const ownArgs = (port: number) => [
    MAIN,
    "serve",
    "-a",
    join(folder, "bench"),
    "--port",
    `${port}`,
    "--processes",
    "2",
  ];
  await using ours = await ServerProcess.start(process.execPath, ownArgs, { cwd: folder, target });
  await using pywb = await startPywb(folder, file, target);
  const rows: Row[] = [];
  for (const job of jobs()) {
    let [own, peer] = [await askAll(ours, job.targets.slice(0, 500), CONNECTIONS), undefined as Load | undefined];
    for (let round = 0; round < rounds; round++) {
      own = lesser(own, await askAll(ours, job.targets, CONNECTIONS));
      if (pywb === undefined) continue;
      peer = lesser(peer, await askAll(pywb, job.targets.slice(0, job.targets.length * job.share), CONNECTIONS));
    }
    const ratio = peer === undefined ? undefined : peer.cpuMsEach / own.cpuMsEach;
    const reference = peer === undefined ? "pywb is not installed" : `pywb ${peer.cpuMsEach.toFixed(2)} ms`;
    rows.push(
      ratioRow(`${job.name}: processor time each`, `${own.cpuMsEach.toFixed(3)} ms`, reference, ratio, job.goal),
    );
    rows.push(limitRow(`${job.name}: p99 (aim, on a quiet machine)`, own.p99Ms, "ms", 50));
  }
  return [...rows, limitRow("memory of a process", ours.residentMb(), "MB", 300)];
}

function lesser(one: Load | undefined, other: Load): Load {
  if (one === undefined) return other;
  return {
    cpuMsEach: Math.min(one.cpuMsEach, other.cpuMsEach),
    p99Ms: Math.min(one.p99Ms, other.p99Ms),
    bytes: other.bytes,
  };
}

/** Absent where pywb or uWSGI is not installed. */
async function startPywb(folder: string, file: string, target: string): Promise<ServerProcess | undefined> {
  const program = (name: string) => (process.env.PYWB === undefined ? name : join(process.env.PYWB, name));
  const home = join(folder, "pywb");
  if (!existsSync(home)) {
    mkdirSync(home);
    const isThere = ["wb-manager", "uwsgi"].every(
      (name) => spawnSync(program(name), ["--help"], { stdio: "ignore" }).error === undefined,
    );
    if (!isThere) {
      rmSync(home, { recursive: true });
      return undefined;
    }
    must(program("wb-manager"), ["init", "bench"], home);
    must(program("wb-manager"), ["add", "bench", file], home);
    writeFileSync(join(home, "config.yaml"), "framed_replay: false\n");
  }
  const settings = "--master --die-on-term --processes 2 --gevent 100 --gevent-early-monkey-patch --buffer-size 65536";
  const args = (port: number) => [
    ...settings.split(" "),
    "--disable-logging",
    "--module",
    "pywb.apps.wayback",
    "--http-socket",
    `127.0.0.1:${port}`,
    ...(process.env.PYWB === undefined ? [] : ["--virtualenv", join(process.env.PYWB, "..")]),
  ];
  return ServerProcess.start(program("uwsgi"), args, { cwd: home, target });
}

function must(command: string, args: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "ignore", "pipe"] });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
}

/** 2,000 pages of 15 KB, and one URL with 1,000 captures, of which every fifth is another version. */
function makePages(path: string): void {
  console.error(`making ${PAGES + VISITS} captures …`);
  const parts: Buffer[] = [];
  const writer = new WarcWriter({ write: (bytes) => void parts.push(Buffer.from(bytes)) });
  const put = (uri: string, timeMs: number, body: string) => {
    const fields = [
      ["WARC-Type", "response"],
      ["WARC-Record-ID", `<urn:bench:${parts.length}>`],
      ["WARC-Date", formatIso(timeMs)],
      ["WARC-Target-URI", uri],
      ["Content-Type", "application/http; msgtype=response"],
    ] as const;
    const head = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\n\r\n`;
    writer.write({ fields, block: Buffer.from(head + body) });
  };
  let state = 1;
  const word = () => {
    state = (state * 48271) % 2147483647;
    return (state % 46656).toString(36);
  };
  for (let i = 0; i < PAGES; i++) {
    let body = "";
    while (body.length < PAGE_SIZE) body += `<p>${word()} ${word()} ${word()}</p>\n`;
    put(pageUrl(i), Date.UTC(2020, 0, 1) + i * 1000, body.slice(0, PAGE_SIZE));
  }
  for (let i = 0; i < VISITS; i++)
    put(OFTEN, Date.UTC(2015, 0, 1) + i * 86_400_000, `<p>version ${Math.floor(i / 5)}</p>`);
  writeFileSync(path, Buffer.concat(parts));
}
