/** An exchange by `node:http`, which knows all of HTTP: streams both ways, chunks, and whatever clients there are. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ANSWER_GUARDS, DISCARDED_SIZE_MAX } from "../http/index.ts";
import { cutOff, Exchange } from "./exchange.ts";

const EMPTY = Buffer.alloc(0);

export class NodeExchange extends Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse) {
    super(request.method ?? "", request.url ?? "", request.headers);
    this.request = request;
    this.response = response;
    for (const name in ANSWER_GUARDS) response.setHeader(name, ANSWER_GUARDS[name]!);
  }

  get socket(): Socket {
    return this.request.socket;
  }

  protected get isTooLate(): boolean {
    return this.response.headersSent || this.response.destroyed;
  }

  get isOwed(): boolean {
    return this.request.complete && !this.response.writableEnded;
  }

  protected cut(): void {
    this.response.destroy();
  }

  protected sendWhole(status: number, headers: OutgoingHttpHeaders, body: string | Uint8Array | undefined): void {
    this.response.writeHead(status, headers);
    this.response.end(body);
    this.discard();
  }

  /** Reads on until the client has sent all, so that it gets to see the answer; but not for ever. */
  discard(): void {
    if (this.request.complete) return;
    let size = 0;
    this.request.on("data", (piece: Buffer) => {
      size += piece.length;
      if (size > DISCARDED_SIZE_MAX) this.request.destroy();
    });
    this.request.on("error", () => {});
  }

  gather(size: number, take: (body: Uint8Array) => void): void {
    const { request } = this;
    let body: Buffer = EMPTY;
    let filled = 0;
    request.on("data", (piece: Buffer) => {
      if (piece.length === size) body = piece;
      else {
        if (filled === 0) body = Buffer.allocUnsafeSlow(size);
        piece.copy(body, filled);
      }
      filled += piece.length;
      this.bytesIn += piece.length;
    });
    request.on("end", () => {
      this.isWithServer = true;
      try {
        take(body);
      } catch (error) {
        this.fail(error);
      }
    });
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of this.request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        this.bytesIn += chunk.length;
        yield chunk;
      }
    } catch (error) {
      throw cutOff(error);
    }
  }

  begin(status: number, headers: OutgoingHttpHeaders): void {
    this.response.writeHead(status, headers);
  }

  write(piece: Uint8Array): Promise<void> {
    this.isWithServer = false;
    this.bytesOut += piece.length;
    return new Promise((resolve, reject) => {
      this.response.write(piece, (error) => {
        this.isWithServer = true;
        if (error) reject(cutOff(error));
        else resolve();
      });
    });
  }

  end(): void {
    this.response.end();
  }
}
