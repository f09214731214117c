/** The options of `fetch`, and what they stand for. */
import { ArchiveError } from "../base/index.ts";
import type { FetchSettings } from "../crawl/index.ts";
import { HEADER_SCHEMES, type MimeFilter } from "../dedup/index.ts";
import { nodeDisk } from "../disk/index.ts";
import { AddressGuard, type ExchangeLimits, HttpClient, resolveWith } from "../http/index.ts";
import { readGivenLines, readInputLines, STANDARD_INPUT } from "../pipeline/index.ts";
import { type Arguments, type OptionSpecs, parseChoice, parseCount } from "./command.ts";
import { VERSION } from "./version.ts";
import { parseSizeOption } from "./volume-option.ts";

const SECONDS_MAX = 86_400;
const PARALLEL_MAX = 1000;
const REDIRECTS_MAX = 100;

export const FETCH_OPTIONS: OptionSpecs = {
  input: {
    type: "string",
    short: "i",
    value: "FILE",
    multiple: true,
    help: "a list of URLs, one per line; - for standard input",
  },
  output: {
    type: "string",
    short: "o",
    value: "DIR",
    help: "folder for the WARC files, crawl.log, digest index and report",
  },
  digests: {
    type: "string",
    value: "INDEX",
    multiple: true,
    help: "compare with this digest index of earlier crawls; may be repeated",
  },
  originals: {
    type: "string",
    value: "FILE",
    multiple: true,
    help: "archive files of those crawls, to read originals before referring to them",
  },
  archive: { type: "string", short: "a", value: "DIR", help: "compare with this archive, and add the captures to it" },
  scheme: {
    type: "string",
    value: "SCHEME",
    help: "headers that show a change: datestamp, etag, both or either",
    default: "both",
  },
  by: {
    type: "string",
    value: "HOW",
    help: "conditional (ask the server), or abort (stop after the header)",
    default: "conditional",
  },
  audit: {
    type: "string",
    value: "SHARE",
    help: "fetch this share in full, such as 5%, to measure how reliable headers are",
    default: "0",
  },
  seed: { type: "string", value: "TEXT", help: "choose another sample for --audit", default: "1" },
  "write-predicted": {
    type: "boolean",
    help: "with --by abort: write predictions as revisits with their own profile",
  },
  match: {
    type: "string",
    value: "BY",
    help: "find duplicates by digest or url; none stores everything",
    default: "digest",
  },
  equivalent: { type: "boolean", help: "index equivalent URLs too; with --match url they count as the same URL" },
  mime: { type: "string", value: "PATTERN", multiple: true, help: "compare only these media types, such as image/*" },
  "not-mime": { type: "string", value: "PATTERN", multiple: true, help: "always store these media types" },
  "mime-regex": { type: "string", value: "RE", help: "compare only media types that RE matches as a whole" },
  "not-mime-regex": { type: "string", value: "RE", help: "always store those that RE matches, such as '^text/.*'" },
  origin: { type: "string", value: "TEXT", help: "name of this crawl; later crawls report it for their originals" },
  prefix: { type: "string", value: "NAME", help: "prefix of the WARC file names", default: "holotype" },
  "max-file": { type: "string", value: "SIZE", help: "start a new WARC file after SIZE (default: 1GB)" },
  delay: { type: "string", value: "SECONDS", help: "wait between two requests to a host", default: "1" },
  parallel: { type: "string", short: "p", value: "N", help: "fetch from N hosts at the same time", default: "8" },
  "max-redirects": { type: "string", value: "N", help: "follow up to N redirects from a URL", default: "10" },
  "max-body": { type: "string", value: "SIZE", help: "cut bodies off after SIZE (default: 4GB)" },
  timeout: {
    type: "string",
    value: "SECONDS",
    help: "wait this long for a connection and for each piece of an answer",
    default: "30",
  },
  "max-time": { type: "string", value: "SECONDS", help: "cut an answer off after this time", default: "1800" },
  "allow-private": {
    type: "string",
    value: "CIDR",
    multiple: true,
    help: "private or loopback addresses to allow, such as 127.0.0.0/8",
  },
  resolve: { type: "string", value: "PAIR", multiple: true, help: "HOST:ADDRESS to use instead of DNS" },
  insecure: { type: "boolean", help: "accept any TLS certificate, and record what is wrong with it" },
  "user-agent": { type: "string", value: "TEXT", help: "User-Agent header", default: `holotype/${VERSION}` },
  from: { type: "string", value: "ADDRESS", help: "e-mail address for webmasters, sent as From" },
};

/** The URLs of the command line and of the lists, in their order. */
export function takeUrls(args: Arguments): string[] {
  const urls = [...args.positionals];
  for (const path of args.list("input")) {
    if (path !== STANDARD_INPUT && nodeDisk.stat(path) === undefined)
      throw new ArchiveError("HT_NOT_FOUND", `${path}: no such file`, { file: path });
    const lines = path === STANDARD_INPUT ? readInputLines() : readGivenLines(nodeDisk, path);
    for (const line of lines) {
      const url = line.trim();
      if (url !== "" && !url.startsWith("#")) urls.push(url);
    }
  }
  if (urls.length === 0) throw new ArchiveError("HT_USAGE", "no URL given (see holotype fetch --help)");
  return urls;
}

export function parseFetchSettings(args: Arguments): FetchSettings {
  const by = parseChoice("by", args.text("by"), ["conditional", "abort"]);
  const writePredicted = args.flag("write-predicted");
  if (writePredicted && by !== "abort") throw new ArchiveError("HT_USAGE", "--write-predicted needs --by abort");
  const match = parseChoice("match", args.text("match"), ["digest", "url", "none"]);
  const matching = match === "url" ? "url" : "digest";
  const from = args.text("from");
  return {
    deduplicates: match !== "none",
    scheme: parseChoice("scheme", args.text("scheme"), HEADER_SCHEMES),
    by,
    audit: parseAudit(args.text("audit") ?? "0"),
    seed: args.text("seed") ?? "1",
    writePredicted,
    refusesClaims: args.text("archive") !== undefined,
    redirectsMax: parseCount("max-redirects", args.text("max-redirects") ?? "10", 0, REDIRECTS_MAX),
    matching: {
      matching,
      tryEquivalent: matching === "digest" || args.flag("equivalent"),
      mirrors: matching === "digest" ? "duplicates" : "counted",
      mimeFilter: parseMimeFilter(args),
    },
    indexesEquivalent: args.flag("equivalent"),
    origin: args.text("origin"),
    headers: [
      ["User-Agent", args.text("user-agent") ?? ""],
      ...(from === undefined ? [] : [["From", from] as const]),
      ["Accept", "*/*"],
    ],
  };
}

function parseAudit(text: string): number {
  const [, number, percent] = /^(\d+(?:\.\d*)?|\.\d+) ?(%?)$/.exec(text) ?? [];
  const share = number === undefined ? Number.NaN : Number(number) / (percent === "%" ? 100 : 1);
  if (share >= 0 && share <= 1) return share;
  throw new ArchiveError("HT_USAGE", `--audit takes a share such as 5% or 0.05, not ${text}`);
}

function parseMimeFilter(args: Arguments): MimeFilter | undefined {
  const filters = (["mime", "not-mime"] as const).flatMap((name) => {
    const patterns = args.list(name);
    const expression = args.text(`${name}-regex`);
    if (patterns.length === 0 && expression === undefined) return [];
    return [
      {
        ...(patterns.length === 0 ? {} : { patterns }),
        expression,
        mode: name === "mime" ? ("whitelist" as const) : ("blacklist" as const),
      },
    ];
  });
  if (filters.length > 1) throw new ArchiveError("HT_USAGE", "give --mime or --not-mime, not both");
  return filters[0];
}

/** The settings that make a job what it is: run with others, it is another job. */
export function identityOf(args: Arguments): Record<string, unknown> {
  const names = [
    "scheme",
    "by",
    "audit",
    "seed",
    "match",
    "mime-regex",
    "not-mime-regex",
    "origin",
    "archive",
    "prefix",
  ];
  const texts = names.map((name) => [name, args.text(name)] as const);
  const flags = ["write-predicted", "equivalent"].map((name) => [name, args.flag(name)] as const);
  const lists = ["digests", "mime", "not-mime"].map((name) => [name, args.list(name)] as const);
  return Object.fromEntries([...texts, ...flags, ...lists]);
}

export function openClient(args: Arguments): HttpClient {
  const guard = new AddressGuard({ allow: args.list("allow-private"), resolve: resolveWith(parseHosts(args)) });
  return new HttpClient({ guard, limits: parseLimits(args), insecure: args.flag("insecure") });
}

function parseHosts(args: Arguments): Map<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const text of args.list("resolve")) {
    const [, host, address] = /^([^:]+):\[?([\d.]+|[\da-f:.]+)\]?$/i.exec(text) ?? [];
    if (host === undefined || address === undefined)
      throw new ArchiveError("HT_USAGE", `--resolve takes HOST:ADDRESS, not ${text}`);
    const addresses = hosts.get(host.toLowerCase()) ?? [];
    hosts.set(host.toLowerCase(), [...addresses, address]);
  }
  return hosts;
}

export function parseSeconds(name: string, args: Arguments): number {
  const text = args.text(name) ?? "";
  const seconds = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (seconds <= SECONDS_MAX) return Math.round(seconds * 1000);
  throw new ArchiveError("HT_USAGE", `--${name} takes seconds, up to ${SECONDS_MAX}, not ${text}`);
}

export function parseParallel(args: Arguments): number {
  return parseCount("parallel", args.text("parallel") ?? "", 1, PARALLEL_MAX);
}

function parseLimits(args: Arguments): Partial<ExchangeLimits> {
  const timeoutMs = parseSeconds("timeout", args);
  const body = args.text("max-body");
  return {
    resolveTimeoutMs: timeoutMs,
    connectTimeoutMs: timeoutMs,
    tlsTimeoutMs: timeoutMs,
    firstByteTimeoutMs: timeoutMs,
    idleTimeoutMs: timeoutMs,
    exchangeTimeoutMs: parseSeconds("max-time", args),
    ...(body === undefined ? {} : { bodySizeMax: parseSizeOption("max-body", body) }),
  };
}
