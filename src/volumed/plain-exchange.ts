/** An exchange over a connection whose bytes are read and written here. */
import type { OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { invariant } from "../base/index.ts";
import { cutOff, Exchange } from "./exchange.ts";
import type { PlainConnection } from "./plain-connection.ts";
import type { RequestHead } from "./request-head.ts";

export class PlainExchange extends Exchange {
  readonly isKept: boolean;
  private readonly connection: PlainConnection;
  private hasBegun = false;

  constructor(connection: PlainConnection, { method, url, headers, isKept }: RequestHead) {
    super(method, url, headers);
    this.connection = connection;
    this.isKept = isKept;
  }

  get socket(): Socket {
    return this.connection.socket;
  }

  /** A connection that comes to `node:http` has no plain exchange any more. */
  get isOwed(): boolean {
    return false;
  }

  protected get isTooLate(): boolean {
    return this.hasBegun || this.connection.isClosed;
  }

  protected cut(): void {
    this.connection.destroy();
  }

  protected sendWhole(status: number, headers: OutgoingHttpHeaders, body: string | Uint8Array | undefined): void {
    this.hasBegun = true;
    this.connection.answer(this, status, headers, body);
  }

  gather(size: number, take: (body: Uint8Array) => void): void {
    this.connection.gather(this, size, take);
  }

  chunks(): AsyncGenerator<Uint8Array> {
    invariant(false, "a body that is read piece by piece is for node:http");
  }

  begin(status: number, headers: OutgoingHttpHeaders): void {
    this.hasBegun = true;
    this.connection.begin(this, status, headers);
  }

  async write(piece: Uint8Array): Promise<void> {
    this.isWithServer = false;
    this.bytesOut += piece.length;
    if (!(await this.connection.write(piece))) throw cutOff(undefined);
    this.isWithServer = true;
  }

  end(): void {
    this.connection.finish(this);
  }
}
