/** A client of the store's benchmark, as a process of its own: does the tasks that it is told, and says how it went. */
import { Agent, request as httpRequest } from "node:http";
import { Codecs, type ContentKey, Instance, RemoteVolume, type StoreMode, signatureOf } from "holotype/store";
import { makePage } from "./store-pages.ts";

export interface Task {
  readonly kind: "store" | "store-bulk" | "retrieve" | "retrieve-bulk" | "delete";
  readonly target: "ours" | "yardstick";
  readonly urls: readonly string[];
  /** Which pages: those of a set from one number to another. The first `duplicates` of them are taken from another. */
  readonly set: number;
  readonly from: number;
  readonly to: number;
  readonly meanSize: number;
  readonly duplicates?: number;
  readonly duplicatesOf?: number;
  readonly mode?: StoreMode;
  /** Names the volume, so that no other is asked. */
  readonly named?: boolean;
  readonly compression?: string;
}

interface Page {
  readonly content: Buffer;
  readonly signature: string;
}

const agent = new Agent({ keepAlive: true, noDelay: true, maxSockets: 1 });

function ask(method: string, url: string, content?: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = content === undefined ? {} : { "content-length": content.length };
    const request = httpRequest(url, { method, agent, headers }, (response) => {
      let size = 0;
      response.on("data", (piece: Buffer) => {
        size += piece.length;
      });
      response.on("end", () => {
        if (response.statusCode! < 300) resolve(size);
        else reject(new Error(`${method} ${url}: ${response.statusCode}`));
      });
    });
    request.on("error", reject);
    request.end(content);
  });
}

async function runYardstick({ kind, urls }: Task, pages: readonly Page[]): Promise<void> {
  for (const { content, signature } of pages) {
    const url = `${urls[0]}/${signature}`;
    if (kind === "store") await ask("PUT", url, content);
    else if (kind === "delete") await ask("DELETE", url);
    else if ((await ask("GET", url)) !== content.length) throw new Error("not what was stored");
  }
}

async function runOurs(task: Task, pages: readonly Page[], instance: Instance): Promise<void> {
  const { kind, mode = "regular", named = false, compression = "none" } = task;
  const keyOf = ({ signature }: Page): ContentKey => ({ volume: 0, signature, overflow: 0 });
  const options = { mode, compression, ...(named ? { volume: 0 } : {}) };
  if (kind === "store") {
    for (const { content } of pages) await instance.store(content, options);
  } else if (kind === "store-bulk") {
    const contents = pages.map(({ content }) => ({ content, ...options }));
    for await (const answer of instance.storeAll(contents)) if ("error" in answer) throw answer.error;
  } else if (kind === "delete") {
    for (const page of pages) await instance.delete(keyOf(page));
  } else if (kind === "retrieve") {
    for (const page of pages) {
      checkPage(page, (await instance.retrieve(keyOf(page)))?.content);
    }
  } else {
    let i = 0;
    for await (const { retrieved } of instance.retrieveAll(pages.map(keyOf)))
      checkPage(pages[i++]!, retrieved?.content);
  }
}

function checkPage({ content }: Page, found: unknown): void {
  if (!(found instanceof Uint8Array) || found.length !== content.length) throw new Error("not what was stored");
}

function prepare({ set, from, to, meanSize, duplicates = 0, duplicatesOf = set }: Task): Page[] {
  return Array.from({ length: to - from }, (_, i) => {
    const content = makePage(i < duplicates ? duplicatesOf : set, from + i, meanSize);
    return { content, signature: signatureOf("sha256", content) };
  });
}

/** The pages of the task before are those of the next, mostly. */
let prepared: { readonly name: string; readonly pages: Page[] } | undefined;

function pagesOf(task: Task): Page[] {
  const { set, from, to, meanSize, duplicates, duplicatesOf } = task;
  const name = JSON.stringify({ set, from, to, meanSize, duplicates, duplicatesOf });
  if (prepared?.name !== name) prepared = { name, pages: prepare(task) };
  return prepared.pages;
}

/** A client of a store is one for long, and knows its volumes when it is measured. */
const instances = new Map<string, Promise<Instance>>();

async function instanceFor(urls: readonly string[]): Promise<Instance> {
  const name = urls.join();
  let instance = instances.get(name);
  if (instance === undefined) {
    const volumes = urls.map((url) => new RemoteVolume({ url }));
    instance = Codecs.load().then((codecs) => Instance.of(volumes, { codecs }));
    instances.set(name, instance);
  }
  await (await instance).refreshFilters();
  return await instance;
}

/** Processor time of the work, in seconds. */
export interface Done {
  readonly cpuSeconds: number;
}

let ready: { task: Task; pages: Page[]; instance: Instance | undefined } | undefined;

process.on("message", (message: Task | "go") => void handle(message));
process.on("disconnect", () => process.exit(1));

async function handle(message: Task | "go"): Promise<void> {
  if (message !== "go") {
    const instance = message.target === "ours" ? await instanceFor(message.urls) : undefined;
    ready = { task: message, pages: pagesOf(message), instance };
    // What making the pages left behind is not the work of either side.
    globalThis.gc?.();
    process.send!("ready");
    return;
  }
  const { task, pages, instance } = ready!;
  const before = process.cpuUsage();
  if (instance === undefined) await runYardstick(task, pages);
  else await runOurs(task, pages, instance);
  const { user, system } = process.cpuUsage(before);
  process.send!({ cpuSeconds: (user + system) / 1e6 } satisfies Done);
}
