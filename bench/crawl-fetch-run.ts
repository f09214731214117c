/**
 * A crawl of the crawl benchmark, as a process of its own: fetches documents from eight hosts into WARC files, and ends.
 * `crawl-fetch-run.js plain|dedup PORT COUNT FOLDER INDEX`. `dedup` asks an index of as many strangers, decides about each
 * document, and learns it; `plain` is the same job without all of that.
 */
import { rmSync } from "node:fs";
import { systemClock, systemRandom } from "holotype/base";
import { type FetchSettings, runFetchJob } from "holotype/crawl";
import { DigestIndex } from "holotype/digests";
import { nodeDisk } from "holotype/disk";
import { AddressGuard, HttpClient, resolveWith } from "holotype/http";

const HOSTS = Array.from({ length: 8 }, (_, i) => `host${i}.test`);

const [how, port, count, folder, path] = process.argv.slice(2) as [string, string, string, string, string];
rmSync(folder, { recursive: true, force: true });

const settings: FetchSettings = {
  deduplicates: how === "dedup",
  scheme: "both",
  by: "conditional",
  audit: 0,
  seed: "1",
  writePredicted: false,
  refusesClaims: false,
  redirectsMax: 5,
  indexesEquivalent: false,
  matching: { matching: "digest", tryEquivalent: true, mirrors: "duplicates" },
  headers: [["User-Agent", "bench"]],
};
const hosts = new Map(HOSTS.map((host) => [host, ["127.0.0.1"]]));
const guard = new AddressGuard({ allow: ["127.0.0.0/8"], resolve: resolveWith(hosts) });
const index = DigestIndex.open(nodeDisk, path);
const { tally } = await runFetchJob({
  disk: nodeDisk,
  clock: systemClock,
  random: systemRandom,
  folder,
  urls: Array.from({ length: Number(count) }, (_, i) => `http://${HOSTS[i % HOSTS.length]}:${port}/bench/${i}`),
  identity: {},
  settings,
  client: new HttpClient({ guard }),
  known: [index],
  delayMs: 0,
  parallel: HOSTS.length,
  prefix: "bench",
});
if (tally.counts.outcomes.stored !== Number(count)) throw new Error(`not all stored: ${JSON.stringify(tally.counts)}`);
process.exit(0);
