import { constants } from "node:crypto";
import { createServer as createPlainServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createHasher, digestOf } from "../base/index.ts";
import { noise } from "../testing/capture-text.ts";
import { TEST_AUTHORITY, TEST_CERTIFICATES, TEST_KEY } from "../testing/certificates.ts";
import { exchangeKept, startWireServer, type WireServer } from "../testing/wire-server.ts";
import { AddressGuard, HttpClient, type HttpClientOptions, resolveWith } from "./index.ts";

const clients: HttpClient[] = [];

function createClient(options: Partial<HttpClientOptions> = {}): HttpClient {
  const resolve = resolveWith(new Map([["site.test", ["127.0.0.1"]]]));
  const client = new HttpClient({ guard: new AddressGuard({ allow: ["127.0.0.0/8"], resolve }), ...options });
  clients.push(client);
  return client;
}

afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

const answer = (socket: Socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
const serve = (cert: string, more = {}) => startWireServer(answer, { key: TEST_KEY, cert, ...more });
const urlOf = ({ port }: WireServer) => `https://site.test:${port}/`;

describe("a server with TLS", () => {
  it("is asked over HTTP/1.1, and its connection kept", async () => {
    await using server = await serve(TEST_CERTIFICATES.good, { ALPNProtocols: ["h2", "http/1.1"] });
    const client = createClient({ ca: TEST_AUTHORITY });
    for (const isReused of [false, true]) {
      const { result, entity } = await exchangeKept(client, urlOf(server));
      expect(result).toMatchObject({ end: "complete", flaws: [], protocols: ["http/1.1", "tls/1.3"], isReused });
      expect(entity.toString()).toBe("hello");
    }
  });

  it("needs no ALPN", async () => {
    await using server = await serve(TEST_CERTIFICATES.good, { maxVersion: "TLSv1.2" });
    const { result } = await exchangeKept(createClient({ ca: TEST_AUTHORITY }), urlOf(server));
    expect(result).toMatchObject({ end: "complete", protocols: ["http/1.1", "tls/1.2"] });
  });

  it.each(["TLSv1.2", "TLSv1.3"] as const)("that speaks h2 alone over %s is named", async (maxVersion) => {
    await using server = await serve(TEST_CERTIFICATES.good, { ALPNProtocols: ["h2"], maxVersion });
    const { result } = await exchangeKept(createClient({ ca: TEST_AUTHORITY }), urlOf(server));
    expect(result).toMatchObject({ kind: "failure", code: "tls-no-http1", status: -2 });
  });

  it.each([
    ["selfSigned", "tls-self-signed"],
    ["expired", "tls-expired"],
    ["otherName", "tls-name"],
  ] as const)("whose certificate is %s is refused, or named where it is to be taken", async (name, fault) => {
    await using server = await serve(TEST_CERTIFICATES[name]);
    const refused = await exchangeKept(createClient({ ca: TEST_AUTHORITY }), urlOf(server));
    expect(refused.result).toMatchObject({ kind: "failure", code: fault, status: -2 });
    expect(server.requests).toEqual([]);
    const taken = await exchangeKept(createClient({ ca: TEST_AUTHORITY, insecure: true }), urlOf(server));
    expect(taken.result).toMatchObject({ kind: "answer", end: "complete", flaws: [fault] });
    expect(taken.entity.toString()).toBe("hello");
  });

  it("whose authority nobody knows is refused", async () => {
    await using server = await serve(TEST_CERTIFICATES.good);
    const { result } = await exchangeKept(createClient(), urlOf(server));
    expect(result).toMatchObject({ kind: "failure", code: "tls-untrusted" });
  });

  it("of old is taken only where that is allowed", async () => {
    const old = {
      minVersion: "TLSv1",
      maxVersion: "TLSv1",
      ciphers: "DEFAULT@SECLEVEL=0",
      secureOptions: constants.SSL_OP_ALL,
    };
    await using server = await serve(TEST_CERTIFICATES.good, old);
    const refused = await exchangeKept(createClient({ ca: TEST_AUTHORITY }), urlOf(server));
    expect(refused.result).toMatchObject({ kind: "failure", code: "tls-failed" });
    const taken = await exchangeKept(createClient({ ca: TEST_AUTHORITY, insecure: true }), urlOf(server));
    expect(taken.result).toMatchObject({ kind: "answer", flaws: [], protocols: ["http/1.1", "tls/1.0"] });
  });

  it("that is none is a failure", async () => {
    await using server = await startWireServer(() => {});
    const plain = createPlainServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
    const { port } = plain.address() as { port: number };
    const { result } = await exchangeKept(createClient(), `https://site.test:${port}/`);
    plain.close();
    expect(result).toMatchObject({ kind: "failure", code: "tls-failed", status: -2 });
    const silent = await exchangeKept(createClient({ limits: { tlsTimeoutMs: 60 } }), urlOf(server));
    expect(silent.result).toMatchObject({ kind: "failure", code: "tls-timeout", status: -4 });
  });

  it("streams a large body to a slow sink, unharmed", async () => {
    const body = noise("body", 8 << 20);
    const head = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`;
    await using server = await startWireServer((socket) => void (socket.write(head), socket.write(body)), {
      key: TEST_KEY,
      cert: TEST_CERTIFICATES.good,
    });
    const entity = createHasher("sha1");
    let calls = 0;
    let isHeld = false;
    const raw = (bytes: Uint8Array) => {
      expect(isHeld).toBe(false);
      if (++calls % 5 !== 0) return undefined;
      isHeld = true;
      const before = Buffer.from(bytes);
      return new Promise<void>((resolve) => setTimeout(resolve, 1)).then(() => {
        isHeld = false;
        expect(before.equals(bytes)).toBe(true);
      });
    };
    const result = await createClient({ ca: TEST_AUTHORITY }).exchange(
      { url: urlOf(server) },
      { raw, entity: (bytes) => entity.update(bytes) },
    );
    expect(result).toMatchObject({ end: "complete", entitySize: body.length });
    expect(entity.finish()).toEqual(digestOf("sha1", body));
  });

  it.each(["http", "https"])("over %s may close before a slow sink has taken its body", async (scheme) => {
    const body = noise("body", 300_000);
    const terms = { key: TEST_KEY, cert: TEST_CERTIFICATES.good };
    const close = (socket: Socket) => {
      socket.write("HTTP/1.1 200 OK\r\nX: y\r\n\r\n");
      socket.end(body);
    };
    await using server = await startWireServer(close, scheme === "https" ? terms : undefined);
    const pieces: Buffer[] = [];
    const raw = async (bytes: Uint8Array) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      pieces.push(Buffer.from(bytes));
    };
    const client = createClient({ ca: TEST_AUTHORITY });
    const result = await client.exchange({ url: `${scheme}://site.test:${server.port}/` }, { raw });
    expect(result).toMatchObject({ end: "complete", flaws: [], entitySize: body.length });
    expect(Buffer.concat(pieces).subarray(-body.length).equals(body)).toBe(true);
  });

  it("keeps its connection for a slow sink, unless more comes than was asked for", async () => {
    const more = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad";
    const talk = (socket: Socket, head: string) => {
      socket.setNoDelay(true);
      answer(socket);
      if (head.startsWith("GET /more ")) socket.write(more);
    };
    await using server = await startWireServer(talk, { key: TEST_KEY, cert: TEST_CERTIFICATES.good });
    const client = createClient({ ca: TEST_AUTHORITY });
    for (const [path, isReused] of [
      ["", false],
      ["", true],
      ["more", true],
      ["", false],
      ["", true],
    ] as const) {
      let text = "";
      const raw = async (bytes: Uint8Array) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        text += Buffer.from(bytes).toString();
      };
      const result = await client.exchange({ url: urlOf(server) + path }, { raw });
      expect(result).toMatchObject({ end: "complete", isReused });
      expect(text.endsWith("\r\n\r\nhello")).toBe(true);
    }
  });
});
