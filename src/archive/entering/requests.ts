/** What requests tell of the captures that answer them. Obeys docs/lifespans.md, "Requests". */
import type { RecordFacts } from "../../pipeline/index.ts";
import { archiveKey, type CaptureKey, idMark, idMarkIn, waitForRequest } from "../catalogue/capture-key.ts";
import { Flag, has, type RowRequest } from "../catalogue/capture-row.ts";
import { Table } from "../catalogue/catalogue-keys.ts";
import type { CatalogueView, FoundCapture } from "../catalogue/catalogue-view.ts";
import type { LooseRequest } from "../catalogue/request-row.ts";
import { isNamedWith, type Named } from "../segments/companions.ts";

/** Of two requests for one capture: GET wins, then the first in the alphabet. */
export function joinRequests(one: RowRequest | undefined, other: RowRequest | undefined): RowRequest | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  if (one.method === other.method) {
    const query = [one.query ?? "", other.query ?? ""].sort()[0]!;
    return { method: one.method, isConditional: one.isConditional || other.isConditional, query };
  }
  const isFirst = one.method === "GET" || (other.method !== "GET" && one.method < other.method);
  return isFirst ? one : other;
}

export function isSameRequest(one: RowRequest | undefined, other: RowRequest | undefined): boolean {
  return (
    one?.method === other?.method &&
    one?.isConditional === other?.isConditional &&
    (one?.query ?? "") === (other?.query ?? "")
  );
}

/** What a request that stands beside a capture tells of it; absent where neither names the other, or the URI is another. */
export function requestFor(capture: Named, note: RecordFacts): RowRequest | undefined {
  const isOf = note.request !== undefined && note.uri === capture.uri && isNamedWith(note, capture);
  return isOf ? requestIn(note) : undefined;
}

function requestIn({ request }: RecordFacts): RowRequest {
  const { method, isConditional = false, query } = request!;
  return { method, isConditional, query };
}

/** A request that stands by itself. Absent for what is none, or what nothing could be found by. */
export function looseRequest(note: RecordFacts): LooseRequest | undefined {
  const { request, id, uri } = note;
  if (request === undefined || id === undefined || uri === undefined) return undefined;
  return { ...requestIn(note), id, uri, with: note.with ?? [] };
}

/** What the requests that stand by themselves tell of a capture that has come. */
export function requestsOf(catalogue: CatalogueView, urlKey: string, capture: RecordFacts): RowRequest | undefined {
  let known: RowRequest | undefined;
  for (const loose of catalogue.requests(urlKey)) {
    const isNamed = capture.id !== undefined && loose.with.includes(capture.id);
    if (loose.uri !== capture.uri || !(isNamed || capture.with?.includes(loose.id) === true)) continue;
    known = joinRequests(known, loose);
  }
  return known;
}

/** The captures of its URL that a request belongs to, removed ones too; `naming` has further ones that name an id. */
export function answersTo(
  catalogue: CatalogueView,
  loose: LooseRequest,
  naming: ReadonlyMap<string, readonly CaptureKey[]>,
): FoundCapture[] {
  const marks = new Set(loose.with.map(idMark));
  const wait = waitForRequest(loose.id);
  const isListed = (key: CaptureKey) => catalogue.state.waiting > 0 && catalogue.isListed(Table.waiting, wait, key);
  const isNaming = (key: CaptureKey) => naming.get(loose.id)?.includes(key) === true || isListed(key);
  const isNamed = (key: CaptureKey) => marks.has(idMarkIn(key));
  const found = catalogue.matching(archiveKey(loose.uri), (key) => isNamed(key) || isNaming(key));
  // What a removed capture named is not known any more.
  return [...found].filter(({ key, row }) => row.url === loose.uri && (isNamed(key) || !has(row, Flag.removed)));
}
