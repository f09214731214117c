/** What is answered about many URLs: slices, changes, lists and figures. */
import type { Change, NamedFigures, Scope, StatsGroup } from "../../archive/index.ts";
import {
  birthCursor,
  birthPlace,
  checkWithin,
  formatCursor,
  formatPlaceCursor,
  parseCursor,
  parsePlaceCursor,
  type RowPlace,
  rowsBehind,
} from "./cursor.ts";
import { ParameterError } from "./parameters.ts";
import type { Question } from "./question.ts";
import { type Reply, rowReply } from "./reply.ts";
import { changeRow, fileName, hostRow, lifespanRow, pageRow, urlRow } from "./rows.ts";
import { suggest } from "./suggest.ts";
import { isHtml, pagesIn } from "./versions.ts";

export const SUGGEST_DEFAULT = 10;
export const SUGGEST_MAX = 100;
/** All times that a record can have. */
const [FIRST_MS, LAST_MS] = [-(2 ** 46), 2 ** 48];

/** A scope behind the key that a page ended with. */
function scopeBehind(question: Question, end: string): Pick<Scope, "from" | "to"> {
  const scope = question.scope();
  const key = parseCursor(question.text("cursor"));
  if (key === undefined) return scope;
  checkWithin(`${key}${end}`, scope);
  return { ...scope, from: `${key}${end}` };
}

/** Whether it is about a span of time; HT_USAGE where it is about a moment as well. */
function isSpan(question: Question): boolean {
  const isGiven = question.text("from") !== undefined || question.text("to") !== undefined;
  if (isGiven && question.text("time") !== undefined) throw new ParameterError("time", "does not go with from and to");
  return isGiven;
}

function keyCursor({ key }: { readonly key: string }): string {
  return formatCursor(key);
}

export function slice(question: Question): Reply {
  const { collection } = question;
  if (!isSpan(question))
    return rowReply(collection.slice(question.moment(), scopeBehind(question, "\0")), lifespanRow, keyCursor);
  const scope = question.scope();
  const place = parsePlaceCursor(question.text("cursor"));
  if (place !== undefined) checkWithin(place.key, scope);
  const { fromMs = FIRST_MS, toMs = LAST_MS } = question.span();
  const rows = collection.span(fromMs, toMs, place === undefined ? scope : { ...scope, from: place.key });
  return rowReply(rowsBehind(rows, place, birthPlace), lifespanRow, birthCursor);
}

export function changes(question: Question): Reply {
  const [fromMs = FIRST_MS, toMs = question.nowMs] = [question.asOf("from"), question.asOf("to")];
  if (fromMs > toMs) throw new ParameterError("to", "earlier than from");
  const scope = question.scope();
  const place = parsePlaceCursor(question.text("cursor"));
  if (place !== undefined) checkWithin(place.key, scope);
  const rows = question.collection.changes(fromMs, toMs, place === undefined ? scope : { ...scope, from: place.key });
  const placeOf = ({ key, timeMs, lifespan }: Change): RowPlace => ({
    key,
    timeMs,
    identity: lifespan?.identity ?? "",
  });
  return rowReply(rowsBehind(rows, place, placeOf), changeRow, (row) => formatPlaceCursor(placeOf(row)));
}

export async function stats(question: Question): Promise<Reply> {
  const by = question.text("by") as StatsGroup | undefined;
  const { collection } = question;
  if (by === undefined) return { value: { collection: collection.name, ...(await collection.totals()) } };
  const after = parseCursor(question.text("cursor"));
  const toJson = ({ name, ...figures }: NamedFigures) => ({ [by]: by === "crawl" ? fileName(name) : name, ...figures });
  return rowReply(groupsBehind(collection.stats(by), after), toJson, ({ name }) => formatCursor(name));
}

/** Groups are made of a walk each time; those up to the named one are left out. */
async function* groupsBehind(
  batches: AsyncIterable<readonly NamedFigures[]>,
  after: string | undefined,
): AsyncGenerator<readonly NamedFigures[]> {
  let isBehind = after === undefined;
  for await (const batch of batches) {
    const start = isBehind ? 0 : batch.findIndex(({ name }) => name === after) + 1;
    if (!isBehind && start === 0) continue;
    isBehind = true;
    yield batch.slice(start);
  }
}

export function hosts(question: Question): Reply {
  const rows = question.collection.firsts(scopeBehind(question, "*"), "host");
  return rowReply(rows, hostRow, ({ key }) => formatCursor(key.slice(0, key.indexOf(")"))));
}

export function urls(question: Question): Reply {
  return rowReply(question.collection.firsts(scopeBehind(question, "\x01"), "key"), urlRow, keyCursor);
}

export function pages(question: Question): Reply {
  const scope = { ...scopeBehind(question, "\0"), mime: isHtml };
  const { fromMs = FIRST_MS, toMs = LAST_MS } = question.span();
  const isMoment = !isSpan(question) && question.text("time") !== undefined;
  const { collection } = question;
  const found = isMoment ? collection.slice(question.moment(), scope) : collection.span(fromMs, toMs, scope);
  return rowReply(pagesIn(found), pageRow, ({ last }) => formatCursor(last.key));
}

export async function suggestions(question: Question): Promise<Reply> {
  const limit = Math.min(question.limit ?? SUGGEST_DEFAULT, SUGGEST_MAX);
  return { value: { suggestions: await suggest(question.collection, question.required("prefix"), limit) } };
}
