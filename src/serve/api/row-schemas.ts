/** JSON Schemas of what the API answers, for its OpenAPI document. A test holds real answers to them. */

export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly oneOf?: readonly Schema[];
  readonly $ref?: string;
}

const text = (description: string): Schema => ({ type: "string", description });
const textOrNull = (description: string): Schema => ({ type: ["string", "null"], description });
const count = (description: string): Schema => ({ type: "integer", description });
const countOrNull = (description: string): Schema => ({ type: ["integer", "null"], description });
const time = (description: string): Schema => ({ type: "string", format: "date-time", description });
const timeOrNull = (description: string): Schema => ({ type: ["string", "null"], format: "date-time", description });
const list = (items: Schema, description: string): Schema => ({ type: "array", items, description });
const flag = (description: string): Schema => ({ type: "boolean", description });

/** Everything in it is there, and nothing else is. */
function object(properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required, additionalProperties: false };
}

export function refTo(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

const KEY = text("The key of the URL (SURT): com,example)/path");
const digits = (...names: readonly string[]): Schema =>
  object(Object.fromEntries(names.map((name) => [name, textOrNull("14 digits, UTC")])));

const CONTENT = {
  status: countOrNull("The HTTP status"),
  mime: textOrNull("The media type"),
  sha256: text("Of the payload, in hex"),
  size: count("Bytes of the payload"),
};

const LIFESPAN = {
  url: text("As it was captured first"),
  key: KEY,
  birth: time("The first capture that found it"),
  end: timeOrNull("When something else was found; null as long as nothing was"),
  lastSeen: time("The last capture that found it"),
  captures: count("Captures that found it"),
  whole: flag("False where end, lastSeen and captures are only those up to some later time"),
  ...CONTENT,
  timestamps: digits("birth", "end", "lastSeen"),
};

const CAPTURE = {
  url: text("As it was captured"),
  time: timeOrNull("When; null where the record has no date"),
  class: text("What kind of visit: state, confirmation, failed and so on"),
  type: text("Of the record: response, resource or revisit"),
  status: countOrNull("The HTTP status; of a 304, that of what it confirms"),
  mime: textOrNull("The media type"),
  location: textOrNull("Where a redirect leads"),
  method: textOrNull("Of the request, where that is known"),
  sha256: textOrNull("Of the payload, in hex"),
  sha1: textOrNull("Of the payload, in base32, as crawlers write it"),
  size: countOrNull("Bytes of the payload"),
  source: textOrNull("The file that it came with"),
  file: text("The file that its record lies in"),
  offset: count("Where in that file"),
  length: count("Bytes of the record there; 0 where it shares a compressed member"),
  flags: list({ type: "string" }, "What is odd about it: pending, cut-off, digest-lies, odd-date, segmented, replaced"),
  key: KEY,
  timestamp: textOrNull("The time as 14 digits"),
};

const FIGURES = {
  captures: count("Captures"),
  contents: count("Distinct payloads"),
  bytesSeen: count("Bytes of the payloads of all captures"),
  bytesKept: count("Bytes of the payloads that are kept; 0 where access rules hide some"),
};

const OF_WHOLE = {
  collection: text("Its name"),
  pending: count("Revisits without an original"),
  segments: count("Segments"),
  segmentBytes: count("Their bytes"),
  adopted: count("Files elsewhere that were adopted"),
  adoptedBytes: count("Their bytes"),
};

const OF_GROUP = {
  crawl: text("A file that was added"),
  host: text("A host"),
  mime: text("A type"),
  year: text("A year"),
};
const SEEN = {
  firstSeen: time("First capture"),
  lastSeen: time("Last capture"),
  timestamps: digits("firstSeen", "lastSeen"),
};
const CAPTURES = list(refTo("Capture"), "Captures");
const NO_CAPTURE: Schema = { oneOf: [refTo("Capture"), { type: "null" }] };

export const ROW_SCHEMAS = {
  Lifespan: object(LIFESPAN),
  Capture: object(CAPTURE),
  Moment: object({
    ...LIFESPAN,
    certainty: { type: "string", enum: ["observed", "presumed"] },
    confirmed: flag("Whether the capture is a 304"),
    before: NO_CAPTURE,
    after: NO_CAPTURE,
    capture: refTo("Capture"),
    others: CAPTURES,
    doubts: CAPTURES,
    since: CAPTURES,
  }),
  Version: object({
    url: LIFESPAN.url,
    key: KEY,
    ...CONTENT,
    ...SEEN,
    captures: FIGURES.captures,
    lifespanCount: count("How many lifespans it has"),
    lifespans: list(
      object({ birth: LIFESPAN.birth, end: LIFESPAN.end, lastSeen: LIFESPAN.lastSeen, captures: LIFESPAN.captures }),
      "Its lifespans, the first 100",
    ),
  }),
  Change: object(
    {
      change: { type: "string", enum: ["appeared", "changed", "vanished"] },
      time: time("When it was found"),
      timestamp: text("14 digits"),
      ...LIFESPAN,
    },
    Object.keys(LIFESPAN).filter((name) => name !== "key"),
  ),
  Figures: object({ ...FIGURES, ...OF_WHOLE, ...OF_GROUP }, [...Object.keys(OF_WHOLE), ...Object.keys(OF_GROUP)]),
  Host: object({ host: text("With its port, where it has one"), key: text("What its keys begin with: com,example)") }),
  Url: object({
    url: text("As it was captured first"),
    key: KEY,
    firstCapture: timeOrNull("When"),
    timestamp: textOrNull("The same as 14 digits"),
  }),
  Page: object({
    url: text("As it was captured last"),
    key: KEY,
    mime: CONTENT.mime,
    ...SEEN,
    captures: FIGURES.captures,
    lifespanCount: count("How many lifespans it has"),
  }),
  Suggestions: object({
    suggestions: list(
      object({ host: textOrNull("The host, where that is suggested"), url: text("What to ask for") }),
      "Hosts first, then URLs",
    ),
  }),
  Error: object({
    error: object(
      { code: text("From docs/errors.md"), message: text("For people"), parameter: text("The one that is wrong") },
      ["parameter"],
    ),
  }),
} as const satisfies Record<string, Schema>;

export type SchemaName = keyof typeof ROW_SCHEMAS;
