/** Clients that are slow, rude, gone or mad: each costs the server little, and nobody else anything. */
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { ArchiveError } from "../../base/index.ts";
import { ask, sendRaw } from "../../testing/http-exchange.ts";
import { type Handler, type HttpServerLimits, type LogEntry, serveHttp } from "../index.ts";

const TEXT = [["Content-Type", "text/plain"]] as const;
const greet: Handler = ({ target }) => ({ status: 200, headers: TEXT, body: `asked ${target}` });

async function start(handler: Handler, limits: Partial<HttpServerLimits> = {}) {
  const log: LogEntry[] = [];
  const server = await serveHttp(handler, { limits, onLog: (entry) => log.push(entry) });
  const underWay = async () => {
    const { body } = await ask(`${server.url}/metrics`);
    return Number(/^holotype_requests_under_way (\d+)$/m.exec(body.toString())![1]) - 1;
  };
  return { server, url: server.url, log, underWay, [Symbol.asyncDispose]: () => server.close() };
}

/** A client that says something and then does only what the test makes it do. */
function open(url: string, text: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () => socket.write(text));
  socket.on("error", () => {});
  return socket;
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const get = (target: string, more = "") => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;

/** A stream without end that notes how much of it was asked for, and whether it was ended. */
function endless(size: number) {
  const seen = { batches: 0, isEnded: false, signal: undefined as AbortSignal | undefined };
  async function* stream() {
    try {
      for (;;) {
        seen.batches++;
        await wait(0);
        yield Buffer.alloc(size, "x");
      }
    } finally {
      seen.isEnded = true;
    }
  }
  const handler: Handler = ({ signal, target }) => {
    if (target !== "/endless") return { status: 200, headers: TEXT, body: "short" };
    seen.signal = signal;
    return { status: 200, headers: TEXT, body: stream() };
  };
  return { seen, handler };
}

describe("requests", () => {
  it("with a header that does not come to its end", async () => {
    await using fixture = await start(greet, { headerTimeoutMs: 200 });
    expect(await sendRaw(fixture.url, "GET / HTTP/1.1\r\nHost: loc")).toMatch(/^HTTP\/1\.1 400 [^]*HT_CUT_OFF/);
  });

  it("with a body that does not come to its end, silently or byte by byte", async () => {
    const handler: Handler = async (request) => ({ status: 200, headers: TEXT, body: await request.body() });
    await using fixture = await start(handler, { idleTimeoutMs: 1000, requestTimeoutMs: 2500, headerTimeoutMs: 2000 });
    const head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n";
    expect(await sendRaw(fixture.url, `${head}half`)).toBe("");
    const socket = open(fixture.url, head);
    const drip = setInterval(() => socket.write("x"), 50);
    const said = await new Promise<string>((resolve) => {
      let text = "";
      socket.on("data", (piece) => {
        text += piece.toString();
      });
      socket.on("end", () => resolve(text));
    });
    clearInterval(drip);
    socket.destroy();
    expect(said).toMatch(/^HTTP\/1\.1 400 [^]*the request took too long/);
    await expect.poll(fixture.underWay).toBe(0);
  });

  it("with a body that breaks off after its handler gave up", async () => {
    const handler: Handler = (request) => {
      void request.body();
      throw new ArchiveError("HT_NOT_FOUND", "nothing takes this");
    };
    await using fixture = await start(handler);
    const socket = open(fixture.url, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf");
    const said = await new Promise<string>((resolve) => socket.once("data", (piece) => resolve(piece.toString())));
    expect(said).toMatch(/^HTTP\/1\.1 404 /);
    socket.destroy();
    await expect.poll(fixture.underWay).toBe(0);
  });

  it("with too large a header, and what is no request", async () => {
    await using fixture = await start(greet, { headerSizeMaxBytes: 4096 });
    expect(await sendRaw(fixture.url, get("/", `X: ${"x".repeat(5000)}\r\n`))).toMatch(/^HTTP\/1\.1 413 /);
    expect(await sendRaw(fixture.url, get(`/${"x".repeat(5000)}`))).toMatch(/^HTTP\/1\.1 413 /);
    expect(await sendRaw(fixture.url, "\x16\x03\x01 hello\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 [^]*HT_USAGE/);
    expect(await sendRaw(fixture.url, "GET / HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect(await ask(fixture.url)).toMatchObject({ status: 200 });
  });

  it("of a client that ends its side are answered", async () => {
    const handler: Handler = async () => {
      await wait(50);
      return { status: 200, headers: TEXT, body: "still here" };
    };
    await using fixture = await start(handler);
    const socket = open(fixture.url, get("/"));
    socket.on("connect", () => socket.end());
    let said = "";
    socket.on("data", (piece) => {
      said += piece.toString();
    });
    await new Promise((resolve) => socket.on("close", resolve));
    expect(said).toMatch(/still here$/);
  });

  it("that were sent ahead are answered in order, one at a time", async () => {
    let atOnce = 0;
    let atOnceMax = 0;
    const handler: Handler = async ({ target }) => {
      atOnceMax = Math.max(atOnceMax, ++atOnce);
      await wait(target === "/1" ? 50 : 0);
      atOnce--;
      return { status: 200, headers: TEXT, body: target };
    };
    await using fixture = await start(handler);
    const said = await sendRaw(fixture.url, get("/1") + get("/2") + get("/3", "Connection: close\r\n"));
    expect(said.match(/\/\d(?=HTTP|$)/g)).toEqual(["/1", "/2", "/3"]);
    expect(atOnceMax).toBe(1);
    expect(await sendRaw(fixture.url, get("/1").repeat(500))).toBe("");
    await expect.poll(fixture.underWay).toBe(0);
  });

  it("with the whole URL, as proxies send it", async () => {
    await using fixture = await start(greet);
    const last = "Connection: close\r\n";
    expect(await sendRaw(fixture.url, get("http://localhost/a?b", last))).toMatch(/asked \/a\?b$/);
    expect(await sendRaw(fixture.url, get("http://localhost?b", last))).toMatch(/asked \/\?b$/);
  });
});

describe("connections", () => {
  it("that stall make room for those that ask", async () => {
    await using fixture = await start(greet, { connectionCountMax: 50 });
    const starts = ["", "GET / HT", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx", get("/")];
    const stalled = Array.from({ length: 200 }, (_, i) => open(fixture.url, starts[i % starts.length]!));
    await wait(2200);
    for (let i = 0; i < 20; i++) expect(await ask(`${fixture.url}/${i}`)).toMatchObject({ status: 200 });
    for (const socket of stalled) socket.destroy();
  });
});

describe("streams", () => {
  it("end when their client is gone, and nothing is left of them", async () => {
    const { seen, handler } = endless(1000);
    await using fixture = await start(handler);
    const socket = open(fixture.url, get("/endless"));
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    await expect.poll(() => seen.isEnded).toBe(true);
    expect(seen.signal!.aborted).toBe(true);
    await expect.poll(fixture.underWay).toBe(0);
    expect(fixture.log.at(-1)).toMatchObject({ level: "warning", target: "/endless", cut: true });
  });

  it("end when their client is gone, compressed ones too", async () => {
    const { seen, handler } = endless(100_000);
    await using fixture = await start(async (request) => ({ ...(await handler(request)), compress: true }));
    const socket = open(fixture.url, get("/endless", "Accept-Encoding: gzip\r\n"));
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    await expect.poll(() => seen.isEnded).toBe(true);
    await expect.poll(fixture.underWay).toBe(0);
  });

  it("that nobody reads are let go", async () => {
    const body = new Readable({ read: () => {} });
    await using fixture = await start(() => ({ status: 200, headers: TEXT, body }));
    expect(await ask(fixture.url, { method: "HEAD" })).toMatchObject({ status: 200 });
    expect(body.destroyed).toBe(true);
  });

  it("stop for a client that does not read, and end when it does not for long", async () => {
    const { seen, handler } = endless(100_000);
    await using fixture = await start(handler, { idleTimeoutMs: 1000 });
    const socket = open(fixture.url, get("/endless"));
    socket.pause();
    await wait(600);
    const { batches } = seen;
    await wait(200);
    expect(seen.batches).toBe(batches);
    await expect.poll(() => seen.isEnded, { timeout: 5000 }).toBe(true);
    socket.destroy();
  });

  it("are cut where they fail, so that nobody takes them for whole", async () => {
    async function* stream(after: number, failure: Error) {
      for (let i = 0; i < after; i++) yield "batch";
      await wait(0);
      throw failure;
    }
    const handler: Handler = ({ target }) => {
      const failure = target === "/bug" ? new Error("secret") : new ArchiveError("HT_NOT_FOUND", "gone");
      return { status: 200, headers: TEXT, body: stream(target === "/first" ? 0 : 2, failure) };
    };
    await using fixture = await start(handler);
    expect(await ask(`${fixture.url}/first`)).toMatchObject({ status: 404, code: "HT_NOT_FOUND" });
    await expect(ask(`${fixture.url}/later`)).rejects.toThrow("aborted");
    await expect(ask(`${fixture.url}/bug`)).rejects.toThrow("aborted");
    await expect.poll(() => fixture.log.at(-1)).toMatchObject({ level: "error", message: "secret", cut: true });
  });

  it("are cut where they do not keep their Content-Length", async () => {
    async function* stream() {
      await wait(0);
      yield "12345";
    }
    const handler: Handler = () => ({ status: 200, headers: [["Content-Length", "6"]], body: stream() });
    await using fixture = await start(handler);
    await expect(ask(fixture.url)).rejects.toThrow(/aborted|hang up/);
    await expect.poll(() => fixture.log.at(-1)).toMatchObject({ level: "error", cut: true });
  });

  it("under way are finished when the server drains", async () => {
    let goOn: (() => void) | undefined;
    async function* stream() {
      yield "first ";
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      yield "last";
    }
    const fixture = await start(() => ({ status: 200, headers: TEXT, body: stream() }));
    const answer = ask(fixture.url);
    await expect.poll(() => goOn).toBeDefined();
    const closed = fixture.server.close();
    await wait(50);
    goOn!();
    expect((await answer).body.toString()).toBe("first last");
    await closed;
  });
});

describe("handlers that do not answer", () => {
  it("are told so, and their clients too", async () => {
    let signal: AbortSignal | undefined;
    let isLateEnded = false;
    async function* late() {
      try {
        yield "begun";
        await wait(100_000);
      } finally {
        isLateEnded = true;
      }
    }
    const handler: Handler = async (request) => {
      signal = request.signal;
      if (request.target === "/stream") return { status: 200, headers: TEXT, body: late() };
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      // Too late: it must be let go, and must not hurt the answer that was given instead.
      if (request.target === "/throw") throw new Error("too late");
      return { status: 200, headers: TEXT, body: { [Symbol.asyncIterator]: () => ended } };
    };
    const ended: AsyncIterator<string> = {
      next: () => Promise.reject(new Error("asked")),
      return: () => {
        isLateEnded = true;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
    await using fixture = await start(handler, { answerTimeoutMs: 200 });
    expect(await ask(fixture.url)).toMatchObject({ status: 503, code: "HT_BUSY", headers: { "retry-after": "1" } });
    expect(signal!.aborted).toBe(true);
    await expect.poll(() => isLateEnded).toBe(true);
    expect(await ask(`${fixture.url}/throw`)).toMatchObject({ status: 503 });
    await expect(ask(`${fixture.url}/stream`)).rejects.toThrow("aborted");
    expect(signal!.aborted).toBe(true);
    await expect.poll(fixture.underWay).toBe(0);
  });
});
