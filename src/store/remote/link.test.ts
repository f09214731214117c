/** Links to servers that answer in other ways than volume servers do, or not at all. */
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Link, type RemoteOptions } from "./link.ts";

const within = (ms: number) => ({ connectTimeoutMs: ms, answerTimeoutMs: ms, idleTimeoutMs: ms });
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const unavailable = { code: "HT_PEER_UNAVAILABLE" };
const question = { method: "GET", path: "/volume" } as const;

const sockets = new Set<Socket>();
const servers: Server[] = [];
const links: Link[] = [];

afterEach(() => {
  for (const link of links.splice(0)) link.close();
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function listen(server: Server, options: Partial<RemoteOptions> = {}): Promise<Link> {
  servers.push(server);
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const link = new Link({
    url: `http://127.0.0.1:${port}`,
    deadlines: within(2000),
    retryDelayMs: 1,
    tries: 2,
    ...options,
  });
  links.push(link);
  return link;
}

interface Peer {
  readonly link: Link;
  /** The heads of all requests, by their connection. */
  readonly heard: string[][];
}

/** A server that gives each request what `answer` says; absent, it says nothing. */
async function peer(
  answer: (head: string, socket: Socket, count: number) => string | undefined,
  options?: Partial<RemoteOptions>,
): Promise<Peer> {
  const heard: string[][] = [];
  let count = 0;
  const server = createServer((socket) => {
    const own: string[] = [];
    heard.push(own);
    socket.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      own.push(bytes.toString("latin1"));
      const text = answer(own.at(-1)!, socket, ++count);
      if (text !== undefined) socket.write(text, "latin1");
    });
  });
  return { link: await listen(server, options), heard };
}

describe("a server that speaks as ours do", () => {
  it("is asked again and again over one connection", async () => {
    const { link, heard } = await peer(() => OK);
    for (let i = 0; i < 3; i++) expect((await link.call(question)).body.toString()).toBe("ok");
    expect(heard).toHaveLength(1);
    expect(heard[0]).toHaveLength(3);
    expect(heard[0]![0]).toMatch(/^GET \/volume HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\n\r\n$/);
  });

  it("gets a head and a body in one", async () => {
    const { link, heard } = await peer(() => OK, { token: "0123456789abcdef" });
    const headers = { "Holotype-Size": 3, "Content-Length": 3 };
    await link.call({ method: "PUT", path: "/blocks/AB", headers, body: Buffer.from("abc") });
    await link.call({ method: "DELETE", path: "/blocks/AB" });
    expect(heard[0]![0]).toMatch(
      /\r\nAuthorization: Bearer 0123456789abcdef\r\nHolotype-Size: 3\r\nContent-Length: 3\r\n\r\nabc$/,
    );
    expect(heard[0]![1]).toMatch(/\r\nContent-Length: 0\r\n\r\n$/);
  });

  it("has at most so many connections, and the others wait for theirs", async () => {
    const { link, heard } = await peer(
      (_, socket) => {
        setTimeout(() => socket.write(OK), 5);
        return undefined;
      },
      { connectionCountMax: 2 },
    );
    const replies = await Promise.all(Array.from({ length: 9 }, () => link.call(question)));
    expect(replies.map(({ status }) => status)).toEqual(new Array(9).fill(200));
    expect(heard).toHaveLength(2);
  });

  it.each([
    ["says so", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"],
    ["will in a moment", "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nok"],
  ])("and closes its connections when it %s is given a new one at once", async (_, answer) => {
    const { link, heard } = await peer(() => answer);
    for (let i = 0; i < 3; i++) expect((await link.call(question)).status).toBe(200);
    expect(heard).toHaveLength(3);
  });

  it("and closed a connection in between is asked over a new one without a pause", async () => {
    const { link, heard } = await peer(
      (_, socket, count) => {
        if (count !== 2) return OK;
        socket.destroy();
        return undefined;
      },
      { tries: 1 },
    );
    expect((await link.call(question)).status).toBe(200);
    // One that was kept, and ends without a word: there is no other try, and none is needed.
    expect((await link.call(question)).status).toBe(200);
    expect(heard.map(({ length }) => length)).toEqual([2, 1]);
  });

  it("and closes every connection without a word is told", async () => {
    const { link, heard } = await peer((_, socket) => void socket.destroy());
    await expect(link.call(question)).rejects.toMatchObject({ ...unavailable, message: /^http:\/\/127/ });
    expect(heard).toHaveLength(2);
  });

  it.each(["", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"])("and stops after %j is given up", async (answer) => {
    const { link } = await peer(() => (answer === "" ? undefined : answer), { deadlines: within(60), tries: 1 });
    await expect(link.call(question)).rejects.toMatchObject({
      ...unavailable,
      message: /timed out: no (?:answer|more of the answer) within 0.06 s/,
    });
  });

  it("has deadlines of its own for connecting, for the first byte and for those after it", async () => {
    const started = performance.now();
    const took = () => performance.now() - started;
    const deadlines = { connectTimeoutMs: 5000, answerTimeoutMs: 5000, idleTimeoutMs: 5000 };
    // It takes the connection, and never says hello.
    const silent = createServer();
    await listen(silent);
    const { port } = silent.address() as AddressInfo;
    const url = `https://127.0.0.1:${port}`;
    const link = new Link({ url, tries: 1, deadlines: { ...deadlines, connectTimeoutMs: 50 } });
    links.push(link);
    await expect(link.call(question)).rejects.toMatchObject({ message: /no connection within 0.05 s/ });
    const mute = await peer(() => undefined, { tries: 1, deadlines: { ...deadlines, answerTimeoutMs: 50 } });
    await expect(mute.link.call(question)).rejects.toMatchObject({ message: /no answer within 0.05 s/ });
    const half = await peer(() => OK.slice(0, -1), { tries: 1, deadlines: { ...deadlines, idleTimeoutMs: 50 } });
    await expect(half.link.call(question)).rejects.toMatchObject({ message: /no more of the answer within 0.05 s/ });
    expect(took()).toBeLessThan(4000);
  });

  it("and hangs is asked twice, also over a connection that was kept, and by nobody else who waits", async () => {
    let isHung = false;
    const { link, heard } = await peer(() => (isHung ? undefined : OK), {
      tries: 4,
      connectionCountMax: 2,
      deadlines: within(1100),
    });
    await link.call(question);
    isHung = true;
    const started = performance.now();
    const calls = await Promise.allSettled(Array.from({ length: 6 }, () => link.call(question)));
    for (const call of calls) expect(call).toMatchObject({ status: "rejected", reason: unavailable });
    // Six in turn over two connections would be three times as long.
    expect(performance.now() - started).toBeLessThan(4500);
    expect(heard.flat().length).toBeLessThanOrEqual(1 + 6);
  });

  it("and speaks without being asked is not listened to", async () => {
    const { link, heard } = await peer((_, socket) => {
      setTimeout(() => socket.write(OK), 20);
      return OK;
    });
    await link.call(question);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect((await link.call(question)).status).toBe(200);
    expect(heard).toHaveLength(2);
  });

  it("and promises more than anybody would hold is told", async () => {
    const { link } = await peer(() => "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nab", { tries: 1 });
    await expect(link.call(question)).rejects.toMatchObject(unavailable);
  });

  it("keeps no program waiting when there is nothing to do", async () => {
    const { link } = await peer(() => OK);
    await link.call(question);
    const active = process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length;
    // The server's end is in this process too, and that is the only one.
    expect(active).toBe(1);
  });
});

describe("a large answer", () => {
  const size = 3_000_000;

  it("comes in pieces, and the next question goes over another connection", async () => {
    const { link } = await peer((head, socket) => {
      if (!head.startsWith("GET /large")) return OK;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
      for (let at = 0; at < size; at += 100_000) socket.write(Buffer.alloc(100_000, at / 100_000));
      return undefined;
    });
    const reply = await link.call({ method: "GET", path: "/large", heldSizeMax: 1000 });
    expect((await link.call(question)).body.toString()).toBe("ok");
    const pieces: Uint8Array[] = [];
    for await (const piece of reply.rest!) pieces.push(piece);
    const all = Buffer.concat(pieces);
    expect(all).toHaveLength(size);
    expect(all.every((byte, at) => byte === Math.floor(at / 100_000))).toBe(true);
    reply.rest!.destroy();
  });

  it.each(["cut off", "too long"])("that is %s is not taken for whole", async (way) => {
    const { link } = await peer((_, socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n${"a".repeat(way === "cut off" ? 4000 : 6000)}`);
      setTimeout(() => socket.destroy(), 20);
      return undefined;
    });
    const reply = await link.call({ ...question, heldSizeMax: 1000 });
    const all = (async () => {
      for await (const _ of reply.rest!);
    })();
    await expect(all).rejects.toThrow();
  });
});

describe("what stands between us and the server", () => {
  it("may send in chunks: then all goes by the way that knows how", async () => {
    const agents = new Set<string | undefined>();
    const server = createHttpServer((request, response) => {
      agents.add(request.headers.connection);
      response.write("o");
      response.end("k");
    });
    const link = await listen(server);
    for (let i = 0; i < 3; i++) {
      const reply = await link.call({ method: "POST", path: "/find", body: Buffer.from("x") });
      expect([reply.status, reply.body.toString()]).toEqual([200, "ok"]);
    }
    // Node names what becomes of the connection, and we do not.
    expect([...agents]).toEqual([undefined, "keep-alive"]);
  });

  it("may have its say first", async () => {
    const { link } = await peer(() => `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${OK}`);
    expect((await link.call(question)).body.toString()).toBe("ok");
  });

  it("may speak an older HTTP", async () => {
    const { link } = await peer((_, socket) => {
      socket.end("HTTP/1.0 200 OK\r\n\r\nok");
      return undefined;
    });
    expect((await link.call(question)).body.toString()).toBe("ok");
  });

  it.each(["\0\0\0\0\r\n\r\n", "220 mail ready\r\n\r\n", `HTTP/1.1 200 OK\r\nX: ${"y".repeat(200_000)}`])(
    "may be no server at all (%#), and is told",
    async (answer) => {
      const { link } = await peer(() => answer, { deadlines: within(300) });
      await expect(link.call(question)).rejects.toMatchObject(unavailable);
    },
  );
});

describe("what cannot be sent", () => {
  it.each(["abc\r\nX-Admin: yes", "abc\0", "café\u2028"])("is refused: the token %j", (token) => {
    expect(() => new Link({ url: "http://127.0.0.1:1", token })).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
  });

  it.each([
    { path: "/a b" },
    { path: "/a\r\nX: y" },
    { path: "/a", headers: { Range: "bytes=0-1\r\nX: y" } },
    { path: "/a", headers: { Range: "\u0100" } },
  ])("is refused: %j", async (call) => {
    const { link, heard } = await peer(() => OK);
    await expect(link.call({ method: "GET", ...call })).rejects.toMatchObject({ code: "HT_USAGE" });
    expect(heard).toEqual([]);
  });
});
