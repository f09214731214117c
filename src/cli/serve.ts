import { ArchiveError } from "../base/index.ts";
import { writeStandardOutput } from "../disk/index.ts";
import { archiveFolder } from "./archive-option.ts";
import { type Arguments, type Command, parseCount } from "./command.ts";
import { stopSignal } from "./interruption.ts";
import { Serving } from "./serving.ts";
import { readToken } from "./volume-remote.ts";

export const serve: Command = {
  name: "serve",
  purpose: "Serve archives over HTTP: raw captures, CDX, Memento, a JSON API.",
  usage: "[--archive [NAME=]DIR]… [--port 8080]",
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
    "log-requests": { type: "boolean", help: "log every request, not only failures" },
  },
  exits: "20 no archive · 21 the port is taken",
  examples: ["holotype add samples --archive /tmp/cabinet", "holotype serve --archive /tmp/cabinet --port 8080"],
  async run(args) {
    const stop = stopSignal();
    await using serving = await Serving.open({
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
      },
      isLogged: true,
    });
    const { url, replayUrl, collections } = serving;
    const names = collections.map(({ name }) => name);
    const told = JSON.stringify({ url, replayUrl, collections: names });
    writeStandardOutput(args.flag("json") ? `${told}\n` : `${url}\n`);
    await stop;
    return 0;
  },
};

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
