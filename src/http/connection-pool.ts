/** Connections that wait for another request, by origin. They keep no program alive. */
import type { Connection } from "./connection.ts";

interface Kept {
  readonly connection: Connection;
  readonly sinceMs: number;
}

export class ConnectionPool {
  private readonly keepAliveMs: number;
  private readonly countMax: number;
  /** Those of an origin, the one that was used last at the end. Origins in the order in which they were used. */
  private readonly idle = new Map<string, Kept[]>();
  private count = 0;

  constructor(keepAliveMs: number, countMax: number) {
    this.keepAliveMs = keepAliveMs;
    this.countMax = countMax;
  }

  /** One that can take a request; absent where there is none. */
  take(origin: string): Connection | undefined {
    const kept = this.idle.get(origin);
    for (let last = kept?.pop(); last !== undefined; last = kept?.pop()) {
      this.count--;
      if (kept!.length === 0) this.idle.delete(origin);
      if (last.connection.isUsable && performance.now() - last.sinceMs < this.keepAliveMs) return last.connection;
      last.connection.destroy();
    }
    return undefined;
  }

  keep(origin: string, connection: Connection): void {
    if (this.countMax === 0) {
      connection.destroy();
      return;
    }
    if (this.count >= this.countMax) this.dropOldest();
    const kept = this.idle.get(origin) ?? [];
    // The origin goes to the end.
    this.idle.delete(origin);
    this.idle.set(origin, kept);
    kept.push({ connection, sinceMs: performance.now() });
    this.count++;
  }

  private dropOldest(): void {
    const [oldest] = this.idle;
    const [origin, kept] = oldest!;
    kept.shift()!.connection.destroy();
    this.count--;
    if (kept.length === 0) this.idle.delete(origin);
  }

  /** It was closed. */
  forget(origin: string, connection: Connection): void {
    const kept = this.idle.get(origin);
    const at = kept?.findIndex((one) => one.connection === connection) ?? -1;
    if (at < 0) return;
    kept!.splice(at, 1);
    this.count--;
    if (kept!.length === 0) this.idle.delete(origin);
  }

  /** Closes those of an origin, or all. */
  drop(origin?: string): void {
    for (const [name, kept] of this.idle) {
      if (origin !== undefined && name !== origin) continue;
      this.idle.delete(name);
      this.count -= kept.length;
      for (const { connection } of kept) connection.destroy();
    }
  }
}
