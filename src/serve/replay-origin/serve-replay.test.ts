/** The replay origin without a socket: what it gives to whom, and what it refuses. */
import { describe, expect, it } from "vitest";
import { captureBytes } from "../../testing/capture-text.ts";
import { askHandler, serveRecords } from "../../testing/served-archive.ts";
import { bufferSource, readZipEntries } from "../../warc/index.ts";
import { ReplayAccess, serveReplay } from "../index.ts";

const URI = "http://a.example/";
const PAGE = '<link rel=stylesheet href=s.css><img src="late.png"><img src="none.png"><script src="x.js"></script>';
const RECORDS = [
  captureBytes({ uri: URI, date: "2014-01-01T00:00:00Z", payload: PAGE, mime: "text/html" }),
  captureBytes({ uri: `${URI}s.css`, date: "2014-01-01T00:00:02Z", payload: "a{b:url(old.png)}", mime: "text/css" }),
  captureBytes({ uri: `${URI}old.png`, date: "2012-01-01T00:00:00Z", payload: "old", mime: "image/png" }),
  captureBytes({ uri: `${URI}late.png`, date: "2014-01-01T00:00:04Z", payload: "late", mime: "image/png" }),
  captureBytes({ uri: `${URI}x.js`, date: "2014-01-01T00:00:06Z", payload: "x()", mime: "text/javascript" }),
  captureBytes({
    uri: `${URI}gone`,
    date: "2014-01-01T00:00:08Z",
    payload: "gone",
    status: "410 Gone",
    mime: "text/html",
  }),
];
const WORKER = { script: Buffer.from("worker"), version: "2.27.1", licence: "the licence" };

async function open(hasWorker = true) {
  const access = new ReplayAccess({ hasWorker }, Buffer.alloc(32, 7));
  access.origins.pagesPort = 8080;
  access.origins.replayPort = 8081;
  const archive = await serveRecords(RECORDS, { replay: access, serveFiles: true });
  const scripts = new Map([["replay-boot.js", "boot()"]]);
  const handler = serveReplay([archive.collection], { access, worker: WORKER, scripts });
  const name = access.names.nameOf(archive.collection, false);
  const pinned = access.names.nameOf(archive.collection, true);
  const ask = (target: string, headers: Readonly<Record<string, string>> = {}) =>
    askHandler(handler, target, { headers: { host: "127.0.0.1:8081", ...headers } });
  const page = (target: string, headers: Readonly<Record<string, string>> = {}) =>
    archive.ask(target, { headers: { host: "localhost:8080", ...headers } });
  return { archive, name, pinned, ask, page };
}

describe("the replay origin", () => {
  it("gives content to the worker, and to nobody else", async () => {
    const { archive, name, ask } = await open();
    await using _closing = archive;
    const target = `/${name}/2014ir_/${URI}x.js`;
    expect(await ask(target, { "sec-fetch-dest": "empty" })).toMatchObject({ status: 200, text: "x()" });
    for (const destination of ["document", "iframe", "script", "worker", "serviceworker", "image"])
      expect((await ask(target, { "sec-fetch-dest": destination })).status).toBe(401);
    expect((await ask(target, { "service-worker": "script" })).status).toBe(401);
    expect((await ask(target.replace(/\.[0-9a-f]{24}/, `.${"0".repeat(24)}`))).status).toBe(404);
    expect((await ask(`/coll/2014ir_/${URI}`)).status).toBe(404);
    for (const none of ["/", "/api/", "/coll/", "/metrics", "/static/pages.js", "/static/../x"])
      expect((await ask(none)).status).toBe(404);
  });

  it("has policies on everything, and sends the worker as it is", async () => {
    const { archive, name, ask } = await open();
    await using _closing = archive;
    const worker = await ask("/sw.js?replayPrefix=r", { "service-worker": "script" });
    expect(worker).toMatchObject({
      status: 200,
      text: "worker",
      headers: { "content-security-policy": "default-src 'self'" },
    });
    expect((await ask("/static/worker-licence.txt")).text).toContain("the licence");
    const boot = await ask(`/boot/${name}/2014mp_/${URI}`, { "sec-fetch-dest": "iframe" });
    expect(boot.headers["content-security-policy"]).toContain("frame-ancestors http://localhost:8080");
    expect(boot.text).not.toContain(PAGE);
    const direct = await ask(`/w/r/${name}/2014mp_/${URI}`, { "sec-fetch-dest": "document" });
    expect(direct).toMatchObject({ status: 302, headers: { location: `http://localhost:8080/coll/2014/${URI}` } });
    for (const target of ["/sw.js", "/none", `/${name}/2014ir_/${URI}`, `/${name}/2014st_/${URI}`])
      expect((await ask(target)).headers["connection-allowlist"]).toContain("response-origin");
  });

  it("shows the static view, and captured errors as they were", async () => {
    const { archive, name, ask } = await open();
    await using _closing = archive;
    const page = await ask(`/${name}/2014st_/${URI}`, { "sec-fetch-dest": "iframe" });
    expect(page.headers["content-security-policy"]).toMatch(/^default-src 'none'.*sandbox/);
    expect(page.text).toContain(`http://127.0.0.1:8081/${name}/2014st_/${URI}s.css`);
    expect(page.text).not.toContain("script");
    expect((await ask(`/${name}/2014st_/${URI}s.css`)).text).toContain(`/${name}/2014st_/${URI}old.png`);
    const gone = await ask(`/${name}/2014ir_/${URI}gone`);
    expect(gone).toMatchObject({ status: 200, text: "gone", headers: { "x-redirect-status": "410" } });
    const missing = await ask(`/${name}/2014ir_/${URI}none`, { accept: "text/html,*/*" });
    expect(missing.status).toBe(404);
    expect(missing.text).toContain("Not in the archive");
  });

  it("gives the first capture after a moment where none is known by then", async () => {
    const { archive, pinned, ask, page } = await open();
    await using _closing = archive;
    expect((await ask(`/${pinned}/20140101000000ir_/${URI}late.png`)).text).toBe("late");
    const parts = JSON.parse((await page(`/coll/parts?url=${URI}&time=20140101000000&as-of=1&format=json`)).text);
    expect(parts).toMatchObject({ after: 3, missing: 1, scripts: 1, odd: { url: `${URI}old.png` } });
  });
});

describe("a page", () => {
  it("goes to people, the memento to all others", async () => {
    const { archive, page } = await open();
    await using _closing = archive;
    const shown = await page(`/coll/2014/${URI}`, { "sec-fetch-dest": "document", accept: "text/html" });
    expect(shown.status).toBe(200);
    expect(shown.headers["vary"]).toContain("Sec-Fetch-Dest");
    expect(shown.text).toContain("Version 1 of 1");
    expect(shown.headers["content-security-policy"]).toContain("frame-src http://127.0.0.1:8081/boot/coll.");
    const memento = await page(`/coll/2014/${URI}`);
    expect(memento).toMatchObject({
      status: 302,
      headers: { location: `http://localhost:8080/coll/20140101000000id_/${URI}` },
    });
    expect(memento.headers["vary"]).toContain("Sec-Fetch-Dest");
  });

  it("is shown without its scripts where the worker is not installed", async () => {
    const { archive, page, name } = await open(false);
    await using _closing = archive;
    const { status, text } = await page(`/coll/2014/${URI}`, { "sec-fetch-dest": "document", accept: "text/html" });
    expect(status).toBe(200);
    expect(text).toContain(`src="http://127.0.0.1:8081/${name}/20140101000000st_/${URI}"`);
    expect(text).toContain("the replay worker is not installed here");
    expect(text).not.toContain("allow-scripts");
  });

  it("is to be had with its parts as WACZ", async () => {
    const { archive, page } = await open();
    await using _closing = archive;
    const { status, body, headers } = await page(`/coll/page.wacz?url=${URI}&time=2014`);
    expect(status).toBe(200);
    expect(headers["content-disposition"]).toContain("a.example-20140101000000.wacz");
    const entries = [...readZipEntries(bufferSource(body, "page.wacz"))];
    expect(entries.map(({ name }) => name)).toContain("datapackage.json");
  });
});
