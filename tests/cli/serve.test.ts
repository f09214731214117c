/** `holotype serve` as a real process: ready, asked, following commits, ended. */
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { digestOf, formatDigestValue } from "../../src/base/index.ts";
import { captureBytes, packRecords } from "../../src/testing/capture-text.ts";
import { ask } from "../../src/testing/http-exchange.ts";
import { holotype, put, startHolotype, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
const URI = "http://a.example/";
const visit = (date: string, payload: string) => captureBytes({ uri: URI, date, payload });
let count = 0;

function add(archive: string, ...records: readonly Uint8Array[]): void {
  const path = put(folder, `${count++}.warc.gz`, packRecords(records));
  expect(holotype(["add", path, "--archive", archive])).toMatchObject({ exit: 0 });
}

async function serve(...args: readonly string[]) {
  const child = startHolotype(["serve", "--port", "0", ...args]);
  let log = "";
  child.stderr.on("data", (text: Buffer) => void (log += text.toString()));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const first = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (first.done === true) throw new Error(`the server did not start: ${log}`);
  const stop = async () => {
    child.kill("SIGTERM");
    return await ended;
  };
  return { url: first.value, stop, log: () => log };
}

describe("holotype serve", () => {
  it("answers, sees new commits within a second, and ends when it is told", async () => {
    const archive = `${folder}/one`;
    add(archive, visit("2014-01-01T00:00:00Z", "one"));
    const server = await serve("--archive", archive);
    const raw = () => ask(`${server.url}/one/2020id_/${URI}`);
    expect((await raw()).body.toString()).toBe("one");
    expect((await ask(`${server.url}/health`)).status).toBe(200);
    expect((await ask(`${server.url}/one/cdx?url=${URI}`)).body.toString()).toContain("20140101000000");
    add(archive, visit("2015-01-01T00:00:00Z", "two"));
    await sleep(1000);
    expect((await raw()).body.toString()).toBe("two");
    expect(await ask(`${server.url}/one/2020id_/${URI}`, { headers: { host: "evil.example" } })).toMatchObject({
      status: 403,
    });
    expect(await server.stop()).toBe(0);
  });

  it("shares the work among processes, which all see new commits", async () => {
    const archive = `${folder}/shared`;
    add(archive, visit("2014-01-01T00:00:00Z", "one"));
    const server = await serve("--archive", archive, "--processes", "2");
    const bodies = async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => ask(`${server.url}/shared/2020id_/${URI}`)));
      return new Set(answers.map(({ body }) => body.toString()));
    };
    expect(await bodies()).toEqual(new Set(["one"]));
    add(archive, visit("2015-01-01T00:00:00Z", "two"));
    await sleep(1500);
    expect(await bodies()).toEqual(new Set(["two"]));
    expect(await server.stop()).toBe(0);
    await expect(ask(`${server.url}/health`)).rejects.toThrow("ECONNREFUSED");
    const taken = holotype(["serve", "--archive", `${folder}/nowhere`, "--port", "0", "--processes", "2"]);
    expect(taken).toMatchObject({ exit: 20 });
    expect(taken.err.trim().split("\n")).toHaveLength(1);
  });

  it("serves several archives by name, behind rules, and says what it cannot do", async () => {
    const [one, two] = [`${folder}/a1`, `${folder}/a2`];
    add(one, visit("2014-01-01T00:00:00Z", "one"));
    add(two, visit("2014-01-01T00:00:00Z", "two"));
    const rules = put(folder, "rules.aclj", 'example,a)/ - {"access": "block"}\n');
    const server = await serve("--archive", `first=${one}`, "--archive", two, "--rules", `a2=${rules}`);
    expect((await ask(`${server.url}/first/2020id_/${URI}`)).body.toString()).toBe("one");
    expect((await ask(`${server.url}/a2/2020id_/${URI}`)).status).toBe(451);
    expect((await ask(`${server.url}/nowhere/2020id_/${URI}`)).status).toBe(404);
    expect(await server.stop()).toBe(0);
    expect(holotype(["serve", "--archive", `${folder}/none`]).exit).toBe(20);
    expect(holotype(["serve", "--archive", one, "--host", "0.0.0.0"]).exit).toBe(2);
    expect(holotype(["serve", "--archive", one, "--rules", `other=${rules}`]).exit).toBe(2);
  });
});

it("serves a digest index as memory for crawlers, in the words of each", async () => {
  const path = put(folder, "known.warc.gz", packRecords([visit("2014-01-01T00:00:00Z", "one")]));
  const index = `${folder}/index`;
  expect(holotype(["digests", "build", path, "-o", index])).toMatchObject({ exit: 0 });
  const server = await serve("--digests", index);
  const asked = async (target: string) => {
    const { status, body } = await ask(`${server.url}${target}`);
    return `${status} ${body.toString()}`;
  };
  const sha1 = digestOf("sha1", Buffer.from("one"));
  const url = encodeURIComponent(URI);
  const value = formatDigestValue(sha1);
  const warcprox = "fl=timestamp%2Cdigest&filter=%21mimetype%3Awarc%2Frevisit&limit=-1";
  expect(await asked(`/cdx/search/cdx?url=${url}&${warcprox}`)).toBe(`200 20140101000000 ${value}\n`);
  expect(await asked(`/cdx/hex?url=${url}&${warcprox}`)).toBe(`200 20140101000000 ${sha1.hex}\n`);
  expect(await asked(`/web/timemap/cdx?url=${url}&limit=-1`)).toBe(
    `200 example,a)/ 20140101000000 ${URI} text/plain 200 ${value} 3\n`,
  );
  expect(await asked(`/web/timemap/cdx?url=${encodeURIComponent("http://b.example/")}&limit=-1`)).toBe("200 ");
  expect(await asked(`/api/records/${value}?uri=http://b.example/`)).toBe(
    `200 ${JSON.stringify({ id: value, uri: URI, date: 20140101000000 })}\n`,
  );
  expect(await asked(`/api/records/${"A".repeat(32)}?uri=${URI}`)).toMatch(/^404 /);
  expect(await asked(`/coll/2014id_/${URI}`)).toMatch(/^404 only memory/);
  expect((await ask(`${server.url}/cdx/hex?url=${url}`, { method: "POST" })).status).toBe(405);
  expect(await server.stop()).toBe(0);
  expect(holotype(["serve", "--digests", index, "--archive", `${folder}/one`]).exit).toBe(2);
  expect(holotype(["serve", "--digests", `${folder}/none`]).exit).toBe(20);
});

interface MementoLink {
  readonly href: string;
  readonly rel: string;
  readonly datetime?: string;
}
type MementoClient = (url: string, options: object, done: (error: Error | null, links: MementoLink[]) => void) => void;

it("is understood by memento-client, unmodified", async () => {
  const memento = createRequire(import.meta.url)("memento-client") as MementoClient;
  const archive = `${folder}/mementos`;
  add(
    archive,
    visit("2014-01-01T00:00:00Z", "one"),
    visit("2015-01-01T00:00:00Z", "two"),
    visit("2016-01-01T00:00:00Z", "3"),
  );
  const server = await serve("--archive", archive);
  const asked = (options: object) =>
    new Promise<MementoLink[]>((resolve, reject) => {
      memento(URI, options, (error, links) => (error === null ? resolve(links) : reject(error)));
    });
  const all = await asked({ host: `${server.url}/mementos/timemap/link/` });
  expect(all.filter(({ rel }) => /\bmemento\b/.test(rel)).map(({ datetime }) => datetime)).toEqual([
    "Wed, 01 Jan 2014 00:00:00 GMT",
    "Thu, 01 Jan 2015 00:00:00 GMT",
    "Fri, 01 Jan 2016 00:00:00 GMT",
  ]);
  const near = await asked({ host: `${server.url}/mementos/`, time: "2015-02-01" });
  expect(near.find(({ rel }) => rel === "memento")).toMatchObject({
    href: `${server.url}/mementos/20150101000000id_/${URI}`,
    datetime: "Thu, 01 Jan 2015 00:00:00 GMT",
  });
  expect(await server.stop()).toBe(0);
});
