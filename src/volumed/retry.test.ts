/** Clients and servers that lose each other: what is said again counts once, and what cannot be said again is told so. */
import { createServer, type Server as HttpServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BlockAddress, formatAddress, RemoteVolume, type StoreAnswer, type StoreRequest } from "../store/index.ts";
import { MemoryVolume } from "../testing/memory-volume.ts";
import { codecs, collect, contentIn, contentOf, inPieces, mixedBytes, storing } from "../testing/volume-contents.ts";
import { serveVolume, type VolumeServer } from "./index.ts";

const within = (ms: number) => ({ connectTimeoutMs: ms, answerTimeoutMs: ms, idleTimeoutMs: ms });
const page = contentOf("sha256", "a label");
const large = contentOf("sha256", mixedBytes(1_300_000));
const address = { signature: page.signature, overflow: 0 };

let memory: MemoryVolume;
let server: VolumeServer;
let line: Line;
let volume: RemoteVolume;

beforeEach(async () => {
  memory = new MemoryVolume(codecs);
  server = await serveVolume(memory, { limits: { drainTimeoutMs: 300 } });
  line = await Line.to(server.url);
  volume = new RemoteVolume({ url: line.url, retryDelayMs: 5, deadlines: within(500) });
});
afterEach(async () => {
  await volume[Symbol.asyncDispose]();
  line.close();
  await server.close();
});

/** A wire between client and server that can be cut at any byte of any connection. */
class Line {
  /** For each connection in turn: after how many bytes of answers it is cut. Further ones hold. */
  cuts: number[] = [];
  /** The same for bytes of requests. */
  requestCuts: number[] = [];
  connections = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server = createTcpServer((near) => this.join(near));
  private target = 0;

  static async to(url: string): Promise<Line> {
    const line = new Line();
    line.target = Number(new URL(url).port);
    await new Promise<void>((resolve) => line.server.listen(0, "127.0.0.1", resolve));
    return line;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  private join(near: Socket): void {
    this.connections++;
    const far = connect(this.target, "127.0.0.1");
    for (const socket of [near, far]) {
      this.sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        near.destroy();
        far.destroy();
        this.sockets.delete(socket);
      });
    }
    pass(far, near, this.cuts.shift() ?? Number.POSITIVE_INFINITY, 0);
    // What was asked for may be answered before the end.
    pass(near, far, this.requestCuts.shift() ?? Number.POSITIVE_INFINITY, 20);
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}

function pass(from: Socket, to: Socket, limit: number, delayMs: number): void {
  let left = limit;
  from.on("data", (bytes: Buffer) => {
    if (left < 0) return;
    const some = bytes.subarray(0, left);
    left -= some.length;
    to.write(some);
    if (left > 0) return;
    left = -1;
    setTimeout(() => to.destroySoon(), delayMs);
  });
}

const references = () => memory.blocks.get(page.signature)?.references;

describe("a request whose answer is lost", () => {
  it.each([0, 1, 20, 100])("after %i bytes of it counts once", async (bytes) => {
    line.cuts = [bytes, bytes];
    expect(await volume.store(storing(page))).toMatchObject({ outcome: "new", references: 1 });
    line.cuts = [bytes];
    await volume[Symbol.asyncDispose]();
    expect(await volume.refer(page)).toMatchObject({ references: 2 });
    expect(references()).toBe(2);
    await volume[Symbol.asyncDispose]();
    line.cuts = [bytes];
    expect(await volume.remove(address)).toMatchObject({ references: 1 });
    expect(references()).toBe(1);
  });

  it("is tried a few times, and then told", async () => {
    line.cuts = [0, 0, 0, 0, 0, 0];
    await expect(volume.store(storing(page))).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    expect(line.connections).toBe(4);
    expect(references()).toBe(1);
  });

  it("is told at once where its data cannot be given again", async () => {
    line.cuts = [10];
    await expect(volume.store(storing(page, { pieceSize: 3 }))).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    expect(line.connections).toBe(1);
  });

  it("that a server which is not there gets is told", async () => {
    await server.close();
    line.close();
    await expect(volume.describe()).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    await expect(volume.store(storing(page))).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    await expect(collect(volume.openAll([address]))).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    await expect(collect(volume.storeAll([storing(page)]))).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
  });

  it("that a server which says nothing gets is told", async () => {
    memory.describe = () => new Promise(() => {});
    const impatient = new RemoteVolume({ url: server.url, deadlines: within(60), tries: 2, retryDelayMs: 1 });
    const start = performance.now();
    await expect(impatient.describe()).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    expect(performance.now() - start).toBeLessThan(2000);
    await impatient[Symbol.asyncDispose]();
  });
});

describe("a bulk store whose stream breaks", () => {
  const COUNT = 60;
  const contents = Array.from({ length: 12 }, (_, i) => contentOf("sha256", mixedBytes(200 + i, i)));
  const requests = () => Array.from({ length: COUNT }, (_, i) => storing(contents[(i * 7) % contents.length]!));

  function expectExact(answers: readonly StoreAnswer[]): void {
    expect(answers).toHaveLength(COUNT);
    for (const answer of answers) expect(answer).toHaveProperty("receipt");
    const counted = [...memory.blocks.values()].map((block) => [block.signature, block.references]);
    expect(new Map(counted as [string, number][])).toEqual(
      new Map(contents.map(({ signature }) => [signature, COUNT / contents.length])),
    );
    // Every number of references was told exactly once.
    for (const { signature } of contents) {
      const told = answers.flatMap((answer) =>
        "receipt" in answer && answer.receipt.signature === signature ? [answer.receipt.references] : [],
      );
      expect(told.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
    }
  }

  /** So that the next connection is the stream. */
  async function meet(): Promise<void> {
    expect(await collect(volume.storeAll([]))).toEqual([]);
    await volume[Symbol.asyncDispose]();
  }

  it.each([
    ["answers", { cuts: [0, 300, 2000, 5000, 120] }],
    ["requests", { requestCuts: [700, 5000, 900, 20_000, 3] }],
  ])("in its %s counts every content once", async (_, cuts) => {
    await meet();
    Object.assign(line, cuts);
    const { connections } = line;
    expectExact(await collect(volume.storeAll(requests())));
    expect(line.connections - connections).toBeGreaterThan(3);
  });

  it("for good tells each content's fate, and then goes on where it can", async () => {
    await meet();
    line.cuts = [0, 0, 0, 0];
    async function* slowly(): AsyncGenerator<StoreRequest> {
      yield storing(contents[0]!);
      yield storing(contents[1]!);
      while (line.cuts.length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      await new Promise((resolve) => setTimeout(resolve, 300));
      yield storing(contents[2]!);
    }
    const unavailable = { error: { code: "HT_PEER_UNAVAILABLE" } };
    const answers = await collect(volume.storeAll(slowly()));
    expect(answers).toMatchObject([unavailable, unavailable, { receipt: { outcome: "new" } }]);
  });

  it("hears nothing for long is begun anew", async () => {
    let calls = 0;
    const store = memory.store.bind(memory);
    memory.store = (request) => (++calls === 1 ? new Promise(() => {}) : store(request));
    expect(await collect(volume.storeAll([storing(page)]))).toMatchObject([{ receipt: { outcome: "new" } }]);
    expect(calls).toBe(2);
  });

  it("because its source broke hands on the error, behind the answers", async () => {
    async function* breaking(): AsyncGenerator<StoreRequest> {
      yield storing(page);
      await Promise.resolve();
      throw new Error("the source broke");
    }
    const answers: StoreAnswer[] = [];
    const all = (async () => {
      for await (const answer of volume.storeAll(breaking())) answers.push(answer);
    })();
    await expect(all).rejects.toThrow("the source broke");
    expect(answers).toMatchObject([{ receipt: { outcome: "new" } }]);
  });

  it("because nobody wants the answers ends its source", async () => {
    let isEnded = false;
    async function* endless(): AsyncGenerator<StoreRequest> {
      try {
        for (;;) yield await Promise.resolve(storing(page));
      } finally {
        isEnded = true;
      }
    }
    for await (const answer of volume.storeAll(endless())) {
      expect(answer).toHaveProperty("receipt");
      break;
    }
    await expect.poll(() => isEnded).toBe(true);
  });
});

describe("a bulk retrieval whose stream breaks", () => {
  const contents = Array.from({ length: 40 }, (_, i) => contentOf("sha256", mixedBytes(500 + i, i)));
  beforeEach(async () => {
    for (const content of contents) await memory.store(storing(content));
    await memory.store(storing(large));
  });
  const addresses = (some = contents): BlockAddress[] => some.map(({ signature }) => ({ signature, overflow: 0 }));

  it.each([
    ["answers", { cuts: [0, 400, 5000, 1, 12_000] }],
    ["requests", { requestCuts: [400, 1000, 600, 1, 700] }],
  ])("in its %s gives every block once, in order", async (_, cuts) => {
    Object.assign(line, cuts);
    const found: string[] = [];
    for await (const block of volume.openAll(addresses())) {
      expect((await contentIn(block!)).length).toBe(block!.size);
      found.push(formatAddress(block!));
    }
    expect(found).toEqual(addresses().map(formatAddress));
    expect(line.connections).toBeGreaterThan(4);
  });

  it("in the middle of a large block tells so, and goes on with the next", async () => {
    const open = memory.open.bind(memory);
    memory.open = async (asked) => {
      const block = await open(asked);
      if (block === undefined || block.size < 10_000) return block;
      return { ...block, data: inPieces(block.data as Uint8Array) };
    };
    line.cuts = [600_000];
    const blocks = volume.openAll(addresses([large, contents[0]!]))[Symbol.asyncIterator]();
    const first = (await blocks.next()).value!;
    await expect(contentIn(first)).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    expect((await blocks.next()).value).toMatchObject({ size: contents[0]!.size });
    expect(await blocks.next()).toMatchObject({ done: true });
  });
});

describe("a large block", () => {
  beforeEach(() => memory.store(storing(large)));
  const whole = { ...large, overflow: 0 };

  it("that is cut off is not taken for whole", async () => {
    line.cuts = [700_000];
    const block = (await volume.open(whole))!;
    await expect(contentIn(block)).rejects.toMatchObject({ code: "HT_PEER_UNAVAILABLE" });
    expect((await contentIn((await volume.open(whole))!)).equals(large.bytes)).toBe(true);
  });

  it("that is read slowly is not given up", async () => {
    const block = (await volume.open(whole))!;
    const pieces: Uint8Array[] = [];
    for await (const piece of block.data as AsyncIterable<Uint8Array>) {
      if (pieces.length === 0) await new Promise((resolve) => setTimeout(resolve, 700));
      pieces.push(piece);
    }
    expect(Buffer.concat(pieces).equals(large.bytes)).toBe(true);
  });
});

describe("two clients at the same moment", () => {
  it.each([page, large])("with the same new content end with one block and two references", async (content) => {
    const clients = Array.from({ length: 2 }, () => new RemoteVolume({ url: server.url }));
    const modes = [{}, { compression: "gzip" }];
    const receipts = await Promise.all(clients.map((client, i) => client.store(storing(content, modes[i]!))));
    expect(receipts.map(({ outcome }) => outcome).toSorted()).toEqual(["duplicate", "new"]);
    expect([...memory.blocks.values()]).toMatchObject([{ references: 2 }]);
    for (const client of clients) await client[Symbol.asyncDispose]();
  });
});

describe("something else that answers", () => {
  let other: HttpServer;
  const start = async (status: number, body: string) => {
    other = createServer((_, response) => response.writeHead(status).end(body));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    return new RemoteVolume({ url: `http://127.0.0.1:${(other.address() as AddressInfo).port}`, tries: 1 });
  };
  afterEach(() => other.close());

  it.each([
    [404, "no such page"],
    [404, '{"error":{"code":"ENOENT","message":"no"}}'],
    [200, "<html>"],
    [200, "{}"],
    [500, ""],
  ])("with %i %j is no volume", async (status, body) => {
    await using stranger = await start(status, body);
    const refused = { code: "HT_PEER_UNAVAILABLE" };
    await expect(stranger.describe()).rejects.toMatchObject(refused);
    await expect(stranger.refer(page)).rejects.toMatchObject(refused);
    await expect(stranger.store(storing(page))).rejects.toMatchObject(refused);
    await expect(stranger.find([page.signature])).rejects.toMatchObject(refused);
    await expect(stranger.open(address)).rejects.toMatchObject(refused);
    await expect(stranger.remove(address)).rejects.toMatchObject(refused);
    await expect(collect(stranger.openAll([address]))).rejects.toMatchObject({
      code: /^HT_(?:PEER_UNAVAILABLE|USAGE|CUT_OFF)$/,
    });
  });

  it("at length, and not with a block, is not listened to any longer", async () => {
    let closed = 0;
    other = createServer((request, response) => {
      request.socket.on("close", () => closed++);
      response.writeHead(200, { "Content-Length": 3_000_000 }).write("not a block");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    await using stranger = new RemoteVolume({
      url: `http://127.0.0.1:${(other.address() as AddressInfo).port}`,
      tries: 1,
    });
    const refused = { code: "HT_PEER_UNAVAILABLE" };
    await expect(stranger.open(address)).rejects.toMatchObject(refused);
    await expect(stranger.open(address, { start: 0, end: 2_000_000 })).rejects.toMatchObject(refused);
    await expect(stranger.leave(address)).rejects.toMatchObject(refused);
    await expect.poll(() => closed).toBe(3);
  });

  it("of a newer kind is told so", async () => {
    await using newer = await start(200, '{"protocol":2}');
    await expect(newer.describe()).rejects.toMatchObject({ code: "HT_FORMAT_TOO_NEW" });
  });

  it.each(["", "127.0.0.1:80", "ftp://localhost", "http://a@localhost", "http://localhost?x"])(
    "%j is no URL of one",
    (url) => {
      expect(() => new RemoteVolume({ url })).toThrow(expect.objectContaining({ code: "HT_USAGE" }));
    },
  );
});
