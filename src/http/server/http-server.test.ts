/** Answers of handlers as they arrive over a real socket. */
import { Readable } from "node:stream";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { ArchiveError } from "../../base/index.ts";
import { ask } from "../../testing/http-exchange.ts";
import { type Handler, type HttpServerOptions, type LogEntry, serveHttp } from "../index.ts";

const TEXT = [["Content-Type", "text/plain"]] as const;

async function start(handler: Handler, options: HttpServerOptions = {}) {
  const log: LogEntry[] = [];
  const server = await serveHttp(handler, { onLog: (entry) => log.push(entry), ...options });
  return { server, url: server.url, log, [Symbol.asyncDispose]: () => server.close() };
}

describe("answers", () => {
  it("whole ones, with their length; streams, in pieces; none to HEAD", async () => {
    const stream = () => Readable.from(["one ", Buffer.from("two")]);
    await using fixture = await start(({ target }) =>
      target === "/stream" ? { status: 200, headers: TEXT, body: stream() } : { status: 201, headers: TEXT, body: "ä" },
    );
    expect(await ask(`${fixture.url}/`)).toMatchObject({
      status: 201,
      headers: { "content-length": "2", "x-content-type-options": "nosniff" },
      body: Buffer.from("ä"),
    });
    expect(await ask(`${fixture.url}/stream`)).toMatchObject({
      headers: { "transfer-encoding": "chunked" },
      body: Buffer.from("one two"),
    });
    const head = await ask(`${fixture.url}/`, { method: "HEAD" });
    expect(head).toMatchObject({ status: 201, headers: { "content-length": "2" }, body: Buffer.alloc(0) });
    expect(await ask(`${fixture.url}/stream`, { method: "HEAD" })).toMatchObject({
      status: 200,
      body: Buffer.alloc(0),
    });
  });

  it("errors: the status of their code, and bugs without detail", async () => {
    await using fixture = await start(({ target }) => {
      if (target === "/usage") throw new ArchiveError("HT_USAGE", "not a timestamp");
      if (target === "/disk") throw new ArchiveError("HT_IO", "/secret/file: EIO", { file: "/secret/file" });
      return Promise.reject(new TypeError("secret"));
    });
    expect(await ask(`${fixture.url}/usage`)).toMatchObject({ status: 400, code: "HT_USAGE" });
    const disk = await ask(`${fixture.url}/disk`);
    expect(disk).toMatchObject({ status: 500, code: "HT_IO" });
    const bug = await ask(`${fixture.url}/bug`);
    expect(bug).toMatchObject({ status: 500, code: "HT_UNEXPECTED" });
    expect(`${disk.body.toString()}${bug.body.toString()}`).not.toContain("secret");
    expect(fixture.log.filter(({ event }) => event === "request")).toMatchObject([
      { level: "error", target: "/disk", message: "/secret/file: EIO" },
      { level: "error", target: "/bug", message: "secret", status: 500 },
    ]);
  });

  it("errors in the form that the server was given", async () => {
    const handler: Handler = () => {
      throw new ArchiveError("HT_NOT_FOUND", "never captured");
    };
    const formatError: HttpServerOptions["formatError"] = ({ status, message }, { target }) => ({
      status,
      headers: TEXT,
      body: `${target}: ${message}`,
    });
    await using fixture = await start(handler, { formatError });
    expect(await ask(`${fixture.url}/x`)).toMatchObject({ status: 404, body: Buffer.from("/x: never captured") });
  });

  it("compressed where it is asked for and allowed", async () => {
    const text = "a line of text\n".repeat(1000);
    const stream = () => Readable.from(new Array<string>(10).fill(text));
    await using fixture = await start(({ target }) => {
      const headers = [...TEXT, ["ETag", '"1"'] as const];
      if (target === "/stream") return { status: 200, headers, body: stream(), compress: true };
      return { status: 200, headers, body: text, compress: target === "/text" };
    });
    const headers = { "Accept-Encoding": "br, gzip;q=0.5" };
    const whole = await ask(`${fixture.url}/text`, { headers });
    expect(whole.headers).toMatchObject({ "content-encoding": "gzip", etag: 'W/"1"', vary: "Accept-Encoding" });
    expect(whole.body.length).toBeLessThan(1000);
    expect(gunzipSync(whole.body).toString()).toBe(text);
    const streamed = await ask(`${fixture.url}/stream`, { headers });
    expect(gunzipSync(streamed.body).toString()).toBe(text.repeat(10));
    expect((await ask(`${fixture.url}/payload`, { headers })).headers["content-encoding"]).toBeUndefined();
    const refused = await ask(`${fixture.url}/text`, { headers: { "Accept-Encoding": "gzip;q=0" } });
    expect(refused.headers).toMatchObject({ etag: '"1"', vary: "Accept-Encoding", "content-length": "15000" });
  });

  it("bodies of requests, up to their limit", async () => {
    const handler: Handler = async (request) => ({ status: 200, headers: TEXT, body: await request.body() });
    await using fixture = await start(handler, { limits: { bodySizeMaxBytes: 1000 } });
    const body = "x".repeat(1000);
    expect(await ask(fixture.url, { method: "POST", body })).toMatchObject({ status: 200, body: Buffer.from(body) });
    expect(await ask(fixture.url, { method: "POST", body: `${body}x` })).toMatchObject({ status: 413 });
    const chunked = { "Transfer-Encoding": "chunked" };
    expect(await ask(fixture.url, { method: "POST", body: `${body}x`, headers: chunked })).toMatchObject({
      status: 413,
      code: "HT_TOO_LARGE",
    });
  });
});

describe("operating", () => {
  it("health, metrics by route, and a log of every request", async () => {
    const handler: Handler = (request) => {
      request.route = "cdx";
      return { status: 200, headers: TEXT, body: "rows" };
    };
    const measures = () => [{ name: "captures", type: "gauge", help: "Captures.", value: 7 } as const];
    await using fixture = await start(handler, { logRequests: true, measures });
    expect(await ask(`${fixture.url}/health`)).toMatchObject({ status: 200, body: Buffer.from('{"status":"ready"}') });
    await ask(`${fixture.url}/cdx?url=${"x".repeat(1000)}`);
    const metrics = (await ask(`${fixture.url}/metrics`)).body.toString();
    expect(metrics).toContain('holotype_operations_total{kind="cdx",outcome="200"} 1\n');
    expect(metrics).toContain('holotype_operation_seconds_count{kind="cdx"} 1\n');
    expect(metrics).toContain("holotype_captures 7\n");
    expect(metrics).toContain("holotype_requests_under_way 1\n");
    const entry = fixture.log.find(({ route }) => route === "cdx")!;
    expect(entry).toMatchObject({ level: "info", method: "GET", status: 200, bytes: 4, peer: "127.0.0.1" });
    expect(entry["target"]).toHaveLength(500);
    expect(entry["ms"]).toBeGreaterThan(0);
  });

  it("drains: what is under way is finished, what comes is refused", async () => {
    let goOn: (() => void) | undefined;
    const handler: Handler = async () => {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      return { status: 200, headers: TEXT, body: "done" };
    };
    const fixture = await start(handler);
    const first = ask(fixture.url);
    await expect.poll(() => goOn).toBeDefined();
    const closed = fixture.server.close();
    expect(await ask(fixture.url)).toMatchObject({ status: 503, code: "HT_BUSY" });
    expect(await ask(`${fixture.url}/health`)).toMatchObject({ status: 503 });
    goOn?.();
    expect(await first).toMatchObject({ status: 200 });
    await closed;
    await expect(ask(fixture.url)).rejects.toThrow("ECONNREFUSED");
    expect(fixture.log.at(-1)).toMatchObject({ event: "closed", cutOff: 0 });
  });
});
