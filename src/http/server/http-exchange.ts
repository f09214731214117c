/**
 * One request of an `HttpServer` and its answer on the wire. An answer is sent once; what fails after it has begun cuts
 * the connection, so that nobody takes it for whole.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { invariant } from "../../base/index.ts";
import { acceptsGzip, compressAnswer, endUnread } from "./compression.ts";
import { DISCARDED_SIZE_MAX } from "./limits.ts";
import type { UnderWay } from "./listener.ts";
import type { ServerAnswer, ServerRequest } from "./message.ts";
import { type BodyMemory, readRequestBody } from "./request-body.ts";

type Piece = string | Uint8Array;

/** Headers of every answer that does not set them itself; names in small letters. */
export type CommonHeaders = readonly (readonly [name: string, value: string])[];

export class HttpExchange implements ServerRequest, UnderWay {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly startedMs = performance.now();
  route: string | undefined;
  isWithServer = false;
  /** Since when the client waits for the server. */
  waitingSinceMs = this.startedMs;
  /** 0 until there is one. */
  status = 0;
  bytesIn = 0;
  bytesOut = 0;
  /** Whether all of the answer was handed to the system. */
  isWhole = false;
  /** What went wrong, for the log. */
  failure: unknown;
  private readonly request: IncomingMessage;
  private readonly response: ServerResponse;
  private readonly memory: BodyMemory;
  private controller: AbortController | undefined;
  private gathered: Promise<Uint8Array> | undefined;
  private isLeft = false;
  private isAborted = false;
  private onLeft: (() => void) | undefined;
  private isAnswered = false;
  /** What the answer's Content-Length says, if it has one. */
  private promisedSize: number | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, memory: BodyMemory) {
    this.method = request.method ?? "";
    this.target = toOriginForm(request.url ?? "");
    this.headers = request.headers;
    this.request = request;
    this.response = response;
    this.memory = memory;
    response.on("finish", () => {
      this.isWhole = true;
    });
  }

  get socket(): Socket {
    return this.request.socket;
  }

  get isOwed(): boolean {
    return (this.request.complete || this.isAnswered) && !this.response.writableEnded;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.isAborted) this.controller.abort();
    }
    return this.controller.signal;
  }

  body(): Promise<Uint8Array> {
    if (this.gathered === undefined) {
      this.gathered = this.gather();
      // A handler that gives up before it looks at the body is no reason to end the program.
      this.gathered.catch(() => {});
    }
    return this.gathered;
  }

  private async gather(): Promise<Uint8Array> {
    this.isWithServer = false;
    const body = await readRequestBody(this.request, this.memory);
    this.bytesIn = body.length;
    this.waitForServer();
    return body;
  }

  /** From now on the client waits for the server. */
  waitForServer(): void {
    this.isWithServer = true;
    this.waitingSinceMs = performance.now();
  }

  /** Sends the answer, unless there is one already or nobody waits for it; then its stream is ended. */
  async send(answer: ServerAnswer, common: CommonHeaders): Promise<void> {
    const isHead = this.method === "HEAD";
    if (this.isAnswered || this.isLeft) return endUnread(answer.body);
    const sent =
      answer.compress === true
        ? await compressAnswer(answer, acceptsGzip(this.headers["accept-encoding"]), isHead)
        : answer;
    const { body } = sent;
    if (this.isAnswered || this.isLeft || isHead) await endUnread(body);
    if (this.isAnswered || this.isLeft) return;
    if (body === undefined || typeof body === "string" || body instanceof Uint8Array)
      this.sendWhole(sent, body, common);
    else if (isHead) this.sendWhole(sent, undefined, common);
    else await this.sendStream(sent, body, common);
  }

  private begin({ status, headers }: ServerAnswer, common: CommonHeaders, length: number | undefined): void {
    const fields: string[] = [];
    const names = new Set<string>();
    for (const [name, value] of headers) {
      names.add(name.toLowerCase());
      fields.push(name, value);
      if (name.toLowerCase() === "content-length") this.promisedSize = Number(value);
    }
    for (const [name, value] of common) if (!names.has(name.toLowerCase())) fields.push(name, value);
    if (length !== undefined && !names.has("content-length")) fields.push("Content-Length", String(length));
    this.response.writeHead(status, fields);
    this.isAnswered = true;
    this.status = status;
  }

  private sendWhole(answer: ServerAnswer, body: Piece | undefined, common: CommonHeaders): void {
    const { status } = answer;
    const size = sizeOf(body ?? "");
    const isHead = this.method === "HEAD";
    const isBodiless = status === 204 || status === 304 || (isHead && body === undefined);
    this.begin(answer, common, isBodiless ? undefined : size);
    if (isHead || isBodiless) this.response.end();
    else {
      this.bytesOut = size;
      this.response.end(body);
    }
    this.end();
  }

  private async sendStream(answer: ServerAnswer, body: AsyncIterable<Piece>, common: CommonHeaders): Promise<void> {
    const iterator = body[Symbol.asyncIterator]();
    try {
      // What goes wrong before the first batch can still be answered as an error.
      let next = await this.unlessLeft(iterator.next());
      if (this.isTooLate || next === undefined) return;
      this.begin(answer, common, undefined);
      while (next.done !== true) {
        const written = this.write(next.value);
        if (written !== undefined) await written;
        next = await this.unlessLeft(iterator.next());
        if (next === undefined) return;
      }
      const isKept = this.promisedSize === undefined || this.promisedSize === this.bytesOut;
      invariant(isKept, "a stream that does not keep its Content-Length");
      this.response.end();
      this.end();
    } finally {
      // A generator that is busy ends when it comes to its next batch; one that has ended does nothing.
      iterator.return?.().catch(() => {});
    }
  }

  /** Absent where the client went first. */
  private unlessLeft<T>(promise: Promise<T>): Promise<T | undefined> {
    if (this.isLeft) {
      promise.catch(() => {});
      return Promise.resolve(undefined);
    }
    return new Promise((resolve, reject) => {
      this.onLeft = () => resolve(undefined);
      promise.then(resolve, reject);
    });
  }

  /** Absent where there is room for more; else resolves when there is. Bytes are in nobody's hands any more then. */
  private write(piece: Piece): Promise<void> | undefined {
    this.bytesOut += sizeOf(piece);
    if (piece.length === 0) return undefined;
    const isText = typeof piece === "string";
    let goOn = () => {};
    const gone = new Promise<void>((resolve) => {
      goOn = () => {
        this.response.off("drain", goOn);
        this.waitForServer();
        resolve();
      };
    });
    if (this.response.write(piece, isText ? undefined : goOn) && isText) {
      this.waitForServer();
      return undefined;
    }
    this.isWithServer = false;
    this.onLeft = goOn;
    if (isText) this.response.on("drain", goOn);
    return gone;
  }

  /** From here on it is the client that is waited for. */
  private end(): void {
    this.isWithServer = false;
    this.discard();
  }

  /** Reads on until the client has sent all, so that it gets to see the answer; but not for ever. */
  private discard(): void {
    if (this.request.complete) return;
    let size = 0;
    this.request.on("data", (piece: Buffer) => {
      size += piece.length;
      if (size > DISCARDED_SIZE_MAX) this.request.destroy();
    });
    this.request.on("error", () => {});
  }

  /** Whether all of an answer was given. */
  get isEnded(): boolean {
    return this.response.writableEnded;
  }

  /** Whether an answer has begun, or nobody waits for one. */
  get isTooLate(): boolean {
    return this.isAnswered || this.isLeft;
  }

  /** Ends an answer that cannot be finished. */
  cut(): void {
    this.response.destroy();
    this.leave();
  }

  /** Nobody waits for the answer any more, or it is all sent. */
  leave(): void {
    if (this.isLeft) return;
    this.isLeft = true;
    this.isWithServer = false;
    if (!this.isWhole) this.abort();
    this.onLeft?.();
  }

  /** Tells whoever works on the answer that it is not needed any more. */
  abort(): void {
    this.isAborted = true;
    this.controller?.abort();
  }
}

function sizeOf(piece: Piece): number {
  return typeof piece === "string" ? Buffer.byteLength(piece) : piece.length;
}

/** A proxy may send the whole URL. */
function toOriginForm(target: string): string {
  if (target.startsWith("/")) return target;
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "");
  return path.startsWith("/") || path === target ? path : `/${path}`;
}
