import { basename, resolve } from "node:path";
import { Archive } from "../archive/index.ts";
import { ArchiveError } from "../base/index.ts";
import { JoinedContents } from "../dedup/index.ts";
import { nodeDisk, writeStandardError, writeStandardOutput } from "../disk/index.ts";
import { fleetMember, HTTP_SERVER_LIMITS_DEFAULT, type LogEntry, serveHttp, startFleet } from "../http/index.ts";
import {
  type AccessRules,
  Collection,
  followCommits,
  parseAccessRules,
  serveArchives,
  serveMemory,
  toldAnswer,
} from "../serve/index.ts";
import { archiveFolder } from "./archive-option.ts";
import { type Arguments, type Command, parseCount } from "./command.ts";
import { stopSignal } from "./interruption.ts";
import { DIGESTS_OPTION, openIndexes } from "./serve-digests.ts";
import { readToken } from "./volume-remote.ts";

export const serve: Command = {
  name: "serve",
  purpose: "Serve archives over HTTP: raw captures, CDX, Memento, a JSON API.",
  usage: "[--archive [NAME=]DIR]… [--port 8080] | --digests INDEX…",
  details: `Prints its URL when it is ready, and serves until Ctrl-C or SIGTERM; then it finishes the requests under way. New
commits show within a second. Its log goes to standard error, one JSON object per line. Each archive is a collection,
/NAME/…; a single one also answers without its name. On an address that others can reach you need --token-file, or
--open to answer everybody.`,
  options: {
    archive: {
      type: "string",
      short: "a",
      value: "DIR",
      help: "an archive, or NAME=DIR to name its collection (default: ./archive)",
      multiple: true,
    },
    digests: DIGESTS_OPTION,
    host: { type: "string", value: "ADDRESS", help: "address to listen on", default: "127.0.0.1" },
    port: { type: "string", value: "N", help: "port to listen on; 0 for any that is free", default: "8080" },
    "base-url": { type: "string", value: "URL", help: "what clients see in front of the server, behind a proxy" },
    cors: { type: "boolean", help: "let scripts of all web pages read the answers" },
    "serve-files": { type: "boolean", help: "also serve records and segments as they lie on disk" },
    "token-file": { type: "string", value: "FILE", help: "holds the token that every request must bear" },
    open: { type: "boolean", help: "answer everybody who can reach the address, without a token" },
    rules: {
      type: "string",
      value: "FILE",
      help: "access rules of all collections, or NAME=FILE of one: JSON, or pywb's .aclj",
      multiple: true,
    },
    processes: { type: "string", value: "N", help: "processes that share the work, on one port", default: "1" },
    "log-requests": { type: "boolean", help: "log every request, not only failures" },
  },
  exits: "20 no archive · 21 the port is taken",
  examples: [
    "holotype add samples --archive /tmp/cabinet",
    "holotype serve --archive /tmp/cabinet --port 8080",
    "holotype digests build samples -o /tmp/index",
    "holotype serve --digests /tmp/index --port 8081",
  ],
  async run(args) {
    const stop = stopSignal();
    const processes = parseCount("processes", args.text("processes") ?? "", 1, PROCESSES_MAX);
    const fleet = fleetMember();
    if (processes > 1 && fleet === undefined) return runFleet(args, processes, stop);
    const baseUrl = readBaseUrl(args);
    const opened: AsyncDisposable[] = [];
    await using _closing = { [Symbol.asyncDispose]: () => closeAll(opened) };
    const indexes = openIndexes(args, opened);
    const collections = indexes.length > 0 ? [] : await openCollections(args, opened);
    const handler =
      indexes.length > 0
        ? serveMemory(new JoinedContents(indexes))
        : serveArchives(collections, { baseUrl, serveFiles: args.flag("serve-files") });
    const server = await serveHttp(handler, {
      host: args.text("host") ?? "127.0.0.1",
      port: parseCount("port", args.text("port") ?? "", 0, 65_535),
      token: readToken(args),
      open: args.flag("open"),
      hosts: baseUrl === undefined ? [] : [new URL(baseUrl).hostname],
      cors: args.flag("cors"),
      formatError: toldAnswer,
      onLog: printLog,
      logRequests: args.flag("log-requests"),
      fleet,
    });
    if (fleet === undefined) tellReady(server.url, collections, args.flag("json"));
    const ending = new AbortController();
    const following = followCommits(collections, ending.signal, (collection, { code, message }) =>
      printLog({ level: "error", event: "refresh", collection, code, message }),
    );
    await (fleet?.closing ?? stop);
    ending.abort();
    await following;
    await server.close();
    return 0;
  },
};

const PROCESSES_MAX = 64;
/** Beyond the time that a process has to finish what is under way. */
const CLOSE_PATIENCE_MS = 5000;

/** Starts this command again, several times, and prints the address that they share. */
async function runFleet(args: Arguments, count: number, stop: Promise<void>): Promise<number> {
  const opened: AsyncDisposable[] = [];
  await using _closing = { [Symbol.asyncDispose]: () => closeAll(opened) };
  // What is wrong with the arguments is said once, and not by every process.
  const collections = openIndexes(args, opened).length > 0 ? [] : await openCollections(args, opened);
  const closeTimeoutMs = HTTP_SERVER_LIMITS_DEFAULT.drainTimeoutMs + CLOSE_PATIENCE_MS;
  await using fleet = await startFleet({ count, closeTimeoutMs, onLog: printLog });
  tellReady(fleet.url, collections, args.flag("json"));
  await stop;
  return 0;
}

function tellReady(url: string, collections: readonly Collection[], json: boolean): void {
  const names = collections.map(({ name }) => name);
  writeStandardOutput(json ? `${JSON.stringify({ url, collections: names })}\n` : `${url}\n`);
}

/** `NAME=DIR`; without a name, undefined. A folder that is called so comes first. */
function splitNamed(text: string): readonly [name: string | undefined, path: string] {
  const [, name, path] = /^([A-Za-z_][\w-]*)=(.+)$/s.exec(text) ?? [];
  return path === undefined || nodeDisk.stat(text) !== undefined ? [undefined, text] : [name, path];
}

async function closeAll(opened: readonly AsyncDisposable[]): Promise<void> {
  for (const each of opened) await each[Symbol.asyncDispose]();
}

/** Each archive is added to `opened`, to be closed. */
async function openCollections(args: Arguments, opened: AsyncDisposable[]): Promise<Collection[]> {
  const folders = args.list("archive").length > 0 ? args.list("archive") : [defaultFolder(args)];
  const rules = readRules(args);
  const collections: Collection[] = [];
  for (const text of folders) {
    const [given, folder] = splitNamed(text);
    const name = given ?? nameOf(folder);
    const archive = await Archive.open(nodeDisk, folder);
    opened.push(archive);
    collections.push(new Collection(name, archive, rules.get(name) ?? rules.get("")));
    rules.delete(name);
  }
  const unused = [...rules.keys()].find((name) => name !== "");
  if (unused !== undefined) throw new ArchiveError("HT_USAGE", `--rules for ${unused}, but no such collection`);
  return collections;
}

function defaultFolder(args: Arguments): string {
  return archiveFolder({ ...args, text: () => undefined });
}

/** That of the folder, as far as a URL may have it. */
function nameOf(folder: string): string {
  const name = basename(resolve(folder)).replace(/[^\w-]+/g, "-");
  return /^[A-Za-z_]/.test(name) ? name : `_${name}`;
}

/** By the name of the collection; under the empty one those of all others. */
function readRules(args: Arguments): Map<string, AccessRules> {
  const rules = new Map<string, AccessRules>();
  for (const text of args.list("rules")) {
    const [name = "", path] = splitNamed(text);
    if (rules.has(name)) throw new ArchiveError("HT_USAGE", `--rules ${text}: only one file for each collection`);
    rules.set(name, parseAccessRules(readWhole(path), path));
  }
  return rules;
}

const RULES_SIZE_MAX = 1 << 28;

/** Rules that were cut off would show what they should hide. */
function readWhole(path: string): string {
  using file = nodeDisk.open(path, "read");
  const size = file.size();
  if (size > RULES_SIZE_MAX) throw new ArchiveError("HT_TOO_LARGE", `${path}: larger than access rules may be`);
  const bytes = Buffer.alloc(size);
  let at = 0;
  for (let count = -1; at < size && count !== 0; at += count) count = file.read(bytes.subarray(at), at);
  if (at < size) throw new ArchiveError("HT_CHANGED", `${path}: became shorter while it was read`);
  return bytes.toString("utf8");
}

function readBaseUrl(args: Arguments): string | undefined {
  const text = args.text("base-url");
  if (text === undefined) return undefined;
  if (!/^https?:\/\/[^/?#\s]+(?:\/[^?#\s]*)?$/i.test(text) || !URL.canParse(text))
    throw new ArchiveError("HT_USAGE", `--base-url takes a URL, not ${text}`);
  return text;
}

function printLog(entry: LogEntry | Readonly<Record<string, unknown>>): void {
  try {
    writeStandardError(`${JSON.stringify(entry)}\n`);
  } catch {
    // Nobody reads the log any more; that is no reason to stop serving.
  }
}
