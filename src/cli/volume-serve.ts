import { ArchiveError } from "../base/index.ts";
import { nodeDisk, writeStandardError, writeStandardOutput } from "../disk/index.ts";
import { ContentThreads, isVolume, type LocalVolume } from "../store/index.ts";
import {
  type LogEntry,
  SERVER_LIMITS_DEFAULT,
  type ServerLimits,
  serveVolume,
  type VolumeServer,
} from "../volumed/index.ts";
import { type Arguments, type Command, parseCount } from "./command.ts";
import { stopSignal } from "./interruption.ts";
import { CREATE_OPTIONS, createFrom } from "./volume-create.ts";
import { CODEC_OPTION, codecModules, openFolder, parseSizeOption, requireFolder } from "./volume-option.ts";
import { readText, readToken } from "./volume-remote.ts";

const { contentSizeMaxBytes, connectionCountMax, idleTimeoutMs, headerTimeoutMs, drainTimeoutMs } =
  SERVER_LIMITS_DEFAULT;

export const volumeServe: Command = {
  name: "volume serve",
  purpose: "Serve a volume over HTTP, for clients on this machine or others.",
  usage: "DIR",
  details: `Prints its URL when it is ready, and serves until it gets SIGTERM or SIGINT; then it finishes what is under way and
ends. Its log goes to standard error, one JSON object a line. On an address that others can reach it asks for a token.`,
  options: {
    host: { type: "string", value: "ADDRESS", help: "address to listen on", default: "127.0.0.1" },
    port: { type: "string", value: "N", help: "port to listen on (default: any that is free)" },
    "token-file": { type: "string", value: "FILE", help: "holds the token that every request must bear" },
    "tls-cert": { type: "string", value: "FILE", help: "certificate, in PEM: serve over TLS" },
    "tls-key": { type: "string", value: "FILE", help: "its key, in PEM" },
    ...CODEC_OPTION,
    "max-content": {
      type: "string",
      value: "SIZE",
      help: `largest content, as 500M or 4G (default: ${contentSizeMaxBytes} bytes)`,
    },
    "max-connections": {
      type: "string",
      value: "N",
      help: "connections at one time",
      default: `${connectionCountMax}`,
    },
    "idle-timeout": {
      type: "string",
      value: "MS",
      help: "for a client that keeps us waiting",
      default: `${idleTimeoutMs}`,
    },
    "header-timeout": {
      type: "string",
      value: "MS",
      help: "for the header of a request",
      default: `${headerTimeoutMs}`,
    },
    "drain-timeout": {
      type: "string",
      value: "MS",
      help: "for what is under way at the end",
      default: `${drainTimeoutMs}`,
    },
    "log-requests": { type: "boolean", help: "log every request, not only what failed" },
    create: { type: "boolean", help: "make the volume if there is none, with these:" },
    ...CREATE_OPTIONS,
  },
  exits: "20 no volume · 21 the volume is served already, or the port is taken",
  examples: ["holotype volume serve /tmp/volume --create --port 8123"],
  async run(args) {
    const json = args.flag("json");
    const folder = requireFolder(volumeServe, args);
    const stop = stopSignal();
    const tls = readTls(args);
    const token = readToken(args);
    if (args.flag("create") && !isVolume(nodeDisk, folder)) createFrom(folder, args);
    await using threads = new ContentThreads(codecModules(args));
    const volume = await openFolder(folder, args, { threads });
    const server = await start(volume, args, token, tls);
    const { id, layout, signature } = await volume.describe();
    writeStandardOutput(
      json ? `${JSON.stringify({ url: server.url, folder, id, layout, signature })}\n` : `${server.url}\n`,
    );
    await stop;
    await server.close();
    return 0;
  },
};

/** The volume is the server's from here on; where there is no server it is closed. */
async function start(
  volume: LocalVolume,
  args: Arguments,
  token: string | undefined,
  tls: ReturnType<typeof readTls>,
): Promise<VolumeServer> {
  try {
    return await serveVolume(volume, {
      host: args.text("host") ?? "127.0.0.1",
      port: parseCount("port", args.text("port") ?? "0", 0, 65_535),
      token,
      tls,
      limits: readLimits(args),
      logRequests: args.flag("log-requests"),
      onLog: printLog,
    });
  } catch (error) {
    await volume[Symbol.asyncDispose]();
    throw error;
  }
}

function printLog(entry: LogEntry): void {
  try {
    writeStandardError(`${JSON.stringify(entry)}\n`);
  } catch {
    // Nobody reads the log any more; that is no reason to stop serving.
  }
}

function readTls(args: Arguments): { readonly cert: string; readonly key: string } | undefined {
  const cert = readText(args.text("tls-cert"));
  const key = readText(args.text("tls-key"));
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw new ArchiveError("HT_USAGE", "--tls-cert and --tls-key go together");
  }
  return { cert, key };
}

function readLimits(args: Arguments): Partial<ServerLimits> {
  const count = (name: string) => parseCount(name, args.text(name) ?? "", 1, 86_400_000);
  const size = args.text("max-content");
  return {
    ...(size === undefined ? {} : { contentSizeMaxBytes: parseSizeOption("max-content", size) }),
    connectionCountMax: count("max-connections"),
    idleTimeoutMs: count("idle-timeout"),
    headerTimeoutMs: count("header-timeout"),
    drainTimeoutMs: count("drain-timeout"),
  };
}
