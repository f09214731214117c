/**
 * The connections of a server, and which of them keeps it waiting longest: where all places are taken, that one makes room
 * for who comes. One that waits for the server, or that something happens on, is left alone.
 */
import type { Socket } from "node:net";

interface Watched {
  readonly socket: Socket;
  /** Bytes both ways, and since when they are as many. */
  bytes: number;
  sinceMs: number;
}

/** Without a byte for so long, a connection may have to go. */
const STALLED_MS = 1000;
const SWEEP_MS = 500;

export class Connections {
  /** By the address and port of the other side: TLS puts another socket around the first. */
  private readonly watched = new Map<string, Watched>();
  private readonly sweep: NodeJS.Timeout;

  /** Calls `onSweep` from time to time, when it has looked at all connections. */
  constructor(onSweep: () => void) {
    this.sweep = setInterval(() => {
      this.look();
      onSweep();
    }, SWEEP_MS).unref();
  }

  get count(): number {
    return this.watched.size;
  }

  add(socket: Socket): void {
    const name = nameOf(socket);
    const entry = { socket, bytes: bytesOf(socket), sinceMs: performance.now() };
    this.watched.set(name, entry);
    socket.on("close", () => {
      if (this.watched.get(name) === entry) this.watched.delete(name);
    });
  }

  private look(): void {
    const nowMs = performance.now();
    for (const entry of this.watched.values()) {
      const bytes = bytesOf(entry.socket);
      if (bytes === entry.bytes) continue;
      entry.bytes = bytes;
      entry.sinceMs = nowMs;
    }
  }

  /** Ends those that have been silent for longest, until there are no more than `countMax`, or none is silent for long. */
  makeRoom(countMax: number, isBusy: (socket: Socket) => boolean): void {
    if (this.watched.size <= countMax) return;
    this.look();
    const silentMs = performance.now() - STALLED_MS;
    const stalled = [...this.watched.values()].filter(({ sinceMs }) => sinceMs <= silentMs);
    stalled.sort((one, other) => one.sinceMs - other.sinceMs);
    for (const { socket } of stalled) {
      if (this.watched.size <= countMax) return;
      if (isBusy(socket)) continue;
      this.watched.delete(nameOf(socket));
      socket.destroy();
    }
  }

  close(): void {
    clearInterval(this.sweep);
  }
}

/** Whether both lead to the same other side. */
export function isSamePeer(one: Socket, other: Socket): boolean {
  return nameOf(one) === nameOf(other);
}

function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function bytesOf({ bytesRead, bytesWritten }: Socket): number {
  return bytesRead + bytesWritten;
}
