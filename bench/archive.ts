/**
 * The archive: adding crawls, fresh and all duplicates, against one pass of the C yardstick; questions a second; the first
 * answer of a command from the start of its process; and what is kept of a crawl against what `dedup` leaves.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Archive, ArchiveWriter } from "holotype/archive";
import { formatIso } from "holotype/base";
import { nodeDisk } from "holotype/disk";
import { findInputs } from "holotype/pipeline";
import { fileSource, WarcReader, WarcWriter } from "holotype/warc";
import { compileLimit, prepareCorpus, root, work } from "./corpus.ts";
import { type Contender, interleave } from "./measure.ts";
import { limitRow, type Row, ratioRow } from "./report.ts";

const DAY_MS = 86_400_000;

export async function run(quick: boolean): Promise<Row[]> {
  const files = prepareCorpus(quick ? { files: 2, megabytesEach: 32 } : { files: 4, megabytesEach: 256 });
  return [...(await adding(files, quick ? 1 : 2)), ...(await asking(quick ? 50_000 : 1_000_000)), ...keeping()];
}

/** The same crawls a year later, nothing changed: other dates, other ids. */
function laterCrawls(files: readonly string[]): string[] {
  return files.map((file) => {
    const path = join(work, `later-${statSync(file).size}-${basename(file)}`);
    if (existsSync(path)) return path;
    const parts: Buffer[] = [];
    const writer = new WarcWriter({ write: (bytes) => void parts.push(Buffer.from(bytes)) }, { level: 1 });
    using input = nodeDisk.open(file, "read");
    for (const record of new WarcReader(fileSource(input, file))) {
      const head = record.headers.text
        .replace(/^(WARC-Date: ).*$/m, `$1${formatIso((record.timeMs ?? 0) + 365 * DAY_MS)}\r`)
        .replace(/^(WARC-(?:Record-ID|Concurrent-To): <.*)>/gm, "$1-later>");
      writer.writeStream(Buffer.from(head, "latin1"), record.chunks());
    }
    writeFileSync(path, Buffer.concat(parts));
    return path;
  });
}

async function adding(files: readonly string[], rounds: number): Promise<Row[]> {
  const main = join(root, "dist/bin/holotype.js");
  const folder = join(work, "out-archive");
  const add = (name: string, inputs: readonly string[], before: () => void): Contender => ({
    name,
    command: process.execPath,
    args: [main, "add", "--archive", folder, "--threads", "2", ...inputs],
    before,
  });
  const contenders = [
    add("fresh", files, () => rmSync(folder, { recursive: true, force: true })),
    add("duplicates", laterCrawls(files), () => {}),
  ];
  const limit = compileLimit();
  if (limit !== undefined) contenders.push({ name: "C sha1", command: limit, args: ["sha1", ...files] });
  const best = await interleave(contenders, rounds);
  const wall = (name: string) => best.get(name)?.wallSeconds;
  const text = (name: string) => (wall(name) === undefined ? "not there" : `${wall(name)!.toFixed(2)} s`);
  const passes = wall("C sha1") === undefined ? undefined : wall("fresh")! / wall("C sha1")!;
  const [kept, index] = [sizeOf(join(folder, "volumes")), sizeOf(folder) - sizeOf(join(folder, "volumes"))];
  return [
    {
      metric: "add, fresh, wall, in passes of C",
      ours: text("fresh"),
      reference: `C sha1 ${text("C sha1")}`,
      ratio: passes,
      goal: "<= 1.6",
      met: passes === undefined ? undefined : passes <= 1.6,
    },
    ratioRow(
      "add, all duplicates, against fresh",
      text("duplicates"),
      text("fresh"),
      wall("fresh")! / wall("duplicates")!,
      1,
    ),
    limitRow("memory of add", best.get("fresh")?.residentMb, "MB", 500),
    { ...limitRow("index beside what is kept", (100 * index) / kept, "%", 3) },
  ];
}

/** An archive of this many captures: a tenth of as many URLs, ten crawls, one in five changed. */
async function makeArchive(folder: string, captures: number): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const urls = captures / 10;
  const paths = Array.from({ length: 10 }, (_, crawl) => {
    const path = join(folder, `crawl-${crawl}.warc`);
    const parts: Buffer[] = [];
    const writer = new WarcWriter({ write: (bytes) => void parts.push(Buffer.from(bytes)) }, { compression: "none" });
    for (let i = 0; i < urls; i++) {
      const version = Math.floor((crawl + (i % 5)) / 5);
      writer.write({
        fields: [
          ["WARC-Type", "response"],
          ["WARC-Record-ID", `<urn:bench:${crawl}:${i}>`],
          ["WARC-Date", formatIso(Date.UTC(2010 + crawl, 0, 1) + i * 1000)],
          ["WARC-Target-URI", `http://site-${i % 997}.example/page/${i}`],
          ["Content-Type", "application/http; msgtype=response"],
        ],
        block: Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>page ${i}, version ${version}`),
      });
    }
    writeFileSync(path, Buffer.concat(parts));
    return path;
  });
  await using writer = ArchiveWriter.open(nodeDisk, join(folder, "archive"), { create: true });
  await writer.add(
    findInputs(nodeDisk, paths, () => {}),
    { threads: 2 },
  );
  for (const path of paths) rmSync(path);
}

async function asking(captures: number): Promise<Row[]> {
  const folder = join(work, `out-asking-${captures}`);
  if (!existsSync(join(folder, "archive", "archive.json"))) {
    console.error(`making an archive of ${captures} captures …`);
    await makeArchive(folder, captures);
  }
  await using archive = await Archive.open(nodeDisk, join(folder, "archive"));
  const urls = captures / 10;
  const url = (i: number) => `http://site-${i % 997}.example/page/${i}`;
  const ask = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const i = (n * 7919) % urls;
      const moment = await archive.at(url(i), Date.UTC(2010 + (n % 9), 6, 1));
      if (moment === undefined) throw new Error(`nothing at ${url(i)}`);
    }
  };
  await ask(20_000);
  const start = performance.now();
  await ask(50_000);
  const perSecond = 50_000 / ((performance.now() - start) / 1000);
  let best = 0;
  for (let round = 0; round < 4; round++) {
    const from = performance.now();
    let results = 0;
    for await (const batch of archive.slice(Date.UTC(2016, 0, 1))) results += batch.length;
    best = Math.max(best, results / ((performance.now() - from) / 1000));
  }
  const main = join(root, "dist/bin/holotype.js");
  const first = await interleave(
    [
      {
        name: "at",
        command: process.execPath,
        args: [main, "at", url(1), "2015", "--archive", join(folder, "archive")],
      },
    ],
    5,
  );
  const million = (captures / 1e6).toString();
  return [
    ratioRow(`at, ${million} million captures`, `${Math.round(perSecond)} /s`, "20,000 /s", perSecond / 20_000, 1),
    ratioRow(`slice of ${urls} results`, `${Math.round(best)} /s`, "300,000 /s", best / 300_000, 1),
    limitRow("first answer of `at`, from process start", first.get("at")!.wallSeconds * 1000, "ms", 150),
  ];
}

/** Of the site crawls, where they are: all that an archive takes against what `dedup` leaves. */
function keeping(): Row[] {
  const sites = join(root, "..", "shared", "corpus", "sites");
  if (!existsSync(sites)) return [];
  const rows: Row[] = [];
  const main = join(root, "dist/bin/holotype.js");
  for (const site of readdirSync(sites)) {
    const [archive, output] = [join(work, "out-site-archive"), join(work, "out-site-dedup")];
    for (const folder of [archive, output]) rmSync(folder, { recursive: true, force: true });
    const input = join(sites, site);
    for (const args of [
      ["add", "--archive", archive, input],
      ["dedup", input, "-o", output],
    ]) {
      const { status } = spawnSync(process.execPath, [main, ...args], { stdio: "ignore" });
      // 3: some revisits of theirs lead out of the files.
      if (status !== 0 && status !== 3) throw new Error(`${args[0]} ${input} ended with ${status}`);
    }
    const left = readdirSync(output).filter((name) => name.endsWith(".gz"));
    const files = left.reduce((sum, name) => sum + statSync(join(output, name)).size, 0);
    // Without its ledgers, what dedup leaves could not be put together again.
    const leaves = files + sizeOf(join(output, "holotype-job", "ledger"));
    const over = (size: number) => 100 * (sizeOf(archive) / size - 1);
    rows.push(limitRow(`${site}: archive over what dedup leaves, with its ledgers`, over(leaves), "%", 3));
    console.error(`${site}: archive over the files alone: ${over(files).toFixed(2)} %`);
  }
  return rows;
}

function sizeOf(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
