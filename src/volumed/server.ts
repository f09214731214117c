/**
 * The volume server: HTTP around a volume, with its limits. The volume is the server's for as long as it runs, and is
 * closed with it.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import {
  ArchiveError,
  type Clock,
  ERROR_TABLE,
  type ErrorCode,
  type Random,
  systemClock,
  systemRandom,
} from "../base/index.ts";
import { RecordStamp, type Volume } from "../store/index.ts";
import { Connections, isSamePeer } from "./connections.ts";
import type { Exchange } from "./exchange.ts";
import { SERVER_LIMITS_DEFAULT, type ServerLimits } from "./limits.ts";
import { Log, type LogSink } from "./log.ts";
import { NodeExchange } from "./node-exchange.ts";
import { PlainPort } from "./plain-port.ts";
import { answer, answerPlainly, isOpenToAll } from "./routes.ts";
import { VolumeService } from "./service.ts";
import { Gate, isLoopback } from "./token.ts";

export interface VolumeServerOptions {
  /** Default: 127.0.0.1. Any other than this machine's own asks for a token. */
  readonly host?: string;
  /** Default: any that is free. */
  readonly port?: number;
  readonly token?: string | undefined;
  /** In PEM. */
  readonly tls?: { readonly cert: string | Uint8Array; readonly key: string | Uint8Array } | undefined;
  readonly limits?: Partial<ServerLimits>;
  readonly onLog?: LogSink | undefined;
  /** Tells every request; otherwise only those that the server or the network failed. */
  readonly logRequests?: boolean;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** Connections beyond the limit are told so; beyond these they are dropped. */
const REFUSED_CONNECTIONS_MAX = 64;

/** Opens the server; resolves when it answers. Throws HT_USAGE where others could reach it without a token. */
export async function serveVolume(volume: Volume, options: VolumeServerOptions = {}): Promise<VolumeServer> {
  const { host = "127.0.0.1", port = 0, clock = systemClock, random = systemRandom } = options;
  if (!isLoopback(host) && options.token === undefined) {
    throw new ArchiveError("HT_USAGE", `${host} can be reached by others, so the server needs a token`);
  }
  const gate = new Gate(options.token);
  const limits = { ...SERVER_LIMITS_DEFAULT, ...options.limits };
  const log = new Log(clock, options.onLog, options.logRequests ?? false);
  const { signature: algorithm } = await volume.describe();
  const stamp = new RecordStamp(clock, random);
  const service = new VolumeService({ volume, algorithm, limits, log, stamp, random });
  const server = new VolumeServer(service, gate, clock, options.tls);
  await server.listen(host, port);
  return server;
}

export class VolumeServer implements AsyncDisposable {
  private readonly service: VolumeService;
  private readonly gate: Gate;
  private readonly server: Server;
  private readonly scheme: "http" | "https";
  private readonly exchanges = new WeakMap<Socket, Exchange>();
  /** For connections without TLS. */
  private readonly plain: PlainPort | undefined;
  private readonly refused = new WeakSet<Socket>();
  private readonly connections = new Connections();
  private closing: Promise<void> | undefined;

  constructor(service: VolumeService, gate: Gate, clock: Clock, tls: VolumeServerOptions["tls"]) {
    this.service = service;
    this.gate = gate;
    this.scheme = tls === undefined ? "http" : "https";
    const { limits } = service;
    const options = {
      maxHeaderSize: limits.headerSizeMaxBytes,
      headersTimeout: limits.headerTimeoutMs,
      // A bulk stream may take as long as it likes, if only something happens.
      requestTimeout: 0,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.max(100, Math.min(1000, limits.headerTimeoutMs / 2)),
      noDelay: true,
    };
    this.server =
      tls === undefined
        ? createServer(options)
        : (createTlsServer({ ...options, ...securing(tls, limits) }) as unknown as Server);
    this.server.maxConnections = limits.connectionCountMax + REFUSED_CONNECTIONS_MAX;
    this.server.on("request", (request, response) => this.takeFromNode(request, response));
    // Requests come on the socket that has been made secure.
    this.server.prependListener(tls === undefined ? "connection" : "secureConnection", (socket: Socket) =>
      this.countConnection(socket),
    );
    // Before the other: one that never comes to its first request takes a place too.
    this.server.prependListener("connection", (socket: Socket) => {
      this.makeRoom();
      this.connections.add(socket);
    });
    this.server.on("drop", () => this.makeRoom());
    if (tls === undefined) {
      this.plain = new PlainPort(this.server, limits, clock, {
        take: (exchange, socket) => this.take(exchange, socket, answerPlainly),
        finish: (exchange) => this.finish(exchange),
        refuseLate: (socket) => refuse(socket, "HT_CUT_OFF", TOO_LATE),
        refuseHalf: (socket) => refuse(socket, "HT_USAGE", NO_REQUEST),
      });
    }
    this.server.setTimeout(limits.idleTimeoutMs, (socket) => this.judgeSilence(socket));
    this.server.on("clientError", (cause, socket) => {
      if (this.isOwing(socket as Socket)) socket.destroy();
      else refuseGibberish(cause, socket);
    });
  }

  /** As others may call it: `http://127.0.0.1:8123`. */
  get url(): string {
    const { address, port, family } = this.server.address() as AddressInfo;
    return `${this.scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  }

  async listen(host: string, port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const fail = (cause: NodeJS.ErrnoException) => {
        const code: ErrorCode = cause.code === "EADDRINUSE" ? "HT_LOCKED" : "HT_IO";
        reject(new ArchiveError(code, `cannot listen on ${host}, port ${port}: ${cause.message}`, {}, cause));
      };
      this.server.once("error", fail);
      this.server.listen(port, host, () => {
        this.server.off("error", fail);
        resolve();
      });
    });
    this.service.log.tell("info", "ready", { url: this.url });
  }

  private countConnection(socket: Socket): void {
    const { service } = this;
    service.connections++;
    if (this.connections.count > service.limits.connectionCountMax) this.refused.add(socket);
    socket.on("close", () => {
      service.connections--;
      // An answer that waits behind another has no socket yet, and never hears of its end.
      for (const exchange of service.underWay) {
        if (exchange instanceof NodeExchange && exchange.request.socket === socket) this.finish(exchange);
      }
    });
  }

  /** Whoever comes is not kept out by those who hold a connection and say nothing. */
  private makeRoom(): void {
    this.connections.makeRoom(this.service.limits.connectionCountMax - 1, (socket) => {
      for (const exchange of this.service.underWay) {
        if (exchange.isWithVolume && isSamePeer(exchange.socket, socket)) return true;
      }
      return false;
    });
  }

  /** Whoever keeps us waiting is cut off; whoever waits for us is not. */
  private judgeSilence(socket: Socket): void {
    if (this.exchanges.get(socket)?.isWithVolume === true) socket.setTimeout(this.service.limits.idleTimeoutMs);
    else socket.destroy();
  }

  /** Whether an answer is still to come there: what is said before it would be taken for it. */
  private isOwing(socket: Socket): boolean {
    for (const exchange of this.service.underWay) {
      if (exchange instanceof NodeExchange && exchange.request.socket === socket && exchange.isOwed) return true;
    }
    return false;
  }

  private takeFromNode(request: IncomingMessage, response: ServerResponse): void {
    const exchange = new NodeExchange(request, response);
    this.exchanges.set(request.socket, exchange);
    response.on("close", () => this.finish(exchange));
    this.take(exchange, request.socket, answer);
  }

  private take<E extends Exchange>(
    exchange: E,
    socket: Socket,
    answering: (service: VolumeService, exchange: E) => Promise<void> | void,
  ): void {
    const { service } = this;
    service.underWay.add(exchange);
    try {
      if (!isOpenToAll(exchange)) this.admit(exchange, socket);
      const later = answering(service, exchange);
      if (later !== undefined) later.catch(exchange.fail);
    } catch (error) {
      exchange.fail(error);
    }
  }

  private admit({ headers }: Exchange, socket: Socket): void {
    if (this.service.isDraining) throw new ArchiveError("HT_BUSY", "the server is going down");
    if (this.refused.has(socket)) throw new ArchiveError("HT_BUSY", "too many connections");
    this.gate.check(headers);
  }

  private finish(exchange: Exchange): void {
    const { metrics, underWay, log } = this.service;
    const { kind, outcome, bytesIn, bytesOut, failure, method, url } = exchange;
    if (!underWay.delete(exchange)) return;
    // From here on it is the client that is waited for.
    exchange.isWithVolume = false;
    this.service.release(exchange);
    metrics.bytesIn += bytesIn;
    metrics.bytesOut += bytesOut;
    const ms = performance.now() - exchange.startedMs;
    metrics.observe(kind, outcome, ms / 1000);
    const isBug = failure !== undefined && !(failure instanceof ArchiveError);
    // Having too much to do is no failure, and telling it would be one thing more to do.
    const isOurs =
      isBug || (failure instanceof ArchiveError && failure.code !== "HT_BUSY" && ERROR_TABLE[failure.code].http >= 500);
    if (log.everyRequest || isOurs || outcome === "cut" || outcome === "HT_CUT_OFF") {
      log.tell(isOurs ? "error" : outcome === "cut" || failure !== undefined ? "warning" : "info", "request", {
        method,
        path: url.slice(0, 500),
        kind,
        outcome,
        ms: Math.round(ms * 1000) / 1000,
        bytesIn,
        bytesOut,
        message: failure instanceof Error ? failure.message : undefined,
        stack: isBug && failure instanceof Error ? failure.stack : undefined,
      });
    }
    this.service.tellIfIdle();
  }

  /** Refuses what comes, finishes what is under way (for as long as the limit allows), and closes the volume. */
  close(): Promise<void> {
    this.closing ??= this.drain();
    return this.closing;
  }

  private async drain(): Promise<void> {
    const { service } = this;
    service.isDraining = true;
    service.log.tell("info", "draining", { underWay: service.underWay.size });
    for (const exchange of service.underWay) exchange.onDrain?.();
    if (!service.isIdle) {
      await new Promise<void>((resolve) => {
        service.onIdle = resolve;
        setTimeout(resolve, service.limits.drainTimeoutMs).unref();
      });
    }
    const left = service.underWay.size;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.plain?.close();
    this.connections.close();
    this.server.closeAllConnections();
    await closed;
    await service.volume[Symbol.asyncDispose]();
    service.log.tell(left > 0 ? "warning" : "info", "closed", { cutOff: left });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function securing(tls: NonNullable<VolumeServerOptions["tls"]>, limits: ServerLimits) {
  return { cert: toPem(tls.cert), key: toPem(tls.key), handshakeTimeout: limits.headerTimeoutMs };
}

function toPem(text: string | Uint8Array): string | Buffer {
  return typeof text === "string" ? text : Buffer.from(text);
}

/** What is not HTTP, or takes too long to be. */
function refuseGibberish(cause: NodeJS.ErrnoException, socket: NodeJS.WritableStream & { destroy(): void }): void {
  if (cause.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  if (cause.code === "HPE_HEADER_OVERFLOW") refuse(socket, "HT_TOO_LARGE", "the header of the request is too large");
  else if (cause.code === "ERR_HTTP_REQUEST_TIMEOUT") refuse(socket, "HT_CUT_OFF", TOO_LATE);
  else refuse(socket, "HT_USAGE", NO_REQUEST);
}

const NO_REQUEST = "not a request of HTTP/1.1";
const TOO_LATE = "the header of the request took too long";

function refuse(socket: NodeJS.WritableStream, code: ErrorCode, message: string): void {
  const body = JSON.stringify({ error: { code, message } });
  socket.end(
    `HTTP/1.1 ${ERROR_TABLE[code].http} Refused\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
}
