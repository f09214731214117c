/** What a document costs our HTTP client, against `node:http` doing the same: fetch, hash, keep the raw bytes. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "./corpus.ts";
import { interleave } from "./measure.ts";
import { type Row, ratioRow } from "./report.ts";

const ROUNDS = 5;
/** Ours may take this part of the processor time of `node:http`. */
const SHARE_MAX = 0.7;

export async function runHttpClient(quick: boolean): Promise<Row[]> {
  const count = quick ? 1500 : 6000;
  const server = spawn(process.execPath, [join(root, "build/bench/crawl-server.js")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const port = await new Promise<string>((resolve, reject) => {
      server.stdout.once("data", (line: Buffer) => resolve(line.toString().trim()));
      server.once("exit", () => reject(new Error("the server of the benchmark did not start")));
    });
    const client = (who: string) => ({
      name: who,
      command: process.execPath,
      args: [join(root, "build/bench/crawl-client-run.js"), who, `http://127.0.0.1:${port}`, String(count)],
    });
    const best = await interleave([client("ours"), client("node")], ROUNDS);
    const cost = (who: string) => (best.get(who)!.cpuSeconds * 1000) / count;
    const text = (ms: number) => `${ms.toFixed(3)} ms`;
    const [ours, node] = [cost("ours"), cost("node")];
    const goal = 1 / SHARE_MAX;
    return [ratioRow("fetch and hash a document, CPU, against node:http", text(ours), text(node), node / ours, goal)];
  } finally {
    server.kill();
  }
}
