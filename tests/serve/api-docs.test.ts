/** The examples of docs/protocol/api.md: each curl line gives the answer that the page shows. Asked without a socket. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Archive, ArchiveWriter } from "../../src/archive/index.ts";
import { nodeDisk } from "../../src/disk/index.ts";
import { findInputs } from "../../src/pipeline/index.ts";
import { Collection, ROUTES, serveArchives } from "../../src/serve/index.ts";
import { askHandler } from "../../src/testing/served-archive.ts";
import { ROOT, temporaryFolder } from "../cli/holotype.ts";

const ORIGIN = "http://localhost:8080";
const EXAMPLE = /^\$ curl (?:-H '([\w-]+): ([^']*)' )?'http:\/\/localhost:8080(\/api\/[^']*)'\n([^]*)$/;

/** How large a record is on disk depends on the version of zlib. */
const SETTLED: ReadonlySet<string> = new Set(["offset", "length", "segmentBytes", "next"]);

function settle(text: string): unknown[] {
  const values = text.trim().startsWith("{\n") ? [text] : text.trim().split("\n");
  return values.map(
    (each) =>
      JSON.parse(each, (name, value: unknown) => (SETTLED.has(name) && value !== null ? "…" : value)) as unknown,
  );
}

it("the examples of the API hold, and every call has one", { timeout: 60_000 }, async () => {
  const folder = join(temporaryFolder(), "cabinet");
  {
    await using writer = ArchiveWriter.open(nodeDisk, folder, { create: true });
    await writer.add(findInputs(nodeDisk, [join(ROOT, "samples")], () => {}));
  }
  await using archive = await Archive.open(nodeDisk, folder);
  const handler = serveArchives([new Collection("cabinet", archive)]);
  const page = readFileSync(join(ROOT, "docs/protocol/api.md"), "utf8");
  const asked = new Set<string>();
  for (const [, block] of page.matchAll(/```console\n([^]*?)\n```/g)) {
    const [, name, value, target, output] = EXAMPLE.exec(block!) ?? [];
    expect(target, block).toBeDefined();
    const headers = { host: new URL(ORIGIN).host, ...(name === undefined ? {} : { [name.toLowerCase()]: value! }) };
    const { text } = await askHandler(handler, target!, { headers });
    asked.add(target!.replace(/\?.*$/, ""));
    expect(settle(text), target).toEqual(settle(output!));
  }
  const calls = ROUTES.map(({ pattern }) => pattern).filter((pattern) => /^\/api\/\w+$/.test(pattern));
  expect([...asked].sort()).toEqual(calls.sort());
});
