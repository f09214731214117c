/** A stand-in for the live web: notes whatever reaches it, over TCP or UDP, be it only the opening of a connection. */
import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer, type Socket } from "node:net";

export interface Catcher extends AsyncDisposable {
  /** Of both. */
  readonly port: number;
  /** The first line of each request; `connection` for one that says nothing, `udp` for a datagram. */
  readonly caught: string[];
}

const ANSWER =
  "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";

function answerTo(text: string): string {
  const key = /sec-websocket-key: (\S+)/i.exec(text)?.[1];
  if (key === undefined) return ANSWER;
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
}

export async function startCatcher(): Promise<Catcher> {
  const caught: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const place = caught.push("connection") - 1;
    socket.on("error", () => {});
    socket.once("data", (data) => {
      const text = data.toString("latin1");
      caught[place] = text.split("\r\n")[0] ?? "";
      socket.write(answerTo(text));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const udp = createSocket("udp4");
  udp.on("message", () => caught.push("udp"));
  await new Promise<void>((resolve) => udp.bind(port, "127.0.0.1", resolve));
  return {
    port,
    caught,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await new Promise<void>((resolve) => udp.close(resolve));
    },
  };
}
