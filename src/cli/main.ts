#!/usr/bin/env node
/** The command line. The only place where an error becomes an exit code. */
import { ArchiveError } from "../base/index.ts";
import { ClosedPipe, writeStandardError, writeStandardOutput } from "../disk/index.ts";
import { type Command, formatHelp, parseArguments } from "./command.ts";
import { VERSION } from "./version.ts";

/** Each is loaded when it is asked for: starting up is a good part of a small command's time. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  ls: async () => (await import("./ls.ts")).ls,
  cat: async () => (await import("./cat.ts")).cat,
  check: async () => (await import("./check.ts")).check,
  index: async () => (await import("./index-command.ts")).index,
  convert: async () => (await import("./convert.ts")).convert,
  survey: async () => (await import("./survey.ts")).survey,
  dedup: async () => (await import("./dedup.ts")).dedup,
  verify: async () => (await import("./verify.ts")).verify,
  restore: async () => (await import("./restore.ts")).restore,
  manifest: async () => (await import("./manifest.ts")).manifest,
  resolve: async () => (await import("./resolve.ts")).resolve,
  plan: async () => (await import("./plan.ts")).plan,
  split: async () => (await import("./split.ts")).split,
  merge: async () => (await import("./merge.ts")).merge,
  rewrite: async () => (await import("./rewrite.ts")).rewrite,
};

async function findCommand(name: string | undefined): Promise<Command | undefined> {
  return name !== undefined && Object.hasOwn(COMMANDS, name) ? await COMMANDS[name]!() : undefined;
}

async function formatOverview(): Promise<string> {
  const commands = await Promise.all(Object.values(COMMANDS).map(async (load) => await load()));
  const width = Math.max(...commands.map((command) => command.name.length)) + 2;
  const lines = commands.map((command) => `  ${command.name.padEnd(width)}${command.purpose}`);
  return `Holotype ${VERSION}: a web archive that keeps every distinct content once.

usage: holotype COMMAND …

commands:
${lines.join("\n")}

Each command has --help with an example. Data goes to standard output, talk to standard error.
Exit codes: 0 done · 1 unexpected · 2 usage · 3 some inputs skipped · 4 damage found · 20 not found · 21 locked ·
22 format too new · 23 corrupt · 24 no space · 25 peer unavailable · 130 interrupted

example:
  holotype check samples
`;
}

async function run(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    const asked = await findCommand(rest[0]);
    writeStandardOutput(asked === undefined ? await formatOverview() : formatHelp(asked));
    return name === undefined ? 2 : 0;
  }
  if (name === "--version") {
    writeStandardOutput(`${VERSION}\n`);
    return 0;
  }
  const command = await findCommand(name);
  if (command === undefined) throw new ArchiveError("HT_USAGE", `no command ${name} (see holotype --help)`);
  if (rest.includes("--help") || rest.includes("-h")) {
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
    const told = known ? { code: error.code, message: error.message, ...error.place } : { message: String(error) };
    writeStandardError(`${JSON.stringify({ error: { ...told, exit } })}\n`);
  } else {
    // A bug of ours is told with its trace.
    const text = known ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
    writeStandardError(`holotype: ${text}\n`);
  }
  return exit;
}

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  process.exitCode = tell(error, process.argv.includes("--json"));
}
