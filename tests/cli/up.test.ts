/** `holotype up`: from nothing to pages; a second start is warm; a port that is taken is passed over. */
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { captureBytes, packRecords } from "../../src/testing/capture-text.ts";
import { ask } from "../../src/testing/http-exchange.ts";
import { ended, holotypeAlone, linesOf, put, startHolotype, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
const check = (archive: string, ...args: readonly string[]) =>
  holotypeAlone(["up", ...args, "--archive", `${folder}/${archive}`, "--check", "--json"]);

function told(out: string): Record<string, unknown> {
  return JSON.parse(linesOf(out).at(-1)!) as Record<string, unknown>;
}

it("makes an archive of the samples, and checks itself; the second time nothing is added", () => {
  const first = check("new");
  expect(first).toMatchObject({ exit: 0, err: "" });
  expect(told(first.out)).toMatchObject({ archive: `${folder}/new`, checked: true });
  expect(linesOf(first.out)).toHaveLength(2);
  expect(linesOf(check("new").out)).toHaveLength(1);
  expect(holotypeAlone(["stats", "--archive", `${folder}/new`]).out).toMatch(/captures +127/);
});

it("adds the files that it is given, and says which is not there", () => {
  const file = put(
    folder,
    "mine.warc.gz",
    packRecords([captureBytes({ uri: "http://a.example/", date: "2014-01-01T00:00:00Z", payload: "mine" })]),
  );
  expect(check("mine", file).exit).toBe(0);
  expect(holotypeAlone(["stats", "--archive", `${folder}/mine`]).out).toMatch(/captures +1\b/);
  expect(check("mine", `${folder}/none.warc`).exit).toBe(20);
});

it("serves until it is stopped, and takes the next port where one is taken", { timeout: 60_000 }, async () => {
  // Where CI is set it would end by itself.
  const ci = process.env["CI"];
  delete process.env["CI"];
  const start = async (port: string) => {
    const child = startHolotype(["up", "--archive", `${folder}/new`, "--port", port, "--json"]);
    const end = ended(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const line = await lines.next();
    return { url: told(`${line.value as string}\n`)["url"] as string, stop: () => child.kill("SIGTERM"), end };
  };
  const first = await start("0");
  const port = new URL(first.url).port;
  const second = await start(port);
  expect(Number(new URL(second.url).port)).not.toBe(Number(port));
  for (const { url, stop, end } of [first, second]) {
    expect((await ask(`${url.replace("localhost", "127.0.0.1")}/`)).body.toString()).toContain("<!doctype html>");
    stop();
    expect((await end).exit).toBe(0);
  }
  if (ci !== undefined) process.env["CI"] = ci;
});
