/** Archives opened, served and followed: what the commands that serve have in common. */
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Archive } from "../archive/index.ts";
import { ArchiveError, systemRandom } from "../base/index.ts";
import { nodeDisk, writeStandardError } from "../disk/index.ts";
import {
  checkReach,
  type Handler,
  type HttpServer,
  type HttpServerOptions,
  type LogEntry,
  serveHttp,
} from "../http/index.ts";
import {
  type AccessRules,
  Collection,
  followCommits,
  parseAccessRules,
  ReplayAccess,
  type ServeOptions,
  serveArchives,
  serveReplay,
  toldAnswer,
} from "../serve/index.ts";
import { readReplayWorker } from "./replay-worker.ts";
import { readWhole } from "./whole-file.ts";

const SECRET_SIZE = 32;
const RULES_SIZE_MAX = 1 << 28;
const SCRIPT_SIZE_MAX = 1 << 20;
/** Ports that are tried for replay, from the one behind that of the pages on. */
const PORTS_TRIED = 20;

export interface ServingOptions extends Omit<ServeOptions, "script" | "replay"> {
  /** Folders of archives, or `NAME=DIR`. */
  readonly archives: readonly string[];
  /** Files of access rules for all of them, or `NAME=FILE` for one. */
  readonly rules?: readonly string[] | undefined;
  /** Where and to whom it listens. */
  readonly http: Pick<HttpServerOptions, "host" | "port" | "token" | "open" | "cors" | "logRequests" | "fleet">;
  /** Log to standard error, one JSON object per line; otherwise only errors. */
  readonly isLogged: boolean;
  /** What browsers see in front of replay, behind a proxy. */
  readonly replayUrl?: string | undefined;
  /** Where replay listens; by default the next port that is free. */
  readonly replayPort?: number | undefined;
}

/** Serves until it is disposed of; then it finishes the requests under way and closes the archives. */
export class Serving implements AsyncDisposable {
  readonly collections: readonly Collection[];
  private readonly server: HttpServer;
  private readonly replay: HttpServer;
  private readonly archives: readonly Archive[];
  private readonly ending = new AbortController();
  private readonly following: Promise<void>;

  private constructor(
    server: HttpServer,
    replay: HttpServer,
    collections: readonly Collection[],
    archives: readonly Archive[],
  ) {
    this.server = server;
    this.replay = replay;
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
      const { baseUrl, serveFiles, http, replayUrl, isLogged } = options;
      const onLog = (entry: LogEntry) => {
        if (isLogged || entry.level === "error") printLog(entry);
      };
      const worker = readReplayWorker();
      const shared = await http.fleet?.secret;
      const secret = shared === undefined ? systemRandom.bytes(SECRET_SIZE) : Buffer.from(shared, "hex");
      const access = new ReplayAccess({ baseUrl, replayUrl, hasWorker: worker !== undefined }, secret);
      const scripts = new Map(["replay-boot.js", "replay-guard.js"].map((name) => [name, readScript(name)]));
      const replay = await listenForReplay(serveReplay(collections, { access, worker, scripts }), options, onLog);
      const script = readScript("pages-script.js");
      const server = await serveHttp(serveArchives(collections, { baseUrl, serveFiles, script, replay: access }), {
        ...http,
        hosts: hostsOf(baseUrl),
        formatError: toldAnswer,
        onLog,
      }).catch(async (error: unknown) => {
        await replay.close();
        throw error;
      });
      access.origins.pagesPort = Number(new URL(server.url).port);
      access.origins.replayPort = Number(new URL(replay.url).port);
      return new Serving(server, replay, collections, archives);
    } catch (error) {
      await closeAll(archives);
      throw error;
    }
  }

  /** Of the collections. */
  get names(): readonly string[] {
    return this.collections.map(({ name }) => name);
  }

  /** `http://127.0.0.1:8080` */
  get url(): string {
    return this.server.url;
  }

  /** Of the origin where archived pages run. */
  get replayUrl(): string {
    return this.replay.url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.ending.abort();
    await this.following;
    await Promise.all([this.server.close(), this.replay.close()]);
    await closeAll(this.archives);
  }
}

/** The names of the collections; throws what would keep them from being served. */
export async function checkServing(options: ServingOptions): Promise<readonly string[]> {
  const archives: Archive[] = [];
  try {
    return (await openCollections(options, archives)).map(({ name }) => name);
  } finally {
    await closeAll(archives);
  }
}

/**
 * On the address of the pages, and on a port of its own. It asks for no token: browsers send none with the parts of a page,
 * and who does not know the names of the collections there (`ReplayNames`) finds nothing.
 */
async function listenForReplay(
  handler: Handler,
  { http, replayPort, replayUrl }: ServingOptions,
  onLog: (entry: LogEntry) => void,
): Promise<HttpServer> {
  const { host = "127.0.0.1", port = 0, token, open = false, logRequests } = http;
  if (open !== true) checkReach(host, token);
  const options = {
    host,
    open: open || token !== undefined,
    embedded: true,
    hosts: hostsOf(replayUrl),
    formatError: toldAnswer,
    onLog,
    logRequests: logRequests ?? false,
  };
  if (replayPort !== undefined) return await serveHttp(handler, { ...options, port: replayPort });
  for (let tried = 1; port !== 0 && tried <= PORTS_TRIED && port + tried < 65_536; tried++) {
    try {
      return await serveHttp(handler, { ...options, port: port + tried });
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.code !== "HT_LOCKED") throw error;
    }
  }
  return await serveHttp(handler, { ...options, port: 0 });
}

function hostsOf(url: string | undefined): string[] {
  return url === undefined ? [] : [new URL(url).hostname];
}

/** Lies beside the program, made of ui/ by the build. */
function readScript(name: string): string {
  return readWhole(fileURLToPath(new URL(name, import.meta.url)), SCRIPT_SIZE_MAX).toString("utf8");
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
    rules.set(name, parseAccessRules(readWhole(path, RULES_SIZE_MAX).toString("utf8"), path));
  }
  return rules;
}

export function printLog(entry: LogEntry | Readonly<Record<string, unknown>>): void {
  try {
    writeStandardError(`${JSON.stringify(entry)}\n`);
  } catch {
    // Nobody reads the log any more; that is no reason to stop serving.
  }
}
