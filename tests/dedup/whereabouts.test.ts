/** What became of every file that was named: rewritten, copied as it is, or not there. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeDisk } from "../../src/disk/index.ts";
import { type DedupOptions, dedup, restore, verify } from "../../src/pipeline/index.ts";
import { getFile, putFile } from "../../src/testing/dedup-trial.ts";
import { createDice } from "../../src/testing/dice.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { arcFile, response, warcFile, zipFile } from "../cli/archives.ts";

const ONE = Buffer.from(createDice(23).bytes(1500));
const page = (path: string, year: number) =>
  warcFile([response(`http://site.example/${path}`, ONE, { date: `${year}-01-01T00:00:00Z` })]);

const CUT_ZIP = zipFile({ "archive/data.warc.gz": page("zip", 2001) }).subarray(0, 200);
const ARC = arcFile(1, "old.arc", [
  { url: "http://site.example/", mime: "text/plain", block: "HTTP/1.0 200 OK\r\n\r\nhi" },
]);
const FILES: Readonly<Record<string, Buffer>> = {
  "/in/a.warc.gz": page("a", 2001),
  "/in/b.warc.gz": page("b", 2002),
  "/in/cut.wacz": CUT_ZIP,
  "/in/junk.warc": Buffer.from("no archive at all"),
  "/in/old.arc": ARC,
  "/in/whole.wacz": zipFile({ "archive/data.warc.gz": page("zip", 2003) }),
  "/in/notes.txt": Buffer.from("notes"),
  "/in/sub/index.cdx": Buffer.from("index"),
};

function diskWith(files: Readonly<Record<string, Buffer>>): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  for (const [path, bytes] of Object.entries(files)) putFile(disk, path, bytes);
  return disk;
}

const run = (disk: ForgetfulDisk, options: DedupOptions = {}) =>
  dedup(disk, ["/in"], { threads: 1, output: "/out", ...options });

describe("dedup -o", () => {
  it("copies what it cannot take apart, and says so", async () => {
    const disk = diskWith(FILES);
    const result = await run(disk);
    expect(result.copied.toSorted()).toEqual(["/in/cut.wacz", "/in/junk.warc", "/in/old.arc", "/in/whole.wacz"]);
    expect(result.absent).toEqual([]);
    for (const path of result.copied) {
      expect(getFile(disk, path.replace("/in/", "/out/")).equals(FILES[path]!), path).toBe(true);
    }
    expect(await run(disk)).toMatchObject({ copied: result.copied, absent: [] });
  });

  it("names what is not in the output", async () => {
    const disk = diskWith(FILES);
    const refusing = new Proxy(disk, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target) as unknown;
        if (name !== "open") return typeof value === "function" ? (value.bind(target) as unknown) : value;
        return (...args: Parameters<ForgetfulDisk["open"]>) =>
          target.open(args[0] === "/in/b.warc.gz" ? "/in/nothing" : args[0], args[1], args[2]);
      },
    });
    const result = await run(refusing);
    expect(result.absent).toEqual(["/in/b.warc.gz"]);
    expect(result.skipped.map(({ name }) => name)).toContain("/in/b.warc.gz");
  });

  it("names other files as not copied, or copies them", async () => {
    const disk = diskWith(FILES);
    const names = ["/in/notes.txt", "/in/sub/index.cdx"];
    expect((await run(disk)).sidecars).toEqual({ names, copied: false });
    expect(disk.stat("/out/notes.txt")).toBeUndefined();
    const options = { output: "/other", withSidecars: true };
    expect((await run(disk, options)).sidecars).toEqual({ names, copied: true });
    expect(getFile(disk, "/other/sub/index.cdx").toString()).toBe("index");
    // Again, and where something else is there.
    expect(await run(disk, options)).toMatchObject({ sidecars: { names, copied: true } });
    putFile(disk, "/other/notes.txt", Buffer.from("other notes"));
    const { skipped } = await run(disk, options);
    expect(skipped.map(({ name, error }) => [name, error.code])).toContainEqual(["/in/notes.txt", "HT_EXISTS"]);
    expect(getFile(disk, "/other/notes.txt").toString()).toBe("other notes");
  });
});

describe("verify --against", () => {
  it.each(["/out/cut.wacz", "/out/junk.warc", "/out/whole.wacz", "/out/b.warc.gz"])("misses %s", async (path) => {
    const disk = diskWith(FILES);
    await run(disk);
    expect(await verify(disk, ["/out"], { against: ["/in"] })).toMatchObject({ holds: true, against: { missing: [] } });
    disk.remove(path);
    const missing = [expect.stringContaining(path.replace("/out/", "/in/")) as string];
    expect(await verify(disk, ["/out"], { against: ["/in"] })).toMatchObject({ holds: false, against: { missing } });
  });

  it("finds other bytes in what it cannot read, and what was added", async () => {
    const disk = diskWith(FILES);
    await run(disk);
    putFile(disk, "/out/cut.wacz", CUT_ZIP.subarray(0, 150));
    putFile(disk, "/out/more.wacz", CUT_ZIP);
    const { holds, problemCounts } = await verify(disk, ["/out"], { against: ["/in"] });
    expect({ holds, problemCounts }).toMatchObject({ holds: false, problemCounts: { HT_LOST: 1, HT_ADDED: 1 } });
  });
});

describe("a name", () => {
  let work: string;
  beforeEach(() => {
    work = mkdtempSync(join(tmpdir(), "holotype-names-"));
  });
  afterEach(() => rmSync(work, { recursive: true }));

  it("with an exclamation mark changes nothing", async () => {
    const disk = diskWith({ "/in/a!b.warc.gz": page("a", 2001), "/in/c!d!.warc.gz": page("b", 2002) });
    expect(await run(disk)).toMatchObject({ replaced: 1, copied: [], absent: [] });
    expect(await verify(disk, ["/out"], { against: ["/in"] })).toMatchObject({ holds: true });
    await restore(disk, ["/out/a!b.warc.gz", "/out/c!d!.warc.gz"], { output: "/back" });
    expect(getFile(disk, "/back/c!d!.warc.gz").equals(page("b", 2002))).toBe(true);
  });

  it("that is not UTF-8 is carried", async () => {
    const nameOf = (bytes: string) => Buffer.concat([Buffer.from(`${work}/in/`), Buffer.from(bytes, "latin1")]);
    mkdirSync(join(work, "in"));
    writeFileSync(nameOf("caf\xe9.warc.gz"), page("a", 2001));
    writeFileSync(nameOf("\xff\xfe!%E9.warc.gz"), page("b", 2002));
    const [input, output, back] = ["in", "out", "back"].map((name) => join(work, name)) as [string, string, string];
    const result = await dedup(nodeDisk, [input], { threads: 1, output });
    expect(result).toMatchObject({ replaced: 1, skipped: [], absent: [] });
    const names = (folder: string) =>
      readdirSync(folder, { encoding: "buffer" })
        .map((name) => name.toString("latin1"))
        .filter((name) => name.includes("warc"))
        .sort();
    expect(names(output)).toEqual(names(input));
    expect(await verify(nodeDisk, [output], { against: [input] })).toMatchObject({
      holds: true,
      against: { equal: 2 },
    });
    await restore(nodeDisk, [output], { output: back });
    for (const name of names(input)) {
      const at = (folder: string) => Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, "latin1")]);
      expect(readFileSync(at(back)).equals(readFileSync(at(input)))).toBe(true);
    }
  });
});
