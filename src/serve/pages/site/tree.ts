/**
 * The URLs of a host as a tree of folders, as of a time. One folder at a time is listed, and a folder in it costs one
 * look and one count however much is in it: what lies below is skipped over.
 */
import type { Lifespan, Scope } from "../../../archive/index.ts";
import { keyRange } from "../../../url/index.ts";
import type { Collection } from "../../collection.ts";

/** A folder of a host: the part of the URL keys that all in it begin with. */
export interface SiteFolder {
  /** `com,example)/`, and what follows it in keys: `/news/`. The first folder is `/`. */
  readonly hostKey: string;
  readonly path: string;
}

export interface FolderRow {
  readonly kind: "folder";
  readonly name: string;
  readonly path: string;
  /** URLs below it. */
  readonly urls: number;
  /** There may be more of them. */
  readonly isMore: boolean;
}

export interface UrlRow {
  readonly kind: "url";
  readonly name: string;
  readonly lifespan: Lifespan;
  /** Distinct contents up to then, and how often another one came. */
  readonly versions: number;
  readonly lifespans: number;
}

export type SiteRow = FolderRow | UrlRow;

export interface SiteListing {
  readonly rows: readonly SiteRow[];
  /** Where the next page begins; absent behind the last. */
  readonly next: string | undefined;
}

export interface ListingQuestion {
  readonly folder: SiteFolder;
  readonly timeMs: number;
  /** `next` of the page before. */
  readonly from?: string | undefined;
  readonly limit: number;
  readonly mime?: Scope["mime"];
}

/** Where counting takes a walk, it ends here. */
const COUNT_MAX = 1000;

/** The range of keys of a host; absent for what is none. */
export function hostKeyOf(host: string): string | undefined {
  const { from, to } = keyRange(`http://${host}/`, "host");
  return from === to ? undefined : from;
}

export function folderRange({ hostKey, path }: SiteFolder): { readonly from: string; readonly to: string } {
  const from = hostKey + path;
  return { from, to: after(from) };
}

/** The first key after all that begin with this. */
function after(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}

export async function listFolder(collection: Collection, question: ListingQuestion): Promise<SiteListing> {
  const { timeMs, limit, mime } = question;
  const { from, to } = folderRange(question.folder);
  const rows: SiteRow[] = [];
  let at = question.from ?? from;
  while (at < to) {
    const batches = collection.slice(timeMs, { from: at, to, mime }, { withoutEnds: true });
    let folder: string | undefined;
    for await (const lifespan of each(batches)) {
      if (rows.length === limit) return { rows, next: lifespan.key };
      folder = folderBelow(from, lifespan.key);
      if (folder !== undefined) {
        rows.push(await rowOf(collection, question, folder, lifespan));
        break;
      }
      rows.push(await urlRow(collection, timeMs, lifespan, lifespan.key.slice(from.length)));
    }
    if (folder === undefined) break;
    at = after(folder);
  }
  return { rows, next: undefined };
}

async function* each<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch;
}

/** The folder right below that a key lies in; absent where it lies in the listed one. A query is a folder of its own. */
function folderBelow(from: string, key: string): string | undefined {
  if (from.includes("?")) return undefined;
  const end = key.slice(from.length).search(/[/?]/);
  return end < 0 ? undefined : key.slice(0, from.length + end + 1);
}

/** A folder; or what lies in it, if it is one URL. */
async function rowOf(
  collection: Collection,
  { folder: { hostKey, path }, timeMs, mime }: ListingQuestion,
  folder: string,
  first: Lifespan,
): Promise<SiteRow> {
  const urls = await collection.countSlice(timeMs, { from: folder, to: after(folder), mime }, COUNT_MAX);
  const start = hostKey.length + path.length;
  if (urls <= 1) return await urlRow(collection, timeMs, first, first.key.slice(start));
  const isMore = urls >= COUNT_MAX && collection.isCountedByWalk(mime);
  return { kind: "folder", name: folder.slice(start), path: folder.slice(hostKey.length), urls, isMore };
}

async function urlRow(collection: Collection, timeMs: number, first: Lifespan, name: string): Promise<UrlRow> {
  const identities = new Set<string>();
  let lifespans = 0;
  let lifespan = first;
  for await (const one of each(collection.history(first.url, undefined, timeMs))) {
    identities.add(one.identity);
    lifespans++;
    lifespan = one;
  }
  return { kind: "url", name: name === "" ? "/" : name, lifespan, versions: identities.size, lifespans };
}
