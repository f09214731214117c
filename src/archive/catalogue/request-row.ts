/** Requests that do not stand beside their answers, as the catalogue has them. Obeys docs/format/archive.md. */
import { RowReader, RowWriter } from "../../rows/index.ts";
import type { RowRequest } from "./capture-row.ts";

export interface LooseRequest extends RowRequest {
  readonly id: string;
  readonly uri: string;
  /** Ids of records that it names. */
  readonly with: readonly string[];
}

const rows = new RowWriter();

export function encodeRequest(request: LooseRequest): Buffer {
  const row = rows
    .begin()
    .byte(request.isConditional ? 1 : 0)
    .text(request.method)
    .text(request.query ?? "");
  row.text(request.id).text(request.uri).count(request.with.length);
  for (const id of request.with) row.text(id);
  return row.finish();
}

export function decodeRequest(bytes: Buffer): LooseRequest {
  const row = new RowReader(bytes);
  const isConditional = row.byte() === 1;
  const [method, query, id, uri] = [row.text(), row.text(), row.text(), row.text()];
  return { method, isConditional, query, id, uri, with: Array.from({ length: row.count() }, () => row.text()) };
}
