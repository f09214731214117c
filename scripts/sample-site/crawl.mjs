/**
 * A crawler of one host for the sample: asks over a bare socket, so that request and response are kept as they
 * travelled, and follows what the answers link to. One request at a time, in an order that never varies.
 */
import { connect } from "node:net";
import { gunzipSync } from "node:zlib";

const TIMEOUT_MS = 10_000;

/** The exact bytes of one exchange: { request, response }. */
export function exchange(port, host, path) {
  const request = Buffer.from(
    [
      `GET ${path} HTTP/1.1`,
      `Host: ${host}`,
      "User-Agent: holotype-sample/1.0",
      "Accept: */*",
      "Accept-Encoding: gzip",
      "Connection: close",
      "",
      "",
    ].join("\r\n"),
    "latin1",
  );
  return new Promise((resolve, reject) => {
    const parts = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`no answer for ${path}`)));
    socket.on("data", (part) => parts.push(part));
    socket.on("error", reject);
    socket.on("end", () => resolve({ request, response: Buffer.concat(parts) }));
  });
}

/** Status, fields by lower-case name, and the payload: the body without its transfer coding. Throws if cut short. */
export function parseResponse(response) {
  const end = response.indexOf("\r\n\r\n");
  if (end < 0) throw new Error("response without an end of header");
  const [statusLine, ...lines] = response.toString("latin1", 0, end).split("\r\n");
  const fields = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const body = response.subarray(end + 4);
  const payload = fields.get("transfer-encoding") === "chunked" ? unchunk(body) : body;
  const length = fields.get("content-length");
  if (length !== undefined && payload.length !== Number(length)) throw new Error("response cut short");
  return { status: Number(statusLine.split(" ")[1]), fields, payload };
}

function unchunk(body) {
  const parts = [];
  for (let at = 0; ; ) {
    const end = body.indexOf("\r\n", at);
    const size = end < 0 ? Number.NaN : Number.parseInt(body.toString("latin1", at, end), 16);
    if (Number.isNaN(size) || end + 2 + size + 2 > body.length) throw new Error("chunked response cut short");
    if (size === 0) return Buffer.concat(parts);
    parts.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

const LINKS = [/\b(?:href|src|data-drawers)="([^"]*)"/g, /\burl\(["']?([^"')]+)["']?\)/g];

/** The paths on the same host that a response links to, each once, in order of appearance. */
export function linksOf({ fields, payload }, base) {
  const type = fields.get("content-type") ?? "";
  const found = new Set();
  const add = (link) => {
    const url = new URL(link.replaceAll("&amp;", "&"), base);
    if (url.host === base.host && url.protocol === base.protocol) found.add(url.pathname + url.search);
  };
  if (fields.has("location")) add(fields.get("location"));
  if (/html|css/.test(type)) {
    const text = (fields.get("content-encoding") === "gzip" ? gunzipSync(payload) : payload).toString("utf8");
    for (const pattern of LINKS) for (const [, link] of text.matchAll(pattern)) add(link);
  }
  return [...found];
}

/**
 * Crawls from the given paths. `known` are paths of earlier crawls, asked for at the end even where nothing links to
 * them any more. Yields { path, url, via, links, request, response, status, payload } one by one.
 */
export async function* crawl(port, host, seeds, known) {
  const queue = seeds.map((path) => ({ path, via: undefined }));
  const seen = new Set(seeds);
  let rest = known;
  for (;;) {
    const next = queue.shift();
    if (next === undefined) {
      const missed = rest.filter((path) => !seen.has(path));
      rest = [];
      if (missed.length === 0) return;
      for (const path of missed) {
        seen.add(path);
        queue.push({ path, via: undefined });
      }
      continue;
    }
    const url = new URL(next.path, `http://${host}`);
    const wire = await exchange(port, host, next.path);
    const parsed = parseResponse(wire.response);
    const links = linksOf(parsed, url);
    for (const path of links) {
      if (seen.has(path)) continue;
      seen.add(path);
      queue.push({ path, via: url.href });
    }
    yield {
      path: next.path,
      url: url.href,
      via: next.via,
      links,
      ...wire,
      status: parsed.status,
      payload: parsed.payload,
    };
  }
}
