#!/usr/bin/env node
/** The command line. The only place where an error becomes an exit code. */
import { ArchiveError } from "../base/index.ts";
import { ClosedPipe, writeStandardOutput } from "../disk/index.ts";
import { type Command, formatHelp, parseArguments } from "./command.ts";
import { say } from "./talk.ts";
import { VERSION } from "./version.ts";

/** Each is loaded when it is asked for: starting up is a good part of a small command's time. Some have two words. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  ls: async () => (await import("./ls.ts")).ls,
  cat: async () => (await import("./cat.ts")).cat,
  check: async () => (await import("./check.ts")).check,
  index: async () => (await import("./index-command.ts")).index,
  convert: async () => (await import("./convert.ts")).convert,
  survey: async () => (await import("./survey.ts")).survey,
  dedup: async () => (await import("./dedup.ts")).dedup,
  commit: async () => (await import("./commit.ts")).commit,
  verify: async () => (await import("./verify.ts")).verify,
  restore: async () => (await import("./restore.ts")).restore,
  manifest: async () => (await import("./manifest.ts")).manifest,
  resolve: async () => (await import("./resolve.ts")).resolve,
  plan: async () => (await import("./plan.ts")).plan,
  split: async () => (await import("./split.ts")).split,
  merge: async () => (await import("./merge.ts")).merge,
  rewrite: async () => (await import("./rewrite.ts")).rewrite,
  add: async () => (await import("./add.ts")).add,
  at: async () => (await import("./at.ts")).at,
  history: async () => (await import("./history.ts")).history,
  slice: async () => (await import("./slice.ts")).slice,
  changes: async () => (await import("./changes.ts")).changes,
  same: async () => (await import("./same.ts")).same,
  stats: async () => (await import("./stats.ts")).stats,
  remove: async () => (await import("./remove.ts")).remove,
  compact: async () => (await import("./compact.ts")).compact,
  doctor: async () => (await import("./doctor.ts")).doctor,
  rebuild: async () => (await import("./rebuild.ts")).rebuild,
  export: async () => (await import("./export.ts")).exportCommand,
  fetch: async () => (await import("./fetch.ts")).fetchCommand,
  serve: async () => (await import("./serve.ts")).serve,
  up: async () => (await import("./up.ts")).up,
  "digests build": async () => (await import("./digests-build.ts")).digestsBuild,
  "digests lookup": async () => (await import("./digests-lookup.ts")).digestsLookup,
  "digests info": async () => (await import("./digests-info.ts")).digestsInfo,
  "digests merge": async () => (await import("./digests-merge.ts")).digestsMerge,
  "digests export": async () => (await import("./digests-export.ts")).digestsExport,
  "digests check": async () => (await import("./digests-check.ts")).digestsCheck,
  "digests report": async () => (await import("./digests-report.ts")).digestsReport,
  "store put": async () => (await import("./store-put.ts")).storePut,
  "store get": async () => (await import("./store-get.ts")).storeGet,
  "store stat": async () => (await import("./store-stat.ts")).storeStat,
  "store delete": async () => (await import("./store-delete.ts")).storeDelete,
  "store list": async () => (await import("./store-list.ts")).storeList,
  "store volumes": async () => (await import("./store-volumes.ts")).storeVolumes,
  "store migrate": async () => (await import("./store-migrate.ts")).storeMigrate,
  "store repair": async () => (await import("./store-repair.ts")).storeRepair,
  "store bench": async () => (await import("./store-bench.ts")).storeBench,
  "volume create": async () => (await import("./volume-create.ts")).volumeCreate,
  "volume serve": async () => (await import("./volume-serve.ts")).volumeServe,
  "volume check": async () => (await import("./volume-check.ts")).volumeCheck,
  "volume compact": async () => (await import("./volume-compact.ts")).volumeCompact,
  "volume rebuild": async () => (await import("./volume-rebuild.ts")).volumeRebuild,
  "volume state": async () => (await import("./volume-state.ts")).volumeState,
  "timeline info": async () => (await import("./timeline-info.ts")).timelineInfo,
  "timeline check": async () => (await import("./timeline-check.ts")).timelineCheck,
  "timeline dump": async () => (await import("./timeline-dump.ts")).timelineDump,
  "timeline load": async () => (await import("./timeline-load.ts")).timelineLoad,
  "timeline query": async () => (await import("./timeline-query.ts")).timelineQuery,
};

interface Found {
  readonly command: Command;
  /** What follows its name. */
  readonly rest: readonly string[];
}

async function findCommand(argv: readonly string[]): Promise<Found | undefined> {
  for (const count of [2, 1]) {
    const name = argv.slice(0, count).join(" ");
    if (Object.hasOwn(COMMANDS, name)) return { command: await COMMANDS[name]!(), rest: argv.slice(count) };
  }
  return undefined;
}

async function formatCommands(first: string): Promise<string> {
  const loads = Object.entries(COMMANDS).flatMap(([name, load]) => (name.startsWith(first) ? [load] : []));
  const commands = await Promise.all(loads.map(async (load) => await load()));
  const width = Math.max(...commands.map((command) => command.name.length)) + 2;
  return commands.map((command) => `  ${command.name.padEnd(width)}${command.purpose}`).join("\n");
}

/** Whether there are commands of two words that begin with this one. */
function isGroup(word: string | undefined): word is string {
  return word !== undefined && Object.keys(COMMANDS).some((name) => name.startsWith(`${word} `));
}

async function formatGroup(word: string): Promise<string> {
  return `usage: holotype ${word} COMMAND …\n\ncommands:\n${await formatCommands(`${word} `)}\n\nEach has --help with an example.\n`;
}

async function formatOverview(): Promise<string> {
  return `Holotype ${VERSION}: a web archive that keeps every distinct content once.

usage: holotype COMMAND …

commands:
${await formatCommands("")}

Each command has --help with an example. Data goes to standard output, talk to standard error.
Exit codes: 0 done · 1 unexpected · 2 usage · 3 some inputs skipped · 4 damage found · 20 not found · 21 locked ·
22 format too new · 23 corrupt · 24 no space · 25 peer unavailable · 130 interrupted

example:
  holotype check samples
`;
}

function isHelp(word: string | undefined): boolean {
  return word === "--help" || word === "-h";
}

async function formatHelpOn(words: readonly string[]): Promise<string> {
  const found = await findCommand(words);
  if (found !== undefined) return formatHelp(found.command);
  return isGroup(words[0]) ? formatGroup(words[0]) : formatOverview();
}

async function run(argv: readonly string[]): Promise<number> {
  const [name, ...words] = argv;
  if (name === undefined || isHelp(name) || name === "help") {
    writeStandardOutput(await formatHelpOn(words));
    return name === undefined ? 2 : 0;
  }
  if (name === "--version") {
    writeStandardOutput(`${VERSION}\n`);
    return 0;
  }
  const found = await findCommand(argv);
  if (found === undefined && isGroup(name) && (words.length === 0 || isHelp(words[0]))) {
    writeStandardOutput(await formatGroup(name));
    return words.length === 0 ? 2 : 0;
  }
  if (found === undefined) {
    const said = isGroup(name) ? `${name} ${words[0]}` : name;
    throw new ArchiveError("HT_USAGE", `no command ${said} (see holotype ${isGroup(name) ? `${name} ` : ""}--help)`);
  }
  const { command, rest } = found;
  if (rest.some(isHelp)) {
    writeStandardOutput(formatHelp(command));
    return 0;
  }
  return await command.run(parseArguments(command, rest));
}

function tell(error: unknown, json: boolean): number {
  if (error instanceof ClosedPipe) return 0;
  const known = error instanceof ArchiveError;
  const exit = known ? error.exit : 1;
  if (json) {
    const told = known
      ? { code: error.code, message: error.message, ...error.place }
      : { code: "HT_UNEXPECTED", message: String(error) };
    say(JSON.stringify({ error: { ...told, exit } }));
  } else {
    // A bug of ours is told with its trace.
    const text = known ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
    say(`holotype: ${text}`);
  }
  return exit;
}

async function main(): Promise<void> {
  // Stays where the program ends without having come to an end: something was waited for that nothing was to bring.
  process.exitCode = 1;
  try {
    process.exitCode = await run(process.argv.slice(2));
  } catch (error) {
    process.exitCode = tell(error, process.argv.includes("--json"));
  }
}

void main();
