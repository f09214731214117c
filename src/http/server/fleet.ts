/**
 * Several processes that serve on one port: copies of the program that starts them, with the same arguments. One that
 * dies is replaced, and the others go on meanwhile. In a copy, `fleetMember()` is there.
 */
import cluster, { type Worker } from "node:cluster";
import {
  ArchiveError,
  type Clock,
  ERROR_TABLE,
  type ErrorCode,
  type Random,
  systemClock,
  systemRandom,
} from "../../base/index.ts";
import { type FromMember, isFleetMessage, type ToMember } from "./fleet-messages.ts";
import { Log, type LogSink } from "./log.ts";
import type { MetricsSnapshot } from "./metrics.ts";

export interface FleetOptions {
  readonly count: number;
  readonly onLog?: LogSink | undefined;
  /** A process that has not ended by then is killed when the fleet closes: more than the server's own limit. */
  readonly closeTimeoutMs: number;
  /** The file of another program, with its arguments. Default: this one. */
  readonly program?: { readonly file: string; readonly args: readonly string[] };
  readonly clock?: Clock;
  readonly random?: Random;
}

const SECRET_SIZE = 32;

/** Before a process is replaced: one that cannot start must not keep the machine busy. */
const REPLACE_AFTER_MS = 1000;
/** A process that does not say in this time what it counted is left out. */
const COUNT_TIMEOUT_MS = 1000;

interface Gathering {
  readonly counts: MetricsSnapshot[];
  missing: number;
  end(): void;
}

/** Resolves when all processes answer. Rejects where one ends before, with the code that its exit status stands for. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const fleet = new Fleet(options);
  try {
    await fleet.start();
  } catch (error) {
    await fleet.close();
    throw error;
  }
  return fleet;
}

export class Fleet implements AsyncDisposable {
  /** As others may call it. */
  url = "";
  private readonly options: FleetOptions;
  private readonly log: Log;
  private readonly secret: string;
  private readonly workers = new Set<Worker>();
  private readonly gatherings = new Map<number, Gathering>();
  private lastGathering = 0;
  private closing: Promise<void> | undefined;

  constructor(options: FleetOptions) {
    this.options = options;
    this.log = new Log(options.clock ?? systemClock, options.onLog, false);
    this.secret = Buffer.from((options.random ?? systemRandom).bytes(SECRET_SIZE)).toString("hex");
    // Left to itself, the process that starts the others accepts for them. What it hands to one that is dying is lost:
    // nobody closes that connection, and its client waits for ever. So all accept from one socket.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    const { program } = options;
    if (program !== undefined) cluster.setupPrimary({ exec: program.file, args: [...program.args] });
  }

  async start(): Promise<void> {
    const urls = await Promise.all(Array.from({ length: this.options.count }, () => this.launch()));
    this.url = urls[0]!;
    this.log.tell("info", "fleet ready", { url: this.url, processes: this.workers.size });
  }

  /** Resolves to the URL that the process answers at. */
  private launch(): Promise<string> {
    const worker = cluster.fork();
    this.workers.add(worker);
    return new Promise((resolve, reject) => {
      let isReady = false;
      worker.on("message", (message: unknown) => {
        if (!isFleetMessage(message)) return;
        const said = message as FromMember;
        if (said.fleet === "hello") return send(worker, { fleet: "secret", secret: this.secret });
        if (said.fleet !== "ready") return this.take(worker, said);
        isReady = true;
        resolve(said.url);
      });
      worker.on("exit", (code: number | null, signal: string | null) => {
        this.workers.delete(worker);
        const ended = signal ?? `exit status ${code}`;
        if (isReady) this.replace(worker, ended);
        else reject(new ArchiveError(codeOfExit(code), `a process of the server ended before it answered: ${ended}`));
      });
    });
  }

  private replace(worker: Worker, ended: string): void {
    if (this.closing !== undefined) return;
    this.log.tell("error", "process ended", { process: worker.id, ended });
    const again = () => {
      if (this.closing === undefined) this.launch().catch(() => setTimeout(again, REPLACE_AFTER_MS).unref());
    };
    setTimeout(again, REPLACE_AFTER_MS).unref();
  }

  private take(worker: Worker, message: Extract<FromMember, { readonly id: number }>): void {
    if (message.fleet === "gather") return this.gather(worker, message.id);
    const gathering = this.gatherings.get(message.id);
    if (gathering === undefined) return;
    gathering.counts.push(message.counts);
    if (--gathering.missing === 0) gathering.end();
  }

  private gather(asking: Worker, askingId: number): void {
    const id = ++this.lastGathering;
    const counts: MetricsSnapshot[] = [];
    const end = () => {
      clearTimeout(timer);
      if (this.gatherings.delete(id)) send(asking, { fleet: "gathered", id: askingId, all: counts });
    };
    const timer = setTimeout(end, COUNT_TIMEOUT_MS);
    this.gatherings.set(id, { counts, missing: this.workers.size, end });
    for (const worker of this.workers) send(worker, { fleet: "count", id });
  }

  /** Asks all processes to finish what is under way, and waits until they have ended. */
  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    await Promise.all([...this.workers].map((worker) => endProcess(worker, this.options.closeTimeoutMs)));
    this.log.tell("info", "fleet closed", {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function endProcess(worker: Worker, timeoutMs: number): Promise<void> {
  const { process: child } = worker;
  return new Promise((resolve) => {
    // The worker's own `kill` waits for an answer first, which a process that hangs does not give.
    const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    worker.on("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    send(worker, { fleet: "close" });
  });
}

function send(worker: Worker, message: ToMember): void {
  // One that does not hear it has ended, or is ending.
  if (worker.isConnected()) worker.send(message, () => {});
}

function codeOfExit(exit: number | null): ErrorCode {
  const codes = Object.keys(ERROR_TABLE) as ErrorCode[];
  return codes.find((code) => ERROR_TABLE[code].exit === exit) ?? "HT_UNEXPECTED";
}
