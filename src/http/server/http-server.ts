/**
 * Brings the answers of a handler to the wire, within limits: who may ask, how long it may take, what is counted and
 * logged, and how it ends. `/health` and `/metrics` are its own; all other targets are the handler's.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ArchiveError, type Clock, systemClock } from "../../base/index.ts";
import type { FleetMember } from "./fleet-member.ts";
import { checkReach, Gate } from "./gate.ts";
import { type CommonHeaders, HttpExchange } from "./http-exchange.ts";
import { IdleSignal } from "./idle-signal.ts";
import { HTTP_SERVER_LIMITS_DEFAULT, type HttpServerLimits } from "./limits.ts";
import { Listener, type TlsOptions } from "./listener.ts";
import { Log, type LogSink } from "./log.ts";
import type { ErrorFormatter, Handler, ServerAnswer } from "./message.ts";
import { METRICS_TYPE, type Measure, Metrics, type MetricsSnapshot, serverGauges } from "./metrics.ts";
import { BodyMemory } from "./request-body.ts";
import { formatJsonError, isServerFault, toToldError } from "./told-error.ts";

export interface HttpServerOptions {
  /** Default: 127.0.0.1. Any other than this machine's own asks for a token, or for `open`. */
  readonly host?: string;
  /** Default: any that is free. */
  readonly port?: number;
  /** Asked for with every request but `/health`: as a bearer token, or as the password of Basic authentication. */
  readonly token?: string | undefined;
  /** Everybody who can reach the server may ask, and under any host name. */
  readonly open?: boolean;
  /** Host names beside those of this machine that requests may call it by: that of the base URL, without port. */
  readonly hosts?: readonly string[];
  /** Lets scripts of all web pages read the answers. */
  readonly cors?: boolean;
  /** Pages of other origins may show and load what it answers. For content that says itself who may frame it. */
  readonly embedded?: boolean;
  readonly tls?: TlsOptions | undefined;
  readonly limits?: Partial<HttpServerLimits>;
  /** Default: JSON, `{"error":{"code","message"}}`. */
  readonly formatError?: ErrorFormatter;
  readonly onLog?: LogSink | undefined;
  /** Logs every request; otherwise only those that the server or the network failed. */
  readonly logRequests?: boolean;
  /** What `/metrics` shows beside what the server counts. */
  readonly measures?: () => readonly Measure[];
  /** The process of a fleet that this server runs in: its metrics are those of all of them. */
  readonly fleet?: FleetMember | undefined;
  readonly clock?: Clock;
}

/** Requests that one connection may send ahead; one that sends more is disconnected. */
const PIPELINED_MAX = 100;
const TARGET_LENGTH_MAX = 500;
const SWEEP_MS_MAX = 1000;

/** A browser asks before it lets a script send other headers than the usual ones (`Accept-Datetime`). */
const PREFLIGHT: CommonHeaders = [
  ["Access-Control-Allow-Methods", "*"],
  ["Access-Control-Allow-Headers", "*, Authorization"],
  ["Access-Control-Max-Age", "86400"],
];

/** Opens the server; resolves when it answers. Throws HT_USAGE where others could reach it without a token. */
export async function serveHttp(handler: Handler, options: HttpServerOptions = {}): Promise<HttpServer> {
  const { host = "127.0.0.1", port = 0 } = options;
  if (options.open !== true) checkReach(host, options.token);
  const server = new HttpServer(handler, options);
  await server.listen(host, port);
  return server;
}

export class HttpServer implements AsyncDisposable {
  private readonly handler: Handler;
  private readonly options: HttpServerOptions;
  private readonly limits: HttpServerLimits;
  private readonly gate: Gate;
  private readonly common: CommonHeaders;
  private readonly log: Log;
  private readonly metrics = new Metrics();
  private readonly memory: BodyMemory;
  private readonly underWay = new Set<HttpExchange>();
  /** Requests that came on a connection before the one ahead was answered. */
  private readonly waiting = new Map<Socket, HttpExchange[]>();
  private readonly idle = new IdleSignal(() => this.underWay.size === 0);
  private readonly listener: Listener<HttpExchange>;
  private readonly sweep: NodeJS.Timeout;
  private isDraining = false;
  private closing: Promise<void> | undefined;

  constructor(handler: Handler, options: HttpServerOptions) {
    const { token, hosts = [], open = false, cors = false, embedded = false } = options;
    this.handler = handler;
    this.options = options;
    this.limits = { ...HTTP_SERVER_LIMITS_DEFAULT, ...options.limits };
    const pages = open || cors || embedded ? "any" : "own";
    this.gate = new Gate({ token, asPassword: true, hosts, isOpen: open, pages });
    this.common = commonHeaders(open || embedded, cors);
    this.log = new Log(options.clock ?? systemClock, options.onLog, options.logRequests ?? false);
    this.memory = new BodyMemory(this.limits.bodySizeMaxBytes, this.limits.heldSizeMaxBytes);
    this.listener = new Listener({
      limits: this.limits,
      tls: options.tls,
      underWay: this.underWay,
      take: (request, response) => this.take(request, response),
      leave: (exchange) => this.finish(exchange),
    });
    const sweepMs = Math.min(SWEEP_MS_MAX, this.limits.answerTimeoutMs / 4);
    this.sweep = setInterval(() => this.judgeAnswers(), sweepMs).unref();
  }

  /** As others may call it: `http://127.0.0.1:8080`. */
  get url(): string {
    return this.listener.url;
  }

  async listen(host: string, port: number): Promise<void> {
    await this.listener.listen(host, port);
    this.log.tell("info", "ready", { url: this.url });
    this.options.fleet?.join(this.url, () => this.snapshot());
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    const exchange = new HttpExchange(request, response, this.memory);
    this.underWay.add(exchange);
    response.on("close", () => this.finish(exchange));
    const ahead = this.waiting.get(exchange.socket);
    if (ahead === undefined) {
      this.waiting.set(exchange.socket, []);
      void this.answer(exchange);
    } else if (ahead.length < PIPELINED_MAX) ahead.push(exchange);
    else exchange.socket.destroy();
  }

  private async answer(exchange: HttpExchange): Promise<void> {
    exchange.waitForServer();
    try {
      await exchange.send(await this.ask(exchange), this.common);
    } catch (error) {
      await this.fail(exchange, error);
    }
  }

  private ask(exchange: HttpExchange): ServerAnswer | Promise<ServerAnswer> {
    const { target, headers, method } = exchange;
    const isRead = method === "GET" || method === "HEAD";
    if (isRead && target === "/health") {
      exchange.route = "health";
      return this.health();
    }
    if (this.options.cors === true && method === "OPTIONS") return { status: 204, headers: PREFLIGHT };
    if (this.isDraining) throw new ArchiveError("HT_BUSY", "the server is going down");
    if (this.listener.isRefused(exchange.socket)) throw new ArchiveError("HT_BUSY", "too many connections");
    this.gate.check(headers);
    if (!isRead || target !== "/metrics") return this.handler(exchange);
    exchange.route = "metrics";
    return this.formatMetrics();
  }

  private snapshot(): MetricsSnapshot {
    return this.metrics.snapshot(this.listener.connections.count, this.underWay.size);
  }

  private async formatMetrics(): Promise<ServerAnswer> {
    const all = (await this.options.fleet?.gather()) ?? [this.snapshot()];
    const sum = new Metrics();
    for (const each of all) sum.add(each);
    const total = (of: (each: MetricsSnapshot) => number) => all.reduce((count, each) => count + of(each), 0);
    const connections = total((each) => each.connections);
    const underWay = total((each) => each.underWay);
    const gauges = serverGauges(connections, underWay, this.isDraining);
    const body = sum.format([...gauges, ...(this.options.measures?.() ?? [])]);
    return { status: 200, headers: [["Content-Type", METRICS_TYPE]], body };
  }

  /** For whoever decides whether to send requests here: 503 while the server goes down. */
  private health(): ServerAnswer {
    const headers = [["Content-Type", "application/json"] as const, ["Cache-Control", "no-store"] as const];
    if (!this.isDraining) return { status: 200, headers, body: '{"status":"ready"}' };
    return { status: 503, headers: [...headers, ["Connection", "close"]], body: '{"status":"draining"}' };
  }

  private async fail(exchange: HttpExchange, error: unknown): Promise<void> {
    if (exchange.isEnded) return;
    exchange.failure ??= error;
    if (exchange.isTooLate) return exchange.cut();
    const { formatError = formatJsonError, token } = this.options;
    const told = toToldError(error);
    const isForbidden = told.code === "HT_FORBIDDEN";
    // 401 asks for credentials; where none would help it is 403.
    const status = isForbidden && token === undefined ? 403 : told.status;
    try {
      const answer = formatError({ ...told, status }, exchange);
      const headers = [...answer.headers];
      if (status === 401) headers.push(["WWW-Authenticate", this.gate.challenge]);
      if (told.code === "HT_BUSY") headers.push(["Retry-After", "1"], ["Connection", "close"]);
      await exchange.send({ ...answer, headers }, this.common);
    } catch (cause) {
      exchange.failure = cause;
      exchange.cut();
    }
  }

  /** A handler that takes too long is told so, and its client gets an answer, or the end of the one that has begun. */
  private judgeAnswers(): void {
    const latestMs = performance.now() - this.limits.answerTimeoutMs;
    for (const exchange of this.underWay) {
      if (!exchange.isWithServer || exchange.waitingSinceMs > latestMs) continue;
      const error = new ArchiveError("HT_BUSY", `no answer within ${this.limits.answerTimeoutMs} ms`);
      exchange.abort();
      void this.fail(exchange, error);
    }
  }

  private finish(exchange: HttpExchange): void {
    if (!this.underWay.delete(exchange)) return;
    exchange.leave();
    const { metrics } = this;
    metrics.bytesIn += exchange.bytesIn;
    metrics.bytesOut += exchange.bytesOut;
    const seconds = (performance.now() - exchange.startedMs) / 1000;
    metrics.observe(exchange.route ?? "other", exchange.isWhole ? String(exchange.status) : "cut", seconds);
    this.tell(exchange, seconds);
    this.goOn(exchange.socket);
    this.idle.tell();
  }

  private goOn(socket: Socket): void {
    const next = socket.destroyed ? undefined : this.waiting.get(socket)?.shift();
    if (next !== undefined) void this.answer(next);
    else this.waiting.delete(socket);
  }

  private tell(exchange: HttpExchange, seconds: number): void {
    const { failure, isWhole, headers } = exchange;
    const isFault = isServerFault(failure);
    if (!this.log.everyRequest && !isFault && isWhole) return;
    const isBug = failure !== undefined && !(failure instanceof ArchiveError);
    this.log.tell(isFault ? "error" : isWhole ? "info" : "warning", "request", {
      method: exchange.method,
      target: exchange.target.slice(0, TARGET_LENGTH_MAX),
      route: exchange.route,
      status: exchange.status,
      cut: isWhole ? undefined : true,
      bytes: exchange.bytesOut,
      ms: Math.round(seconds * 1e6) / 1000,
      peer: exchange.socket.remoteAddress,
      forwardedFor: String(headers["x-forwarded-for"] ?? "").slice(0, TARGET_LENGTH_MAX) || undefined,
      message: failure instanceof Error ? failure.message : undefined,
      stack: isBug && failure instanceof Error ? failure.stack : undefined,
    });
  }

  /** Refuses what comes, and finishes what is under way for as long as the limit allows. */
  close(): Promise<void> {
    this.closing ??= this.drain();
    return this.closing;
  }

  private async drain(): Promise<void> {
    this.isDraining = true;
    this.log.tell("info", "draining", { underWay: this.underWay.size });
    await this.idle.wait(this.limits.drainTimeoutMs);
    const left = this.underWay.size;
    clearInterval(this.sweep);
    await this.listener.close();
    this.options.fleet?.leave();
    this.log.tell(left > 0 ? "warning" : "info", "closed", { cutOff: left });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Unless an answer says otherwise, a browser must not guess its type, nor hand it to pages of other sites. */
function commonHeaders(open: boolean, cors: boolean): CommonHeaders {
  const nosniff = ["X-Content-Type-Options", "nosniff"] as const;
  if (cors) return [nosniff, ["Access-Control-Allow-Origin", "*"], ["Access-Control-Expose-Headers", "*"]];
  if (open) return [nosniff];
  return [nosniff, ["Cross-Origin-Resource-Policy", "same-origin"], ["X-Frame-Options", "SAMEORIGIN"]];
}
