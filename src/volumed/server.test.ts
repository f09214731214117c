/** What the server answers, word for word: the protocol as docs/protocol has it. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ArchiveError, ERROR_TABLE, type ErrorCode } from "../base/index.ts";
import { signatureOf } from "../store/index.ts";
import { type Asked, ask, sendRaw } from "../testing/http-exchange.ts";
import { MemoryVolume } from "../testing/memory-volume.ts";
import { codecs } from "../testing/volume-contents.ts";
import { type LogEntry, serveVolume, type VolumeServer } from "./index.ts";

const page = Buffer.from("<p>a label that somebody wrote</p>");
const signature = signatureOf("sha256", page);
const path = `/blocks/${signature}`;
const zipped = Buffer.from(codecs.encode("gzip", page) as Uint8Array);

let memory: MemoryVolume;
let server: VolumeServer;
let log: LogEntry[] = [];

beforeAll(async () => {
  memory = new MemoryVolume(codecs);
  server = await serveVolume(memory, { onLog: (entry) => log.push(entry) });
});
beforeEach(() => {
  memory.blocks.clear();
  memory.state = "writable";
  log = [];
});
afterAll(() => server.close());

const at = (where: string, asked?: Asked) => ask(`${server.url}${where}`, asked);
const put = (body: Uint8Array, headers: Asked["headers"] = {}) => at(path, { method: "PUT", body, headers });
const json = (body: Buffer) => JSON.parse(body.toString()) as unknown;
const info = { signature, overflow: 0, size: page.length, storedSize: page.length, compression: "none", references: 1 };

describe("PUT", () => {
  it("stores the body, and a second time counts", async () => {
    const first = await put(page);
    expect(first).toMatchObject({ status: 201, headers: { location: path, "content-type": "application/json" } });
    expect(json(first.body)).toEqual({ outcome: "new", ...info });
    const second = await put(page, { "Holotype-Signature": `sha256:${signature.toLowerCase()}` });
    expect(second).toMatchObject({ status: 200, headers: { location: path } });
    expect(json(second.body)).toEqual({ outcome: "duplicate", ...info, references: 2 });
  });

  it("takes what comes compressed, chunked or not, in any mode", async () => {
    const headers = { "Holotype-Size": page.length, "Holotype-Compression": "gzip", "Holotype-Mode": "force-new" };
    const plain = await put(zipped, headers);
    expect(json(plain.body)).toMatchObject({ compression: "gzip", storedSize: zipped.length, overflow: 0 });
    const chunked = await put(zipped, { ...headers, "Transfer-Encoding": "chunked" });
    expect(json(chunked.body)).toMatchObject({ outcome: "new", overflow: 1 });
    expect(chunked.headers.location).toBe(`${path}-1`);
  });

  it("counts a request once", async () => {
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push((await put(page, { "Holotype-Request": "a-1" })).body.toString());
    expect(new Set(answers).size).toBe(1);
    expect(memory.blocks.get(signature)?.references).toBe(1);
  });

  it.each<[string, ErrorCode, Asked & { where?: string }]>([
    ["another signature", "HT_SIGNATURE", { body: "something else" }],
    ["a size that lies", "HT_SIGNATURE", { headers: { "Holotype-Size": 3 } }],
    ["a codec nobody has", "HT_CODEC", { headers: { "Holotype-Compression": "lzma", "Holotype-Size": 5 } }],
    [
      "what the codec has not made",
      "HT_SIGNATURE",
      { headers: { "Holotype-Compression": "zstd", "Holotype-Size": 5 } },
    ],
    ["no size", "HT_USAGE", { headers: { "Holotype-Compression": "gzip" } }],
    ["no number as size", "HT_USAGE", { headers: { "Holotype-Size": "many" } }],
    ["a size of more than is taken", "HT_TOO_LARGE", { headers: { "Holotype-Size": 2 ** 40 } }],
    ["no mode", "HT_USAGE", { headers: { "Holotype-Mode": "odd" } }],
    ["no request id", "HT_USAGE", { headers: { "Holotype-Request": "a b" } }],
    ["another algorithm", "HT_USAGE", { headers: { "Holotype-Signature": `sha1:${"0".repeat(40)}` } }],
    ["two signatures", "HT_USAGE", { headers: { "Holotype-Signature": `sha256:${"0".repeat(64)}` } }],
    ["an overflow number", "HT_USAGE", { where: `${path}-1` }],
    ["half a signature", "HT_USAGE", { where: path.slice(0, 30) }],
    ["no signature", "HT_USAGE", { where: "/blocks/" }],
    ["something else for a signature", "HT_USAGE", { where: "/blocks/../volume.json" }],
  ])("refuses %s", async (_, code, { where = path, body = page, headers = {} }) => {
    const { status, headers: told, ...answer } = await at(where, { method: "PUT", body, headers });
    expect({ status, code: answer.code }).toEqual({ status: ERROR_TABLE[code].http, code });
    expect(told["content-type"]).toBe("application/json");
    expect(json(answer.body)).toEqual({ error: { code, message: expect.stringMatching(/\S/) as string } });
    expect(memory.blocks.size).toBe(0);
    // The connection and the server are fine.
    expect((await put(page)).status).toBe(201);
  });

  it("refuses a new content where the volume is read-only, and counts a known one", async () => {
    memory.state = "read-only";
    expect(await put(page)).toMatchObject({ status: 403, code: "HT_READ_ONLY" });
    memory.state = "writable";
    await put(page);
    memory.state = "read-only";
    expect(await put(page)).toMatchObject({ status: 200 });
  });
});

describe("GET and HEAD", () => {
  beforeEach(async () => {
    await put(zipped, { "Holotype-Size": page.length, "Holotype-Compression": "gzip" });
  });
  const headers = {
    "content-type": "application/octet-stream",
    "accept-ranges": "bytes",
    "content-length": `${zipped.length}`,
    "holotype-signature": `sha256:${signature}`,
    "holotype-compression": "gzip",
    "holotype-size": `${page.length}`,
    "holotype-references": "1",
  };

  it("give the stored bytes and what they are, or only that", async () => {
    const got = await at(path.toLowerCase());
    expect(got).toMatchObject({ status: 200, headers });
    expect(got.body.equals(zipped)).toBe(true);
    expect(await at(path, { method: "HEAD" })).toMatchObject({ status: 200, headers, body: Buffer.alloc(0) });
  });

  it("know what is not there", async () => {
    for (const where of [`${path}-1`, `/blocks/${"0".repeat(64)}`]) {
      expect(await at(where)).toMatchObject({ status: 404, code: "HT_NOT_FOUND" });
      expect(await at(where, { method: "HEAD" })).toMatchObject({ status: 404, body: Buffer.alloc(0) });
    }
    expect(await at("/blocks/AB")).toMatchObject({ status: 404 });
    expect(await at("/blocks/xyz")).toMatchObject({ status: 400, code: "HT_USAGE" });
    expect(await at("/blocks/xyz", { method: "HEAD" })).toMatchObject({ status: 400 });
  });

  const size = zipped.length;
  it.each([
    ["bytes=0-0", 0, 1],
    ["bytes=3-9", 3, 10],
    ["bytes=5-", 5, size],
    ["bytes=-4", size - 4, size],
    ["bytes=-1000", 0, size],
    ["bytes=2-1000", 2, size],
  ])("give the range %s", async (range, start, end) => {
    const got = await at(path, { headers: { Range: range } });
    const told = {
      ...headers,
      "content-length": `${end - start}`,
      "content-range": `bytes ${start}-${end - 1}/${size}`,
    };
    expect(got).toMatchObject({ status: 206, headers: told });
    expect(got.body.equals(zipped.subarray(start, end))).toBe(true);
  });

  it.each([`bytes=${size}-`, `bytes=${size + 5}-${size + 9}`, "bytes=-0"])("refuse the range %s", async (range) => {
    const told = { "content-range": `bytes */${size}`, "holotype-size": `${page.length}` };
    expect(await at(path, { headers: { Range: range } })).toMatchObject({
      status: 416,
      code: "HT_USAGE",
      headers: told,
    });
  });

  it.each(["bytes=0-1,3-4", "bytes=5-2", "lines=1-2", "bytes=-", "bytes=a-b"])(
    "pass over the range %s",
    async (range) => {
      expect(await at(path, { headers: { Range: range } })).toMatchObject({ status: 200, headers });
    },
  );
});

describe("DELETE", () => {
  it("takes back a reference, and the block with the last", async () => {
    await put(page);
    await put(page);
    const first = await at(path, { method: "DELETE", headers: { "Holotype-Request": "d-1" } });
    expect({ ...first, body: json(first.body) }).toMatchObject({ status: 200, body: info });
    await at(path, { method: "DELETE", headers: { "Holotype-Request": "d-1" } });
    const last = await at(path, { method: "DELETE" });
    expect(json(last.body)).toEqual({ ...info, references: 0 });
    expect(await at(path, { method: "DELETE" })).toMatchObject({ status: 404, code: "HT_NOT_FOUND" });
  });
});

describe("POST …/references", () => {
  const refer = (headers: NonNullable<Asked["headers"]>, body?: Uint8Array) =>
    at(`${path}/references`, { method: "POST", headers, ...(body && { body }) });

  it("counts without the content, or with one to compare", async () => {
    expect(await refer({ "Holotype-Size": page.length })).toMatchObject({ status: 404, code: "HT_NOT_FOUND" });
    await put(page);
    const counted = await refer({ "Holotype-Size": page.length });
    expect(counted).toMatchObject({ status: 200, headers: { location: path } });
    expect(json(counted.body)).toEqual({ outcome: "duplicate", ...info, references: 2 });
    const compare = { "Holotype-Size": page.length, "Holotype-Mode": "compare", "Holotype-Compression": "gzip" };
    expect(json((await refer(compare, zipped)).body)).toMatchObject({ references: 3 });
    const other = Buffer.from(codecs.encode("gzip", Buffer.alloc(page.length)) as Uint8Array);
    expect(await refer(compare, other)).toMatchObject({ status: 404 });
  });

  it("refuses what makes no sense", async () => {
    expect(await refer({})).toMatchObject({ code: "HT_USAGE" });
    expect(await refer({ "Holotype-Size": 3, "Holotype-Mode": "force-new" })).toMatchObject({ code: "HT_USAGE" });
    expect(await refer({ "Holotype-Size": page.length }, page)).toMatchObject({ code: "HT_TOO_LARGE" });
    expect(await at(`${path}/references`)).toMatchObject({ code: "HT_USAGE", status: 400 });
  });
});

describe("lists and lookups", () => {
  it("POST /find has a line for each signature", async () => {
    await put(page);
    const found = await at("/find", { method: "POST", body: `${signature}\n${"0".repeat(64)}\r\n${signature}` });
    expect(found.headers["content-type"]).toBe("application/x-ndjson");
    const lines = found.body.toString().split("\n");
    expect(lines.pop()).toBe("");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([[info], [], [info]]);
    expect(await at("/find", { method: "POST", body: "xyz\n" })).toMatchObject({ code: "HT_USAGE" });
    expect((await at("/find", { method: "POST" })).body).toHaveLength(0);
    const many = `${"0".repeat(64)}\n`.repeat(10_001);
    expect(await at("/find", { method: "POST", body: many })).toMatchObject({ status: 413, code: "HT_TOO_LARGE" });
  });

  it("GET /blocks goes on where it was left", async () => {
    for (let i = 0; i < 30; i++) {
      const body = Buffer.from(`specimen ${i}`);
      await at(`/blocks/${signatureOf("sha256", body)}`, { method: "PUT", body });
    }
    const list = async (query: string) => {
      const { body } = await at(`/blocks${query}`);
      return body.toString().split("\n").slice(0, -1);
    };
    const all = await list("");
    expect(all).toHaveLength(30);
    const { signature: tenth } = JSON.parse(all[9]!) as { signature: string };
    expect(await list(`?after=${tenth}&limit=7`)).toEqual(all.slice(10, 17));
    for (const query of ["?limit=0", "?limit=1e9", "?limit=x", "?after=xyz"]) {
      expect(await at(`/blocks${query}`)).toMatchObject({ status: 400, code: "HT_USAGE" });
    }
  });

  it("GET /filter says whether anything changed", async () => {
    await put(page);
    const first = await at("/filter");
    const tag = first.headers.etag!;
    const again = () => at("/filter", { headers: { "If-None-Match": tag } });
    expect(await again()).toMatchObject({ status: 304, headers: { etag: tag }, body: Buffer.alloc(0) });
    await put(page);
    expect(await again()).toMatchObject({ status: 304 });
    await put(page, { "Holotype-Mode": "force-new" });
    const changed = await again();
    expect(changed.status).toBe(200);
    expect(changed.headers.etag).not.toBe(tag);
    await at(`${path}-1`, { method: "DELETE" });
    expect((await at("/filter", { headers: { "If-None-Match": changed.headers.etag! } })).status).toBe(200);
  });

  it("GET /volume and /health", async () => {
    await put(page);
    const described = await at("/volume");
    expect(json(described.body)).toEqual({ protocol: 1, ...(await memory.describe()) });
    expect(await at("/health")).toMatchObject({ status: 200 });
  });

  it("GET /metrics counts what was done", async () => {
    await put(page);
    await put(page);
    await at("/blocks/xyz");
    const text = (await at("/metrics")).body.toString();
    expect(text).toContain("holotype_blocks 1\n");
    expect(text).toContain("holotype_references 2\n");
    expect(text).toMatch(/holotype_operations_total\{kind="put",outcome="new"\} \d+\n/);
    expect(text).toMatch(/holotype_operations_total\{kind="get",outcome="HT_USAGE"\} \d+\n/);
    const count = /holotype_operation_seconds_count\{kind="put"\} (\d+)\n/.exec(text)![1]!;
    expect(text).toContain(`holotype_operation_seconds_bucket{kind="put",le="+Inf"} ${count}\n`);
    for (const line of text.split("\n").slice(0, -1)) {
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) holotype_\w+ .+|holotype_\w+(?:\{[^}]+\})? [\d.e-]+)$/);
    }
  });
});

describe("what goes wrong", () => {
  it.each([
    ["GET", "/"],
    ["POST", path],
    ["GET", "/store"],
    ["PUT", "/find"],
    ["GET", "/constructor"],
    ["PATCH", "/blocks"],
    ["POST", "/moves/frobnicate/AB"],
  ])("%s %s is nothing that is known here", async (method, where) => {
    expect(await at(where, { method, ...(method === "GET" ? {} : { body: "x" }) })).toMatchObject({
      status: 400,
      code: "HT_USAGE",
    });
  });

  it("a bug is told without its trace, and logged with it", async () => {
    const sound = memory.describe.bind(memory);
    memory.describe = () => Promise.reject(new TypeError("secret of the server"));
    const { status, body, code } = await at("/volume");
    memory.describe = sound;
    expect({ status, code }).toEqual({ status: 500, code: "HT_UNEXPECTED" });
    expect(body.toString()).not.toMatch(/secret|TypeError|\.ts/);
    const entry = log.find(({ level }) => level === "error")!;
    expect(entry).toMatchObject({ event: "request", kind: "describe", message: "secret of the server" });
    expect(entry["stack"]).toMatch(/TypeError/);
  });

  it("a block that cannot be read, in the middle of being sent, is not taken for whole", async () => {
    await put(page);
    const open = memory.open.bind(memory);
    memory.open = async (address) => {
      const block = await open(address);
      async function* breaking() {
        yield await Promise.resolve(Buffer.from("half"));
        throw new ArchiveError("HT_IO", "the disk broke");
      }
      return block && { ...block, data: breaking() };
    };
    await expect(at(path)).rejects.toThrow(/aborted|hang up|closed/);
    memory.open = open;
    expect(log.some((entry) => entry["outcome"] === "HT_IO" && entry.level === "error")).toBe(true);
  });

  it("what is not HTTP is told so", async () => {
    expect(await sendRaw(server.url, "HELO somebody\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 .*HT_USAGE/s);
    const smuggled = `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    expect(await sendRaw(server.url, smuggled)).toMatch(/^HTTP\/1\.1 400 .*HT_USAGE/s);
  });

  it("a web page is not answered, be it under a name of its own", async () => {
    expect(await at("/volume", { headers: { Origin: "http://a.example" } })).toMatchObject({ code: "HT_FORBIDDEN" });
    expect(await at("/volume", { headers: { Host: "a.example" } })).toMatchObject({
      status: 401,
      code: "HT_FORBIDDEN",
    });
    // What an image, a script or a link of a page causes, over connections of ours and those of node:http.
    await put(page);
    for (const where of [path, "/volume", "/blocks", "/metrics", "/health"]) {
      for (const site of ["cross-site", "same-site", "same-origin"]) {
        const refused = await at(where, { headers: { "Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors" } });
        expect(refused).toMatchObject({ status: 401, code: "HT_FORBIDDEN" });
      }
      expect((await at(where, { headers: { Referer: "http://a.example/" } })).code).toBe("HT_FORBIDDEN");
      expect((await at(where, { headers: { "Sec-Fetch-Site": "none" } })).status).toBe(200);
    }
    for (const host of ["localhost:1", "127.0.0.1", "[::1]:80", "LOCALHOST"]) {
      expect((await at("/volume", { headers: { Host: host } })).status).toBe(200);
    }
  });
});

it("every answer forbids a browser to guess what it is, and to show it in a page", async () => {
  await put(page);
  const asked = [path, `/blocks/${signature}-7`, "/volume", "/blocks", "/metrics", "/health", "/nothing"];
  for (const where of asked) {
    expect((await at(where)).headers, where).toMatchObject({
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "x-frame-options": "DENY",
    });
  }
  const bulk = await at("/retrieve", { method: "POST", body: Buffer.from(`${signature}\n`) });
  expect(bulk.headers["x-content-type-options"]).toBe("nosniff");
});

describe("moves", () => {
  it("leave, adopt, follow, left", async () => {
    await put(zipped, { "Holotype-Size": page.length, "Holotype-Compression": "gzip" });
    const leaving = await at(`/moves/leave/${signature}`, { method: "POST" });
    expect(leaving).toMatchObject({ status: 200, headers: { "holotype-references": "1" } });
    expect(leaving.body.equals(zipped)).toBe(true);
    expect(await at(path, { method: "DELETE" })).toMatchObject({ status: 409, code: "HT_MOVING" });
    expect(await at(`/moves/left/${signature}`, { method: "POST" })).toMatchObject({ status: 200 });
    expect(await at(`/moves/left/${signature}`, { method: "POST" })).toMatchObject({ status: 200 });
    const adopt = (headers: NonNullable<Asked["headers"]>) =>
      at(`/moves/adopt/${signature}`, { method: "POST", headers, body: page });
    const headers = { "Holotype-References": 4, "Holotype-Former-Keys": `3-${signature} 2-${signature}-1` };
    expect(await adopt(headers)).toMatchObject({ code: "HT_USAGE" });
    expect(await adopt({ "Holotype-Request": "m-1" })).toMatchObject({ code: "HT_USAGE" });
    const adopted = await adopt({ ...headers, "Holotype-Request": "m-1" });
    expect(json(adopted.body)).toMatchObject({ outcome: "new", references: 4 });
    const followed = await at(`/moves/follow/2-${signature}-1`);
    expect(json(followed.body)).toEqual({ signature, overflow: 0 });
    expect(await at(`/moves/follow/9-${signature}`)).toMatchObject({ status: 404, code: "HT_NOT_FOUND" });
    expect(await at("/moves/follow/%E0%A4%A")).toMatchObject({ status: 400, code: "HT_USAGE" });
    expect(await at("/moves/leave/xyz", { method: "POST" })).toMatchObject({ status: 400, code: "HT_USAGE" });
    expect(await at(`/moves/leave/${"0".repeat(64)}`, { method: "POST" })).toMatchObject({ status: 404 });
  });

  it("care: a volume that cannot be compacted or set says so", async () => {
    expect(await at("/compact", { method: "POST" })).toMatchObject({ status: 501, code: "HT_UNSUPPORTED" });
    expect(await at("/state", { method: "PUT", body: "read-only" })).toMatchObject({ code: "HT_UNSUPPORTED" });
    expect(await at("/state", { method: "PUT", body: "open" })).toMatchObject({ code: "HT_USAGE" });
  });
});
