/** Ways to lose something that were found by thinking of them, each with the moment at which it would have happened. */
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../../src/base/index.ts";
import type { Disk } from "../../src/disk/index.ts";
import { type DedupOptions, type DedupResult, dedup } from "../../src/pipeline/index.ts";
import { createDice } from "../../src/testing/dice.ts";
import { readAll, readText } from "../../src/testing/disk-suite.ts";
import { everyStop } from "../../src/testing/every-stop.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { response, warcFile, zipFile } from "../cli/archives.ts";

type Files = Readonly<Record<string, Buffer>>;

const dice = createDice(5);
const [ONE, TWO] = [Buffer.from(dice.bytes(1500)), Buffer.from(dice.bytes(1700))];

function page(path: string, body: Buffer, year: number) {
  return response(`http://site.example/${path}`, body, { date: `${year}-01-01T00:00:00Z` });
}

const gzip = (...records: readonly ReturnType<typeof page>[]) => warcFile(records, { compression: "gzip" });
const ORIGINAL = gzip(page("one", ONE, 2001));
const COPY = gzip(page("one", ONE, 2005), page("two", TWO, 2006));
const SAMPLE: Files = { "/in/a.warc.gz": ORIGINAL, "/in/b.warc.gz": COPY };

function write(disk: Disk, path: string, bytes: Uint8Array | string): void {
  disk.makeFolder(path.slice(0, path.lastIndexOf("/")) || "/");
  using file = disk.open(path, "replace");
  file.write(Buffer.from(bytes), 0);
}

function diskWith(files: Files, faults = {}): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  for (const [path, bytes] of Object.entries(files)) write(disk, path, bytes);
  return disk.reopen({ data: "keep", names: "keep", seed: 0 }, faults);
}

function run(disk: Disk, options: DedupOptions = {}, names: readonly string[] = ["/in"]): Promise<DedupResult> {
  return dedup(disk, names, { threads: 1, ...options });
}

function bytesOf(disk: Disk, path: string): Buffer {
  return Buffer.from(readAll(disk, path));
}

/** The disk as it is when the process is killed right before the operation that fits, the `count`-th of them. */
async function killedBefore(files: Files, options: DedupOptions, fits: RegExp, count = 1): Promise<ForgetfulDisk> {
  const whole = diskWith(files);
  await run(whole, options);
  const found = whole.operations.log.flatMap((line, at) => (fits.test(line) ? [at] : []));
  const disk = diskWith(files, { stopAt: found[count - 1]! });
  await expect(run(disk, options)).rejects.toThrow();
  return disk.reopen({ data: "keep", names: "keep", seed: 0 });
}

/** Everything is planned and nothing rewritten. */
const PLANNED = /^open .*\/copies\.tsv$/;

describe("what a file refers to", () => {
  it("is looked at again before the rewriting goes on, in place", async () => {
    const disk = await killedBefore(SAMPLE, {}, PLANNED);
    write(disk, "/in/a.warc.gz", gzip(page("other", TWO, 2002)));
    const { skipped, replaced } = await run(disk);
    expect(bytesOf(disk, "/in/b.warc.gz").equals(COPY)).toBe(true);
    expect(replaced).toBe(0);
    expect(skipped.map(({ name, error }) => [name, error.code])).toEqual([["/in/a.warc.gz", "HT_CHANGED"]]);
  });

  it("is looked at again where it lies in a WACZ", async () => {
    const files = { "/in/a.wacz": zipFile({ "archive/data.warc.gz": ORIGINAL }), "/in/b.warc.gz": COPY };
    const disk = await killedBefore(files, {}, PLANNED);
    write(disk, "/in/a.wacz", zipFile({ "archive/data.warc.gz": gzip(page("other", TWO, 2002)) }));
    const { skipped } = await run(disk);
    expect(bytesOf(disk, "/in/b.warc.gz").equals(COPY)).toBe(true);
    expect(skipped.map(({ name, error }) => [name, error.code])).toEqual([["/in/a.wacz", "HT_CHANGED"]]);
  });

  it("takes its references back where it changed after they were written, whenever the power goes", async () => {
    const files = { "/in/a.warc.gz": COPY, "/in/z.warc.gz": ORIGINAL };
    const options = { output: "/out", clock: { now: () => 0 } };
    const stopped = await killedBefore(files, options, /^open \/in\/z\.warc\.gz$/, 6);
    expect(bytesOf(stopped, "/out/a.warc.gz").length).toBeLessThan(COPY.length);
    const state = filesOf(stopped);
    const prepare = (disk: Disk) => {
      for (const [path, bytes] of state) write(disk, path, bytes);
      write(disk, "/in/z.warc.gz", Buffer.concat([ORIGINAL, COPY]));
    };
    let checks = 0;
    const count = await everyStop(
      async (disk) => void (await run(disk, options)),
      async (disk) => {
        // To go on from every disk that each stop can leave would take half a minute.
        if (checks++ % 5 > 0) return;
        const { skipped } = await run(disk, options);
        expect(skipped.map(({ name, error }) => [name, error.code])).toEqual([["/in/z.warc.gz", "HT_CHANGED"]]);
        expect(bytesOf(disk, "/out/a.warc.gz").equals(COPY)).toBe(true);
      },
      { prepare },
    );
    expect(count).toBeGreaterThan(30);
  });

  it("is not what an index of the very same files tells", async () => {
    // An index that writes the URI in its own way: the record would be replaced by a reference to itself.
    const only = gzip(response("http://site.example/a page", ONE, { date: "2001-01-01T00:00:00Z" }));
    const digest = formatDigest(digestOf("sha1", ONE)).slice("sha1:".length);
    const columns = [
      "example,site)/a%20page",
      "20010101000000",
      "http://site.example/a%20page",
      "text/plain",
      "200",
      digest,
    ];
    const cdx = ` CDX N b a m s k r M S V g\n${[...columns, "-", "-", only.length, 0, "a.warc.gz"].join(" ")}\n`;
    const disk = diskWith({ "/in/a.warc.gz": only, "/known.cdx": Buffer.from(cdx) });
    const options: DedupOptions = { digest: "sha1", known: ["/known.cdx"], originals: ["/in"], job: "/job" };
    const { replaced } = await run(disk, options, ["in"]);
    expect(bytesOf(disk, "/in/a.warc.gz").equals(only)).toBe(true);
    expect(replaced).toBe(0);
  });
});

function filesOf(disk: Disk, folder = ""): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const { name, kind } of disk.list(folder || "/")) {
    const path = `${folder}/${name}`;
    if (kind === "folder") for (const [below, bytes] of filesOf(disk, path)) files.set(below, bytes);
    else files.set(path, bytesOf(disk, path));
  }
  return files;
}

describe("a ledger", () => {
  it("does not stay behind for a file that was not rewritten after all", async () => {
    const disk = await killedBefore(SAMPLE, {}, /^rename \/in\/b\.warc\.gz$/);
    expect(disk.list("/in/holotype-job/ledger").map(({ name }) => name)).toContain("000002.tsv");
    write(disk, "/in/a.warc.gz", gzip(page("other", TWO, 2002)));
    await run(disk);
    expect(bytesOf(disk, "/in/b.warc.gz").equals(COPY)).toBe(true);
    expect(disk.list("/in/holotype-job/ledger")).toEqual([]);
  });

  it("is not overlooked: a folder with ledgers and no job in it begins none", async () => {
    const disk = diskWith(SAMPLE);
    await run(disk);
    disk.remove("/in/holotype-job/job.json");
    await expect(run(disk)).rejects.toMatchObject({ code: "HT_EXISTS" });
    expect(disk.list("/in/holotype-job/ledger")).not.toEqual([]);
  });
});

describe("a job folder", () => {
  it("that holds files of somebody else is refused, and they stay", async () => {
    const disk = diskWith({
      ...SAMPLE,
      "/job/plan.tsv": Buffer.from("mine"),
      "/job/manifest/mine": Buffer.from("mine"),
    });
    await expect(run(disk, { output: "/out", job: "/job" })).rejects.toMatchObject({ code: "HT_EXISTS" });
    expect(readText(disk, "/job/plan.tsv")).toBe("mine");
    expect(readText(disk, "/job/manifest/mine")).toBe("mine");
  });

  it("is read anew by every run of one process", async () => {
    await run(diskWith(SAMPLE), { output: "/out" });
    const other = diskWith({ "/in/c.warc.gz": COPY, "/in/d.warc.gz": ORIGINAL });
    expect(await run(other, { output: "/out" })).toMatchObject({ files: 2, replaced: 1, skipped: [] });
  });
});

describe("an output folder", () => {
  it("inside of an input folder does not become an input when the job goes on", async () => {
    const options = { output: "/in/out" };
    const whole = diskWith(SAMPLE);
    await run(whole, options);
    const disk = await killedBefore(SAMPLE, options, /^rename \/in\/out\/b\.warc\.gz$/);
    expect(await run(disk, options)).toMatchObject({ files: 2, replaced: 1, skipped: [] });
    expect(bytesOf(disk, "/in/out/b.warc.gz").equals(bytesOf(whole, "/in/out/b.warc.gz"))).toBe(true);
  });

  it("whose files went away after the job was finished is told of", async () => {
    const disk = diskWith(SAMPLE);
    await run(disk, { output: "/out" });
    disk.remove("/out/b.warc.gz");
    const { skipped } = await run(disk, { output: "/out" });
    expect(skipped.map(({ name }) => name)).toEqual(["/in/b.warc.gz"]);
  });
});

describe("a file in place", () => {
  it("that a crawler still writes to is left alone", async () => {
    const disk = diskWith({ "/in/a.warc.gz": ORIGINAL, "/in/b.warc.gz.open": COPY });
    const { skipped } = await run(disk);
    expect(bytesOf(disk, "/in/b.warc.gz.open").equals(COPY)).toBe(true);
    expect(skipped.map(({ name }) => name)).toEqual(["/in/b.warc.gz.open"]);
  });
});

describe("what went wrong", () => {
  const broken = Buffer.from(COPY);
  broken[broken.length - 300]! ^= 0xff;
  const files = { ...SAMPLE, "/in/broken.warc.gz": broken, "/in/junk.warc": Buffer.from("no archive at all") };
  const told = ({ skipped, damage }: DedupResult) => ({ skipped: skipped.map(({ name }) => name), damage });

  it("is told again by a run that goes on, and by one that finds all done", async () => {
    const whole = await run(diskWith(files), { output: "/out" });
    expect(told(whole)).toMatchObject({ damage: expect.any(Number) as number });
    expect(whole.damage + whole.skipped.length).toBeGreaterThan(0);
    const disk = await killedBefore(files, { output: "/out" }, PLANNED);
    expect(told(await run(disk, { output: "/out" }))).toEqual(told(whole));
    expect(told(await run(disk, { output: "/out" }))).toEqual(told(whole));
  });
});

describe("a disk that is full in the middle of a manifest", () => {
  it("stops the job, and does not pass for a file that cannot be read", async () => {
    const many = Array.from({ length: 1500 }, (_, i) =>
      page(`${i}/${"long".repeat(200)}`, Buffer.from([i, i >> 8]), 2001),
    );
    const archive = warcFile(many);
    const whole = diskWith({ "/in/many.warc": archive });
    await run(whole, { output: "/out" });
    const writes = whole.operations.log.filter((line) => line.startsWith("write "));
    const first = writes.findIndex((line) => line.includes("/manifest/")) + 1;
    expect(writes.filter((line) => line.includes("/manifest/")).length).toBeGreaterThan(1);
    const disk = diskWith({ "/in/many.warc": archive }, { fullFromWrite: first });
    await expect(run(disk, { output: "/out" })).rejects.toMatchObject({ code: "HT_NO_SPACE" });
    const later = disk.reopen({ data: "keep", names: "keep", seed: 0 });
    expect(await run(later, { output: "/out" })).toMatchObject({ skipped: [], records: 1500 });
  });

  it("stops it as well where both the output and the draft of its ledger find no room", async () => {
    const dice = createDice(9);
    const large = Array.from({ length: 40 }, (_, i) => page(`large/${i}`, Buffer.from(dice.bytes(60_000)), 2010 + i));
    const files = { "/in/a.warc.gz": ORIGINAL, "/in/b.warc.gz": gzip(page("one", ONE, 2005), ...large) };
    const whole = diskWith(files);
    await run(whole);
    const writes = whole.operations.log.filter((line) => line.startsWith("write "));
    const first = writes.findIndex((line) => line.includes(".b.warc.gz.")) + 1;
    const disk = diskWith(files, { fullFromWrite: first });
    await expect(run(disk)).rejects.toMatchObject({ code: "HT_NO_SPACE" });
  });
});
