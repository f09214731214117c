import { ArchiveError } from "../base/index.ts";
import { writeStandardOutput } from "../disk/index.ts";
import { fleetMember, HTTP_SERVER_LIMITS_DEFAULT, startFleet } from "../http/index.ts";
import { archiveFolder } from "./archive-option.ts";
import { type Arguments, type Command, parseCount } from "./command.ts";
import { stopSignal } from "./interruption.ts";
import { checkDigests, DIGESTS_OPTION, isForDigests, serveDigests } from "./serve-digests.ts";
import { checkServing, printLog, Serving, type ServingOptions } from "./serving.ts";
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
    "replay-port": {
      type: "string",
      value: "N",
      help: "port that archived pages run on (default: the next that is free)",
    },
    "replay-url": { type: "string", value: "URL", help: "what browsers see in front of that port: another host name" },
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
    const options = readOptions(args);
    if (processes > 1 && options.http.fleet === undefined) return runFleet(args, options, processes, stop);
    await using serving = isForDigests(args) ? await serveDigests(args, options.http) : await Serving.open(options);
    if (options.http.fleet === undefined) tellReady(serving, args);
    await (options.http.fleet?.closing ?? stop);
    return 0;
  },
};

const PROCESSES_MAX = 64;
/** Beyond the time that a process has to finish what is under way. */
const CLOSE_PATIENCE_MS = 5000;

/** Starts this command again, several times, and prints the address that they share. */
async function runFleet(args: Arguments, options: ServingOptions, count: number, stop: Promise<void>): Promise<number> {
  // What is wrong with the arguments is said once, and not by every process.
  const names = isForDigests(args) ? await checkDigests(args) : await checkServing(options);
  const closeTimeoutMs = HTTP_SERVER_LIMITS_DEFAULT.drainTimeoutMs + CLOSE_PATIENCE_MS;
  await using fleet = await startFleet({ count, closeTimeoutMs, onLog: printLog });
  tellReady({ url: fleet.url, names }, args);
  await stop;
  return 0;
}

interface Ready {
  readonly url: string;
  readonly replayUrl?: string;
  readonly names: readonly string[];
}

function tellReady({ url, replayUrl, names }: Ready, args: Arguments): void {
  const told = JSON.stringify({ url, replayUrl, collections: names });
  writeStandardOutput(args.flag("json") ? `${told}\n` : `${url}\n`);
}

function readOptions(args: Arguments): ServingOptions {
  return {
    archives: args.list("archive").length > 0 ? args.list("archive") : [defaultFolder(args)],
    rules: args.list("rules"),
    baseUrl: readUrl(args, "base-url"),
    replayUrl: readUrl(args, "replay-url"),
    replayPort: readPort(args, "replay-port"),
    serveFiles: args.flag("serve-files"),
    http: {
      host: args.text("host") ?? "127.0.0.1",
      port: readPort(args, "port") ?? 0,
      token: readToken(args),
      open: args.flag("open"),
      cors: args.flag("cors"),
      logRequests: args.flag("log-requests"),
      fleet: fleetMember(),
    },
    isLogged: true,
  };
}

function defaultFolder(args: Arguments): string {
  return archiveFolder({ ...args, text: () => undefined });
}

function readPort(args: Arguments, name: string): number | undefined {
  const text = args.text(name);
  return text === undefined ? undefined : parseCount(name, text, 0, 65_535);
}

function readUrl(args: Arguments, name: string): string | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  if (!/^https?:\/\/[^/?#\s]+(?:\/[^?#\s]*)?$/i.test(text) || !URL.canParse(text))
    throw new ArchiveError("HT_USAGE", `--${name} takes a URL, not ${text}`);
  return text;
}
