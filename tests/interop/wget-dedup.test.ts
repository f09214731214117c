/** wget takes our export of a digest index as its memory, and writes revisits by it. */
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bufferSource, WarcReader } from "../../src/warc/index.ts";
import { holotypeAlone, put, temporaryFolder } from "../cli/holotype.ts";

const hasWget = spawnSync("wget", ["--version"]).stdout?.includes("GNU Wget") === true;
const DOCUMENTS = 12;

function typesIn(file: string): { type: string; uri: string | undefined; refersTo: string | undefined }[] {
  const told: ReturnType<typeof typesIn> = [];
  for (const record of new WarcReader(bufferSource(readFileSync(file), file))) {
    told.push({ type: record.type, uri: record.uri, refersTo: record.headers.get("warc-refers-to") });
  }
  return told;
}

function wget(args: readonly string[], cwd: string): Promise<number | null> {
  const child = spawn("wget", ["-q", "--no-warc-keep-log", "--delete-after", ...args], { cwd, stdio: "ignore" });
  return new Promise((resolve) => child.on("close", resolve));
}

it.skipIf(!hasWget)(`wget writes revisits by our export${hasWget ? "" : " (skipped: there is no wget)"}`, async () => {
  const folder = temporaryFolder();
  let state = 1;
  const server = createServer((request, response) => {
    const number = Number(/\d+/.exec(request.url ?? "")?.[0]);
    // Every third document is another one in the second state.
    const body = Buffer.from(`document ${number}${number % 3 === 0 ? ` in state ${state}` : ""} `.repeat(50));
    response.writeHead(200, { "Content-Type": "text/plain", "Content-Length": body.length });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const urls = Array.from({ length: DOCUMENTS }, (_, i) => `http://127.0.0.1:${port}/doc/${i}`);
    const list = put(folder, "urls", `${urls.join("\n")}\n`);
    expect(await wget(["-i", list, "--warc-file=one"], folder)).toBe(0);
    const index = join(folder, "index");
    expect(holotypeAlone(["digests", "build", join(folder, "one.warc.gz"), "-o", index]).exit).toBe(0);
    const cdx = join(folder, "known.cdx");
    expect(holotypeAlone(["digests", "export", index, "--format", "wget", "-o", cdx]).exit).toBe(0);
    state = 2;
    expect(await wget(["-i", list, "--warc-file=two", "--warc-cdx", `--warc-dedup=${cdx}`], folder)).toBe(0);
    const records = typesIn(join(folder, "two.warc.gz"));
    const same = urls.filter((_, i) => i % 3 !== 0);
    expect(records.flatMap(({ type, uri }) => (type === "revisit" ? [uri] : []))).toEqual(same);
    expect(records.filter(({ type }) => type === "response").length).toBe(DOCUMENTS - same.length);
    expect(
      records.every(({ type, refersTo }) => type !== "revisit" || refersTo?.startsWith("<urn:uuid:") === true),
    ).toBe(true);
  } finally {
    server.close();
  }
});
