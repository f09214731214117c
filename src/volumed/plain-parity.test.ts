/** A request gets the same answer, and is counted the same, whether it is read here or by `node:http`. */
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { ask } from "../testing/http-exchange.ts";
import { MemoryVolume } from "../testing/memory-volume.ts";
import { codecs, contentOf, inPieces, mixedBytes, storing } from "../testing/volume-contents.ts";
import { type LogEntry, serveVolume, type VolumeServerOptions } from "./index.ts";
import { parseRequestHead } from "./request-head.ts";

const TOKEN = "correct-horse-battery";
const page = contentOf("sha256", "a label");
const large = contentOf("sha256", mixedBytes(300_000));
const other = contentOf("sha256", "another label");
const of = `/blocks/${page.signature}`;
const HOST = "Host: localhost\r\n";
/** Nothing here depends on it, but a head that has it is for `node:http`. */
const BY_NODE = "TE: trailers\r\n";
/** Ends a connection. Depends on nothing that was asked before: `node:http` answers both at one time. */
const LAST = `GET /blocks/last HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
const HEALTH = `GET /health HTTP/1.1\r\n${HOST}\r\n`;

async function start(options: VolumeServerOptions = {}) {
  const memory = new MemoryVolume(codecs);
  await memory.store(storing(page));
  await memory.store(storing(large));
  const open = memory.open.bind(memory);
  memory.open = async (address, range) => {
    const block = await open(address, range);
    if (block === undefined || block.storedSize < 1000) return block;
    return { ...block, data: inPieces(block.data as Uint8Array, 100_000) };
  };
  const log: LogEntry[] = [];
  const onLog = (entry: LogEntry) => log.push(entry);
  const server = await serveVolume(memory, { onLog, logRequests: true, ...options });
  return { memory, server, log, [Symbol.asyncDispose]: () => server.close() };
}

type Fixture = Awaited<ReturnType<typeof start>>;

/** What is said on one connection until the server closes it; with `isEnded` nothing more is sent behind the text. */
function say({ server }: Fixture, text: string, isEnded = false): Promise<string> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve) => {
    let said = "";
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }, () => {
      if (isEnded) socket.end(text, "latin1");
      else socket.write(text, "latin1");
    });
    socket.setEncoding("latin1");
    socket.on("data", (piece: string) => {
      said += piece;
    });
    socket.on("end", () => socket.end());
    socket.on("error", () => {});
    socket.on("close", () => resolve(said.replace(/Date: .*\r\n/g, "Date: …\r\n").replace(/"[\da-f-]{36}-0"/g, "TAG")));
  });
}

const isOwn = ({ event, path }: LogEntry) => event === "request" && path !== "/health";
const timeless = ({ time: _, ms: __, ...rest }: LogEntry) => rest;

/** What the server told of it, and counted. */
async function accounts({ server, log }: Fixture) {
  const told = log.filter(isOwn).map(timeless);
  const counted = (await ask(`${server.url}/metrics`)).body.toString();
  return { told, counted: counted.split("\n").filter((line) => /^holotype_\w+_total/.test(line)) };
}

const references = ({ memory }: Fixture) => [...memory.blocks.values()].map((block) => block.references);

const sized = (body: string, length = body.length) => `Content-Length: ${length}\r\n\r\n${body}`;

const REQUESTS: readonly (readonly [string, string, string])[] = [
  ["get", `GET ${of}`, "\r\n"],
  ["get in pieces", `GET /blocks/${large.signature}`, "\r\n"],
  ["get of a range", `GET ${of}`, "Range: bytes=2-4\r\n\r\n"],
  ["get of a range in pieces", `GET /blocks/${large.signature}`, "Range: bytes=100-200000\r\n\r\n"],
  ["get of a range behind the end", `GET ${of}`, "Range: bytes=20-\r\n\r\n"],
  ["get with a body", `GET ${of}`, sized("hello")],
  ["get of what is not there", `GET /blocks/${other.signature}`, "\r\n"],
  ["get of no address", "GET /blocks/not%20one", "\r\n"],
  ["head", `HEAD ${of}`, "\r\n"],
  ["head of what is not there", `HEAD /blocks/${other.signature}`, "\r\n"],
  ["head of no address", "HEAD /blocks/x/y", "\r\n"],
  ["head of the volume", "HEAD /volume", "\r\n"],
  ["put", `PUT /blocks/${other.signature}`, sized("another label")],
  ["put of what is there", `PUT ${of}`, sized("a label")],
  ["put under an id", `PUT ${of}`, `Holotype-Request: r1\r\n${sized("a label")}`],
  ["put under no id", `PUT ${of}`, `Holotype-Request: r 1\r\n${sized("a label")}`],
  ["put of something else", `PUT ${of}`, sized("another")],
  ["put with another size", `PUT ${of}`, `Holotype-Size: 9\r\n${sized("a label")}`],
  ["put without a body", `PUT ${of}`, "\r\n"],
  ["put of nothing", `PUT ${of}`, sized("")],
  ["put in no mode", `PUT ${of}`, `Holotype-Mode: odd\r\n${sized("a label")}`],
  ["put by another algorithm", `PUT ${of}`, `Holotype-Signature: md5:00\r\n${sized("a label")}`],
  ["put of too much", `PUT ${of}`, sized("x".repeat(400_001))],
  ["put with zeros before its length", `PUT ${of}`, "Content-Length: 007\r\n\r\na label"],
  ["put with blanks around its length", `PUT ${of}`, "Content-Length:   7  \r\n\r\na label"],
  ["refer", `POST ${of}/references`, "Holotype-Size: 7\r\n\r\n"],
  ["refer with a body", `POST ${of}/references`, `Holotype-Size: 7\r\n${sized("a label")}`],
  ["refer and compare", `POST ${of}/references`, `Holotype-Mode: compare\r\n${sized("a label")}`],
  ["refer to what is not there", `POST /blocks/${other.signature}/references`, "Holotype-Size: 13\r\n\r\n"],
  ["delete", `DELETE ${of}`, "\r\n"],
  ["delete of what is not there", `DELETE /blocks/${other.signature}`, "\r\n"],
  ["post to a block", `POST ${of}`, "\r\n"],
  ["find", "POST /find", sized(`${page.signature}\n${other.signature}\n`)],
  ["find of nothing", "POST /find", "\r\n"],
  ["find of nonsense", "POST /find", sized("nonsense\n")],
  ["volume", "GET /volume", "\r\n"],
  ["filter", "GET /filter", "\r\n"],
  ["put to the volume", "PUT /volume", sized("x")],
  ["from a web page", `GET ${of}`, "Origin: http://example.org\r\n\r\n"],
];

describe("the same answer by both ways", () => {
  it.each(REQUESTS)("%s", async (_, line, rest) => {
    const options = { limits: { contentSizeMaxBytes: 400_000 } };
    await using plain = await start(options);
    await using node = await start(options);
    const head = `${line} HTTP/1.1\r\n${HOST}`;
    expect(parseRequestHead(`${head}${rest}`.split("\r\n\r\n")[0]!)).toBeDefined();
    const answer = await say(plain, head + rest + LAST);
    expect(answer).toBe(await say(node, head + BY_NODE + rest + LAST));
    expect(answer).toMatch(/^HTTP\/1\.1 \d/);
    expect(await accounts(plain)).toEqual(await accounts(node));
  });

  it.each(REQUESTS)("without the token: %s", async (_, line, rest) => {
    await using fixture = await start({ token: TOKEN });
    const head = `${line} HTTP/1.1\r\n${HOST}`;
    const answer = await say(fixture, head + rest + LAST);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer).toBe(await say(fixture, head + BY_NODE + rest + LAST));
  });

  it("an unchanged filter", async () => {
    await using fixture = await start();
    const { headers } = await ask(`${fixture.server.url}/filter`);
    const head = `GET /filter HTTP/1.1\r\n${HOST}If-None-Match: ${headers.etag}\r\n`;
    const answer = await say(fixture, `${head}\r\n${LAST}`);
    expect(answer).toMatch(/^HTTP\/1\.1 304 /);
    expect(answer).toBe(await say(fixture, `${head}${BY_NODE}\r\n${LAST}`));
  });
});

const GET = `GET ${of} HTTP/1.1\r\n`;
const PUT = `PUT ${of} HTTP/1.1\r\n`;

describe("what is odd is answered as node:http has it", () => {
  it.each([
    ["a length behind a blank that is none", `${PUT}${HOST}Content-Length:\xa07\r\n\r\na label`],
    ["a length before a blank that is none", `${PUT}${HOST}Content-Length: 7\xa0\r\n\r\na label`],
    ["a length behind a tab", `${PUT}${HOST}Content-Length:\t7\r\n\r\na label`],
    ["a last request", `${GET}${HOST}Connection: close\r\n\r\n`],
    ["a negative length", `${PUT}${HOST}Content-Length: -7\r\n\r\na label`],
    ["a length in hex", `${PUT}${HOST}Content-Length: 0x7\r\n\r\na label`],
    ["a list of lengths", `${PUT}${HOST}Content-Length: 7, 7\r\n\r\na label`],
    ["a length of nothing", `${PUT}${HOST}Content-Length:\r\n\r\n`],
    ["a huge length", `${PUT}${HOST}Content-Length: 99999999999999999999999\r\n\r\na label`],
    ["the same length twice", `${PUT}${HOST}Content-Length: 7\r\ncontent-length: 7\r\n\r\na label`],
    ["chunks and a length", `${PUT}${HOST}Transfer-Encoding: chunked\r\nContent-Length: 7\r\n\r\n0\r\n\r\n`],
    ["two hosts", `${GET}${HOST}${HOST}\r\n`],
    ["a folded field", `${GET}${HOST}X: a\r\n b\r\n\r\n`],
    ["a field without a colon", `${GET}${HOST}X\r\n\r\n`],
    ["a field without a name", `${GET}${HOST}: x\r\n\r\n`],
    ["a blank before the colon", `${PUT}${HOST}Content-Length : 7\r\n\r\na label`],
    ["only line feeds", `GET ${of} HTTP/1.1\nHost: localhost\n\n`],
    ["a line feed", `${GET}Host: localhost\nX: y\r\n\r\n`],
    ["a carriage return", `${GET}Host: localhost\rX: y\r\n\r\n`],
    ["a method in small letters", `get ${of} HTTP/1.1\r\n${HOST}\r\n`],
    ["another method", `PATCH ${of} HTTP/1.1\r\n${HOST}\r\n`],
    ["two blanks", `GET  ${of} HTTP/1.1\r\n${HOST}\r\n`],
    ["a whole URL", `GET http://localhost${of} HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`],
    ["an asterisk", `OPTIONS * HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`],
    ["HTTP/1.0", `GET ${of} HTTP/1.0\r\n\r\n`],
    ["HTTP/1.0 that is kept", `GET ${of} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n${LAST}`],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["no protocol", `GET ${of}\r\n\r\n`],
    ["an upgrade", `${GET}${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n${LAST}`],
    ["an expectation", `${PUT}${HOST}Expect: 100-continue\r\nContent-Length: 7\r\n\r\na label${LAST}`],
    ["another expectation", `${PUT}${HOST}Expect: x\r\nContent-Length: 7\r\n\r\na label${LAST}`],
    ["a connection that names fields", `${GET}${HOST}Connection: close, content-length\r\n\r\n`],
    ["blank lines before a request", `\r\n\r\n${LAST}`],
  ])("%s", async (_, text) => {
    const options = { limits: { keepAliveTimeoutMs: 1000, idleTimeoutMs: 1000, headerTimeoutMs: 400 } };
    await using plain = await start(options);
    await using node = await start(options);
    const [answer, expected] = await Promise.all([say(plain, text), say(node, HEALTH + text)]);
    expect(answer).toBe(expected.slice(expected.indexOf("}") + 1));
    expect(references(plain)).toEqual(references(node));
    expect(plain.log.filter(isOwn).map(timeless)).toEqual(node.log.filter(isOwn).map(timeless));
  });

  it.each([
    ["in its head", `${GET}Host: loc`],
    ["in its body", `${PUT}${HOST}Content-Length: 7\r\n\r\na la`],
  ])("a client that ends %s", async (_, text) => {
    await using plain = await start();
    await using node = await start();
    const [answer, expected] = await Promise.all([say(plain, text, true), say(node, HEALTH + text, true)]);
    expect(answer).toBe(expected.slice(expected.indexOf("}") + 1));
    expect(plain.log.filter(isOwn).map(timeless)).toEqual(node.log.filter(isOwn).map(timeless));
  });
});
