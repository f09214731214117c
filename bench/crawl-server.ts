/** The server of the crawl benchmark, as a process of its own: documents of 2 to 100 KB, mean 26 KB, by number. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const SIZES = [2000, 4000, 8000, 8000, 12_000, 16_000, 20_000, 30_000, 60_000, 100_000];
const TYPES = ["text/html", "text/html", "text/html", "text/plain", "text/css", "application/json", "image/png"];

/** The larger ones are as images are, the others as texts: what compresses to nothing would cost a crawl nothing. */
const bases = SIZES.map((size, i) => {
  let state = 0x9e3779b1 ^ i;
  return Buffer.from(
    Uint8Array.from({ length: size }, () => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return i < 6 ? 97 + ((state >>> 8) % 26) : state >>> 8;
    }),
  );
});

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const number = Number(/^\/bench\/(\d+)$/.exec(request.url!)?.[1] ?? 0);
  const body = Buffer.from(bases[number % SIZES.length]!);
  body.write(`document ${number} `, "latin1");
  response.writeHead(200, {
    "Content-Type": TYPES[number % TYPES.length],
    "Content-Length": body.length,
    ETag: `"b${number}"`,
    "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT",
  });
  response.end(body);
});

server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
