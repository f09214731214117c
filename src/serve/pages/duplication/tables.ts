/** The tables of the page on duplication, as rows for spreadsheets and for programs. */
import type { DuplicateTally, Duplication, NamedFigures, RepeatedContent } from "../../../archive/index.ts";
import { formatIso } from "../../../base/index.ts";
import { csvLine } from "../../../markup/index.ts";
import { fileName } from "../../api/rows.ts";
import { growthOf } from "./growth.ts";

export const DUPLICATION_TABLES = ["growth", "across", "mime", "crawl", "host", "year", "saved", "seen"] as const;
export type DuplicationTable = (typeof DUPLICATION_TABLES)[number];

type Row = Readonly<Record<string, string | number | undefined>>;

export function savedOf({ bytesSeen, bytesKept }: { readonly bytesSeen: number; readonly bytesKept: number }): number {
  return bytesSeen - bytesKept;
}

/** Those that saved most first. */
export function bySaved<T extends NamedFigures>(groups: readonly T[]): T[] {
  return groups.toSorted((one, other) => savedOf(other) - savedOf(one) || other.bytesSeen - one.bytesSeen);
}

function figuresRow(title: string, { name, captures, contents, bytesSeen, bytesKept }: NamedFigures): Row {
  return { [title]: name, captures, contents, bytesSeen, bytesKept, bytesSaved: bytesSeen - bytesKept };
}

function iso(timeMs: number | undefined): string | undefined {
  return timeMs === undefined ? undefined : formatIso(timeMs);
}

function repeatedRow({ seenAt, firstMs, lastMs, savedBytes, ...content }: RepeatedContent): Row {
  const { sha256, mime, size, captures, urls } = content;
  const where = seenAt.map(({ url }) => url).join(" ");
  return {
    sha256,
    mime,
    size,
    captures,
    urls,
    bytesSaved: savedBytes,
    first: iso(firstMs),
    last: iso(lastMs),
    seenAt: where,
  };
}

export function acrossRows(figures: Duplication): readonly (readonly [name: string, tally: DuplicateTally])[] {
  return [
    ["across time", figures.acrossTime],
    ["across location", figures.acrossLocation],
    ["original unknown", figures.acrossUnknown],
  ];
}

export function tableRows(figures: Duplication, table: DuplicationTable): readonly Row[] {
  switch (table) {
    case "growth":
      return growthOf(figures.months).map((step) => ({ ...step, bytesSaved: savedOf(step) }));
    case "across":
      return acrossRows(figures).map(([name, { captures, bytes, savedBytes }]) => ({
        duplicates: name,
        captures,
        bytesSeen: bytes,
        bytesSaved: savedBytes,
      }));
    case "mime":
      return bySaved(figures.mimes).map((group) => figuresRow("mime", group));
    case "host":
      return bySaved(figures.hosts).map((group) => figuresRow("host", group));
    case "year":
      return figures.years.map((group) => figuresRow("year", group));
    case "crawl":
      return figures.crawls.map(({ number, addedMs, firstMs, lastMs, ...group }) => ({
        number,
        ...figuresRow("crawl", { ...group, name: fileName(group.name) }),
        added: iso(addedMs),
        first: iso(firstMs),
        last: iso(lastMs),
      }));
    case "saved":
      return figures.mostSaved.map(repeatedRow);
    case "seen":
      return figures.mostSeen.map(repeatedRow);
  }
}

/** In pieces: there may be many rows. */
export function* tableCsv(rows: readonly Row[]): Generator<string> {
  const titles = Object.keys(rows[0] ?? {});
  if (titles.length > 0) yield titles.join(",") + "\r\n";
  for (let at = 0; at < rows.length; at += 1000)
    yield rows
      .slice(at, at + 1000)
      .map((row) => csvLine(titles.map((title) => row[title])))
      .join("");
}

/** Of the groups of one kind there may be many: programs get the first of them, and all as CSV. */
const ROWS_MAX = 1000;

export function duplicationJson(name: string, figures: Duplication): object {
  const rows = (table: DuplicationTable) => tableRows(figures, table).slice(0, ROWS_MAX);
  const { total, acrossTime, acrossLocation, acrossUnknown } = figures;
  return {
    collection: name,
    total: { ...total, bytesSaved: savedOf(total) },
    acrossTime,
    acrossLocation,
    acrossUnknown,
    growth: rows("growth"),
    byMime: rows("mime"),
    byCrawl: rows("crawl"),
    byHost: rows("host"),
    byYear: rows("year"),
    mostSaved: figures.mostSaved.map(contentJson),
    mostSeen: figures.mostSeen.map(contentJson),
  };
}

function contentJson({ firstMs, lastMs, seenAt, mime, ...content }: RepeatedContent): object {
  return {
    ...content,
    mime: mime ?? null,
    first: iso(firstMs) ?? null,
    last: iso(lastMs) ?? null,
    seenAt: seenAt.map(({ url, timeMs }) => ({ url, time: iso(timeMs) ?? null })),
  };
}
