/** The examples of docs/protocol/replay.md and cdx.md hold, and every route is on a page. Asked without a socket. */
import { readFileSync } from "node:fs";
import { STATUS_CODES } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Archive, ArchiveWriter } from "../../src/archive/index.ts";
import { nodeDisk } from "../../src/disk/index.ts";
import { findInputs } from "../../src/pipeline/index.ts";
import { Collection, ROUTES, serveArchives } from "../../src/serve/index.ts";
import { askHandler } from "../../src/testing/served-archive.ts";
import { ROOT, temporaryFolder } from "../cli/holotype.ts";

const EXAMPLE = /^\$ curl (-I )?(?:-H '([\w-]+): ([^']*)' )?'http:\/\/localhost:8080(\/[^']*)'\n([^]*)$/;
const REST = "…";

const page = (name: string) => readFileSync(join(ROOT, "docs/protocol", name), "utf8");

/** Where a record lies depends on the version of zlib. */
function settled(text: string): string {
  return text
    .replace(/("(?:length|offset)": )"\d+"/g, '$1"N"')
    .replace(/(<compressed(?:end)?offset>)\d+/g, "$1N")
    .replace(/^(\S+ \d{14} .* [A-Z2-7]{32}) \d+/gm, "$1 N")
    .trim();
}

it("the examples of captures and CDX hold", { timeout: 60_000 }, async () => {
  const folder = join(temporaryFolder(), "cabinet");
  {
    await using writer = ArchiveWriter.open(nodeDisk, folder, { create: true });
    await writer.add(findInputs(nodeDisk, [join(ROOT, "samples")], () => {}));
  }
  await using archive = await Archive.open(nodeDisk, folder);
  const handler = serveArchives([new Collection("cabinet", archive)], { serveFiles: true });
  let count = 0;
  for (const name of ["replay.md", "cdx.md"]) {
    for (const [, block] of page(name).matchAll(/```console\n([^]*?)\n```/g)) {
      const [, isHead, header, value, target, output] = EXAMPLE.exec(block!) ?? [];
      expect(target, block).toBeDefined();
      const headers = { host: "localhost:8080", ...(header === undefined ? {} : { [header.toLowerCase()]: value! }) };
      const reply = await askHandler(handler, target!, { headers, method: isHead === undefined ? "GET" : "HEAD" });
      count++;
      const shown = settled(output!);
      if (isHead !== undefined) {
        const lines = Object.entries(reply.headers).map(([key, each]) => `${key}: ${each}`.toLowerCase());
        lines.push(`http/1.1 ${reply.status} ${STATUS_CODES[reply.status]}`.toLowerCase(), REST);
        for (const line of shown.split("\n")) expect(lines, target).toContain(line.toLowerCase());
      } else if (shown.endsWith(REST))
        expect(settled(reply.text), target).toContain(shown.slice(0, -REST.length).trim());
      else expect(settled(reply.text), target).toBe(shown);
    }
  }
  expect(count).toBeGreaterThan(15);
});

it("every route is described", () => {
  const pages = ["replay.md", "cdx.md", "api.md", "pages.md", "../operating/archive-pages.md"];
  const all = pages.map(page).join("\n").replaceAll("<coll>", "COLL").replaceAll("<n>", "<number>");
  const text = (pattern: string) =>
    pattern
      .replaceAll("<coll>", "COLL")
      .replaceAll("<url>", "URL")
      .replaceAll("<time>", "TIME")
      .replaceAll("<file>", "FILE")
      .replaceAll("<digest>", "DIGEST")
      .replace("{link,json,cdxj}", "link")
      .replace("COLL/timemap/cdx", "web/timemap/cdx")
      .replace(/…$/, "");
  expect(ROUTES.map(({ pattern }) => text(pattern)).filter((pattern) => !all.includes(pattern))).toEqual([]);
});
