/** Many client processes at one server: every reference counts, exactly once. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { RemoteVolume } from "../../src/store/index.ts";
import { holotype, ROOT, temporaryFolder } from "../cli/holotype.ts";
import { serveFolder } from "./server-process.ts";

const CLIENTS = 20;
const STORES = Number(process.env["HOLOTYPE_STORES"] ?? 5000);
const EACH = STORES / CLIENTS;
/** Of all stores, these are of contents that are there already or about to be. */
const DUPLICATES = 0.6;

/**
 * Contents are numbered. Each number below a share of all is asked for by every client in turn, the others by one. One
 * half goes over singly, eight at a time, the other in bulk. Prints what was counted: signature, then references.
 */
const CLIENT = `
const [{ RemoteVolume, signatureOf }, url, client, clients, each, distinct] =
  [await import(process.argv[1]), process.argv[2], ...process.argv.slice(3).map(Number)];
const volume = new RemoteVolume({ url });
const counts = {};
const request = (i) => {
  const number = (i * clients + client) % distinct;
  const data = Buffer.from(\`<p>specimen \${number}</p>\`.repeat(1 + number % 300));
  return { signature: signatureOf("sha256", data), size: data.length, mode: "regular", compression: "none", data };
};
const count = ({ signature }) => { counts[signature] = (counts[signature] ?? 0) + 1; };
let next = 0;
const half = Math.floor(each / 2);
await Promise.all(Array.from({ length: 8 }, async () => {
  while (next < half) count(await volume.store(request(next++)));
}));
function* rest() { while (next < each) yield request(next++); }
for await (const answer of volume.storeAll(rest())) {
  if (answer.error) throw answer.error;
  count(answer.receipt);
}
await volume[Symbol.asyncDispose]();
console.log(JSON.stringify(counts));
`;

function runClient(url: string, client: number, distinct: number): Promise<Record<string, number>> {
  const library = pathToFileURL(join(ROOT, "dist", "store", "index.js")).href;
  const args = [library, url, client, CLIENTS, EACH, distinct].map(String);
  const child = spawn(process.execPath, ["--input-type=module", "-e", CLIENT, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.on("data", (text: Buffer) => {
    out += text.toString();
  });
  return new Promise((resolve, reject) => {
    child.on("close", (exit) => {
      if (exit === 0) resolve(JSON.parse(out) as Record<string, number>);
      else reject(new Error(`client ${client} ended with ${exit}`));
    });
  });
}

it(`${CLIENTS} processes, ${STORES} stores: the counters are exact`, { timeout: 600_000 }, async () => {
  const folder = join(temporaryFolder(), "volume");
  const distinct = Math.round(STORES * (1 - DUPLICATES));
  const server = await serveFolder(folder, "--create");
  const told = await Promise.all(Array.from({ length: CLIENTS }, (_, i) => runClient(server.url, i, distinct)));
  const sum = new Map<string, number>();
  for (const counts of told) {
    for (const [signature, times] of Object.entries(counts)) sum.set(signature, (sum.get(signature) ?? 0) + times);
  }
  expect([...sum.values()].reduce((a, b) => a + b)).toBe(STORES);
  expect(sum.size).toBe(distinct);
  await using volume = new RemoteVolume({ url: server.url });
  const found = new Map<string, number>();
  for await (const { signature, overflow, references } of volume.list()) {
    expect(overflow).toBe(0);
    found.set(signature, references);
  }
  expect(found).toEqual(sum);
  expect(await volume.describe()).toMatchObject({ blocks: distinct, references: STORES });
  server.process.kill("SIGTERM");
  expect(await server.ended, server.log()).toMatchObject({ exit: 0 });
  expect(holotype(["volume", "check", folder, "--scrub"])).toMatchObject({ exit: 0, err: "" });
});
