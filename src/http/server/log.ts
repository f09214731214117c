/** The structured log: objects, one an event. Who prints them is the caller's business. */
import type { Clock } from "../../base/index.ts";

export type LogLevel = "info" | "warning" | "error";

export interface LogEntry {
  /** ISO 8601. */
  readonly time: string;
  readonly level: LogLevel;
  readonly event: string;
  readonly [detail: string]: string | number | boolean | undefined;
}

export type LogSink = (entry: LogEntry) => void;

export class Log {
  private readonly clock: Clock;
  private readonly sink: LogSink | undefined;
  /** Whether requests that went well are told too. */
  readonly everyRequest: boolean;

  constructor(clock: Clock, sink: LogSink | undefined, everyRequest: boolean) {
    this.clock = clock;
    this.sink = sink;
    this.everyRequest = everyRequest;
  }

  tell(level: LogLevel, event: string, details: Readonly<Record<string, string | number | boolean | undefined>>): void {
    this.sink?.({ time: new Date(this.clock.now()).toISOString(), level, event, ...details });
  }
}
