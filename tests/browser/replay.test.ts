/** Replay of the samples in a real browser: whole pages, browsing pinned to a moment, the static view, the bar. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Frame, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  axeFaults,
  describeBrowser,
  htmlFaults,
  openPage,
  type ServedSite,
  serveFiles,
  sidewaysBy,
  useBrowser,
} from "./browser.ts";

useBrowser();

const HOME = "http://cabinet.example/";
const TRIES = 600;

/** The frame that shows this archived URL, with all that it loads. */
async function shown(page: Page, url: string, form = "mp_"): Promise<Frame> {
  for (let tries = 0; tries < TRIES; tries++) {
    const frame = page
      .frames()
      .slice(1)
      .find((each) => each.url().endsWith(`${form}/${url}`) && !each.url().includes("/boot/"));
    if (frame !== undefined) {
      await frame.waitForLoadState("load");
      return frame;
    }
    await sleep(20);
  }
  throw new Error(
    `${url} is not shown, but ${page
      .frames()
      .map((each) => each.url())
      .join(" ")}`,
  );
}

const PICTURES = "[...document.images].map((image) => image.complete && image.naturalWidth > 0)";
const bar = (page: Page) => page.locator(".bar .when").innerText();

describeBrowser("replay", () => {
  let site: ServedSite;
  beforeAll(async () => {
    site = await serveFiles();
  });
  afterAll(async () => await site[Symbol.asyncDispose]());

  it("shows a page with its pictures, styles and scripts, and follows links", { timeout: 120_000 }, async () => {
    const { page, context } = await openPage();
    await page.goto(`${site.url}/cabinet/2024/${HOME}`);
    const frame = await shown(page, HOME);
    expect(await frame.evaluate<boolean[]>(PICTURES)).toEqual(Array.from({ length: 7 }, () => true));
    expect(await frame.evaluate("getComputedStyle(document.body).backgroundColor")).not.toBe("rgba(0, 0, 0, 0)");
    // Fetched by a script of the page.
    await frame.waitForFunction(
      "performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/specimens.json'))",
    );
    expect(await bar(page)).toContain("Version 4 of 4");
    await page.locator(".parts summary", { hasText: "parts," }).waitFor();
    await frame.locator("a", { hasText: "Visiting" }).first().click();
    await shown(page, `${HOME}visiting/`);
    expect(new URL(page.url()).pathname).toBe(`/cabinet/2024/${HOME}visiting/`);
    await page.goBack();
    await shown(page, HOME);
    expect(new URL(page.url()).pathname).toBe(`/cabinet/2024/${HOME}`);
    await page.locator('.bar a[title^="Earlier"]').click();
    await page.waitForURL(/2018\d+/);
    expect(await bar(page)).toContain("Version 3 of 4");
    await context.close();
  });

  it("leads a captured redirect on, and offers what is near to what is missing", { timeout: 120_000 }, async () => {
    const { page, context } = await openPage();
    await page.goto(`${site.url}/cabinet/2018/${HOME}visit.html`);
    expect(new URL(page.url()).pathname).toBe(`/cabinet/2018/${HOME}visiting/`);
    const missing = await page.goto(`${site.url}/cabinet/2018/${HOME}collection/none.html`);
    expect(missing?.status()).toBe(404);
    expect(await page.locator("main li a").count()).toBeGreaterThan(3);
    expect(await axeFaults(page)).toEqual([]);
    await context.close();
  });

  it("stays at a moment, in each of the four states", { timeout: 240_000 }, async () => {
    const { page, context } = await openPage();
    const states = [
      ["20100101", "Version 1 of 4", "2009-05-14"],
      ["20140101", "Version 2 of 4", "2013-09-03"],
      ["20190101", "Version 3 of 4", "2018-03-21"],
      ["20250101", "Version 4 of 4", "2024-06-12"],
    ] as const;
    for (const [moment, version, day] of states) {
      await page.goto(`${site.url}/cabinet/as-of/${moment}/${HOME}`);
      const frame = await shown(page, HOME);
      expect(await bar(page)).toContain(version);
      expect(await bar(page)).toContain(day);
      const link = frame.locator('a[href*="collection/"]').first();
      await link.click();
      await page.waitForURL((url) => url.pathname.includes(`/cabinet/as-of/${moment}/${HOME}collection/`));
      const next = decodeURIComponent(new URL(page.url()).pathname).replace(/^.*?(?=http:)/, "");
      const inner = await shown(page, next);
      expect(inner.url()).toContain(".as-of.");
      const loaded = await inner.evaluate<string[]>("performance.getEntriesByType('resource').map(({ name }) => name)");
      for (const name of loaded.filter((each) => each.includes("cabinet.example")))
        expect(name).toContain(`/${moment}`);
    }
    await context.close();
  });

  it("counts what was first seen after the moment", { timeout: 120_000 }, async () => {
    const { page, context } = await openPage();
    const first = (await (await fetch(`${site.url}/cabinet/timemap/json/${HOME}`)).json()) as {
      mementos: { first: { datetime: string } };
    };
    const moment = first.mementos.first.datetime.replace(/\D/g, "");
    await page.goto(`${site.url}/cabinet/as-of/${moment}/${HOME}`);
    const frame = await shown(page, HOME);
    expect((await frame.evaluate<boolean[]>(PICTURES)).every(Boolean)).toBe(true);
    await page.locator(".parts summary", { hasText: "from after that" }).waitFor();
    await context.close();
  });

  it("shows pages with their scripts off, too", { timeout: 120_000 }, async () => {
    const { page, context } = await openPage({ javaScriptEnabled: false });
    await page.goto(`${site.url}/cabinet/2018st_/${HOME}`);
    const frame = await shown(page, HOME, "st_");
    expect(await frame.locator("img").count()).toBeGreaterThan(3);
    expect(await frame.locator("script, [onclick]").count()).toBe(0);
    const box = await frame.locator("img").first().boundingBox();
    expect(box?.width).toBeGreaterThan(10);
    await frame.locator('a[href*="collection/"]').first().click();
    await page.waitForURL(/\/cabinet\/2018\d*st_\/http:\/\/cabinet\.example\/collection\//);
    await context.close();
  });

  it.each(["light", "dark"] as const)("has a bar that everybody can use: %s", { timeout: 120_000 }, async (look) => {
    const { page, context, faults } = await openPage({ look });
    const address = `${site.url}/cabinet/2018/${HOME}`;
    const html = await (
      await fetch(address, { headers: { "sec-fetch-dest": "document", accept: "text/html" } })
    ).text();
    expect(await htmlFaults(html)).toEqual([]);
    await page.goto(address);
    await shown(page, HOME);
    await page.locator(".parts summary", { hasText: "parts," }).click();
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Tab");
    await page.locator(".more > summary").focus();
    await page.keyboard.press("Enter");
    await page.locator(".more .panel").waitFor();
    expect(faults).toEqual([]);
    await page.setViewportSize({ width: 360, height: 700 });
    expect(await sidewaysBy(page)).toBeLessThanOrEqual(0);
    await context.close();
  });
});
