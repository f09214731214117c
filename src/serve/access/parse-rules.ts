/** Access rules as text: the `.aclj` files of pywb, and a form of our own that also knows hosts, dates and embargoes. */
import { ArchiveError, type Clock, parseTime, systemClock } from "../../base/index.ts";
import { keyRange, urlKey } from "../../url/index.ts";
import { type AccessRule, AccessRules, type AccessVerdict, type Embargo } from "./access-rules.ts";

const EXACT_MARK = "###";
const VERDICTS: Readonly<Record<string, Pick<AccessRule, "verdict" | "ignoresEmbargo">>> = {
  allow: { verdict: "allow" },
  allow_ignore_embargo: { verdict: "allow", ignoresEmbargo: true },
  block: { verdict: "block" },
  exclude: { verdict: "exclude" },
};

/** `text` of a file called `name`: lines of pywb where its name ends in `.aclj`, else JSON. HT_USAGE for anything else. */
export function parseAccessRules(text: string, name: string, clock: Clock = systemClock): AccessRules {
  if (name.endsWith(".aclj")) return new AccessRules(parseAclj(text, name), undefined, clock);
  const fail = (what: string) => new ArchiveError("HT_USAGE", `${name}: ${what}`, { file: name });
  const settings = objectOf(parseJson(text), () => fail("not a JSON object"));
  refuseOthers(settings, ["rules", "embargo"], fail);
  const { rules = [] } = settings;
  if (!Array.isArray(rules)) throw fail("rules is not a list");
  const parsed = rules.flatMap((rule, i) => {
    const failHere = (what: string) => fail(`rule ${i + 1}: ${what}`);
    return parseRule(
      objectOf(rule, () => failHere("not an object")),
      failHere,
      clock,
    );
  });
  return new AccessRules(parsed, parseEmbargo(settings["embargo"], fail), clock);
}

/** `org,example)/private - {"access": "block"}`, a line each. Rules for certain users are for nobody here. */
function parseAclj(text: string, name: string): AccessRule[] {
  return text.split("\n").flatMap((line, i) => {
    if (line.trim() === "" || line.startsWith("#")) return [];
    const fail = (what: string) => new ArchiveError("HT_USAGE", `${name}: line ${i + 1}: ${what}`, { file: name });
    const [, key, json] = /^(\S+) \S+ (\{.*\})\s*$/.exec(line) ?? [];
    if (key === undefined || json === undefined) throw fail("not a rule of pywb: KEY - {JSON}");
    const { access, user } = objectOf(parseJson(json), () => fail("not a JSON object"));
    const verdict = verdictOf(access, fail);
    if (user !== undefined && user !== "") return [];
    const exact = key.endsWith(EXACT_MARK);
    return [{ prefix: exact ? key.slice(0, -EXACT_MARK.length) : key, exact, ...verdict }];
  });
}

type Fail = (what: string) => ArchiveError;
const RULE_FIELDS = ["url", "prefix", "host", "domain", "surt", "access", "from", "to"];

/** A host or a domain takes several prefixes of keys. */
function parseRule(rule: Readonly<Record<string, unknown>>, fail: Fail, clock: Clock): AccessRule[] {
  refuseOthers(rule, RULE_FIELDS, fail);
  const time = (name: "from" | "to") => {
    const text = rule[name];
    if (text === undefined) return undefined;
    if (typeof text !== "string") throw fail(`${name} is not a time`);
    return parseTime(text, clock.now(), name === "from" ? "start" : "end");
  };
  const rest = { ...verdictOf(rule["access"], fail), fromMs: time("from"), toMs: time("to") };
  const exact = rule["url"] !== undefined;
  return prefixesOf(rule, fail).map((prefix) => ({ prefix, exact, ...rest }));
}

/** What the keys begin with that a rule is about; all of them do where it names none. */
function prefixesOf(rule: Readonly<Record<string, unknown>>, fail: Fail): string[] {
  const named = ["url", "prefix", "host", "domain", "surt"].filter((name) => rule[name] !== undefined);
  if (named.length > 1) throw fail(`only one of ${named.join(" and ")}`);
  const [name] = named;
  if (name === undefined) return [""];
  const value = rule[name];
  if (typeof value !== "string" || value.trim() === "") throw fail(`${name} is not a text`);
  if (name === "surt") return [value];
  if (name === "url") return [urlKey(value)];
  if (name === "prefix") return [keyRange(value, "prefix").from];
  const { from, to } = keyRange(value, "host");
  if (from === to) throw fail(`${name} is not a host`);
  // On every port; what is below a host has a comma after it.
  const host = from.slice(0, from.indexOf(")"));
  return [`${host})`, `${host}:`, ...(name === "domain" ? [`${host},`] : [])];
}

function parseEmbargo(value: unknown, fail: Fail): Embargo | undefined {
  if (value === undefined) return undefined;
  const embargo = objectOf(value, () => fail("embargo is not an object"));
  refuseOthers(embargo, ["newerThan", "olderThan", "access"], fail);
  const { verdict } = verdictOf(embargo["access"] ?? "block", fail);
  const newerThanMs = parseAge(embargo["newerThan"], fail);
  const olderThanMs = parseAge(embargo["olderThan"], fail);
  if (verdict === "allow") throw fail("an embargo blocks or excludes");
  if (newerThanMs === undefined && olderThanMs === undefined) throw fail("an embargo has newerThan or olderThan");
  return { verdict, newerThanMs, olderThanMs };
}

const DAY_MS = 86_400_000;
const UNITS: Readonly<Record<string, number>> = {
  h: DAY_MS / 24,
  d: DAY_MS,
  w: 7 * DAY_MS,
  m: 30 * DAY_MS,
  y: 365 * DAY_MS,
};

/** `36h`, `90d`, `6m`, `1y`. */
function parseAge(value: unknown, fail: Fail): number | undefined {
  if (value === undefined) return undefined;
  const [, count, unit] = /^(\d{1,6})([hdwmy])$/.exec(typeof value === "string" ? value : "") ?? [];
  if (count === undefined) throw fail("an age is a number with h, d, w, m or y, as in 90d");
  return Number(count) * UNITS[unit!]!;
}

function verdictOf(access: unknown, fail: Fail): { verdict: AccessVerdict; ignoresEmbargo?: boolean | undefined } {
  const known = typeof access === "string" && Object.hasOwn(VERDICTS, access) ? VERDICTS[access] : undefined;
  if (known === undefined) throw fail(`access is one of ${Object.keys(VERDICTS).join(", ")}`);
  return known;
}

/** A rule that is not understood must not be taken for one that allows more than it says. */
function refuseOthers(object: Readonly<Record<string, unknown>>, known: readonly string[], fail: Fail): void {
  const other = Object.keys(object).find((name) => !known.includes(name));
  if (other !== undefined) throw fail(`no such field: ${other}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function objectOf(value: unknown, fail: () => ArchiveError): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw fail();
  return value as Readonly<Record<string, unknown>>;
}
