/** A payload goes only for an original whose bytes were read in the same run and are the same. */
import { describe, expect, it } from "vitest";
import { digestOf, formatDigest } from "../../src/base/index.ts";
import { type DedupOptions, dedup } from "../../src/pipeline/index.ts";
import { getFile, putFile } from "../../src/testing/dedup-trial.ts";
import { createDice } from "../../src/testing/dice.ts";
import { ForgetfulDisk } from "../../src/testing/forgetful-disk.ts";
import { response, warcFile } from "../cli/archives.ts";
import { SHATTERED } from "./shattered.ts";

const dice = createDice(20);
const [ONE, TWO] = [Buffer.from(dice.bytes(1500)), Buffer.from(dice.bytes(1500))];
const gzip = (...records: readonly ReturnType<typeof page>[]) => warcFile(records, { compression: "gzip" });

function page(path: string, body: Buffer, date: string | number, digest?: string) {
  const told = typeof date === "number" ? `${date}-01-01T00:00:00Z` : date;
  return response(`http://site.example/${path}`, body, { date: told, ...(digest === undefined ? {} : { digest }) });
}

function diskWith(files: Readonly<Record<string, Uint8Array | string>>): ForgetfulDisk {
  const disk = new ForgetfulDisk();
  for (const [path, bytes] of Object.entries(files)) putFile(disk, path, Buffer.from(bytes));
  return disk.reopen({ data: "keep", names: "keep", seed: 0 });
}

/** A line of a manifest for the first record of a file. */
function lineOf(file: string, bytes: Buffer, body: Buffer, uri: string, date: string, more: readonly string[] = []) {
  const digest = formatDigest(digestOf("sha256", body));
  const columns = [file, 0, bytes.length, uri, date, digest, body.length, 200, "text/plain", "plain"];
  const { hex } = digestOf("md5", Buffer.from(`${uri} ${date}`));
  const id = `urn:uuid:${hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")}`;
  return `${[...columns, id, "-", ...more].join("\t")}\n`;
}

const URI = "http://site.example/one";
const FIRST = "2001-01-01T00:00:00Z";
const ORIGINAL = gzip(page("one", ONE, FIRST));
const COPY = gzip(page("one", ONE, 2005));
const KNOWN = lineOf("old.warc.gz", ORIGINAL, ONE, URI, FIRST);

const run = (disk: ForgetfulDisk, options: DedupOptions, names: readonly string[] = ["/in"]) =>
  dedup(disk, names, { threads: 1, ...options });

describe("in place, --known", () => {
  it("is refused without the originals", async () => {
    const disk = diskWith({ "/in/a.warc.gz": COPY, "/known.tsv": KNOWN });
    await expect(run(disk, { known: ["/known.tsv"] })).rejects.toMatchObject({ code: "HT_USAGE" });
    expect(getFile(disk, "/in/a.warc.gz").equals(COPY)).toBe(true);
  });

  it("replaces what was compared with the original", async () => {
    const files = { "/in/a.warc.gz": COPY, "/known.tsv": KNOWN, "/old/sub/old.warc.gz": ORIGINAL };
    const result = await run(diskWith(files), { known: ["/known.tsv"], originals: ["/old"] });
    expect(result).toMatchObject({ replaced: 1, claims: 0, skipped: [] });
  });

  it.each([
    ["is not there", {}],
    ["has another payload of the same size", { "/old/old.warc.gz": gzip(page("one", TWO, FIRST)) }],
    ["has rotted", { "/old/old.warc.gz": flipped(ORIGINAL, 700) }],
    ["is cut", { "/old/old.warc.gz": ORIGINAL.subarray(0, 900) }],
    ["is another record", { "/old/old.warc.gz": gzip(page("other", ONE, FIRST)) }],
    ["is of another second", { "/old/old.warc.gz": gzip(page("one", ONE, 2002)) }],
    ["is no archive", { "/old/old.warc.gz": Buffer.from("nothing of the kind") }],
  ])("keeps the only copy where the original %s", async (_, old) => {
    const disk = diskWith({ "/in/a.warc.gz": COPY, "/known.tsv": KNOWN, "/old/x.warc.gz": COPY, ...old });
    const result = await run(disk, { known: ["/known.tsv"], originals: ["/old"] });
    expect(getFile(disk, "/in/a.warc.gz").equals(COPY)).toBe(true);
    expect(result.replaced).toBe(0);
  });

  it("keeps it where a CDX line is false", async () => {
    const digest = formatDigest(digestOf("sha1", ONE)).slice("sha1:".length);
    const line = `example,site)/one 20010101000000 ${URI} text/plain 200 ${digest} - - ${ORIGINAL.length} 0 old.warc.gz`;
    const files = { "/known.cdx": ` CDX N b a m s k r M S V g\n${line}\n`, "/in/a.warc.gz": COPY };
    const options = { digest: "sha1", known: ["/known.cdx"], originals: ["/old"] } as const;
    const wrong = diskWith({ ...files, "/old/old.warc.gz": gzip(page("one", TWO, FIRST)) });
    expect(await run(wrong, options)).toMatchObject({ replaced: 0 });
    expect(getFile(wrong, "/in/a.warc.gz").equals(COPY)).toBe(true);
    const right = diskWith({ ...files, "/old/old.warc.gz": ORIGINAL });
    expect(await run(right, options)).toMatchObject({ replaced: 1 });
  });

  it("never replaces both of two captures of one second, whatever their files are called", async () => {
    const same = "2003-03-03T03:03:03Z";
    const [mine, theirs] = [gzip(page("mine", ONE, same)), gzip(page("theirs", ONE, same))];
    const lineOfMine = lineOf("a.warc.gz", mine, ONE, "http://site.example/mine", same);
    const lineOfTheirs = lineOf("b.warc.gz", theirs, ONE, "http://site.example/theirs", same);
    const here = diskWith({ "/z/a.warc.gz": mine, "/known.tsv": lineOfTheirs, "/far/b.warc.gz": theirs });
    const there = diskWith({ "/z/b.warc.gz": theirs, "/known.tsv": lineOfMine, "/far/a.warc.gz": mine });
    const options = { known: ["/known.tsv"], originals: ["/far"], job: "/job" };
    const replaced = [await run(here, options, ["z"]), await run(there, options, ["z"])].map((each) => each.replaced);
    expect(replaced).toEqual([0, 0]);
  });
});

describe("with -o", () => {
  it("a claim of an index may do, and is counted as one", async () => {
    const disk = diskWith({ "/in/a.warc.gz": COPY, "/known.tsv": KNOWN });
    const options = { known: ["/known.tsv"], output: "/out" };
    expect(await run(disk, options)).toMatchObject({ replaced: 1, claims: 1 });
    expect(await run(disk, options)).toMatchObject({ replaced: 1, claims: 1, resumed: true });
  });

  it("originals that are in reach are compared, and then it is no claim", async () => {
    const files = { "/in/a.warc.gz": COPY, "/known.tsv": KNOWN };
    const options = { known: ["/known.tsv"], output: "/out", originals: ["/old"] };
    const sound = diskWith({ ...files, "/old/old.warc.gz": ORIGINAL });
    expect(await run(sound, options)).toMatchObject({ replaced: 1, claims: 0 });
    const wrong = diskWith({ ...files, "/old/old.warc.gz": gzip(page("one", TWO, FIRST)) });
    expect(await run(wrong, options)).toMatchObject({ replaced: 0, claims: 0, left: { "original-differs": 1 } });
  });
});

describe("a plan", () => {
  const [A, B] = [gzip(page("a", ONE, 2001)), gzip(page("b", ONE, 2002))];
  const uriOf = (name: string) => `http://site.example/${name}`;
  const idOf = (name: string, year: number) =>
    lineOf("", A, ONE, uriOf(name), `${year}-01-01T00:00:00Z`).split("\t")[10]!;
  const refersTo = (name: string, year: number) => [
    uriOf(name),
    `${year}-01-01T00:00:00Z`,
    idOf(name, year),
    `/in/${name}.warc.gz`,
    "0",
  ];
  const plan = (a: readonly string[], b: readonly string[]) =>
    lineOf("/in/a.warc.gz", A, ONE, uriOf("a"), FIRST, ["-", ...a]) +
    lineOf("/in/b.warc.gz", B, ONE, uriOf("b"), "2002-01-01T00:00:00Z", ["-", ...b]);

  it.each(["in place", "with -o"])(
    "in which two records are copies of each other replaces none of them, %s",
    async (where) => {
      const text = plan(["2", ...refersTo("b", 2002)], ["2", ...refersTo("a", 2001)]);
      const disk = diskWith({ "/in/a.warc.gz": A, "/in/b.warc.gz": B, "/plan.tsv": text });
      const output = where === "in place" ? {} : { output: "/out" };
      expect(await run(disk, { plan: "/plan.tsv", ...output })).toMatchObject({ replaced: 0 });
      expect(getFile(disk, "/in/a.warc.gz").equals(A)).toBe(true);
      expect(getFile(disk, "/in/b.warc.gz").equals(B)).toBe(true);
    },
  );

  it("is carried out where one of them stays", async () => {
    const disk = diskWith({
      "/in/a.warc.gz": A,
      "/in/b.warc.gz": B,
      "/plan.tsv": plan(["1"], ["2", ...refersTo("a", 2001)]),
    });
    expect(await run(disk, { plan: "/plan.tsv" })).toMatchObject({ replaced: 1 });
  });

  it("is not believed where the payloads differ, whatever digests it tells", async () => {
    const other = gzip(page("b", TWO, 2002));
    const disk = diskWith({
      "/in/a.warc.gz": A,
      "/in/b.warc.gz": other,
      "/plan.tsv": plan(["1"], ["2", ...refersTo("a", 2001)]).replaceAll(String(B.length), String(other.length)),
    });
    expect(await run(disk, { plan: "/plan.tsv" })).toMatchObject({ replaced: 0 });
    expect(getFile(disk, "/in/b.warc.gz").equals(other)).toBe(true);
  });

  it("needs originals of other files in reach, in place", async () => {
    const text = plan(["1"], ["2", ...refersTo("a", 2001)])
      .split("\n")[1]!
      .replace("/in/a.warc.gz", "/gone/a.warc.gz");
    const files = { "/in/b.warc.gz": B, "/plan.tsv": `${text}\n` };
    expect(await run(diskWith(files), { plan: "/plan.tsv" })).toMatchObject({ replaced: 0 });
    expect(await run(diskWith(files), { plan: "/plan.tsv", output: "/out" })).toMatchObject({ replaced: 1, claims: 1 });
    const reach = diskWith({ ...files, "/moved/a.warc.gz": A });
    expect(await run(reach, { plan: "/plan.tsv", originals: ["/moved"] })).toMatchObject({ replaced: 1, claims: 0 });
  });
});

describe("a job that goes on", () => {
  const plain = (...records: readonly ReturnType<typeof page>[]) => warcFile(records, { compression: "none" });
  const [A, B] = [plain(page("a", ONE, 2001)), plain(page("b", ONE, 2002), page("c", TWO, 2003))];
  const FILES = { "/in/a.warc": A, "/in/b.warc": B };

  /** The disk of a run that was killed before the first operation that fits. */
  async function killedBefore(fits: RegExp, options: DedupOptions = {}): Promise<ForgetfulDisk> {
    const whole = diskWith(FILES);
    await run(whole, options);
    const at = whole.operations.log.findIndex((line) => fits.test(line));
    const disk = diskWith(FILES).reopen({ data: "keep", names: "keep", seed: 0 }, { stopAt: at });
    await expect(run(disk, options)).rejects.toThrow();
    return disk.reopen({ data: "keep", names: "keep", seed: 0 });
  }

  /** The disk with another content under the same name, of the same size and time. */
  function exchanged(disk: ForgetfulDisk, path: string, bytes: Buffer): ForgetfulDisk {
    const { modifiedMs, sizeBytes } = disk.stat(path)!;
    putFile(disk, path, bytes);
    const after = disk.reopen({ data: "keep", names: "keep", seed: 0 });
    expect(after.stat(path)).toMatchObject({ modifiedMs, sizeBytes });
    return after;
  }

  const STAGES = { reading: /\/sorted\.tsv$/, comparing: /\/resolved\/000001/, planned: /^open .*\/copies\.tsv$/ };

  it.each(Object.entries(STAGES))("after %s reads the originals again: exchanged", async (_, moment) => {
    const disk = exchanged(await killedBefore(moment), "/in/a.warc", plain(page("a", TWO, 2001)));
    expect(await run(disk, {})).toMatchObject({ replaced: 0, resumed: true });
    expect(getFile(disk, "/in/b.warc").equals(B)).toBe(true);
  });

  it("reads the copies again, too", async () => {
    const other = plain(page("b", TWO, 2002), page("c", ONE, 2003));
    const disk = exchanged(await killedBefore(STAGES.planned), "/in/b.warc", other);
    expect(await run(disk, {})).toMatchObject({ replaced: 0 });
    expect(getFile(disk, "/in/b.warc").equals(other)).toBe(true);
  });

  it("finds originals in files that were rewritten before", async () => {
    const files = {
      "/in/a.warc.gz": gzip(page("x", TWO, 2001), page("a", TWO, 2002), page("b", ONE, 2003)),
      "/in/b.warc.gz": gzip(page("b", ONE, 2004), page("c", TWO, 2005)),
    };
    const whole = diskWith(files);
    expect(await run(whole, {})).toMatchObject({ replaced: 3 });
    const renames = whole.operations.log.flatMap((line, at) => (/^rename \/in\/[ab]\.warc/.test(line) ? [at] : []));
    const disk = diskWith(files).reopen({ data: "keep", names: "keep", seed: 0 }, { stopAt: renames[1]! });
    await expect(run(disk, {})).rejects.toThrow();
    const found = disk.reopen({ data: "keep", names: "keep", seed: 0 });
    expect(await run(found, {})).toMatchObject({ replaced: 3, skipped: [] });
    for (const path of Object.keys(files)) expect(getFile(found, path).equals(getFile(whole, path))).toBe(true);
  });
});

describe("without comparing, in place", () => {
  it("a weak digest is not enough", async () => {
    const [a, b] = [gzip(page("a", SHATTERED[0], 2001)), gzip(page("b", SHATTERED[1], 2002))];
    const disk = diskWith({ "/in/a.warc.gz": a, "/in/b.warc.gz": b });
    expect(await run(disk, { digest: "sha1", compare: false })).toMatchObject({ replaced: 0 });
    expect(getFile(disk, "/in/b.warc.gz").equals(b)).toBe(true);
  });
});

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1;
  return copy;
}
