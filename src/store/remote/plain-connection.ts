/**
 * A connection to a volume server that is asked one thing at a time, as HTTP/1.1. It holds what it sends and what it gets,
 * but for large answers; see docs/decisions/0016-own-http-client.md for why it is not `node:http`.
 */
import { connect, isIP, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { type AnswerHead, AnswerReader, UnfamiliarAnswer } from "./answer-reader.ts";
import { type Deadlines, timedOut } from "./deadlines.ts";
import { LargeBody } from "./large-body.ts";

export interface ServerPlace {
  readonly isSecure: boolean;
  readonly hostname: string;
  readonly port: number;
  readonly ca?: string | Buffer | undefined;
  readonly deadlines: Deadlines;
}

export interface Question {
  /** The whole head, as Latin-1, with its blank line. */
  readonly head: string;
  readonly body: Uint8Array | undefined;
  readonly isHead: boolean;
  readonly heldSizeMax: number;
}

export interface Answer extends AnswerHead {
  readonly body: Buffer;
  /** Where the body is larger than was to be held: all of it. */
  readonly rest?: LargeBody;
}

/** The connection was there from before and ended before it gave any answer: it may have ended before the question. */
export class StaleConnection extends Error {}

interface Job {
  readonly reader: AnswerReader;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

const READ_SIZE = 64 << 10;
/** A connection is not used in the last moment before the server closes it. */
const KEPT_MARGIN_MS = 1000;
/** Without anything to do. */
const KEPT_MS = 30_000;

export class PlainConnection {
  private readonly socket: Socket;
  private readonly deadlines: Deadlines;
  private readonly onFree: () => void;
  private isConnected = false;
  private job: Job | undefined;
  private large: LargeBody | undefined;
  private failure: Error | undefined;
  private hasAnswered = false;
  private hasHeard = false;
  /** A deadline has passed. */
  private isLate = false;
  private usableUntilMs = Number.POSITIVE_INFINITY;

  /** `onFree` is called when it can be asked again, and `onClose` when it never can, and why if a deadline passed. */
  constructor(place: ServerPlace, onFree: () => void, onClose: (lateness: Error | undefined) => void) {
    this.onFree = onFree;
    this.deadlines = place.deadlines;
    this.socket = open(place, (bytes) => this.receive(bytes));
    this.socket.setTimeout(place.deadlines.connectTimeoutMs, () => this.destroy(this.job && this.lateness()));
    this.socket.once(place.isSecure ? "secureConnect" : "connect", () => {
      this.isConnected = true;
      this.socket.setTimeout(place.deadlines.answerTimeoutMs);
    });
    this.socket.on("error", (cause) => {
      this.failure ??= cause;
    });
    this.socket.on("end", () => this.socket.destroy());
    this.socket.on("close", () => {
      const error = this.failure ?? new Error("the connection was closed");
      this.fail(error);
      onClose(this.isLate ? error : undefined);
    });
  }

  private lateness(): Error {
    const { connectTimeoutMs, answerTimeoutMs, idleTimeoutMs } = this.deadlines;
    this.isLate = true;
    if (!this.isConnected) return timedOut("no connection", connectTimeoutMs);
    return this.hasHeard ? timedOut("no more of the answer", idleTimeoutMs) : timedOut("no answer", answerTimeoutMs);
  }

  /** Whether the server still waits for a request, as far as it has told. */
  get isUsable(): boolean {
    return !this.socket.destroyed && performance.now() < this.usableUntilMs;
  }

  /** Asks what has to be asked once the answer to the last question is there. Rejects where there is no answer. */
  ask({ head, body, isHead, heldSizeMax }: Question): Promise<Answer> {
    const { socket } = this;
    return new Promise((resolve, reject) => {
      this.job = { reader: new AnswerReader(isHead, heldSizeMax), resolve, reject };
      this.hasHeard = false;
      // It may have ended since it was handed out.
      if (socket.destroyed) return this.fail(this.failure ?? new Error("the connection was closed"));
      if (this.hasAnswered) socket.ref();
      if (this.isConnected) socket.setTimeout(this.deadlines.answerTimeoutMs);
      if (body === undefined || body.length === 0) socket.write(head, "latin1");
      else {
        socket.cork();
        socket.write(head, "latin1");
        socket.write(body);
        socket.uncork();
      }
    });
  }

  /** False where no more is to be read for now. */
  private receive(bytes: Buffer): boolean {
    this.hasHeard = true;
    if (this.large !== undefined) return this.large.take(Buffer.from(bytes));
    const { job } = this;
    if (job === undefined) {
      // Nobody asked.
      this.destroy();
      return false;
    }
    try {
      const state = job.reader.take(bytes);
      if (state === "more") {
        this.waitForMore();
        return true;
      }
      const { reader } = job;
      this.job = undefined;
      if (state === "large") return this.receiveLarge(job, reader.head!);
      job.resolve({ ...reader.head!, body: reader.body });
      this.free(reader.head!);
      return true;
    } catch (error) {
      this.destroy(error as Error);
      return false;
    }
  }

  private waitForMore(): void {
    const { idleTimeoutMs } = this.deadlines;
    if (this.socket.timeout !== idleTimeoutMs) this.socket.setTimeout(idleTimeoutMs);
  }

  private receiveLarge({ reader, resolve }: Job, head: AnswerHead): boolean {
    // Whoever takes it may take his time, and judges the silence of the server by himself.
    this.socket.setTimeout(0);
    const large = new LargeBody(head.length, this.socket);
    this.large = large;
    resolve({ ...head, body: Buffer.alloc(0), rest: large });
    return reader.body.length === 0 || large.take(reader.body);
  }

  /** The answer is there; the next question may come, unless the server does not wait for one. */
  private free({ keptMs }: AnswerHead): void {
    this.hasAnswered = true;
    // What was still to be sent has been answered already.
    if (keptMs === 0 || this.socket.writableLength > 0) return this.destroy();
    if (keptMs !== undefined) this.usableUntilMs = performance.now() + keptMs - KEPT_MARGIN_MS;
    this.socket.setTimeout(KEPT_MS);
    this.socket.unref();
    this.onFree();
  }

  private fail(error: Error): void {
    const { job, large } = this;
    this.job = undefined;
    this.large = undefined;
    large?.fail(error);
    if (job === undefined) return;
    const isStale = this.hasAnswered && !this.hasHeard && !this.isLate && !(error instanceof UnfamiliarAnswer);
    job.reject(isStale ? new StaleConnection(error.message, { cause: error }) : error);
  }

  destroy(error?: Error): void {
    this.failure ??= error;
    this.socket.destroy();
  }
}

/** What is received lies in one buffer that is used again and again. */
function open({ isSecure, hostname, port, ca }: ServerPlace, receive: (bytes: Buffer) => boolean): Socket {
  const buffer = Buffer.allocUnsafeSlow(READ_SIZE);
  const onread = { buffer, callback: (size: number) => receive(buffer.subarray(0, size)) };
  const options = { host: hostname, port, noDelay: true, onread };
  if (!isSecure) return connect(options);
  const servername = isIP(hostname) === 0 ? hostname : "";
  return connectSecurely({ ...options, servername, ...(ca === undefined ? {} : { ca }) });
}
