/** What deduplication costs a crawl: asking, deciding and learning, in processor time of documents from the loopback address. */
import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DigestIndex } from "holotype/digests";
import { nodeDisk } from "holotype/disk";
import { root } from "./corpus.ts";
import { interleave } from "./measure.ts";
import type { Row } from "./report.ts";

const ROUNDS = 5;
/** More of the processor time than this part must not go to deduplication. */
const SHARE_MAX = 0.08;

export async function runFetchCost(quick: boolean): Promise<Row[]> {
  const count = quick ? 2000 : 20_000;
  const work = join(root, ".bench", "crawl-fetch");
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const index = join(work, "strangers");
  await makeStrangers(index, count);
  const server = spawn(process.execPath, [join(root, "build/bench/crawl-server.js")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const port = await new Promise<string>((resolve, reject) => {
      server.stdout.once("data", (line: Buffer) => resolve(line.toString().trim()));
      server.once("exit", () => reject(new Error("the server of the benchmark did not start")));
    });
    const crawl = (how: string) => ({
      name: how,
      command: process.execPath,
      args: [join(root, "build/bench/crawl-fetch-run.js"), how, port, String(count), join(work, how), index],
    });
    const best = await interleave([crawl("plain"), crawl("dedup")], ROUNDS);
    const cost = (how: string) => (best.get(how)!.cpuSeconds * 1000) / count;
    const [plain, dedup] = [cost("plain"), cost("dedup")];
    const share = dedup / plain - 1;
    const metric = `what deduplication costs ${count} documents, CPU`;
    const ours = `${(100 * share).toFixed(1)} % (${dedup.toFixed(3)} ms)`;
    const goal = `< ${100 * SHARE_MAX} %`;
    return [{ metric, ours, reference: `${plain.toFixed(3)} ms`, ratio: undefined, goal, met: share < SHARE_MAX }];
  } finally {
    server.kill();
    rmSync(work, { recursive: true, force: true });
  }
}

/** An index of as many documents, of which none is fetched. */
async function makeStrangers(path: string, count: number): Promise<void> {
  const settings = { url: true, digest: true, equivalent: true, validators: true };
  await using index = DigestIndex.open(nodeDisk, path, { learning: { settings } });
  const learned = Array.from({ length: count }, (_, i) => {
    const uri = `http://stranger.test/document/${i}`;
    const hex = (digits: number) => i.toString(16).padStart(digits, "5a");
    return index.learn({
      uri,
      timeMs: Date.UTC(2026, 0, 1) + i * 1000,
      digests: [`sha256:${hex(64)}`],
      status: 200,
      mime: "text/html",
      etag: `"${i}"`,
      original: { uri, date: new Date(Date.UTC(2026, 0, 1) + i * 1000).toISOString() },
    });
  });
  await Promise.all(learned);
}
