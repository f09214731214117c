/**
 * Where connections come in: each begins as a plain one, and goes to `node:http` with the first request that is not plain.
 * The server listens, limits and counts as it did; only who reads the bytes is decided here.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { type Clock, invariant } from "../base/index.ts";
import type { ServerLimits } from "./limits.ts";
import { PlainConnection, type PlainHost } from "./plain-connection.ts";

/** How often silence is judged, at most and at least. */
const SWEEP_MS_MAX = 1000;
const SWEEP_MS_MIN = 50;

export class PlainPort implements PlainHost {
  readonly limits: ServerLimits;
  readonly take: PlainHost["take"];
  readonly finish: PlainHost["finish"];
  readonly refuseLate: PlainHost["refuseLate"];
  readonly refuseHalf: PlainHost["refuseHalf"];
  private readonly clock: Clock;
  private readonly connections = new Set<PlainConnection>();
  private readonly sweep: NodeJS.Timeout;
  private readonly giveToNode: (socket: Socket) => void;
  private second = Number.NaN;
  private dateText = "";

  /** Takes the connections of the server, before it has any. */
  constructor(
    server: Server,
    limits: ServerLimits,
    clock: Clock,
    { take, finish, refuseLate, refuseHalf }: Pick<PlainHost, "take" | "finish" | "refuseLate" | "refuseHalf">,
  ) {
    this.limits = limits;
    this.clock = clock;
    this.take = take;
    this.finish = finish;
    this.refuseLate = refuseLate;
    this.refuseHalf = refuseHalf;
    // The one that the server itself set up comes last.
    const listener = server.listeners("connection").at(-1);
    invariant(listener !== undefined, "a server of node:http that takes no connections");
    server.off("connection", listener as (socket: Socket) => void);
    this.giveToNode = (socket) => void listener.call(server, socket);
    server.on("connection", (socket: Socket) => this.connections.add(new PlainConnection(this, socket)));
    const { headerTimeoutMs, idleTimeoutMs, keepAliveTimeoutMs } = limits;
    const least = Math.min(headerTimeoutMs, idleTimeoutMs, keepAliveTimeoutMs);
    const sweepMs = Math.max(SWEEP_MS_MIN, Math.min(SWEEP_MS_MAX, least / 4));
    this.sweep = setInterval(() => this.judgeSilence(), sweepMs).unref();
  }

  private judgeSilence(): void {
    const nowMs = performance.now();
    for (const connection of this.connections) connection.judgeSilence(nowMs);
  }

  date(): string {
    const second = Math.floor(this.clock.now() / 1000);
    if (second !== this.second) {
      this.second = second;
      this.dateText = new Date(second * 1000).toUTCString();
    }
    return this.dateText;
  }

  handOver(socket: Socket, received: Buffer): void {
    socket.unshift(received);
    this.giveToNode(socket);
  }

  forget(connection: PlainConnection): void {
    this.connections.delete(connection);
  }

  close(): void {
    clearInterval(this.sweep);
    for (const connection of this.connections) connection.destroy();
  }
}
