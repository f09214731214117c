/**
 * A connection whose requests are read here as long as they are of the plain kind, one after the other; from the first
 * that is not on, it is with `node:http`. See docs/decisions/0021-plain-requests.md.
 *
 * 1. One request at a time: what a client sends ahead stays unread until the one before is answered and its answer taken.
 * 2. Nothing is held but a head of limited size, and a body that was admitted.
 * 3. Whoever keeps us waiting has a deadline; whoever waits for the volume has none.
 */
import { type OutgoingHttpHeaders, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { ANSWER_GUARDS } from "../http/index.ts";
import type { ServerLimits } from "./limits.ts";
import { PlainExchange } from "./plain-exchange.ts";
import { mayBePlain, parseRequestHead, type RequestHead } from "./request-head.ts";

export interface PlainHost {
  readonly limits: ServerLimits;
  /** As the `Date` of an answer has it. */
  date(): string;
  /** Answers a request, or sees to it that it is answered. */
  take(exchange: PlainExchange, socket: Socket): void;
  /** The exchange is over, one way or the other. */
  finish(exchange: PlainExchange): void;
  /** The connection is not a plain one any more; `received` is what comes first on it. */
  handOver(socket: Socket, received: Buffer): void;
  /** The head of a request took too long. */
  refuseLate(socket: Socket): void;
  /** A request ended before its end. */
  refuseHalf(socket: Socket): void;
  forget(connection: PlainConnection): void;
}

const BLANK_LINE = Buffer.from("\r\n\r\n");
const EMPTY = Buffer.alloc(0);
const GUARD_FIELDS = Object.entries(ANSWER_GUARDS)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join("");

export class PlainConnection {
  private readonly host: PlainHost;
  readonly socket: Socket;
  private readonly keptField: string;
  /** What came and was not looked at yet, or is half a head. */
  private received: Buffer = EMPTY;
  private exchange: PlainExchange | undefined;
  /** Of the body that is being received. */
  private bodyLeft = 0;
  private body: Buffer | undefined;
  private take: ((body: Uint8Array) => void) | undefined;
  private isAdvancing = false;
  private hasEnded = false;
  /** By when the client has to have done something; and by when the head of its request has to be there. */
  private deadlineMs: number;
  private headDeadlineMs: number;

  constructor(host: PlainHost, socket: Socket) {
    this.host = host;
    this.socket = socket;
    const { idleTimeoutMs, headerTimeoutMs, keepAliveTimeoutMs } = host.limits;
    this.keptField = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1000)}\r\n`;
    const nowMs = performance.now();
    this.deadlineMs = nowMs + idleTimeoutMs;
    this.headDeadlineMs = nowMs + headerTimeoutMs;
    socket.on("data", this.receive);
    socket.on("end", this.takeEnd);
    socket.on("error", () => {
      // It is followed by the close.
    });
    socket.on("timeout", this.judgeTaking);
    socket.on("close", this.close);
  }

  get isClosed(): boolean {
    return this.socket.destroyed;
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** To be called from time to time. */
  judgeSilence(nowMs: number): void {
    if (nowMs >= this.deadlineMs) this.socket.destroy();
    else if (nowMs >= this.headDeadlineMs) {
      this.hasEnded = true;
      this.received = EMPTY;
      this.headDeadlineMs = Number.POSITIVE_INFINITY;
      this.host.refuseLate(this.socket);
    }
  }

  /** Of a client that does not take its answer. */
  private readonly judgeTaking = (): void => {
    if (this.exchange?.isWithServer === true) this.socket.setTimeout(this.host.limits.idleTimeoutMs);
    else this.socket.destroy();
  };

  private readonly receive = (bytes: Buffer): void => {
    const rest = this.bodyLeft > 0 ? this.receiveBody(bytes) : bytes;
    // Behind a last request nothing counts.
    if (rest.length === 0 || (this.hasEnded && this.isIdle)) return;
    this.received = this.received.length === 0 ? rest : Buffer.concat([this.received, rest]);
    this.advance();
  };

  /** Reads requests from what was received, as long as nothing is under way. */
  private advance(): void {
    if (this.isAdvancing) return;
    this.isAdvancing = true;
    try {
      while (this.isIdle && !this.hasEnded && this.received.length > 0 && this.readHead());
    } finally {
      this.isAdvancing = false;
    }
    if (!this.isIdle && this.received.length > 0) this.socket.pause();
  }

  private get isIdle(): boolean {
    return this.exchange === undefined && this.bodyLeft === 0 && !this.socket.destroyed;
  }

  /** False where more has to come, or where somebody else goes on. */
  private readHead(): boolean {
    const { received, host } = this;
    const { headerSizeMaxBytes, headerTimeoutMs, idleTimeoutMs } = host.limits;
    const end = received.indexOf(BLANK_LINE);
    const size = end < 0 ? received.length : end;
    if (end < 0 && size <= headerSizeMaxBytes && mayBePlain(received)) {
      const nowMs = performance.now();
      if (this.headDeadlineMs === Number.POSITIVE_INFINITY) this.headDeadlineMs = nowMs + headerTimeoutMs;
      this.deadlineMs = nowMs + idleTimeoutMs;
      return false;
    }
    const head =
      end < 0 || size > headerSizeMaxBytes ? undefined : parseRequestHead(received.toString("latin1", 0, end));
    if (head === undefined) {
      this.leave();
      host.handOver(this.socket, received);
      return false;
    }
    this.received = EMPTY;
    this.headDeadlineMs = Number.POSITIVE_INFINITY;
    this.ask(head, received.subarray(end + BLANK_LINE.length));
    return true;
  }

  private ask(head: RequestHead, behind: Buffer): void {
    const exchange = new PlainExchange(this, head);
    this.exchange = exchange;
    this.bodyLeft = head.length;
    this.waitForBody();
    this.host.take(exchange, this.socket);
    this.received = this.bodyLeft > 0 ? this.receiveBody(behind) : behind;
  }

  private waitForBody(): void {
    const { idleTimeoutMs } = this.host.limits;
    this.deadlineMs = this.bodyLeft > 0 ? performance.now() + idleTimeoutMs : Number.POSITIVE_INFINITY;
  }

  /** See `Exchange.gather`. */
  gather(exchange: PlainExchange, size: number, take: (body: Uint8Array) => void): void {
    this.take = take;
    if (size === 0) this.handOn(exchange, EMPTY);
  }

  /** Takes what belongs to the body, and gives back the rest. A body that nobody waits for is dropped. */
  private receiveBody(bytes: Buffer): Buffer {
    const { exchange, take, bodyLeft } = this;
    const piece = bytes.length > bodyLeft ? bytes.subarray(0, bodyLeft) : bytes;
    this.bodyLeft -= piece.length;
    this.waitForBody();
    if (exchange !== undefined && take !== undefined) {
      exchange.bytesIn += piece.length;
      // Mostly all of it comes at once, behind its head.
      if (this.body === undefined && this.bodyLeft === 0) this.handOn(exchange, piece);
      else this.fill(exchange, piece);
    } else if (this.bodyLeft === 0 && exchange === undefined) this.rest();
    return bytes.subarray(piece.length);
  }

  private fill(exchange: PlainExchange, piece: Buffer): void {
    this.body ??= Buffer.allocUnsafeSlow(piece.length + this.bodyLeft);
    piece.copy(this.body, this.body.length - this.bodyLeft - piece.length);
    if (this.bodyLeft === 0) this.handOn(exchange, this.body);
  }

  private handOn(exchange: PlainExchange, body: Buffer): void {
    const take = this.take!;
    this.take = undefined;
    this.body = undefined;
    exchange.isWithServer = true;
    try {
      take(body);
    } catch (error) {
      exchange.fail(error);
    }
  }

  private formatHead(exchange: PlainExchange, status: number, headers: OutgoingHttpHeaders): string {
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${GUARD_FIELDS}`;
    for (const name in headers) text += `${name}: ${String(headers[name])}\r\n`;
    text += `Date: ${this.host.date()}\r\n`;
    if (headers["Connection"] === "close") this.hasEnded = true;
    else text += this.isLast(exchange) ? "Connection: close\r\n" : this.keptField;
    return `${text}\r\n`;
  }

  private isLast(exchange: PlainExchange): boolean {
    return this.hasEnded || !exchange.isKept;
  }

  /** Sends a whole answer. */
  answer(
    exchange: PlainExchange,
    status: number,
    headers: OutgoingHttpHeaders,
    body: string | Uint8Array | undefined,
  ): void {
    const { socket } = this;
    if (socket.destroyed) return;
    const head = this.formatHead(exchange, status, headers);
    if (body instanceof Uint8Array && body.length > 0) {
      socket.cork();
      socket.write(head, "latin1");
      socket.write(body);
      socket.uncork();
    } else socket.write(body === undefined ? head : `${head}${String(body)}`);
    this.finish(exchange);
  }

  /** See `Exchange.begin`. */
  begin(exchange: PlainExchange, status: number, headers: OutgoingHttpHeaders): void {
    this.socket.write(this.formatHead(exchange, status, headers), "latin1");
    this.socket.setTimeout(this.host.limits.idleTimeoutMs);
  }

  /** Resolves to whether the piece was sent. */
  write(piece: Uint8Array): Promise<boolean> {
    return new Promise((resolve) => {
      this.socket.write(piece, (error) => resolve(error === undefined || error === null));
    });
  }

  /** The answer is all written; once it is all on its way, the next request may come. */
  finish(exchange: PlainExchange): void {
    const { socket } = this;
    if (socket.writableLength === 0 || socket.destroyed) return this.over(exchange);
    // A client that does not take its answer gets no other.
    exchange.isWithServer = false;
    socket.setTimeout(this.host.limits.idleTimeoutMs);
    // Where it cannot be sent, nothing that came behind its request is begun.
    socket.write("", (error) => (error ? socket.destroy() : this.over(exchange)));
  }

  private over(exchange: PlainExchange): void {
    if (this.exchange !== exchange) return;
    this.exchange = undefined;
    this.take = undefined;
    this.body = undefined;
    if (this.socket.timeout !== 0) this.socket.setTimeout(0);
    this.host.finish(exchange);
    // What is left of the body was promised, and is dropped when it comes.
    if (this.isLast(exchange)) this.hasEnded = true;
    if (this.bodyLeft === 0) this.rest();
  }

  /** Between two requests. */
  private rest(): void {
    const { socket } = this;
    if (socket.destroyed) return;
    if (this.hasEnded) {
      this.received = EMPTY;
      this.deadlineMs = performance.now() + this.host.limits.idleTimeoutMs;
      socket.end();
    } else this.deadlineMs = performance.now() + this.host.limits.keepAliveTimeoutMs;
    if (socket.isPaused()) socket.resume();
    if (this.received.length > 0) this.advance();
  }

  /** The client sends no more. */
  private readonly takeEnd = (): void => {
    const isHalf = this.exchange === undefined ? this.received.length > 0 : this.take !== undefined;
    if (isHalf && !this.hasEnded) this.host.refuseHalf(this.socket);
    else if (this.exchange === undefined || this.bodyLeft > 0) this.socket.destroy();
    this.hasEnded = true;
  };

  private readonly close = (): void => {
    const { exchange } = this;
    this.exchange = undefined;
    this.host.forget(this);
    if (exchange !== undefined) this.host.finish(exchange);
  };

  /** From here on the socket is somebody else's. */
  private leave(): void {
    const { socket } = this;
    socket.off("data", this.receive);
    socket.off("end", this.takeEnd);
    socket.off("timeout", this.judgeTaking);
    socket.off("close", this.close);
    this.host.forget(this);
  }
}
