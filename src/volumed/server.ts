/**
 * The volume server: HTTP around a volume, with its limits. The volume is the server's for as long as it runs, and is
 * closed with it.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ArchiveError, type Clock, ERROR_TABLE, type Random, systemClock, systemRandom } from "../base/index.ts";
import {
  checkReach,
  Gate,
  Listener,
  Log,
  type LogSink,
  refuseHalf,
  refuseLate,
  refusePages,
  type TlsOptions,
} from "../http/index.ts";
import { RecordStamp, type Volume } from "../store/index.ts";
import type { Exchange } from "./exchange.ts";
import { SERVER_LIMITS_DEFAULT, type ServerLimits } from "./limits.ts";
import { NodeExchange } from "./node-exchange.ts";
import { PlainPort } from "./plain-port.ts";
import { answer, answerPlainly, isOpenToAll } from "./routes.ts";
import { VolumeService } from "./service.ts";

export interface VolumeServerOptions {
  /** Default: 127.0.0.1. Any other than this machine's own asks for a token. */
  readonly host?: string;
  /** Default: any that is free. */
  readonly port?: number;
  readonly token?: string | undefined;
  readonly tls?: TlsOptions | undefined;
  readonly limits?: Partial<ServerLimits>;
  readonly onLog?: LogSink | undefined;
  /** Tells every request; otherwise only those that the server or the network failed. */
  readonly logRequests?: boolean;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** Opens the server; resolves when it answers. Throws HT_USAGE where others could reach it without a token. */
export async function serveVolume(volume: Volume, options: VolumeServerOptions = {}): Promise<VolumeServer> {
  const { host = "127.0.0.1", port = 0, clock = systemClock, random = systemRandom } = options;
  checkReach(host, options.token);
  const gate = new Gate({ token: options.token, pages: "none" });
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
  private readonly listener: Listener<Exchange>;
  /** For connections without TLS. */
  private readonly plain: PlainPort | undefined;
  private closing: Promise<void> | undefined;

  constructor(service: VolumeService, gate: Gate, clock: Clock, tls: TlsOptions | undefined) {
    this.service = service;
    this.gate = gate;
    const { limits } = service;
    this.listener = new Listener({
      // A bulk stream may take as long as it likes, if only something happens.
      limits: { ...limits, requestTimeoutMs: 0 },
      tls,
      underWay: service.underWay,
      take: (request, response) => this.takeFromNode(request, response),
      leave: (exchange) => this.finish(exchange),
    });
    service.countConnections = () => this.listener.connections.count;
    if (tls === undefined) {
      this.plain = new PlainPort(this.listener.server, limits, clock, {
        take: (exchange, socket) => this.take(exchange, socket, answerPlainly),
        finish: (exchange) => this.finish(exchange),
        refuseLate,
        refuseHalf,
      });
    }
  }

  /** As others may call it: `http://127.0.0.1:8123`. */
  get url(): string {
    return this.listener.url;
  }

  async listen(host: string, port: number): Promise<void> {
    await this.listener.listen(host, port);
    this.service.log.tell("info", "ready", { url: this.url });
  }

  private takeFromNode(request: IncomingMessage, response: ServerResponse): void {
    const exchange = new NodeExchange(request, response);
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
      if (isOpenToAll(exchange)) refusePages(exchange.headers);
      else this.admit(exchange, socket);
      const later = answering(service, exchange);
      if (later !== undefined) later.catch(exchange.fail);
    } catch (error) {
      exchange.fail(error);
    }
  }

  private admit({ headers }: Exchange, socket: Socket): void {
    if (this.service.isDraining) throw new ArchiveError("HT_BUSY", "the server is going down");
    if (this.listener.isRefused(socket)) throw new ArchiveError("HT_BUSY", "too many connections");
    this.gate.check(headers);
  }

  private finish(exchange: Exchange): void {
    const { metrics, underWay, log } = this.service;
    const { kind, outcome, bytesIn, bytesOut, failure, method, url } = exchange;
    if (!underWay.delete(exchange)) return;
    // From here on it is the client that is waited for.
    exchange.isWithServer = false;
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
    this.service.idle.tell();
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
    await service.idle.wait(service.limits.drainTimeoutMs);
    const left = service.underWay.size;
    this.plain?.close();
    await this.listener.close();
    await service.volume[Symbol.asyncDispose]();
    service.log.tell(left > 0 ? "warning" : "info", "closed", { cutOff: left });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
