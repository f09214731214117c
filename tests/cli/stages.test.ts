/** The stages one by one, as a cluster runs them: files and pipes between them, other people's sort, a server. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ended, holotype, linesOf, put, SAMPLES, startHolotype, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
const NAMES = readdirSync(SAMPLES).filter((name) => name.endsWith(".warc.gz"));

/** Runs a stage on one thread; throws where it fails. */
function stage(args: readonly string[], input?: string): string {
  const surroundings = input === undefined ? {} : { input: Buffer.from(input) };
  const { exit, out, err } = holotype(args, surroundings);
  expect({ exit, err: exit === 0 ? "" : err }, args.join(" ")).toEqual({ exit: 0, err: "" });
  return out;
}

function expectSameFiles(one: string, other: string): void {
  for (const name of NAMES) {
    expect(readFileSync(join(one, name)).equals(readFileSync(join(other, name))), name).toBe(true);
  }
}

const manifest = stage(["manifest", "--revisits", SAMPLES]);
const resolved = stage(["resolve", "-j", "1"], manifest);
const plan = stage(["plan"], resolved);
const whole = join(folder, "whole");
stage(["dedup", "-j", "1", SAMPLES, "-o", whole]);

describe("manifest, resolve, plan and rewrite", () => {
  it("come to the same as dedup", () => {
    const output = join(folder, "staged");
    const path = put(folder, "plan.tsv", plan);
    stage(["rewrite", "-j", "1", "--plan", path, SAMPLES, "-o", output]);
    expectSameFiles(output, whole);
  });

  it("in parts, of which none knows the others", () => {
    const prefix = join(folder, "part-");
    stage(["split", "3", "-o", prefix], manifest);
    const parts = [0, 1, 2].map((i) => `${prefix}00${i}.tsv`);
    const lines = parts.flatMap((path) => linesOf(readFileSync(path, "utf8")));
    expect(lines.toSorted()).toEqual(linesOf(manifest).toSorted());
    const plans = parts.map((path) => stage(["plan", "--copies-only"], stage(["resolve", "-j", "1", path])));
    const together = put(folder, "parts.tsv", plans.join(""));
    const output = join(folder, "parts");
    stage(["rewrite", "-j", "1", "--plan", together, SAMPLES, "-o", output]);
    expectSameFiles(output, whole);
  });

  it("with files that were moved meanwhile, found by their names", () => {
    const elsewhere = manifest.replaceAll(`${SAMPLES}/`, "/mnt/crawls/old/");
    const found = stage(["resolve", "-j", "1", "--folder", SAMPLES], elsewhere);
    expect(found.replaceAll("/mnt/crawls/old/", `${SAMPLES}/`)).toBe(resolved);
    const index = put(folder, "paths.tsv", NAMES.map((name) => `${name}\t${join(SAMPLES, name)}\n`).join(""));
    expect(stage(["resolve", "-j", "1", "--paths", index], elsewhere)).toBe(found);
    // A plan may name files as they were called where it was made.
    const output = join(folder, "moved");
    const moved = put(folder, "moved.tsv", stage(["plan"], found));
    stage(["rewrite", "-j", "1", "--plan", moved, SAMPLES, "-o", output]);
    expectSameFiles(output, whole);
  });

  it("a plan without comparing says that nothing was compared", () => {
    const { exit, err } = holotype(["plan"], { input: Buffer.from(manifest) });
    expect(exit).toBe(0);
    expect(err).toMatch(/not compared: see holotype resolve/);
  });

  it("a record that the manifest has wrong is told: exit code 4", () => {
    const shifted = linesOf(manifest).map((line) => {
      const columns = line.split("\t");
      return columns.with(1, String(Number(columns[1]) + 1)).join("\t");
    });
    const { exit, out, err } = holotype(["resolve", "-j", "1"], { input: Buffer.from(`${shifted.join("\n")}\n`) });
    expect(exit).toBe(4);
    expect(err).toContain("cabinet-2009.warc.gz");
    expect(linesOf(out).filter((line) => line.split("\t")[11]!.includes("damaged")).length).toBeGreaterThan(50);
  });
});

describe("merge", () => {
  const sortKeys = { digest: "-k 6,6 -k 13,13 -k 5,5 -k 1,1 -k 2,2n", place: "-k 1,1 -k 2,2n" } as const;
  const version = spawnSync("sort", ["--version"]);
  const isGnu = version.status === 0 && version.stdout.toString().includes("GNU");
  const why = isGnu ? "" : " (skipped: there is no GNU sort)";
  const gnuSort = (input: string, keys: string) =>
    spawnSync("sort", ["-t", "\t", ...keys.split(" ")], {
      input,
      env: { ...process.env, LC_ALL: "C" },
    }).stdout.toString();

  it.skipIf(!isGnu)(`is GNU sort with the keys of its help${why}`, () => {
    const help = holotype(["merge", "--help"]).out;
    for (const [order, keys] of Object.entries(sortKeys)) {
      expect(help).toContain(keys);
      expect(stage(["merge", "--by", order], plan)).toBe(gnuSort(plan, keys));
    }
  });

  it.skipIf(!isGnu)(`takes what GNU sort sorted, and refuses what nobody did${why}`, () => {
    const halves = [0, 1].map((half) => {
      const lines = linesOf(manifest).filter((_, i) => i % 2 === half);
      return put(folder, `half-${half}.tsv`, gnuSort(`${lines.join("\n")}\n`, sortKeys.digest));
    });
    const merged = stage(["merge", "--sorted", ...halves]);
    expect(merged).toBe(gnuSort(manifest, sortKeys.digest));
    expect(stage(["resolve", "-j", "1", "--sorted"], merged)).toBe(resolved);
    const { exit, err } = holotype(["merge", "--sorted", put(folder, "unsorted.tsv", manifest)]);
    expect(exit).toBe(2);
    expect(err).toMatch(/unsorted\.tsv:\d+: not sorted by digest \(LC_ALL=C sort /);
  });
});

describe("split", () => {
  it("writes nothing over a part that is there, unless told to", () => {
    const prefix = join(folder, "twice-");
    stage(["split", "2", "-o", prefix], manifest);
    const again = holotype(["split", "2", "-o", prefix], { input: Buffer.from("") });
    expect(again.exit).toBe(2);
    expect(readFileSync(`${prefix}000.tsv`, "utf8")).not.toBe("");
    stage(["split", "2", "-o", prefix, "--replace"], "");
    expect(readFileSync(`${prefix}000.tsv`, "utf8")).toBe("");
  });

  it.each([["0"], ["x"], ["1001"]])("refuses %s parts", (count) => {
    const prefix = join(folder, "no-");
    expect(holotype(["split", count, "-o", prefix], { input: Buffer.from(manifest) }).exit).toBe(2);
    expect(existsSync(`${prefix}000.tsv`)).toBe(false);
  });
});

describe("manifest --resume", () => {
  it("goes on where a stopped run was cut off", () => {
    const wanted = Buffer.from(stage(["manifest", SAMPLES]));
    for (const size of [0, 5000, Math.floor(wanted.length / 2), wanted.length]) {
      const path = put(folder, "half.tsv", wanted.subarray(0, size));
      expect(stage(["manifest", SAMPLES, "--resume", path])).toBe("");
      expect(readFileSync(path).equals(wanted), `cut at ${size}`).toBe(true);
    }
  });

  it("refuses what is no manifest, and leaves it as it is", () => {
    const path = put(folder, "notes.txt", "one\ntwo\n");
    expect(holotype(["manifest", SAMPLES, "--resume", path]).exit).toBe(2);
    expect(readFileSync(path, "utf8")).toBe("one\ntwo\n");
  });
});

/** The samples on a server; `answer` may do as it likes before ranges are served. */
function serve(answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const withRanges: RequestListener = (request, response) => {
  const name = request.url!.slice(1);
  if (!NAMES.includes(name)) return void response.writeHead(404).end();
  const bytes = readFileSync(join(SAMPLES, name));
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  const start = Number(from);
  const end = Math.min(Number(to), bytes.length - 1);
  response.writeHead(206, { "content-range": `bytes ${start}-${end}/${bytes.length}` });
  response.end(bytes.subarray(start, end + 1));
};

/** Gives so many bytes at first, and so many at a time after that. */
function withParts(first: number, next: number, ...[request, response]: Parameters<RequestListener>): void {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
  if (Number(to) < first) {
    withRanges(request, response);
    return;
  }
  const bytes = readFileSync(join(SAMPLES, request.url!.slice(1)));
  const start = Number(from);
  const end = start + (start === 0 ? first : next);
  response.writeHead(206, { "content-range": `bytes ${start}-${end - 1}/${bytes.length}` });
  response.end(bytes.subarray(start, end));
}

describe("resolve --paths with files on a server", () => {
  let server: Server | undefined;
  afterAll(() => void server?.close());

  async function resolveFrom(answer: RequestListener) {
    server?.close();
    server = await serve(answer);
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const index = put(folder, "urls.tsv", NAMES.map((name) => `${name}\t${base}/${name}\n`).join(""));
    const path = put(folder, "to-resolve.tsv", manifest);
    // The server answers from this process, so this process must not wait.
    const child = startHolotype(["resolve", "-j", "1", "--paths", index, path]);
    let out = "";
    child.stdout.on("data", (text: Buffer) => {
      out += text.toString();
    });
    child.stdin.end();
    const { exit, err } = await ended(child);
    return { exit, out, err };
  }

  it("reads them by range requests, and finds what it finds on the disk", async () => {
    let requests = 0;
    const found = await resolveFrom((request, response) => {
      requests++;
      withRanges(request, response);
    });
    expect(found).toMatchObject({ exit: 0, out: resolved });
    expect(requests).toBeGreaterThan(50);
  });

  it("tries again where a server fails for a moment", async () => {
    let requests = 0;
    const found = await resolveFrom((request, response) => {
      if (++requests % 40 === 7) response.writeHead(503).end();
      else withRanges(request, response);
    });
    expect(found).toMatchObject({ exit: 0, out: resolved });
  });

  it.each<[string, RequestListener, RegExp]>([
    [
      "does not answer range requests",
      (request, response) => void response.writeHead(200).end(readFileSync(join(SAMPLES, request.url!.slice(1)))),
      /http:\/\/127\.0\.0\.1:\d+\/cabinet-\d+\.warc\.gz: the server does not answer range requests/,
    ],
    ["does not have them", (_, response) => void response.writeHead(404).end(), /: the server answered 404/],
    [
      "does not tell how large they are",
      (_, response) => void response.writeHead(206, { "content-range": "bytes 0-0/*" }).end("x"),
      /does not tell the size/,
    ],
    [
      "sends other bytes than were asked for",
      (request, response) => {
        const [, from] = /^bytes=(\d+)-/.exec(request.headers.range!)!;
        const range = request.headers.range === "bytes=0-0" ? "bytes 0-0/999999" : `bytes ${Number(from) + 1}-9/999999`;
        response.writeHead(206, { "content-range": range }).end("x");
      },
      /the server answered 206/,
    ],
  ])("a server that %s: says so, and nothing was compared", async (_, answer, message) => {
    const { exit, out, err } = await resolveFrom(answer);
    expect(exit).toBe(4);
    expect(err).toMatch(message);
    expect(linesOf(out)).toHaveLength(linesOf(manifest).length);
    const extensions = new Set(linesOf(out).map((line) => line.split("\t")[12]));
    // Those that are alone were not looked at.
    expect(extensions).toEqual(new Set(["0", "-"]));
  });
});

describe("manifest of a file on a server", () => {
  const [name] = NAMES;

  it.each<[string, RequestListener, RegExp]>([
    [
      "sends nothing of what it tells of",
      (request, response) => {
        const isSize = request.headers.range === "bytes=0-0";
        const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range!)!;
        response.writeHead(206, { "content-range": `bytes ${from}-${to}/999999` }).end(isSize ? "x" : "");
      },
      /: the server sent 0 bytes where it told of 4 /,
    ],
    [
      "has another file by then",
      (request, response) => {
        if (request.headers.range !== "bytes=0-0") return withRanges(request, response);
        response.writeHead(206, { "content-range": "bytes 0-0/999999" }).end("x");
      },
      /: the file has changed: \d+ bytes instead of 999999 /,
    ],
    [
      "gives half of it and then nothing",
      (request, response) => withParts(5000, 0, request, response),
      /: the server sent 0 bytes of \d+ that/,
    ],
    [
      "gives half of it and then crumbs",
      (request, response) => withParts(5000, 3, request, response),
      /: the server sent 3 bytes of \d+ that/,
    ],
    [
      "never stops sending",
      (request, response) => {
        if (request.headers.range === "bytes=0-0") return withRanges(request, response);
        const { size } = statSync(join(SAMPLES, name!));
        response.writeHead(206, { "content-range": `bytes 0-${size - 1}/${size}` });
        const go = (): void => {
          while (response.write(Buffer.alloc(1 << 16)));
        };
        response.on("drain", go);
        go();
      },
      /: the server sent more than it was asked for/,
    ],
  ])("is skipped and told where the server %s", async (_, answer, message) => {
    const server = await serve(answer);
    try {
      const child = startHolotype(["manifest", `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name!}`]);
      child.stdin.end();
      const { exit, err } = await ended(child);
      expect(err).toMatch(message);
      expect(exit).toBe(3);
    } finally {
      server.close();
    }
  });
});

describe("dedup of files on a server", () => {
  let server: Server;
  beforeAll(async () => {
    server = await serve(withRanges);
  });
  afterAll(() => void server.close());

  async function dedup(...args: readonly string[]) {
    const child = startHolotype(["dedup", "-j", "1", "--json", ...args]);
    let out = "";
    child.stdout.on("data", (text: Buffer) => {
      out += text.toString();
    });
    child.stdin.end();
    const { exit, err } = await ended(child);
    return { exit, err, result: JSON.parse(out === "" ? "{}" : out) as Record<string, unknown> };
  }

  it("may refer to them, and rewrites the others", async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${NAMES[0]!}`;
    const output = join(folder, "from-server");
    const { exit, result } = await dedup(url, join(SAMPLES, NAMES[1]!), "-o", output);
    expect(exit).toBe(0);
    const left = Object.values(result["left"] as Record<string, number>).reduce((sum, count) => sum + count, 0);
    expect(result["duplicates"]).toBe((result["replaced"] as number) + left);
    expect(readdirSync(output).sort()).toEqual([NAMES[1]!, "holotype-job"]);
    const verified = holotype(["verify", "-j", "1", output, "--originals", join(SAMPLES, NAMES[0]!)]);
    expect(verified).toMatchObject({ exit: 0 });
  });

  it("says which records it could not compare, where the server is gone by then", async () => {
    const leaving = await serve((request, response) => {
      // Records behind the first are asked for one by one only to be compared.
      if (request.headers.range?.startsWith("bytes=0-") === true) withRanges(request, response);
      else response.writeHead(410).end();
    });
    try {
      const url = `http://127.0.0.1:${(leaving.address() as AddressInfo).port}/${NAMES[0]!}`;
      const { exit, err } = await dedup(url, join(SAMPLES, NAMES[1]!), "-o", join(folder, "gone"));
      expect(exit).toBe(3);
      expect(err).toContain("the server answered 410");
    } finally {
      leaving.close();
    }
  });

  it("with nothing else is refused", async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${NAMES[0]!}`;
    const { exit, err } = await dedup(url, "-o", join(folder, "nothing"));
    expect(exit).toBe(2);
    expect(err).toContain("name some that can be rewritten");
    expect(existsSync(join(folder, "nothing"))).toBe(false);
  });
});
