/** The pages in a real browser: what a person sees and does, with a pointer, by keyboard, on a phone, in the dark. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { captureBytes, packRecords } from "../../src/testing/capture-text.ts";
import { put, ROOT, temporaryFolder } from "../cli/holotype.ts";
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

const NEWS = "https://www.example.org/news";
/** Where pictures for the docs are kept; only where somebody asks for them. */
const PICTURES = process.env["HOLOTYPE_PICTURES"];

/** Five versions over four years: one comes back after a slip, one after years; two visits failed. */
function newsRecords(): Uint8Array[] {
  const spans: [version: string, from: string, to: string, everyDays: number][] = [
    ["A", "2021-01-05", "2021-11-07", 24],
    ["B", "2021-11-25", "2022-06-14", 28],
    ["C", "2022-07-07", "2022-07-07", 1],
    ["B", "2022-07-19", "2022-11-22", 25],
    ["D", "2022-12-18", "2023-12-10", 21],
    ["E", "2023-12-25", "2024-02-05", 18],
    ["A", "2024-03-05", "2024-10-15", 25],
  ];
  const records = spans.flatMap(([version, from, to, everyDays]) => {
    const visits: Uint8Array[] = [];
    for (let timeMs = Date.parse(from); timeMs <= Date.parse(to); timeMs += everyDays * 86_400_000) {
      const date = new Date(timeMs).toISOString().replace(/\.\d+Z/, "Z");
      visits.push(
        captureBytes({ uri: NEWS, date, payload: `<title>News</title><p>${version.repeat(700)}`, mime: "text/html" }),
      );
    }
    return visits;
  });
  for (const date of ["2022-06-28T00:00:00Z", "2023-08-02T00:00:00Z"]) {
    records.push(captureBytes({ uri: NEWS, date, payload: "", status: "503 Service Unavailable" }));
  }
  return records;
}

let site: ServedSite;
const TIMELINE = `/cabinet/*/${NEWS}`;
const PAGES: Readonly<Record<string, string>> = {
  overview: "/",
  search: "/cabinet/?q=beetle",
  "nothing found": "/cabinet/?q=nowhere-at-all",
  timeline: TIMELINE,
  "timeline of a month": `/cabinet/202207*/${NEWS}`,
  captures: `/cabinet/captures?url=${NEWS}`,
  "not there": "/cabinet/*/http://nowhere.example/",
  api: "/api/",
};

useBrowser();

describeBrowser("pages", () => {
  beforeAll(async () => {
    const file = put(temporaryFolder(), "news.warc.gz", packRecords(newsRecords()));
    site = await serveFiles(["samples", file]);
  });
  afterAll(async () => await site[Symbol.asyncDispose]());

  it.each(Object.entries(PAGES))("%s: valid, without a fault, and without one for axe", async (_, path) => {
    for (const look of ["light", "dark"] as const) {
      const { page, context, faults } = await openPage({ look });
      const answer = await page.goto(site.url + path);
      expect(await htmlFaults(await answer!.text())).toEqual([]);
      // Chromium reports the status of a page that is an error page on purpose.
      expect(faults.filter((fault) => !fault.includes("status of 404"))).toEqual([]);
      expect(await axeFaults(page)).toEqual([]);
      await context.close();
    }
  });

  it.each(Object.entries(PAGES))("%s: fits a phone, with the text as large as anywhere", async (_, path) => {
    const { page, context } = await openPage({ viewport: { width: 360, height: 740 } });
    await page.goto(site.url + path);
    expect(await sidewaysBy(page)).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
    await context.close();
  });

  it("is searched by keyboard alone: suggestions, arrows, enter, back", async () => {
    const { page, context, faults } = await openPage();
    await page.goto(site.url);
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to content");
    for (let i = 0; i < 10 && (await page.evaluate("document.activeElement.id")) !== "q"; i++)
      await page.keyboard.press("Tab");
    await page.keyboard.type("cabinet.example/co");
    await page.getByRole("option").first().waitFor();
    expect(await page.getByRole("combobox").getAttribute("aria-expanded")).toBe("true");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    expect(await page.getByRole("option", { selected: true }).count()).toBe(1);
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await page.getByRole("option").count()).toBe(0);
    await page.keyboard.press("End");
    await page.keyboard.type("l");
    await page.getByRole("option").first().waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/cabinet\/\*\/http:\/\/cabinet\.example\/collection\//);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain("http://cabinet.example/collection/");
    expect(faults).toEqual([]);
    await context.close();
  });

  it("works without scripts", async () => {
    const { page, context } = await openPage({ javaScriptEnabled: false });
    await page.goto(site.url);
    await page.getByLabel("URL, part of one, or host").fill(NEWS);
    await page.getByRole("button", { name: "Find" }).click();
    await page.waitForURL(site.url + TIMELINE);
    await page.getByText("cite").first().click();
    expect(await page.locator("pre").first().isVisible()).toBe(true);
    expect(await page.getByRole("button", { name: "Copy" }).count()).toBe(0);
    await context.close();
  });

  it("shows versions, where one returned, and what failed; the calendar leads to a month", async () => {
    const { page, context, faults } = await openPage({ permissions: ["clipboard-read", "clipboard-write"] });
    await page.goto(site.url + TIMELINE);
    expect(await page.locator(".lanes li").allTextContents()).toEqual(["A", "B", "C", "D", "E", "failed"]);
    expect(await page.locator(".tag.returned").count()).toBe(2);
    if (PICTURES !== undefined) {
      mkdirSync(PICTURES, { recursive: true });
      await page.setViewportSize({ width: 1100, height: 760 });
      await page.screenshot({ path: join(PICTURES, "timeline.png") });
    }
    await page.getByText("cite").first().click();
    await page.getByRole("button", { name: "Copy" }).first().click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(
      /as captured on 2021-01-05T00:00:00Z.*sha256/,
    );
    await page.getByRole("link", { name: /Jul 2022: 2 changes/ }).click();
    await page.waitForURL(/\/cabinet\/202207\*\//);
    expect(await page.locator(".versions tbody tr").count()).toBe(3);
    await page.getByRole("link", { name: "show all of it" }).click();
    await page.waitForURL(site.url + TIMELINE);
    expect(faults).toEqual([]);
    await context.close();
  });

  it("prints without what is only for the screen", async () => {
    const { page, context } = await openPage();
    await page.goto(site.url + TIMELINE);
    await page.emulateMedia({ media: "print" });
    expect(await page.getByRole("search").isVisible()).toBe(false);
    expect(await page.locator(".lanes").isVisible()).toBe(true);
    await context.close();
  });

  it("loads less than 60 KB of script, and only style, icon and script", async () => {
    const { page, context } = await openPage();
    const loaded: string[] = [];
    page.on("request", (request) => loaded.push(new URL(request.url()).pathname));
    await page.goto(site.url);
    expect(loaded.filter((path) => !/^\/(?:static\/pages-[0-9a-f]{12}\.(?:css|js|svg))?$/.test(path))).toEqual([]);
    await context.close();
    const script = readFileSync(join(ROOT, "dist", "bin", "pages-script.js"));
    expect(gzipSync(script).length).toBeLessThan(60_000);
  });
});
