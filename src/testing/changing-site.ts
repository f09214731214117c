/**
 * A small site with a known history, for tests of crawls: every document in two states, with headers that are right, wrong
 * or missing. What must come of it is told beside each document.
 */
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Validity = "right" | "stale" | "eager" | "none";

interface Kind {
  readonly name: string;
  readonly mime: string;
  readonly size: number;
  /** Its content is another one in the second state. */
  readonly changes?: boolean;
  readonly lastModified: Validity;
  readonly etag: Validity;
  /** Sent in chunks: always, or in the second state only. */
  readonly chunked?: boolean | "later";
  /** Has the bytes of the kind of that name. */
  readonly like?: string;
}

const KINDS: readonly Kind[] = [
  { name: "same", mime: "image/png", size: 3000, lastModified: "right", etag: "right" },
  { name: "changed", mime: "image/png", size: 3100, changes: true, lastModified: "right", etag: "right" },
  { name: "eager", mime: "image/gif", size: 2000, lastModified: "eager", etag: "eager" },
  { name: "stale", mime: "image/gif", size: 2100, changes: true, lastModified: "stale", etag: "stale" },
  { name: "etag-only", mime: "application/pdf", size: 5000, lastModified: "none", etag: "right" },
  { name: "date-only", mime: "application/pdf", size: 5100, lastModified: "right", etag: "none" },
  { name: "bare", mime: "text/html", size: 4000, lastModified: "none", etag: "none" },
  { name: "bare-changed", mime: "text/html", size: 4100, changes: true, lastModified: "none", etag: "none" },
  { name: "chunked", mime: "application/json", size: 6000, lastModified: "none", etag: "none", chunked: true },
  { name: "recut", mime: "text/css", size: 2200, lastModified: "none", etag: "none", chunked: "later" },
  { name: "mirror", mime: "image/png", size: 3000, lastModified: "right", etag: "right", like: "same" },
  /** More than is kept in memory. */
  { name: "large", mime: "video/mp4", size: 300_000, lastModified: "none", etag: "none" },
];

const COUNT_EACH = 3;
const FIRST_MS = Date.UTC(2026, 0, 1);
const SECOND_MS = Date.UTC(2026, 5, 1);

export interface SiteDocument {
  readonly path: string;
  readonly kind: Kind;
  readonly number: number;
}

export const SITE_DOCUMENTS: readonly SiteDocument[] = KINDS.flatMap((kind) =>
  Array.from({ length: kind.name === "large" ? 1 : COUNT_EACH }, (_, number) => ({
    path: `/${kind.name}/${number}`,
    kind,
    number,
  })),
);

/** Documents that one may ask for on a condition, and those of them for which the server answers that nothing changed. */
export function expectedAnswers(scheme: "etag" | "datestamp" | "both" | "either") {
  const has = ({ kind }: SiteDocument, name: "etag" | "lastModified") => kind[name] !== "none";
  const holds = (validity: Validity, changes = false) =>
    validity === "stale" || (validity === "right" && !changes) ? "same" : validity === "none" ? "none" : "other";
  const validators = ({ kind }: SiteDocument) => ({
    etag: scheme === "datestamp" ? "none" : holds(kind.etag, kind.changes),
    date: scheme === "etag" ? "none" : holds(kind.lastModified, kind.changes),
  });
  const asked = SITE_DOCUMENTS.filter(
    (each) => (scheme !== "datestamp" && has(each, "etag")) || (scheme !== "etag" && has(each, "lastModified")),
  );
  const unchanged = asked.filter((each) => {
    const { etag, date } = validators(each);
    return etag === "none" ? date === "same" : etag === "same";
  });
  return { asked: asked.map(({ path }) => path), unchanged: unchanged.map(({ path }) => path) };
}

export function bodyOf({ kind, number }: SiteDocument, state: number): Buffer {
  const version = kind.changes === true ? state : 1;
  const body = Buffer.alloc(kind.size);
  let block = createHash("sha256")
    .update(`${kind.like ?? kind.name} ${number} ${version}`)
    .digest();
  for (let at = 0; at < body.length; at += block.length) {
    block = createHash("sha256").update(block).digest();
    block.copy(body, at);
  }
  return body;
}

/** Documents of `/many/`: half of them are like one that has another number. */
function manyBody(number: number): Buffer {
  const line = `document ${number % 2 === 0 ? number : Math.floor(number / 20)}\n`;
  return Buffer.from(line.repeat(20 + (number % 7) * 30).slice(0, 300 + (number % 2 === 0 ? number * 5 : 0)));
}

function headersOf({ kind, number }: SiteDocument, state: number): Record<string, string> {
  const version = kind.changes === true ? state : 1;
  const stateOf = { right: version, stale: 1, eager: state, none: 0 } as const;
  const date = new Date(stateOf[kind.lastModified] === 2 ? SECOND_MS : FIRST_MS).toUTCString();
  return {
    "Content-Type": kind.mime,
    ...(kind.lastModified === "none" ? {} : { "Last-Modified": date }),
    ...(kind.etag === "none" ? {} : { ETag: `"${kind.name}-${number}-${stateOf[kind.etag]}"` }),
  };
}

function isUnchanged({ headers }: IncomingMessage, own: Record<string, string>): boolean {
  const { "if-none-match": match, "if-modified-since": since } = headers;
  if (match !== undefined && own["ETag"] !== undefined) return match === own["ETag"];
  const date = own["Last-Modified"];
  return since !== undefined && date !== undefined && Date.parse(date) <= Date.parse(since);
}

export class ChangingSite implements AsyncDisposable {
  state = 1;
  /** Each answer waits so long. */
  delayMs = 0;
  /** Paths that were asked for, in order. */
  readonly asked: string[] = [];
  /** The same as URLs, with the host that was named. */
  readonly askedUrls: string[] = [];
  private readonly server: Server;

  /** On the loopback address, at a port that is free, or at this one. */
  static async start(port = 0): Promise<ChangingSite> {
    const site = new ChangingSite();
    await new Promise<void>((resolve) => site.server.listen(port, "127.0.0.1", resolve));
    return site;
  }

  private constructor() {
    this.server = createServer((request, response) => {
      if (this.delayMs === 0) this.answer(request, response);
      else setTimeout(() => this.answer(request, response), this.delayMs);
    });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  url(path: string, host = "127.0.0.1"): string {
    return `http://${host}:${this.port}${path}`;
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "";
    this.asked.push(path);
    this.askedUrls.push(`http://${request.headers.host}${path}`);
    const send = (status: number, headers: Record<string, string>, body: string | Buffer = "") => {
      response.writeHead(status, { ...headers, "Content-Length": String(body.length) });
      response.end(body);
    };
    const number = /^\/many\/(\d+)$/.exec(path)?.[1];
    if (number !== undefined) return send(200, { "Content-Type": "text/plain" }, manyBody(Number(number)));
    if (path === "/moved") return send(301, { Location: "/same/0#part" }, "moved\n");
    if (path === "/chain/0") return send(302, { Location: "/bare/0" });
    const step = /^\/chain\/(\d+)$/.exec(path)?.[1];
    if (step !== undefined) return send(302, { Location: `/chain/${Number(step) - 1}` });
    if (path === "/loop") return send(302, { Location: "/loop" });
    if (path === "/away") return send(302, { Location: "http://10.0.0.1/secret" });
    if (path === "/empty") return send(200, { "Content-Type": "text/plain" });
    if (path === "/unasked") {
      response.writeHead(304, { ETag: '"nobody asked"' });
      return void response.end();
    }
    const document = SITE_DOCUMENTS.find((each) => each.path === path);
    if (document === undefined) return send(404, { "Content-Type": "text/html" }, `nothing at ${path}\n`);
    const headers = headersOf(document, this.state);
    if (isUnchanged(request, headers)) {
      delete headers["Content-Type"];
      response.writeHead(304, headers);
      return void response.end();
    }
    const body = bodyOf(document, this.state);
    const { chunked } = document.kind;
    if (chunked !== true && (chunked !== "later" || this.state === 1)) return send(200, headers, body);
    response.writeHead(200, headers);
    for (let at = 0; at < body.length; at += 1000) response.write(body.subarray(at, at + 1000));
    response.end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
