/** Whatever bytes come in at a socket, the server goes on answering others. */
import { connect } from "node:net";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ask } from "../../testing/http-exchange.ts";
import { type Handler, type LogEntry, serveHttp } from "../index.ts";

const handler: Handler = async (request) => {
  const body = request.method === "POST" ? await request.body() : "got";
  return { status: 200, headers: [["Content-Type", "text/plain"]], body, compress: true };
};

const FRAGMENTS = [
  "GET / HTTP/1.1\r\n",
  "POST /x HTTP/1.1\r\n",
  "HEAD /health HTTP/1.0\r\n",
  "OPTIONS * HTTP/1.1\r\n",
  "CONNECT a:1 HTTP/1.1\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "Host: localhost\r\n",
  "Host: [\r\n",
  "Content-Length: 5\r\n",
  "Content-Length: -1\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Expect: 100-continue\r\n",
  "Upgrade: websocket\r\nConnection: Upgrade\r\n",
  "Accept-Encoding: gzip, *;q=0\r\n",
  "Authorization: Basic ::::\r\n",
  "\r\n",
  "5\r\nhello\r\n",
  "0\r\n\r\n",
  "ffffffffffffffffff\r\n",
  "hello",
];

function send(url: string, pieces: readonly Uint8Array[], isHalfClosed: boolean): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      for (const piece of pieces) socket.write(piece);
      if (isHalfClosed) socket.end();
      else setTimeout(() => socket.destroy(), 5);
    });
    socket.on("error", () => {});
    socket.resume();
    socket.on("close", () => resolve());
  });
}

it("random bytes, and random pieces of requests", async () => {
  const log: LogEntry[] = [];
  const limits = { headerTimeoutMs: 300, idleTimeoutMs: 300, requestTimeoutMs: 300 };
  await using server = await serveHttp(handler, { limits, onLog: (entry) => log.push(entry) });
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...FRAGMENTS).map((text) => Buffer.from(text, "latin1")) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), fc.boolean(), async (pieces, isHalfClosed) => {
      await send(server.url, pieces, isHalfClosed);
      expect(log.filter(({ level }) => level === "error")).toEqual([]);
    }),
    { numRuns: 200 },
  );
  expect(await ask(`${server.url}/health`)).toMatchObject({ status: 200 });
  await expect
    .poll(async () => (await ask(`${server.url}/metrics`)).body.toString())
    .toContain("holotype_requests_under_way 1\n");
});
