/** The `filter` parameter in both dialects, and what rows are collapsed by. */

import { parseCount } from "../../warc/index.ts";
import type { CdxField, CdxRow, FieldReader } from "./cdx-row.ts";
import { compileExpression } from "./expression.ts";
import { quoted, refusal } from "./parameters.ts";

export type RowTest = (row: CdxRow) => boolean;

export type FieldTable = Readonly<Record<string, FieldReader>>;

/** HT_USAGE for a name that stands for no field. */
export function fieldNamed(name: string, table: FieldTable): CdxField {
  if (!Object.hasOwn(table, name))
    throw refusal(`no field is called ${quoted(name)}: there are ${Object.keys(table).join(", ")}`);
  return { name, read: table[name]! };
}

/** All fields of a row, as a filter without a field sees them. */
function lineReader(columns: readonly CdxField[]): FieldReader {
  return (row) => columns.map(({ read }) => read(row) ?? "-").join(" ");
}

/** `[!][=|~]field:text`: contains, is, or begins with what an expression fits. Without a field, of the whole line. */
export function pywbFilter(filter: string, table: FieldTable, columns: readonly CdxField[]): RowTest {
  const isInverted = filter.startsWith("!");
  const rest = isInverted ? filter.slice(1) : filter;
  const sign = rest.startsWith("=") || rest.startsWith("~") ? rest[0] : "";
  const text = rest.slice(sign === "" ? 0 : 1);
  const colon = text.indexOf(":");
  const read = colon < 0 ? lineReader(columns) : fieldNamed(text.slice(0, colon), table).read;
  const wanted = text.slice(colon + 1);
  const isLike =
    sign === "="
      ? (value: string) => value === wanted
      : sign === "~"
        ? compileExpression(wanted, "beginning")
        : (value: string) => value.includes(wanted);
  return (row) => isLike(read(row) ?? "") !== isInverted;
}

/** `[!]field:expression`, where the expression fits the whole field. Without a field, the whole line. */
export function waybackFilter(filter: string, table: FieldTable, columns: readonly CdxField[]): RowTest {
  const isInverted = filter.startsWith("!");
  const text = isInverted ? filter.slice(1) : filter;
  const colon = text.indexOf(":");
  const read = colon < 0 ? lineReader(columns) : numberedField(text.slice(0, colon), table, columns).read;
  const fits = compileExpression(text.slice(colon + 1), "whole");
  return (row) => fits(read(row) ?? "-") !== isInverted;
}

/** A field by its name, or by its place among the columns. */
function numberedField(name: string, table: FieldTable, columns: readonly CdxField[]): CdxField {
  const place = parseCount(name);
  return (place === undefined ? undefined : columns[place]) ?? fieldNamed(name, table);
}

/** What rows next to each other are compared by. */
export type RowToken = (row: CdxRow) => string;

/** `field` or `field:N`, of which the first N characters count; of several all have to be the same. */
export function collapseToken(collapses: readonly string[], table: FieldTable): RowToken {
  const parts = collapses.map((text) => {
    const colon = text.indexOf(":");
    const { read } = fieldNamed(colon < 0 ? text : text.slice(0, colon), table);
    const size = colon < 0 ? Number.POSITIVE_INFINITY : parseCount(text.slice(colon + 1));
    if (size === undefined || size === 0) throw refusal(`collapse is FIELD or FIELD:N, not ${quoted(text)}`);
    return (row: CdxRow) => (read(row) ?? "-").slice(0, size);
  });
  return parts.length === 1 ? parts[0]! : (row) => parts.map((part) => part(row)).join("\n");
}
