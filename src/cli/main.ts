#!/usr/bin/env node
/** The command line. The only place where an error becomes an exit code. */
import { ArchiveError } from "../base/index.ts";
import { ClosedPipe, writeStandardError, writeStandardOutput } from "../disk/index.ts";
import { cat } from "./cat.ts";
import { check } from "./check.ts";
import { type Command, formatHelp, parseArguments } from "./command.ts";
import { convert } from "./convert.ts";
import { dedup } from "./dedup.ts";
import { index } from "./index-command.ts";
import { ls } from "./ls.ts";
import { manifest } from "./manifest.ts";
import { merge } from "./merge.ts";
import { plan } from "./plan.ts";
import { resolve } from "./resolve.ts";
import { restore } from "./restore.ts";
import { rewrite } from "./rewrite.ts";
import { split } from "./split.ts";
import { survey } from "./survey.ts";
import { verify } from "./verify.ts";
import { VERSION } from "./version.ts";

const COMMANDS: readonly Command[] = [
  ls,
  cat,
  check,
  index,
  convert,
  survey,
  dedup,
  verify,
  restore,
  manifest,
  resolve,
  plan,
  split,
  merge,
  rewrite,
];

function formatOverview(): string {
  const width = Math.max(...COMMANDS.map((command) => command.name.length)) + 2;
  const lines = COMMANDS.map((command) => `  ${command.name.padEnd(width)}${command.purpose}`);
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
    const asked = COMMANDS.find((command) => command.name === rest[0]);
    writeStandardOutput(asked === undefined ? formatOverview() : formatHelp(asked));
    return name === undefined ? 2 : 0;
  }
  if (name === "--version") {
    writeStandardOutput(`${VERSION}\n`);
    return 0;
  }
  const command = COMMANDS.find((candidate) => candidate.name === name);
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
