/** The names of files that are not finished: `.NAME.PID-RANDOM.partial`, beside what they will become. */
import { basename, dirname, join } from "node:path";
import { pid } from "node:process";
import type { Random } from "../base/index.ts";

/** File systems allow 255 bytes for a name; 50 characters of UTF-8 and our additions stay below that. */
const NAME_CHARACTERS_MAX = 50;

const PARTIAL = /^\..*\.(\d+)-[0-9a-f]{12}\.partial$/s;

export function partialPath(path: string, random: Random): string {
  const name = Array.from(basename(path)).slice(0, NAME_CHARACTERS_MAX).join("");
  return join(dirname(path), `.${name}.${pid}-${Buffer.from(random.bytes(6)).toString("hex")}.partial`);
}

/** The pid in the name of an unfinished file; absent for every other name. */
export function pidOfPartial(name: string): number | undefined {
  const found = PARTIAL.exec(name)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Whether the name is that of an unfinished file. */
export function isPartial(name: string): boolean {
  return pidOfPartial(name) !== undefined;
}
