/** Hostile pages in a real browser: nothing that is archived reaches the live web, the window, the pages, or the bar. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Frame, Page } from "playwright-core";
import { expect, it } from "vitest";
import { captureBytes, packRecords } from "../../src/testing/capture-text.ts";
import { put, temporaryFolder } from "../cli/holotype.ts";
import { describeBrowser, openPage, serveFiles, useBrowser } from "./browser.ts";
import { type Catcher, startCatcher } from "./catcher.ts";
import { hostilePage, leakingPage } from "./hostile-pages.ts";

// So that STUN finds the catcher, which listens on this machine alone.
useBrowser(["--allow-loopback-in-peer-connection"]);

const DATE = "2014-01-01T00:00:00Z";
const PATIENCE_MS = 4000;

function archiveOf(catcher: Catcher, pages: string): string {
  const { port } = catcher;
  const made = (uri: string, payload: string, mime = "text/html") => captureBytes({ uri, date: DATE, payload, mime });
  const worker = "self.addEventListener('fetch', (e) => e.respondWith(new Response('taken over')));";
  return put(
    temporaryFolder(),
    "hostile.warc.gz",
    packRecords([
      made("http://a.example/leaks", leakingPage(port)),
      made("http://a.example/hostile", hostilePage(port, pages)),
      made("http://a.example/rtc", hostilePage(port, pages, true)),
      made("http://a.example/worker.js", worker, "text/javascript"),
      made("http://bank.example/", "<title>bank</title><p>a bank"),
    ]),
  );
}

async function replayed(page: Page): Promise<Frame> {
  for (let tries = 0; tries < 400; tries++) {
    const frame = page.frames().find((each) => /\/w\/r\/[^/]+\/\d+mp_\/http:\/\/a\.example\//.test(each.url()));
    if (frame !== undefined) return frame;
    await sleep(25);
  }
  throw new Error(
    `no replayed page: ${page
      .frames()
      .map((each) => each.url())
      .join(" ")}`,
  );
}

describeBrowser("what is archived", () => {
  it("would reach the live web, if nothing held it", { timeout: 120_000 }, async () => {
    await using catcher = await startCatcher();
    const { page, context } = await openPage();
    const free = createServer((_, response) =>
      response.setHeader("Content-Type", "text/html").end(leakingPage(catcher.port)),
    );
    await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
    await page.goto(`http://127.0.0.1:${(free.address() as AddressInfo).port}/`, { waitUntil: "commit" });
    await sleep(PATIENCE_MS);
    await context.close();
    free.closeAllConnections();
    free.close();
    expect(catcher.caught).toContain("udp");
    expect(catcher.caught.some((line) => line.startsWith("GET /socket"))).toBe(true);
    expect(catcher.caught.length).toBeGreaterThan(30);
  });

  it("does not: replay", { timeout: 120_000 }, async () => {
    await using catcher = await startCatcher();
    await using site = await serveFiles([archiveOf(catcher, "http://localhost:1")], { name: "hostile" });
    const { page, context } = await openPage();
    await page.goto(`${site.url}/hostile/2014/http://a.example/leaks`);
    await replayed(page);
    await sleep(PATIENCE_MS);
    await context.close();
    expect(catcher.caught).toEqual([]);
  });

  it("does not: static view", { timeout: 120_000 }, async () => {
    await using catcher = await startCatcher();
    await using site = await serveFiles([archiveOf(catcher, "http://localhost:1")], { name: "hostile" });
    const { page, context } = await openPage();
    for (const name of ["leaks", "hostile"]) {
      await page.goto(`${site.url}/hostile/2014st_/http://a.example/${name}`);
      await sleep(PATIENCE_MS / 2);
      expect(new URL(page.url()).pathname).toBe(`/hostile/2014st_/http://a.example/${name}`);
    }
    await page.goto(`${site.url}/hostile/2014st_/http://a.example/leaks`);
    const frame = page.frames()[1]!;
    expect(await frame.locator("script").count()).toBe(0);
    expect(await frame.locator("p").first().textContent()).toContain("led on by itself");
    await context.close();
    expect(catcher.caught).toEqual([]);
  });

  it("reaches nothing of ours, and does not change what the bar says", { timeout: 120_000 }, async () => {
    await using catcher = await startCatcher();
    await using other = await serveFiles([archiveOf(catcher, "http://localhost:1")], { name: "hostile" });
    await using site = await serveFiles([archiveOf(catcher, other.url)], { name: "hostile" });
    const { page, context } = await openPage();
    await page.goto(`${site.url}/hostile/`);
    await page.evaluate("document.cookie = 'ours=1; path=/'; localStorage.setItem('ours', '1')");
    const address = `${site.url}/hostile/2014/http://a.example/hostile`;
    await page.goto(address);
    const frame = await replayed(page);
    const told = await barOf(page);
    await frame.waitForFunction("window.got && window.got.done");
    const got = await frame.evaluate<Record<string, string>>("Object.assign({}, window.got)");
    // It is as strong as it says: with natives of a realm of its own.
    expect(got["clean"]).toContain("[native code]");
    for (const name of ["parent", "storage", "top", "api", "register", "register-static", "register-replayed"])
      expect([name, got[name]]).toEqual([name, expect.stringMatching(/^refused/)]);
    expect(got["add"]).toBe("told");
    expect(got["cookie"] ?? "").not.toContain("ours");
    await frame.evaluate("window.leave()").catch(() => {});
    await sleep(PATIENCE_MS / 2);
    expect(page.url()).toBe(address);
    expect(await barOf(page)).toBe(told);
    await context.close();
    expect(catcher.caught).toEqual([]);
  });

  it("sends nothing by WebRTC", { timeout: 120_000 }, async () => {
    await using catcher = await startCatcher();
    await using site = await serveFiles([archiveOf(catcher, "http://localhost:1")], { name: "hostile" });
    const { page, context } = await openPage();
    await page.goto(`${site.url}/hostile/2014/http://a.example/rtc`);
    await replayed(page);
    await sleep(PATIENCE_MS);
    await context.close();
    expect(catcher.caught).toEqual([]);
  });
});

function barOf(page: Page): Promise<string> {
  const bar = "document.querySelector('.bar .when').textContent + document.querySelector('.bar input').value";
  return page.evaluate<string>(bar);
}
