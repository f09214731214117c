import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mixedBytes } from "../../testing/volume-contents.ts";
import { freshAgent } from "./fresh-agent.ts";

const content = mixedBytes(5_000_000);
const server = createServer((_, response) => {
  let sent = 0;
  const more = (): void => {
    while (sent < content.length) {
      const piece = content.subarray(sent, sent + 1 + ((sent * 7) % 100_000));
      sent += piece.length;
      if (!response.write(piece)) return void response.once("drain", more);
    }
    response.end();
  };
  more();
});
beforeEach(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterEach(() => new Promise<void>((resolve) => server.close(() => resolve())));

function ask(): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    request({ port, agent: freshAgent(false, { noDelay: true }) }, resolve)
      .on("error", reject)
      .end();
  });
}

describe("a connection for streams", () => {
  it("gives what is sent, however it comes, and ends with it", async () => {
    const pieces: Buffer[] = [];
    for await (const piece of await ask()) pieces.push(piece as Buffer);
    // What was given is not overwritten by what comes later.
    expect(Buffer.concat(pieces).equals(content)).toBe(true);
  });

  it("reads no further than somebody takes", async () => {
    const response = await ask();
    const pieces = response.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
    const first = await pieces.next();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const waiting = response.readableLength + (response.socket as unknown as { readableLength: number }).readableLength;
    expect(waiting).toBeLessThan(1_000_000);
    let size = (first.value as Buffer).length;
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) size += next.value.length;
    expect(size).toBe(content.length);
  });
});
