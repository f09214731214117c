/** CDX as the Wayback Machine answers it at `/cdx/search/cdx` and its aliases. docs/protocol/cdx.md has the parameters. */
import type { Handler, ServerAnswer, ServerRequest } from "../../http/index.ts";
import type { Collection } from "../collection.ts";
import { answerWith, type RowForm, refusing, rowPieces, textAnswer } from "./cdx-answer.ts";
import { type CdxField, ORIGINAL_FIELDS, WAYBACK_COLUMNS, waybackFields } from "./cdx-row.ts";
import { type CdxScope, isInScope, scopeIn } from "./cdx-scope.ts";
import { digitsIn, earliestOf, spanIn } from "./cdx-times.ts";
import { archiveMemory, lastLine } from "./crawler-memory.ts";
import { type AskingCrawler, memoryQuestion } from "./memory-question.ts";
import { countPages, type PageQuestion, pagedIndex, pageIn, pageRange } from "./pages.ts";
import { Parameters, refusal } from "./parameters.ts";
import { collapseToken, fieldNamed, waybackFilter } from "./row-filter.ts";
import { arrayForm, lineForm } from "./row-forms.ts";
import { type RowPlan, RowWalk } from "./row-walk.ts";

const FIELDS = waybackFields();
const COLUMNS: readonly CdxField[] = WAYBACK_COLUMNS.map((name) => fieldNamed(name, FIELDS));
const LIMIT_MAX = Number.MAX_SAFE_INTEGER;

/**
 * Rows, but for the question that warcprox asks here, to the letter: it is answered as a crawler's memory, since the last row
 * may be one that nothing can refer to.
 */
export function waybackCdx(collection: Collection): Handler {
  return rowsOrMemory(collection, "warcprox");
}

/** The same for `/web/timemap/cdx`, where Heritrix and gowarc ask. */
export function waybackTimemap(collection: Collection): Handler {
  return rowsOrMemory(collection, "timemap");
}

function rowsOrMemory(collection: Collection, crawler: AskingCrawler): Handler {
  const memory = archiveMemory(collection);
  return refusing(async (request) => {
    const parameters = new Parameters(request.target);
    const question = memoryQuestion(parameters, crawler);
    if (question !== undefined) return textAnswer(lastLine(await memory.newest(question.url), question));
    const page = pageIn(parameters);
    const plan = planIn(parameters, page);
    if (parameters.flag("showNumPages")) return await pageCount(collection, plan, page, request);
    if (parameters.flag("showPagedIndex")) return await pagedIndex(collection, plan, false);
    const walk = new RowWalk(collection, plan, request.signal);
    const isResumed = parameters.flag("showResumeKey") && isResumable(plan);
    const resumeKey = isResumed ? () => formatResumeKey(walk.resumeCursor) : () => undefined;
    const form = formIn(parameters, resumeKey);
    return await answerWith(form.contentType, rowPieces(walk.rows(), form));
  });
}

function planIn(parameters: Parameters, page: PageQuestion): RowPlan {
  const scope = scopeIn(parameters);
  const sort = parameters.choice("sort", ["regular", "reverse", "closest"]);
  const closest = digitsIn(parameters, "closest");
  const isNearest = sort === "closest" && closest !== undefined;
  const asked = parameters.count("limit", -LIMIT_MAX) ?? 0;
  const isFast = parameters.flag("fastLatest");
  const limit = Math.abs(asked) || (isFast ? 1 : Number.POSITIVE_INFINITY);
  const collapses = parameters.all("collapse");
  const isResolved = parameters.flag("resolveRevisits") || parameters.flag("showDupeCount");
  const after = resumeIn(parameters, scope);
  const plan = { isLast: asked < 0 || isFast, closestMs: isNearest ? earliestOf(closest) : undefined };
  if (after !== undefined && !isResumable(plan))
    throw refusal("a resumeKey is not for the last rows, nor for the nearest");
  return {
    scope,
    ...plan,
    ...spanIn(parameters),
    backwards: sort === "reverse",
    memory: isResolved ? FIELDS["mimetype"] : undefined,
    tests: parameters.all("filter").map((filter) => waybackFilter(filter, FIELDS, COLUMNS)),
    token: collapses.length === 0 ? undefined : collapseToken(collapses, FIELDS),
    offset: parameters.count("offset", 0) ?? 0,
    limit,
    page: pageRange(page),
    after,
  };
}

/** Whether rows come in an order in which a walk can go on. */
function isResumable({ isLast, closestMs }: Pick<RowPlan, "isLast" | "closestMs">): boolean {
  return isLast !== true && closestMs === undefined;
}

function formIn(parameters: Parameters, resumeKey: () => string | undefined): RowForm {
  const names = [
    ...(parameters.list("fl") ?? WAYBACK_COLUMNS),
    ...(parameters.flag("resolveRevisits") ? ORIGINAL_FIELDS : []),
    ...(parameters.flag("showDupeCount") ? ["dupecount"] : []),
    ...(parameters.flag("showSkipCount") ? ["skipcount"] : []),
    ...(parameters.flag("lastSkipTimestamp") ? ["endtimestamp"] : []),
  ];
  const columns = [...new Set(names)].map((name) => fieldNamed(name, FIELDS));
  if (parameters.choice("output", ["text", "json"]) === "json") return arrayForm(columns, resumeKey);
  const end = () => {
    const key = resumeKey();
    return key === undefined ? "" : `\n${key}\n`;
  };
  return { ...lineForm(columns), end };
}

async function pageCount(
  collection: Collection,
  plan: RowPlan,
  page: PageQuestion,
  { signal }: ServerRequest,
): Promise<ServerAnswer> {
  const { pages } = await countPages(collection, plan, page, signal);
  return textAnswer(`${pages}\n`);
}

/** Exactly where the walk stood: several captures may have one key and one second. */
function formatResumeKey(cursor: string | undefined): string | undefined {
  return cursor === undefined ? undefined : Buffer.from(cursor, "latin1").toString("base64url");
}

function resumeIn(parameters: Parameters, scope: CdxScope): string | undefined {
  const key = parameters.text("resumeKey");
  if (key === undefined) return undefined;
  const cursor = Buffer.from(key, "base64url").toString("latin1");
  if (formatResumeKey(cursor) !== key || !isInScope(scope, cursor))
    throw refusal("the resumeKey is not one of this question");
  return cursor;
}
