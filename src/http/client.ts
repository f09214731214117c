/** Sends requests and hands out the answers exactly as they come over the wire. HTTP/1.1 only, over TCP or TLS. */
import { createSecureContext } from "node:tls";
import { ArchiveError, type Clock, systemClock } from "../base/index.ts";
import type { HttpHead } from "../warc/index.ts";
import { AbortListeners } from "./abort-listeners.ts";
import type { AddressGuard } from "./address-guard.ts";
import { Connection, type JobEnd } from "./connection.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { DeadlineWatch, within } from "./deadline-watch.ts";
import type { Answer, ExchangeResult, Failure } from "./exchange.ts";
import { FAILURES, type Trouble, trouble } from "./failures.ts";
import { type ExchangeLimits, LIMITS_DEFAULT } from "./limits.ts";
import { MessageFramer, type MessageSink } from "./message-framer.ts";
import { encodeRequest, type HttpRequest, isRepeatable } from "./request.ts";
import { type OpenedSocket, type OpeningDeadlines, SocketOpening, type TlsTerms } from "./socket-opening.ts";

export interface HttpClientOptions {
  readonly guard: AddressGuard;
  /** What differs from `LIMITS_DEFAULT`. */
  readonly limits?: Partial<ExchangeLimits> | undefined;
  /** Takes any certificate, and names what is wrong with it as a flaw; TLS 1.0 and 1.1 and old ciphers too. */
  readonly insecure?: boolean | undefined;
  /** Authorities to trust instead of the usual ones, as PEM. */
  readonly ca?: string | undefined;
  /** How long a connection without a request is kept; default 15 s. */
  readonly keepAliveMs?: number | undefined;
  /** How many connections without a request are kept; default 256. With 0 each exchange has one of its own. */
  readonly idleCountMax?: number | undefined;
  readonly clock?: Clock | undefined;
}

export interface ExchangeOptions {
  /** Ends the exchange with HT_INTERRUPTED. */
  readonly signal?: AbortSignal | undefined;
  /** For this exchange alone. */
  readonly limits?: Partial<ExchangeLimits> | undefined;
}

const KEEP_ALIVE_MS = 15_000;
const IDLE_COUNT_MAX = 256;
/** Addresses of a host that are tried, one after the other. */
const ADDRESS_TRIES_MAX = 4;

/** One exchange under way. */
interface Task {
  readonly url: URL;
  readonly method: string;
  readonly request: Buffer;
  readonly sink: MessageSink;
  readonly limits: ExchangeLimits;
  readonly signal: AbortSignal | undefined;
  readonly startMs: number;
  /** On the clock of `performance.now()`. */
  readonly deadlineMs: number;
}

export class HttpClient {
  private readonly options: HttpClientOptions;
  private readonly limits: ExchangeLimits;
  private readonly clock: Clock;
  private readonly watch = new DeadlineWatch();
  private readonly pool: ConnectionPool;
  private readonly openings = new Set<SocketOpening>();
  private readonly connections = new Set<Connection>();
  private readonly listeners = new AbortListeners();
  private tls: TlsTerms | undefined;

  constructor(options: HttpClientOptions) {
    this.options = options;
    this.limits = { ...LIMITS_DEFAULT, ...options.limits };
    this.clock = options.clock ?? systemClock;
    this.pool = new ConnectionPool(options.keepAliveMs ?? KEEP_ALIVE_MS, options.idleCountMax ?? IDLE_COUNT_MAX);
  }

  /**
   * Sends a request and reads the answer into the sink. Whatever server and network do is a result. Rejects with what the
   * sink threw, with HT_INTERRUPTED where `signal` was aborted, and with HT_USAGE for a request that is none. Redirects
   * are answers like any other.
   */
  async exchange(request: HttpRequest, sink: MessageSink, options: ExchangeOptions = {}): Promise<ExchangeResult> {
    const { method = "GET" } = request;
    const startMs = this.clock.now();
    const url = parseUrl(request.url);
    if (url === undefined) return this.failure({ url: String(request.url), method, startMs }, trouble("url"));
    const limits = options.limits === undefined ? this.limits : { ...this.limits, ...options.limits };
    const task: Task = {
      url,
      method,
      request: encodeRequest({ ...request, url }),
      sink,
      limits,
      signal: options.signal,
      startMs,
      deadlineMs: performance.now() + limits.exchangeTimeoutMs,
    };
    checkAborted(task.signal);
    const kept = this.pool.take(url.origin);
    if (kept !== undefined) {
      const result = await this.attempt(kept, task, true);
      if (result !== "stale") return result;
      if (!isRepeatable(method)) return this.failure(task, trouble("no-answer"), kept.remoteAddress);
      // What was kept beside it is as old, mostly.
      this.pool.drop(url.origin);
    }
    const connection = await this.connect(task);
    if (!(connection instanceof Connection)) return this.failure(task, connection);
    const result = await this.attempt(connection, task, false);
    return result === "stale" ? this.failure(task, trouble("no-answer"), connection.remoteAddress) : result;
  }

  /** Closes all connections; what is under way ends as if the server had closed them. */
  close(): void {
    this.pool.drop();
    for (const opening of this.openings) opening.destroy();
    for (const connection of this.connections) connection.destroy();
  }

  private async attempt(connection: Connection, task: Task, isReused: boolean): Promise<ExchangeResult | "stale"> {
    const { method, sink, limits, signal, request, deadlineMs } = task;
    const { bodySizeMax, interimCountMax } = limits;
    const framer = new MessageFramer({ method, sink, bodySizeMax, interimCountMax });
    if (connection.fault !== undefined) framer.flaws.push(connection.fault);
    let firstByteMs = 0;
    const onFirstByte = () => {
      firstByteMs = this.clock.now();
    };
    const abort = () => connection.abort(signal?.reason);
    this.listeners.add(signal, abort);
    let end: JobEnd;
    const { remoteAddress, tlsVersion } = connection;
    try {
      end = await connection.run({ request, framer, limits, deadlineMs, onFirstByte });
    } finally {
      this.listeners.delete(signal, abort);
    }
    if (end === "stale") return end;
    if (end !== "answered") return this.failure(task, end, remoteAddress);
    const answer: Answer = {
      kind: "answer",
      url: task.url.href,
      method,
      request,
      startMs: task.startMs,
      firstByteMs,
      endMs: this.clock.now(),
      remoteAddress,
      protocols: protocolsOf(framer.head, tlsVersion),
      head: framer.head,
      rawSize: framer.rawSize,
      entitySize: framer.entitySize,
      framing: framer.framing,
      end: framer.end!,
      flaws: framer.flaws,
      interimCount: framer.interimCount,
      isReused,
    };
    return answer;
  }

  /** A new connection to an address that the guard permits. */
  private async connect(task: Task): Promise<Connection | Trouble> {
    const { url, limits, signal, deadlineMs } = task;
    const { guard } = this.options;
    const leftMs = Math.max(0, Math.min(limits.resolveTimeoutMs, deadlineMs - performance.now()));
    const addresses = await within(guard.resolve(url.hostname), leftMs, trouble("dns-timeout", url.hostname));
    checkAborted(signal);
    if ("code" in addresses) return addresses;
    const tries = addresses.slice(0, ADDRESS_TRIES_MAX);
    const connectMs = performance.now() + limits.connectTimeoutMs;
    let why = trouble("connect-failed");
    for (const [i, address] of tries.entries()) {
      const nowMs = performance.now();
      if (nowMs >= Math.min(connectMs, deadlineMs)) return trouble("connect-timeout");
      // Each address has its share of the time that is left.
      const shareMs = nowMs + (connectMs - nowMs) / (tries.length - i);
      const opened = await this.open(task, address, { connectMs: shareMs, exchangeMs: deadlineMs });
      if ("code" in opened) why = opened;
      else if (guard.permits(opened.remoteAddress)) return this.take(url.origin, opened);
      else {
        opened.socket.destroy();
        why = trouble("address-refused", opened.remoteAddress);
      }
    }
    return why;
  }

  private async open(task: Task, address: string, deadlines: OpeningDeadlines): Promise<OpenedSocket | Trouble> {
    const { url, limits, signal } = task;
    const isSecure = url.protocol === "https:";
    const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port);
    const tls = isSecure ? (this.tls ??= tlsTerms(this.options)) : undefined;
    const opening = new SocketOpening({ hostname: url.hostname, port, address, tls }, limits, deadlines, this.watch);
    const abort = () => opening.destroy();
    this.openings.add(opening);
    this.listeners.add(signal, abort);
    const end = await opening.end;
    this.openings.delete(opening);
    this.listeners.delete(signal, abort);
    if (signal?.aborted === true) opening.destroy();
    checkAborted(signal);
    return end;
  }

  private take(origin: string, opened: OpenedSocket): Connection {
    const connection = new Connection(opened, this.watch, {
      onIdle: (idle) => this.pool.keep(origin, idle),
      onClose: (closed) => {
        this.connections.delete(closed);
        this.pool.forget(origin, closed);
      },
    });
    this.connections.add(connection);
    return connection;
  }

  private failure(
    task: Pick<Task, "method" | "startMs"> & { readonly url: URL | string; readonly request?: Buffer },
    { code, message }: Trouble,
    remoteAddress?: string,
  ): Failure {
    const { method, startMs, url, request = Buffer.alloc(0) } = task;
    const { status } = FAILURES[code];
    const endMs = this.clock.now();
    return { kind: "failure", url: String(url), method, request, startMs, endMs, remoteAddress, code, status, message };
  }
}

function tlsTerms({ insecure = false, ca }: HttpClientOptions): TlsTerms {
  const old = insecure ? { minVersion: "TLSv1" as const, ciphers: "DEFAULT@SECLEVEL=0" } : {};
  return { secureContext: createSecureContext({ ...old, ca }), rejectUnauthorized: !insecure };
}

function parseUrl(text: string | URL): URL | undefined {
  try {
    const url = typeof text === "string" ? new URL(text) : text;
    return (url.protocol === "http:" || url.protocol === "https:") && url.hostname !== "" ? url : undefined;
  } catch {
    return undefined;
  }
}

/** By the names of WARC-Protocol: `http/1.1`, `tls/1.3`. */
function protocolsOf(head: HttpHead | undefined, tlsVersion: string | undefined): string[] {
  const version = /^HTTP\/(1\.[01])\s/.exec(head?.startLine ?? "")?.[1];
  const http = version === undefined ? (head?.status === undefined ? "http/0.9" : "http/1.1") : `http/${version}`;
  if (tlsVersion === undefined) return [http];
  // Node says `TLSv1` for the first of them.
  return [http, tlsVersion === "TLSv1" ? "tls/1.0" : tlsVersion.toLowerCase().replace("v", "/")];
}

function checkAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) {
    throw new ArchiveError("HT_INTERRUPTED", "the exchange was aborted", {}, signal.reason);
  }
}
