/** Who is answered, and who is not. */
import { request } from "node:https";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { TEST_AUTHORITY, TEST_CERTIFICATES, TEST_KEY } from "../../testing/certificates.ts";
import { ask } from "../../testing/http-exchange.ts";
import { type Handler, type HttpServerOptions, serveHttp } from "../index.ts";

const TOKEN = "correct-horse-battery";
const handler: Handler = () => ({ status: 200, headers: [], body: "kept" });

async function statusWith(options: HttpServerOptions, headers: Readonly<Record<string, string>>): Promise<number> {
  await using server = await serveHttp(handler, options);
  return (await ask(`${server.url}/x`, { headers })).status;
}

describe("without a token", () => {
  it("only this machine is listened to, unless the server is open", async () => {
    await expect(serveHttp(handler, { host: "0.0.0.0" })).rejects.toMatchObject({ code: "HT_USAGE" });
    expect(await statusWith({ host: "0.0.0.0", open: true }, { Host: "archive.example" })).toBe(200);
  });

  it.each([
    ["localhost:8080", 200],
    ["127.0.0.1", 200],
    ["[::1]:80", 200],
    ["Archive.Example:8443", 200],
    ["evil.example", 403],
    ["archive.example.evil.example", 403],
    ["127.0.0.1.evil.example", 403],
    ["[", 403],
  ])("a request to %s gets %i", async (host, status) => {
    expect(await statusWith({ hosts: ["archive.EXAMPLE"] }, { Host: host })).toBe(status);
  });

  it.each<[string, Record<string, string>, number]>([
    ["typed", { "Sec-Fetch-Site": "none" }, 200],
    ["a page of its own", { "Sec-Fetch-Site": "same-origin", Referer: "http://localhost/" }, 200],
    ["a link", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" }, 200],
    ["a frame", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe" }, 403],
    ["an image", { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image" }, 403],
    ["a script", { "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", Origin: "http://a.example" }, 403],
  ])("%s", async (_, headers, status) => {
    expect(await statusWith({}, headers)).toBe(status);
    expect(await statusWith({ cors: true }, headers)).toBe(200);
  });
});

describe("with a token", () => {
  it.each<[string, string, number]>([
    ["none", "", 401],
    ["another", "Bearer correct-horse-batterx", 401],
    ["the one", `Bearer ${TOKEN}`, 200],
    ["the one as a password", `Basic ${Buffer.from(`anybody:${TOKEN}`).toString("base64")}`, 200],
    ["another password", `Basic ${Buffer.from("anybody:guess").toString("base64")}`, 401],
    ["the one in another scheme", `Digest ${TOKEN}`, 401],
  ])("%s", async (_, authorization, status) => {
    const headers = { Host: "archive.example", ...(authorization === "" ? {} : { Authorization: authorization }) };
    expect(await statusWith({ token: TOKEN }, headers)).toBe(status);
  });

  it("health is for everybody, metrics are not", async () => {
    await using server = await serveHttp(handler, { token: TOKEN });
    expect(await ask(`${server.url}/health`)).toMatchObject({ status: 200 });
    const refused = await ask(`${server.url}/metrics`);
    expect(refused).toMatchObject({ status: 401, code: "HT_FORBIDDEN" });
    expect(refused.headers["www-authenticate"]).toMatch(/^Basic /);
    await expect(serveHttp(handler, { token: "short" })).rejects.toMatchObject({ code: "HT_USAGE" });
  });
});

describe("over TLS", () => {
  it("requests are answered, and silent connections make room", async () => {
    const tls = { cert: TEST_CERTIFICATES.good, key: TEST_KEY };
    await using server = await serveHttp(handler, { tls, limits: { connectionCountMax: 2 } });
    const { port } = new URL(server.url);
    const silent = Array.from({ length: 10 }, () => connect(Number(port), "127.0.0.1").on("error", () => {}));
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const status = await new Promise((resolve, reject) => {
      const options = { ca: TEST_AUTHORITY, servername: "site.test", headers: { Host: "localhost" }, agent: false };
      request(server.url, options, ({ statusCode }) => resolve(statusCode))
        .on("error", reject)
        .end();
    });
    for (const socket of silent) socket.destroy();
    expect(status).toBe(200);
  });
});

describe("other sites", () => {
  it("may read nothing unless asked for", async () => {
    await using closed = await serveHttp(handler);
    const { headers } = await ask(closed.url);
    expect(headers).toMatchObject({ "cross-origin-resource-policy": "same-origin", "x-frame-options": "SAMEORIGIN" });
    expect(headers["access-control-allow-origin"]).toBeUndefined();
    await using shared = await serveHttp(handler, { cors: true, token: TOKEN });
    const preflight = await ask(shared.url, { method: "OPTIONS", headers: { "Access-Control-Request-Method": "GET" } });
    expect(preflight).toMatchObject({ status: 204, headers: { "access-control-allow-origin": "*" } });
  });
});
