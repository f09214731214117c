/** A process that was started by a `Fleet`, and serves with the others on one port. */
import cluster, { type Worker } from "node:cluster";
import { type FromMember, isFleetMessage, type ToMember } from "./fleet-messages.ts";
import type { MetricsSnapshot } from "./metrics.ts";

/** Absent in a process that no fleet started. */
export function fleetMember(): FleetMember | undefined {
  return cluster.worker === undefined ? undefined : new FleetMember(cluster.worker);
}

export class FleetMember {
  /** Resolves when the fleet closes, or whoever started it is gone: then the server of this process is to be closed. */
  readonly closing: Promise<void>;
  /** All processes of the fleet have the same one, and nobody else has it. */
  readonly secret: Promise<string>;
  private readonly worker: Worker;
  private readonly gathering = new Map<number, (all: readonly MetricsSnapshot[]) => void>();
  private count: () => readonly MetricsSnapshot[] = () => [];
  private lastId = 0;

  constructor(worker: Worker) {
    this.worker = worker;
    let learn: (secret: string) => void = () => {};
    this.secret = new Promise((resolve) => {
      learn = resolve;
    });
    this.closing = new Promise((resolve) => {
      worker.on("message", (message: unknown) => {
        if (!isFleetMessage(message)) return;
        const said = message as ToMember;
        if (said.fleet === "secret") learn(said.secret);
        else this.take(said, resolve);
      });
      worker.on("disconnect", () => {
        resolve();
        for (const gathered of this.gathering.values()) gathered(this.count());
        this.gathering.clear();
      });
    });
    this.send({ fleet: "hello" });
  }

  private take(message: Exclude<ToMember, { readonly fleet: "secret" }>, close: () => void): void {
    if (message.fleet === "close") close();
    else if (message.fleet === "count") {
      for (const counts of this.count()) this.send({ fleet: "counts", id: message.id, counts });
    } else {
      this.gathering.get(message.id)?.(message.all);
      this.gathering.delete(message.id);
    }
  }

  private send(message: FromMember): void {
    // Where nobody hears it, the channel is about to close.
    if (this.worker.isConnected()) this.worker.send(message, () => {});
  }

  /** The server of this process answers. */
  join(url: string, count: () => MetricsSnapshot): void {
    this.count = () => [count()];
    this.send({ fleet: "ready", url });
  }

  /** What all processes counted, or this one where it is alone by now. */
  gather(): Promise<readonly MetricsSnapshot[]> {
    if (!this.worker.isConnected()) return Promise.resolve(this.count());
    return new Promise((resolve) => {
      this.gathering.set(++this.lastId, resolve);
      this.send({ fleet: "gather", id: this.lastId });
    });
  }

  /** The server of this process answers no more; the fleet does not keep the process alive. */
  leave(): void {
    if (this.worker.isConnected()) this.worker.disconnect();
  }
}
