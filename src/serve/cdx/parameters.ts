/**
 * The parameters of a request, by name. A parameter that nobody reads is ignored, as servers of every dialect do; one that is
 * read and has a value that means nothing is refused with HT_USAGE. An empty value is an absent one: clients send `closest=`.
 */
import { ArchiveError } from "../../base/index.ts";
import { parseCount } from "../../warc/index.ts";

const TRUE: ReadonlySet<string> = new Set(["true", "1", "yes", "on", "t"]);
const FALSE: ReadonlySet<string> = new Set(["false", "0", "no", "off", "f"]);
/** More of one parameter than this are not a question that anybody asks. */
const REPEATED_MAX = 32;

export class Parameters {
  private readonly values = new Map<string, string[]>();

  /** `target` is that of a request: a path, and what follows the question mark. */
  constructor(target: string) {
    const question = target.indexOf("?");
    if (question < 0) return;
    const end = target.indexOf("#", question);
    const query = target.slice(question + 1, end < 0 ? undefined : end);
    for (const part of query.split("&")) {
      const equals = part.indexOf("=");
      if (equals < 0) continue;
      const [name, value] = [decodePlus(part.slice(0, equals)), decodePlus(part.slice(equals + 1))];
      if (value === "") continue;
      const before = this.values.get(name);
      if (before === undefined) this.values.set(name, [value]);
      else before.push(value);
    }
  }

  /** Of those that have a value. */
  names(): ReadonlySet<string> {
    return new Set(this.values.keys());
  }

  /** The first one. */
  text(name: string): string | undefined {
    return this.values.get(name)?.[0];
  }

  all(name: string): readonly string[] {
    const values = this.values.get(name) ?? [];
    if (values.length > REPEATED_MAX) throw refusal(`${name} is given more than ${REPEATED_MAX} times`);
    return values;
  }

  flag(name: string): boolean {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined || FALSE.has(value)) return false;
    if (TRUE.has(value)) return true;
    throw refusal(`${name} is true or false, not ${quoted(value)}`);
  }

  /** A whole number in a range. */
  count(name: string, min: number, max = Number.MAX_SAFE_INTEGER): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const isNegative = text.startsWith("-");
    const size = parseCount(isNegative ? text.slice(1) : text);
    const value = isNegative && size !== undefined ? -size : size;
    if (value === undefined || value < min || value > max)
      throw refusal(`${name} is a whole number${min > -max ? ` from ${min}` : ""}, not ${quoted(text)}`);
    return value;
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined || (choices as readonly string[]).includes(text)) return text as T | undefined;
    throw refusal(`${name} is one of ${choices.join(", ")}, not ${quoted(text)}`);
  }

  /** Parts between commas, empty ones left out; absent where the parameter is. */
  list(name: string): readonly string[] | undefined {
    const parts = this.text(name)
      ?.split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
    if (parts !== undefined && parts.length > REPEATED_MAX)
      throw refusal(`${name} has more than ${REPEATED_MAX} parts`);
    return parts?.length === 0 ? undefined : parts;
  }
}

export function refusal(message: string): ArchiveError {
  return new ArchiveError("HT_USAGE", message);
}

const QUOTED_MAX = 100;

/** What was sent, for a message. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > QUOTED_MAX ? `${text.slice(0, QUOTED_MAX)}…` : text);
}

function decodePlus(text: string): string {
  return decodePercent(text.replaceAll("+", " "));
}

/** Escapes that are not UTF-8 stay as they are: `%E9` in a URL that was not encoded is its own text. */
export function decodePercent(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
      try {
        return decodeURIComponent(run);
      } catch {
        return run;
      }
    });
  }
}
