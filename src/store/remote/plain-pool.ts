/** Connections to one server that are kept for the next question. Those without a question keep no program alive. */
import { type Answer, PlainConnection, type Question, type ServerPlace, StaleConnection } from "./plain-connection.ts";

interface Waiting {
  readonly resolve: (connection: PlainConnection) => void;
  readonly reject: (error: Error) => void;
}

export class PlainPool {
  private readonly place: ServerPlace;
  private readonly countMax: number;
  private readonly all = new Set<PlainConnection>();
  /** Those without a question, the one that was used last at the end. */
  private idle: PlainConnection[] = [];
  /** Who waits for a connection, in the order in which they came. */
  private waiting: Waiting[] = [];

  constructor(place: ServerPlace, countMax: number) {
    this.place = place;
    this.countMax = countMax;
  }

  /**
   * Rejects with UnfamiliarAnswer, or with what became of the connection. Where one that was kept turns out to have ended
   * in the meantime, the question is asked again on a new one: it must be one that may be asked twice.
   */
  async ask(question: Question): Promise<Answer> {
    const connection = this.take() ?? (await this.nextFree());
    try {
      return await connection.ask(question);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
    }
    // What was kept beside it is as old, mostly.
    for (const stale of this.idle.splice(0)) stale.destroy();
    return await (this.take() ?? (await this.nextFree())).ask(question).catch(unwrapped);
  }

  /** One that can be asked at once; absent where there are as many as there may be. */
  private take(): PlainConnection | undefined {
    for (let kept = this.idle.pop(); kept !== undefined; kept = this.idle.pop()) {
      if (kept.isUsable) return kept;
      kept.destroy();
    }
    return this.all.size < this.countMax ? this.open() : undefined;
  }

  private nextFree(): Promise<PlainConnection> {
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  private open(): PlainConnection {
    const connection: PlainConnection = new PlainConnection(
      this.place,
      () => this.handOn(connection),
      (lateness) => this.forget(connection, lateness),
    );
    this.all.add(connection);
    return connection;
  }

  private handOn(connection: PlainConnection): void {
    const next = this.waiting.shift();
    if (next === undefined) this.idle.push(connection);
    else next.resolve(connection);
  }

  private forget(connection: PlainConnection, lateness: Error | undefined): void {
    this.all.delete(connection);
    const at = this.idle.indexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
    if (lateness === undefined) this.waiting.shift()?.resolve(this.open());
    else {
      // One after the other, they would wait as long each.
      const { waiting } = this;
      this.waiting = [];
      for (const { reject } of waiting) reject(lateness);
    }
  }

  /** Ends all connections; what is under way fails. Whoever asks later gets new ones. */
  close(): void {
    for (const connection of this.all) connection.destroy();
  }
}

function unwrapped(error: unknown): never {
  throw error instanceof StaleConnection ? error.cause : error;
}
