/** From the start of the process to the first answer, on a large archive, against bare Node: processor time. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root, work } from "./corpus.ts";
import { interleave } from "./measure.ts";
import { type Row, ratioRow } from "./report.ts";
import { makeArchive } from "./serve-cdx.ts";

const ROUNDS = 5;
/** Starts the server, asks it for one line of CDX, and ends it. */
const FIRST_ANSWER = `
const { spawn } = require("node:child_process");
const server = spawn(process.execPath, process.argv.slice(1), { stdio: ["ignore", "pipe", "inherit"] });
server.stdout.once("data", async (url) => {
  const answer = await fetch(url.toString().trim() + "/archive/cdx?limit=1&url=http://site-0.bench.example/section/page/0?lang=en");
  const text = await answer.text();
  server.kill("SIGKILL");
  process.exitCode = answer.status === 200 && text.includes("site-0") ? 0 : 1;
});`;

export async function startTime(captures: number): Promise<Row> {
  const folder = join(work, `out-cdx-${captures}`);
  if (!existsSync(join(folder, "archive", "archive.json"))) {
    console.error(`making an archive of ${captures} captures …`);
    await makeArchive(folder, captures / 10);
  }
  const main = join(root, "dist/bin/holotype.js");
  const args = ["-e", FIRST_ANSWER, main, "serve", "-a", join(folder, "archive"), "--port", "0"];
  const best = await interleave(
    [
      { name: "first answer", command: process.execPath, args },
      // The program that asks is a Node of its own.
      { name: "bare Node", command: process.execPath, args: ["-e", "fetch('http://127.0.0.1:1/').catch(() => 0)"] },
    ],
    ROUNDS,
  );
  const [ours, bare] = [best.get("first answer")!.cpuSeconds, best.get("bare Node")!.cpuSeconds];
  const [first, text] = [ours - bare, (seconds: number) => `${Math.round(seconds * 1000)} ms`];
  const name = `start to first answer, ${captures} captures (at most 5 x bare Node)`;
  return ratioRow(name, text(first), `bare Node ${text(bare)}`, (5 * bare) / first, 1);
}
