/**
 * The yardstick: what a file server with sync does, over the same loopback HTTP. A file for each content, written and
 * synced, its name too, before the answer; read at once; removed with the name's removal synced.
 */
import { open, readFile, unlink } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync();
  await handle.close();
}

async function body(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

/** Answers on a port of this machine, which it resolves to. */
export async function serveYardstick(folder: string): Promise<number> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = join(folder, request.url!.slice(1));
    if (request.method === "PUT") {
      const bytes = await body(request);
      const handle = await open(path, "wx");
      await handle.write(bytes);
      await handle.sync();
      await handle.close();
      await syncFolder(folder);
      response.writeHead(201, { "content-length": 0 }).end();
    } else if (request.method === "DELETE") {
      await unlink(path);
      await syncFolder(folder);
      response.writeHead(204).end();
    } else {
      const bytes = await readFile(path);
      response.writeHead(200, { "content-length": bytes.length }).end(bytes);
    }
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as { port: number }).port;
}
