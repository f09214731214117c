import { dirname, resolve } from "node:path";
import { ArchiveError, systemRandom } from "../base/index.ts";
import { nodeDisk, scratchFolder, writeStandardOutput } from "../disk/index.ts";
import { Codecs, type ContentKey, type Instance, openInstance } from "../store/index.ts";
import { type Arguments, type Command, parseCount } from "./command.ts";
import { Interruption } from "./interruption.ts";
import { INSTANCE_OPTION, instancePath, openTarget } from "./store-option.ts";
import { formatNumber, formatSize } from "./talk.ts";

const CLIENTS_MAX = 256;
const CONTENTS_MAX = 1_000_000;
const SIZE_MAX = 16 << 20;
const WORDS = ["archive", "capture", "content", "crawl", "digest", "page", "payload", "record", "volume", "web"];

interface Figures {
  readonly operation: string;
  readonly perSecond: number;
  readonly bytesPerSecond: number;
  readonly seconds: number;
}

export const storeBench: Command = {
  name: "store bench",
  purpose: "Measure how fast a store is on this machine, and clean up after it.",
  usage: "--instance PATH",
  details: `With a connector, contents of its own making are stored in its volumes, and deleted at the end; a pack volume gives
their space back when it is compacted. With a folder, there or not, a volume is made beside it and removed at the end.`,
  options: {
    ...INSTANCE_OPTION,
    clients: { type: "string", value: "N", help: "how many ask at the same time", default: "10" },
    contents: { type: "string", value: "N", help: "how many contents", default: "1000" },
    size: { type: "string", value: "BYTES", help: "size of a content", default: "19200" },
  },
  exits: "20 no such connector · 24 no space · 25 a volume does not answer",
  examples: ["holotype store bench --instance /tmp/store --contents 200 --clients 4"],
  async run(args) {
    const clients = parseCount("clients", args.text("clients") ?? "", 1, CLIENTS_MAX);
    const count = parseCount("contents", args.text("contents") ?? "", 1, CONTENTS_MAX);
    const size = parseCount("size", args.text("size") ?? "", 1, SIZE_MAX);
    using interruption = new Interruption("stopping, and cleaning up");
    await using place = await openPlace(args);
    const bench = new Bench(place.instance, clients, makeContents(count, size), interruption.signal);
    for await (const figures of bench.run()) {
      writeStandardOutput(args.flag("json") ? `${JSON.stringify(figures)}\n` : formatFigures(figures));
    }
    return interruption.isStopped ? 130 : 0;
  },
};

interface Place extends AsyncDisposable {
  readonly instance: Instance;
}

async function openPlace(args: Arguments): Promise<Place> {
  const path = instancePath(storeBench, args);
  if (nodeDisk.stat(path)?.kind === "file") {
    const instance = await openTarget(storeBench, args);
    return { instance, [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose]() };
  }
  // On the same disk, most likely, and nowhere near the contents.
  const folder = scratchFolder(nodeDisk, { parent: dirname(resolve(path)) });
  try {
    const instance = await openInstance(nodeDisk, folder.path, { codecs: await Codecs.load(), create: true });
    const close = async () => {
      await instance[Symbol.asyncDispose]();
      folder.remove();
    };
    return { instance, [Symbol.asyncDispose]: close };
  } catch (error) {
    folder.remove();
    throw error;
  }
}

/** Text that compresses as pages do, and that nobody else has. */
function makeContents(count: number, size: number): Buffer[] {
  const run = systemRandom.uuid();
  return Array.from({ length: count }, (_, i) => {
    const salt = Buffer.from(systemRandom.bytes(Math.max(1, size >> 3))).toString("base64");
    const words = Array.from({ length: 64 }, (_unused, j) => WORDS[(i * 7 + j * j) % WORDS.length]).join(" ");
    return Buffer.from(`${run} ${i} ${salt} ${words.repeat(Math.ceil(size / words.length))}`.slice(0, size));
  });
}

class Bench {
  private readonly instance: Instance;
  private readonly clients: number;
  private readonly contents: readonly Buffer[];
  private readonly signal: AbortSignal;
  /** What has to be deleted: a key for each reference. */
  private held: ContentKey[] = [];

  constructor(instance: Instance, clients: number, contents: readonly Buffer[], signal: AbortSignal) {
    this.instance = instance;
    this.clients = clients;
    this.contents = contents;
    this.signal = signal;
  }

  async *run(): AsyncGenerator<Figures> {
    const { contents, instance } = this;
    const store = async (content: Buffer) => {
      this.held.push((await instance.store(content, { contentType: "text/html" })).key);
    };
    try {
      yield await this.measure("store new", contents, store);
      const keys = this.held.slice();
      yield await this.measure("store duplicates", contents, store);
      yield await this.measure("retrieve", keys, async (key) => {
        if ((await instance.retrieve(key)) === undefined) throw lost();
      });
      yield await this.measure("delete duplicates", this.take(), (key) => this.drop(key));
      yield await this.measure("delete", this.take(), (key) => this.drop(key));
      yield await this.inBulk();
      yield await this.measure("retrieve in bulk", [undefined], () => this.retrieveAll());
    } finally {
      for (const key of this.take(this.held.length)) await this.drop(key);
    }
  }

  private take(count = Math.min(this.held.length, this.contents.length)): ContentKey[] {
    return this.held.splice(0, count);
  }

  private async drop(key: ContentKey): Promise<void> {
    await this.instance.delete(key);
  }

  private inBulk(): Promise<Figures> {
    return this.measure("store in bulk", [undefined], async () => {
      const items = this.contents.map((content) => ({ content, contentType: "text/html" }));
      for await (const answer of this.instance.storeAll(items)) {
        if ("error" in answer) throw answer.error;
        this.held.push(answer.stored.key);
      }
    });
  }

  private async retrieveAll(): Promise<void> {
    for await (const { retrieved, error } of this.instance.retrieveAll(this.held)) {
      if (retrieved === undefined) throw error ?? lost();
    }
  }

  /** All of them, by so many clients at once. Where one fails, the others end too. */
  private async measure<T>(operation: string, things: readonly T[], work: (thing: T) => Promise<void>) {
    const before = performance.now();
    let next = 0;
    const client = async () => {
      try {
        while (next < things.length && !this.signal.aborted) await work(things[next++]!);
      } finally {
        next = things.length;
      }
    };
    await Promise.all(Array.from({ length: this.clients }, client));
    const seconds = (performance.now() - before) / 1000;
    const bytes = this.contents.reduce((sum, { length }) => sum + length, 0);
    return {
      operation,
      perSecond: Math.round(this.contents.length / seconds),
      bytesPerSecond: Math.round(bytes / seconds),
      seconds,
    };
  }
}

function lost(): ArchiveError {
  return new ArchiveError("HT_NOT_FOUND", "a content that was stored is not there");
}

function formatFigures({ operation, perSecond, bytesPerSecond }: Figures): string {
  const rate = formatNumber(perSecond).padStart(9);
  return `${operation.padEnd(20)}${rate} a second  ${`${formatSize(bytesPerSecond)}/s`.padStart(12)}\n`;
}
