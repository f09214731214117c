/** Every behaviour of ../shared/tools/hostile-server.mjs through `fetch`: one named outcome each, and the next one is served. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { retrievalsOf, runHolotype, startServer } from "./fetch-run.ts";
import { linesOf, put, temporaryFolder } from "./holotype.ts";

const SERVER = fileURLToPath(new URL("../../../shared/tools/hostile-server.mjs", import.meta.url));
const isThere = existsSync(SERVER);
if (!isThere) process.stderr.write("skipped: there is no ../shared/tools/hostile-server.mjs\n");

const HOST = "127.0.0.1";
const folder = temporaryFolder();

/** Outcome, and what is said of it: why it is cut off, which flaws it has, why it failed. */
const EXPECTED: Readonly<Record<string, string>> = {
  "cl-short": "stored disconnect body-cut",
  "cl-long": "stored",
  "chunk-bad": "stored unspecified chunk-broken",
  "chunk-cut": "stored disconnect chunk-cut",
  "chunk-noend": "stored disconnect chunk-cut",
  "chunk-ext": "stored",
  "chunk-lf": "duplicate",
  "chunk-huge-size": "stored not-chunked",
  "chunk-onebyte": "stored",
  "te-and-cl": "duplicate length-and-chunked",
  "te-gzip-chunked": "stored transfer-coding",
  "claims-chunked": "stored not-chunked",
  "lf-only": "stored bare-lf",
  "no-reason": "duplicate no-reason",
  icy: "duplicate icy",
  http09: "stored no-head",
  http2line: "duplicate version-odd no-reason",
  "head-bomb": "stored length head-too-large",
  "header-300k": "stored length head-too-large",
  "two-cl": "duplicate length-conflict",
  "neg-cl": "duplicate length-invalid",
  "cl-list": "duplicate length-list",
  "cl-word": "duplicate length-invalid",
  "cl-huge": "duplicate length-invalid",
  "nul-header": "duplicate control-byte",
  "obs-fold": "duplicate folded-line",
  "latin1-header": "duplicate eight-bit",
  "space-colon": "duplicate blank-before-colon",
  "no-colon": "duplicate no-colon",
  interim: "duplicate",
  "interim-flood": "stored length interim-flood",
  "304-unasked": "unasked",
  "304-body": "unasked",
  "204-body": "stored",
  "status-999": "stored status-odd",
  "101-unasked": "stored switched-unasked",
  reset: "stored disconnect body-cut",
  "empty-reply": "failed no-answer",
  hang: "failed answer-timeout",
  "hang-body": "stored time body-cut",
  trickle: "stored time body-cut",
  endless: "stored length",
  "gzip-bomb": "stored",
  "gzip-lie": "duplicate",
  "close-cut": "stored",
  extra: "duplicate",
  "loc-long": "stored too-long",
  "loc-self": "stored",
  "loc-bad": "stored control-byte eight-bit",
  "loc-private": "stored",
};

/** What the server makes before it answers takes it seconds on a busy machine: nothing to do with how it answers. */
const SLOW = new Set(["gzip-bomb"]);

const ALLOWED = ["--allow-private", `${HOST}/32`, "--max-redirects", "3", "--delay", "0", "--max-body", "40M"];

/** Fetches each path, and another one after it; gives what became of them, by URL. */
async function fetchPaths(job: string, urls: readonly string[], limits: readonly string[], exit: number) {
  const list = put(folder, `urls-${exit}.txt`, urls.join("\n"));
  const memory = put(
    folder,
    "memory.mjs",
    'process.on("exit", () => process.stderr.write(`peak ${process.resourceUsage().maxRSS}\\n`));',
  );
  process.env["NODE_OPTIONS"] = `--import ${memory}`;
  const run = await runHolotype(["fetch", "-i", list, "-o", job, ...limits, ...ALLOWED, "--json"]);
  delete process.env["NODE_OPTIONS"];
  expect(run.exit, run.err).toBe(exit);
  expect(Number(/peak (\d+)/.exec(run.err)![1]) / 1024).toBeLessThan(150);
  const retrievals = retrievalsOf(run.out);
  expect(readFileSync(join(job, "crawl.log"), "utf8").split("\n")).toHaveLength(retrievals.length + 1);
  const checked = await runHolotype(["check", job]);
  expect({ exit: checked.exit, err: checked.err }, checked.out).toEqual({ exit: 0, err: "" });
  const verified = await runHolotype(["verify", job]);
  expect(verified.exit, verified.out).toBe(0);
  return retrievals.map((retrieval) => [retrieval.url, retrieval] as const);
}

describe.skipIf(!isThere)("a hostile server", () => {
  it("gets one named outcome for each of its behaviours", { timeout: 180_000 }, async () => {
    await using server = await startServer(SERVER, (port) => [String(port), HOST], HOST);
    const url = (path: string) => `http://${HOST}:${server.port}/${path}`;
    const paths = linesOf(`${await (await fetch(url("list"))).text()}\n`);
    expect(paths.sort()).toEqual(Object.keys(EXPECTED).sort());
    const urlsOf = (isSlow: boolean) =>
      Object.keys(EXPECTED).flatMap((path) => (SLOW.has(path) === isSlow ? [url(path), url(`?after=${path}`)] : []));
    const retrievals = new Map([
      ...(await fetchPaths(join(folder, "job"), urlsOf(false), ["--timeout", "4", "--max-time", "5"], 3)),
      ...(await fetchPaths(join(folder, "slow"), urlsOf(true), ["--timeout", "60"], 0)),
    ]);
    const told = Object.keys(EXPECTED).map((path) => {
      const { outcome, truncated, flaws = [], failure, ...more } = retrievals.get(url(path))!;
      const { redirectTrouble } = more as { redirectTrouble?: string };
      // Whether bytes behind the end are seen is a matter of moments.
      const seen = flaws.filter((flaw) => flaw !== "extra-bytes");
      const words = [outcome, truncated, redirectTrouble, ...seen, failure].filter((word) => word !== undefined);
      return [path, words.join(" ")];
    });
    expect(Object.fromEntries(told)).toEqual(EXPECTED);
    // The request after each of them got the answer that is its own.
    for (const path of Object.keys(EXPECTED))
      expect(retrievals.get(url(`?after=${path}`))).toMatchObject({ status: 404 });
  });
});
