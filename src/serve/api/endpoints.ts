/** The calls of the API: one table, by which requests are answered and from which the OpenAPI document and page are made. */
import {
  changes,
  hosts,
  pages,
  SUGGEST_DEFAULT,
  SUGGEST_MAX,
  slice,
  stats,
  suggestions,
  urls,
} from "./archive-answers.ts";
import type { ParameterName } from "./parameters.ts";
import type { Question } from "./question.ts";
import type { Reply } from "./reply.ts";
import type { SchemaName } from "./row-schemas.ts";
import { at, captures, history, same, versions } from "./url-answers.ts";

export interface Endpoint {
  readonly summary: string;
  readonly description: string;
  readonly required: readonly ParameterName[];
  readonly optional: readonly ParameterName[];
  /** `object`: one answer. `rows`: pages or lines. `either`: rows where `by` is given. */
  readonly form: "object" | "rows" | "either";
  readonly schema: SchemaName;
  /** The parameters of its example. */
  readonly example: Partial<Record<ParameterName, string>>;
  answer(question: Question): Reply | Promise<Reply>;
}

const ROWS = ["limit", "cursor", "format"] as const;

export const ENDPOINTS = {
  at: {
    summary: "What a URL held at a time",
    description:
      "The lifespan that was valid then, whether that was `observed` or is `presumed`, and the capture that shows it. Without a time: now. 404 where nothing is known from before.",
    required: ["url"],
    optional: ["coll", "time"],
    form: "object",
    schema: "Moment",
    example: { url: "{url}", time: "{time}" },
    answer: at,
  },
  history: {
    summary: "The lifespans of a URL",
    description: "What it held, from when to when, in order of time. With `from` and `to`: those valid in between.",
    required: ["url"],
    optional: ["coll", "from", "to", ...ROWS],
    form: "rows",
    schema: "Lifespan",
    example: { url: "{url}" },
    answer: history,
  },
  versions: {
    summary: "The distinct contents of a URL",
    description:
      "Each content once, in the order in which it was seen first, with its lifespans (the first 100 are listed) and captures. Costs as much as the answer is long, however many captures there are.",
    required: ["url"],
    optional: ["coll", "from", "to", ...ROWS],
    form: "rows",
    schema: "Version",
    example: { url: "{url}" },
    answer: versions,
  },
  captures: {
    summary: "Captures of a URL, a site or everything",
    description: "All captures of every class, in the order of URL keys and times.",
    required: [],
    optional: ["coll", "url", "site", "prefix", "from", "to", ...ROWS],
    form: "rows",
    schema: "Capture",
    example: { url: "{url}", limit: "2" },
    answer: captures,
  },
  slice: {
    summary: "Everything that was valid at a time",
    description:
      "One lifespan for each URL, in the order of keys. Without a time: now. With `from` and `to` instead of `time`: all lifespans valid at some time in between.",
    required: [],
    optional: ["coll", "time", "from", "to", "site", "prefix", ...ROWS],
    form: "rows",
    schema: "Lifespan",
    example: { time: "{time}", limit: "2" },
    answer: slice,
  },
  changes: {
    summary: "What appeared, changed or vanished",
    description:
      "After `from` and up to `to` (now, where it is not given), in the order of keys and times. Both mean their ends when they are short: from 2009 to 2013 leads from the slice of 2009 to that of 2013.",
    required: ["from"],
    optional: ["coll", "to", "site", "prefix", ...ROWS],
    form: "rows",
    schema: "Change",
    example: { from: "1990", to: "{time}", limit: "2" },
    answer: changes,
  },
  same: {
    summary: "Everywhere that a content was seen",
    description: "All captures with this payload: by its `sha256`, or what `url` held at `time` (now, if not given).",
    required: [],
    optional: ["coll", "sha256", "url", "time", ...ROWS],
    form: "rows",
    schema: "Capture",
    example: { sha256: "{sha256}", limit: "2" },
    answer: same,
  },
  stats: {
    summary: "How much is in a collection",
    description:
      "Captures, distinct contents, bytes of the payloads of all captures, and of those that are kept. With `by`: rows for each crawl, host, media type or year. Walks over all captures.",
    required: [],
    optional: ["coll", "by", ...ROWS],
    form: "either",
    schema: "Figures",
    example: { by: "year" },
    answer: stats,
  },
  hosts: {
    summary: "The hosts of a collection",
    description: "In the order of keys, which sort from the right: com, example, www.",
    required: [],
    optional: ["coll", "site", ...ROWS],
    form: "rows",
    schema: "Host",
    example: { limit: "2" },
    answer: hosts,
  },
  urls: {
    summary: "Every URL",
    description: "Each URL key once, in the order of keys, with the URL of its first capture.",
    required: [],
    optional: ["coll", "site", "prefix", ...ROWS],
    form: "rows",
    schema: "Url",
    example: { limit: "2" },
    answer: urls,
  },
  pages: {
    summary: "Every HTML page",
    description: "URLs that answered 200 with HTML: at `time`, between `from` and `to`, or ever. In the order of keys.",
    required: [],
    optional: ["coll", "time", "from", "to", "site", "prefix", ...ROWS],
    form: "rows",
    schema: "Page",
    example: { limit: "2" },
    answer: pages,
  },
  suggest: {
    summary: "Hosts and URLs that begin like this",
    description: `For what was typed so far, with or without a scheme and www. At most ${SUGGEST_MAX}, ${SUGGEST_DEFAULT} unless told.`,
    required: ["prefix"],
    optional: ["coll", "limit"],
    form: "object",
    schema: "Suggestions",
    example: { prefix: "{typed}", limit: "3" },
    answer: suggestions,
  },
} as const satisfies Record<string, Endpoint>;
