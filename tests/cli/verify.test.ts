import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { DATE, response, revisit, warcFile, zipFile } from "./archives.ts";
import { holotype, linesOf, list, put, SAMPLES, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
const good = join(folder, "good");

interface Told {
  readonly problems: readonly {
    readonly code: string;
    readonly file: string;
    readonly offset: number;
    readonly before: boolean;
  }[];
  readonly problemCounts: Readonly<Record<string, number>>;
  readonly holds: boolean;
  readonly before: number;
  readonly written: number;
  readonly restorable: number;
  readonly against: Readonly<Record<string, number>> | null;
  readonly skipped: readonly { readonly name: string }[];
}

/** What `verify --json` says: one object. */
function verify(...args: readonly string[]): { exit: number | null; told: Told } {
  const { exit, out } = holotype(["verify", "--json", ...args]);
  const lines = linesOf(out);
  expect(lines).toHaveLength(1);
  return { exit, told: JSON.parse(lines[0]!) as Told };
}

/** A copy of the good set that can be broken. */
function copyOf(name: string): string {
  const path = join(folder, name);
  cpSync(good, path, { recursive: true });
  return path;
}

beforeAll(() => {
  expect(holotype(["dedup", SAMPLES, "-o", good])).toMatchObject({ exit: 0, err: "" });
});

describe("verify on the deduplicated samples", () => {
  it("says that all holds, with one thread and with two", () => {
    const { exit, out, err } = holotype(["verify", good, "--against", SAMPLES, "-j", "1"]);
    expect({ exit, err }).toEqual({ exit: 0, err: "" });
    expect(out).toMatch(/^files {7}4 files, /);
    expect(out).toMatch(/^records {5}262$/m);
    expect(out).toMatch(/^revisits {4}(\d+), of these \1 made by dedup$/m);
    expect(out).toMatch(/^restorable {2}(\d+) of \1 proven$/m);
    expect(out).toMatch(/^against {5}4 files compared, 4 equal but for what was replaced$/m);
    expect(out).toMatch(/^verdict {5}all holds; nothing is lost, nothing is added$/m);
    expect(holotype(["verify", good, "--against", SAMPLES, "-j", "2"])).toEqual({ exit, out, err });
    const { told } = verify(good, "--against", SAMPLES);
    expect(told).toMatchObject({ holds: true, problems: [], problemCounts: {}, before: 0, skipped: [] });
    expect(told.written).toBeGreaterThan(40);
    expect(told.restorable).toBe(told.written);
    expect(told.against).toEqual({ files: 4, equal: 4, standing: told.written, missing: [], uncompared: [] });
  });

  it("takes files one by one, and so the originals", () => {
    const names = readdirSync(SAMPLES).filter((name) => name.endsWith(".warc.gz"));
    const files = names.map((name) => join(good, name));
    const originals = names.flatMap((name) => ["--against", join(SAMPLES, name)]);
    expect(holotype(["verify", ...files, ...originals]).exit).toBe(0);
    expect(holotype(["verify", files[0]!, "--originals", good, "--against", join(SAMPLES, names[0]!)]).exit).toBe(0);
  });

  it("leaves nothing behind and changes nothing", () => {
    const before = readdirSync(good, { recursive: true });
    holotype(["verify", good]);
    expect(readdirSync(good, { recursive: true })).toEqual(before);
  });
});

describe("verify on a broken set", () => {
  it("finds a changed byte in an original", () => {
    const broken = copyOf("byte");
    const file = join(broken, "cabinet-2009.warc.gz");
    const beetle = list(file).find(({ uri }) => uri?.endsWith("/images/orchard-beetle.png"))!;
    const bytes = readFileSync(file);
    bytes[beetle.offset + beetle.length! - 200]! ^= 1;
    put(broken, "cabinet-2009.warc.gz", bytes);
    const { exit, told } = verify(broken, "-j", "2");
    expect(exit).toBe(4);
    const codes = Object.keys(told.problemCounts);
    expect(codes).toEqual(expect.arrayContaining(["HT_REVISIT_MISMATCH", "HT_REVISIT_IRREVERSIBLE"]));
    expect(told.restorable).toBeLessThan(told.written);
    const { exit: beside, out } = holotype(["verify", broken, "--against", SAMPLES]);
    expect(beside).toBe(4);
    expect(out).toContain(`${SAMPLES}/cabinet-2009.warc.gz:${beetle.offset}: HT_LOST `);
    expect(out).toMatch(/^verdict {5}something failed$/m);
  });

  it("finds a file that is gone, and lists no more problems than asked for", () => {
    const broken = copyOf("gone");
    rmSync(join(broken, "cabinet-2009.warc.gz"));
    const { exit, told } = verify(broken, "--against", SAMPLES);
    expect(exit).toBe(4);
    expect(told.problems).toContainEqual(
      expect.objectContaining({ code: "HT_LOST", file: join(SAMPLES, "cabinet-2009.warc.gz"), offset: 0 }),
    );
    expect(told.problems.filter(({ code }) => code === "HT_REVISIT_ORPHAN").length).toBeGreaterThan(20);
    expect(told.problems).toHaveLength(Object.values(told.problemCounts).reduce((sum, count) => sum + count, 0));
  });

  it("lists the first hundred problems, or all", () => {
    const lost = Array.from({ length: 130 }, (_, i) =>
      revisit(
        `http://r.example/${i}`,
        { uri: `http://gone.example/${i}`, date: DATE },
        "sha1:7YC3ZXG4JEUACJ4BUXY2FJ34XNJZRYIG",
      ),
    );
    const file = put(folder, "lost.warc.gz", warcFile(lost));
    const few = holotype(["verify", file]);
    expect(few.exit).toBe(4);
    expect(linesOf(few.out).filter((line) => line.includes("HT_REVISIT_ORPHAN its"))).toHaveLength(100);
    expect(few.out).toContain("… and 30 more; --all lists them\n");
    const all = linesOf(holotype(["verify", file, "--all"]).out);
    expect(all.filter((line) => line.includes("HT_REVISIT_ORPHAN its"))).toHaveLength(130);
  });
});

describe("verify on a WACZ", () => {
  it.each(["stored", "deflated"])("compares all of it, and what is %s in it", (method) => {
    const [originals, made] = [join(folder, `wacz-${method}`), join(folder, `wacz-${method}-made`)];
    mkdirSync(originals);
    const entries = { "archive/data.warc.gz": readFileSync(join(SAMPLES, "cabinet-2009.warc.gz")) };
    put(originals, "crawl.wacz", zipFile({ ...entries, "pages/pages.jsonl": Buffer.from("{}\n") }, method));
    put(originals, "2013.warc.gz", readFileSync(join(SAMPLES, "cabinet-2013.warc.gz")));
    expect(holotype(["dedup", originals, "-o", made]).exit).toBe(0);
    const { exit, told } = verify(made, "--against", originals);
    expect({ exit, against: told.against }).toEqual({
      exit: 0,
      against: { files: 2, equal: 2, standing: told.written, missing: [], uncompared: [] },
    });
    expect(told.written).toBeGreaterThan(10);
    put(made, "crawl.wacz", zipFile(entries, method));
    expect(verify(made, "--against", originals)).toMatchObject({
      exit: 0,
      told: { noteCounts: { HT_RECOMPRESSED: 1 } },
    });
  });
});

describe("verify exits", () => {
  const originals = join(folder, "orphaned");
  const made = join(folder, "orphaned-made");

  it("with 3 where a revisit led nowhere before, and 4 where nobody can tell", () => {
    const page = Array.from({ length: 500 }, (_, i) => (i * i * 7919).toString(36)).join(" ");
    const records = [
      response("http://a.example/", page),
      response("http://b.example/", page, { date: "2021-02-02T20:20:20Z" }),
      revisit(
        "http://c.example/",
        { uri: "http://gone.example/", date: DATE },
        "sha1:7YC3ZXG4JEUACJ4BUXY2FJ34XNJZRYIG",
      ),
    ];
    mkdirSync(originals);
    put(originals, "crawl.warc.gz", warcFile(records));
    expect(holotype(["dedup", originals, "-o", made]).exit).toBe(3);
    const { exit, out } = holotype(["verify", made, "--against", originals]);
    expect(exit).toBe(3);
    expect(out).toMatch(/HT_REVISIT_ORPHAN .* \(so in the originals\)$/m);
    expect(out).toMatch(/^verdict {5}all holds that held in the originals; nothing is lost, nothing is added$/m);
    expect(verify(made)).toMatchObject({ exit: 4, told: { holds: false, before: 0, restorable: 1 } });
  });

  it("with 3 where an input was skipped, 20 where none is there, 2 where it cannot be understood", () => {
    const broken = copyOf("skipped");
    put(broken, "odd.warc", "this is no archive at all\n");
    expect(verify(broken)).toMatchObject({
      exit: 3,
      told: { holds: true, skipped: [{ name: join(broken, "odd.warc") }] },
    });
    expect(holotype(["verify", join(folder, "nothing")]).exit).toBe(20);
    expect(holotype(["verify", good, "--against", join(folder, "nothing")]).exit).toBe(20);
    expect(holotype(["verify"]).exit).toBe(2);
    expect(holotype(["verify", "-"]).exit).toBe(2);
    expect(holotype(["verify", good, "-j", "0"]).exit).toBe(2);
  });
});
