/** CDX as pywb answers it at `/<coll>/cdx`. docs/protocol/cdx.md says where this differs from it. */
import type { Handler, ServerAnswer, ServerRequest } from "../../http/index.ts";
import type { Collection } from "../collection.ts";
import { answerWith, jsonAnswer, type MementoUrl, type RowForm, refusing, rowPieces } from "./cdx-answer.ts";
import { ORIGINAL_FIELDS, PYWB_COLUMNS, PYWB_SOURCE_COLUMNS, pywbFields } from "./cdx-row.ts";
import { scopeIn } from "./cdx-scope.ts";
import { digitsIn, earliestOf, spanIn } from "./cdx-times.ts";
import { countPages, type PageQuestion, pagedIndex, pageIn, pageRange } from "./pages.ts";
import { Parameters, refusal } from "./parameters.ts";
import { type FieldTable, fieldNamed, pywbFilter, type RowToken } from "./row-filter.ts";
import { cdxjForm, lineForm, linkForm, objectForm } from "./row-forms.ts";
import { type RowPlan, RowWalk } from "./row-walk.ts";

const OUTPUTS = ["cdxj", "json", "text", "link"] as const;
type Output = (typeof OUTPUTS)[number];
const LIMIT_DEFAULT = 100_000;

export function pywbCdx(collection: Collection, mementoUrl: MementoUrl): Handler {
  const table = pywbFields(collection.name);
  return refusing(async (request) => {
    const parameters = new Parameters(request.target);
    const page = pageIn(parameters);
    const plan = planIn(parameters, table, page);
    const output = parameters.choice("output", OUTPUTS) ?? "cdxj";
    const form = formIn(parameters, output, table, (timestamp, url) => mementoUrl(request, timestamp, url), collection);
    if (parameters.flag("showNumPages")) return await pageCount(collection, plan, page, request);
    if (parameters.flag("showPagedIndex")) return await pagedIndex(collection, plan, output === "json");
    const walk = new RowWalk(collection, plan, request.signal);
    const answer = await answerWith(form.contentType, rowPieces(walk.rows(), form));
    if (answer.body === "" && !walk.isPage) throw await noSuchPage(collection, plan, page, request);
    return answer;
  });
}

function planIn(parameters: Parameters, table: FieldTable, page: PageQuestion): RowPlan {
  const columns = PYWB_COLUMNS.map((name) => fieldNamed(name, table));
  const sort = parameters.choice("sort", ["reverse", "closest"]);
  const closest = digitsIn(parameters, "closest");
  return {
    scope: scopeIn(parameters),
    ...spanIn(parameters),
    backwards: closest === undefined && (sort === "reverse" || parameters.flag("reverse")),
    closestMs: closest === undefined ? undefined : earliestOf(closest),
    memory: parameters.flag("resolveRevisits") ? table["mime"] : undefined,
    tests: parameters.all("filter").map((filter) => pywbFilter(filter, table, columns)),
    token: timeToken(parameters.count("collapseTime", 1)),
    offset: 0,
    limit: parameters.count("limit", 1) ?? LIMIT_DEFAULT,
    page: pageRange(page),
  };
}

/** Captures of one stretch of time with one status. */
function timeToken(digits: number | undefined): RowToken | undefined {
  return digits === undefined ? undefined : (row) => `${row.timestamp.slice(0, digits)} ${row.status ?? ""}`;
}

function formIn(
  parameters: Parameters,
  output: Output,
  table: FieldTable,
  mementoUrl: (timestamp: string, url: string) => string,
  collection: Collection,
): RowForm {
  const asked = parameters.list("fields") ?? parameters.list("fl");
  const originals = parameters.flag("resolveRevisits") ? ORIGINAL_FIELDS : [];
  const sources = output === "text" ? [] : PYWB_SOURCE_COLUMNS;
  const columns = (asked ?? [...PYWB_COLUMNS, ...originals, ...sources]).map((name) => fieldNamed(name, table));
  switch (output) {
    case "cdxj":
      return cdxjForm(columns);
    case "json":
      return objectForm(columns);
    case "text":
      return lineForm(columns);
    case "link":
      return linkForm(collection.name, mementoUrl);
  }
}

async function pageCount(
  collection: Collection,
  plan: RowPlan,
  page: PageQuestion,
  { signal }: ServerRequest,
): Promise<ServerAnswer> {
  const { blocks, pages } = await countPages(collection, plan, page, signal);
  return jsonAnswer(200, { blocks, pages, pageSize: page.size });
}

async function noSuchPage(collection: Collection, plan: RowPlan, page: PageQuestion, { signal }: ServerRequest) {
  const { pages } = await countPages(collection, plan, page, signal);
  return refusal(`Page ${page.number} invalid: First Page is 0, Last Page is ${pages - 1}`);
}
