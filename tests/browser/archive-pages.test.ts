/** Duplication, sites, crawls and comparison in a real browser: by mouse, by keyboard, without a script, on a phone. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { captureBytes, packRecords } from "../../src/testing/capture-text.ts";
import { put, temporaryFolder } from "../cli/holotype.ts";
import {
  axeFaults,
  describeBrowser,
  htmlFaults,
  type Look,
  openPage,
  type ServedSite,
  serveFiles,
  sidewaysBy,
  useBrowser,
} from "./browser.ts";
import { startCatcher } from "./catcher.ts";
import { hostilePage, leakingPage } from "./hostile-pages.ts";

const HOME = encodeURIComponent("http://cabinet.example/");
const PAGES: Readonly<Record<string, string>> = {
  duplication: "/cabinet/duplication",
  crawls: "/cabinet/crawls",
  "one crawl": "/cabinet/crawls/1",
  site: "/cabinet/site/cabinet.example",
  folder: "/cabinet/site/cabinet.example?at=2013-09-03&path=/images/",
  changes: "/cabinet/site/cabinet.example?since=2009-06-01&at=2024-06-12",
  "compared text": `/cabinet/compare?url=${HOME}`,
  "compared source": `/cabinet/compare?url=${HOME}&view=source`,
  "compared headers": `/cabinet/compare?url=${HOME}&view=headers`,
  "compared links": `/cabinet/compare?url=${HOME}&view=links`,
  "side by side": `/cabinet/compare?url=${HOME}&view=side`,
};

describeBrowser("pages of an archive", () => {
  // So that STUN finds the catcher, which listens on this machine alone.
  useBrowser(["--allow-loopback-in-peer-connection"]);
  let site: ServedSite;
  beforeAll(async () => {
    site = await serveFiles();
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
  });

  it.each(Object.keys(PAGES))("%s is sound: light, dark and on a phone", async (name) => {
    for (const [look, width] of [
      ["light", 1200],
      ["dark", 1200],
      ["light", 360],
      ["dark", 360],
    ] as const satisfies readonly (readonly [Look, number])[]) {
      const { page, context, faults } = await openPage({ look, viewport: { width, height: 800 } });
      const answer = await page.goto(site.url + PAGES[name]!);
      expect(answer?.status()).toBe(200);
      expect([look, width, await axeFaults(page)]).toEqual([look, width, []]);
      expect([width, await sidewaysBy(page)]).toEqual([width, 0]);
      expect(faults).toEqual([]);
      await context.close();
    }
    const { context } = await openPage();
    const sent = await context.request.get(site.url + PAGES[name]!, { headers: { accept: "text/html" } });
    expect(await htmlFaults(await sent.text())).toEqual([]);
    await context.close();
  });

  it("the slider goes to another day, by keyboard", async () => {
    const { page, context } = await openPage();
    await page.goto(`${site.url}/cabinet/site/cabinet.example`);
    const before = await page.locator("output").textContent();
    expect(before).toBe("2024-06-12");
    await page.locator("#day").focus();
    await page.keyboard.press("Home");
    expect(await page.locator("output").textContent()).toBe("2009-05-14");
    await page.waitForURL(/day=14378/);
    expect(await page.locator(".lead").textContent()).toContain("as of 2009-05-14");
    await context.close();
  });

  it("the slider works without a script, and so do folders and changes", async () => {
    const { page, context } = await openPage({ javaScriptEnabled: false });
    await page.goto(`${site.url}/cabinet/site/cabinet.example`);
    await page.locator("#day").fill("15951");
    await page.locator(".slide button").click();
    await page.waitForURL(/day=15951/);
    expect(await page.locator(".lead").textContent()).toContain("as of 2013-09-03");
    await page.locator("a.folder", { hasText: "images/" }).click();
    expect(await page.locator("h2").first().textContent()).toContain("images/");
    await page.getByRole("link", { name: "Changes", exact: true }).click();
    expect(await page.locator(".between").count()).toBe(1);
    await context.close();
  });

  it("a site is downloaded as WACZ", async () => {
    const { page, context } = await openPage();
    await page.goto(`${site.url}/cabinet/site/cabinet.example?at=2013-09-03`);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByText("Download WACZ").click()]);
    expect(download.suggestedFilename()).toBe("cabinet.example-2013-09-03.wacz");
    expect(await download.failure()).toBeNull();
    await context.close();
  });

  it("two versions are chosen and compared; both are shown, and nothing of them runs", async () => {
    const { page, context, faults } = await openPage();
    await page.goto(`${site.url}/cabinet/compare?url=${HOME}`);
    await page.locator("#a").selectOption({ index: 0 });
    await page.getByRole("button", { name: "Compare" }).click();
    await page.waitForURL(/a=20090514/);
    expect(await page.locator(".diff ins").count()).toBeGreaterThan(0);
    await page.getByRole("link", { name: "Side by side" }).click();
    await page.waitForURL(/view=side/);
    const frames = page.frames().filter((frame) => frame !== page.mainFrame());
    expect(frames).toHaveLength(2);
    for (const frame of frames) {
      await frame.waitForLoadState();
      expect(new URL(frame.url()).origin).not.toBe(new URL(site.url).origin);
    }
    // They scroll as one; the script that does it is the only one that runs.
    const [one, other] = frames;
    await one!.evaluate("document.scrollingElement.scrollTop = 1e6");
    await expect.poll(() => other!.evaluate<number>("document.scrollingElement.scrollTop")).toBeGreaterThan(100);
    expect(await other!.evaluate<number>("document.scripts.length")).toBe(1);
    expect(faults).toEqual([]);
    await context.close();
  });

  it("hostile versions side by side reach nothing", { timeout: 120_000 }, async () => {
    await using catcher = await startCatcher();
    const uri = "http://a.example/";
    const records = [
      captureBytes({ uri, date: "2014-01-01T00:00:00Z", payload: leakingPage(catcher.port), mime: "text/html" }),
      captureBytes({
        uri,
        date: "2015-01-01T00:00:00Z",
        payload: hostilePage(catcher.port, site.url),
        mime: "text/html",
      }),
    ];
    await using hostile = await serveFiles([put(temporaryFolder(), "hostile.warc.gz", packRecords(records))], {
      name: "hostile",
    });
    const { page, context } = await openPage();
    const address = `${hostile.url}/hostile/compare?url=${encodeURIComponent(uri)}`;
    for (const view of ["side", "text", "source", "headers", "links"]) {
      await page.goto(`${address}&view=${view}`);
      await sleep(view === "side" ? 4000 : 200);
      expect(page.url()).toBe(`${address}&view=${view}`);
      if (view !== "side") continue;
      const frames = page.frames().filter((frame) => frame.parentFrame() === page.mainFrame());
      expect(frames).toHaveLength(2);
      for (const frame of frames) expect(await frame.locator("script").count()).toBe(1);
    }
    await context.close();
    expect(catcher.caught).toEqual([]);
  });
});
