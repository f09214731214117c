/**
 * One connection to a server, http or https, that carries one exchange at a time. A body of any size takes no more memory
 * than the buffer that the socket reads into.
 */
import type { Socket } from "node:net";
import { ArchiveError } from "../base/index.ts";
import type { DeadlineWatch, Timed } from "./deadline-watch.ts";
import { type CertificateFault, type Trouble, trouble } from "./failures.ts";
import type { ExchangeLimits } from "./limits.ts";
import type { MessageFramer } from "./message-framer.ts";
import type { OpenedSocket } from "./socket-opening.ts";
import type { SocketReader } from "./socket-reader.ts";

/** What a connection carries: a request that is sent, and the framer that takes the answer. */
export interface Job {
  readonly request: Buffer;
  readonly framer: MessageFramer;
  readonly limits: ExchangeLimits;
  /** Of the whole exchange, on the clock of `performance.now()`. */
  readonly deadlineMs: number;
  readonly onFirstByte: () => void;
}

/** How a job ended: `stale` where a connection that was kept turned out to be of no use for it. */
export type JobEnd = "answered" | "stale" | Trouble;

interface Running extends Job {
  /** A byte has come. */
  hasHeard: boolean;
  /** Once the answer has ended: the connection can take another request. */
  isKept?: boolean;
  readonly resolve: (end: JobEnd) => void;
  readonly reject: (error: Error) => void;
}

/** How the bytes of a connection ended. */
type Loss = "closed" | "reset";

const ANSWER_START = Buffer.from("HTTP/1.");

export interface ConnectionHooks {
  /** It can take another job. */
  readonly onIdle: (connection: Connection) => void;
  /** It never will again. */
  readonly onClose: (connection: Connection) => void;
}

export class Connection implements Timed {
  readonly remoteAddress: string;
  readonly tlsVersion: string | undefined;
  readonly fault: CertificateFault | undefined;
  deadlineMs = Number.POSITIVE_INFINITY;
  private readonly socket: Socket;
  private readonly reader: SocketReader;
  private readonly watch: DeadlineWatch;
  private readonly hooks: ConnectionHooks;
  private job: Running | undefined;
  private hasServed = false;
  private failure: Error | undefined;
  /** The sink holds bytes: what comes meanwhile waits, and so does the end. */
  private isHeld = false;
  private loss: Loss | undefined;

  constructor(opened: OpenedSocket, watch: DeadlineWatch, hooks: ConnectionHooks) {
    this.socket = opened.socket;
    this.reader = opened.reader;
    this.remoteAddress = opened.remoteAddress;
    this.tlsVersion = opened.tlsVersion;
    this.fault = opened.fault;
    this.watch = watch;
    this.hooks = hooks;
    this.reader.receive = (bytes) => this.receive(bytes);
    this.socket.on("error", (cause) => {
      this.failure ??= cause;
    });
    this.socket.on("end", () => this.lose("closed"));
    this.socket.on("close", () => {
      this.lose("reset");
      hooks.onClose(this);
    });
  }

  get isUsable(): boolean {
    return this.job === undefined && !this.socket.destroyed;
  }

  /** Sends a request and reads the answer. Rejects with what the sink threw, or where `abort` was called. */
  run(job: Job): Promise<JobEnd> {
    return new Promise((resolve, reject) => {
      this.job = { ...job, hasHeard: false, resolve, reject };
      if (this.socket.destroyed) {
        this.lose("reset");
        return;
      }
      this.socket.ref();
      this.deadlineMs = Math.min(performance.now() + job.limits.firstByteTimeoutMs, job.deadlineMs);
      this.watch.add(this);
      this.socket.write(job.request);
    });
  }

  /** False where nothing more is to be read for now. */
  private receive(bytes: Buffer): boolean {
    const { job } = this;
    if (job === undefined) {
      // Nobody asked for this; it must not become the answer to the next request.
      this.destroy();
      return false;
    }
    const { framer, limits } = job;
    if (!job.hasHeard) {
      job.hasHeard = true;
      if (this.hasServed && !startsLikeAnswer(bytes)) {
        // It may well be left over from the answer before.
        this.settle("stale");
        return false;
      }
      job.onFirstByte();
    }
    this.deadlineMs = Math.min(performance.now() + limits.idleTimeoutMs, job.deadlineMs);
    try {
      const used = framer.push(bytes);
      if (framer.wait !== undefined) this.hold(framer.wait, job);
      if (framer.end === undefined) return !this.isHeld;
      const isExact = used === bytes.length && !this.reader.hasMore;
      if (!isExact && framer.end === "complete") framer.flaws.push("extra-bytes");
      return this.conclude(job, framer.keepsConnection && isExact);
    } catch (error) {
      this.fail(error as Error);
      return false;
    }
  }

  /** The sink has not done with its bytes: nothing more is read until then, and the exchange does not end. */
  private hold(wait: Promise<void>, job: Running): void {
    this.isHeld = true;
    this.reader.hold();
    this.deadlineMs = job.deadlineMs;
    wait.then(
      () => this.release(job),
      (error: unknown) => {
        if (this.job === job) this.fail(error as Error);
      },
    );
  }

  private release(job: Running): void {
    this.isHeld = false;
    if (this.job !== job) return;
    this.reader.release();
    if (job.framer.end !== undefined) {
      if (job.isKept === true) this.settleAfterLook(job);
      else this.settle("answered");
      return;
    }
    this.deadlineMs = Math.min(performance.now() + job.limits.idleTimeoutMs, job.deadlineMs);
    const isDrained = this.reader.drain();
    if (this.job !== job || this.isHeld) return;
    if (this.loss !== undefined) this.cut(job, this.loss);
    else if (isDrained) this.socket.resume();
  }

  /** Reads once more before another request goes out: what came while nobody read must not become its answer. */
  private settleAfterLook(job: Running): void {
    const settle = () => {
      if (this.job === job) this.settle("answered", true);
    };
    this.socket.resume();
    // Sockets are looked at between two of these.
    setImmediate(() => setImmediate(settle));
  }

  /** The answer has ended. False where the sink still holds bytes of it. */
  private conclude(job: Running, isKept: boolean): boolean {
    this.watch.delete(this);
    this.deadlineMs = Number.POSITIVE_INFINITY;
    if (!isKept) this.destroy();
    job.isKept = isKept;
    if (this.isHeld) return false;
    this.settle("answered", isKept);
    return true;
  }

  private settle(end: JobEnd, isKept = false): void {
    const { job, socket } = this;
    if (job === undefined) return;
    this.job = undefined;
    this.watch.delete(this);
    this.deadlineMs = Number.POSITIVE_INFINITY;
    const isClean = !this.reader.hasMore && this.loss === undefined && socket.writableLength === 0;
    if (isKept && isClean && !socket.destroyed) {
      this.hasServed = true;
      socket.unref();
      this.hooks.onIdle(this);
    } else this.destroy();
    job.resolve(end);
  }

  private fail(error: Error): void {
    const { job } = this;
    this.job = undefined;
    this.watch.delete(this);
    this.destroy();
    job?.reject(error);
  }

  /** Ends what is under way. */
  abort(reason: unknown): void {
    this.fail(new ArchiveError("HT_INTERRUPTED", "the exchange was aborted", {}, reason));
  }

  expire(): void {
    if (this.job !== undefined) this.cut(this.job, "time");
  }

  /** No more bytes will come. */
  private lose(loss: Loss): void {
    const { job } = this;
    this.loss ??= loss;
    if (job === undefined) this.destroy();
    else if (job.framer.end === undefined && !this.isHeld) this.cut(job, this.loss);
  }

  /** The bytes have ended before the answer did. */
  private cut(job: Running, cause: Loss | "time"): void {
    const { framer } = job;
    try {
      framer.finish(cause);
      if (framer.wait !== undefined) this.hold(framer.wait, job);
      if (framer.end !== undefined) this.conclude(job, false);
      else if (cause === "time") this.settle(trouble("answer-timeout"));
      else this.settle(this.hasServed ? "stale" : trouble("no-answer", this.failure?.message));
    } catch (error) {
      this.fail(error as Error);
    }
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/** Whether the first bytes may be those of an answer that could be told from rubbish. */
function startsLikeAnswer(bytes: Uint8Array): boolean {
  const size = Math.min(bytes.length, ANSWER_START.length);
  return ANSWER_START.compare(bytes, 0, size, 0, size) === 0;
}
