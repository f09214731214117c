/**
 * Pages in a real browser: Debian's Chromium, driven by playwright-core. Where no Chromium is found, tests of a browser
 * are skipped, and say so. `npm test` installs it where it may (scripts/install-chromium.mjs).
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { HtmlValidate } from "html-validate";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { ended, holotype, startHolotype, temporaryFolder } from "../cli/holotype.ts";

const PATHS = [process.env["HOLOTYPE_CHROMIUM"] ?? "", "/usr/bin/chromium", "/usr/bin/chromium-browser"];
const executablePath = PATHS.find((path) => path !== "" && existsSync(path));
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // The last such argument counts. Playwright's own also turns off partitioned storage, and with it service workers in
  // frames of other sites, which browsers of people have.
  "--disable-features=AvoidUnnecessaryBeforeUnloadCheckSync,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,MediaRouter,OptimizationHints,NetworkTimeServiceQuerying,PreconnectToSearch",
];

/** `describe`, where there is a browser; elsewhere the reason is in the name, which `npm test` prints. */
export function describeBrowser(name: string, body: () => void): void {
  if (executablePath !== undefined) describe(name, body);
  else describe.skip(`${name} (no Chromium here; on Debian: apt-get install chromium)`, body);
}

let browser: Browser | undefined;

/** One browser for the tests of a file; to be called at its top. */
export function useBrowser(args: readonly string[] = []): void {
  beforeAll(async () => {
    if (executablePath !== undefined) browser = await chromium.launch({ executablePath, args: [...ARGS, ...args] });
  });
  afterAll(async () => {
    await browser?.close();
    browser = undefined;
  });
}

export type Look = "light" | "dark";

/** A fresh window, without cookies or cache. Errors of scripts and refused loads are collected in `faults`. */
export async function openPage(
  options: BrowserContextOptions & { readonly look?: Look } = {},
): Promise<{ page: Page; context: BrowserContext; faults: string[] }> {
  const { look = "light", ...rest } = options;
  const context = await browser!.newContext({ colorScheme: look, viewport: { width: 1200, height: 900 }, ...rest });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  page.on("requestfailed", (request) => faults.push(`${request.url()}: ${request.failure()?.errorText}`));
  return { page, context, faults };
}

export interface ServedSite extends AsyncDisposable {
  readonly url: string;
}

/** A served archive of these files, the bundled samples by default. */
export async function serveFiles(
  files: readonly string[] = ["samples"],
  { name = "cabinet", args = [] }: { readonly name?: string; readonly args?: readonly string[] } = {},
): Promise<ServedSite> {
  const archive = `${temporaryFolder()}/${name}`;
  expect(holotype(["add", ...files, "--archive", archive]).exit).toBe(0);
  return await serveArchive(["--archive", archive, ...args]);
}

export async function serveArchive(args: readonly string[]): Promise<ServedSite> {
  const child = startHolotype(["serve", "--port", "0", ...args]);
  const end = ended(child);
  const first = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (first.done === true) throw new Error(`the server did not start: ${(await end).err}`);
  return {
    url: (first.value as string).replace("127.0.0.1", "localhost"),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await end;
    },
  };
}

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface AxeResults {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** What axe finds wrong with the page as it is now, one line for each place. */
export async function axeFaults(page: Page): Promise<string[]> {
  // The policy of the page is for the page; the test looks at it from outside.
  await page.evaluate(readFileSync(axePath, "utf8"));
  const { violations } = await page.evaluate<AxeResults>("axe.run(document, { resultTypes: ['violations'] })");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

/** Whether something of the page is wider than the window, so that one has to scroll sideways. */
export async function sidewaysBy(page: Page): Promise<number> {
  return await page.evaluate<number>("document.documentElement.scrollWidth - document.documentElement.clientWidth");
}

const validator = new HtmlValidate({
  extends: ["html-validate:standard", "html-validate:document"],
  rules: {
    // Ours to choose: how void elements and line ends look, and that long titles are allowed.
    "void-style": "off",
    "no-trailing-whitespace": "off",
    "long-title": "off",
    "no-implicit-button-type": "off",
    "doctype-style": "off",
    // A region that scrolls must be reached by keyboard.
    "prefer-native-element": ["error", { exclude: ["region", "img", "search", "row", "rowgroup", "table"] }],
    "tel-non-breaking": "off",
    // For files of other hosts; ours come from where the page does.
    "require-sri": "off",
  },
});

/** What is wrong with a page's HTML as it was sent. */
export async function htmlFaults(html: string): Promise<string[]> {
  const { results } = await validator.validateString(html);
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line, column }) => `${line}:${column} ${ruleId}: ${message}`),
  );
}
