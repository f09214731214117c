/** The parameters of the JSON API: one table, by which requests are checked and from which the OpenAPI document is made. */
import { STATS_GROUPS } from "../../archive/index.ts";
import { ArchiveError } from "../../base/index.ts";

/** A small part of JSON Schema: what a parameter of a query needs. */
export interface ParameterSchema {
  readonly type: "string" | "integer";
  readonly description: string;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: string | number;
}

export const LIMIT_DEFAULT = 100;
export const LIMIT_MAX = 10_000;
/** As long as the longest key; more does not fit a request anyway. */
const TEXT_MAX = 32_768;
const TIME = "^(?:[0-9]{1,14}|[0-9]{17}|now|[0-9]{4}-[0-9].*|[0-9]{8}[Tt][0-9]+[Zz]?)$";

const time = (description: string): ParameterSchema => ({ type: "string", pattern: TIME, maxLength: 40, description });

export const PARAMETERS = {
  coll: {
    type: "string",
    pattern: "^[A-Za-z0-9_-]{1,64}$",
    description: "The collection. May be left out where the server has only one.",
  },
  url: {
    type: "string",
    maxLength: TEXT_MAX,
    pattern: "[^]",
    description: "A URL, percent-encoded as a whole: `&` in it is `%26`, `+` is `%2B`, `%` is `%25`.",
  },
  time: time(
    "As of when: 1 to 14 digits, ISO 8601, or `now`. A short time means its end: `2014` is the last moment of 2014.",
  ),
  from: time("From when on, in the same forms. A short time means its beginning."),
  to: time("Up to when, in the same forms. A short time means its end."),
  site: {
    type: "string",
    maxLength: 512,
    pattern: "[^]",
    description: "Only this host and all below it: `example.com` has `www.example.com` too.",
  },
  prefix: {
    type: "string",
    maxLength: TEXT_MAX,
    pattern: "[^]",
    description: "Only URLs that begin like this. For `suggest`: what was typed so far.",
  },
  sha256: { type: "string", pattern: "^[0-9A-Fa-f]{64}$", description: "The sha256 of a payload, in hex." },
  by: { type: "string", enum: STATS_GROUPS, description: "Figures for each of these instead of the whole." },
  limit: {
    type: "integer",
    minimum: 1,
    maximum: LIMIT_MAX,
    description: `At most this many rows. JSON gives ${LIMIT_DEFAULT} unless told; NDJSON gives all.`,
  },
  cursor: {
    type: "string",
    maxLength: 2 * TEXT_MAX,
    pattern: "^[A-Za-z0-9_-]+$",
    description: "Goes on where a page ended: its `next`. New commits do not disturb it.",
  },
  format: {
    type: "string",
    enum: ["json", "ndjson"],
    description:
      "`ndjson` streams one row per line, as `Accept: application/x-ndjson` does; `json` is a page of `items`.",
  },
} as const satisfies Record<string, ParameterSchema>;

export type ParameterName = keyof typeof PARAMETERS;

/** HT_USAGE with the parameter that is wrong; a message begins with its name, too. */
export class ParameterError extends ArchiveError {
  readonly parameter: string;

  constructor(parameter: string, message: string) {
    super("HT_USAGE", `${parameter}: ${message}`);
    this.parameter = parameter;
  }
}

const patterns = new Map<ParameterName, RegExp>();

function patternOf(name: ParameterName, pattern: string): RegExp {
  const made = patterns.get(name) ?? new RegExp(pattern, "u");
  patterns.set(name, made);
  return made;
}

/** The parameters of a query, each checked against its schema. Throws a `ParameterError` for the first that is wrong. */
export function parseParameters(
  query: string,
  required: readonly ParameterName[],
  optional: readonly ParameterName[],
): ReadonlyMap<ParameterName, string> {
  const allowed = new Set<string>([...required, ...optional]);
  const values = new Map<ParameterName, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const shown = name.slice(0, 40);
    if (!allowed.has(name)) {
      const known = [...allowed].join(", ");
      throw new ParameterError(shown, `not a parameter of this call, which has: ${known} (a & in a URL must be %26)`);
    }
    if (values.has(name as ParameterName)) throw new ParameterError(shown, "given more than once");
    checkValue(name as ParameterName, value);
    values.set(name as ParameterName, value);
  }
  for (const name of required) if (!values.has(name)) throw new ParameterError(name, "missing, and required");
  return values;
}

function checkValue(name: ParameterName, value: string): void {
  const schema: ParameterSchema = PARAMETERS[name];
  if (value.length > (schema.maxLength ?? TEXT_MAX)) throw new ParameterError(name, "too long");
  if (schema.enum !== undefined && !schema.enum.includes(value))
    throw new ParameterError(name, `must be one of ${schema.enum.join(", ")}`);
  if (schema.pattern !== undefined && !patternOf(name, schema.pattern).test(value))
    throw new ParameterError(name, `not of the right form: ${JSON.stringify(value.slice(0, 80))}`);
  if (schema.type !== "integer") return;
  const { minimum = 0, maximum = LIMIT_MAX } = schema;
  if (!/^[0-9]{1,9}$/.test(value) || Number(value) < minimum || Number(value) > maximum)
    throw new ParameterError(name, `must be a number from ${minimum} to ${maximum}`);
}
