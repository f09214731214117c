/** Rows as lines of fields, as CDXJ, as objects, as arrays, as links. */
import { formatField } from "../../warc/index.ts";
import { jsonText, type RowForm } from "./cdx-answer.ts";
import type { CdxField, CdxRow } from "./cdx-row.ts";

/** Fields with blanks between them. */
export function lineForm(columns: readonly CdxField[]): RowForm {
  const readers = columns.map(({ read }) => read);
  return {
    contentType: "text/plain; charset=utf-8",
    row(row) {
      let line = "";
      for (const read of readers) line += `${line === "" ? "" : " "}${formatField(read(row))}`;
      return `${line}\n`;
    },
  };
}

/** The inside of an object; what a row does not have is left out. */
function objectText(row: CdxRow, columns: readonly { readonly label: string; readonly field: CdxField }[]): string {
  let text = "";
  for (const { label, field } of columns) {
    const value = field.read(row);
    if (value !== undefined) text += `${text === "" ? "" : ", "}${label}${jsonText(value)}`;
  }
  return `{${text}}`;
}

function labelled(columns: readonly CdxField[]): { readonly label: string; readonly field: CdxField }[] {
  return columns.map((field) => ({ label: `${JSON.stringify(field.name)}: `, field }));
}

/** Key, time, and the other fields as an object. */
export function cdxjForm(columns: readonly CdxField[]): RowForm {
  const inside = labelled(columns.filter(({ name }) => name !== "urlkey" && name !== "timestamp"));
  return {
    contentType: "text/x-cdxj",
    row(row) {
      const key = formatField(row.capture.key);
      // A leading `!` would make it a header.
      return `${key.startsWith("!") ? `%21${key.slice(1)}` : key} ${row.timestamp} ${objectText(row, inside)}\n`;
    },
  };
}

/** One object per line. */
export function objectForm(columns: readonly CdxField[]): RowForm {
  const inside = labelled(columns);
  return { contentType: "text/x-ndjson", row: (row) => `${objectText(row, inside)}\n` };
}

/** One array of arrays, of which the first has the names. `resumeKey` is asked for at the end. */
export function arrayForm(columns: readonly CdxField[], resumeKey: () => string | undefined): RowForm {
  const names = JSON.stringify(columns.map(({ name }) => name));
  return {
    contentType: "application/json",
    row(row, isFirst) {
      let text = "";
      for (const { read } of columns) text += `${text === "" ? "" : ","}${jsonText(read(row) ?? "-")}`;
      return `${isFirst ? `[${names}` : ""},\n[${text}]`;
    },
    end(isEmpty) {
      if (isEmpty) return "[]\n";
      const key = resumeKey();
      return `${key === undefined ? "" : `,\n[],\n[${jsonText(key)}]`}]\n`;
    },
  };
}

/** Mementos as a TimeMap has them. */
export function linkForm(collection: string, mementoUrl: (timestamp: string, url: string) => string): RowForm {
  const source = jsonText(collection);
  return {
    contentType: "application/link-format",
    row({ timestamp, timeMs, capture }, isFirst) {
      const url = mementoUrl(timestamp, capture.url).replace(/[\s<>"]/g, encodeURIComponent);
      const date = new Date(timeMs).toUTCString();
      return `${isFirst ? "" : ",\n"}<${url}>; rel="memento"; datetime="${date}"; src=${source}`;
    },
    end: (isEmpty) => (isEmpty ? "" : "\n"),
  };
}
