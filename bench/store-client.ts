/** A client of the store's benchmark, as a process of its own: does the tasks that it is told, and says how it went. */
import { Agent, request as httpRequest } from "node:http";
import { Codecs, type ContentKey, Instance, RemoteVolume, type StoreMode, signatureOf } from "holotype/store";
import { makePage } from "./store-pages.ts";

export interface Task {
  readonly kind: "store" | "store-bulk" | "retrieve" | "retrieve-bulk" | "delete";
  readonly target: "ours" | "yardstick";
  readonly urls: readonly string[];
  /** Which pages: those of a set from one number to another. The first `duplicates` of them are taken from set 0. */
  readonly set: number;
  readonly from: number;
  readonly to: number;
  readonly meanSize: number;
  readonly duplicates?: number;
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

function prepare({ set, from, to, meanSize, duplicates = 0 }: Task): Page[] {
  return Array.from({ length: to - from }, (_, i) => {
    const content = makePage(i < duplicates ? 0 : set, from + i, meanSize);
    return { content, signature: signatureOf("sha256", content) };
  });
}

let ready: { task: Task; pages: Page[]; instance: Instance | undefined } | undefined;

process.on("message", (message: Task | "go") => void handle(message));

async function handle(message: Task | "go"): Promise<void> {
  if (message !== "go") {
    const isOurs = message.target === "ours";
    const volumes = message.urls.map((url) => new RemoteVolume({ url }));
    const instance = isOurs ? await Instance.of(volumes, { codecs: await Codecs.load() }) : undefined;
    ready = { task: message, pages: prepare(message), instance };
    process.send!("ready");
    return;
  }
  const { task, pages, instance } = ready!;
  if (instance === undefined) await runYardstick(task, pages);
  else await runOurs(task, pages, instance);
  await instance?.[Symbol.asyncDispose]();
  process.send!("done");
}
