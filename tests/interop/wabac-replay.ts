/**
 * wabac.js, the replay engine of Webrecorder, in this process. It is made for service workers: the database is one in
 * memory, and the scope of the worker is this one. Only tests may use it (docs/decisions/0012-wabac-in-tests.md).
 */
import "fake-indexeddb/auto";

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
  getResource(request: object, prefix: string, event: object): Promise<ArchivedResponse | null>;
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

const scope = globalThis as unknown as { self?: unknown; location?: unknown };
scope.self ??= globalThis;
scope.location ??= new URL("http://localhost/");

/**
 * Loads the bytes of a `.warc.gz` as a collection of its own: all of it at once, as wabac.js does with small files, or
 * record by record when they are asked for, as it does with large ones and with WACZ.
 */
export async function replayWith(name: string, bytes: Uint8Array, mode: "whole" | "on demand"): Promise<Replay> {
  const { WorkerLoader, ArchiveRequest } = (await import("@webrecorder/wabac/swlib")) as unknown as Wabac;
  const loader = new WorkerLoader(new EventTarget());
  await loader._init_db;
  const file = {
    sourceUrl: `file:///${name}.warc.gz`,
    name: `${name}.warc.gz`,
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
      const response = await collection.store.getResource(request, "", { request: request.request });
      if (response === null) return undefined;
      const { status, headers } = response;
      return { status, headers, body: Buffer.from((await response.getBuffer()) ?? []) };
    },
  };
}
