import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatContentKey, signatureOf } from "../../src/store/index.ts";
import { serveFolder } from "../volumed/server-process.ts";
import { ended, holotype, holotypeBytes, linesOf, MAIN, put, startHolotype, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
let made = 0;

function fresh(): string {
  const path = join(folder, `case-${made++}`);
  mkdirSync(path);
  return path;
}

const store = (instance: string, command: string, ...args: readonly string[]) =>
  holotype(["store", command, "--instance", instance, ...args]);

function keyOf(text: string, volume = 0): string {
  return formatContentKey({ volume, signature: signatureOf("sha256", Buffer.from(text)), overflow: 0 });
}

const json = (line: string) => JSON.parse(line) as Record<string, unknown>;

/** A connector with these volumes; each is one line. */
function connector(place: string, attributes: string, ...volumes: readonly string[]): string {
  const lines = volumes.map((volume) => `  <volume ${volume}/>`);
  return put(place, "connector.xml", [`<instance name="test" ${attributes}>`, ...lines, "</instance>", ""].join("\n"));
}

describe("holotype store, on a folder", () => {
  const place = fresh();
  const instance = join(place, "store");
  const one = put(place, "one.txt", "one");
  const two = put(place, "two.txt", "two ".repeat(1000));
  const [keyOne, keyTwo] = [keyOf("one"), keyOf("two ".repeat(1000))];

  it("puts files and prints a key for each; makes the volume with the first", () => {
    expect(store(instance, "get", keyOne)).toMatchObject({ exit: 20, out: "" });
    expect(existsSync(instance)).toBe(false);
    expect(store(instance, "put", one, two, one)).toEqual({
      exit: 0,
      out: `${keyOne}\n${keyTwo}\n${keyOne}\n`,
      err: "",
    });
    const { out } = store(instance, "put", two, "--mode", "compare", "--json");
    const counted = { outcome: "duplicate", size: 4000, compression: "zstd", references: 2, copies: 1 };
    expect(json(out)).toEqual({ file: two, key: keyTwo, ...counted, storedSize: expect.any(Number) as number });
  });

  it("gets them back, to standard output and to a file", () => {
    expect(store(instance, "get", keyTwo).out).toBe("two ".repeat(1000));
    expect(store(instance, "get", keyOne, "-o", "-")).toEqual({ exit: 0, out: "one", err: "" });
    const back = join(place, "back.txt");
    expect(store(instance, "get", keyOne, "-o", back)).toEqual({ exit: 0, out: "", err: "" });
    expect(readFileSync(back, "utf8")).toBe("one");
    expect(store(instance, "get", keyTwo, "-o", back).exit).toBe(2);
  });

  it("tells what it has of them", () => {
    const { out } = store(instance, "stat", keyTwo, keyOne, "--json");
    expect(linesOf(out).map(json)).toMatchObject([
      { key: keyTwo, size: 4000, compression: "zstd", references: 2, volume: 0, volumeName: "store" },
      { key: keyOne, size: 3, compression: "none", references: 2 },
    ]);
    expect(linesOf(store(instance, "list").out)).toEqual(
      [keyOne, keyTwo].sort().map((key) => expect.stringMatching(`^${key}\t`) as string),
    );
  });

  it("takes references back, and the content with the last", () => {
    const { exit, out, err } = store(instance, "delete", keyOne, keyOne, keyTwo, keyOne);
    expect({ exit, out }).toEqual({ exit: 3, out: `${keyOne}\t1\n${keyOne}\t0\n${keyTwo}\t1\n` });
    expect(err).toBe(`skipped ${keyOne}: there is no such content (HT_NOT_FOUND)\n`);
    expect(store(instance, "stat", keyOne).exit).toBe(20);
  });

  it("takes standard input, also where it is large", () => {
    const large = Buffer.alloc(3_000_000, "all happy families ");
    const { out } = holotype(["store", "put", "--instance", instance, "-"], { input: large });
    const back = holotypeBytes(["store", "get", "--instance", instance, out.trim()]).out;
    expect(Buffer.compare(back, large)).toBe(0);
  });

  it("makes no volume in the place of a connector that is not there", () => {
    const connector = join(temporaryFolder(), "typo.xml");
    const file = put(temporaryFolder(), "a.txt", Buffer.from("a"));
    expect(holotype(["store", "put", "--instance", connector, file])).toMatchObject({
      exit: 20,
      err: expect.stringContaining("no such connector"),
    });
    expect(existsSync(connector)).toBe(false);
  });

  it("skips files that are not there, and says so", () => {
    const { exit, out, err } = store(instance, "put", join(place, "none"), one, place);
    expect({ exit, out }).toEqual({ exit: 3, out: `${keyOne}\n` });
    expect(linesOf(err)).toEqual([
      `skipped ${join(place, "none")}: no such file (HT_NOT_FOUND)`,
      `skipped ${place}: a folder, not a file (HT_USAGE)`,
    ]);
  });

  it("is found by $HOLOTYPE_INSTANCE", () => {
    const env = { ...process.env, HOLOTYPE_INSTANCE: instance };
    const { status, stdout } = spawnSync(process.execPath, [MAIN, "store", "get", keyOne], { env });
    expect({ status, out: stdout.toString() }).toEqual({ status: 0, out: "one" });
  });

  it.each([
    ["no instance", ["put", one]],
    ["no key that is one", ["get", "--instance", instance, "0-XYZ"]],
  ])("exits with 2 where there is %s", (_, args) => {
    const { exit, out, err } = holotype(["store", ...args]);
    expect({ exit, out }).toEqual({ exit: 2, out: "" });
    expect(linesOf(err)).toEqual([expect.stringMatching(/^holotype: \S/)]);
  });

  it("has an exit code for what is not there or not known", () => {
    expect(store(instance, "put", one, "--volume", "7").exit).toBe(20);
    expect(store(instance, "put", one, "--compression", "rar").exit).toBe(23);
    const other = fresh();
    put(other, "notes.txt", "mine");
    expect(store(other, "put", one).exit).toBe(2);
    expect(readdirSync(other)).toEqual(["notes.txt"]);
  });
});

describe("holotype store, on a connector", () => {
  it("tells what is wrong with it, and where", () => {
    const place = fresh();
    const path = connector(place, "", 'name="a" path="a"', 'name="b" path="b" port="http"');
    const { exit, err } = store(path, "list");
    expect({ exit, err }).toEqual({ exit: 2, err: `holotype: ${path}:3:29: port is for a volume with a host\n` });
    writeFileSync(path, '<instance version="9" name="x"/>');
    expect(store(path, "list").exit).toBe(22);
  });

  it("grows by a line, and finds duplicates where they are", () => {
    const place = fresh();
    const files = Array.from({ length: 12 }, (_, i) => put(place, `${i}.txt`, `content ${i}`));
    const before = connector(place, "", 'name="a" path="a"');
    const keys = linesOf(store(before, "put", ...files).out);
    const after = connector(place, "", 'name="a" path="a"', 'name="b" path="b" layout="tree"');
    expect(linesOf(store(after, "put", ...files).out)).toEqual(keys);
    const more = Array.from({ length: 12 }, (_, i) => put(place, `${i}.html`, `page ${i}`));
    const spread = linesOf(store(after, "put", ...more).out).map((key) => key[0]);
    expect(new Set(spread)).toEqual(new Set(["0", "1"]));
    // Read-only: no new contents, but references.
    const closed = connector(place, "", 'name="a" path="a" state="read-only"', 'name="b" path="b"');
    const stored = linesOf(store(closed, "put", ...files, put(place, "new", "new")).out);
    expect(stored).toEqual([...keys, expect.stringMatching(/^1-/)]);
  });

  it("moves a volume to another; keys keep working, also when the first is gone", () => {
    const place = fresh();
    const files = Array.from({ length: 9 }, (_, i) => put(place, `${i}.txt`, `content ${i}`));
    const path = connector(place, "", 'name="a" path="a"', 'name="b" path="b"', 'name="c" path="c"');
    const keys = linesOf(store(path, "put", "--volume", "a", ...files).out);
    expect(store(path, "migrate", "a", "b")).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/^9 blocks moved/) as string,
    });
    connector(place, "", 'name="a" moved-to="b"', 'name="b" path="b"', 'name="c" path="c"');
    rmSync(join(place, "a"), { recursive: true });
    expect(store(path, "get", keys[3]!).out).toBe("content 3");
    expect(store(path, "volumes").out).toMatch(/^0 {2}a {2}moved to b/);
    expect(json(store(path, "migrate", "b", "c", "--json").out)).toMatchObject({ blocks: 9, failed: 0, isDone: true });
    expect(store(path, "delete", ...keys)).toMatchObject({ exit: 0, err: "" });
    expect(store(path, "list").out).toBe("");
  });

  it("keeps replicas, and repairs what was lost", () => {
    const place = fresh();
    const files = Array.from({ length: 8 }, (_, i) => put(place, `${i}.txt`, `content ${i}`));
    const path = connector(place, 'replicas="2"', 'name="a" path="a"', 'name="b" path="b"', 'name="c" path="c"');
    const keys = linesOf(store(path, "put", ...files, ...files).out).slice(0, 8);
    rmSync(join(place, "b"), { recursive: true });
    const lost = keys.findIndex((key) => key.startsWith("1"));
    expect(store(path, "get", keys[lost]!).out).toBe(`content ${lost}`);
    expect(store(path, "repair")).toMatchObject({ exit: 0, err: "" });
    rmSync(join(place, "c"), { recursive: true });
    const stats = linesOf(store(path, "stat", "--json", ...keys).out).map(json);
    expect(stats.map(({ references }) => references)).toEqual(keys.map(() => 2));
    expect(json(store(path, "repair", "--json").out)).toMatchObject({ failed: 0, unreachable: [], isDone: true });
    expect(store(path, "delete", ...keys, ...keys)).toMatchObject({ exit: 0, err: "" });
    expect(store(path, "volumes").out).toMatch(/(?:.* 0 blocks .*\n){3}/);
  });

  it("goes on without a server that is down; what it has is told to be out of reach", async () => {
    const place = fresh();
    const server = await serveFolder(join(place, "served"), "--create");
    const path = connector(place, "", 'name="near" path="near"', `name="far" url="${server.url}"`);
    const files = Array.from({ length: 10 }, (_, i) => put(place, `${i}.txt`, `content ${i}`));
    const keys = linesOf(store(path, "put", ...files).out);
    const [near, far] = ["0", "1"].map((volume) => keys.findIndex((key) => key.startsWith(volume)));
    server.process.kill("SIGKILL");
    await server.ended;
    expect(store(path, "get", keys[near!]!)).toMatchObject({ exit: 0, out: `content ${near}` });
    expect(store(path, "get", keys[far!]!)).toMatchObject({ exit: 25, out: "" });
    const { exit, out, err } = store(path, "put", put(place, "x", "x"), put(place, "y", "y"), put(place, "z", "z"));
    expect({ exit, volumes: linesOf(out).map((key) => key[0]) }).toEqual({ exit: 0, volumes: ["0", "0", "0"] });
    expect(linesOf(err)).toEqual([expect.stringMatching(/^volume far is passed over: .*\(HT_PEER_UNAVAILABLE\)$/)]);
    expect(store(path, "volumes")).toMatchObject({
      exit: 3,
      out: expect.stringMatching(/1 {2}far .*does not answer/) as string,
    });
  });

  it("says where bytes were changed by hand", () => {
    const place = fresh();
    const path = connector(place, "", 'name="a" path="a" tree-depth="2"');
    const file = put(place, "x", "as it was");
    const key = store(path, "put", "--compression", "none", file).out.trim();
    const [, first, rest] = /^0-(..)(.*)$/.exec(key)!;
    const found = readdirSync(join(place, "a"), { recursive: true, encoding: "utf8" });
    const block = join(place, "a", found.find((name) => name.endsWith(`${first}/${rest}`))!);
    writeFileSync(block, readFileSync(block, "latin1").replace("as it was", "as it is!"), "latin1");
    expect(store(path, "get", key, "-o", join(place, "back"))).toMatchObject({ exit: 23, out: "" });
    expect(existsSync(join(place, "back"))).toBe(false);
  });
});

describe("holotype store, stopped", () => {
  it("leaves nothing half done: what it printed is stored, and it goes on from there", async () => {
    const place = fresh();
    const instance = join(place, "store");
    const files = Array.from({ length: 2000 }, (_, i) => put(place, `${i}.txt`, `content ${i} `.repeat(200)));
    const child = startHolotype(["store", "put", "--instance", instance, ...files]);
    let out = "";
    child.stdout.on("data", (text: Buffer) => {
      if (out === "") child.kill("SIGINT");
      out += text.toString();
    });
    const { exit, err } = await ended(child);
    const keys = linesOf(out);
    expect([0, 130]).toContain(exit);
    if (exit === 130) expect(err).toMatch(/^stopped; contents whose keys were printed are stored\n$/);
    expect(keys.length).toBeGreaterThan(0);
    const listed = new Set(linesOf(store(instance, "list").out).map((line) => line.split("\t")[0]));
    expect(keys.filter((key) => !listed.has(key))).toEqual([]);
    expect(listed.size).toBe(keys.length);
    expect(holotype(["volume", "check", instance, "--scrub"]).exit).toBe(0);
  });
});

describe("holotype store bench", () => {
  const small = ["--contents", "30", "--clients", "3", "--size", "500"];

  it("measures beside a folder, and leaves nothing", () => {
    const place = fresh();
    const { exit, out, err } = store(join(place, "store"), "bench", ...small);
    expect({ exit, err, lines: linesOf(out).length }).toEqual({ exit: 0, err: "", lines: 7 });
    expect(readdirSync(place)).toEqual([]);
  });

  it("measures the volumes of a connector, and deletes what it stored", () => {
    const place = fresh();
    const path = connector(place, "", 'name="a" path="a"', 'name="b" path="b"');
    const [key] = linesOf(store(path, "put", put(place, "x", "x")).out);
    const { out } = store(path, "bench", "--json", ...small);
    expect(linesOf(out).map((line) => json(line)["operation"])).toContain("store duplicates");
    expect(linesOf(store(path, "list").out)).toEqual([expect.stringMatching(`^${key}\t`)]);
  });
});
