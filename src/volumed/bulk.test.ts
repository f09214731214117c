/** Bulk streams on the wire: answers while the stream goes on, what breaks it, and what others can read of it. */
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WARCParser } from "warcio";
import {
  encodeRecord,
  formatStoreHead,
  RecordStamp,
  RemoteVolume,
  type StoreHead,
  type StoreRequest,
  signatureOf,
} from "../store/index.ts";
import { ask } from "../testing/http-exchange.ts";
import { MemoryVolume } from "../testing/memory-volume.ts";
import { codecs, collect, contentOf, inPieces, mixedBytes, storing } from "../testing/volume-contents.ts";
import { serveVolume, type VolumeServer } from "./index.ts";

let memory: MemoryVolume;
let server: VolumeServer;
beforeEach(async () => {
  memory = new MemoryVolume(codecs);
  server = await serveVolume(memory, { limits: { contentSizeMaxBytes: 3_000_000 } });
});
afterEach(() => server.close());

const stamp = new RecordStamp();

function record(body: Uint8Array, rest: Partial<StoreHead> = {}): Buffer {
  const signature = signatureOf("sha256", body);
  const head = {
    algorithm: "sha256",
    signature,
    size: body.length,
    compression: "none",
    mode: "regular",
    ...rest,
  } as const;
  return encodeRecord(formatStoreHead(stamp, head, body.length), body);
}

/** A stream that is written to and read from as one likes. */
function openStream(path: string): { sent: ClientRequest; lines: () => Promise<AsyncIterator<string>> } {
  const sent = request(`${server.url}${path}`, { method: "POST" });
  sent.on("error", () => {});
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    sent.on("response", resolve);
    sent.on("error", reject);
  });
  response.catch(() => {});
  const lines = async () => createInterface({ input: await response })[Symbol.asyncIterator]();
  return { sent, lines };
}

const store = async (bytes: Uint8Array) => {
  const { body, ...rest } = await ask(`${server.url}/store`, { method: "POST", body: bytes });
  const lines = body.toString().split("\n").slice(0, -1);
  return { ...rest, lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
};

describe("POST /store", () => {
  it("answers each content while the stream is open", async () => {
    const { sent, lines } = openStream("/store");
    let answers: AsyncIterator<string> | undefined;
    for (let i = 0; i < 5; i++) {
      const body = Buffer.from(`specimen ${i}`);
      sent.write(record(body));
      answers ??= await lines();
      const { value } = await answers.next();
      expect(JSON.parse(value as string)).toMatchObject({ receipt: { outcome: "new", size: body.length } });
      expect(memory.blocks.size).toBe(i + 1);
    }
    sent.end();
    expect((await answers!.next()).done).toBe(true);
  });

  it("answers nothing to nothing", async () => {
    expect(await store(Buffer.alloc(0))).toMatchObject({ status: 200, lines: [] });
  });

  it("answers what is wrong with a content, and goes on with the next", async () => {
    const good = Buffer.from("good");
    const large = mixedBytes(1_500_000);
    const tooLarge = Buffer.alloc(3_000_001);
    const { lines } = await store(
      Buffer.concat([
        record(good),
        record(good, { size: 3 }),
        record(good, { compression: "lzma" }),
        record(good, { signature: "AB" }),
        record(good, { mode: "odd" as "regular" }),
        record(good, { mode: "reference" as "regular" }),
        record(good, { requestId: "a b" }),
        record(good, { algorithm: "sha1", signature: signatureOf("sha1", good) }),
        record(large, { signature: signatureOf("sha256", good) }),
        record(tooLarge),
        record(large, { compression: "gzip" }),
        record(large),
        record(good),
      ]),
    );
    const told = lines.map(({ receipt, error }) =>
      error === undefined ? (receipt as { outcome: string }).outcome : (error as { code: string }).code,
    );
    const usage = "HT_USAGE";
    const signature = "HT_SIGNATURE";
    const first = ["new", signature, "HT_CODEC", usage, usage, usage, usage, usage];
    expect(told).toEqual([...first, signature, "HT_TOO_LARGE", signature, "new", "duplicate"]);
    expect(memory.blocks.size).toBe(2);
  });

  it.each([
    ["is no record", Buffer.from("GET / HTTP/1.1\r\n\r\n\r\n\r\n"), "HT_USAGE"],
    ["is cut off in a header", record(Buffer.from("cut")).subarray(0, 50), "HT_CUT_OFF"],
    ["is cut off in a block", record(Buffer.from("cut")).subarray(0, -6), "HT_CUT_OFF"],
    ["is cut off in a separator", record(Buffer.from("cut")).subarray(0, -1), "HT_CUT_OFF"],
  ])("that %s breaks the stream; what came before stands", async (_, bytes, code) => {
    expect(await store(bytes)).toMatchObject({ status: 400, code });
    const before = record(Buffer.from("before"));
    const { status, lines } = await store(Buffer.concat([before, before, bytes]));
    expect(status).toBe(200);
    expect(lines).toMatchObject([
      { receipt: { outcome: "new" } },
      { receipt: { outcome: "duplicate" } },
      { break: { code, message: expect.stringMatching(/\S/) as string } },
    ]);
    expect(memory.blocks.size).toBe(1);
  });

  it("that is cut off in a large block breaks the stream too", async () => {
    const cut = record(Buffer.alloc(2_000_000)).subarray(0, -500_000);
    const { lines } = await store(Buffer.concat([record(Buffer.from("before")), cut]));
    const code = "HT_CUT_OFF";
    expect(lines).toMatchObject([{ receipt: { outcome: "new" } }, { error: { code } }, { break: { code } }]);
    expect(memory.blocks.size).toBe(1);
  });

  it("whose connection is cut leaves nothing half-written", async () => {
    const whole = Buffer.from("whole");
    const { sent, lines } = openStream("/store");
    sent.write(record(whole));
    await (await lines()).next();
    sent.write(record(Buffer.alloc(2_000_000)).subarray(0, 1_500_000));
    await new Promise((resolve) => setTimeout(resolve, 50));
    sent.destroy();
    await expect
      .poll(async () => (await ask(`${server.url}/metrics`)).body.toString())
      .toContain('holotype_operations_total{kind="store",outcome="cut"} 1');
    expect([...memory.blocks.keys()]).toEqual([signatureOf("sha256", whole)]);
  });

  it("ends a stream at the limit of records", async () => {
    await server.close();
    memory = new MemoryVolume(codecs);
    server = await serveVolume(memory, { limits: { bulkRecordCountMax: 3 } });
    const { lines } = await store(Buffer.concat(Array.from({ length: 5 }, () => record(Buffer.from("x")))));
    expect(lines).toHaveLength(4);
    expect(lines[3]).toMatchObject({ break: { code: "HT_TOO_LARGE" } });
    // Clients go on with another stream.
    await using volume = new RemoteVolume({ url: server.url });
    const answers = await collect(volume.storeAll(Array.from({ length: 11 }, () => storing(contentOf("sha256", "y")))));
    expect(answers.map((answer) => "receipt" in answer && answer.receipt.references)).toEqual(
      Array.from({ length: 11 }, (_, i) => i + 1),
    );
  });

  it("holds no more than so much, however fast the client is", async () => {
    // Nothing becomes durable until it is let go.
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let [underWay, most] = [0, 0];
    const keep = memory.store.bind(memory);
    memory.store = async (request) => {
      underWay++;
      most = Math.max(most, underWay);
      await gate;
      underWay--;
      return keep(request);
    };
    await using volume = new RemoteVolume({ url: server.url });
    let given = 0;
    function* requests(): Generator<StoreRequest> {
      for (; given < 3000; given++) yield storing(contentOf("sha256", `specimen ${given % 7}`));
    }
    const answers = collect(volume.storeAll(requests()));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(given).toBeLessThan(1100);
    expect(most).toBeLessThanOrEqual(512);
    release();
    expect(await answers).toHaveLength(3000);
  });
});

describe("POST /retrieve", () => {
  const contents = Array.from({ length: 6 }, (_, i) => contentOf("sha256", `specimen ${i}`));
  beforeEach(async () => {
    for (const content of contents) await memory.store(storing(content, { compression: "gzip" }));
  });
  const retrieve = (body: string) => ask(`${server.url}/retrieve`, { method: "POST", body });

  it("answers while the stream is open", async () => {
    const { sent, lines } = openStream("/retrieve");
    sent.write(`${contents[0]!.signature}\n`);
    const answers = await lines();
    const isThere = async () => {
      for (;;) {
        const { done, value } = await answers.next();
        if (done === true || value.startsWith("Holotype-Size:")) return value as string;
      }
    };
    expect(await isThere()).toBe("Holotype-Size: 10");
    sent.write(`${contents[1]!.signature.slice(0, 10)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    sent.end(contents[1]!.signature.slice(10));
    expect(await isThere()).toBe("Holotype-Size: 10");
    expect(await isThere()).toBeUndefined();
  });

  it("goes on behind a block that cannot be read", async () => {
    const open = memory.open.bind(memory);
    memory.open = (address) => {
      if (address.signature === contents[1]!.signature) return Promise.reject(new Error("a bug"));
      return open(address);
    };
    const { body } = await retrieve(`${contents.map(({ signature }) => signature).join("\n")}\n`);
    const types = [...body.toString("latin1").matchAll(/^WARC-Type: (\w+)/gm)].map(([, type]) => type);
    expect(types).toEqual(["resource", "metadata", "resource", "resource", "resource", "resource"]);
    expect(body.toString("latin1")).toContain('{"error":{"code":"HT_UNEXPECTED"');
    await using volume = new RemoteVolume({ url: server.url });
    await expect(collect(volume.openAll([{ ...contents[1]!, overflow: 0 }]))).rejects.toMatchObject({
      code: "HT_UNEXPECTED",
    });
  });

  it("breaks off where a line is no address", async () => {
    expect(await retrieve("xyz\n")).toMatchObject({ status: 400, code: "HT_USAGE" });
    expect(await retrieve("A".repeat(1000))).toMatchObject({ status: 400, code: "HT_USAGE" });
    const { status, body } = await retrieve(`${contents[0]!.signature}\nxyz\n`);
    expect(status).toBe(200);
    expect(body.toString("latin1")).toMatch(/urn:holotype:break[^]*\{"break":\{"code":"HT_USAGE"/);
    expect(await retrieve("")).toMatchObject({ status: 200, body: Buffer.alloc(0) });
  });
});

describe("npm warcio", () => {
  const body = Buffer.from("a page\r\n\r\nWARC/1.1\r\n");
  const large = mixedBytes(1_200_000);

  async function readWith(bytes: Uint8Array) {
    const found: { type: string; uri: string; headers: Record<string, string>; payload: Buffer }[] = [];
    async function* pieces() {
      yield await Promise.resolve(bytes);
    }
    for await (const item of new WARCParser(pieces())) {
      const payload = Buffer.from(await item.readFully(false));
      const named = [...(item.warcHeaders.headers as unknown as Map<string, string>)];
      const headers = Object.fromEntries(named.map(([name, value]) => [name.toLowerCase(), value]));
      found.push({ type: item.warcType!, uri: item.warcTargetURI!, headers, payload });
    }
    return found;
  }

  it("reads what is sent to be stored", async () => {
    const found = await readWith(Buffer.concat([record(body, { requestId: "r-1" }), record(large)]));
    expect(found.map(({ type, uri }) => [type, uri])).toEqual([
      ["resource", `urn:holotype:block:${signatureOf("sha256", body)}`],
      ["resource", `urn:holotype:block:${signatureOf("sha256", large)}`],
    ]);
    expect(found[0]!.headers).toMatchObject({ "holotype-request": "r-1", "holotype-mode": "regular" });
    expect(found.map(({ payload }, i) => payload.equals([body, large][i]!))).toEqual([true, true]);
  });

  it("reads what comes back", async () => {
    await memory.store(storing(contentOf("sha256", body)));
    await memory.store(storing(contentOf("sha256", large)));
    const open = memory.open.bind(memory);
    memory.open = async (address) => {
      const block = await open(address);
      if (block === undefined || block.size < 1000) return block;
      return { ...block, data: inPieces(block.data as Uint8Array) };
    };
    const addresses = [signatureOf("sha256", body), "0".repeat(64), signatureOf("sha256", large)];
    const { body: answer } = await ask(`${server.url}/retrieve`, { method: "POST", body: addresses.join("\n") });
    const found = await readWith(answer);
    expect(found.map(({ type }) => type)).toEqual(["resource", "metadata", "resource"]);
    expect(found.map(({ uri }) => uri)).toEqual(addresses.map((address) => `urn:holotype:block:${address}`));
    expect(found[0]!.payload.equals(body) && found[2]!.payload.equals(large)).toBe(true);
    expect(found[0]!.headers).toMatchObject({ "holotype-references": "1", "holotype-compression": "none" });
    expect(JSON.parse(found[1]!.payload.toString())).toMatchObject({ error: { code: "HT_NOT_FOUND" } });
  });
});
