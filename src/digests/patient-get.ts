/**
 * GET requests to a server that is asked for advice: each with a deadline and a limit to its answer, a bounded number at a
 * time, and again after a pause where the server is busy or the connection was lost.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ArchiveError } from "../base/index.ts";

export interface GetOptions {
  /** Sent with each request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** For one try, from the connection to the last byte. */
  readonly timeoutMs?: number | undefined;
  readonly tries?: number | undefined;
  /** Before the second try; twice as long before each further one. */
  readonly retryDelayMs?: number | undefined;
  readonly answerSizeMax?: number | undefined;
  /** Requests at a time. */
  readonly requestCountMax?: number | undefined;
  /** Waits; rejects as soon as nobody wants the answer any more. */
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const PAUSE_MS_MAX = 60_000;
const DEFAULTS = {
  headers: {},
  timeoutMs: 15_000,
  tries: 4,
  retryDelayMs: 500,
  answerSizeMax: 1 << 20,
  requestCountMax: 8,
  pause: (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }),
};

/** What another try may mend. */
class Passing extends Error {
  readonly code: "HT_PEER_UNAVAILABLE" | "HT_BUSY";
  readonly waitMs: number;

  constructor(message: string, options: { code?: Passing["code"]; waitMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = options.code ?? "HT_PEER_UNAVAILABLE";
    this.waitMs = options.waitMs ?? 0;
  }
}

export class PatientGet {
  private readonly options: { readonly [Name in keyof GetOptions]-?: NonNullable<GetOptions[Name]> };
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(options: GetOptions) {
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    this.options = { ...DEFAULTS, ...(Object.fromEntries(given) as Partial<typeof DEFAULTS>) };
  }

  /** How many are asked at a time. */
  get countMax(): number {
    return this.options.requestCountMax;
  }

  /**
   * The answer, whatever its status, unless that says that the server cannot answer now. HT_PEER_UNAVAILABLE or HT_BUSY
   * where that lasts, HT_TOO_LARGE where the answer does not end within the limit.
   */
  async get(url: URL, signal: AbortSignal): Promise<Answer> {
    const { tries, retryDelayMs, pause } = this.options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.inTurn(() => this.try(url, signal));
      } catch (error) {
        if (!(error instanceof Passing) || signal.aborted) throw error;
        if (attempt >= tries)
          throw new ArchiveError(error.code, `${nameOf(url)}: ${error.message}`, placeOf(url), error);
        await pause(Math.min(Math.max(error.waitMs, retryDelayMs * 2 ** (attempt - 1)), PAUSE_MS_MAX), signal);
      }
    }
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= this.countMax) await new Promise<void>((resolve) => this.waiting.push(resolve));
    else this.running++;
    try {
      return await work();
    } finally {
      // Whoever waits takes this place, which so is never free in between.
      const next = this.waiting.shift();
      if (next === undefined) this.running--;
      else next();
    }
  }

  private async try(url: URL, signal: AbortSignal): Promise<Answer> {
    const { timeoutMs, headers } = this.options;
    const stop = new AbortController();
    const onAbort = () => stop.abort(signal.reason);
    const timer = setTimeout(() => stop.abort(new Error(`timed out after ${timeoutMs / 1000} s`)), timeoutMs);
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    try {
      const sent = { "user-agent": "holotype", ...headers };
      const response = await fetch(url, { headers: sent, redirect: "manual", signal: stop.signal });
      refusePassing(response);
      return { status: response.status, text: await this.read(response, url) };
    } catch (error) {
      if (error instanceof ArchiveError || error instanceof Passing || signal.aborted) throw error;
      throw new Passing(reasonOf(stop.signal.aborted ? stop.signal.reason : error), { cause: error });
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      // A body that was not read to its end is let go.
      stop.abort();
    }
  }

  private async read(response: Response, url: URL): Promise<string> {
    const { answerSizeMax } = this.options;
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      size += piece.length;
      if (size > answerSizeMax) {
        const message = `${nameOf(url)}: the answer is longer than ${answerSizeMax} bytes`;
        throw new ArchiveError("HT_TOO_LARGE", message, placeOf(url));
      }
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString();
  }
}

function refusePassing({ status, headers }: Response): void {
  if (status !== 408 && status !== 429 && status < 500) return;
  const waitMs = 1000 * Number(/^\d{1,6}$/.exec(headers.get("retry-after") ?? "")?.[0] ?? 0);
  const isBusy = status === 429 || status === 503;
  throw new Passing(`the server answers ${status}`, { code: isBusy ? "HT_BUSY" : "HT_PEER_UNAVAILABLE", waitMs });
}

/** Of a server, without what it is asked: that may be long, and secret. */
export function nameOf({ origin, pathname }: URL): string {
  return origin + pathname;
}

function placeOf(url: URL): { readonly file: string } {
  return { file: nameOf(url) };
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}
