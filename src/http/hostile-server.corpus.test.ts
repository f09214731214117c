/** Fifty ways to misbehave, one a path, each with one outcome. The server is not part of the project. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recordedAnswer } from "../testing/recorded-answer.ts";
import { exchangeKept } from "../testing/wire-server.ts";
import { AddressGuard, type ExchangeLimits, HttpClient } from "./index.ts";

const PROGRAM = fileURLToPath(new URL("../../../shared/tools/hostile-server.mjs", import.meta.url));
const isThere = existsSync(PROGRAM);
const why = isThere ? "" : " (skipped: there is no ../shared/tools/hostile-server.mjs)";

const PLAIN = "hello\n";
const BODY_SIZE_MAX = 4 << 20;
/** For those that have no end by themselves. */
const LIMITS: Readonly<Record<string, Partial<ExchangeLimits>>> = {
  hang: { firstByteTimeoutMs: 200 },
  "hang-body": { idleTimeoutMs: 200 },
  trickle: { idleTimeoutMs: 10_000, exchangeTimeoutMs: 1200 },
  endless: { bodySizeMax: BODY_SIZE_MAX },
};

/** What each path gives: how the answer ends, its status, its entity or the size of it, and the flaws. */
type Outcome = readonly [end: string, status: number | undefined, entity: string | number, ...flaws: string[]];
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  "cl-short": ["disconnect", 200, 500, "body-cut"],
  "cl-long": ["complete", 200, 100, "extra-bytes"],
  "chunk-bad": ["complete", 200, "hello", "chunk-broken"],
  "chunk-cut": ["disconnect", 200, "hello", "chunk-cut"],
  "chunk-noend": ["disconnect", 200, "hello", "chunk-cut"],
  "chunk-ext": ["complete", 200, "hello"],
  "chunk-lf": ["complete", 200, "hello"],
  "chunk-huge-size": ["complete", 200, "ffffffffffffffff\r\nhello", "not-chunked"],
  "chunk-onebyte": ["complete", 200, 5000],
  "te-and-cl": ["complete", 200, "hello", "length-and-chunked"],
  "te-gzip-chunked": ["complete", 200, 26, "transfer-coding"],
  "claims-chunked": ["complete", 200, "plain text, no chunks at all\n", "not-chunked"],
  "lf-only": ["complete", 200, PLAIN, "bare-lf"],
  "no-reason": ["complete", 200, PLAIN, "no-reason"],
  icy: ["complete", 200, PLAIN, "icy"],
  http09: ["complete", undefined, "<html>no header at all</html>\n", "no-head"],
  http2line: ["complete", 200, PLAIN, "version-odd", "no-reason"],
  "head-bomb": ["length", 200, "", "head-too-large"],
  "header-300k": ["length", 200, "", "head-too-large"],
  "two-cl": ["complete", 200, PLAIN, "length-conflict"],
  "neg-cl": ["complete", 200, PLAIN, "length-invalid"],
  "cl-list": ["complete", 200, PLAIN, "length-list"],
  "cl-word": ["complete", 200, PLAIN, "length-invalid"],
  "cl-huge": ["complete", 200, PLAIN, "length-invalid"],
  "nul-header": ["complete", 200, PLAIN, "control-byte"],
  "obs-fold": ["complete", 200, PLAIN, "folded-line"],
  "latin1-header": ["complete", 200, PLAIN, "eight-bit"],
  "space-colon": ["complete", 200, PLAIN, "blank-before-colon"],
  "no-colon": ["complete", 200, PLAIN, "no-colon"],
  interim: ["complete", 200, PLAIN],
  "interim-flood": ["length", 102, "", "interim-flood"],
  "304-unasked": ["complete", 304, ""],
  "304-body": ["complete", 304, "", "extra-bytes"],
  "204-body": ["complete", 204, "", "extra-bytes"],
  "status-999": ["complete", 999, PLAIN, "status-odd"],
  "101-unasked": ["complete", 101, "", "switched-unasked", "extra-bytes"],
  reset: ["disconnect", 200, 300, "body-cut"],
  "empty-reply": ["no-answer", -3, ""],
  hang: ["answer-timeout", -4, ""],
  "hang-body": ["time", 200, 300, "body-cut"],
  trickle: ["time", 200, 0, "body-cut"],
  endless: ["length", 200, BODY_SIZE_MAX],
  "gzip-bomb": ["complete", 200, 203_569],
  "gzip-lie": ["complete", 200, PLAIN],
  "close-cut": ["complete", 200, "until close"],
  extra: ["complete", 200, PLAIN, "extra-bytes"],
  "loc-long": ["complete", 302, ""],
  "loc-self": ["complete", 302, ""],
  "loc-bad": ["complete", 302, "", "control-byte", "eight-bit"],
  "loc-private": ["complete", 302, ""],
};

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return (address as { port: number }).port;
}

describe.skipIf(!isThere)(`a hostile server${why}`, () => {
  let server: ChildProcess;
  let url = "";
  const client = new HttpClient({ guard: new AddressGuard({ allow: ["127.0.0.0/8"] }) });

  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    server = spawn(execPath, [PROGRAM, String(port), "127.0.0.1"], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => server.stdout!.once("data", resolve));
  });

  afterAll(() => {
    client.close();
    server.kill();
  });

  it("has no way that is not listed here", async () => {
    const { entity } = await exchangeKept(client, `${url}/list`);
    expect(Object.keys(OUTCOMES)).toEqual(entity.toString().split("\n"));
  });

  it.each(Object.entries(OUTCOMES))("%s has one outcome, and the next request is served", async (path, outcome) => {
    const [end, status, entity, ...flaws] = outcome;
    const kept = await exchangeKept(client, `${url}/${path}`, { limits: LIMITS[path] });
    const { result } = kept;
    if (result.kind === "failure") expect([result.code, result.status]).toEqual([end, status]);
    else {
      expect({ end: result.end, status: result.head?.status, flaws: result.flaws }).toEqual({ end, status, flaws });
      // A trickle gives as many bytes as it had time for, a bomb as many as zlib makes of it.
      if (path === "trickle") expect(kept.entity.length).toBeLessThan(60);
      else if (path === "gzip-bomb") expect(kept.entity.length).toBeGreaterThan(100_000);
      else if (typeof entity === "number") expect(kept.entity.length).toBe(entity);
      else expect(kept.entity.toString("latin1")).toBe(entity);
      expect(kept.raw.length).toBe(result.rawSize);
      const record = recordedAnswer(kept.raw);
      expect(record.payload.equals(kept.entity)).toBe(true);
      expect(record.http?.text).toBe(result.head?.text);
    }
    const next = await exchangeKept(client, `${url}/list`);
    expect(next.entity.toString()).toMatch(/^cl-short\n/);
  });

  it("takes no more memory the more there is of it", async () => {
    const limits = { bodySizeMax: 256 << 20 };
    const before = process.memoryUsage().rss;
    let peak = before;
    let count = 0;
    const sink = {
      raw: () => {
        if (++count % 64 === 0) peak = Math.max(peak, process.memoryUsage().rss);
      },
    };
    const result = await client.exchange({ url: `${url}/endless` }, sink, { limits });
    peak = Math.max(peak, process.memoryUsage().rss);
    expect(result).toMatchObject({ end: "length", entitySize: 256 << 20 });
    expect((peak - before) / 2 ** 20).toBeLessThan(60);
  });
});
