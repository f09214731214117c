/** A server for tests that says whatever bytes it is told to, over TCP or TLS, and a client's view of its answers. */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createSecureServer, type TlsOptions } from "node:tls";
import type { ExchangeOptions, ExchangeResult, HttpClient, HttpRequest } from "../http/index.ts";

export interface WireServer extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:PORT`, or https. */
  readonly url: string;
  /** The heads of all requests, in the order in which they came. */
  readonly requests: readonly string[];
  connectionCount(): number;
}

/** Called with each request, once its head is there; `count` is that of the requests on its connection, from 1. */
export type WireAnswer = (socket: Socket, head: string, count: number) => void;

export async function startWireServer(answer: WireAnswer, tls?: TlsOptions): Promise<WireServer> {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  let connectionCount = 0;
  const take = (socket: Socket) => {
    let text = "";
    let count = 0;
    connectionCount++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (bytes: Buffer) => {
      text += bytes.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = text.slice(0, end);
      text = "";
      requests.push(head);
      answer(socket, head, ++count);
    });
  };
  const server = tls === undefined ? createServer(take) : createSecureServer(tls, take);
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    requests,
    connectionCount: () => connectionCount,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface KeptExchange {
  readonly result: ExchangeResult;
  readonly raw: Buffer;
  readonly entity: Buffer;
}

/** Asks, and keeps what comes. */
export async function exchangeKept(
  client: HttpClient,
  request: HttpRequest | string,
  options?: ExchangeOptions,
): Promise<KeptExchange> {
  const raw: Buffer[] = [];
  const entity: Buffer[] = [];
  const sink = {
    raw: (bytes: Uint8Array) => void raw.push(Buffer.from(bytes)),
    entity: (bytes: Uint8Array) => void entity.push(Buffer.from(bytes)),
  };
  const result = await client.exchange(typeof request === "string" ? { url: request } : request, sink, options);
  return { result, raw: Buffer.concat(raw), entity: Buffer.concat(entity) };
}
