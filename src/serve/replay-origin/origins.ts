/**
 * The two origins that browsers know a server by: that of the pages, and that of replay, where archived scripts run. They
 * differ in their host names as well as in their ports, since cookies do not know ports.
 */
import { isLoopback } from "../../http/index.ts";

export interface OriginSettings {
  /** What clients see in front of the pages, behind a proxy. */
  readonly baseUrl?: string | undefined;
  /** The same in front of replay: `https://replay.example`. */
  readonly replayUrl?: string | undefined;
}

export class Origins {
  private readonly settings: OriginSettings;
  /** Known when both of them listen. */
  pagesPort = 0;
  replayPort = 0;

  constructor(settings: OriginSettings) {
    this.settings = settings;
  }

  /** As it was set. */
  get replayUrl(): string | undefined {
    return this.settings.replayUrl;
  }

  /** Of replay, for a browser that calls the pages so. Absent where no way to it is known. */
  replayFor(pages: string): string | undefined {
    const { replayUrl, baseUrl } = this.settings;
    if (replayUrl !== undefined) return new URL(replayUrl).origin;
    if (baseUrl !== undefined || this.replayPort === 0) return undefined;
    return this.other(pages, this.replayPort);
  }

  /** Of the pages, for a browser that calls replay so. */
  pagesFor(replay: string): string {
    return this.settings.baseUrl?.replace(/\/+$/, "") ?? this.other(replay, this.pagesPort);
  }

  /** The other name of this machine. One that others know it by stays: only its owner knows another (`replayUrl`). */
  private other(origin: string, port: number): string {
    const { hostname } = new URL(origin);
    const isLocal = isLoopback(hostname.replace(/^\[|\]$/g, ""));
    const host = !isLocal ? hostname : hostname === "127.0.0.1" ? "localhost" : "127.0.0.1";
    return `http://${host}:${port}`;
  }
}
