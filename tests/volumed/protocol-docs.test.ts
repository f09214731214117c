/** The examples of docs/protocol do what the pages say they do, word for word, against a real server. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT, temporaryFolder } from "../cli/holotype.ts";
import { serveFolder } from "./server-process.ts";

/** One leads on to the next. */
const PAGES = ["put", "references", "get", "head", "delete", "find", "list", "filter", "store", "retrieve", "moves"];
const LAST_PAGES = ["volume", "health", "overview"];
const URL_TOLD = "http://127.0.0.1:8123";

interface Example {
  readonly command: string;
  readonly output: string;
}

function examplesOf(page: string): Example[] {
  const text = readFileSync(join(ROOT, "docs", "protocol", `${page}.md`), "utf8");
  return [...text.matchAll(/```console\n([^]*?)\n```/g)].flatMap(([, block]) =>
    block!
      .split(/^\$ /m)
      .slice(1)
      .map((part) => {
        const [command, ...output] = part.split("\n");
        return { command: command!, output: output.join("\n") };
      }),
  );
}

/** What is another one each time: dates, ids, and bytes that depend on them. */
function settle(text: string): string {
  return text
    .replaceAll("\r", "")
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UUID")
    .replace(/^(Date|WARC-Date): .*$/gm, "$1: …")
    .replace(/"(bytes(?:Before|After))":\d+/g, '"$1":…')
    .trimEnd();
}

function has(program: string): boolean {
  try {
    execFileSync(program, ["--version"], { stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}

it("the examples of docs/protocol hold", { timeout: 120_000 }, async (context) => {
  if (!has("curl")) return context.skip("curl, which the examples use, is not installed");
  const folder = temporaryFolder();
  const cwd = join(folder, "work");
  mkdirSync(cwd);
  const server = await serveFolder(join(folder, "volume"), "--create");
  let count = 0;
  for (const page of [...PAGES, ...LAST_PAGES]) {
    for (const { command, output } of examplesOf(page)) {
      const out = execFileSync("sh", ["-c", command.replaceAll(URL_TOLD, server.url)], { cwd }).toString();
      expect(settle(out), `${page}: ${command}`).toBe(settle(output));
      count++;
    }
  }
  expect(count).toBeGreaterThan(30);
  server.process.kill("SIGTERM");
  expect(await server.ended).toMatchObject({ exit: 0 });
});
