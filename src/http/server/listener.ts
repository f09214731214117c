/**
 * The socket side of a server on `node:http`: it listens, limits connections, judges silence, refuses what is not HTTP
 * and closes. What a request asks for is not its business.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { ArchiveError, type ErrorCode } from "../../base/index.ts";
import { Connections, isSamePeer } from "./connections.ts";
import type { ListenerLimits } from "./limits.ts";
import { refuseGibberish } from "./refusal.ts";

/** A request that is not answered yet. */
export interface UnderWay {
  readonly socket: Socket;
  /** The client has sent all it has to send for now: silence is not its fault. */
  readonly isWithServer: boolean;
  /** The request is complete and its answer is not: whatever is sent first would be taken for that answer. */
  readonly isOwed: boolean;
}

/** In PEM. */
export interface TlsOptions {
  readonly cert: string | Uint8Array;
  readonly key: string | Uint8Array;
}

export interface ListenerParts<E extends UnderWay> {
  readonly limits: ListenerLimits;
  readonly tls?: TlsOptions | undefined;
  /** Kept by the server, read here. */
  readonly underWay: ReadonlySet<E>;
  readonly take: (request: IncomingMessage, response: ServerResponse) => void;
  /** The connection of a request was closed. */
  readonly leave: (exchange: E) => void;
}

/** Connections beyond the limit get an answer that says so; beyond these they are dropped. */
const REFUSED_CONNECTIONS_MAX = 64;

export class Listener<E extends UnderWay> {
  readonly server: Server;
  readonly connections: Connections;
  private readonly parts: ListenerParts<E>;
  private readonly refused = new WeakSet<Socket>();

  constructor(parts: ListenerParts<E>) {
    this.parts = parts;
    const { limits, tls } = parts;
    this.connections = new Connections(() => {
      // Whoever comes next would be turned away.
      if (this.connections.count > limits.connectionCountMax) this.makeRoom();
    });
    this.server = createNodeServer(limits, tls);
    // A client that ends its side still waits for its answer. Node has the setting, but its types do not.
    Object.assign(this.server, { httpAllowHalfOpen: true });
    this.server.maxConnections = limits.connectionCountMax + REFUSED_CONNECTIONS_MAX;
    this.server.on("request", parts.take);
    // Requests come on the socket that has been made secure.
    this.server.prependListener(tls === undefined ? "connection" : "secureConnection", (socket: Socket) =>
      this.admit(socket),
    );
    // Before the other: a connection that never comes to its first request takes a place too.
    this.server.prependListener("connection", (socket: Socket) => {
      this.makeRoom();
      this.connections.add(socket);
    });
    this.server.on("drop", () => this.makeRoom());
    this.server.setTimeout(limits.idleTimeoutMs, (socket) => this.judgeSilence(socket));
    this.server.on("clientError", (cause, socket) => {
      if (this.isAny(socket as Socket, "isOwed")) socket.destroy();
      else refuseGibberish(cause, socket);
    });
  }

  /** As others may call it: `http://127.0.0.1:8123`. */
  get url(): string {
    const { address, port, family } = this.server.address() as AddressInfo;
    const scheme = this.parts.tls === undefined ? "http" : "https";
    return `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  }

  /** Throws HT_LOCKED where the port is taken, and HT_IO. */
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
  }

  /** Whether the connection came when all places were taken. */
  isRefused(socket: Socket): boolean {
    return this.refused.has(socket);
  }

  private admit(socket: Socket): void {
    if (this.connections.count > this.parts.limits.connectionCountMax) this.refused.add(socket);
    socket.on("close", () => {
      // An answer that waits behind another has no socket yet, and never hears of its end.
      for (const exchange of this.parts.underWay) if (exchange.socket === socket) this.parts.leave(exchange);
    });
  }

  /** A new client is not kept out by those that hold a connection and send nothing. */
  private makeRoom(): void {
    const { limits, underWay } = this.parts;
    this.connections.makeRoom(limits.connectionCountMax - 1, (socket) => {
      for (const exchange of underWay) {
        if (exchange.isWithServer && isSamePeer(exchange.socket, socket)) return true;
      }
      return false;
    });
  }

  /** A client that keeps the server waiting is disconnected; one that waits for the server is not. */
  private judgeSilence(socket: Socket): void {
    if (this.isAny(socket, "isWithServer")) socket.setTimeout(this.parts.limits.idleTimeoutMs);
    else socket.destroy();
  }

  private isAny(socket: Socket, what: "isOwed" | "isWithServer"): boolean {
    for (const exchange of this.parts.underWay) if (exchange.socket === socket && exchange[what]) return true;
    return false;
  }

  /** Ends all connections, whatever is under way on them. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.connections.close();
    this.server.closeAllConnections();
    await closed;
  }
}

function createNodeServer(limits: ListenerLimits, tls: TlsOptions | undefined): Server {
  const options = {
    maxHeaderSize: limits.headerSizeMaxBytes,
    headersTimeout: limits.headerTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.max(100, Math.min(1000, limits.headerTimeoutMs / 2)),
    noDelay: true,
  };
  if (tls === undefined) return createServer(options);
  const secured = { cert: toPem(tls.cert), key: toPem(tls.key), handshakeTimeout: limits.headerTimeoutMs };
  return createTlsServer({ ...options, ...secured }) as unknown as Server;
}

function toPem(text: string | Uint8Array): string | Buffer {
  return typeof text === "string" ? text : Buffer.from(text);
}
