/** The query of a page's address, as what it means. */
import { ArchiveError, formatTimestamp, parseTime, parseTimestamp } from "../../base/index.ts";
import type { ServerRequest } from "../../http/index.ts";

const VALUE_LENGTH_MAX = 1 << 16;

export class PageQuery {
  private readonly values: URLSearchParams;
  private readonly nowMs: number;

  constructor({ target }: Pick<ServerRequest, "target">, nowMs: number) {
    const start = target.indexOf("?");
    this.values = new URLSearchParams(start < 0 ? "" : target.slice(start + 1));
    this.nowMs = nowMs;
  }

  /** Absent where it is not given, or empty. */
  text(name: string): string | undefined {
    const value = this.values.get(name);
    if (value === null || value === "") return undefined;
    if (value.length > VALUE_LENGTH_MAX) throw new ArchiveError("HT_USAGE", `${name} is too long`);
    return value;
  }

  required(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw new ArchiveError("HT_USAGE", `${name} is missing`);
    return value;
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw new ArchiveError("HT_USAGE", `${name} is one of ${choices.join(", ")}`);
    return found;
  }

  /** The last moment that a time can mean: `2014`, `2014-03-01`, `20140301`; or the first. HT_USAGE for what is no time. */
  time(name: string, padding: "start" | "end" = "end"): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const timeMs = /^[0-9]{4,17}$/.test(text) ? parseTimestamp(text, padding) : this.parseText(text, padding);
    if (timeMs === undefined)
      throw new ArchiveError(
        "HT_USAGE",
        `${name} is not a time: ${text.slice(0, 60)} (try 2014, 201403 or 2014-03-01)`,
      );
    return timeMs;
  }

  private parseText(text: string, padding: "start" | "end"): number | undefined {
    try {
      return parseTime(text, this.nowMs, padding);
    } catch (error) {
      if (error instanceof ArchiveError) return undefined;
      throw error;
    }
  }
}

/** A time in an address, with milliseconds: 17 digits. */
export function exactStamp(timeMs: number): string {
  return `${formatTimestamp(timeMs)}${String(((timeMs % 1000) + 1000) % 1000).padStart(3, "0")}`;
}
