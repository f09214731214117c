/**
 * wabac.js, the replay engine of Webrecorder, in this process. It is made for service workers: the database is one in
 * memory, and the scope of the worker is this one. Only tests may use it (docs/decisions/0012-wabac-in-tests.md).
 */
import "fake-indexeddb/auto";
import { Dechunker } from "../../src/warc/index.ts";

/** What of wabac.js is used here; its own types are those of a browser. */
interface Wabac {
  readonly WorkerLoader: new (
    scope: EventTarget,
  ) => {
    readonly _init_db: Promise<void>;
    addCollection(request: object, onProgress: () => void): Promise<unknown>;
    loadColl(name: string): Promise<{ readonly store: ArchiveStore } | null>;
  };
  readonly ArchiveRequest: new (url: string, request: Request) => { readonly request: Request };
}

interface ArchiveStore {
  getResource(request: object, prefix: string, event: object, options: object): Promise<ArchivedResponse | null>;
}

interface ArchivedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly date: Date;
  getBuffer(): Promise<Uint8Array | null>;
}

export interface Replayed {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

export interface Replay {
  /** What is replayed for a URL at a time; absent where wabac.js finds nothing. */
  get(uri: string, date: string): Promise<Replayed | undefined>;
}

/** Of several WACZ files the one that has it is asked for by a redirect, unless it is said that there is nobody to follow. */
const OPTIONS = { noRedirect: true };

const scope = globalThis as unknown as { self?: unknown; location?: unknown };
scope.self ??= globalThis;
scope.location ??= new URL("http://localhost/");

/**
 * Loads the bytes of a `.warc.gz`, or of a `.wacz` where the name says so, as a collection of its own: all of it at once, as wabac.js does with small files, or
 * record by record when they are asked for, as it does with large ones and with WACZ.
 */
export async function replayWith(name: string, bytes: Uint8Array, mode: "whole" | "on demand"): Promise<Replay> {
  const { WorkerLoader, ArchiveRequest } = (await import("@webrecorder/wabac/swlib")) as unknown as Wabac;
  const loader = new WorkerLoader(new EventTarget());
  await loader._init_db;
  const fileName = name.endsWith(".wacz") ? name : `${name}.warc.gz`;
  const file = {
    sourceUrl: `file:///${fileName}`,
    name: fileName,
    size: bytes.length,
    noCache: mode === "on demand",
    extra: { arrayBuffer: new Uint8Array(bytes) },
  };
  await loader.addCollection({ name, file }, () => {});
  const collection = await loader.loadColl(name);
  if (collection === null) throw new Error(`wabac.js did not load ${name}`);
  return {
    async get(uri, date) {
      const request = new ArchiveRequest(
        `${date.replace(/\D/g, "").slice(0, 14)}mp_/${uri}`,
        new Request("http://localhost/"),
      );
      const response = await collection.store.getResource(request, "", { request: request.request }, OPTIONS);
      if (response === null) return undefined;
      const { status, headers } = response;
      return { status, headers, body: Buffer.from((await response.getBuffer()) ?? []) };
    },
  };
}

/** wabac.js keeps bodies as they are stored, and undoes transfer coding when it rewrites a page: by the headers it has. */
export function contentOf(replayed: Replayed | undefined): Buffer | undefined {
  if (replayed?.headers.get("transfer-encoding") !== "chunked") return replayed?.body;
  const parts: Buffer[] = [];
  const dechunker = new Dechunker((bytes) => void parts.push(Buffer.from(bytes)));
  dechunker.push(replayed.body);
  dechunker.finish();
  return Buffer.concat(parts);
}
