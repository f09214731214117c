/** The shape of a command, and the parsing of its arguments. Each command is one file that exports one of these. */
import { parseArgs } from "node:util";
import { ArchiveError } from "../base/index.ts";

export interface OptionSpec {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** What stands for the value in the help: `DIR`. */
  readonly value?: string;
  readonly help: string;
  readonly default?: string | boolean;
  /** May be given more than once. */
  readonly multiple?: boolean;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export interface Arguments {
  readonly positionals: readonly string[];
  /** The value of a string option, or its default. */
  text(name: string): string | undefined;
  flag(name: string): boolean;
  /** All values of an option that may be given more than once. */
  list(name: string): readonly string[];
}

export interface Command {
  readonly name: string;
  /** One line: what it is for. */
  readonly purpose: string;
  /** What follows the name: `FILE… -o DIR`. */
  readonly usage: string;
  /** More about it, where a line is not enough. */
  readonly details?: string;
  readonly options: OptionSpecs;
  /** Lines that work on the bundled samples. */
  readonly examples: readonly string[];
  /** Which exit codes it has beside 0, 1 and 2. */
  readonly exits?: string;
  /** Returns the exit code. */
  run(args: Arguments): Promise<number>;
}

const COMMON: OptionSpecs = {
  json: { type: "boolean", help: "print JSON, one object a line; warnings and errors too" },
  help: { type: "boolean", short: "h", help: "print this help" },
};

export function parseArguments(command: Command, argv: readonly string[]): Arguments {
  const options = Object.fromEntries(
    Object.entries({ ...COMMON, ...command.options }).map(([name, { type, short, multiple }]) => [
      name,
      { type, ...(short === undefined ? {} : { short }), ...(multiple === true ? { multiple } : {}) },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
    return {
      positionals,
      text: (name) => (values[name] as string | undefined) ?? (command.options[name]?.default as string | undefined),
      flag: (name) => (values[name] ?? command.options[name]?.default) === true,
      list: (name) => (values[name] as string[] | undefined) ?? [],
    };
  } catch (cause) {
    // Node goes on to explain; its first sentence is enough.
    const [reason] = (cause as Error).message.split(/\.?\n|\. /);
    throw new ArchiveError("HT_USAGE", `${reason} (see holotype ${command.name} --help)`, {}, cause);
  }
}

/** The files that a command was given; none is a mistake. */
export function requireFiles(command: Command, args: Arguments): readonly string[] {
  if (args.positionals.length > 0) return args.positionals;
  throw new ArchiveError("HT_USAGE", `no file given: holotype ${command.name} ${command.usage}`);
}

export function parseChoice<T extends string>(name: string, value: string | undefined, choices: readonly T[]): T {
  if ((choices as readonly (string | undefined)[]).includes(value)) return value as T;
  throw new ArchiveError("HT_USAGE", `--${name} takes one of ${choices.join(", ")}, not ${value}`);
}

export function parseCount(name: string, value: string, min: number, max: number): number {
  const count = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (count >= min && count <= max) return count;
  throw new ArchiveError("HT_USAGE", `--${name} takes a whole number from ${min} to ${max}, not ${value}`);
}

export function formatHelp(command: Command): string {
  const all = Object.entries({ ...command.options, ...COMMON, ...command.options });
  const left = ([name, spec]: [string, OptionSpec]) =>
    `  ${spec.short === undefined ? "    " : `-${spec.short}, `}--${name}${spec.value === undefined ? "" : ` ${spec.value}`}`;
  const width = Math.max(...all.map((entry) => left(entry).length)) + 2;
  const lines = all.map((entry) => {
    const { default: standard, type } = entry[1];
    const note = type === "string" && standard !== undefined ? ` (default: ${standard})` : "";
    return `${left(entry).padEnd(width)}${entry[1].help}${note}`;
  });
  return [
    `${command.purpose}\n`,
    `usage: holotype ${command.name} ${command.usage}\n`,
    ...(command.details === undefined ? [] : [`${command.details}\n`]),
    `options:\n${lines.join("\n")}\n`,
    ...(command.exits === undefined ? [] : [`exit codes: ${command.exits}\n`]),
    `${command.examples.length > 1 ? "examples" : "example"}:\n${command.examples.map((line) => `  ${line}`).join("\n")}\n`,
  ].join("\n");
}
