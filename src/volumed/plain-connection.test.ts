/** Requests that are read without `node:http`: however their bytes are cut, and whatever comes between or behind them. */
import { connect, type Socket } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sendRaw } from "../testing/http-exchange.ts";
import { MemoryVolume } from "../testing/memory-volume.ts";
import { codecs, contentOf, inPieces, mixedBytes, storing } from "../testing/volume-contents.ts";
import { serveVolume, type VolumeServerOptions } from "./index.ts";
import { parseRequestHead } from "./request-head.ts";

const page = contentOf("sha256", "a label");
const path = `/blocks/${page.signature}`;
const HOST = "Host: localhost\r\n";
const put = `PUT ${path} HTTP/1.1\r\n${HOST}Content-Length: ${page.size}\r\n\r\na label`;
const get = `GET ${path} HTTP/1.1\r\n${HOST}\r\n`;
const last = `GET ${path} HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;

async function start(options: VolumeServerOptions = {}) {
  const memory = new MemoryVolume(codecs);
  const server = await serveVolume(memory, options);
  const { hostname, port } = new URL(server.url);
  const open = () => connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  return { memory, server, open, [Symbol.asyncDispose]: () => server.close() };
}

/** All that the other side says until it closes. */
function heard(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    socket.on("data", (piece: Buffer) => {
      said += piece.toString("latin1");
    });
    socket.on("error", reject);
    socket.on("end", () => {
      socket.end();
      resolve(said);
    });
  });
}

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));

describe("one connection", () => {
  it("answers what is sent ahead, in its order", async () => {
    await using fixture = await start();
    const said = await sendRaw(fixture.server.url, put + get + put + last);
    expect(statuses(said)).toEqual([201, 200, 200, 200]);
    expect(said).toMatch(/Date: .* GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=60\r\n/);
    expect(said).toMatch(/Date: .* GMT\r\nConnection: close\r\n\r\na label$/);
    expect(fixture.memory.blocks.get(page.signature)?.references).toBe(2);
  });

  it("takes requests in pieces of any size", async () => {
    await using fixture = await start();
    for (const size of [1, 7, 30]) {
      const socket = fixture.open();
      socket.setNoDelay(true);
      const said = heard(socket);
      const bytes = put + get + last;
      for (let at = 0; at < bytes.length; at += size) {
        await new Promise((resolve) => socket.write(bytes.slice(at, at + size), resolve));
      }
      expect(statuses(await said)).toEqual([size === 1 ? 201 : 200, 200, 200]);
    }
  });

  it("goes to node:http with the first request that is not plain, and stays there", async () => {
    await using fixture = await start();
    const chunked = `PUT ${path} HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nHolotype-Size: 7\r\n\r\n7\r\na label\r\n0\r\n\r\n`;
    const health = `GET /health HTTP/1.1\r\n${HOST}\r\n`;
    const said = await sendRaw(fixture.server.url, put + get + chunked + health + last);
    expect(statuses(said)).toEqual([201, 200, 200, 200, 200]);
    expect(fixture.memory.blocks.get(page.signature)?.references).toBe(2);
  });

  it("drops the body of what was refused, and goes on behind it", async () => {
    await using fixture = await start();
    const body = "x".repeat(300_000);
    const refused = `PUT ${path} HTTP/1.1\r\n${HOST}Holotype-Mode: odd\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    expect(statuses(await sendRaw(fixture.server.url, refused + put + last))).toEqual([400, 201, 200]);
  });

  it("refuses what comes behind the told length of a body", async () => {
    await using fixture = await start();
    expect(statuses(await sendRaw(fixture.server.url, `${put}!${get}`))).toEqual([201, 400]);
  });

  it("does not let the refusal of one request be taken for the answer to another", async () => {
    await using fixture = await start();
    const store = fixture.memory.store.bind(fixture.memory);
    fixture.memory.store = async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return store(request);
    };
    const byNode = put.replace(HOST, `${HOST}TE: trailers\r\n`);
    expect(await sendRaw(fixture.server.url, `${byNode}gibberish\r\n\r\n`)).toBe("");
    expect(statuses(await sendRaw(fixture.server.url, `${put}gibberish\r\n\r\n`))).toEqual([200, 400]);
  });

  it.each([-1, 1])("is cut where a block is not as long as it says, by %i", async (more) => {
    await using fixture = await start();
    await fixture.memory.store(storing(page));
    const open = fixture.memory.open.bind(fixture.memory);
    fixture.memory.open = async (address) => {
      const block = await open(address);
      return { ...block!, data: inPieces(mixedBytes(page.size + more), 100) };
    };
    for (const text of [get, get.replace(HOST, `${HOST}TE: trailers\r\n`)]) {
      expect(statuses(await sendRaw(fixture.server.url, text + last)).length).toBeLessThan(2);
    }
  });

  it("answers a client that has nothing more to say", async () => {
    await using fixture = await start();
    const socket = fixture.open();
    const said = heard(socket);
    socket.end(put);
    expect(statuses(await said)).toEqual([201]);
  });
});

describe("what is no request", () => {
  it.each([
    ["no host", `GET ${path} HTTP/1.1\r\n\r\n`],
    ["two lengths", `PUT ${path} HTTP/1.1\r\n${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`],
    ["a length that is none", `PUT ${path} HTTP/1.1\r\n${HOST}Content-Length: +1\r\n\r\n`],
    [
      "length and chunks",
      `PUT ${path} HTTP/1.1\r\n${HOST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ["a control character", `GET ${path} HTTP/1.1\r\n${HOST}X: \0\r\n\r\n`],
    ["a bare line end", `GET ${path} HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n`],
    ["a space before the colon", `GET ${path} HTTP/1.1\r\nHost : localhost\r\n\r\n`],
    ["another protocol", `GET ${path} GOPHER/1.1\r\n\r\n`],
  ])("%s is refused as node:http has it", async (_, text) => {
    await using fixture = await start();
    expect(statuses(await sendRaw(fixture.server.url, text))[0]).toBe(400);
    expect(statuses(await sendRaw(fixture.server.url, put + last))).toEqual([201, 200]);
  });

  it("is read without throwing, whatever it is", () => {
    const line = fc.oneof(
      fc.constantFrom("Host: a", "Content-Length: 5", "Connection: close", "X:", ": x"),
      fc.string(),
    );
    const head = fc.tuple(fc.constantFrom(`GET ${path} HTTP/1.1`, "POST /find HTTP/1.1", "x"), fc.array(line));
    fc.assert(
      fc.property(head, ([first, lines]) => {
        const read = parseRequestHead([first, ...lines].join("\r\n"));
        if (read !== undefined) expect(read.headers["host"]).toBeDefined();
      }),
    );
  });
});

describe("clients that keep the server waiting", () => {
  it("with a head", async () => {
    await using fixture = await start({ limits: { headerTimeoutMs: 200 } });
    const socket = fixture.open();
    const said = heard(socket);
    socket.write(put + get.slice(0, 20));
    // A byte now and then makes no difference.
    const trickle = setInterval(() => socket.write("a"), 20);
    expect(await said).toMatch(/HTTP\/1\.1 201 [^]*HTTP\/1\.1 400 [^]*HT_CUT_OFF/);
    clearInterval(trickle);
  });

  it("with the next request", async () => {
    await using fixture = await start({ limits: { keepAliveTimeoutMs: 200 } });
    expect(statuses(await sendRaw(fixture.server.url, put))).toEqual([201]);
    const byNode = get.replace(HOST, `${HOST}TE: trailers\r\n`);
    expect(statuses(await sendRaw(fixture.server.url, byNode))).toEqual([200]);
  }, 5000);

  it("by not reading what they ask for, of which no more is held than one answer", async () => {
    await using fixture = await start({ limits: { idleTimeoutMs: 300 } });
    const large = contentOf("sha256", mixedBytes(1_000_000));
    await fixture.memory.store(storing(large));
    const open = fixture.memory.open.bind(fixture.memory);
    let count = 0;
    fixture.memory.open = (address) => {
      count++;
      return open(address);
    };
    const socket = fixture.open();
    socket.pause();
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("end", () => socket.destroy());
    socket.write(`GET /blocks/${large.signature} HTTP/1.1\r\n${HOST}\r\n`.repeat(100));
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(count).toBeLessThan(20);
    await new Promise((resolve) => setTimeout(resolve, 500));
    socket.resume();
    await closed;
    expect(count).toBeLessThan(20);
  });
});

describe("a server that goes down", () => {
  it("answers what is under way by both ways, and refuses what comes", async () => {
    await using fixture = await start();
    const store = fixture.memory.store.bind(fixture.memory);
    let begun = 0;
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    fixture.memory.store = async (request) => {
      begun++;
      await held;
      return store(request);
    };
    const chunked = `PUT ${path} HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\nHolotype-Size: 7\r\n\r\n7\r\na label\r\n0\r\n\r\n`;
    const answers = [sendRaw(fixture.server.url, put), sendRaw(fixture.server.url, chunked)];
    await expect.poll(() => begun).toBe(2);
    const closed = fixture.server.close();
    const refused = await sendRaw(fixture.server.url, put);
    expect(refused).toMatch(/^HTTP\/1\.1 503 [^]*Connection: close\r\n[^]*HT_BUSY/);
    goOn();
    await closed;
    expect((await Promise.all(answers)).flatMap(statuses).sort((a, b) => a - b)).toEqual([200, 201]);
    expect(fixture.memory.blocks.get(page.signature)?.references).toBe(2);
  });

  it("keeps nothing of a body whose client went away", async () => {
    await using fixture = await start();
    const socket = fixture.open();
    socket.on("error", () => {});
    await new Promise((resolve) => socket.write(put.slice(0, -3), resolve));
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.resetAndDestroy();
    await fixture.server.close();
    expect(fixture.memory.blocks.size).toBe(0);
  });
});

describe("connections that were refused", () => {
  it.each([
    ["by node:http", "gibberish\r\n\r\n"],
    ["by node:http behind another", `GET /health HTTP/1.1\r\n${HOST}\r\ngibberish\r\n\r\n`],
    ["for half a head", get.slice(0, 20)],
  ])("%s do not keep the server from closing", async (_, text) => {
    const fixture = await start({ limits: { headerTimeoutMs: 200 } });
    const socket = fixture.open();
    socket.on("error", () => {});
    const told = new Promise((resolve) => socket.once("data", resolve));
    socket.write(text);
    await told;
    socket.end();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const startedMs = performance.now();
    await fixture.server.close();
    expect(performance.now() - startedMs).toBeLessThan(2000);
    socket.destroy();
  });
});
