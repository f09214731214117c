/** One request to the API: its collection, and its parameters as what they mean. */
import type { Scope } from "../../archive/index.ts";
import { parseTime, parseTimestamp } from "../../base/index.ts";
import { keyRange } from "../../url/index.ts";
import type { Collection } from "../collection.ts";
import { ParameterError, type ParameterName } from "./parameters.ts";

export class Question {
  readonly collection: Collection;
  private readonly values: ReadonlyMap<ParameterName, string>;
  readonly nowMs: number;

  constructor(collection: Collection, values: ReadonlyMap<ParameterName, string>, nowMs: number) {
    this.collection = collection;
    this.values = values;
    this.nowMs = nowMs;
  }

  text(name: ParameterName): string | undefined {
    return this.values.get(name);
  }

  /** For parameters that the endpoint requires. */
  required(name: ParameterName): string {
    return this.values.get(name) ?? "";
  }

  get limit(): number | undefined {
    const limit = this.values.get("limit");
    return limit === undefined ? undefined : Number(limit);
  }

  /** The last moment that a time can mean; absent where it is not given. */
  asOf(name: ParameterName): number | undefined {
    return this.parsed(name, "end");
  }

  /** The first moment that it can mean. */
  since(name: ParameterName): number | undefined {
    return this.parsed(name, "start");
  }

  /** As of when: `time`, or now. */
  moment(): number {
    return this.asOf("time") ?? this.nowMs;
  }

  private parsed(name: ParameterName, padding: "start" | "end"): number | undefined {
    const text = this.values.get(name);
    if (text === undefined) return undefined;
    const timeMs = /^[0-9]+$/.test(text) ? parseDigits(text, padding) : this.parseText(text, padding);
    if (timeMs === undefined) throw new ParameterError(name, `not a time: ${text} (try 2014, 20140301 or 2014-03-01)`);
    return timeMs;
  }

  private parseText(text: string, padding: "start" | "end"): number | undefined {
    try {
      return parseTime(text, this.nowMs, padding);
    } catch {
      return undefined;
    }
  }

  /** From `from` up to `to`, as far as they are given. */
  span(): { readonly fromMs: number | undefined; readonly toMs: number | undefined } {
    const [fromMs, toMs] = [this.since("from"), this.asOf("to")];
    if (fromMs !== undefined && toMs !== undefined && fromMs > toMs)
      throw new ParameterError("to", "earlier than from");
    return { fromMs, toMs };
  }

  /** The keys that `site` or `prefix` stands for; all of them where neither is given. */
  scope(): Pick<Scope, "from" | "to"> {
    const [site, prefix] = [this.values.get("site"), this.values.get("prefix")];
    if (prefix !== undefined && site !== undefined) throw new ParameterError("prefix", "does not go with site");
    if (prefix !== undefined) return keyRange(prefix, "prefix");
    if (site === undefined) return {};
    const range = keyRange(site.replace(/^\*\./, ""), "domain");
    if (range.from === range.to) throw new ParameterError("site", `takes a host, not ${site}`);
    return range;
  }
}

/** A year that lacks digits is filled up like everything else: `19` is 1900 to 1999. */
function parseDigits(digits: string, padding: "start" | "end"): number | undefined {
  const padded = digits.length < 4 ? digits.padEnd(4, padding === "end" ? "9" : "0") : digits;
  return parseTimestamp(padded, padding);
}
