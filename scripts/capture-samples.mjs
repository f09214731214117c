/**
 * Makes the bundled sample again: serves each state of the sample site on the loopback address, crawls it, and writes
 * `samples/cabinet-YYYY.warc.gz`. Nothing in the files depends on when or where this runs. A file appears under its
 * name only when it is complete.
 *
 *   npm run samples
 */
import { createHash } from "node:crypto";
import { mkdir, stat } from "node:fs/promises";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { crawl } from "./sample-site/crawl.mjs";
import { serveState } from "./sample-site/server.mjs";
import { HOST, MISSING_PATH, STATES } from "./sample-site/site.mjs";
import { writeWarc } from "./sample-site/warc-file.mjs";

const SECONDS_PER_CAPTURE = 2;
const SEEDS = ["/robots.txt", "/", "/favicon.ico", MISSING_PATH];
const folder = argv[2] ?? fileURLToPath(new URL("../samples", import.meta.url));

/** A record id that is the same whenever the same thing is captured: a UUID made from a SHA-1, as version 5 is. */
function recordId(state, type, url) {
  const bytes = createHash("sha1").update(`holotype sample ${state.name} ${type} ${url}`).digest().subarray(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | 0x50;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `<urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}>`;
}

const fieldLines = (pairs) => Buffer.from(pairs.map(([name, value]) => `${name}: ${value}\r\n`).join(""));

/**
 * The records of one state in file order, as { type, fields, block, payload }. `known` is the set of paths seen in
 * earlier crawls; it is asked for again, and grows by what this crawl finds.
 */
async function* recordsOf(state, filename, known) {
  const start = Date.parse(state.capturedAt);
  const dateOf = (count) => new Date(start + count * SECONDS_PER_CAPTURE * 1000).toISOString().replace(".000Z", "Z");
  const infoId = recordId(state, "warcinfo", filename);
  yield {
    type: "warcinfo",
    fields: [
      ["WARC-Record-ID", infoId],
      ["WARC-Date", dateOf(0)],
      ["WARC-Filename", filename],
      ["Content-Type", "application/warc-fields"],
    ],
    block: fieldLines([
      ["software", "Holotype, scripts/capture-samples.mjs"],
      ["format", "WARC File Format 1.1"],
      ["conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"],
      ["description", `The sample site ${HOST} in its state of ${state.name}`],
    ]),
  };
  const { port, close } = await serveState(state);
  try {
    let count = 0;
    for await (const capture of crawl(port, HOST, SEEDS, [...known])) {
      known.add(capture.path);
      const date = dateOf(++count);
      const responseId = recordId(state, "response", capture.url);
      const common = (type) => [
        ["WARC-Record-ID", type === "response" ? responseId : recordId(state, type, capture.url)],
        ["WARC-Date", date],
        ["WARC-Target-URI", capture.url],
        ["WARC-Warcinfo-ID", infoId],
        ...(type === "response" ? [] : [["WARC-Concurrent-To", responseId]]),
      ];
      yield {
        type: "response",
        fields: [
          ...common("response"),
          ["WARC-IP-Address", "127.0.0.1"],
          ["Content-Type", "application/http; msgtype=response"],
        ],
        block: capture.response,
        payload: capture.payload,
      };
      yield {
        type: "request",
        fields: [
          ...common("request"),
          ["WARC-IP-Address", "127.0.0.1"],
          ["Content-Type", "application/http; msgtype=request"],
        ],
        block: capture.request,
      };
      if (capture.path !== "/") continue;
      yield {
        type: "metadata",
        fields: [...common("metadata"), ["Content-Type", "application/warc-fields"]],
        block: fieldLines(capture.links.map((path) => ["outlink", new URL(path, capture.url).href])),
      };
    }
  } finally {
    await close();
  }
}

await mkdir(folder, { recursive: true });
const known = new Set();
let total = 0;
for (const state of STATES) {
  const filename = `cabinet-${state.name}.warc.gz`;
  const path = `${folder}/${filename}`;
  const count = await writeWarc(path, recordsOf(state, filename, known));
  const { size } = await stat(path);
  total += size;
  console.log(`${filename}  ${count} records  ${size} bytes`);
}
console.log(`${total} bytes in all`);
