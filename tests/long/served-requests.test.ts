/**
 * Requests that nobody in their right mind sends, over real sockets to a server of the samples: none gets a status of 500
 * and above, every answer is a whole HTTP message, and the server still answers afterwards. 100,000 of them with
 * `npm run test:long`, fewer otherwise.
 */
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { Archive, ArchiveWriter } from "../../src/archive/index.ts";
import { nodeDisk } from "../../src/disk/index.ts";
import { serveHttp } from "../../src/http/index.ts";
import { findInputs } from "../../src/pipeline/index.ts";
import { Collection, serveArchives, toldAnswer } from "../../src/serve/index.ts";
import { ask } from "../../src/testing/http-exchange.ts";
import { SAMPLES, temporaryFolder } from "../cli/holotype.ts";

const isLong = process.env["HOLOTYPE_LONG_RUNS"] !== undefined;
const COUNT = isLong ? 100_000 : 2000;
const BATCH = 100;

const PATHS = [
  "/",
  "/cabinet/",
  "/cabinet/cdx",
  "/cdx/search/cdx",
  "/cdx/search/xd",
  "/web/timemap/cdx",
  "/cdx/hex",
  "/wayback/available",
  "/api/records/EA6O4SSZ4TA7APEQUOSEB3TSGOZC5TEZ",
  ..."at history versions captures slice changes same stats hosts urls pages suggest openapi.json"
    .split(" ")
    .map((name) => `/api/${name}`),
];
const PREFIXES =
  "cabinet web nowhere as-of cabinet/as-of cabinet/timemap/link cabinet/timemap/json cabinet/timemap/cdxj cabinet/record/2014 cabinet/segments cabinet/* cabinet/2009-2014*".split(
    " ",
  );
const TIMES = "2014 20130903140504 20130903140504000 99999999999999 00000000000000 201 123456789012345 0 1".split(" ");
const FORMS = "id_ ir_ mp_ im_ xx_".split(" ");
const URLS = [
  "http://cabinet.example/",
  "http://cabinet.example/favicon.ico",
  "cabinet.example/images/*",
  "http:/cabinet.example/",
  "http%3A%2F%2Fcabinet.example%2F",
  "http://[::1",
  "http://%zz/",
  "javascript:alert(1)",
  "dns:cabinet.example",
  "http://cabinet.example/\u00e9\u4e2d",
  `http://cabinet.example/${"a".repeat(5000)}`,
  "../../../../etc/passwd",
  "000001.warc.gz",
  "..%2f..%2farchive.json",
  "%00",
  "",
];
const NAMES =
  "url matchType from to limit offset sort closest filter fl fields output collapse collapseTime resolveRevisits showDupeCount showSkipCount lastSkipTimestamp page pageSize showNumPages showPagedIndex showResumeKey resumeKey fastLatest gzip coll time site prefix sha256 by cursor q count start_page timestamp uri x".split(
    " ",
  );
const VALUES =
  "1 -1 0 x true exact prefix host domain range reverse closest json text link cdxj urlkey,timestamp digest timestamp:4 !mimetype:warc/revisit =status:200 ~url:(a+)+$ ~[ status 9999999999999999999 20140101 type:urlquery+url:cabinet.example %00 %ff * cabinet".split(
    " ",
  );

const value = fc.oneof(
  fc.constantFrom(...VALUES, ...URLS),
  fc.string({ unit: "binary", maxLength: 12 }).map(encodeURIComponent.bind(undefined)),
);
const query = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), value), { maxLength: 6 })
  .map((pairs) => pairs.map(([name, each]) => `${name}=${each.replaceAll(/[ #]/g, "+")}`).join("&"));
const target = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom(...PATHS), query).map(([path, text]) => `${path}?${text}`) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...PREFIXES),
        fc.constantFrom("", ...TIMES),
        fc.constantFrom("", ...FORMS),
        fc.constantFrom(...URLS),
      )
      .map(([prefix, time, form, url]) => `/${prefix}/${time}${form}/${url}`),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary-ascii", maxLength: 60 }).map((text) => `/${text}`) },
);
const header = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.tuple(
      fc.constantFrom(
        ..."Range If-Range If-None-Match If-Match If-Modified-Since Accept-Datetime Accept Accept-Encoding Origin Referer Cookie Expect Content-Length Transfer-Encoding Connection Upgrade".split(
          " ",
        ),
      ),
      fc.constantFrom(
        "",
        "x",
        "*",
        "bytes=0-",
        "bytes=-1",
        "bytes=5-1",
        "bytes=0-1,3-4",
        "Thu, 01 May 2014 00:00:00 GMT",
        "2014",
        "gzip",
        "gzip;q=0",
        "application/json",
        "0",
        "-1",
        "chunked",
        "close",
        '"a"',
      ),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(fc.string({ unit: "binary-ascii", maxLength: 6 }), fc.string({ maxLength: 20 })) },
);
const request = fc
  .record({
    method: fc.constantFrom("GET", "GET", "GET", "GET", "HEAD", "OPTIONS", "POST", "PUT", "BREW"),
    target,
    host: fc.constantFrom(
      ...Array.from({ length: 16 }, () => "localhost"),
      "127.0.0.1:80",
      "evil.example",
      "",
      "a b",
      "x".repeat(3000),
    ),
    headers: fc.array(header, { maxLength: 3 }),
  })
  .map(({ method, target: at, host, headers }) =>
    [
      `${method} ${at} HTTP/1.1`,
      `Host: ${host}`,
      ...headers.map((pair) => pair.join(": ")),
      "Connection: close",
      "",
      "",
    ].join("\r\n"),
  );

/** All that the server says to these bytes. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const socket: Socket = connect(port, "127.0.0.1", () => socket.end(Buffer.from(text, "utf8")));
    socket.setTimeout(30_000, () => reject(new Error(`no answer to ${JSON.stringify(text.slice(0, 300))}`)));
    socket.on("data", (piece) => void (said += piece.toString("latin1")));
    socket.on("error", () => resolve(said));
    socket.on("close", () => resolve(said));
  });
}

it(`${COUNT} odd requests: no status of 500 and above`, { timeout: 3_600_000 }, async () => {
  const folder = join(temporaryFolder(), "cabinet");
  {
    await using writer = ArchiveWriter.open(nodeDisk, folder, { create: true });
    await writer.add(findInputs(nodeDisk, [SAMPLES], () => {}));
  }
  await using archive = await Archive.open(nodeDisk, folder);
  const handler = serveArchives([new Collection("cabinet", archive)], { serveFiles: true });
  const faults: string[] = [];
  await using server = await serveHttp(handler, {
    formatError: toldAnswer,
    onLog: (entry) => void (entry.level === "error" && faults.push(JSON.stringify(entry))),
  });
  const port = Number(new URL(server.url).port);
  const statuses: Record<string, number> = {};
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: BATCH, maxLength: BATCH }), async (requests) => {
      const answers = await Promise.all(requests.map((text) => exchange(port, text)));
      for (const [i, answer] of answers.entries()) {
        const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? "none";
        statuses[status] = (statuses[status] ?? 0) + 1;
        expect(status < "500" || status === "none", `${requests[i]}\n${answer.slice(0, 500)}`).toBe(true);
        expect(answer).not.toMatch(/\n\s+at .*\.(?:ts|js):\d+/);
      }
    }),
    { numRuns: COUNT / BATCH, endOnFailure: true },
  );
  process.stdout.write(`${JSON.stringify(statuses)}, ${Math.round(process.memoryUsage().rss / 1e6)} MB\n`);
  expect(faults).toEqual([]);
  expect((await ask(`${server.url}/cabinet/2014id_/http://cabinet.example/`)).status).toBe(200);
});
