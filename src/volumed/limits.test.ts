/** What the server does not take, whom it does not answer, and how it ends. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RemoteVolume, type StoreRequest } from "../store/index.ts";
import { ask, sendRaw } from "../testing/http-exchange.ts";
import { MemoryVolume } from "../testing/memory-volume.ts";
import { codecs, collect, contentOf, inPieces, mixedBytes, storing } from "../testing/volume-contents.ts";
import { isLoopback, type LogEntry, serveVolume, type VolumeServerOptions } from "./index.ts";

const page = contentOf("sha256", "a label");
const TOKEN = "correct-horse-battery";

async function start(options: VolumeServerOptions = {}) {
  const memory = new MemoryVolume(codecs);
  let isClosed = false;
  memory[Symbol.asyncDispose] = () => {
    isClosed = true;
    return Promise.resolve();
  };
  const log: LogEntry[] = [];
  const server = await serveVolume(memory, { onLog: (entry) => log.push(entry), ...options });
  const path = `${server.url}/blocks/${page.signature}`;
  return {
    memory,
    server,
    log,
    path,
    isClosed: () => isClosed,
    put: () => ask(path, { method: "PUT", body: page.bytes }),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("sizes", () => {
  it("contents", async () => {
    await using fixture = await start({ limits: { contentSizeMaxBytes: 1_500_000 } });
    await using volume = new RemoteVolume({ url: fixture.server.url });
    const large = contentOf("sha256", mixedBytes(1_500_001));
    const most = contentOf("sha256", mixedBytes(1_500_000));
    const tooLarge = { code: "HT_TOO_LARGE" };
    await expect(volume.store(storing(large))).rejects.toMatchObject(tooLarge);
    await expect(volume.store({ ...storing(large), size: 10 })).rejects.toMatchObject(tooLarge);
    await expect(volume.store({ ...storing(large, { pieceSize: 70_000 }), size: 10 })).rejects.toMatchObject(tooLarge);
    await expect(volume.store(storing(large, { pieceSize: 70_000 }))).rejects.toMatchObject(tooLarge);
    expect(await collect(volume.storeAll([storing(large), storing(most)]))).toMatchObject([
      { error: tooLarge },
      { receipt: { outcome: "new" } },
    ]);
    expect(fixture.memory.blocks.size).toBe(1);
  });

  it("a small body that says it holds a large content is not unpacked at once", async () => {
    await using fixture = await start();
    let given: unknown;
    fixture.memory.store = (request) => {
      given = request.data;
      return Promise.reject(new Error("looked at"));
    };
    const headers = { "Holotype-Size": 2_000_000, "Holotype-Compression": "gzip" };
    await ask(fixture.path, { method: "PUT", body: page.bytes, headers });
    expect(given).not.toBeInstanceOf(Uint8Array);
  });

  it("headers", async () => {
    await using fixture = await start({ limits: { headerSizeMaxBytes: 4096 } });
    const answer = await ask(fixture.path, { headers: { "X-Long": "x".repeat(5000) } });
    expect(answer).toMatchObject({ status: 413, code: "HT_TOO_LARGE" });
    expect(await fixture.put()).toMatchObject({ status: 201 });
  });

  it("bodies that are gathered at one time", async () => {
    await using fixture = await start({ limits: { heldSizeMaxBytes: 100_000 } });
    const half = request(fixture.path, { method: "PUT", headers: { "Content-Length": 80_000 }, agent: new Agent() });
    half.on("error", () => {});
    half.write("x");
    await wait(50);
    const headers = { "Content-Length": 40_000 };
    expect(await ask(fixture.path, { method: "PUT", headers, body: Buffer.alloc(40_000) })).toMatchObject({
      status: 503,
      code: "HT_BUSY",
      headers: { "retry-after": "1" },
    });
    half.destroy();
    await expect.poll(async () => (await fixture.put()).status).toBe(201);
  });
});

describe("time", () => {
  it("a header that does not come to its end", async () => {
    await using fixture = await start({ limits: { headerTimeoutMs: 200 } });
    expect(await sendRaw(fixture.server.url, "GET / HTTP/1.1\r\nHost: loc")).toMatch(/^HTTP\/1\.1 400 [^]*HT_CUT_OFF/);
  });

  it("a body or a stream that does not go on, but not a volume that takes its time", async () => {
    await using fixture = await start({ limits: { idleTimeoutMs: 150 } });
    const head = `PUT /blocks/${page.signature} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf`;
    expect(await sendRaw(fixture.server.url, head)).toBe("");
    const stream = "POST /store HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nWARC/\r\n";
    expect(await sendRaw(fixture.server.url, stream)).toBe("");
    expect(await sendRaw(fixture.server.url, "")).toBe("");
    const store = fixture.memory.store.bind(fixture.memory);
    fixture.memory.store = async (request) => {
      await wait(500);
      return store(request);
    };
    expect(await fixture.put()).toMatchObject({ status: 201 });
    await using volume = new RemoteVolume({ url: fixture.server.url });
    expect(await collect(volume.storeAll([storing(page)]))).toMatchObject([{ receipt: { references: 2 } }]);
  });

  it("a client that does not read what it asked for", async () => {
    await using fixture = await start({ limits: { idleTimeoutMs: 200 } });
    const large = contentOf("sha256", mixedBytes(20_000_000));
    await fixture.memory.store(storing(large));
    const open = fixture.memory.open.bind(fixture.memory);
    let isLeft = false;
    fixture.memory.open = async (address) => {
      const block = (await open(address))!;
      async function* pieces() {
        try {
          yield* inPieces(block.data as Uint8Array, 100_000);
        } finally {
          isLeft = true;
        }
      }
      return { ...block, data: pieces() };
    };
    const { hostname, port } = new URL(fixture.server.url);
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET /blocks/${large.signature} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    });
    socket.on("error", () => {});
    socket.pause();
    await expect.poll(() => isLeft, { timeout: 5000 }).toBe(true);
    socket.destroy();
  });
});

describe("connections", () => {
  it("beyond the limit are told to come back", async () => {
    await using fixture = await start({ limits: { connectionCountMax: 2 } });
    const { hostname, port } = new URL(fixture.server.url);
    const sockets = [1, 2].map(() => connect(Number(port), hostname));
    await expect.poll(async () => (await fixture.put()).code).toBe("HT_BUSY");
    const volume = new RemoteVolume({ url: fixture.server.url, tries: 6 });
    const stored = volume.store(storing(page));
    await wait(100);
    for (const socket of sockets) socket.destroy();
    expect(await stored).toMatchObject({ outcome: "new" });
    await volume[Symbol.asyncDispose]();
  });
});

describe("connections that stall", () => {
  const fill = async (url: string, count: number, text: string) => {
    const { hostname, port } = new URL(url);
    const sockets = Array.from({ length: count }, () => connect(Number(port), hostname));
    for (const socket of sockets) {
      socket.on("error", () => {});
      socket.write(text);
    }
    await wait(1700);
    return { [Symbol.dispose]: () => sockets.forEach((socket) => socket.destroy()) };
  };

  it.each([
    ["say nothing", ""],
    ["stop in a header", "GET /volume HTTP/1.1\r\nHost:"],
    ["stop in a body", `PUT /blocks/${page.signature} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\nx`],
    ["stop in a stream", "POST /store HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"],
  ])("because they %s do not keep others out", async (_, text) => {
    await using fixture = await start({ limits: { connectionCountMax: 8 } });
    using _stalled = await fill(fixture.server.url, 8, text);
    expect(await fixture.put()).toMatchObject({ status: 201 });
    // As many as there can be at all: then the first of those who come makes room for the next.
    using _more = await fill(fixture.server.url, 100, text);
    await expect.poll(async () => (await fixture.put().catch(() => undefined))?.status).toBe(200);
  });

  it("are not those that wait for the volume", async () => {
    await using fixture = await start({ limits: { connectionCountMax: 2 } });
    let go = () => {};
    fixture.memory.describe = () =>
      new Promise((resolve) => {
        go = () => resolve(MemoryVolume.prototype.describe.call(fixture.memory));
      });
    const slow = ask(`${fixture.server.url}/volume`);
    using _stalled = await fill(fixture.server.url, 1, "");
    expect(await fixture.put()).toMatchObject({ status: 201 });
    go();
    expect(await slow).toMatchObject({ status: 200 });
  });
});

describe("who may ask", () => {
  it("with a token, whoever has it", async () => {
    await using fixture = await start({ token: TOKEN });
    const get = (authorization?: string) =>
      ask(`${fixture.server.url}/volume`, { headers: authorization === undefined ? {} : { authorization } });
    const refused = { status: 401, code: "HT_FORBIDDEN", headers: { "www-authenticate": "Bearer" } };
    for (const wrong of [
      undefined,
      TOKEN,
      `Bearer ${TOKEN}x`,
      "Bearer ",
      `Basic ${TOKEN}`,
      `Bearer ${TOKEN.slice(1)}`,
    ]) {
      expect(await get(wrong)).toMatchObject(refused);
    }
    expect(await get(`Bearer ${TOKEN}`)).toMatchObject({ status: 200 });
    expect(await get(`bearer ${TOKEN}`)).toMatchObject({ status: 200 });
    expect(await ask(`${fixture.server.url}/health`)).toMatchObject({ status: 200 });
    expect(await ask(`${fixture.server.url}/metrics`)).toMatchObject(refused);
    expect(await fixture.put()).toMatchObject(refused);
    await using stranger = new RemoteVolume({ url: fixture.server.url, token: "something-else-altogether" });
    await expect(stranger.store(storing(page))).rejects.toMatchObject({ code: "HT_FORBIDDEN" });
    await expect(collect(stranger.openAll([{ ...page, overflow: 0 }]))).rejects.toMatchObject({ code: "HT_FORBIDDEN" });
    await using known = new RemoteVolume({ url: fixture.server.url, token: TOKEN });
    expect(await collect(known.storeAll([storing(page)]))).toMatchObject([{ receipt: { outcome: "new" } }]);
    expect(await collect(known.openAll([{ ...page, overflow: 0 }]))).toMatchObject([{ size: page.size }]);
  });

  it("no server can be reached by others without a token, or with a poor one", async () => {
    for (const host of ["0.0.0.0", "::", "192.0.2.1", "example.org"]) {
      await expect(start({ host })).rejects.toMatchObject({ code: "HT_USAGE" });
    }
    for (const token of ["", "short", "with blanks in between it"]) {
      await expect(start({ token })).rejects.toMatchObject({ code: "HT_USAGE" });
    }
    await using fixture = await start({ host: "0.0.0.0", token: TOKEN });
    expect(fixture.server.url).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
  });

  it("knows this machine's own addresses", () => {
    const own = ["127.0.0.1", "127.8.9.10", "::1", "0:0:0:0:0:0:0:1", "localhost", "volume.localhost"];
    expect(own.filter((host) => !isLoopback(host))).toEqual([]);
    const others = [
      "0.0.0.0",
      "::",
      "::2",
      "fe80::1",
      "10.0.0.1",
      "localhost.example",
      "127.0.0.1.example",
      "1::1",
      "",
    ];
    expect(others.filter(isLoopback)).toEqual([]);
  });
});

describe("TLS", () => {
  it("keeps what is said to itself", async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "holotype-tls-"));
    const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    try {
      const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"];
      const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", keyFile];
      execFileSync("openssl", ["req", "-x509", ...key, "-days", "2", ...subject, "-out", certFile], { stdio: "pipe" });
    } catch {
      rmSync(folder, { recursive: true });
      return context.skip("openssl, which makes the certificate, is not installed");
    }
    const [cert, key] = [readFileSync(certFile, "utf8"), readFileSync(keyFile)];
    rmSync(folder, { recursive: true });
    await using fixture = await start({ tls: { cert, key }, token: TOKEN });
    expect(fixture.server.url).toMatch(/^https:/);
    await using volume = new RemoteVolume({ url: fixture.server.url, token: TOKEN, ca: cert });
    expect(await volume.store(storing(page))).toMatchObject({ outcome: "new" });
    expect(await collect(volume.storeAll([storing(page)]))).toMatchObject([{ receipt: { references: 2 } }]);
    const large = contentOf("sha256", mixedBytes(1_300_000));
    await volume.store(storing(large, { pieceSize: 50_000 }));
    expect(await collect(volume.openAll([{ ...large, overflow: 0 }]))).toMatchObject([{ size: large.size }]);
    await using stranger = new RemoteVolume({ url: fixture.server.url, token: TOKEN, tries: 1 });
    await expect(stranger.describe()).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    await using plain = new RemoteVolume({ url: fixture.server.url.replace("https", "http"), token: TOKEN, tries: 1 });
    await expect(plain.describe()).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
  });
});

describe("the end", () => {
  it("waits for what is under way, refuses what comes, and closes the volume", async () => {
    await using fixture = await start();
    let release = () => {};
    const store = fixture.memory.store.bind(fixture.memory);
    fixture.memory.store = async (given) => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return store(given);
    };
    const stored = fixture.put();
    await expect.poll(() => release.toString()).not.toBe("() => {}");
    const closed = fixture.server.close();
    expect(await ask(`${fixture.server.url}/health`)).toMatchObject({
      status: 503,
      body: Buffer.from('{"status":"draining"}'),
    });
    expect(await ask(`${fixture.server.url}/volume`)).toMatchObject({ status: 503, code: "HT_BUSY" });
    expect(fixture.isClosed()).toBe(false);
    release();
    expect(await stored).toMatchObject({ status: 201 });
    await closed;
    expect(fixture.isClosed()).toBe(true);
    await expect(fixture.put()).rejects.toThrow(/ECONNREFUSED/);
    expect(fixture.log.map(({ event }) => event)).toEqual(["ready", "draining", "closed"]);
  });

  it("ends bulk streams between two contents, and clients learn what was done", async () => {
    const fixture = await start();
    await using volume = new RemoteVolume({ url: fixture.server.url, tries: 1 });
    let goOn = () => {};
    async function* endless(): AsyncGenerator<StoreRequest> {
      for (let i = 0; i < 3; i++) yield storing(contentOf("sha256", `specimen ${i}`));
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      yield storing(page);
    }
    const answers = volume.storeAll(endless());
    for (let i = 0; i < 3; i++) expect((await answers[Symbol.asyncIterator]().next()).value).toHaveProperty("receipt");
    await fixture.server.close();
    goOn();
    expect(await collect(answers)).toMatchObject([{ error: { code: "HT_PEER_UNAVAILABLE" } }]);
    expect(fixture.memory.blocks.size).toBe(3);
  });

  it("waits for a change whose client went away", async () => {
    const fixture = await start();
    let release = () => {};
    const store = fixture.memory.store.bind(fixture.memory);
    let isStored = false;
    fixture.memory.store = async (given) => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      const receipt = await store(given);
      isStored = true;
      return receipt;
    };
    const asked = request(fixture.path, {
      method: "PUT",
      headers: { "Content-Length": page.size },
      agent: new Agent(),
    });
    asked.on("error", () => {});
    asked.end(page.bytes);
    await expect.poll(() => release.toString()).not.toBe("() => {}");
    asked.destroy();
    await wait(50);
    const closed = fixture.server.close();
    await wait(50);
    expect(fixture.isClosed()).toBe(false);
    release();
    await closed;
    expect({ isStored, isClosed: fixture.isClosed() }).toEqual({ isStored: true, isClosed: true });
  });

  it("does not wait for ever", async () => {
    const fixture = await start({ limits: { drainTimeoutMs: 100 } });
    fixture.memory.store = () => new Promise(() => {});
    const stored = fixture.put();
    stored.catch(() => {});
    await wait(50);
    await fixture.server.close();
    await expect(stored).rejects.toThrow(/hang up|ECONNRESET|aborted/);
    expect(fixture.log.at(-1)).toMatchObject({ event: "closed", cutOff: 1 });
  });

  it("a port that is taken is told", async () => {
    await using fixture = await start();
    const port = Number(new URL(fixture.server.url).port);
    await expect(start({ port })).rejects.toMatchObject({ code: "HT_LOCKED" });
  });
});
