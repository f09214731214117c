import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RemoteVolume, signatureOf } from "../../src/store/index.ts";
import { serveFolder } from "../volumed/server-process.ts";
import { ended, holotype, linesOf, put, startHolotype, temporaryFolder } from "./holotype.ts";

const folder = temporaryFolder();
let folders = 0;
const fresh = () => join(folder, `volume-${folders++}`);
const page = Buffer.from("<p>a label</p>");
const request = {
  signature: signatureOf("sha256", page),
  size: page.length,
  mode: "regular",
  compression: "none",
  data: page,
} as const;

function create(...args: readonly string[]): string {
  const path = fresh();
  expect(holotype(["volume", "create", path, ...args])).toMatchObject({ exit: 0, err: "" });
  return path;
}

const json = (text: string) => JSON.parse(text) as Record<string, unknown>;

async function withServer<T>(
  path: string,
  args: readonly string[],
  use: (volume: RemoteVolume, url: string) => Promise<T>,
) {
  const server = await serveFolder(path, ...args);
  await using volume = new RemoteVolume({ url: server.url });
  const result = await use(volume, server.url);
  server.process.kill("SIGTERM");
  expect(await server.ended, server.log()).toEqual({ exit: 0, signal: null });
  return { result, log: linesOf(server.log()).map(json) };
}

describe("holotype volume create", () => {
  it("makes a volume of each layout", () => {
    const path = fresh();
    const { exit, out } = holotype(["volume", "create", path, "--json"]);
    expect(exit).toBe(0);
    expect(json(out)).toMatchObject({ folder: path, layout: "pack", signature: "sha256", state: "writable" });
    const tree = fresh();
    const args = ["--layout", "tree", "--signature", "rabin64", "--depth", "2", "--read-only"];
    expect(holotype(["volume", "create", tree, ...args]).out).toMatch(
      /a new tree volume of depth 2, read-only.*rabin64/,
    );
  });

  it("refuses what cannot be", () => {
    const path = fresh();
    const refused = (...args: string[]) =>
      expect(holotype(["volume", "create", ...args])).toMatchObject({ exit: 2, out: "" });
    refused();
    refused(path, fresh());
    refused(path, "--layout", "heap");
    refused(path, "--signature", "crc32");
    refused(path, "--depth", "0");
    refused(put(folder, "file", "x"));
    expect(existsSync(path)).toBe(false);
    const full = fresh();
    mkdirSync(full);
    put(full, "notes.txt", "mine");
    refused(full);
    expect(readdirSync(full)).toEqual(["notes.txt"]);
  });
});

describe("holotype volume serve", () => {
  it("makes a volume where asked, serves, tells what it is, and ends when told", async () => {
    const path = fresh();
    const { log } = await withServer(path, ["--create", "--layout", "tree", "--log-requests"], async (volume) => {
      expect(await volume.store(request)).toMatchObject({ outcome: "new" });
      expect(await volume.describe()).toMatchObject({ layout: "tree", blocks: 1 });
    });
    expect(log.map(({ event }) => event)).toEqual(["ready", "request", "request", "draining", "closed"]);
    expect(log[1]).toMatchObject({ level: "info", method: "PUT", kind: "put", outcome: "new", bytesIn: page.length });
    const { result } = await withServer(path, ["--create"], (volume) => volume.find([request.signature]));
    expect(result).toMatchObject([[{ references: 1 }]]);
  });

  it("tells its URL as JSON too", async () => {
    const child = startHolotype(["volume", "serve", create(), "--json"]);
    const line = await new Promise<string>((resolve) =>
      child.stdout.once("data", (text: Buffer) => resolve(text.toString())),
    );
    expect(json(line)).toMatchObject({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
      layout: "pack",
    });
    child.kill("SIGINT");
    expect(await ended(child)).toMatchObject({ exit: 0 });
  });

  it("has the volume for itself", async () => {
    const path = create();
    await withServer(path, [], () => {
      for (const command of [["serve"], ["check"], ["compact"], ["rebuild"]]) {
        const { exit, err } = holotype(["volume", ...command, path]);
        expect({ command, exit, err }).toEqual({
          command,
          exit: 21,
          err: expect.stringMatching(/locked by process \d+/) as string,
        });
      }
      expect(holotype(["volume", "state", path, "read-only"]).exit).toBe(21);
      return Promise.resolve();
    });
  });

  it("refuses to start where it cannot, or must not", async () => {
    const path = create();
    const refused = (exit: number, ...args: string[]) => {
      const outcome = holotype(["volume", "serve", ...args]);
      expect(outcome).toMatchObject({ exit, out: "" });
      expect(linesOf(outcome.err)).toHaveLength(1);
    };
    refused(20, fresh());
    refused(2, path, "--host", "0.0.0.0");
    refused(2, path, "--port", "70000");
    refused(2, path, "--max-content", "much");
    refused(2, path, "--token-file", put(folder, "short", "x\n"));
    refused(20, path, "--token-file", join(folder, "absent"));
    refused(2, path, "--tls-cert", put(folder, "cert.pem", "x"));
    refused(2, path, "--codec", "lzma");
    refused(23, path, "--codec", "lzma=./absent.mjs");
    await withServer(path, [], (_, url) => {
      refused(21, create(), "--port", new URL(url).port);
      return Promise.resolve();
    });
  });

  it("asks for its token, and knows codecs and limits", async () => {
    const token = put(folder, "token", "a-token-that-is-long-enough\n");
    const codec = put(
      folder,
      "reverse.mjs",
      "const turn = (bytes) => Uint8Array.from(bytes).reverse();\nexport const codec = { encode: turn, decode: turn };\n",
    );
    const path = create();
    const args = ["--token-file", token, "--codec", `reverse=${codec}`, "--max-content", "20B"];
    await withServer(path, args, async (stranger, url) => {
      await expect(stranger.describe()).rejects.toMatchObject({ code: "HT_FORBIDDEN" });
      await using volume = new RemoteVolume({ url, token: "a-token-that-is-long-enough" });
      const data = Uint8Array.from(page).reverse();
      expect(await volume.store({ ...request, compression: "reverse", data })).toMatchObject({ outcome: "new" });
      await expect(volume.store({ ...request, size: 21 })).rejects.toMatchObject({ code: "HT_TOO_LARGE" });
    });
    expect(holotype(["volume", "check", path, "--scrub", "--codec", `reverse=${codec}`])).toMatchObject({ exit: 0 });
  });
});

describe("holotype volume check", () => {
  it("finds what was changed by hand, in each layout", async () => {
    for (const layout of ["pack", "tree"]) {
      const path = create("--layout", layout);
      await withServer(path, [], (volume) => volume.store(request));
      expect(holotype(["volume", "check", path, "--scrub"]).out).toMatch(
        /1 block with 1 reference, 14 B in 14 B: all sound\n$/,
      );
      const name = readdirSync(path, { recursive: true, encoding: "utf8" }).find((each) =>
        layout === "pack" ? each.endsWith(".warc") : each.endsWith(request.signature.slice(4)),
      )!;
      const file = join(path, name);
      const bytes = readFileSync(file);
      bytes[bytes.indexOf("label")]! ^= 1;
      writeFileSync(file, bytes);
      const { exit, out } = holotype(["volume", "check", path, "--scrub", "--json"]);
      expect({ layout, exit }).toEqual({ layout, exit: 4 });
      const lines = linesOf(out).map(json);
      expect(lines.at(-1)).toMatchObject({ summary: { sound: false, blocks: 1 } });
      expect(lines[0]).toMatchObject({ code: expect.stringMatching(/^HT_(?:CORRUPT|SIGNATURE)$/) as string });
    }
  });

  it("knows what is no volume", () => {
    expect(holotype(["volume", "check", folder])).toMatchObject({ exit: 20, out: "" });
    expect(holotype(["volume", "check"])).toMatchObject({ exit: 2, out: "" });
  });
});

describe("holotype volume compact, rebuild and state", () => {
  it("gives back the space of what was deleted, with and without a server", async () => {
    const path = create();
    const data = Buffer.from("x".repeat(500_000));
    const large = { ...request, data, size: data.length, signature: signatureOf("sha256", data) };
    await withServer(path, [], async (volume, url) => {
      await volume.store(request);
      await volume.store(large);
      await volume.remove({ ...large, overflow: 0 });
      const { exit, out } = holotype(["volume", "compact", url, "--json"]);
      expect(exit).toBe(0);
      const { bytesBefore, bytesAfter } = json(out) as { bytesBefore: number; bytesAfter: number };
      expect(bytesBefore - bytesAfter).toBeGreaterThan(490_000);
      expect(await volume.find([request.signature, large.signature])).toMatchObject([[{ references: 1 }], []]);
    });
    expect(holotype(["volume", "compact", path])).toMatchObject({ exit: 0, err: "" });
    expect(holotype(["volume", "check", path, "--scrub"])).toMatchObject({ exit: 0 });
    expect(holotype(["volume", "compact", create("--layout", "tree")])).toMatchObject({ exit: 23, out: "" });
  });

  it("makes the index anew", async () => {
    const path = create();
    await withServer(path, [], (volume) => volume.store(request));
    rmSync(join(path, "index"), { recursive: true });
    const { exit, out } = holotype(["volume", "rebuild", path, "--json"]);
    expect(exit).toBe(0);
    expect(json(out)).toMatchObject({ blocks: 1, references: 1, storedBytes: page.length, warnings: 0 });
    expect(holotype(["volume", "check", path])).toMatchObject({ exit: 0 });
    expect(holotype(["volume", "rebuild", create("--layout", "tree")])).toMatchObject({ exit: 23, out: "" });
  });

  it("refuses an index with flipped bits, says what to do, and goes on when that was done", async () => {
    const path = create();
    await withServer(path, [], (volume) => volume.store(request));
    const index = join(path, "index", "index.lmdb");
    const bytes = readFileSync(index);
    // In the kind, the room and the first entries of every page behind the first two.
    for (let at = 2 * 4096; at < bytes.length; at += 4096) for (const place of [18, 21, 25]) bytes[at + place]! ^= 0x41;
    writeFileSync(index, bytes);
    for (const command of [
      ["volume", "check", path],
      ["store", "get", "--instance", path, `0-${request.signature}`, "-o", "-"],
      ["store", "list", "--instance", path],
    ]) {
      expect(holotype(command)).toMatchObject({ exit: 23, err: expect.stringContaining("volume rebuild") as string });
    }
    expect(holotype(["volume", "rebuild", path])).toMatchObject({ exit: 0 });
    const got = holotype(["store", "get", "--instance", path, `0-${request.signature}`, "-o", "-"]);
    expect(got).toMatchObject({ exit: 0, out: page.toString() });
  });

  it("makes a volume read-only and writable again, with and without a server", async () => {
    const path = create();
    expect(holotype(["volume", "state", path, "read-only"])).toMatchObject({ exit: 0, out: `${path}: read-only\n` });
    await withServer(path, [], async (volume, url) => {
      await expect(volume.store(request)).rejects.toMatchObject({ code: "HT_READ_ONLY" });
      expect(holotype(["volume", "state", url, "writable"])).toMatchObject({ exit: 0 });
      expect(await volume.store(request)).toMatchObject({ outcome: "new" });
    });
    await withServer(path, [], async (volume) => expect(await volume.describe()).toMatchObject({ state: "writable" }));
    expect(holotype(["volume", "state", path])).toMatchObject({ exit: 2 });
    expect(holotype(["volume", "state", path, "open"])).toMatchObject({ exit: 2 });
  });
});
