import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { nodeDisk } from "../../src/disk/index.ts";
import { TimelineWriter } from "../../src/temporal/index.ts";
import { holotype, linesOf, put, SAMPLES, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
let folders = 0;
const fresh = () => join(folder, `timeline-${folders++}`);
const timeline = (...args: readonly string[]) => holotype(["timeline", ...args]);
const json = (text: string) => linesOf(text).map((line) => JSON.parse(line) as Record<string, unknown>);

const A = "aa".repeat(16);
const B = "bb".repeat(16);
const LINES = [
  `org,site)/\t2001-01-01T00:00:00Z\t${A}\tfirst place`,
  `org,site)/\t2003-01-01T00:00:00Z\t${B}\t0x00ff`,
  `org,site)/\t2002-01-01T00:00:00Z\t${A}\tsecond place`,
  `org,site)/gone\t-86400000\t${A}\t`,
  "org,site)/gone\t2001-06-01T00:00:00Z\tgone\t",
  `\\xff\\x00 key\t4102444800000\t${B}\t\\x30x`,
];

function load(lines: readonly string[], ...args: readonly string[]): string {
  const path = fresh();
  const input = Buffer.from(`${lines.join("\n")}\n`);
  expect(holotype(["timeline", "load", path, "-", ...args], { input })).toMatchObject({ exit: 0, err: "" });
  return path;
}

const loaded = load(LINES);

describe("holotype timeline load and dump", () => {
  it("give the same lines back, whatever their order and however many commits", () => {
    const { exit, out } = timeline("dump", loaded);
    expect(exit).toBe(0);
    expect(linesOf(out)).toEqual([
      `org,site)/\t978307200000\t${A}\tfirst\\x20place`,
      `org,site)/\t1009843200000\t${A}\tfirst\\x20place`,
      `org,site)/\t1041379200000\t${B}\t\\x00\\xff`,
      `org,site)/gone\t-86400000\t${A}\t`,
      "org,site)/gone\t991353600000\tgone\t",
      `\\xff\\x00\\x20key\t4102444800000\t${B}\t\\x30x`,
    ]);
    const lines = linesOf(out);
    for (const order of [[...lines].reverse(), [...lines, ...lines]]) {
      expect(timeline("dump", load(order, "--commit-every", "2")).out).toBe(out);
    }
    expect(timeline("load", loaded, put(folder, "again.tsv", out))).toMatchObject({ exit: 0 });
    expect(timeline("dump", loaded).out).toBe(out);
    expect(json(timeline("dump", loaded, "--prefix", "\\xff", "--json").out)).toEqual([
      { key: "\\xff\\x00\\x20key", time: 4102444800000, digest: B, value: "\\x30x" },
    ]);
  });

  it("take CDXJ and CDX, and tell the same of both", () => {
    const dumps = ["cdxj", "cdx11"].map((format) => {
      const index = join(folder, `samples.${format}`);
      expect(holotype(["index", SAMPLES, "--format", format, "-o", index]).exit).toBe(0);
      const path = fresh();
      const { exit, out } = timeline("load", path, index, "--json");
      expect(exit).toBe(0);
      const captures = linesOf(readFileSync(index, "utf8")).filter((line) => !line.startsWith(" CDX"));
      const [told] = json(out);
      expect(told).toMatchObject({ folder: path, taken: captures.length, skipped: 0 });
      expect(timeline("check", path)).toMatchObject({ exit: 0, err: "" });
      return linesOf(timeline("dump", path).out).map((line) => line.split("\t").slice(0, 3));
    });
    expect(dumps[0]!.length).toBeGreaterThan(10);
    expect(dumps[1]).toEqual(dumps[0]);
  });

  it("refuse what is no visit, and keep what was committed before", () => {
    const bad = (line: string, reason: RegExp) => {
      const { exit, err } = timeline("load", loaded, put(folder, "bad.tsv", `${line}\n`));
      expect({ line, exit }).toEqual({ line, exit: 2 });
      expect(err).toMatch(reason);
    };
    bad("what is this", /bad\.tsv:1: neither a visit nor a line of CDX/);
    bad(`\t5\t${A}\t`, /a key of 0 bytes/);
    bad(`k\tyesterday\t${A}\t`, /not a time: yesterday/);
    bad("k\t5\taa\t", /a digest of 1 bytes instead of 16/);
    bad(`k\t5\t${A}\t\\n`, /a \\ without xNN/);
    bad(`k\t5\t${A}\t${"v".repeat(5000)}`, /a value of 5000 bytes/);
    expect(timeline("load", loaded, join(folder, "absent"))).toMatchObject({ exit: 20 });
    expect(linesOf(timeline("dump", loaded).out)).toHaveLength(LINES.length);
    const skipping = put(folder, "skip.cdxj", 'org,site)/ 20010101000000 {"url": "http://site.org/"}\n');
    expect(timeline("load", fresh(), skipping)).toMatchObject({
      exit: 3,
      err: expect.stringMatching(/skip\.cdxj:1: no key, time or digest\n1 line passed over/),
    });
  });

  it("pass over lines of a file that are none, and say which", () => {
    const good = (second: number) =>
      `org,site)/ 2001010100000${second} {"url": "http://site.org/", "digest": "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"}`;
    const index = put(folder, "odd.cdxj.gz", gzipSync(`${good(1)}\nwhat is this\n${good(2)}\n`));
    const path = fresh();
    const { exit, out, err } = timeline("load", path, index);
    expect({ exit, err }).toEqual({
      exit: 3,
      err: expect.stringContaining(
        "odd.cdxj.gz:2: neither a visit nor a line of CDX or CDXJ\n1 line passed over",
      ) as string,
    });
    expect(out).toContain("2 lines taken; 1 key, 1 entry, 2 visits");
  });

  it("say that another writer is there", () => {
    using _ = TimelineWriter.open(nodeDisk, loaded);
    expect(timeline("load", loaded, put(folder, "one.tsv", `${LINES[0]}\n`))).toMatchObject({ exit: 21 });
    expect(timeline("info", loaded)).toMatchObject({ exit: 0 });
  });
});

describe("holotype timeline query", () => {
  const ask = (...args: readonly string[]) => json(timeline("query", loaded, "--json", ...args).out);

  it("tells what a key held at a time, in a span, and ever", () => {
    const first = { birth: "2001-01-01T00:00:00Z", end: "2003-01-01T00:00:00Z", lastSeen: "2002-01-01T00:00:00Z" };
    const whole = { key: "org,site)/", ...first, visits: 2, digest: A, whole: true, value: "first\\x20place" };
    expect(ask("--key", "org,site)/", "--at", "20020615")).toEqual([whole]);
    expect(ask("--key", "org,site)/", "--at", "2000")).toEqual([]);
    expect(ask("--key", "org,site)/")).toEqual([whole, expect.objectContaining({ digest: B, end: null })]);
    expect(ask("--key", "org,site)/", "--from", "2003", "--to", "2004")).toHaveLength(1);
    expect(timeline("query", loaded, "--key", "org,site)/", "--at", "@978307200000").out).toBe(
      `org,site)/\t${first.birth}\t${first.end}\t${first.lastSeen}\t2\t${A}\tfirst\\x20place\n`,
    );
  });

  it("tells slices, spans, prefixes, changes, neighbours and counts", () => {
    expect(ask("--at", "1990").map(({ key }) => key)).toEqual(["org,site)/gone"]);
    expect(ask("--at", "now").map(({ key }) => key)).toEqual(["org,site)/"]);
    expect(ask("--from", "2000", "--to", "2200").map(({ key }) => key)).toEqual([
      "org,site)/",
      "org,site)/",
      "org,site)/gone",
      "\\xff\\x00\\x20key",
    ]);
    expect(ask("--at", "2001", "--prefix", "org,site)/g")).toEqual([]);
    expect(ask("--at", "2000", "--prefix", "org,")).toHaveLength(1);
    expect(ask("--from", "1960", "--to", "2200", "--after", "org,site)/").map(({ key }) => key)).toEqual([
      "org,site)/gone",
      "\\xff\\x00\\x20key",
    ]);
    expect(ask("--changes", "--from", "2001-01-02", "--to", "2010").map(({ change, key }) => [change, key])).toEqual([
      ["replaced", "org,site)/"],
      ["ended", "org,site)/gone"],
    ]);
    expect(ask("--key", "org,site)/b", "--nearest", "1", "--at", "200102").map(({ key }) => key)).toEqual([
      "org,site)/",
      "org,site)/gone",
    ]);
    expect(timeline("query", loaded, "--from", "1960", "--count").out).toBe("4\n");
    expect(ask("--from", "1960", "--limit", "2")).toHaveLength(2);
  });

  it("refuses what cannot be asked", () => {
    const refused = (...args: readonly string[]) =>
      expect(timeline("query", loaded, ...args)).toMatchObject({ exit: 2, out: "" });
    refused();
    refused("--at", "2001", "--from", "2000");
    refused("--changes", "--to", "2001");
    refused("--nearest", "3", "--at", "2001");
    refused("--at", "never");
    expect(timeline("query", fresh(), "--at", "2001")).toMatchObject({ exit: 20, out: "" });
  });
});

describe("holotype timeline info and check", () => {
  it("tell what is there", () => {
    expect(json(timeline("info", loaded, "--json").out)[0]).toMatchObject({ keys: 3, entries: 4, visits: 6 });
    expect(timeline("info", loaded).out).toMatch(/3 keys, 4 entries, 6 visits\ncommit \d+, pages of up to 8.2 kB/);
    expect(timeline("check", loaded).out).toBe(`${loaded}: 3 keys, 4 entries, 6 visits: all sound\n`);
  });

  it("find damage, each with its exit code", () => {
    const path = load(LINES);
    const file = join(path, "timeline.pages");
    const sound = readFileSync(file);
    const damaged = Buffer.from(sound);
    damaged[sound.length - 5]! ^= 1;
    writeFileSync(file, damaged);
    const { exit, out } = timeline("check", path, "--json");
    expect(exit).toBe(4);
    const findings = json(out);
    expect(findings[0]).toMatchObject({ code: "HT_CORRUPT", file, offset: expect.any(Number) });
    expect(findings.at(-1)).toMatchObject({ summary: { sound: false } });
    expect(timeline("query", path, "--at", "2001")).toMatchObject({ exit: 23, out: "" });
    writeFileSync(file, "not a timeline");
    expect(timeline("check", path)).toMatchObject({ exit: 23, out: "" });
    writeFileSync(file, sound.subarray(0, sound.length - 1));
    expect(timeline("info", path)).toMatchObject({ exit: 23, err: expect.stringContaining("cut off") });
    const none = fresh();
    mkdirSync(none);
    expect(timeline("check", none)).toMatchObject({ exit: 20 });
    expect(existsSync(join(none, "timeline.pages"))).toBe(false);
  });
});
