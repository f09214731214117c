import { connect } from "node:net";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { exchangeKept, startWireServer } from "../testing/wire-server.ts";
import { AddressGuard, type Answer, encodeRequest, HttpClient, type HttpClientOptions, resolveWith } from "./index.ts";

const clients: HttpClient[] = [];

function createClient(options: Partial<HttpClientOptions> = {}): HttpClient {
  const client = new HttpClient({ guard: new AddressGuard({ allow: ["127.0.0.0/8"] }), ...options });
  clients.push(client);
  return client;
}

afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

const answerTo = (body: string, fields = "") =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${fields}\r\n${body}`;
const pathOf = (head: string) => head.split(" ")[1]!;
const later = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe("a request", () => {
  it("is sent exactly as it is recorded", async () => {
    await using server = await startWireServer((socket) => socket.write(answerTo("x")));
    const headers = [
      ["User-Agent", "holotype"],
      ["accept", "*/*"],
      ["If-None-Match", '"é"'],
    ] as const;
    const { result } = await exchangeKept(createClient(), { url: `${server.url}/a b?q=ü#part`, headers });
    const expected = `GET /a%20b?q=%C3%BC HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nUser-Agent: holotype\r\naccept: */*\r\nIf-None-Match: "é"\r\n\r\n`;
    expect(result.request.toString()).toBe(expected);
    expect(Buffer.from(server.requests[0]!, "latin1").toString()).toBe(expected.slice(0, -4));
  });

  it("keeps a Host that it has, and gets a length for its body", () => {
    const request = {
      method: "POST",
      url: "http://a.test/",
      headers: [["host", "b.test"]] as const,
      body: Buffer.from("xyz"),
    };
    expect(encodeRequest(request).toString()).toBe("POST / HTTP/1.1\r\nhost: b.test\r\nContent-Length: 3\r\n\r\nxyz");
  });

  it.each([
    { method: "GET /\r\n" },
    { headers: [["X", "a\r\nY: b"]] as const },
    { headers: [["X\n", "a"]] as const },
    { headers: [["", "a"]] as const },
  ])("that would smuggle lines is refused: %j", async (part) => {
    const sink = { raw: () => {} };
    await expect(createClient().exchange({ url: "http://127.0.0.1/", ...part }, sink)).rejects.toMatchObject({
      code: "HT_USAGE",
    });
  });

  it.each(["ftp://a.test/", "about:blank", "nonsense", "http://", "http://[::1/"])(
    "for %j cannot be fetched",
    async (url) => {
      const { result } = await exchangeKept(createClient(), url);
      expect(result).toMatchObject({ kind: "failure", code: "url", status: -7, url });
    },
  );
});

describe("an exchange", () => {
  it("is told with its times, address and sizes", async () => {
    await using server = await startWireServer((socket) => socket.write(answerTo("hello")));
    let nowMs = 1000;
    const client = createClient({ clock: { now: () => nowMs++ } });
    const { result, raw, entity } = await exchangeKept(client, `${server.url}/`);
    expect(result).toMatchObject({
      kind: "answer",
      url: `${server.url}/`,
      method: "GET",
      startMs: 1000,
      firstByteMs: 1001,
      endMs: 1002,
      remoteAddress: "127.0.0.1",
      protocols: ["http/1.1"],
      head: { status: 200 },
      rawSize: raw.length,
      entitySize: 5,
      end: "complete",
      flaws: [],
      interimCount: 0,
      isReused: false,
    } satisfies { [key in keyof Answer]?: unknown });
    expect(raw.toString()).toBe(answerTo("hello"));
    expect(entity.toString()).toBe("hello");
  });

  it("may end with the header of the answer", async () => {
    await using server = await startWireServer((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n${"x".repeat(5000)}`),
    );
    const client = createClient();
    const sizes: number[] = [];
    for (let i = 0; i < 2; i++) {
      const sink = { head: () => "abort" as const, raw: (bytes: Uint8Array) => void sizes.push(bytes.length) };
      const result = await client.exchange({ url: server.url }, sink);
      expect(result).toMatchObject({ end: "aborted", entitySize: 0, rawSize: 44, isReused: false });
    }
    expect(sizes).toEqual([44, 44]);
    expect(server.connectionCount()).toBe(2);
  });

  it("rejects with what its sink throws, and the next is served", async () => {
    await using server = await startWireServer((socket) => socket.write(answerTo("hello")));
    const client = createClient();
    const oops = new Error("oops");
    const fail = () => {
      throw oops;
    };
    await expect(client.exchange({ url: server.url }, { raw: fail })).rejects.toBe(oops);
    await expect(client.exchange({ url: server.url }, { head: fail, raw: () => {} })).rejects.toBe(oops);
    await expect(client.exchange({ url: server.url }, { raw: () => Promise.reject(oops) })).rejects.toBe(oops);
    expect((await exchangeKept(client, server.url)).entity.toString()).toBe("hello");
  });

  it("can be aborted at any time", async () => {
    await using server = await startWireServer((socket) =>
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello"),
    );
    const never = () => new Promise<never>(() => {});
    const client = createClient({ guard: new AddressGuard({ allow: ["127.0.0.0/8"], resolve: never }) });
    const controller = new AbortController();
    const aborted = { code: "HT_INTERRUPTED" };
    const warnings: string[] = [];
    const warn = ({ message }: Error) => void warnings.push(message);
    process.on("warning", warn);
    const all = Array.from({ length: 20 }, () => exchangeKept(client, server.url, { signal: controller.signal }));
    const resolving = exchangeKept(client, "http://never.test/", { signal: controller.signal });
    await later(20);
    controller.abort(new Error("enough"));
    for (const end of await Promise.allSettled([...all, resolving])) {
      expect(end).toMatchObject({ status: "rejected", reason: aborted });
    }
    process.off("warning", warn);
    expect(warnings).toEqual([]);
    await expect(exchangeKept(client, server.url, { signal: controller.signal })).rejects.toMatchObject(aborted);
  });

  it("waits for a slow sink, and holds no more than it may", async () => {
    const total = 64 << 20;
    let sent = 0;
    await using server = await startWireServer((socket) => {
      const piece = Buffer.alloc(1 << 16, "x");
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`);
      const pump = () => {
        while (sent < total) {
          sent += piece.length;
          if (!socket.write(piece)) return void socket.once("drain", pump);
        }
      };
      pump();
    });
    let taken = 0;
    let ahead = 0;
    let held = 0;
    let calls = 0;
    const sink = {
      raw: (bytes: Uint8Array) => {
        expect(++held).toBe(1);
        taken += bytes.length;
        const [first, last] = [bytes[100], bytes.at(-1)];
        if (++calls % 50 !== 0) {
          held--;
          return;
        }
        return later(2).then(() => {
          // The bytes are still there.
          expect([bytes[100], bytes.at(-1)]).toEqual([first, last]);
          ahead = Math.max(ahead, sent - taken);
          held--;
        });
      },
    };
    const result = await createClient().exchange({ url: server.url }, sink, { limits: { idleTimeoutMs: 5000 } });
    expect(result).toMatchObject({ end: "complete", entitySize: total });
    // What the system holds on both sides.
    expect(ahead).toBeLessThan(24 << 20);
  });

  it("ends only after the sink has taken the last bytes", async () => {
    await using server = await startWireServer((socket) => socket.write(answerTo("hello")));
    const client = createClient();
    for (let i = 0; i < 3; i++) {
      let isTaken = false;
      const raw = async () => {
        await later(10);
        isTaken = true;
      };
      expect(await client.exchange({ url: server.url }, { raw })).toMatchObject({ isReused: i > 0 });
      expect(isTaken).toBe(true);
    }
  });
});

it("any bytes at all end an exchange, and the next is served", async () => {
  let bytes = Buffer.alloc(0);
  await using server = await startWireServer((socket, head) => {
    if (pathOf(head) === "/good") socket.write(answerTo("hello"));
    else socket.end(bytes);
  });
  const client = createClient({ limits: { bodySizeMax: 1000 } });
  const start = fc.constantFrom(
    "",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n",
  );
  await fc.assert(
    fc.asyncProperty(start, fc.uint8Array({ maxLength: 2000 }), async (text, rest) => {
      bytes = Buffer.concat([Buffer.from(text), rest]);
      const { result, raw } = await exchangeKept(client, server.url);
      expect(result.kind).toBe(bytes.length === 0 ? "failure" : "answer");
      expect(bytes.subarray(0, raw.length).equals(raw)).toBe(true);
      expect((await exchangeKept(client, `${server.url}/good`)).entity.toString()).toBe("hello");
    }),
    { numRuns: 200 },
  );
});

describe("a connection", () => {
  it("is kept for the next request", async () => {
    await using server = await startWireServer((socket, head) => socket.write(answerTo(pathOf(head))));
    const client = createClient();
    for (const path of ["/1", "/2", "/3"]) {
      const { result, entity } = await exchangeKept(client, server.url + path);
      expect(entity.toString()).toBe(path);
      expect(result).toMatchObject({ isReused: path !== "/1" });
    }
    expect(server.connectionCount()).toBe(1);
  });

  it("is there for each request where none is to be kept, and opened again after its time", async () => {
    await using server = await startWireServer((socket) => socket.write(answerTo("x")));
    for (const options of [{ idleCountMax: 0 }, { keepAliveMs: 0 }]) {
      const client = createClient(options);
      for (let i = 0; i < 3; i++)
        expect((await exchangeKept(client, server.url)).result).toMatchObject({ isReused: false });
    }
    expect(server.connectionCount()).toBe(6);
  });

  it("that the server closed is replaced once, unnoticed", async () => {
    await using server = await startWireServer((socket, head, count) => {
      if (count > 1) socket.destroy();
      else socket.write(answerTo(pathOf(head)));
    });
    const client = createClient();
    for (const path of ["/1", "/2", "/3"])
      expect((await exchangeKept(client, server.url + path)).entity.toString()).toBe(path);
    expect(server.connectionCount()).toBe(3);
    expect(server.requests.length).toBe(5);
    const { result } = await exchangeKept(client, { method: "POST", url: server.url, body: Buffer.from("x") });
    expect(result).toMatchObject({ kind: "failure", code: "no-answer", status: -3 });
  });

  it("that never answers is tried once", async () => {
    await using server = await startWireServer((socket) => socket.destroy());
    const { result } = await exchangeKept(createClient(), server.url);
    expect(result).toMatchObject({ kind: "failure", code: "no-answer", status: -3, remoteAddress: "127.0.0.1" });
    expect(server.requests.length).toBe(1);
  });

  it.each(["at once", "later"])("on which more comes than was asked for, %s, gives no other answer", async (when) => {
    const closed: Promise<void>[] = [];
    await using server = await startWireServer((socket, head) => {
      closed.push(new Promise((resolve) => socket.once("close", () => resolve())));
      const first = answerTo(pathOf(head));
      const more = answerTo("bad");
      if (when === "at once") socket.write(first + more);
      else socket.write(first, () => setTimeout(() => socket.write(more), 20));
    });
    const client = createClient();
    for (const path of ["/1", "/2", "/3"]) {
      const { result, entity } = await exchangeKept(client, server.url + path);
      expect(entity.toString()).toBe(path);
      expect(result).toMatchObject({ isReused: false, flaws: when === "at once" ? ["extra-bytes"] : [] });
      await closed.at(-1);
    }
    expect(server.connectionCount()).toBe(3);
  });

  it("that is kept may bring the next answer in small pieces", async () => {
    await using server = await startWireServer((socket, head) => {
      const bytes = Buffer.from(answerTo(pathOf(head)));
      socket.setNoDelay(true);
      const write = (at: number) => {
        if (at < bytes.length) socket.write(bytes.subarray(at, at + 9), () => setTimeout(write, 2, at + 9));
      };
      write(0);
    });
    let nowMs = 0;
    const client = createClient({ clock: { now: () => nowMs++ } });
    for (const path of ["/1", "/2", "/3"]) {
      const { result, entity } = await exchangeKept(client, server.url + path);
      expect(entity.toString()).toBe(path);
      expect(result).toMatchObject({ isReused: path !== "/1", firstByteMs: result.startMs + 1 });
    }
    expect(server.requests.length).toBe(3);
  });

  it("with rubbish before the next answer is given up for a new one", async () => {
    await using server = await startWireServer((socket, head, count) => {
      socket.write((count > 1 ? "left over" : "") + answerTo(pathOf(head)));
    });
    const client = createClient();
    for (const path of ["/1", "/2", "/3"]) {
      expect((await exchangeKept(client, server.url + path)).result).toMatchObject({
        end: "complete",
        flaws: [],
        isReused: false,
      });
    }
  });
});

describe("a deadline", () => {
  const PATIENT = {
    connectTimeoutMs: 10_000,
    firstByteTimeoutMs: 10_000,
    idleTimeoutMs: 10_000,
    exchangeTimeoutMs: 10_000,
  };

  it("is there for the first byte", async () => {
    await using server = await startWireServer(() => {});
    for (const limits of [{ firstByteTimeoutMs: 60 }, { exchangeTimeoutMs: 60 }]) {
      const { result } = await exchangeKept(createClient({ limits: { ...PATIENT, ...limits } }), server.url);
      expect(result).toMatchObject({ kind: "failure", code: "answer-timeout", status: -4 });
    }
  });

  it.each([
    ["a header", "HTTP/1.1 200 OK\r\nX: ", 0, "head-cut"],
    ["a body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", 5, "body-cut"],
    ["chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello", 5, "chunk-cut"],
  ])("cuts %s that stops", async (_, text, entitySize, flaw) => {
    await using server = await startWireServer((socket) => socket.write(text));
    const { result, raw } = await exchangeKept(createClient({ limits: { ...PATIENT, idleTimeoutMs: 60 } }), server.url);
    expect(result).toMatchObject({ kind: "answer", end: "time", entitySize, flaws: [flaw] });
    expect(raw.toString()).toBe(text);
  });

  it("cuts a trickle when the whole takes too long, and a body that never ends", async () => {
    await using server = await startWireServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nX: y\r\n\r\n");
      const timer = setInterval(() => socket.write("x"), 10);
      socket.on("close", () => clearInterval(timer));
    });
    const client = createClient({ limits: PATIENT });
    const slow = await exchangeKept(client, server.url, { limits: { exchangeTimeoutMs: 150 } });
    expect(slow.result).toMatchObject({ end: "time", flaws: [] });
    const large = await exchangeKept(client, server.url, { limits: { bodySizeMax: 3 } });
    expect(large.result).toMatchObject({ end: "length", entitySize: 3, flaws: [] });
  });

  it("does not count the time of the sink", async () => {
    await using server = await startWireServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", () =>
        setTimeout(() => socket.write("world"), 20),
      );
    });
    const client = createClient({ limits: { ...PATIENT, idleTimeoutMs: 300 } });
    let calls = 0;
    const raw = () => (++calls === 1 ? later(600) : undefined);
    expect(await client.exchange({ url: server.url }, { raw })).toMatchObject({ end: "complete" });
    expect(calls).toBe(2);
  });

  it("that passes while the sink is busy waits for it all the same", async () => {
    await using server = await startWireServer((socket) =>
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"),
    );
    let isTaken = false;
    const raw = async () => {
      await later(200);
      isTaken = true;
    };
    const result = await createClient({ limits: { ...PATIENT, exchangeTimeoutMs: 80 } }).exchange(
      { url: server.url },
      { raw },
    );
    expect(result).toMatchObject({ end: "time" });
    expect(isTaken).toBe(true);
  });

  it("is there for a connection", async () => {
    // A thread that listens and then stops for good: the system takes a few connections for it, and then no more.
    const code = `
      const { parentPort } = require("node:worker_threads");
      const server = require("node:net").createServer().listen(0, "127.0.0.1", 1, () => {
        parentPort.postMessage(server.address().port);
        setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
      });`;
    const worker = new Worker(code, { eval: true });
    const port = await new Promise<number>((resolve) => worker.once("message", resolve));
    const fillers = Array.from({ length: 8 }, () => connect(port, "127.0.0.1").on("error", () => {}));
    await later(100);
    const { result } = await exchangeKept(
      createClient({ limits: { ...PATIENT, connectTimeoutMs: 80 } }),
      `http://127.0.0.1:${port}/`,
    );
    expect(result).toMatchObject({ kind: "failure", code: "connect-timeout", status: -4 });
    for (const filler of fillers) filler.destroy();
    await worker.terminate();
  });

  it("is there for the name of a host", async () => {
    const guard = new AddressGuard({ resolve: () => new Promise(() => {}) });
    const { result } = await exchangeKept(createClient({ guard, limits: { resolveTimeoutMs: 50 } }), "http://a.test/");
    expect(result).toMatchObject({ kind: "failure", code: "dns-timeout", status: -6 });
  });
});

describe("a host name", () => {
  it("is resolved once, and the address that was checked is connected to", async () => {
    await using server = await startWireServer((socket) => socket.write(answerTo("x", "Connection: close\r\n")));
    // What a name server says that turns to a private address once it was checked.
    const answers = [["127.0.0.1"], ["10.0.0.1"]];
    let asked = 0;
    const guard = new AddressGuard({ allow: ["127.0.0.0/8"], resolve: () => Promise.resolve(answers[asked++]!) });
    const client = createClient({ guard });
    const url = `http://turning.test:${server.port}/`;
    expect((await exchangeKept(client, url)).result).toMatchObject({ kind: "answer", remoteAddress: "127.0.0.1" });
    expect(asked).toBe(1);
    expect((await exchangeKept(client, url)).result).toMatchObject({
      kind: "failure",
      code: "address-refused",
      status: -5001,
    });
    expect(asked).toBe(2);
    expect(server.connectionCount()).toBe(1);
    expect(server.requests[0]).toContain(`Host: turning.test:${server.port}`);
  });

  it("with several addresses is reached at the first that answers", async () => {
    await using server = await startWireServer((socket) => socket.write(answerTo("x")));
    const guard = new AddressGuard({
      allow: ["127.0.0.0/8"],
      resolve: () => Promise.resolve(["127.0.0.9", "10.0.0.1", "127.0.0.1"]),
    });
    const { result } = await exchangeKept(createClient({ guard }), `http://many.test:${server.port}/`);
    expect(result).toMatchObject({ kind: "answer", remoteAddress: "127.0.0.1" });
  });

  it("that nobody knows, or behind which nobody listens, is a failure", async () => {
    await using server = await startWireServer(() => {});
    const guard = new AddressGuard({
      allow: ["127.0.0.0/8"],
      resolve: resolveWith(new Map([["gone.test", ["127.0.0.9"]]]), () => Promise.reject(new Error("ENOTFOUND"))),
    });
    const client = createClient({ guard });
    expect((await exchangeKept(client, "http://nobody.test/")).result).toMatchObject({ code: "dns", status: -6 });
    const { result } = await exchangeKept(client, `http://gone.test:${server.port}/`);
    expect(result).toMatchObject({ code: "connect-failed", status: -2, remoteAddress: undefined });
  });
});
