/** Archives opened, served and followed: what the commands that serve have in common. */
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Archive } from "../archive/index.ts";
import { ArchiveError } from "../base/index.ts";
import { nodeDisk, writeStandardError } from "../disk/index.ts";
import { type HttpServer, type HttpServerOptions, type LogEntry, serveHttp } from "../http/index.ts";
import {
  type AccessRules,
  Collection,
  followCommits,
  parseAccessRules,
  type ServeOptions,
  serveArchives,
  toldAnswer,
} from "../serve/index.ts";

const RULES_SIZE_MAX = 1 << 28;
const PAGES_SCRIPT_SIZE_MAX = 1 << 20;

export interface ServingOptions extends Omit<ServeOptions, "script"> {
  /** Folders of archives, or `NAME=DIR`. */
  readonly archives: readonly string[];
  /** Files of access rules for all of them, or `NAME=FILE` for one. */
  readonly rules?: readonly string[] | undefined;
  /** Where and to whom it listens. */
  readonly http: Pick<HttpServerOptions, "host" | "port" | "token" | "open" | "cors" | "logRequests">;
  /** Log to standard error, one JSON object per line; otherwise only errors. */
  readonly isLogged: boolean;
}

/** Serves until it is disposed of; then it finishes the requests under way and closes the archives. */
export class Serving implements AsyncDisposable {
  readonly collections: readonly Collection[];
  private readonly server: HttpServer;
  private readonly archives: readonly Archive[];
  private readonly ending = new AbortController();
  private readonly following: Promise<void>;

  private constructor(server: HttpServer, collections: readonly Collection[], archives: readonly Archive[]) {
    this.server = server;
    this.collections = collections;
    this.archives = archives;
    this.following = followCommits(collections, this.ending.signal, (collection, { code, message }) =>
      printLog({ level: "error", event: "refresh", collection, code, message }),
    );
  }

  /** HT_NOT_FOUND where an archive is missing, HT_LOCKED where the port is taken. */
  static async open(options: ServingOptions): Promise<Serving> {
    const archives: Archive[] = [];
    try {
      const collections = await openCollections(options, archives);
      const { baseUrl, serveFiles, http, isLogged } = options;
      const handler = serveArchives(collections, { baseUrl, serveFiles, script: readPagesScript() });
      const server = await serveHttp(handler, {
        ...http,
        hosts: baseUrl === undefined ? [] : [new URL(baseUrl).hostname],
        formatError: toldAnswer,
        onLog: (entry) => {
          if (isLogged || entry.level === "error") printLog(entry);
        },
      });
      return new Serving(server, collections, archives);
    } catch (error) {
      await closeAll(archives);
      throw error;
    }
  }

  /** `http://127.0.0.1:8080` */
  get url(): string {
    return this.server.url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.ending.abort();
    await this.following;
    await this.server.close();
    await closeAll(this.archives);
  }
}

/** Lies beside the program, made of ui/ by the build. */
function readPagesScript(): string {
  return readWhole(fileURLToPath(new URL("./pages-script.js", import.meta.url)), PAGES_SCRIPT_SIZE_MAX);
}

/** `NAME=DIR`; without a name, undefined. A folder that is called so comes first. */
function splitNamed(text: string): readonly [name: string | undefined, path: string] {
  const [, name, path] = /^([A-Za-z_][\w-]*)=(.+)$/s.exec(text) ?? [];
  return path === undefined || nodeDisk.stat(text) !== undefined ? [undefined, text] : [name, path];
}

async function closeAll(archives: readonly Archive[]): Promise<void> {
  for (const archive of archives) await archive[Symbol.asyncDispose]();
}

/** Each archive is added to `archives`, to be closed. */
async function openCollections(options: ServingOptions, archives: Archive[]): Promise<Collection[]> {
  const rules = readRules(options.rules ?? []);
  const collections: Collection[] = [];
  for (const text of options.archives) {
    const [given, folder] = splitNamed(text);
    const name = given ?? nameOf(folder);
    const archive = await Archive.open(nodeDisk, folder);
    archives.push(archive);
    collections.push(new Collection(name, archive, rules.get(name) ?? rules.get("")));
    rules.delete(name);
  }
  const unused = [...rules.keys()].find((name) => name !== "");
  if (unused !== undefined) throw new ArchiveError("HT_USAGE", `--rules for ${unused}, but no such collection`);
  return collections;
}

/** That of the folder, as far as a URL may have it. */
function nameOf(folder: string): string {
  const name = basename(resolve(folder)).replace(/[^\w-]+/g, "-");
  return /^[A-Za-z_]/.test(name) ? name : `_${name}`;
}

/** By the name of the collection; under the empty one those of all others. */
function readRules(texts: readonly string[]): Map<string, AccessRules> {
  const rules = new Map<string, AccessRules>();
  for (const text of texts) {
    const [name = "", path] = splitNamed(text);
    if (rules.has(name)) throw new ArchiveError("HT_USAGE", `--rules ${text}: only one file for each collection`);
    rules.set(name, parseAccessRules(readWhole(path, RULES_SIZE_MAX), path));
  }
  return rules;
}

/** All of it or an error: rules that were cut off would show what they should hide. */
function readWhole(path: string, sizeMax: number): string {
  using file = nodeDisk.open(path, "read");
  const size = file.size();
  if (size > sizeMax) throw new ArchiveError("HT_TOO_LARGE", `${path}: larger than such a file may be`);
  const bytes = Buffer.alloc(size);
  let at = 0;
  for (let count = -1; at < size && count !== 0; at += count) count = file.read(bytes.subarray(at), at);
  if (at < size) throw new ArchiveError("HT_CHANGED", `${path}: became shorter while it was read`);
  return bytes.toString("utf8");
}

function printLog(entry: LogEntry | Readonly<Record<string, unknown>>): void {
  try {
    writeStandardError(`${JSON.stringify(entry)}\n`);
  } catch {
    // Nobody reads the log any more; that is no reason to stop serving.
  }
}
